// ccn.all_to_all: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#cols_ba = #ccn.layout<@m, [{}, {"b", "a"}]>
#batch_mid = #ccn.layout<@m, [{"a"}, {"b"}, {}]>
#mid_b_last = #ccn.layout<@m, [{}, {"b"}, {"a"}]>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#cols_sum = #ccn.layout<@m, [{}, {"a"}], partial<sum> = {"b"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // CHECK: ccn.all_to_all %{{.*}} from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @back
ccn.program @back(%x: tensor<8x4xi1, #cols> {ccn.name = "x"}) {
  // CHECK: ccn.all_to_all %{{.*}} from 1 to 0 along <@m, ["a"]> : (tensor<8x4xi1, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x4xi1, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.all_to_all %x from 1 to 0 along <@m, ["a"]> : (tensor<8x4xi1, #cols>) -> tensor<8x4xi1, #rows>
  ccn.return
}

// CHECK-LABEL: ccn.program @odd_and_empty
ccn.program @odd_and_empty(%x: tensor<7x0xf32, #rows> {ccn.name = "x"}) {
  // CHECK: ccn.all_to_all %{{.*}} from 0 to 1 along <@m, ["a"]> : (tensor<7x0xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<7x0xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["a"]> : (tensor<7x0xf32, #rows>) -> tensor<7x0xf32, #cols>
  ccn.return
}

// The innermost axis moves.
// CHECK-LABEL: ccn.program @inner
ccn.program @inner(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // CHECK: ccn.all_to_all %{{.*}} from 0 to 1 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
  %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows_cols>
  ccn.return
}

// It cuts the pieces that are there further.
// CHECK-LABEL: ccn.program @onto_a_cut
ccn.program @onto_a_cut(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"}) {
  // CHECK: ccn.all_to_all %{{.*}} from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"b", "a"}]>>
  %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #rows_cols>) -> tensor<8x4xf32, #cols_ba>
  ccn.return
}

// CHECK-LABEL: ccn.program @three_dimensions
ccn.program @three_dimensions(%x: tensor<2x3x4xf32, #batch_mid> {ccn.name = "x"}) {
  // CHECK: ccn.all_to_all %{{.*}} from 0 to 2 along <@m, ["a"]> : (tensor<2x3x4xf32, #ccn.layout<@m, [{"a"}, {"b"}, {}]>>) -> tensor<2x3x4xf32, #ccn.layout<@m, [{}, {"b"}, {"a"}]>>
  %0 = ccn.all_to_all %x from 0 to 2 along <@m, ["a"]> : (tensor<2x3x4xf32, #batch_mid>) -> tensor<2x3x4xf32, #mid_b_last>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_pending
ccn.program @other_pending(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"}) {
  // CHECK: ccn.all_to_all %{{.*}} from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}], partial<sum> = {"b"}>>
  %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #cols_sum>
  ccn.return
}
