// ccn.all_gather: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#cut = #ccn.layout<@m, [{"a"}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows = #ccn.layout<@m, [{"a"}, {}]>
#rows_abc = #ccn.layout<@m, [{"a", "b", "c"}, {}]>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#cols_b = #ccn.layout<@m, [{}, {"b"}]>
#rows_max = #ccn.layout<@m, [{"a"}, {}], partial<max> = {"b"}>
#max_b = #ccn.layout<@m, [{}, {}], partial<max> = {"b"}>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>
#local_b = #ccn.layout<@m, [{}, {}], local = {"b"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf32>
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8xf32, #cut>) -> tensor<8xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @second_dimension
ccn.program @second_dimension(%x: tensor<8x4xi1, #cols> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["a"]> : (tensor<8x4xi1, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x4xi1>
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xi1, #cols>) -> tensor<8x4xi1>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%x: tensor<0xf32, #cut> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["a"]> : (tensor<0xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<0xf32>
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<0xf32, #cut>) -> tensor<0xf32>
  ccn.return
}

// The innermost axis may be gathered alone.
// CHECK-LABEL: ccn.program @inner
ccn.program @inner(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.all_gather %x along <@m, ["b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// CHECK-LABEL: ccn.program @both
ccn.program @both(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32>
  %0 = ccn.all_gather %x along <@m, ["a", "b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @both_any_order
ccn.program @both_any_order(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["b", "a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32>
  %0 = ccn.all_gather %x along <@m, ["b", "a"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @inner_two_of_three
ccn.program @inner_two_of_three(%x: tensor<8x4xf32, #rows_abc> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["b", "c"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b", "c"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.all_gather %x along <@m, ["b", "c"]> : (tensor<8x4xf32, #rows_abc>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// CHECK-LABEL: ccn.program @two_dimensions
ccn.program @two_dimensions(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<8x4xf32>
  %0 = ccn.all_gather %x along <@m, ["a", "b"]> : (tensor<8x4xf32, #rows_cols>) -> tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @one_of_two_dimensions
ccn.program @one_of_two_dimensions(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #rows_cols>) -> tensor<8x4xf32, #cols_b>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_pending
ccn.program @other_pending(%x: tensor<8x4xf32, #rows_max> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<max> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"b"}>>
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #rows_max>) -> tensor<8x4xf32, #max_b>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_local
ccn.program @other_local(%x: tensor<8x4xf32, #rows_local> {ccn.name = "x"}) {
  // CHECK: ccn.all_gather %{{.*}} along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #rows_local>) -> tensor<8x4xf32, #local_b>
  ccn.return
}
