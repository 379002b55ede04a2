// ccn.transpose: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
#cols_ba = #ccn.layout<@m, [{}, {"b", "a"}]>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#cols_rows = #ccn.layout<@m, [{"b"}, {"a"}]>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#local_ab = #ccn.layout<@m, [{}, {}], local = {"a", "b"}>
#batch_mid = #ccn.layout<@m, [{"a"}, {"b"}, {}]>
#mid_last = #ccn.layout<@m, [{}, {"a"}, {"b"}]>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.transpose %{{.*}} by [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %0 = ccn.transpose %x by [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  ccn.return
}

// Dimension i of the result is dimension permutation[i] of the operand.
// CHECK-LABEL: ccn.program @three_dimensions
ccn.program @three_dimensions(%x: tensor<2x3x4xi1> {ccn.name = "x"}) {
  // CHECK: ccn.transpose %{{.*}} by [2, 0, 1] : (tensor<2x3x4xi1>) -> tensor<4x2x3xi1>
  %0 = ccn.transpose %x by [2, 0, 1] : (tensor<2x3x4xi1>) -> tensor<4x2x3xi1>
  ccn.return
}

// CHECK-LABEL: ccn.program @scalar
ccn.program @scalar(%x: tensor<f32> {ccn.name = "x"}) {
  // CHECK: ccn.transpose %{{.*}} by [] : (tensor<f32>) -> tensor<f32>
  %0 = ccn.transpose %x by [] : (tensor<f32>) -> tensor<f32>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%x: tensor<0x4xui8> {ccn.name = "x"}) {
  // CHECK: ccn.transpose %{{.*}} by [1, 0] : (tensor<0x4xui8>) -> tensor<4x0xui8>
  %0 = ccn.transpose %x by [1, 0] : (tensor<0x4xui8>) -> tensor<4x0xui8>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced
ccn.program @sliced(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // CHECK: ccn.transpose %{{.*}} by [1, 0] : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<4x8xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.transpose %x by [1, 0] : (tensor<8x4xf32, #rows>) -> tensor<4x8xf32, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @nested
ccn.program @nested(%x: tensor<8x4xf32, #rows_ba> {ccn.name = "x"}) {
  // CHECK: ccn.transpose %{{.*}} by [1, 0] : (tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>) -> tensor<4x8xf32, #ccn.layout<@m, [{}, {"b", "a"}]>>
  %0 = ccn.transpose %x by [1, 0] : (tensor<8x4xf32, #rows_ba>) -> tensor<4x8xf32, #cols_ba>
  ccn.return
}

// CHECK-LABEL: ccn.program @two_cuts
ccn.program @two_cuts(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"}) {
  // CHECK: ccn.transpose %{{.*}} by [1, 0] : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<4x8xf32, #ccn.layout<@m, [{"b"}, {"a"}]>>
  %0 = ccn.transpose %x by [1, 0] : (tensor<8x4xf32, #rows_cols>) -> tensor<4x8xf32, #cols_rows>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending
ccn.program @pending(%x: tensor<8x4xf32, #max> {ccn.name = "x"}) {
  // CHECK: ccn.transpose %{{.*}} by [1, 0] : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>) -> tensor<4x8xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>
  %0 = ccn.transpose %x by [1, 0] : (tensor<8x4xf32, #max>) -> tensor<4x8xf32, #max>
  ccn.return
}

// CHECK-LABEL: ccn.program @local
ccn.program @local(%x: tensor<8x4xf32, #local_ab> {ccn.name = "x"}) {
  // CHECK: ccn.transpose %{{.*}} by [1, 0] : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a", "b"}>>) -> tensor<4x8xf32, #ccn.layout<@m, [{}, {}], local = {"a", "b"}>>
  %0 = ccn.transpose %x by [1, 0] : (tensor<8x4xf32, #local_ab>) -> tensor<4x8xf32, #local_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @rotated_cuts
ccn.program @rotated_cuts(%x: tensor<2x3x4xf32, #batch_mid> {ccn.name = "x"}) {
  // CHECK: ccn.transpose %{{.*}} by [2, 0, 1] : (tensor<2x3x4xf32, #ccn.layout<@m, [{"a"}, {"b"}, {}]>>) -> tensor<4x2x3xf32, #ccn.layout<@m, [{}, {"a"}, {"b"}]>>
  %0 = ccn.transpose %x by [2, 0, 1] : (tensor<2x3x4xf32, #batch_mid>) -> tensor<4x2x3xf32, #mid_last>
  ccn.return
}
