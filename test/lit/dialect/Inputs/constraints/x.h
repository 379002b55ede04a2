// gap_c1, gap_c3
// untested_c1: why
// unary_c1 binary_c1 interface_c1
// unknown_c1
