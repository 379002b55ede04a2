// ccn.matmul: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// matmul_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32> {ccn.name = "a"}, %b: tensor<4x2xf16> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32>, tensor<4x2xf16>) -> tensor<8x2xf32>
  ccn.return
}

// -----

// matmul_c1: bool
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xi1> {ccn.name = "a"}, %b: tensor<4x2xi1> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op expected a number element type, found 'bool'}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xi1>, tensor<4x2xi1>) -> tensor<8x2xi1>
  ccn.return
}

// -----

// matmul_c2: rank 1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<4xf32> {ccn.name = "a"}, %b: tensor<4x2xf32> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op expected operands of rank 2 or more, the second of the first's rank or 2, found 'f32[4]' and 'f32[4, 2]'}}
  %0 = ccn.matmul %a, %b : (tensor<4xf32>, tensor<4x2xf32>) -> tensor<2xf32>
  ccn.return
}

// -----

// matmul_c2: the second of rank 1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32> {ccn.name = "a"}, %b: tensor<4xf32> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op expected operands of rank 2 or more, the second of the first's rank or 2, found 'f32[8, 4]' and 'f32[4]'}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// matmul_c2: other ranks
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<3x8x4xf32> {ccn.name = "a"}, %b: tensor<1x3x4x2xf32> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op expected operands of rank 2 or more, the second of the first's rank or 2, found 'f32[3, 8, 4]' and 'f32[1, 3, 4, 2]'}}
  %0 = ccn.matmul %a, %b : (tensor<3x8x4xf32>, tensor<1x3x4x2xf32>) -> tensor<3x8x2xf32>
  ccn.return
}

// -----

// matmul_c3
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32> {ccn.name = "a"}, %b: tensor<8x2xf32> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op expected the last size of the first operand to be the last but one of the second, found 'f32[8, 4]' and 'f32[8, 2]'}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  ccn.return
}

// -----

// matmul_c3: batched
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<3x8x4xf32> {ccn.name = "a"}, %b: tensor<3x8x2xf32> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op expected the last size of the first operand to be the last but one of the second, found 'f32[3, 8, 4]' and 'f32[3, 8, 2]'}}
  %0 = ccn.matmul %a, %b : (tensor<3x8x4xf32>, tensor<3x8x2xf32>) -> tensor<3x8x2xf32>
  ccn.return
}

// -----

// matmul_c4
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<3x8x4xf32> {ccn.name = "a"}, %b: tensor<2x4x2xf32> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op expected the same batch dimensions, found 'f32[3, 8, 4]' and 'f32[2, 4, 2]'}}
  %0 = ccn.matmul %a, %b : (tensor<3x8x4xf32>, tensor<2x4x2xf32>) -> tensor<3x8x2xf32>
  ccn.return
}

// -----

// matmul_c4: a size of 1 is not repeated
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<3x8x4xf32> {ccn.name = "a"}, %b: tensor<1x4x2xf32> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op expected the same batch dimensions, found 'f32[3, 8, 4]' and 'f32[1, 4, 2]'}}
  %0 = ccn.matmul %a, %b : (tensor<3x8x4xf32>, tensor<1x4x2xf32>) -> tensor<3x8x2xf32>
  ccn.return
}

// -----

// matmul_c5: one axis cuts M and N
#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32, #rows> {ccn.name = "a"}, %b: tensor<4x2xf32, #cols> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op layouts 'sliced(0, a)' and 'sliced(1, a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #0, a)' on the first}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #rows>, tensor<4x2xf32, #cols>) -> tensor<8x2xf32, #rows>
  ccn.return
}

// -----

// matmul_c5: one axis cuts M and K
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32, #rows> {ccn.name = "a"}, %b: tensor<4x2xf32, #rows> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op layouts 'sliced(0, a)' and 'sliced(0, a)' do not combine along mesh axis 'a', which cuts another loop in each; repair with 'all_to_all(operand #0, 0 -> 1, a)' on the first}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #rows>, tensor<4x2xf32, #rows>) -> tensor<8x2xf32, #rows>
  ccn.return
}

// -----

// matmul_c5: one axis cuts K and N
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32, #cols> {ccn.name = "a"}, %b: tensor<4x2xf32, #cols> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op layouts 'sliced(1, a)' and 'sliced(1, a)' do not combine along mesh axis 'a', which cuts another loop in each; repair with 'all_to_all(operand #1, 1 -> 0, a)' on the first}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #cols>, tensor<4x2xf32, #cols>) -> tensor<8x2xf32, #cols>
  ccn.return
}

// -----

// matmul_c5: K is cut in another order
#cols_ab = #ccn.layout<@m, [{}, {"a", "b"}]>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32, #cols_ab> {ccn.name = "a"},
    %b: tensor<4x2xf32, #rows_ba> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op layouts 'sliced(1, a) sliced(1, b)' and 'sliced(0, b) sliced(0, a)' do not combine along mesh axis 'b', as they cut dimension 0 of the second by other axes or in another order; repair with 'reshard(operand #1, sliced(0, a) sliced(0, b))' on the second}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #cols_ab>, tensor<4x2xf32, #rows_ba>) -> tensor<8x2xf32, #sum_ab>
  ccn.return
}

// -----

// matmul_c5: local with sliced
#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32, #rows> {ccn.name = "a"}, %b: tensor<4x2xf32, #local> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op layouts 'sliced(0, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #0, a)' on the sliced operand}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #rows>, tensor<4x2xf32, #local>) -> tensor<8x2xf32, #rows>
  ccn.return
}

// -----

// matmul_c6: both along the same axis
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32, #sum> {ccn.name = "a"}, %b: tensor<4x2xf32, #sum> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op layouts 'partial(sum, a)' and 'partial(sum, a)' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the first}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #sum>, tensor<4x2xf32, #sum>) -> tensor<8x2xf32, #sum>
  ccn.return
}

// -----

// matmul_c6: not a sum
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32, #max> {ccn.name = "a"}, %b: tensor<4x2xf32> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op layout 'partial(max, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(max, operand #0, a)' on the partial operand}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #max>, tensor<4x2xf32>) -> tensor<8x2xf32, #max>
  ccn.return
}

// -----

// matmul_c6: with local
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32, #sum> {ccn.name = "a"}, %b: tensor<4x2xf32, #local> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op layouts 'partial(sum, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #sum>, tensor<4x2xf32, #local>) -> tensor<8x2xf32, #sum>
  ccn.return
}

// -----

// matmul_c6: with sliced
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%a: tensor<8x4xf32, #sum> {ccn.name = "a"}, %b: tensor<4x2xf32, #cols> {ccn.name = "b"}) {
  // expected-error @below {{'ccn.matmul' op layouts 'sliced(1, a)' and 'partial(sum, a)' do not combine along mesh axis 'a'; repair with 'reduce_scatter(sum, operand #0, 1, a)' on the partial operand}}
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #sum>, tensor<4x2xf32, #cols>) -> tensor<8x2xf32, #sum>
  ccn.return
}
