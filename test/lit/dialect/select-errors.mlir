// ccn.select: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// select_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%c: tensor<8xi1> {ccn.name = "c"},
    %x: tensor<8xf32> {ccn.name = "x"},
    %y: tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.select' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.select %c, %x, %y : (tensor<8xi1>, tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  ccn.return
}

// -----

// select_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%c: tensor<8xi1> {ccn.name = "c"},
    %x: tensor<8xf32> {ccn.name = "x"},
    %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.select' op expected operands of one shape, found 'f32[8]' and 'f32[4]'}}
  %0 = ccn.select %c, %x, %y : (tensor<8xi1>, tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// select_c2: the condition
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%c: tensor<4xi1> {ccn.name = "c"},
    %x: tensor<8xf32> {ccn.name = "x"},
    %y: tensor<8xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.select' op expected operands of one shape, found 'bool[4]' and 'f32[8]'}}
  %0 = ccn.select %c, %x, %y : (tensor<4xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// select_c3
#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%c: tensor<8x4xi1, #rows> {ccn.name = "c"},
    %x: tensor<8x4xf32, #cols> {ccn.name = "x"},
    %y: tensor<8x4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.select' op layouts 'sliced(0, a)' and 'sliced(1, a)' do not combine along mesh axis 'a'; repair with 'all_to_all(operand #1, 1 -> 0, a)' on the second}}
  %0 = ccn.select %c, %x, %y : (tensor<8x4xi1, #rows>, tensor<8x4xf32, #cols>, tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// select_c3: local with sliced
#s_local = #ccn.layout<@m, [], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%c: tensor<i1, #s_local> {ccn.name = "c"},
    %x: tensor<8x4xf32, #rows> {ccn.name = "x"},
    %y: tensor<8x4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.select' op layouts 'sliced(0, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #1, a)' on the sliced operand}}
  %0 = ccn.select %c, %x, %y : (tensor<i1, #s_local>, tensor<8x4xf32, #rows>, tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// select_c4
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%c: tensor<8x4xi1> {ccn.name = "c"},
    %x: tensor<8x4xf32, #sum> {ccn.name = "x"},
    %y: tensor<8x4xf32, #sum> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.select' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #1, a)' on the partial operand}}
  %0 = ccn.select %c, %x, %y : (tensor<8x4xi1>, tensor<8x4xf32, #sum>, tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// select_c5
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%c: tensor<8xi8> {ccn.name = "c"},
    %x: tensor<8xf32> {ccn.name = "x"},
    %y: tensor<8xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.select' op expected a condition of element type 'bool', found 'i8'}}
  %0 = ccn.select %c, %x, %y : (tensor<8xi8>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}
