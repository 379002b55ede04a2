// ccn.dropout: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// dropout_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected a floating-point element type, found 'i32'}}
  %0 = ccn.dropout %x, %s rate 0.5 : (tensor<8xi32>, tensor<i64>) -> tensor<8xi32>
  ccn.return
}

// -----

// dropout_c2: 1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected a rate of at least 0 and less than 1, found 1}}
  %0 = ccn.dropout %x, %s rate 1.0 : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  ccn.return
}

// -----

// dropout_c2: negative
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected a rate of at least 0 and less than 1, found -0.5}}
  %0 = ccn.dropout %x, %s rate -0.5 : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  ccn.return
}

// -----

// dropout_c2: not a number
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected a rate of at least 0 and less than 1, found nan}}
  %0 = ccn.dropout %x, %s rate 0x7FF8000000000000 : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  ccn.return
}

// -----

// dropout_c3: floating-point
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<f32> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected a replicated integer scalar as seed, found 'f32'}}
  %0 = ccn.dropout %x, %s rate 0.5 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  ccn.return
}

// -----

// dropout_c3: bool
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<i1> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected a replicated integer scalar as seed, found 'bool'}}
  %0 = ccn.dropout %x, %s rate 0.5 : (tensor<8xf32>, tensor<i1>) -> tensor<8xf32>
  ccn.return
}

// -----

// dropout_c3: not a scalar
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<1xi64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected a replicated integer scalar as seed, found 'i64[1]'}}
  %0 = ccn.dropout %x, %s rate 0.5 : (tensor<8xf32>, tensor<1xi64>) -> tensor<8xf32>
  ccn.return
}

// -----

// dropout_c3: local
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#s_local = #ccn.layout<@m, [], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #v_local> {ccn.name = "x"}, %s: tensor<i64, #s_local> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected a replicated integer scalar as seed, found 'i64 local(a)'}}
  %0 = ccn.dropout %x, %s rate 0.5 : (tensor<8xf32, #v_local>, tensor<i64, #s_local>) -> tensor<8xf32, #v_local>
  ccn.return
}

// -----

// dropout_c4
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #v_sum> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.dropout %x, %s rate 0.5 : (tensor<8xf32, #v_sum>, tensor<i64>) -> tensor<8xf32, #v_sum>
  ccn.return
}

// -----

// dropout_c5: beyond the whole
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected 'f32[8]' to lie within the tensor that it is a part of}}
  %0 = ccn.dropout %x, %s rate 0.5 at [3] of [10] : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  ccn.return
}

// -----

// dropout_c5: below
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected 'f32[8]' to lie within the tensor that it is a part of}}
  %0 = ccn.dropout %x, %s rate 0.5 at [-1] of [10] : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  ccn.return
}

// -----

// dropout_c5: other dimensions
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected 'f32[8]' to lie within the tensor that it is a part of}}
  %0 = ccn.dropout %x, %s rate 0.5 at [0, 0] of [10, 1] : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  ccn.return
}

// -----

// dropout_c5: no end
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op expected 'f32[8]' to lie within the tensor that it is a part of}}
  %0 = "ccn.dropout"(%x, %s) <{rate = 5.0e-01 : f64, offsets = array<i64: 0>}> : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  ccn.return
}

// -----

// dropout_c5: a whole of 2^62 elements
ccn.program @error(%x: tensor<8x8xf32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op the size of tensor 'f32[4294967296, 1073741824]' in bytes does not fit 64 bits}}
  %0 = ccn.dropout %x, %s rate 0.5 at [0, 0] of [4294967296, 1073741824] : (tensor<8x8xf32>, tensor<i64>) -> tensor<8x8xf32>
  ccn.return
}
