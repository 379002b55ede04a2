// Elementwise operations on two operands: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
#rows_abc = #ccn.layout<@m, [{"a", "b", "c"}, {}]>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#cols_b = #ccn.layout<@m, [{}, {"b"}]>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#s_local = #ccn.layout<@m, [], local = {"a"}>
#local_b = #ccn.layout<@m, [{}, {}], local = {"b"}>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>
#local_ab = #ccn.layout<@m, [{}, {}], local = {"a", "b"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#sum_b = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#s_local_b = #ccn.layout<@m, [], local = {"b"}>
#local_sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}, local = {"b"}>
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>
#s_sum_b = #ccn.layout<@m, [], partial<sum> = {"b"}>
#s_sum_ab = #ccn.layout<@m, [], partial<sum> = {"a", "b"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @every_operation
ccn.program @every_operation(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf32> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %0 = ccn.add %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.sub %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = ccn.sub %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.mul %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = ccn.mul %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.div %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = ccn.div %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.rem %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = ccn.rem %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.min %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %5 = ccn.min %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.max %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %6 = ccn.max %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.pow %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %7 = ccn.pow %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @element_types
ccn.program @element_types(%a: tensor<8xf64> {ccn.name = "a"},
    %b: tensor<8xf8E4M3FN> {ccn.name = "b"},
    %c: tensor<8xi8> {ccn.name = "c"},
    %d: tensor<8xui32> {ccn.name = "d"},
    %e: tensor<8xi1> {ccn.name = "e"}) {
  // CHECK: ccn.mul %{{.*}}, %{{.*}} : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  %0 = ccn.mul %a, %a : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  // CHECK: ccn.pow %{{.*}}, %{{.*}} : (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  %1 = ccn.pow %b, %b : (tensor<8xf8E4M3FN>, tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  // CHECK: ccn.div %{{.*}}, %{{.*}} : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %2 = ccn.div %c, %c : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  // CHECK: ccn.rem %{{.*}}, %{{.*}} : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  %3 = ccn.rem %d, %d : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
  // CHECK: ccn.min %{{.*}}, %{{.*}} : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  %4 = ccn.min %e, %e : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  // CHECK: ccn.max %{{.*}}, %{{.*}} : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  %5 = ccn.max %e, %e : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  ccn.return
}

// A scalar goes with any shape.
// CHECK-LABEL: ccn.program @scalars
ccn.program @scalars(%a: tensor<f32> {ccn.name = "a"},
    %b: tensor<8x4xf32> {ccn.name = "b"},
    %c: tensor<0x3xf32> {ccn.name = "c"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %0 = ccn.add %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: ccn.sub %{{.*}}, %{{.*}} : (tensor<f32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = ccn.sub %a, %b : (tensor<f32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: ccn.pow %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %2 = ccn.pow %b, %a : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  // CHECK: ccn.mul %{{.*}}, %{{.*}} : (tensor<0x3xf32>, tensor<f32>) -> tensor<0x3xf32>
  %3 = ccn.mul %c, %a : (tensor<0x3xf32>, tensor<f32>) -> tensor<0x3xf32>
  ccn.return
}

// Sliced with sliced at the same dimension.
// CHECK-LABEL: ccn.program @sliced_sliced
ccn.program @sliced_sliced(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}, %y: tensor<8x4xf32, #rows> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32, #rows>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// The replicated operand is sliced for free.
// CHECK-LABEL: ccn.program @sliced_replicated
ccn.program @sliced_replicated(%x: tensor<8x4xf32, #cols> {ccn.name = "x"}, %y: tensor<8x4xf32> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>, tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #cols>, tensor<8x4xf32>) -> tensor<8x4xf32, #cols>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32>, tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_scalar
ccn.program @sliced_scalar(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}, %y: tensor<f32> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<f32>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows>, tensor<f32>) -> tensor<8x4xf32, #rows>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<f32>, tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %1 = ccn.add %y, %x : (tensor<f32>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// Two axes cut one dimension, in the same order.
// CHECK-LABEL: ccn.program @nested_sliced_sliced
ccn.program @nested_sliced_sliced(%x: tensor<8x4xf32, #rows_ba> {ccn.name = "x"},
    %y: tensor<8x4xf32, #rows_ba> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>, tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows_ba>, tensor<8x4xf32, #rows_ba>) -> tensor<8x4xf32, #rows_ba>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>, tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32, #rows_ba>, tensor<8x4xf32, #rows_ba>) -> tensor<8x4xf32, #rows_ba>
  ccn.return
}

// The pieces that the outer axis makes are cut for free by the inner one.
// CHECK-LABEL: ccn.program @nested_sliced_outer
ccn.program @nested_sliced_outer(%x: tensor<8x4xf32, #rows_abc> {ccn.name = "x"},
    %y: tensor<8x4xf32, #rows> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b", "c"}, {}]>>, tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b", "c"}, {}]>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows_abc>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows_abc>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x4xf32, #ccn.layout<@m, [{"a", "b", "c"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b", "c"}, {}]>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32, #rows>, tensor<8x4xf32, #rows_abc>) -> tensor<8x4xf32, #rows_abc>
  ccn.return
}

// CHECK-LABEL: ccn.program @nested_sliced_replicated
ccn.program @nested_sliced_replicated(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}, %y: tensor<8x4xf32> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>, tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows_ab>, tensor<8x4xf32>) -> tensor<8x4xf32, #rows_ab>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32>, tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}

// Each axis is joined by itself.
// CHECK-LABEL: ccn.program @other_dimensions
ccn.program @other_dimensions(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}, %y: tensor<8x4xf32, #cols_b> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows>, tensor<8x4xf32, #cols_b>) -> tensor<8x4xf32, #rows_cols>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>, tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32, #cols_b>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows_cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @local_local
ccn.program @local_local(%x: tensor<8x4xf32, #local> {ccn.name = "x"}, %y: tensor<8x4xf32, #local> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #local>, tensor<8x4xf32, #local>) -> tensor<8x4xf32, #local>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32, #local>, tensor<8x4xf32, #local>) -> tensor<8x4xf32, #local>
  ccn.return
}

// CHECK-LABEL: ccn.program @local_replicated
ccn.program @local_replicated(%x: tensor<8x4xf32, #local> {ccn.name = "x"}, %y: tensor<8x4xf32> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>, tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #local>, tensor<8x4xf32>) -> tensor<8x4xf32, #local>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32>, tensor<8x4xf32, #local>) -> tensor<8x4xf32, #local>
  ccn.return
}

// A local scalar makes the result local.
// CHECK-LABEL: ccn.program @local_scalar
ccn.program @local_scalar(%x: tensor<8x4xf32> {ccn.name = "x"}, %y: tensor<f32, #s_local> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<f32, #ccn.layout<@m, [], local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32>, tensor<f32, #s_local>) -> tensor<8x4xf32, #local>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<f32, #ccn.layout<@m, [], local = {"a"}>>, tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %1 = ccn.add %y, %x : (tensor<f32, #s_local>, tensor<8x4xf32>) -> tensor<8x4xf32, #local>
  ccn.return
}

// Local along one axis, sliced along another.
// CHECK-LABEL: ccn.program @local_and_sliced
ccn.program @local_and_sliced(%x: tensor<8x4xf32, #rows> {ccn.name = "x"},
    %y: tensor<8x4xf32, #local_b> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #rows>, tensor<8x4xf32, #local_b>) -> tensor<8x4xf32, #rows_local>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>, tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32, #local_b>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @two_locals
ccn.program @two_locals(%x: tensor<8x4xf32, #local> {ccn.name = "x"},
    %y: tensor<8x4xf32, #local_b> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a", "b"}>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #local>, tensor<8x4xf32, #local_b>) -> tensor<8x4xf32, #local_ab>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a", "b"}>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32, #local_b>, tensor<8x4xf32, #local>) -> tensor<8x4xf32, #local_ab>
  ccn.return
}

// The sum of pending sums is pending.
// CHECK-LABEL: ccn.program @sum_plus_sum
ccn.program @sum_plus_sum(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32, #sum> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #sum>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32, #sum>, tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @sum_minus_sum
ccn.program @sum_minus_sum(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"},
    %y: tensor<8x4xf32, #sum_ab> {ccn.name = "y"}) {
  // CHECK: ccn.sub %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>
  %0 = ccn.sub %x, %y : (tensor<8x4xf32, #sum_ab>, tensor<8x4xf32, #sum_ab>) -> tensor<8x4xf32, #sum_ab>
  // CHECK: ccn.sub %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>
  %1 = ccn.sub %y, %x : (tensor<8x4xf32, #sum_ab>, tensor<8x4xf32, #sum_ab>) -> tensor<8x4xf32, #sum_ab>
  ccn.return
}

// A sum is pending along one axis, another cuts one operand.
// CHECK-LABEL: ccn.program @sum_plus_sum_sliced
ccn.program @sum_plus_sum_sliced(%x: tensor<8x4xf32, #sum_b> {ccn.name = "x"},
    %y: tensor<8x4xf32, #rows_sum> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>>, tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>
  %0 = ccn.add %x, %y : (tensor<8x4xf32, #sum_b>, tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #rows_sum>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>
  %1 = ccn.add %y, %x : (tensor<8x4xf32, #rows_sum>, tensor<8x4xf32, #sum_b>) -> tensor<8x4xf32, #rows_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @sum_of_integers
ccn.program @sum_of_integers(%x: tensor<8x4xi32, #sum> {ccn.name = "x"}, %y: tensor<8x4xi32, #sum> {ccn.name = "y"}) {
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xi32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<8x4xi32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xi32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.add %x, %y : (tensor<8x4xi32, #sum>, tensor<8x4xi32, #sum>) -> tensor<8x4xi32, #sum>
  // CHECK: ccn.add %{{.*}}, %{{.*}} : (tensor<8x4xi32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<8x4xi32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xi32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %1 = ccn.add %y, %x : (tensor<8x4xi32, #sum>, tensor<8x4xi32, #sum>) -> tensor<8x4xi32, #sum>
  ccn.return
}

// A pending sum may be scaled.
// CHECK-LABEL: ccn.program @sum_times_scalar
ccn.program @sum_times_scalar(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<f32> {ccn.name = "y"}) {
  // CHECK: ccn.mul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<f32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.mul %x, %y : (tensor<8x4xf32, #sum>, tensor<f32>) -> tensor<8x4xf32, #sum>
  // CHECK: ccn.mul %{{.*}}, %{{.*}} : (tensor<f32>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %1 = ccn.mul %y, %x : (tensor<f32>, tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #sum>
  ccn.return
}

// ... also by a scalar that is local along another axis.
// CHECK-LABEL: ccn.program @sum_times_local_scalar
ccn.program @sum_times_local_scalar(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<f32, #s_local_b> {ccn.name = "y"}) {
  // CHECK: ccn.mul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<f32, #ccn.layout<@m, [], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}, local = {"b"}>>
  %0 = ccn.mul %x, %y : (tensor<8x4xf32, #sum>, tensor<f32, #s_local_b>) -> tensor<8x4xf32, #local_sum>
  // CHECK: ccn.mul %{{.*}}, %{{.*}} : (tensor<f32, #ccn.layout<@m, [], local = {"b"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}, local = {"b"}>>
  %1 = ccn.mul %y, %x : (tensor<f32, #s_local_b>, tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #local_sum>
  ccn.return
}

// Both are pending, along other axes: each scales the other.
// CHECK-LABEL: ccn.program @sum_times_sum
ccn.program @sum_times_sum(%x: tensor<f32, #s_sum> {ccn.name = "x"}, %y: tensor<f32, #s_sum_b> {ccn.name = "y"}) {
  // CHECK: ccn.mul %{{.*}}, %{{.*}} : (tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a"}>>, tensor<f32, #ccn.layout<@m, [], partial<sum> = {"b"}>>) -> tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a", "b"}>>
  %0 = ccn.mul %x, %y : (tensor<f32, #s_sum>, tensor<f32, #s_sum_b>) -> tensor<f32, #s_sum_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @sum_over_scalar
ccn.program @sum_over_scalar(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<f32> {ccn.name = "y"}) {
  // CHECK: ccn.div %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<f32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.div %x, %y : (tensor<8x4xf32, #sum>, tensor<f32>) -> tensor<8x4xf32, #sum>
  ccn.return
}
