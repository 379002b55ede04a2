// ccn.reduction: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#cut = #ccn.layout<@m, [{"a"}]>
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>
#s_prod = #ccn.layout<@m, [], partial<prod> = {"a"}>
#s_max = #ccn.layout<@m, [], partial<max> = {"a"}>
#s_min = #ccn.layout<@m, [], partial<min> = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#cut_ab = #ccn.layout<@m, [{"a", "b"}]>
#s_sum_ab = #ccn.layout<@m, [], partial<sum> = {"a", "b"}>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#cut_b_sum = #ccn.layout<@m, [{"b"}], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#v_max = #ccn.layout<@m, [{}], partial<max> = {"a"}>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#v_sum_ab = #ccn.layout<@m, [{}], partial<sum> = {"a", "b"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @kinds
ccn.program @kinds(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  %0 = ccn.reduction sum %x over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  // CHECK: ccn.reduction prod %{{.*}} over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  %1 = ccn.reduction prod %x over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  // CHECK: ccn.reduction max %{{.*}} over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  %2 = ccn.reduction max %x over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  // CHECK: ccn.reduction min %{{.*}} over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  %3 = ccn.reduction min %x over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  // CHECK: ccn.reduction mean %{{.*}} over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  %4 = ccn.reduction mean %x over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @first_dimension
ccn.program @first_dimension(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
  %0 = ccn.reduction sum %x over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @all_dimensions
ccn.program @all_dimensions(%x: tensor<2x3x4xi8> {ccn.name = "x"}) {
  // CHECK: ccn.reduction max %{{.*}} over [0, 1, 2] : (tensor<2x3x4xi8>) -> tensor<i8>
  %0 = ccn.reduction max %x over [0, 1, 2] : (tensor<2x3x4xi8>) -> tensor<i8>
  ccn.return
}

// CHECK-LABEL: ccn.program @some_dimensions
ccn.program @some_dimensions(%x: tensor<2x3x4xf16> {ccn.name = "x"}) {
  // CHECK: ccn.reduction mean %{{.*}} over [0, 2] : (tensor<2x3x4xf16>) -> tensor<3xf16>
  %0 = ccn.reduction mean %x over [0, 2] : (tensor<2x3x4xf16>) -> tensor<3xf16>
  ccn.return
}

// Keeps the elements.
// CHECK-LABEL: ccn.program @no_dimensions
ccn.program @no_dimensions(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = ccn.reduction sum %x over [] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @scalar
ccn.program @scalar(%x: tensor<f32> {ccn.name = "x"}) {
  // CHECK: ccn.reduction min %{{.*}} over [] : (tensor<f32>) -> tensor<f32>
  %0 = ccn.reduction min %x over [] : (tensor<f32>) -> tensor<f32>
  ccn.return
}

// CHECK-LABEL: ccn.program @no_elements
ccn.program @no_elements(%x: tensor<0x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.reduction prod %{{.*}} over [0] : (tensor<0x4xf32>) -> tensor<4xf32>
  %0 = ccn.reduction prod %x over [0] : (tensor<0x4xf32>) -> tensor<4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @bool
ccn.program @bool(%x: tensor<8xi1> {ccn.name = "x"}) {
  // CHECK: ccn.reduction max %{{.*}} over [0] : (tensor<8xi1>) -> tensor<i1>
  %0 = ccn.reduction max %x over [0] : (tensor<8xi1>) -> tensor<i1>
  ccn.return
}

// CHECK-LABEL: ccn.program @unsigned
ccn.program @unsigned(%x: tensor<8xui64> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [0] : (tensor<8xui64>) -> tensor<ui64>
  %0 = ccn.reduction sum %x over [0] : (tensor<8xui64>) -> tensor<ui64>
  ccn.return
}

// CHECK-LABEL: ccn.program @narrow_float
ccn.program @narrow_float(%x: tensor<8xf8E5M2> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [0] : (tensor<8xf8E5M2>) -> tensor<f8E5M2>
  %0 = ccn.reduction sum %x over [0] : (tensor<8xf8E5M2>) -> tensor<f8E5M2>
  ccn.return
}

// Over a dimension that is cut: pending.
// CHECK-LABEL: ccn.program @sliced_sum
ccn.program @sliced_sum(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [0] : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a"}>>
  %0 = ccn.reduction sum %x over [0] : (tensor<8xf32, #cut>) -> tensor<f32, #s_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_prod
ccn.program @sliced_prod(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  // CHECK: ccn.reduction prod %{{.*}} over [0] : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<f32, #ccn.layout<@m, [], partial<prod> = {"a"}>>
  %0 = ccn.reduction prod %x over [0] : (tensor<8xf32, #cut>) -> tensor<f32, #s_prod>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_max
ccn.program @sliced_max(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  // CHECK: ccn.reduction max %{{.*}} over [0] : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<f32, #ccn.layout<@m, [], partial<max> = {"a"}>>
  %0 = ccn.reduction max %x over [0] : (tensor<8xf32, #cut>) -> tensor<f32, #s_max>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_min
ccn.program @sliced_min(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  // CHECK: ccn.reduction min %{{.*}} over [0] : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<f32, #ccn.layout<@m, [], partial<min> = {"a"}>>
  %0 = ccn.reduction min %x over [0] : (tensor<8xf32, #cut>) -> tensor<f32, #s_min>
  ccn.return
}

// The ranks divide by the global size; a sum is pending.
// CHECK-LABEL: ccn.program @sliced_mean
ccn.program @sliced_mean(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  // CHECK: ccn.reduction mean %{{.*}} over [0] : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a"}>>
  %0 = ccn.reduction mean %x over [0] : (tensor<8xf32, #cut>) -> tensor<f32, #s_sum>
  ccn.return
}

// A dimension that is kept stays cut.
// CHECK-LABEL: ccn.program @other_dimension
ccn.program @other_dimension(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [1] : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.reduction sum %x over [1] : (tensor<8x4xf32, #rows>) -> tensor<8xf32, #cut>
  ccn.return
}

// ... also where its number changes.
// CHECK-LABEL: ccn.program @moved_dimension
ccn.program @moved_dimension(%x: tensor<8x4xf32, #cols> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [0] : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<4xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.reduction sum %x over [0] : (tensor<8x4xf32, #cols>) -> tensor<4xf32, #cut>
  ccn.return
}

// Both axes are pending.
// CHECK-LABEL: ccn.program @nested
ccn.program @nested(%x: tensor<8xf32, #cut_ab> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [0] : (tensor<8xf32, #ccn.layout<@m, [{"a", "b"}]>>) -> tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a", "b"}>>
  %0 = ccn.reduction sum %x over [0] : (tensor<8xf32, #cut_ab>) -> tensor<f32, #s_sum_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @two_cuts
ccn.program @two_cuts(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [0] : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<4xf32, #ccn.layout<@m, [{"b"}], partial<sum> = {"a"}>>
  %0 = ccn.reduction sum %x over [0] : (tensor<8x4xf32, #rows_cols>) -> tensor<4xf32, #cut_b_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @local
ccn.program @local(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // CHECK: ccn.reduction max %{{.*}} over [0] : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<4xf32, #ccn.layout<@m, [{}], local = {"a"}>>
  %0 = ccn.reduction max %x over [0] : (tensor<8x4xf32, #local>) -> tensor<4xf32, #v_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending
ccn.program @pending(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [1] : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{}], partial<sum> = {"a"}>>
  %0 = ccn.reduction sum %x over [1] : (tensor<8x4xf32, #sum>) -> tensor<8xf32, #v_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @mean_of_pending_sum
ccn.program @mean_of_pending_sum(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // CHECK: ccn.reduction mean %{{.*}} over [1] : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{}], partial<sum> = {"a"}>>
  %0 = ccn.reduction mean %x over [1] : (tensor<8x4xf32, #sum>) -> tensor<8xf32, #v_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @max_of_pending_max
ccn.program @max_of_pending_max(%x: tensor<8x4xf32, #max> {ccn.name = "x"}) {
  // CHECK: ccn.reduction max %{{.*}} over [1] : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{}], partial<max> = {"a"}>>
  %0 = ccn.reduction max %x over [1] : (tensor<8x4xf32, #max>) -> tensor<8xf32, #v_max>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending_and_sliced
ccn.program @pending_and_sliced(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"}) {
  // CHECK: ccn.reduction sum %{{.*}} over [0] : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<4xf32, #ccn.layout<@m, [{}], partial<sum> = {"a", "b"}>>
  %0 = ccn.reduction sum %x over [0] : (tensor<8x4xf32, #rows_sum>) -> tensor<4xf32, #v_sum_ab>
  ccn.return
}
