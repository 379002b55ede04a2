// ccn.transpose: what its constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// transpose_c1: a dimension is missing
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.transpose' op expected each dimension of 'f32[8, 4]' once, found [0]}}
  %0 = ccn.transpose %x by [0] : (tensor<8x4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// transpose_c1: twice
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.transpose' op expected each dimension of 'f32[8, 4]' once, found [0, 0]}}
  %0 = ccn.transpose %x by [0, 0] : (tensor<8x4xf32>) -> tensor<8x8xf32>
  ccn.return
}

// -----

// transpose_c1: no dimension of the operand
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.transpose' op expected each dimension of 'f32[8, 4]' once, found [0, 2]}}
  %0 = ccn.transpose %x by [0, 2] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// transpose_c1: negative
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.transpose' op expected each dimension of 'f32[8, 4]' once, found [-1, 0]}}
  %0 = ccn.transpose %x by [-1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  ccn.return
}

// -----

// transpose_c1: too many
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.transpose' op expected each dimension of 'f32[8, 4]' once, found [0, 1, 2]}}
  %0 = ccn.transpose %x by [0, 1, 2] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}
