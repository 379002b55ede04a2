// ccn.gather_rows: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// gather_rows_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%t: tensor<f32> {ccn.name = "t"}, %i: tensor<3xi32> {ccn.name = "i"}) {
  // expected-error @below {{'ccn.gather_rows' op expected a table of rank 1 or more, found 'f32'}}
  %0 = ccn.gather_rows %t, %i : (tensor<f32>, tensor<3xi32>) -> tensor<3xf32>
  ccn.return
}

// -----

// gather_rows_c2: floats
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%t: tensor<8x4xf32> {ccn.name = "t"}, %i: tensor<3xf32> {ccn.name = "i"}) {
  // expected-error @below {{'ccn.gather_rows' op expected integer indices of rank 1, found 'f32[3]'}}
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32>, tensor<3xf32>) -> tensor<3x4xf32>
  ccn.return
}

// -----

// gather_rows_c2: bool
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%t: tensor<8x4xf32> {ccn.name = "t"}, %i: tensor<3xi1> {ccn.name = "i"}) {
  // expected-error @below {{'ccn.gather_rows' op expected integer indices of rank 1, found 'bool[3]'}}
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32>, tensor<3xi1>) -> tensor<3x4xf32>
  ccn.return
}

// -----

// gather_rows_c2: rank
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%t: tensor<8x4xf32> {ccn.name = "t"}, %i: tensor<3x1xi32> {ccn.name = "i"}) {
  // expected-error @below {{'ccn.gather_rows' op expected integer indices of rank 1, found 'i32[3, 1]'}}
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  ccn.return
}

// -----

// gather_rows_c3: the rows are cut
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%t: tensor<8x4xf32, #rows> {ccn.name = "t"}, %i: tensor<3xi32> {ccn.name = "i"}) {
  // expected-error @below {{'ccn.gather_rows' op dimension 0 of an operand with layout 'sliced(0, a)' must be whole here, expected it 'replicated'; repair with 'all_gather(operand #0, a)'}}
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32, #rows>, tensor<3xi32>) -> tensor<3x4xf32, #rows>
  ccn.return
}

// -----

// gather_rows_c3: one axis cuts the indices and the columns
#cols = #ccn.layout<@m, [{}, {"a"}]>
#cut = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%t: tensor<8x4xf32, #cols> {ccn.name = "t"}, %i: tensor<6xi32, #cut> {ccn.name = "i"}) {
  // expected-error @below {{'ccn.gather_rows' op layouts 'sliced(0, a)' and 'sliced(1, a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #1, a)' on the first}}
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32, #cols>, tensor<6xi32, #cut>) -> tensor<6x4xf32, #cols>
  ccn.return
}

// -----

// gather_rows_c3: local with sliced
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#cut = #ccn.layout<@m, [{"a"}]>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%t: tensor<8x4xf32, #local> {ccn.name = "t"}, %i: tensor<6xi32, #cut> {ccn.name = "i"}) {
  // expected-error @below {{'ccn.gather_rows' op layouts 'sliced(0, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #1, a)' on the sliced operand}}
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32, #local>, tensor<6xi32, #cut>) -> tensor<6x4xf32, #rows>
  ccn.return
}

// -----

// gather_rows_c4: the table
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%t: tensor<8x4xf32, #sum> {ccn.name = "t"}, %i: tensor<3xi32> {ccn.name = "i"}) {
  // expected-error @below {{'ccn.gather_rows' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32, #sum>, tensor<3xi32>) -> tensor<3x4xf32, #sum>
  ccn.return
}

// -----

// gather_rows_c4: the indices
#v_max = #ccn.layout<@m, [{}], partial<max> = {"a"}>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%t: tensor<8x4xf32> {ccn.name = "t"}, %i: tensor<3xi32, #v_max> {ccn.name = "i"}) {
  // expected-error @below {{'ccn.gather_rows' op layout 'partial(max, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(max, operand #1, a)' on the partial operand}}
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32>, tensor<3xi32, #v_max>) -> tensor<3x4xf32, #max>
  ccn.return
}
