// ccn.reshard: text form; every change of state that is legal.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>
#local_b = #ccn.layout<@m, [{}, {}], local = {"b"}>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#cols_b = #ccn.layout<@m, [{}, {"b"}]>
#s_max = #ccn.layout<@m, [], partial<max> = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @nothing
ccn.program @nothing(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32> to tensor<8x4xf32>
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @replicated_sliced
ccn.program @replicated_sliced(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32> to tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<8x4xf32, #rows>
  ccn.return
}

// CHECK-LABEL: ccn.program @replicated_local
ccn.program @replicated_local(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<8x4xf32, #local>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_replicated
ccn.program @sliced_replicated(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>> to tensor<8x4xf32>
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_sliced
ccn.program @sliced_sliced(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>> to tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @reordered
ccn.program @reordered(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>> to tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_ab> to tensor<8x4xf32, #rows_ba>
  ccn.return
}

// CHECK-LABEL: ccn.program @partial_replicated
ccn.program @partial_replicated(%x: tensor<8x4xf32, #max> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>> to tensor<8x4xf32>
  %0 = ccn.reshard %x : tensor<8x4xf32, #max> to tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @partial_sliced
ccn.program @partial_sliced(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>> to tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum> to tensor<8x4xf32, #rows>
  ccn.return
}

// CHECK-LABEL: ccn.program @partial_local
ccn.program @partial_local(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum> to tensor<8x4xf32, #local>
  ccn.return
}

// CHECK-LABEL: ccn.program @partial_kept
ccn.program @partial_kept(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum_ab> to tensor<8x4xf32, #sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @local_kept
ccn.program @local_kept(%x: tensor<8x4xf32, #rows_local> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_local> to tensor<8x4xf32, #local_b>
  ccn.return
}

// CHECK-LABEL: ccn.program @several_axes
ccn.program @several_axes(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>> to tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_sum> to tensor<8x4xf32, #cols_b>
  ccn.return
}

// CHECK-LABEL: ccn.program @scalar
ccn.program @scalar(%x: tensor<i1, #s_max> {ccn.name = "x"}) {
  // CHECK: ccn.reshard %{{.*}} : tensor<i1, #ccn.layout<@m, [], partial<max> = {"a"}>> to tensor<i1>
  %0 = ccn.reshard %x : tensor<i1, #s_max> to tensor<i1>
  ccn.return
}
