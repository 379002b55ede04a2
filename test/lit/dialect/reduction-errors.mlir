// ccn.reduction: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// reduction_c1: no dimension of the operand
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op expected a dimension of 'f32[8, 4]', found 2}}
  %0 = ccn.reduction sum %x over [2] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// reduction_c1: negative
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op expected a dimension of 'f32[8, 4]', found -1}}
  %0 = ccn.reduction sum %x over [-1] : (tensor<8x4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// reduction_c1: twice
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op expected each dimension once, in increasing order, found [0, 0]}}
  %0 = ccn.reduction sum %x over [0, 0] : (tensor<8x4xf32>) -> tensor<4xf32>
  ccn.return
}

// -----

// reduction_c1: decreasing
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op expected each dimension once, in increasing order, found [1, 0]}}
  %0 = ccn.reduction sum %x over [1, 0] : (tensor<8x4xf32>) -> tensor<f32>
  ccn.return
}

// -----

// reduction_c2: a sum of bool
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op expected a number element type, found 'bool'}}
  %0 = ccn.reduction sum %x over [0] : (tensor<8xi1>) -> tensor<i1>
  ccn.return
}

// -----

// reduction_c2: a product of bool
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op expected a number element type, found 'bool'}}
  %0 = ccn.reduction prod %x over [0] : (tensor<8xi1>) -> tensor<i1>
  ccn.return
}

// -----

// reduction_c2: a mean of integers
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op expected a floating-point element type, found 'i32'}}
  %0 = ccn.reduction mean %x over [0] : (tensor<8xi32>) -> tensor<i32>
  ccn.return
}

// -----

// reduction_c3
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op layout 'partial(sum, a)' has another reduction pending than 'max'; repair with 'all_reduce(sum, operand #0, a)'}}
  %0 = ccn.reduction max %x over [0] : (tensor<8x4xf32, #sum>) -> tensor<4xf32, #v_sum>
  ccn.return
}

// -----

// reduction_c3: a mean
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#v_max = #ccn.layout<@m, [{}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #max> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op layout 'partial(max, a)' has another reduction pending than 'mean'; repair with 'all_reduce(max, operand #0, a)'}}
  %0 = ccn.reduction mean %x over [0] : (tensor<8x4xf32, #max>) -> tensor<4xf32, #v_max>
  ccn.return
}

// -----

// reduction_c3: over a dimension that is cut
#rows_max = #ccn.layout<@m, [{"a"}, {}], partial<max> = {"b"}>
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_max> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op layout 'sliced(0, a) partial(max, b)' has another reduction pending than 'sum'; repair with 'all_reduce(max, operand #0, b)'}}
  %0 = ccn.reduction sum %x over [0] : (tensor<8x4xf32, #rows_max>) -> tensor<4xf32, #v_sum>
  ccn.return
}

// -----

// reduction_c4: a sum
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op expected a divisor for a mean only, of at least 4}}
  %0 = ccn.reduction sum %x over [1] of 4 : (tensor<8x4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// reduction_c4: a divisor that is too small
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduction' op expected a divisor for a mean only, of at least 32}}
  %0 = ccn.reduction mean %x over [0, 1] of 31 : (tensor<8x4xf32>) -> tensor<f32>
  ccn.return
}
