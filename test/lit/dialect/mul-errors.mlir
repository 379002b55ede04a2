// Products, element by element: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// mul_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.mul' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.mul %x, %y : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  ccn.return
}

// -----

// mul_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.mul' op expected operands of one shape, found 'f32[8]' and 'f32[4]'}}
  %0 = ccn.mul %x, %y : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// mul_c3
#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}, %y: tensor<8x4xf32, #local> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.mul' op layouts 'sliced(0, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #0, a)' on the sliced operand}}
  %0 = ccn.mul %x, %y : (tensor<8x4xf32, #rows>, tensor<8x4xf32, #local>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// mul_c4: both along the same axis
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<f32, #s_sum> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.mul' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.mul %x, %y : (tensor<8x4xf32, #sum>, tensor<f32, #s_sum>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// mul_c4: not a scalar
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.mul' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.mul %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// mul_c4: the partial operand is a scalar, the other is not
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}, %y: tensor<f32, #s_sum> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.mul' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #1, a)' on the partial operand}}
  %0 = ccn.mul %x, %y : (tensor<8x4xf32>, tensor<f32, #s_sum>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// mul_c4: both, and one is not a scalar
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#s_sum_b = #ccn.layout<@m, [], partial<sum> = {"b"}>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<f32, #s_sum_b> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.mul' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.mul %x, %y : (tensor<8x4xf32, #sum>, tensor<f32, #s_sum_b>) -> tensor<8x4xf32, #sum_ab>
  ccn.return
}

// -----

// mul_c4: another reduction
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #max> {ccn.name = "x"}, %y: tensor<f32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.mul' op layout 'partial(max, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(max, operand #0, a)' on the partial operand}}
  %0 = ccn.mul %x, %y : (tensor<8x4xf32, #max>, tensor<f32>) -> tensor<8x4xf32, #max>
  ccn.return
}

// -----

// mul_c4: a scalar that is local along the axis
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#s_local = #ccn.layout<@m, [], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<f32, #s_local> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.mul' op layouts 'partial(sum, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.mul %x, %y : (tensor<8x4xf32, #sum>, tensor<f32, #s_local>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// mul_c5
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1> {ccn.name = "x"}, %y: tensor<8xi1> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.mul' op expected a number element type, found 'bool'}}
  %0 = ccn.mul %x, %y : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  ccn.return
}
