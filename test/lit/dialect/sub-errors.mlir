// Differences: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// sub_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.sub' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.sub %x, %y : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  ccn.return
}

// -----

// sub_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.sub' op expected operands of one shape, found 'f32[8]' and 'f32[4]'}}
  %0 = ccn.sub %x, %y : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// sub_c3
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"},
    %y: tensor<8x4xf32, #rows_ba> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.sub' op layouts 'sliced(0, a) sliced(0, b)' and 'sliced(0, b) sliced(0, a)' do not combine along mesh axis 'b', as they cut dimension 0 of the second by other axes or in another order; repair with 'reshard(operand #1, sliced(0, a) sliced(0, b))' on the second}}
  %0 = ccn.sub %x, %y : (tensor<8x4xf32, #rows_ab>, tensor<8x4xf32, #rows_ba>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}

// -----

// sub_c4
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.sub' op layouts 'partial(sum, a)' and 'replicated' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.sub %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// sub_c5
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1> {ccn.name = "x"}, %y: tensor<8xi1> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.sub' op expected a number element type, found 'bool'}}
  %0 = ccn.sub %x, %y : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  ccn.return
}
