// ccn.scatter_rows: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// scatter_rows_c1: rank
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<f32> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<f32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op expected a table of numbers of rank 1 or more, found 'f32'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<f32>, tensor<3xi32>, tensor<f32>) -> tensor<f32>
  ccn.return
}

// -----

// scatter_rows_c1: bool
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x4xi1> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xi1> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op expected a table of numbers of rank 1 or more, found 'bool[8, 4]'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xi1>, tensor<3xi32>, tensor<8x4xi1>) -> tensor<8x4xi1>
  ccn.return
}

// -----

// scatter_rows_c2: floats
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x4xf32> {ccn.name = "r"},
    %i: tensor<3xf32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op expected integer indices of rank 1, found 'f32[3]'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32>, tensor<3xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// scatter_rows_c2: rank
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x4xf32> {ccn.name = "r"},
    %i: tensor<3x1xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op expected integer indices of rank 1, found 'i32[3, 1]'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// scatter_rows_c3: element type
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x4xf16> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op expected one row of the table 'f32[8, 4]' for each index of 'i32[3]', found 'f16[3, 4]'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf16>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// scatter_rows_c3: number of rows
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<2x4xf32> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op expected one row of the table 'f32[8, 4]' for each index of 'i32[3]', found 'f32[2, 4]'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<2x4xf32>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// scatter_rows_c3: sizes
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x5xf32> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op expected one row of the table 'f32[8, 4]' for each index of 'i32[3]', found 'f32[3, 5]'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x5xf32>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// scatter_rows_c3: rank
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3xf32> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op expected one row of the table 'f32[8, 4]' for each index of 'i32[3]', found 'f32[3]'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3xf32>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// scatter_rows_c3: a scalar
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<f32> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op expected one row of the table 'f32[8, 4]' for each index of 'i32[3]', found 'f32'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<f32>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// scatter_rows_c4: the table
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x4xf32> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32, #rows> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op dimension 0 of an operand with layout 'sliced(0, a)' must be whole here, expected it 'replicated'; repair with 'all_gather(operand #2, a)'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32>, tensor<3xi32>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// scatter_rows_c4: the rows
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x4xf32, #rows> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op dimension 0 of an operand with layout 'sliced(0, a)' must be whole here, expected it 'replicated'; repair with 'all_gather(operand #0, a)'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32, #rows>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// scatter_rows_c4: the indices
#cut = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x4xf32> {ccn.name = "r"},
    %i: tensor<3xi32, #cut> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op dimension 0 of an operand with layout 'sliced(0, a)' must be whole here, expected it 'replicated'; repair with 'all_gather(operand #1, a)'}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32>, tensor<3xi32, #cut>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// scatter_rows_c4: local with sliced
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x4xf32, #local> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32, #cols> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op layouts 'sliced(1, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #2, a)' on the sliced operand}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32, #local>, tensor<3xi32>, tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// -----

// scatter_rows_c5: the table
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x4xf32> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32, #sum> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #2, a)' on the partial operand}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32>, tensor<3xi32>, tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// scatter_rows_c5: the rows
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%r: tensor<3x4xf32, #sum> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // expected-error @below {{'ccn.scatter_rows' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32, #sum>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32, #sum>
  ccn.return
}
