// ccn.send: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#s_local = #ccn.layout<@m, [], local = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#alone = #ccn.layout<@m, [{}, {}], local = {"one"}>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>
#max_local = #ccn.layout<@m, [{}, {}], partial<max> = {"b"}, local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2, "one" = 1]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.send %{{.*}} by 1 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>
  %0 = ccn.send %x by 1 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32, #v_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @back
ccn.program @back(%x: tensor<i1, #s_local> {ccn.name = "x"}) {
  // CHECK: ccn.send %{{.*}} by -1 along <@m, ["a"]> : (tensor<i1, #ccn.layout<@m, [], local = {"a"}>>) -> tensor<i1, #ccn.layout<@m, [], local = {"a"}>>
  %0 = ccn.send %x by -1 along <@m, ["a"]> : (tensor<i1, #s_local>) -> tensor<i1, #s_local>
  ccn.return
}

// Any shift along an axis of one rank: all keep what they have.
// CHECK-LABEL: ccn.program @far
ccn.program @far(%x: tensor<8x4xf32, #alone> {ccn.name = "x"}) {
  // CHECK: ccn.send %{{.*}} by 5 along <@m, ["one"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"one"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"one"}>>
  %0 = ccn.send %x by 5 along <@m, ["one"]> : (tensor<8x4xf32, #alone>) -> tensor<8x4xf32, #alone>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_axes
ccn.program @other_axes(%x: tensor<8x4xf32, #rows_local> {ccn.name = "x"}) {
  // CHECK: ccn.send %{{.*}} by 1 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>
  %0 = ccn.send %x by 1 along <@m, ["b"]> : (tensor<8x4xf32, #rows_local>) -> tensor<8x4xf32, #rows_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_pending
ccn.program @other_pending(%x: tensor<8x4xf32, #max_local> {ccn.name = "x"}) {
  // CHECK: ccn.send %{{.*}} by 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"b"}, local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"b"}, local = {"a"}>>
  %0 = ccn.send %x by 1 along <@m, ["a"]> : (tensor<8x4xf32, #max_local>) -> tensor<8x4xf32, #max_local>
  ccn.return
}
