// Quotients: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// div_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.div' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.div %x, %y : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  ccn.return
}

// -----

// div_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.div' op expected operands of one shape, found 'f32[8]' and 'f32[4]'}}
  %0 = ccn.div %x, %y : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// div_c3
#rows_b = #ccn.layout<@m, [{"b"}, {}]>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_b> {ccn.name = "x"}, %y: tensor<8x4xf32, #rows> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.div' op layouts 'sliced(0, b)' and 'sliced(0, a)' do not combine along mesh axis 'a', as they cut dimension 0 of the second by other axes or in another order; repair with 'reshard(operand #1, sliced(0, b))' on the second}}
  %0 = ccn.div %x, %y : (tensor<8x4xf32, #rows_b>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows_b>
  ccn.return
}

// -----

// div_c4: the second operand
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<f32> {ccn.name = "x"}, %y: tensor<f32, #s_sum> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.div' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #1, a)' on the partial operand}}
  %0 = ccn.div %x, %y : (tensor<f32>, tensor<f32, #s_sum>) -> tensor<f32, #s_sum>
  ccn.return
}

// -----

// div_c4: integers
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<i32, #s_sum> {ccn.name = "x"}, %y: tensor<i32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.div' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.div %x, %y : (tensor<i32, #s_sum>, tensor<i32>) -> tensor<i32, #s_sum>
  ccn.return
}

// -----

// div_c4: not by a scalar
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.div' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.div %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// div_c4: another reduction
#prod = #ccn.layout<@m, [{}, {}], partial<prod> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #prod> {ccn.name = "x"}, %y: tensor<f32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.div' op layout 'partial(prod, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(prod, operand #0, a)' on the partial operand}}
  %0 = ccn.div %x, %y : (tensor<8x4xf32, #prod>, tensor<f32>) -> tensor<8x4xf32, #prod>
  ccn.return
}

// -----

// div_c5
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1> {ccn.name = "x"}, %y: tensor<8xi1> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.div' op expected a number element type, found 'bool'}}
  %0 = ccn.div %x, %y : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  ccn.return
}
