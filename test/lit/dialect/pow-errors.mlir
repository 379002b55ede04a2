// Powers: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// pow_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.pow' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.pow %x, %y : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  ccn.return
}

// -----

// pow_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.pow' op expected operands of one shape, found 'f32[8]' and 'f32[4]'}}
  %0 = ccn.pow %x, %y : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// pow_c3
#cols = #ccn.layout<@m, [{}, {"a"}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #cols> {ccn.name = "x"}, %y: tensor<8x4xf32, #local> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.pow' op layouts 'sliced(1, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #0, a)' on the sliced operand}}
  %0 = ccn.pow %x, %y : (tensor<8x4xf32, #cols>, tensor<8x4xf32, #local>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// -----

// pow_c4
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32, #sum> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.pow' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.pow %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// pow_c5
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi32> {ccn.name = "x"}, %y: tensor<8xi32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.pow' op expected a floating-point element type, found 'i32'}}
  %0 = ccn.pow %x, %y : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  ccn.return
}
