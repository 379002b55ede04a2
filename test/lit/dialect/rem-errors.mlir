// Remainders: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// rem_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.rem' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.rem %x, %y : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  ccn.return
}

// -----

// rem_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.rem' op expected operands of one shape, found 'f32[8]' and 'f32[4]'}}
  %0 = ccn.rem %x, %y : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// rem_c3
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local> {ccn.name = "x"}, %y: tensor<8x4xf32, #cols> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.rem' op layouts 'sliced(1, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #1, a)' on the sliced operand}}
  %0 = ccn.rem %x, %y : (tensor<8x4xf32, #local>, tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #local>
  ccn.return
}

// -----

// rem_c4
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32, #sum> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.rem' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.rem %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// rem_c5
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1> {ccn.name = "x"}, %y: tensor<8xi1> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.rem' op expected a number element type, found 'bool'}}
  %0 = ccn.rem %x, %y : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  ccn.return
}
