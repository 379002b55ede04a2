// ccn.constant: what its constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// constant_c1: a string
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error() {
  // expected-error @below {{expected a number or bool of a ccn element type, found "text"}}
  %0 = ccn.constant "text"
  ccn.return
}

// -----

// constant_c1: a width that ccn does not have
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error() {
  // expected-error @below {{expected a number or bool of a ccn element type, found 1 : i4}}
  %0 = ccn.constant 1 : i4
  ccn.return
}

// -----

// constant_c1: a signed type
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error() {
  // expected-error @below {{expected a number or bool of a ccn element type, found 1 : si8}}
  %0 = ccn.constant 1 : si8
  ccn.return
}

// -----

// constant_c1: an index
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error() {
  // expected-error @below {{expected a number or bool of a ccn element type, found 1 : index}}
  %0 = ccn.constant 1 : index
  ccn.return
}

// -----

// constant_c1: elements
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error() {
  // expected-error @below {{expected a number or bool of a ccn element type, found dense<1.000000e+00> : tensor<4xf32>}}
  %0 = ccn.constant dense<1.0> : tensor<4xf32>
  ccn.return
}

// -----

// constant_c1: another float
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error() {
  // expected-error @below {{expected a number or bool of a ccn element type, found 1.000000e+00 : f80}}
  %0 = ccn.constant 1.0 : f80
  ccn.return
}
