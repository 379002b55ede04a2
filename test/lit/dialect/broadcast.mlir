// ccn.broadcast: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#s_local = #ccn.layout<@m, [], local = {"a"}>
#sum_local = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>
#sum_b = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast %{{.*}} from 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
  %0 = ccn.broadcast %x from 0 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_root
ccn.program @other_root(%x: tensor<i1, #s_local> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast %{{.*}} from 1 along <@m, ["a"]> : (tensor<i1, #ccn.layout<@m, [], local = {"a"}>>) -> tensor<i1>
  %0 = ccn.broadcast %x from 1 along <@m, ["a"]> : (tensor<i1, #s_local>) -> tensor<i1>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_axes
ccn.program @other_axes(%x: tensor<8x4xf32, #sum_local> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast %{{.*}} from 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>>
  %0 = ccn.broadcast %x from 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum_local>) -> tensor<8x4xf32, #sum_b>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_sliced
ccn.program @other_sliced(%x: tensor<8x4xf32, #rows_local> {ccn.name = "x"}) {
  // CHECK: ccn.broadcast %{{.*}} from 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.broadcast %x from 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_local>) -> tensor<8x4xf32, #rows>
  ccn.return
}
