// ccn.reduce: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#sum_local = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @kind_sum
ccn.program @kind_sum(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.reduce sum %{{.*}} to 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>
  %0 = ccn.reduce sum %x to 0 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32, #v_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @kind_prod
ccn.program @kind_prod(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.reduce prod %{{.*}} to 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>
  %0 = ccn.reduce prod %x to 0 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32, #v_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @kind_max
ccn.program @kind_max(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.reduce max %{{.*}} to 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>
  %0 = ccn.reduce max %x to 0 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32, #v_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @kind_min
ccn.program @kind_min(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.reduce min %{{.*}} to 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>
  %0 = ccn.reduce min %x to 0 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32, #v_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @partial
ccn.program @partial(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // CHECK: ccn.reduce sum %{{.*}} to 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.reduce sum %x to 1 along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #local>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_pending
ccn.program @other_pending(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"}) {
  // CHECK: ccn.reduce sum %{{.*}} to 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>>
  %0 = ccn.reduce sum %x to 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum_ab>) -> tensor<8x4xf32, #sum_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_sliced
ccn.program @other_sliced(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"}) {
  // CHECK: ccn.reduce sum %{{.*}} to 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>
  %0 = ccn.reduce sum %x to 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #rows_local>
  ccn.return
}
