// gap_c1 expected-error
// interface_c1
// -----
// gap_c3
// -----
// unchecked_c1 expected-error
// neg_c1
// exp_c1
// add_c1
// unknown_c2
