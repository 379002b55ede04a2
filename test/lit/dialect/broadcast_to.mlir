// ccn.broadcast_to: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#cut = #ccn.layout<@m, [{"a"}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#cut_ab = #ccn.layout<@m, [{"a", "b"}]>
#cols_ab = #ccn.layout<@m, [{}, {"a", "b"}]>
#s_max = #ccn.layout<@m, [], partial<max> = {"a"}>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [8, 4] : (tensor<4xf32>) -> tensor<8x4xf32>
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @scalar
ccn.program @scalar(%x: tensor<i1> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [8, 4] : (tensor<i1>) -> tensor<8x4xi1>
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<i1>) -> tensor<8x4xi1>
  ccn.return
}

// CHECK-LABEL: ccn.program @to_itself
ccn.program @to_itself(%x: tensor<4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [4] : (tensor<4xf32>) -> tensor<4xf32>
  %0 = ccn.broadcast_to %x to [4] : (tensor<4xf32>) -> tensor<4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @size_1
ccn.program @size_1(%x: tensor<8x1xf16> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [8, 4] : (tensor<8x1xf16>) -> tensor<8x4xf16>
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<8x1xf16>) -> tensor<8x4xf16>
  ccn.return
}

// CHECK-LABEL: ccn.program @size_1_to_none
ccn.program @size_1_to_none(%x: tensor<1x4xf16> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [0, 4] : (tensor<1x4xf16>) -> tensor<0x4xf16>
  %0 = ccn.broadcast_to %x to [0, 4] : (tensor<1x4xf16>) -> tensor<0x4xf16>
  ccn.return
}

// CHECK-LABEL: ccn.program @scalar_to_scalar
ccn.program @scalar_to_scalar(%x: tensor<f64> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [] : (tensor<f64>) -> tensor<f64>
  %0 = ccn.broadcast_to %x to [] : (tensor<f64>) -> tensor<f64>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%x: tensor<0xi8> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [3, 0] : (tensor<0xi8>) -> tensor<3x0xi8>
  %0 = ccn.broadcast_to %x to [3, 0] : (tensor<0xi8>) -> tensor<3x0xi8>
  ccn.return
}

// CHECK-LABEL: ccn.program @cut_dimension_stays
ccn.program @cut_dimension_stays(%x: tensor<4xf32, #cut> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [8, 4] : (tensor<4xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<4xf32, #cut>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// A dimension of size 1 that stays may be cut.
// CHECK-LABEL: ccn.program @cut_dimension_of_size_1
ccn.program @cut_dimension_of_size_1(%x: tensor<8x1xf32, #cols> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [8, 1] : (tensor<8x1xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x1xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.broadcast_to %x to [8, 1] : (tensor<8x1xf32, #cols>) -> tensor<8x1xf32, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @nested
ccn.program @nested(%x: tensor<4xf32, #cut_ab> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [8, 4] : (tensor<4xf32, #ccn.layout<@m, [{"a", "b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a", "b"}]>>
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<4xf32, #cut_ab>) -> tensor<8x4xf32, #cols_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending
ccn.program @pending(%x: tensor<f32, #s_max> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [8, 4] : (tensor<f32, #ccn.layout<@m, [], partial<max> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<f32, #s_max>) -> tensor<8x4xf32, #max>
  ccn.return
}

// CHECK-LABEL: ccn.program @local
ccn.program @local(%x: tensor<1x4xf32, #local> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast_to %{{.*}} to [8, 4] : (tensor<1x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<1x4xf32, #local>) -> tensor<8x4xf32, #local>
  ccn.return
}
