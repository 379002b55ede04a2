// ccn.all_reduce: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#v_max = #ccn.layout<@m, [{}], partial<max> = {"a"}>
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#local_sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}, local = {"b"}>
#sum_b = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
#local_ab = #ccn.layout<@m, [{}, {}], local = {"a", "b"}>
#local_b = #ccn.layout<@m, [{}, {}], local = {"b"}>
#sum_local = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @kind_sum
ccn.program @kind_sum(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @kind_prod
ccn.program @kind_prod(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce prod %{{.*}} along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
  %0 = ccn.all_reduce prod %x along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @kind_max
ccn.program @kind_max(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce max %{{.*}} along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
  %0 = ccn.all_reduce max %x along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @kind_min
ccn.program @kind_min(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce min %{{.*}} along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
  %0 = ccn.all_reduce min %x along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @partial
ccn.program @partial(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @partial_max
ccn.program @partial_max(%x: tensor<8xi1, #v_max> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce max %{{.*}} along <@m, ["a"]> : (tensor<8xi1, #ccn.layout<@m, [{}], partial<max> = {"a"}>>) -> tensor<8xi1>
  %0 = ccn.all_reduce max %x along <@m, ["a"]> : (tensor<8xi1, #v_max>) -> tensor<8xi1>
  ccn.return
}

// CHECK-LABEL: ccn.program @scalar
ccn.program @scalar(%x: tensor<f16, #s_sum> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["a"]> : (tensor<f16, #ccn.layout<@m, [], partial<sum> = {"a"}>>) -> tensor<f16>
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<f16, #s_sum>) -> tensor<f16>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%x: tensor<0xi32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["a"]> : (tensor<0xi32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<0xi32>
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<0xi32, #v_local>) -> tensor<0xi32>
  ccn.return
}

// CHECK-LABEL: ccn.program @two_axes
ccn.program @two_axes(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32>
  %0 = ccn.all_reduce sum %x along <@m, ["a", "b"]> : (tensor<8x4xf32, #sum_ab>) -> tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @two_axes_any_order
ccn.program @two_axes_any_order(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["b", "a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32>
  %0 = ccn.all_reduce sum %x along <@m, ["b", "a"]> : (tensor<8x4xf32, #sum_ab>) -> tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @partial_and_local
ccn.program @partial_and_local(%x: tensor<8x4xf32, #local_sum> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}, local = {"b"}>>) -> tensor<8x4xf32>
  %0 = ccn.all_reduce sum %x along <@m, ["a", "b"]> : (tensor<8x4xf32, #local_sum>) -> tensor<8x4xf32>
  ccn.return
}

// The other axis keeps its state.
// CHECK-LABEL: ccn.program @one_of_two
ccn.program @one_of_two(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>>
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #sum_ab>) -> tensor<8x4xf32, #sum_b>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_sliced
ccn.program @other_sliced(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.all_reduce sum %x along <@m, ["b"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_local
ccn.program @other_local(%x: tensor<8x4xf32, #local_ab> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #local_ab>) -> tensor<8x4xf32, #local_b>
  ccn.return
}

// A reduction of the same kind is pending along another axis.
// CHECK-LABEL: ccn.program @other_pending
ccn.program @other_pending(%x: tensor<8x4xf32, #sum_local> {ccn.name = "x"}) {
  // CHECK: ccn.all_reduce sum %{{.*}} along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>>
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #sum_local>) -> tensor<8x4xf32, #sum_b>
  ccn.return
}
