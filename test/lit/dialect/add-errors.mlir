// Sums: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// add_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.add %x, %y : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  ccn.return
}

// -----

// add_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op expected operands of one shape, found 'f32[8]' and 'f32[4]'}}
  %0 = ccn.add %x, %y : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// add_c2: ranks differ
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}, %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op expected operands of one shape, found 'f32[8, 4]' and 'f32[4]'}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// add_c2: a size of 1 is not repeated
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}, %y: tensor<8x1xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op expected operands of one shape, found 'f32[8, 4]' and 'f32[8, 1]'}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// add_c3
#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}, %y: tensor<8x4xf32, #cols> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layouts 'sliced(0, a)' and 'sliced(1, a)' do not combine along mesh axis 'a'; repair with 'all_to_all(operand #1, 1 -> 0, a)' on the second}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows>, tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// add_c3: neither list of axes continues the other
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_b = #ccn.layout<@m, [{"b"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"},
    %y: tensor<8x4xf32, #rows_b> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layouts 'sliced(0, a) sliced(0, b)' and 'sliced(0, b)' do not combine along mesh axis 'b', as they cut dimension 0 of the second by other axes or in another order; repair with 'reshard(operand #1, sliced(0, a) sliced(0, b))' on the second}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows_ab>, tensor<8x4xf32, #rows_b>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}

// -----

// add_c3: two axes, of which one is at another dimension
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"},
    %y: tensor<8x4xf32, #cols> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layouts 'sliced(0, a) sliced(1, b)' and 'sliced(1, a)' do not combine along mesh axis 'a', as they cut dimension 1 of the second by other axes or in another order; repair with 'reshard(operand #1, sliced(1, b))' on the second}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows_cols>, tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #rows_cols>
  ccn.return
}

// -----

// add_c3: a local scalar with a sliced tensor
#rows = #ccn.layout<@m, [{"a"}, {}]>
#s_local = #ccn.layout<@m, [], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}, %y: tensor<f32, #s_local> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layouts 'sliced(0, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #0, a)' on the sliced operand}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows>, tensor<f32, #s_local>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// add_c4: replicated
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layouts 'partial(sum, a)' and 'replicated' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// add_c4: local
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32, #local> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layouts 'partial(sum, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32, #local>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// add_c4: sliced
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32, #rows> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layouts 'sliced(0, a)' and 'partial(sum, a)' do not combine along mesh axis 'a'; repair with 'reduce_scatter(sum, operand #0, 0, a)' on the partial operand}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// add_c4: other axes
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#sum_b = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32, #sum_b> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layouts 'partial(sum, a)' and 'partial(sum, b)' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32, #sum_b>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// add_c4: another reduction on one
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32, #max> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layouts 'partial(sum, a)' and 'partial(max, a)' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the first}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32, #max>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// add_c4: another reduction on both
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #max> {ccn.name = "x"}, %y: tensor<8x4xf32, #max> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layout 'partial(max, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(max, operand #0, a)' on the partial operand}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #max>, tensor<8x4xf32, #max>) -> tensor<8x4xf32, #max>
  ccn.return
}

// -----

// add_c4: a scalar is not added to the sum, but to each part
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<f32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op layouts 'partial(sum, a)' and 'replicated' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #sum>, tensor<f32>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// add_c5
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1> {ccn.name = "x"}, %y: tensor<8xi1> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.add' op expected a number element type, found 'bool'}}
  %0 = ccn.add %x, %y : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  ccn.return
}
