// ccn.gather: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#cut = #ccn.layout<@m, [{"a"}]>
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#cols_b_local = #ccn.layout<@m, [{}, {"b"}], local = {"a"}>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#sum_local = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  // CHECK: ccn.gather %{{.*}} to 0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>
  %0 = ccn.gather %x to 0 along <@m, ["a"]> : (tensor<8xf32, #cut>) -> tensor<8xf32, #v_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_root
ccn.program @other_root(%x: tensor<8x4xi1, #cols> {ccn.name = "x"}) {
  // CHECK: ccn.gather %{{.*}} to 1 along <@m, ["a"]> : (tensor<8x4xi1, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x4xi1, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.gather %x to 1 along <@m, ["a"]> : (tensor<8x4xi1, #cols>) -> tensor<8x4xi1, #local>
  ccn.return
}

// CHECK-LABEL: ccn.program @inner
ccn.program @inner(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // CHECK: ccn.gather %{{.*}} to 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>
  %0 = ccn.gather %x to 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_dimension
ccn.program @other_dimension(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"}) {
  // CHECK: ccn.gather %{{.*}} to 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}], local = {"a"}>>
  %0 = ccn.gather %x to 0 along <@m, ["a"]> : (tensor<8x4xf32, #rows_cols>) -> tensor<8x4xf32, #cols_b_local>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_pending
ccn.program @other_pending(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"}) {
  // CHECK: ccn.gather %{{.*}} to 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>>
  %0 = ccn.gather %x to 0 along <@m, ["a"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #sum_local>
  ccn.return
}
