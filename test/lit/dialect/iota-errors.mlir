// ccn.iota: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// iota_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.iota' op expected a dimension of 'f32[8, 4]', found 2}}
  %0 = ccn.iota %x dim 2 : (tensor<8x4xf32>) -> tensor<8x4xi64>
  ccn.return
}

// -----

// iota_c1: negative
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.iota' op expected a dimension of 'f32[8, 4]', found -1}}
  %0 = ccn.iota %x dim -1 : (tensor<8x4xf32>) -> tensor<8x4xi64>
  ccn.return
}

// -----

// iota_c1: of a scalar
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<f32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.iota' op expected a dimension of 'f32', found 0}}
  %0 = ccn.iota %x dim 0 : (tensor<f32>) -> tensor<i64>
  ccn.return
}

// -----

// iota_c2
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #v_sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.iota' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.iota %x dim 0 : (tensor<8xf32, #v_sum>) -> tensor<8xi64, #v_sum>
  ccn.return
}

// -----

// iota_c3
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.iota' op expected indices from 0 that fit 64 bits, found -1 as the first of 8}}
  %0 = ccn.iota %x dim 0 from -1 : (tensor<8xf32>) -> tensor<8xi64>
  ccn.return
}

// -----

// iota_c3: too large
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.iota' op expected indices from 0 that fit 64 bits, found 9223372036854775800 as the first of 8}}
  %0 = ccn.iota %x dim 0 from 9223372036854775800 : (tensor<8xf32>) -> tensor<8xi64>
  ccn.return
}
