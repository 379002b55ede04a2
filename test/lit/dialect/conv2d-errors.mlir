// ccn.conv2d: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// conv2d_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf16> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected operands of one element type, found 'f32' and 'f16'; convert one with 'cast'}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf16>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c1: bool
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xi1> {ccn.name = "x"}, %w: tensor<6x4x3x3xi1> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected a number element type, found 'bool'}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xi1>, tensor<6x4x3x3xi1>) -> tensor<2x6x6x6xi1>
  ccn.return
}

// -----

// conv2d_c2: the image
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected an image [N, C, H, W] and a filter [O, C, h, w], found 'f32[4, 8, 8]' and 'f32[6, 4, 3, 3]'}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c2: the filter
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<4x3x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected an image [N, C, H, W] and a filter [O, C, h, w], found 'f32[2, 4, 8, 8]' and 'f32[4, 3, 3]'}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32>, tensor<4x3x3xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c3
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x3x3x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected an image [N, C, H, W] and a filter [O, C, h, w], found 'f32[2, 4, 8, 8]' and 'f32[6, 3, 3, 3]'}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c4
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected a stride from 1 to 2^32, found 0}}
  %0 = ccn.conv2d %x, %w stride 0 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c4: a large stride
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected a stride from 1 to 2^32, found 4294967297}}
  %0 = ccn.conv2d %x, %w stride 4294967297 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c4: negative padding
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected a padding from 0 to 2^32, found -1}}
  %0 = ccn.conv2d %x, %w stride 1 padding -1 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c4: large padding
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected a padding from 0 to 2^32, found 4294967297}}
  %0 = ccn.conv2d %x, %w stride 1 padding 4294967297 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c5: too high
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x9x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected a filter that is not empty and fits the padded image, found 'f32[2, 4, 8, 8]' padded by 0 and 'f32[6, 4, 9, 3]'}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x9x3xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c5: too wide when padded
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x11xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected a filter that is not empty and fits the padded image, found 'f32[2, 4, 8, 8]' padded by 1 and 'f32[6, 4, 3, 11]'}}
  %0 = ccn.conv2d %x, %w stride 1 padding 1 : (tensor<2x4x8x8xf32>, tensor<6x4x3x11xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c5: empty
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x0x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op expected a filter that is not empty and fits the padded image, found 'f32[2, 4, 8, 8]' padded by 0 and 'f32[6, 4, 0, 3]'}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x0x3xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c6: the height is cut
#q2 = #ccn.layout<@m, [{}, {}, {"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32, #q2> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op dimension 2 of an operand with layout 'sliced(2, a)' must be whole here, expected it 'replicated'; repair with 'all_gather(operand #0, a)'}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q2>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32, #q2>
  ccn.return
}

// -----

// conv2d_c6: the filter is cut
#q3 = #ccn.layout<@m, [{}, {}, {}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32, #q3> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op dimension 3 of an operand with layout 'sliced(3, a)' must be whole here, expected it 'replicated'; repair with 'all_gather(operand #1, a)'}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32, #q3>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// -----

// conv2d_c6: one axis cuts N and O
#q0 = #ccn.layout<@m, [{"a"}, {}, {}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32, #q0> {ccn.name = "x"},
    %w: tensor<6x4x3x3xf32, #q0> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op layouts 'sliced(0, a)' and 'sliced(0, a)' do not combine along mesh axis 'a', which cuts another loop in each; repair with 'all_gather(operand #0, a)' on the first}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q0>, tensor<6x4x3x3xf32, #q0>) -> tensor<2x6x6x6xf32, #q0>
  ccn.return
}

// -----

// conv2d_c7: not a sum
#q_max = #ccn.layout<@m, [{}, {}, {}, {}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32, #q_max> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op layout 'partial(max, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(max, operand #0, a)' on the partial operand}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q_max>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32, #q_max>
  ccn.return
}

// -----

// conv2d_c7: both along the same axis
#q_sum = #ccn.layout<@m, [{}, {}, {}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<2x4x8x8xf32, #q_sum> {ccn.name = "x"},
    %w: tensor<6x4x3x3xf32, #q_sum> {ccn.name = "w"}) {
  // expected-error @below {{'ccn.conv2d' op layouts 'partial(sum, a)' and 'partial(sum, a)' do not combine along mesh axis 'a'; repair with 'all_reduce(sum, operand #0, a)' on the first}}
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q_sum>, tensor<6x4x3x3xf32, #q_sum>) -> tensor<2x6x6x6xf32, #q_sum>
  ccn.return
}
