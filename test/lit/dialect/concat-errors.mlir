// ccn.concat: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// concat_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error() {
  // expected-error @below {{'ccn.concat' op expected at least one operand}}
  %r = ccn.concat at 0 : () -> tensor<8xf32>
  ccn.return
}

// -----

// concat_c2: element types
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x0: tensor<8x4xf32> {ccn.name = "x0"}, %x1: tensor<2x4xf16> {ccn.name = "x1"}) {
  // expected-error @below {{'ccn.concat' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32>, tensor<2x4xf16>) -> tensor<10x4xf32>
  ccn.return
}

// -----

// concat_c2: ranks
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x0: tensor<8x4xf32> {ccn.name = "x0"}, %x1: tensor<2xf32> {ccn.name = "x1"}) {
  // expected-error @below {{'ccn.concat' op expected operands that differ in dimension 0 only, found 'f32[8, 4]' and 'f32[2]'}}
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32>, tensor<2xf32>) -> tensor<10x4xf32>
  ccn.return
}

// -----

// concat_c3
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x0: tensor<8x4xf32> {ccn.name = "x0"}, %x1: tensor<8x4xf32> {ccn.name = "x1"}) {
  // expected-error @below {{'ccn.concat' op expected a dimension of 'f32[8, 4]', found 2}}
  %r = ccn.concat %x0, %x1 at 2 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// concat_c3: negative
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x0: tensor<8x4xf32> {ccn.name = "x0"}) {
  // expected-error @below {{'ccn.concat' op expected a dimension of 'f32[8, 4]', found -1}}
  %r = ccn.concat %x0 at -1 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// concat_c3: scalars
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x0: tensor<f32> {ccn.name = "x0"}, %x1: tensor<f32> {ccn.name = "x1"}) {
  // expected-error @below {{'ccn.concat' op expected a dimension of 'f32', found 0}}
  %r = ccn.concat %x0, %x1 at 0 : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  ccn.return
}

// -----

// concat_c4
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x0: tensor<8x4xf32> {ccn.name = "x0"}, %x1: tensor<2x5xf32> {ccn.name = "x1"}) {
  // expected-error @below {{'ccn.concat' op expected operands that differ in dimension 0 only, found 'f32[8, 4]' and 'f32[2, 5]'}}
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32>, tensor<2x5xf32>) -> tensor<10x4xf32>
  ccn.return
}

// -----

// concat_c5: the dimension is cut
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x0: tensor<8x4xf32, #rows> {ccn.name = "x0"}, %x1: tensor<2x4xf32> {ccn.name = "x1"}) {
  // expected-error @below {{'ccn.concat' op dimension 0 of an operand with layout 'sliced(0, a)' must be whole here, expected it 'replicated'; repair with 'all_gather(operand #0, a)'}}
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32, #rows>, tensor<2x4xf32>) -> tensor<10x4xf32, #rows>
  ccn.return
}

// -----

// concat_c5: local with sliced
#cols = #ccn.layout<@m, [{}, {"a"}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x0: tensor<8x4xf32, #cols> {ccn.name = "x0"},
    %x1: tensor<2x4xf32, #local> {ccn.name = "x1"}) {
  // expected-error @below {{'ccn.concat' op layouts 'sliced(1, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #0, a)' on the sliced operand}}
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32, #cols>, tensor<2x4xf32, #local>) -> tensor<10x4xf32, #cols>
  ccn.return
}

// -----

// concat_c6: on one only
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x0: tensor<8x4xf32, #sum> {ccn.name = "x0"}, %x1: tensor<2x4xf32> {ccn.name = "x1"}) {
  // expected-error @below {{'ccn.concat' op layouts 'partial(sum, a)' and 'replicated' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32, #sum>, tensor<2x4xf32>) -> tensor<10x4xf32, #sum>
  ccn.return
}

// -----

// concat_c6: different ones
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x0: tensor<8x4xf32, #sum> {ccn.name = "x0"}, %x1: tensor<2x4xf32, #max> {ccn.name = "x1"}) {
  // expected-error @below {{'ccn.concat' op layouts 'partial(sum, a)' and 'partial(max, a)' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the first}}
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32, #sum>, tensor<2x4xf32, #max>) -> tensor<10x4xf32, #sum>
  ccn.return
}
