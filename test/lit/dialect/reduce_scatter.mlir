// ccn.reduce_scatter: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#cut = #ccn.layout<@m, [{"a"}]>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#v_sum_ab = #ccn.layout<@m, [{}], partial<sum> = {"a", "b"}>
#cut_ab = #ccn.layout<@m, [{"a", "b"}]>
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
#local_sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}, local = {"b"}>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#sum_local = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>
#local_ab = #ccn.layout<@m, [{}, {}], local = {"a", "b"}>
#cols_b_local = #ccn.layout<@m, [{}, {"b"}], local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @kind_sum
ccn.program @kind_sum(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter sum %{{.*}} into 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32, #cut>
  ccn.return
}

// CHECK-LABEL: ccn.program @kind_prod
ccn.program @kind_prod(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter prod %{{.*}} into 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.reduce_scatter prod %x into 0 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32, #cut>
  ccn.return
}

// CHECK-LABEL: ccn.program @kind_max
ccn.program @kind_max(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter max %{{.*}} into 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.reduce_scatter max %x into 0 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32, #cut>
  ccn.return
}

// CHECK-LABEL: ccn.program @kind_min
ccn.program @kind_min(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter min %{{.*}} into 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.reduce_scatter min %x into 0 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32, #cut>
  ccn.return
}

// CHECK-LABEL: ccn.program @partial
ccn.program @partial(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter sum %{{.*}} into 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.reduce_scatter sum %x into 1 along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @bool
ccn.program @bool(%x: tensor<8xi1, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter min %{{.*}} into 0 along <@m, ["a"]> : (tensor<8xi1, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xi1, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.reduce_scatter min %x into 0 along <@m, ["a"]> : (tensor<8xi1, #v_local>) -> tensor<8xi1, #cut>
  ccn.return
}

// CHECK-LABEL: ccn.program @fewer_elements_than_ranks
ccn.program @fewer_elements_than_ranks(%x: tensor<1xf32, #v_sum_ab> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter sum %{{.*}} into 0 along <@m, ["a", "b"]> : (tensor<1xf32, #ccn.layout<@m, [{}], partial<sum> = {"a", "b"}>>) -> tensor<1xf32, #ccn.layout<@m, [{"a", "b"}]>>
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a", "b"]> : (tensor<1xf32, #v_sum_ab>) -> tensor<1xf32, #cut_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%x: tensor<0xf32, #v_sum> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter sum %{{.*}} into 0 along <@m, ["a"]> : (tensor<0xf32, #ccn.layout<@m, [{}], partial<sum> = {"a"}>>) -> tensor<0xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a"]> : (tensor<0xf32, #v_sum>) -> tensor<0xf32, #cut>
  ccn.return
}

// The first axis cuts first.
// CHECK-LABEL: ccn.program @two_axes
ccn.program @two_axes(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter sum %{{.*}} into 0 along <@m, ["b", "a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["b", "a"]> : (tensor<8x4xf32, #sum_ab>) -> tensor<8x4xf32, #rows_ba>
  ccn.return
}

// CHECK-LABEL: ccn.program @partial_and_local
ccn.program @partial_and_local(%x: tensor<8x4xf32, #local_sum> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter sum %{{.*}} into 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}, local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #local_sum>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}

// The dimension is cut already: the pieces are cut further.
// CHECK-LABEL: ccn.program @inside_a_slice
ccn.program @inside_a_slice(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter sum %{{.*}} into 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @beside_a_slice
ccn.program @beside_a_slice(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter sum %{{.*}} into 1 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
  %0 = ccn.reduce_scatter sum %x into 1 along <@m, ["b"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #rows_cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_pending
ccn.program @other_pending(%x: tensor<8x4xf32, #sum_local> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter sum %{{.*}} into 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum_local>) -> tensor<8x4xf32, #rows_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_local
ccn.program @other_local(%x: tensor<8x4xf32, #local_ab> {ccn.name = "x"}) {
  // CHECK: ccn.reduce_scatter max %{{.*}} into 1 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}], local = {"a"}>>
  %0 = ccn.reduce_scatter max %x into 1 along <@m, ["b"]> : (tensor<8x4xf32, #local_ab>) -> tensor<8x4xf32, #cols_b_local>
  ccn.return
}
