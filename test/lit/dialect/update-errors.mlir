// ccn.update: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// update_c1
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}, %y: tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.update' op failed to verify that all of {target, value, result} have same type}}
  %0 = "ccn.update"(%x, %y) : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  ccn.return
}

// -----

// update_c1
// The layout is part of the type.
#cut = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}, %y: tensor<8xf32, #cut> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.update' op failed to verify that all of {target, value, result} have same type}}
  %0 = "ccn.update"(%x, %y) : (tensor<8xf32>, tensor<8xf32, #cut>) -> tensor<8xf32>
  ccn.return
}

// -----

// update_c2
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.update' op expected an inout argument as target}}
  %0 = ccn.update %x with %x : tensor<8xf32>
  ccn.return
}

// -----

// update_c2
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}) {
  %0 = ccn.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{'ccn.update' op expected an inout argument, or an update of one, as target}}
  %1 = ccn.update %0 with %x : tensor<8xf32>
  ccn.return
}

// -----

// update_c3
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}) {
  // expected-note @below {{the other update}}
  %0 = ccn.update %x with %x : tensor<8xf32>
  // expected-error @below {{'ccn.update' op updates a target that is updated already}}
  %1 = ccn.update %x with %0 : tensor<8xf32>
  ccn.return
}

// -----

// update_c3
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}) {
  %0 = ccn.update %x with %x : tensor<8xf32>
  // expected-note @below {{the other update}}
  %1 = ccn.update %0 with %x : tensor<8xf32>
  // expected-error @below {{'ccn.update' op updates a target that is updated already}}
  %2 = ccn.update %0 with %1 : tensor<8xf32>
  ccn.return
}

// -----

// an update of itself
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}) {
  // expected-error @below {{operand #0 does not dominate this use}}
  // expected-note @below {{operand defined here (op in the same block)}}
  %0 = ccn.update %0 with %x : tensor<8xf32>
  ccn.return
}
