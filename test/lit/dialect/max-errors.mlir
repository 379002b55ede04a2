// The larger of two: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// max_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.max' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.max %x, %y : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  ccn.return
}

// -----

// max_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.max' op expected operands of one shape, found 'f32[8]' and 'f32[4]'}}
  %0 = ccn.max %x, %y : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// max_c3
#rows_abc = #ccn.layout<@m, [{"a", "b", "c"}, {}]>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_abc> {ccn.name = "x"},
    %y: tensor<8x4xf32, #rows_ba> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.max' op layouts 'sliced(0, a) sliced(0, b) sliced(0, c)' and 'sliced(0, b) sliced(0, a)' do not combine along mesh axis 'b', as they cut dimension 0 of the second by other axes or in another order; repair with 'reshard(operand #1, sliced(0, a) sliced(0, b) sliced(0, c))' on the second}}
  %0 = ccn.max %x, %y : (tensor<8x4xf32, #rows_abc>, tensor<8x4xf32, #rows_ba>) -> tensor<8x4xf32, #rows_abc>
  ccn.return
}

// -----

// max_c4
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #max> {ccn.name = "x"}, %y: tensor<8x4xf32, #max> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.max' op layout 'partial(max, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(max, operand #0, a)' on the partial operand}}
  %0 = ccn.max %x, %y : (tensor<8x4xf32, #max>, tensor<8x4xf32, #max>) -> tensor<8x4xf32, #max>
  ccn.return
}
