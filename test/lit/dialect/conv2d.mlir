// ccn.conv2d: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#q0 = #ccn.layout<@m, [{"a"}, {}, {}, {}]>
#q1 = #ccn.layout<@m, [{}, {"a"}, {}, {}]>
#q_sum = #ccn.layout<@m, [{}, {}, {}, {}], partial<sum> = {"a"}>
#q0b = #ccn.layout<@m, [{"b"}, {}, {}, {}]>
#q01 = #ccn.layout<@m, [{"a"}, {"b"}, {}, {}]>
#q_sum_b = #ccn.layout<@m, [{}, {}, {}, {}], partial<sum> = {"b"}>
#q0_sum_b = #ccn.layout<@m, [{"a"}, {}, {}, {}], partial<sum> = {"b"}>
#q_local = #ccn.layout<@m, [{}, {}, {}, {}], local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32>
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @padding
ccn.program @padding(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 1 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x8x8xf32>
  %0 = ccn.conv2d %x, %w stride 1 padding 1 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x8x8xf32>
  ccn.return
}

// A last step that does not fit is left out.
// CHECK-LABEL: ccn.program @stride
ccn.program @stride(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 2 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x3x3xf32>
  %0 = ccn.conv2d %x, %w stride 2 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x3x3xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @odd_sizes
ccn.program @odd_sizes(%x: tensor<2x4x7x5xf16> {ccn.name = "x"}, %w: tensor<6x4x3x1xf16> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 2 padding 0 : (tensor<2x4x7x5xf16>, tensor<6x4x3x1xf16>) -> tensor<2x6x3x3xf16>
  %0 = ccn.conv2d %x, %w stride 2 padding 0 : (tensor<2x4x7x5xf16>, tensor<6x4x3x1xf16>) -> tensor<2x6x3x3xf16>
  ccn.return
}

// CHECK-LABEL: ccn.program @filter_as_large_as_the_image
ccn.program @filter_as_large_as_the_image(%x: tensor<1x1x3x3xi8> {ccn.name = "x"}, %w: tensor<1x1x5x5xi8> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 7 padding 1 : (tensor<1x1x3x3xi8>, tensor<1x1x5x5xi8>) -> tensor<1x1x1x1xi8>
  %0 = ccn.conv2d %x, %w stride 7 padding 1 : (tensor<1x1x3x3xi8>, tensor<1x1x5x5xi8>) -> tensor<1x1x1x1xi8>
  ccn.return
}

// No images, no channels, no filters.
// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%x: tensor<0x0x8x8xf32> {ccn.name = "x"}, %w: tensor<0x0x3x3xf32> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 0 : (tensor<0x0x8x8xf32>, tensor<0x0x3x3xf32>) -> tensor<0x0x6x6xf32>
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<0x0x8x8xf32>, tensor<0x0x3x3xf32>) -> tensor<0x0x6x6xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_n
ccn.program @sliced_n(%x: tensor<2x4x8x8xf32, #q0> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 0 : (tensor<2x4x8x8xf32, #ccn.layout<@m, [{"a"}, {}, {}, {}]>>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32, #ccn.layout<@m, [{"a"}, {}, {}, {}]>>
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q0>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32, #q0>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_o
ccn.program @sliced_o(%x: tensor<2x4x8x8xf32> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32, #q0> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32, #ccn.layout<@m, [{"a"}, {}, {}, {}]>>) -> tensor<2x6x6x6xf32, #ccn.layout<@m, [{}, {"a"}, {}, {}]>>
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32>, tensor<6x4x3x3xf32, #q0>) -> tensor<2x6x6x6xf32, #q1>
  ccn.return
}

// Leaves a sum pending.
// CHECK-LABEL: ccn.program @sliced_c
ccn.program @sliced_c(%x: tensor<2x4x8x8xf32, #q1> {ccn.name = "x"},
    %w: tensor<6x4x3x3xf32, #q1> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 0 : (tensor<2x4x8x8xf32, #ccn.layout<@m, [{}, {"a"}, {}, {}]>>, tensor<6x4x3x3xf32, #ccn.layout<@m, [{}, {"a"}, {}, {}]>>) -> tensor<2x6x6x6xf32, #ccn.layout<@m, [{}, {}, {}, {}], partial<sum> = {"a"}>>
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q1>, tensor<6x4x3x3xf32, #q1>) -> tensor<2x6x6x6xf32, #q_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_c_free
ccn.program @sliced_c_free(%x: tensor<2x4x8x8xf32, #q1> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 0 : (tensor<2x4x8x8xf32, #ccn.layout<@m, [{}, {"a"}, {}, {}]>>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32, #ccn.layout<@m, [{}, {}, {}, {}], partial<sum> = {"a"}>>
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q1>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32, #q_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_n_and_o
ccn.program @sliced_n_and_o(%x: tensor<2x4x8x8xf32, #q0> {ccn.name = "x"},
    %w: tensor<6x4x3x3xf32, #q0b> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 0 : (tensor<2x4x8x8xf32, #ccn.layout<@m, [{"a"}, {}, {}, {}]>>, tensor<6x4x3x3xf32, #ccn.layout<@m, [{"b"}, {}, {}, {}]>>) -> tensor<2x6x6x6xf32, #ccn.layout<@m, [{"a"}, {"b"}, {}, {}]>>
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q0>, tensor<6x4x3x3xf32, #q0b>) -> tensor<2x6x6x6xf32, #q01>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending_left
ccn.program @pending_left(%x: tensor<2x4x8x8xf32, #q_sum> {ccn.name = "x"}, %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 0 : (tensor<2x4x8x8xf32, #ccn.layout<@m, [{}, {}, {}, {}], partial<sum> = {"a"}>>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32, #ccn.layout<@m, [{}, {}, {}, {}], partial<sum> = {"a"}>>
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q_sum>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32, #q_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending_right
ccn.program @pending_right(%x: tensor<2x4x8x8xf32, #q0> {ccn.name = "x"},
    %w: tensor<6x4x3x3xf32, #q_sum_b> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 0 : (tensor<2x4x8x8xf32, #ccn.layout<@m, [{"a"}, {}, {}, {}]>>, tensor<6x4x3x3xf32, #ccn.layout<@m, [{}, {}, {}, {}], partial<sum> = {"b"}>>) -> tensor<2x6x6x6xf32, #ccn.layout<@m, [{"a"}, {}, {}, {}], partial<sum> = {"b"}>>
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q0>, tensor<6x4x3x3xf32, #q_sum_b>) -> tensor<2x6x6x6xf32, #q0_sum_b>
  ccn.return
}

// CHECK-LABEL: ccn.program @local
ccn.program @local(%x: tensor<2x4x8x8xf32, #q_local> {ccn.name = "x"},
    %w: tensor<6x4x3x3xf32> {ccn.name = "w"}) {
  // CHECK: ccn.conv2d %{{.*}}, %{{.*}} stride 1 padding 0 : (tensor<2x4x8x8xf32, #ccn.layout<@m, [{}, {}, {}, {}], local = {"a"}>>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32, #ccn.layout<@m, [{}, {}, {}, {}], local = {"a"}>>
  %0 = ccn.conv2d %x, %w stride 1 padding 0 : (tensor<2x4x8x8xf32, #q_local>, tensor<6x4x3x3xf32>) -> tensor<2x6x6x6xf32, #q_local>
  ccn.return
}
