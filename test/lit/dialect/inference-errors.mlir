// Layout inference: what the constraints that all operations share refuse.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// layout_op_c1
ccn.program @p(%x: tensor<8xf32, "elsewhere"> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op expected a ccn layout, found "elsewhere"}}
  %0 = ccn.neg %x : (tensor<8xf32, "elsewhere">) -> tensor<8xf32>
  ccn.return
}

// -----

// layout_op_c1
ccn.program @p(%x: tensor<8xf32, "elsewhere"> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op expected a ccn layout, found "elsewhere"}}
  %0 = ccn.neg %x : (tensor<8xf32, "elsewhere">) -> tensor<8xf32, "elsewhere">
  ccn.return
}

// -----

// layout_op_c2
// The operands fit, the result does not.
ccn.program @p(%x: tensor<4294967296x1xf32> {ccn.name = "x"}, %y: tensor<1x4294967296xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.matmul' op the size of tensor 'f32[4294967296, 4294967296]' in bytes does not fit 64 bits}}
  %0 = ccn.matmul %x, %y : (tensor<4294967296x1xf32>, tensor<1x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  ccn.return
}

// -----

// layout_op_c2
ccn.program @p(%x: tensor<f32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast_to' op the size of tensor 'f32[9223372036854775807]' in bytes does not fit 64 bits}}
  %0 = ccn.broadcast_to %x to [9223372036854775807] : (tensor<f32>) -> tensor<9223372036854775807xf32>
  ccn.return
}

// -----

// layout_op_c2
ccn.program @p(%x: tensor<9223372036854775807x9223372036854775807xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op the size of tensor 'f32[9223372036854775807, 9223372036854775807]' in bytes does not fit 64 bits}}
  %0 = ccn.neg %x : (tensor<9223372036854775807x9223372036854775807xf32>) -> tensor<9223372036854775807x9223372036854775807xf32>
  ccn.return
}

// -----

// layout_op_c2
// The size of one dimension does not fit.
ccn.program @p(%x: tensor<1152921504606846975xi8> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.concat' op the size of dimension 0 does not fit 64 bits}}
  %0 = ccn.concat %x, %x, %x, %x, %x, %x, %x, %x, %x at 0 : (tensor<1152921504606846975xi8>, tensor<1152921504606846975xi8>, tensor<1152921504606846975xi8>, tensor<1152921504606846975xi8>, tensor<1152921504606846975xi8>, tensor<1152921504606846975xi8>, tensor<1152921504606846975xi8>, tensor<1152921504606846975xi8>, tensor<1152921504606846975xi8>) -> tensor<1xi8>
  ccn.return
}

// -----

// a dynamic shape
ccn.program @p(%x: tensor<?xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op operand #0 must be tensor of static shape and a ccn element type, but got 'tensor<?xf32>'}}
  %0 = ccn.neg %x : (tensor<?xf32>) -> tensor<?xf32>
  ccn.return
}

// -----

// no rank
ccn.program @p(%x: tensor<*xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op operand #0 must be tensor of static shape and a ccn element type, but got 'tensor<*xf32>'}}
  %0 = ccn.neg %x : (tensor<*xf32>) -> tensor<*xf32>
  ccn.return
}

// -----

// an element type that ccn does not have
ccn.program @p(%x: tensor<8xi7> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op operand #0 must be tensor of static shape and a ccn element type, but got 'tensor<8xi7>'}}
  %0 = ccn.neg %x : (tensor<8xi7>) -> tensor<8xi7>
  ccn.return
}
