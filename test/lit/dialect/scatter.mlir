// ccn.scatter: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#cut = #ccn.layout<@m, [{"a"}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#rows = #ccn.layout<@m, [{"a"}, {}]>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#max_local = #ccn.layout<@m, [{}, {}], partial<max> = {"b"}, local = {"a"}>
#rows_max = #ccn.layout<@m, [{"a"}, {}], partial<max> = {"b"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.scatter %{{.*}} from 0 into 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.scatter %x from 0 into 0 along <@m, ["a"]> : (tensor<8xf32, #v_local>) -> tensor<8xf32, #cut>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_root
ccn.program @other_root(%x: tensor<8x4xi1, #local> {ccn.name = "x"}) {
  // CHECK: ccn.scatter %{{.*}} from 1 into 1 along <@m, ["a"]> : (tensor<8x4xi1, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xi1, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.scatter %x from 1 into 1 along <@m, ["a"]> : (tensor<8x4xi1, #local>) -> tensor<8x4xi1, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @inside_a_slice
ccn.program @inside_a_slice(%x: tensor<8x4xf32, #rows_local> {ccn.name = "x"}) {
  // CHECK: ccn.scatter %{{.*}} from 0 into 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %0 = ccn.scatter %x from 0 into 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_local>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_pending
ccn.program @other_pending(%x: tensor<8x4xf32, #max_local> {ccn.name = "x"}) {
  // CHECK: ccn.scatter %{{.*}} from 0 into 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"b"}, local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<max> = {"b"}>>
  %0 = ccn.scatter %x from 0 into 0 along <@m, ["a"]> : (tensor<8x4xf32, #max_local>) -> tensor<8x4xf32, #rows_max>
  ccn.return
}
