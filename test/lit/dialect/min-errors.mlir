// The smaller of two: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// min_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.min' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.min %x, %y : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  ccn.return
}

// -----

// min_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.min' op expected operands of one shape, found 'f32[8]' and 'f32[4]'}}
  %0 = ccn.min %x, %y : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// min_c3
#cols = #ccn.layout<@m, [{}, {"a"}]>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #cols> {ccn.name = "x"}, %y: tensor<8x4xf32, #rows> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.min' op layouts 'sliced(0, a)' and 'sliced(1, a)' do not combine along mesh axis 'a'; repair with 'all_to_all(operand #0, 1 -> 0, a)' on the second}}
  %0 = ccn.min %x, %y : (tensor<8x4xf32, #cols>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// -----

// min_c4
#min = #ccn.layout<@m, [{}, {}], partial<min> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #min> {ccn.name = "x"}, %y: tensor<8x4xf32, #min> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.min' op layout 'partial(min, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(min, operand #0, a)' on the partial operand}}
  %0 = ccn.min %x, %y : (tensor<8x4xf32, #min>, tensor<8x4xf32, #min>) -> tensor<8x4xf32, #min>
  ccn.return
}
