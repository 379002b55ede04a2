// ccn.slice: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#cut = #ccn.layout<@m, [{"a"}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
#rows = #ccn.layout<@m, [{"a"}, {}]>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#sum_b = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#local_b = #ccn.layout<@m, [{}, {}], local = {"b"}>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8xf32> {ccn.name = "x"}) {
  // CHECK: ccn.slice %{{.*}} into 0 along <@m, ["a"]> : (tensor<8xf32>) -> tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.slice %x into 0 along <@m, ["a"]> : (tensor<8xf32>) -> tensor<8xf32, #cut>
  ccn.return
}

// CHECK-LABEL: ccn.program @second_dimension
ccn.program @second_dimension(%x: tensor<8x4xi1> {ccn.name = "x"}) {
  // CHECK: ccn.slice %{{.*}} into 1 along <@m, ["a"]> : (tensor<8x4xi1>) -> tensor<8x4xi1, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.slice %x into 1 along <@m, ["a"]> : (tensor<8x4xi1>) -> tensor<8x4xi1, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @odd_size
ccn.program @odd_size(%x: tensor<7xf32> {ccn.name = "x"}) {
  // CHECK: ccn.slice %{{.*}} into 0 along <@m, ["a"]> : (tensor<7xf32>) -> tensor<7xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.slice %x into 0 along <@m, ["a"]> : (tensor<7xf32>) -> tensor<7xf32, #cut>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%x: tensor<0xf32> {ccn.name = "x"}) {
  // CHECK: ccn.slice %{{.*}} into 0 along <@m, ["a"]> : (tensor<0xf32>) -> tensor<0xf32, #ccn.layout<@m, [{"a"}]>>
  %0 = ccn.slice %x into 0 along <@m, ["a"]> : (tensor<0xf32>) -> tensor<0xf32, #cut>
  ccn.return
}

// The first axis cuts first.
// CHECK-LABEL: ccn.program @two_axes
ccn.program @two_axes(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.slice %{{.*}} into 0 along <@m, ["b", "a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
  %0 = ccn.slice %x into 0 along <@m, ["b", "a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows_ba>
  ccn.return
}

// CHECK-LABEL: ccn.program @inside_a_slice
ccn.program @inside_a_slice(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // CHECK: ccn.slice %{{.*}} into 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %0 = ccn.slice %x into 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @beside_a_slice
ccn.program @beside_a_slice(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // CHECK: ccn.slice %{{.*}} into 1 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
  %0 = ccn.slice %x into 1 along <@m, ["b"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows_cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_pending
ccn.program @other_pending(%x: tensor<8x4xf32, #sum_b> {ccn.name = "x"}) {
  // CHECK: ccn.slice %{{.*}} into 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>
  %0 = ccn.slice %x into 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum_b>) -> tensor<8x4xf32, #rows_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_local
ccn.program @other_local(%x: tensor<8x4xf32, #local_b> {ccn.name = "x"}) {
  // CHECK: ccn.slice %{{.*}} into 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>
  %0 = ccn.slice %x into 0 along <@m, ["a"]> : (tensor<8x4xf32, #local_b>) -> tensor<8x4xf32, #rows_local>
  ccn.return
}
