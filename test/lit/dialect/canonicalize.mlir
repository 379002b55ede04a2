// Canonicalization: every pattern and folder, and what must not be rewritten.
// RUN: ccn-opt %s -canonicalize | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#sum_b = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#rows_b = #ccn.layout<@m, [{"b"}, {}]>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#local_sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}, local = {"b"}>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>
#cut = #ccn.layout<@m, [{"a"}]>
#cut_ab = #ccn.layout<@m, [{"a", "b"}]>
#cut_local = #ccn.layout<@m, [{"a"}], local = {"b"}>
#v_local_b = #ccn.layout<@m, [{}], local = {"b"}>
#batch_mid = #ccn.layout<@m, [{"a"}, {"b"}, {}]>
#batch_last = #ccn.layout<@m, [{"a"}, {}, {"b"}]>
#mid_last = #ccn.layout<@m, [{}, {"a"}, {"b"}]>
#batch = #ccn.layout<@m, [{"a"}, {}, {}]>
#s_local = #ccn.layout<@m, [], local = {"a"}>
#cols_b = #ccn.layout<@m, [{}, {"b"}]>
#rows_b_local = #ccn.layout<@m, [{"b"}, {}], local = {"a"}>
#sum_local = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

//===----------------------------------------------------------------------===//
// slice(all_gather(x)) is x
//===----------------------------------------------------------------------===//

// CHECK-LABEL: ccn.program @slice_of_gather(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @slice_of_gather(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32>
  %1 = ccn.slice %0 into 0 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
  ccn.return %1 : tensor<8x4xf32, #rows>
}

// CHECK-LABEL: ccn.program @slice_of_gather_two_axes(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
ccn.program @slice_of_gather_two_axes(%x: tensor<8x4xf32, #rows_ba> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_ba> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["b", "a"]> : (tensor<8x4xf32, #rows_ba>) -> tensor<8x4xf32>
  %1 = ccn.slice %0 into 0 along <@m, ["b", "a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows_ba>
  ccn.return %1 : tensor<8x4xf32, #rows_ba>
}

// The inner axis is gathered and cut again.
// CHECK-LABEL: ccn.program @slice_of_gather_inner(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
ccn.program @slice_of_gather_inner(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_ab> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows>
  %1 = ccn.slice %0 into 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows_ab>
  ccn.return %1 : tensor<8x4xf32, #rows_ab>
}

// The gather stays for its other use.
// CHECK-LABEL: ccn.program @slice_of_gather_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V0]], %arg0 : tensor<8x4xf32>, tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @slice_of_gather_used_twice(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}, tensor<8x4xf32, #rows> {ccn.name = "r1"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32>
  %1 = ccn.slice %0 into 0 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
  ccn.return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32, #rows>
}

// States along other axes do not matter.
// CHECK-LABEL: ccn.program @slice_of_gather_pending(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>
ccn.program @slice_of_gather_pending(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_sum> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #sum_b>
  %1 = ccn.slice %0 into 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum_b>) -> tensor<8x4xf32, #rows_sum>
  ccn.return %1 : tensor<8x4xf32, #rows_sum>
}

// Another dimension is cut: no.
// CHECK-LABEL: ccn.program @no_slice_of_gather_other_dimension(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.slice %[[V0]] into 1 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @no_slice_of_gather_other_dimension(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32>
  %1 = ccn.slice %0 into 1 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #cols>
  ccn.return %1 : tensor<8x4xf32, #cols>
}

// Another axis cuts: no.
// CHECK-LABEL: ccn.program @no_slice_of_gather_other_axis(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.slice %[[V0]] into 0 along <@m, ["b"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}]>>
ccn.program @no_slice_of_gather_other_axis(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_b> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32>
  %1 = ccn.slice %0 into 0 along <@m, ["b"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows_b>
  ccn.return %1 : tensor<8x4xf32, #rows_b>
}

// The axes cut in another order: other pieces.
// CHECK-LABEL: ccn.program @no_slice_of_gather_other_order(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["b", "a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.slice %[[V0]] into 0 along <@m, ["b", "a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
ccn.program @no_slice_of_gather_other_order(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_ba> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["b", "a"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32>
  %1 = ccn.slice %0 into 0 along <@m, ["b", "a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows_ba>
  ccn.return %1 : tensor<8x4xf32, #rows_ba>
}

// One of two axes is cut again: no.
// CHECK-LABEL: ccn.program @no_slice_of_gather_part(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.slice %[[V0]] into 0 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @no_slice_of_gather_part(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a", "b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32>
  %1 = ccn.slice %0 into 0 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
  ccn.return %1 : tensor<8x4xf32, #rows>
}

// The axis becomes the inner cut of a dimension of which it was the only one
// elsewhere.
// CHECK-LABEL: ccn.program @no_slice_of_gather_nested(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.slice %[[V0]] into 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
ccn.program @no_slice_of_gather_nested(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_ab> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["b"]> : (tensor<8x4xf32, #rows_cols>) -> tensor<8x4xf32, #rows>
  %1 = ccn.slice %0 into 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows_ab>
  ccn.return %1 : tensor<8x4xf32, #rows_ab>
}

//===----------------------------------------------------------------------===//
// all_gather(slice(x)) is x
//===----------------------------------------------------------------------===//

// CHECK-LABEL: ccn.program @gather_of_slice(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32>
ccn.program @gather_of_slice(%x: tensor<8x4xf32> {ccn.name = "x"}) -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.slice %x into 1 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #cols>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8x4xf32, #cols>) -> tensor<8x4xf32>
  ccn.return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @gather_of_slice_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.slice %arg0 into 1 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V0]], %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>, tensor<8x4xf32>
ccn.program @gather_of_slice_used_twice(%x: tensor<8x4xf32> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}, tensor<8x4xf32> {ccn.name = "r1"}) {
  %0 = ccn.slice %x into 1 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #cols>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8x4xf32, #cols>) -> tensor<8x4xf32>
  ccn.return %0, %1 : tensor<8x4xf32, #cols>, tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @gather_of_slice_inner(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @gather_of_slice_inner(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.slice %x into 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows_ab>
  %1 = ccn.all_gather %0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows>
  ccn.return %1 : tensor<8x4xf32, #rows>
}

// One axis of two stays cut: no.
// CHECK-LABEL: ccn.program @no_gather_of_slice_part(
// CHECK-NEXT: %[[V0:.*]] = ccn.slice %arg0 into 0 along <@m, ["a", "b"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @no_gather_of_slice_part(%x: tensor<8x4xf32> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.slice %x into 0 along <@m, ["a", "b"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows_ab>
  %1 = ccn.all_gather %0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows>
  ccn.return %1 : tensor<8x4xf32, #rows>
}

// More is gathered than was cut: no.
// CHECK-LABEL: ccn.program @no_gather_of_slice_more(
// CHECK-NEXT: %[[V0:.*]] = ccn.slice %arg0 into 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32>
ccn.program @no_gather_of_slice_more(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.slice %x into 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows_ab>
  %1 = ccn.all_gather %0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32>
  ccn.return %1 : tensor<8x4xf32>
}

//===----------------------------------------------------------------------===//
// all_gather(reduce_scatter(x)) is all_reduce(x)
//===----------------------------------------------------------------------===//

// The name of the gather stays.
// CHECK-LABEL: ccn.program @gather_of_reduce_scatter(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a"]> {ccn.let = "whole"} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32>
ccn.program @gather_of_reduce_scatter(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reduce_scatter sum %x into 1 along <@m, ["a"]> {ccn.let = "part"} : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #cols>
  %1 = ccn.all_gather %0 along <@m, ["a"]> {ccn.let = "whole"} : (tensor<8x4xf32, #cols>) -> tensor<8x4xf32>
  ccn.return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @gather_of_reduce_scatter_local(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce max %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32>
ccn.program @gather_of_reduce_scatter_local(%x: tensor<8x4xf32, #local> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reduce_scatter max %x into 0 along <@m, ["a"]> : (tensor<8x4xf32, #local>) -> tensor<8x4xf32, #rows>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32>
  ccn.return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @gather_of_reduce_scatter_two_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}, local = {"b"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32>
ccn.program @gather_of_reduce_scatter_two_axes(%x: tensor<8x4xf32, #local_sum> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #local_sum>) -> tensor<8x4xf32, #rows_ab>
  %1 = ccn.all_gather %0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32>
  ccn.return %1 : tensor<8x4xf32>
}

// Another axis cuts the same dimension before, and still does.
// CHECK-LABEL: ccn.program @gather_of_reduce_scatter_inside_a_slice(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @gather_of_reduce_scatter_inside_a_slice(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #rows_ab>
  %1 = ccn.all_gather %0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows>
  ccn.return %1 : tensor<8x4xf32, #rows>
}

// The part is needed: no second reduction.
// CHECK-LABEL: ccn.program @no_gather_of_reduce_scatter_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.reduce_scatter sum %arg0 into 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V0]], %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x4xf32>
ccn.program @no_gather_of_reduce_scatter_used_twice(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}, tensor<8x4xf32> {ccn.name = "r1"}) {
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #rows>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32>
  ccn.return %0, %1 : tensor<8x4xf32, #rows>, tensor<8x4xf32>
}

// One axis of two is gathered: no.
// CHECK-LABEL: ccn.program @no_gather_of_reduce_scatter_part(
// CHECK-NEXT: %[[V0:.*]] = ccn.reduce_scatter sum %arg0 into 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @no_gather_of_reduce_scatter_part(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #sum_ab>) -> tensor<8x4xf32, #rows_ab>
  %1 = ccn.all_gather %0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows>
  ccn.return %1 : tensor<8x4xf32, #rows>
}

// More is gathered than was reduced: no.
// CHECK-LABEL: ccn.program @no_gather_of_reduce_scatter_more(
// CHECK-NEXT: %[[V0:.*]] = ccn.reduce_scatter sum %arg0 into 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32>
ccn.program @no_gather_of_reduce_scatter_more(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["b"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #rows_ab>
  %1 = ccn.all_gather %0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32>
  ccn.return %1 : tensor<8x4xf32>
}

//===----------------------------------------------------------------------===//
// all_reduce(a) + all_reduce(b) is all_reduce(a + b)
//===----------------------------------------------------------------------===//

// Both new operations have the name of the sum.
// CHECK-LABEL: ccn.program @add_of_reduces(
// CHECK-NEXT: %[[V0:.*]] = ccn.add %arg0, %arg1 {ccn.let = "s"} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %[[V0]] along <@m, ["a"]> {ccn.let = "s"} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32>
ccn.program @add_of_reduces(%x: tensor<8x4xf32, #sum> {ccn.name = "x"},
    %y: tensor<8x4xf32, #sum> {ccn.name = "y"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> {ccn.let = "p"} : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  %1 = ccn.all_reduce sum %y along <@m, ["a"]> {ccn.let = "q"} : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  %2 = ccn.add %0, %1 {ccn.let = "s"} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return %2 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @add_of_reduces_local(
// CHECK-NEXT: %[[V0:.*]] = ccn.add %arg0, %arg1 : (tensor<8xi8, #ccn.layout<@m, [{}], local = {"a"}>>, tensor<8xi8, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xi8, #ccn.layout<@m, [{}], local = {"a"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %[[V0]] along <@m, ["a"]> : (tensor<8xi8, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xi8>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xi8>
ccn.program @add_of_reduces_local(%x: tensor<8xi8, #v_local> {ccn.name = "x"},
    %y: tensor<8xi8, #v_local> {ccn.name = "y"})
    -> (tensor<8xi8> {ccn.name = "r0"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xi8, #v_local>) -> tensor<8xi8>
  %1 = ccn.all_reduce sum %y along <@m, ["a"]> : (tensor<8xi8, #v_local>) -> tensor<8xi8>
  %2 = ccn.add %0, %1 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  ccn.return %2 : tensor<8xi8>
}

// A cut along another axis stays.
// CHECK-LABEL: ccn.program @add_of_reduces_sliced(
// CHECK-NEXT: %[[V0:.*]] = ccn.add %arg0, %arg1 : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>, tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %[[V0]] along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @add_of_reduces_sliced(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"},
    %y: tensor<8x4xf32, #rows_sum> {ccn.name = "y"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["b"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #rows>
  %1 = ccn.all_reduce sum %y along <@m, ["b"]> : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #rows>
  %2 = ccn.add %0, %1 : (tensor<8x4xf32, #rows>, tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows>
  ccn.return %2 : tensor<8x4xf32, #rows>
}

// 16-bit floats are accumulated in f32; their sum before would be rounded:
// no.
// CHECK-LABEL: ccn.program @no_add_of_reduces_narrow(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a"]> : (tensor<8xf16, #ccn.layout<@m, [{}], partial<sum> = {"a"}>>) -> tensor<8xf16>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %arg1 along <@m, ["a"]> : (tensor<8xf16, #ccn.layout<@m, [{}], partial<sum> = {"a"}>>) -> tensor<8xf16>
// CHECK-NEXT: %[[V2:.*]] = ccn.add %[[V0]], %[[V1]] : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
// CHECK-NEXT: ccn.return %[[V2]] : tensor<8xf16>
ccn.program @no_add_of_reduces_narrow(%x: tensor<8xf16, #v_sum> {ccn.name = "x"},
    %y: tensor<8xf16, #v_sum> {ccn.name = "y"})
    -> (tensor<8xf16> {ccn.name = "r0"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf16, #v_sum>) -> tensor<8xf16>
  %1 = ccn.all_reduce sum %y along <@m, ["a"]> : (tensor<8xf16, #v_sum>) -> tensor<8xf16>
  %2 = ccn.add %0, %1 : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  ccn.return %2 : tensor<8xf16>
}

// One result serves something else: no.
// CHECK-LABEL: ccn.program @no_add_of_reduces_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %arg1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V2:.*]] = ccn.add %[[V0]], %[[V1]] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V1]], %[[V2]] : tensor<8x4xf32>, tensor<8x4xf32>
ccn.program @no_add_of_reduces_used_twice(%x: tensor<8x4xf32, #sum> {ccn.name = "x"},
    %y: tensor<8x4xf32, #sum> {ccn.name = "y"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}, tensor<8x4xf32> {ccn.name = "r1"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  %1 = ccn.all_reduce sum %y along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  %2 = ccn.add %0, %1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}

// Twice the same: one all_reduce already.
// CHECK-LABEL: ccn.program @no_add_of_one_reduce(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.add %[[V0]], %[[V0]] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32>
ccn.program @no_add_of_one_reduce(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  %1 = ccn.add %0, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return %1 : tensor<8x4xf32>
}

// Maxima do not add up.
// CHECK-LABEL: ccn.program @no_add_of_reduces_other_kind(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce max %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce max %arg1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V2:.*]] = ccn.add %[[V0]], %[[V1]] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V2]] : tensor<8x4xf32>
ccn.program @no_add_of_reduces_other_kind(%x: tensor<8x4xf32, #max> {ccn.name = "x"},
    %y: tensor<8x4xf32, #max> {ccn.name = "y"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.all_reduce max %x along <@m, ["a"]> : (tensor<8x4xf32, #max>) -> tensor<8x4xf32>
  %1 = ccn.all_reduce max %y along <@m, ["a"]> : (tensor<8x4xf32, #max>) -> tensor<8x4xf32>
  %2 = ccn.add %0, %1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return %2 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @no_add_of_reduces_other_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %arg1 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V2:.*]] = ccn.add %[[V0]], %[[V1]] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V2]] : tensor<8x4xf32>
ccn.program @no_add_of_reduces_other_axes(%x: tensor<8x4xf32, #sum> {ccn.name = "x"},
    %y: tensor<8x4xf32, #sum_b> {ccn.name = "y"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  %1 = ccn.all_reduce sum %y along <@m, ["b"]> : (tensor<8x4xf32, #sum_b>) -> tensor<8x4xf32>
  %2 = ccn.add %0, %1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return %2 : tensor<8x4xf32>
}

// The sum of a local and a partial value does not exist.
// CHECK-LABEL: ccn.program @no_add_of_reduces_local_and_partial(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %arg1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V2:.*]] = ccn.add %[[V0]], %[[V1]] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V2]] : tensor<8x4xf32>
ccn.program @no_add_of_reduces_local_and_partial(%x: tensor<8x4xf32, #sum> {ccn.name = "x"},
    %y: tensor<8x4xf32, #local> {ccn.name = "y"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  %1 = ccn.all_reduce sum %y along <@m, ["a"]> : (tensor<8x4xf32, #local>) -> tensor<8x4xf32>
  %2 = ccn.add %0, %1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return %2 : tensor<8x4xf32>
}

// A scalar is added to every element, other shapes do not add.
// CHECK-LABEL: ccn.program @no_add_of_reduces_scalar(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %arg1 along <@m, ["a"]> : (tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a"}>>) -> tensor<f32>
// CHECK-NEXT: %[[V2:.*]] = ccn.add %[[V0]], %[[V1]] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V2]] : tensor<8x4xf32>
ccn.program @no_add_of_reduces_scalar(%x: tensor<8x4xf32, #sum> {ccn.name = "x"},
    %y: tensor<f32, #s_sum> {ccn.name = "y"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  %1 = ccn.all_reduce sum %y along <@m, ["a"]> : (tensor<f32, #s_sum>) -> tensor<f32>
  %2 = ccn.add %0, %1 : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  ccn.return %2 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @no_sub_of_reduces(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %arg1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V2:.*]] = ccn.sub %[[V0]], %[[V1]] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V2]] : tensor<8x4xf32>
ccn.program @no_sub_of_reduces(%x: tensor<8x4xf32, #sum> {ccn.name = "x"},
    %y: tensor<8x4xf32, #sum> {ccn.name = "y"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  %1 = ccn.all_reduce sum %y along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  %2 = ccn.sub %0, %1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return %2 : tensor<8x4xf32>
}

//===----------------------------------------------------------------------===//
// Casts and all_gathers: the narrower type travels
//===----------------------------------------------------------------------===//

// Each operation keeps its name.
// CHECK-LABEL: ccn.program @widening_cast_before_gather(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> {ccn.let = "g"} : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f32 {ccn.let = "c"} : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf32>
ccn.program @widening_cast_before_gather(%x: tensor<8xf16, #cut> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f32 {ccn.let = "c"} : (tensor<8xf16, #cut>) -> tensor<8xf32, #cut>
  %1 = ccn.all_gather %0 along <@m, ["a"]> {ccn.let = "g"} : (tensor<8xf32, #cut>) -> tensor<8xf32>
  ccn.return %1 : tensor<8xf32>
}

// CHECK-LABEL: ccn.program @widening_cast_two_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["b"]> : (tensor<8xi8, #ccn.layout<@m, [{"a", "b"}]>>) -> tensor<8xi8, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to i64 : (tensor<8xi8, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xi64, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xi64, #ccn.layout<@m, [{"a"}]>>
ccn.program @widening_cast_two_axes(%x: tensor<8xi8, #cut_ab> {ccn.name = "x"})
    -> (tensor<8xi64, #cut> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to i64 : (tensor<8xi8, #cut_ab>) -> tensor<8xi64, #cut_ab>
  %1 = ccn.all_gather %0 along <@m, ["b"]> : (tensor<8xi64, #cut_ab>) -> tensor<8xi64, #cut>
  ccn.return %1 : tensor<8xi64, #cut>
}

// CHECK-LABEL: ccn.program @narrowing_cast_after_gather(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f8E5M2 {ccn.let = "c"} : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf8E5M2, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> {ccn.let = "g"} : (tensor<8xf8E5M2, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf8E5M2>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf8E5M2>
ccn.program @narrowing_cast_after_gather(%x: tensor<8xf32, #cut> {ccn.name = "x"}) -> (tensor<8xf8E5M2> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> {ccn.let = "g"} : (tensor<8xf32, #cut>) -> tensor<8xf32>
  %1 = ccn.cast %0 to f8E5M2 {ccn.let = "c"} : (tensor<8xf32>) -> tensor<8xf8E5M2>
  ccn.return %1 : tensor<8xf8E5M2>
}

// The cut is of another axis than the local values.
// CHECK-LABEL: ccn.program @narrowing_cast_after_gather_local(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to i1 : (tensor<8xi32, #ccn.layout<@m, [{"a"}], local = {"b"}>>) -> tensor<8xi1, #ccn.layout<@m, [{"a"}], local = {"b"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8xi1, #ccn.layout<@m, [{"a"}], local = {"b"}>>) -> tensor<8xi1, #ccn.layout<@m, [{}], local = {"b"}>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xi1, #ccn.layout<@m, [{}], local = {"b"}>>
ccn.program @narrowing_cast_after_gather_local(%x: tensor<8xi32, #cut_local> {ccn.name = "x"})
    -> (tensor<8xi1, #v_local_b> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8xi32, #cut_local>) -> tensor<8xi32, #v_local_b>
  %1 = ccn.cast %0 to i1 : (tensor<8xi32, #v_local_b>) -> tensor<8xi1, #v_local_b>
  ccn.return %1 : tensor<8xi1, #v_local_b>
}

// It is where it should be.
// CHECK-LABEL: ccn.program @no_narrowing_cast_before_gather(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f16 : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf16>
ccn.program @no_narrowing_cast_before_gather(%x: tensor<8xf32, #cut> {ccn.name = "x"}) -> (tensor<8xf16> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f16 : (tensor<8xf32, #cut>) -> tensor<8xf16, #cut>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8xf16, #cut>) -> tensor<8xf16>
  ccn.return %1 : tensor<8xf16>
}

// CHECK-LABEL: ccn.program @no_widening_cast_after_gather(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f32 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf32>
ccn.program @no_widening_cast_after_gather(%x: tensor<8xf16, #cut> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8xf16, #cut>) -> tensor<8xf16>
  %1 = ccn.cast %0 to f32 : (tensor<8xf16>) -> tensor<8xf32>
  ccn.return %1 : tensor<8xf32>
}

// Nothing is gained, in either place.
// CHECK-LABEL: ccn.program @no_cast_of_same_width(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to i32 : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xi32, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8xi32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xi32>
// CHECK-NEXT: %[[V2:.*]] = ccn.all_gather %arg1 along <@m, ["a"]> : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16>
// CHECK-NEXT: %[[V3:.*]] = ccn.cast %[[V2]] to bf16 : (tensor<8xf16>) -> tensor<8xbf16>
// CHECK-NEXT: ccn.return %[[V1]], %[[V3]] : tensor<8xi32>, tensor<8xbf16>
ccn.program @no_cast_of_same_width(%x: tensor<8xf32, #cut> {ccn.name = "x"},
    %y: tensor<8xf16, #cut> {ccn.name = "y"})
    -> (tensor<8xi32> {ccn.name = "r0"}, tensor<8xbf16> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to i32 : (tensor<8xf32, #cut>) -> tensor<8xi32, #cut>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8xi32, #cut>) -> tensor<8xi32>
  %2 = ccn.all_gather %y along <@m, ["a"]> : (tensor<8xf16, #cut>) -> tensor<8xf16>
  %3 = ccn.cast %2 to bf16 : (tensor<8xf16>) -> tensor<8xbf16>
  ccn.return %1, %3 : tensor<8xi32>, tensor<8xbf16>
}

// CHECK-LABEL: ccn.program @no_cast_before_gather_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f32 : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V0]], %[[V1]] : tensor<8xf32, #ccn.layout<@m, [{"a"}]>>, tensor<8xf32>
ccn.program @no_cast_before_gather_used_twice(%x: tensor<8xf16, #cut> {ccn.name = "x"})
    -> (tensor<8xf32, #cut> {ccn.name = "r0"}, tensor<8xf32> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to f32 : (tensor<8xf16, #cut>) -> tensor<8xf32, #cut>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8xf32, #cut>) -> tensor<8xf32>
  ccn.return %0, %1 : tensor<8xf32, #cut>, tensor<8xf32>
}

// CHECK-LABEL: ccn.program @no_cast_after_gather_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f16 : (tensor<8xf32>) -> tensor<8xf16>
// CHECK-NEXT: ccn.return %[[V0]], %[[V1]] : tensor<8xf32>, tensor<8xf16>
ccn.program @no_cast_after_gather_used_twice(%x: tensor<8xf32, #cut> {ccn.name = "x"})
    -> (tensor<8xf32> {ccn.name = "r0"}, tensor<8xf16> {ccn.name = "r1"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8xf32, #cut>) -> tensor<8xf32>
  %1 = ccn.cast %0 to f16 : (tensor<8xf32>) -> tensor<8xf16>
  ccn.return %0, %1 : tensor<8xf32>, tensor<8xf16>
}

// f32 travels as f16, which is what the values are.
// CHECK-LABEL: ccn.program @casts_on_both_sides(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8xf16>
ccn.program @casts_on_both_sides(%x: tensor<8xf16, #cut> {ccn.name = "x"}) -> (tensor<8xf16> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f32 : (tensor<8xf16, #cut>) -> tensor<8xf32, #cut>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8xf32, #cut>) -> tensor<8xf32>
  %2 = ccn.cast %1 to f16 : (tensor<8xf32>) -> tensor<8xf16>
  ccn.return %2 : tensor<8xf16>
}

//===----------------------------------------------------------------------===//
// Casts of casts
//===----------------------------------------------------------------------===//

// CHECK-LABEL: ccn.program @cast_to_its_own_type(
// CHECK-NEXT: ccn.return %arg0 : tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
ccn.program @cast_to_its_own_type(%x: tensor<8xf32, #cut> {ccn.name = "x"})
    -> (tensor<8xf32, #cut> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f32 : (tensor<8xf32, #cut>) -> tensor<8xf32, #cut>
  ccn.return %0 : tensor<8xf32, #cut>
}

// The first loses nothing; the name of the second stays.
// CHECK-LABEL: ccn.program @exact_casts(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f64 {ccn.let = "x"} : (tensor<8xf16>) -> tensor<8xf64>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %arg1 to f16 : (tensor<8xbf16>) -> tensor<8xf16>
// CHECK-NEXT: %[[V2:.*]] = ccn.cast %arg2 to f8E5M2 : (tensor<8xf8E4M3FN>) -> tensor<8xf8E5M2>
// CHECK-NEXT: %[[V3:.*]] = ccn.cast %arg3 to f32 : (tensor<8xf8E5M2>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V0]], %[[V1]], %[[V2]], %[[V3]] : tensor<8xf64>, tensor<8xf16>, tensor<8xf8E5M2>, tensor<8xf32>
ccn.program @exact_casts(%a: tensor<8xf16> {ccn.name = "a"},
    %b: tensor<8xbf16> {ccn.name = "b"},
    %c: tensor<8xf8E4M3FN> {ccn.name = "c"},
    %d: tensor<8xf8E5M2> {ccn.name = "d"})
    -> (tensor<8xf64> {ccn.name = "r0"}, tensor<8xf16> {ccn.name = "r1"}, tensor<8xf8E5M2> {ccn.name = "r2"}, tensor<8xf32> {ccn.name = "r3"}) {
  %0 = ccn.cast %a to f32 : (tensor<8xf16>) -> tensor<8xf32>
  %1 = ccn.cast %0 to f64 {ccn.let = "x"} : (tensor<8xf32>) -> tensor<8xf64>
  %2 = ccn.cast %b to f32 : (tensor<8xbf16>) -> tensor<8xf32>
  %3 = ccn.cast %2 to f16 : (tensor<8xf32>) -> tensor<8xf16>
  %4 = ccn.cast %c to f16 : (tensor<8xf8E4M3FN>) -> tensor<8xf16>
  %5 = ccn.cast %4 to f8E5M2 : (tensor<8xf16>) -> tensor<8xf8E5M2>
  %6 = ccn.cast %d to bf16 : (tensor<8xf8E5M2>) -> tensor<8xbf16>
  %7 = ccn.cast %6 to f32 : (tensor<8xbf16>) -> tensor<8xf32>
  ccn.return %1, %3, %5, %7 : tensor<8xf64>, tensor<8xf16>, tensor<8xf8E5M2>, tensor<8xf32>
}

// CHECK-LABEL: ccn.program @exact_cast_and_back(
// CHECK-NEXT: ccn.return %arg0 : tensor<8xf16>
ccn.program @exact_cast_and_back(%x: tensor<8xf16> {ccn.name = "x"}) -> (tensor<8xf16> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f32 : (tensor<8xf16>) -> tensor<8xf32>
  %1 = ccn.cast %0 to f16 : (tensor<8xf32>) -> tensor<8xf16>
  ccn.return %1 : tensor<8xf16>
}

// The first stays for its other use.
// CHECK-LABEL: ccn.program @exact_cast_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f32 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %arg0 to f64 : (tensor<8xf16>) -> tensor<8xf64>
// CHECK-NEXT: ccn.return %[[V0]], %[[V1]] : tensor<8xf32>, tensor<8xf64>
ccn.program @exact_cast_used_twice(%x: tensor<8xf16> {ccn.name = "x"})
    -> (tensor<8xf32> {ccn.name = "r0"}, tensor<8xf64> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to f32 : (tensor<8xf16>) -> tensor<8xf32>
  %1 = ccn.cast %0 to f64 : (tensor<8xf32>) -> tensor<8xf64>
  ccn.return %0, %1 : tensor<8xf32>, tensor<8xf64>
}

// f32 to f16 and back rounds: no.
// CHECK-LABEL: ccn.program @no_rounding_cast_and_back(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f16 : (tensor<8xf32>) -> tensor<8xf16>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f32 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf32>
ccn.program @no_rounding_cast_and_back(%x: tensor<8xf32> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f16 : (tensor<8xf32>) -> tensor<8xf16>
  %1 = ccn.cast %0 to f32 : (tensor<8xf16>) -> tensor<8xf32>
  ccn.return %1 : tensor<8xf32>
}

// Neither holds all values of the other.
// CHECK-LABEL: ccn.program @no_cast_between_16_bit_floats(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to bf16 : (tensor<8xf16>) -> tensor<8xbf16>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f32 : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK-NEXT: %[[V2:.*]] = ccn.cast %arg1 to f16 : (tensor<8xbf16>) -> tensor<8xf16>
// CHECK-NEXT: %[[V3:.*]] = ccn.cast %[[V2]] to f32 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V1]], %[[V3]] : tensor<8xf32>, tensor<8xf32>
ccn.program @no_cast_between_16_bit_floats(%x: tensor<8xf16> {ccn.name = "x"}, %y: tensor<8xbf16> {ccn.name = "y"})
    -> (tensor<8xf32> {ccn.name = "r0"}, tensor<8xf32> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to bf16 : (tensor<8xf16>) -> tensor<8xbf16>
  %1 = ccn.cast %0 to f32 : (tensor<8xbf16>) -> tensor<8xf32>
  %2 = ccn.cast %y to f16 : (tensor<8xbf16>) -> tensor<8xf16>
  %3 = ccn.cast %2 to f32 : (tensor<8xf16>) -> tensor<8xf32>
  ccn.return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: ccn.program @no_cast_between_8_bit_floats(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f8E5M2 : (tensor<8xf8E4M3FN>) -> tensor<8xf8E5M2>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f32 : (tensor<8xf8E5M2>) -> tensor<8xf32>
// CHECK-NEXT: %[[V2:.*]] = ccn.cast %arg1 to f8E4M3FN : (tensor<8xf8E5M2>) -> tensor<8xf8E4M3FN>
// CHECK-NEXT: %[[V3:.*]] = ccn.cast %[[V2]] to f32 : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V1]], %[[V3]] : tensor<8xf32>, tensor<8xf32>
ccn.program @no_cast_between_8_bit_floats(%x: tensor<8xf8E4M3FN> {ccn.name = "x"}, %y: tensor<8xf8E5M2> {ccn.name = "y"})
    -> (tensor<8xf32> {ccn.name = "r0"}, tensor<8xf32> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to f8E5M2 : (tensor<8xf8E4M3FN>) -> tensor<8xf8E5M2>
  %1 = ccn.cast %0 to f32 : (tensor<8xf8E5M2>) -> tensor<8xf32>
  %2 = ccn.cast %y to f8E4M3FN : (tensor<8xf8E5M2>) -> tensor<8xf8E4M3FN>
  %3 = ccn.cast %2 to f32 : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  ccn.return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: ccn.program @no_cast_through_integers(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to i64 : (tensor<8xf16>) -> tensor<8xi64>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f16 : (tensor<8xi64>) -> tensor<8xf16>
// CHECK-NEXT: %[[V2:.*]] = ccn.cast %arg1 to f32 : (tensor<8xi8>) -> tensor<8xf32>
// CHECK-NEXT: %[[V3:.*]] = ccn.cast %[[V2]] to i8 : (tensor<8xf32>) -> tensor<8xi8>
// CHECK-NEXT: ccn.return %[[V1]], %[[V3]] : tensor<8xf16>, tensor<8xi8>
ccn.program @no_cast_through_integers(%x: tensor<8xf16> {ccn.name = "x"}, %y: tensor<8xi8> {ccn.name = "y"})
    -> (tensor<8xf16> {ccn.name = "r0"}, tensor<8xi8> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to i64 : (tensor<8xf16>) -> tensor<8xi64>
  %1 = ccn.cast %0 to f16 : (tensor<8xi64>) -> tensor<8xf16>
  %2 = ccn.cast %y to f32 : (tensor<8xi8>) -> tensor<8xf32>
  %3 = ccn.cast %2 to i8 : (tensor<8xf32>) -> tensor<8xi8>
  ccn.return %1, %3 : tensor<8xf16>, tensor<8xi8>
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

// The permutations follow each other; the name of the second stays.
// CHECK-LABEL: ccn.program @transpose_of_transpose(
// CHECK-NEXT: %[[V0:.*]] = ccn.transpose %arg0 by [0, 2, 1] {ccn.let = "t"} : (tensor<2x3x4xf32, #ccn.layout<@m, [{"a"}, {"b"}, {}]>>) -> tensor<2x4x3xf32, #ccn.layout<@m, [{"a"}, {}, {"b"}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<2x4x3xf32, #ccn.layout<@m, [{"a"}, {}, {"b"}]>>
ccn.program @transpose_of_transpose(%x: tensor<2x3x4xf32, #batch_mid> {ccn.name = "x"})
    -> (tensor<2x4x3xf32, #batch_last> {ccn.name = "r0"}) {
  %0 = ccn.transpose %x by [2, 0, 1] : (tensor<2x3x4xf32, #batch_mid>) -> tensor<4x2x3xf32, #mid_last>
  %1 = ccn.transpose %0 by [1, 0, 2] {ccn.let = "t"} : (tensor<4x2x3xf32, #mid_last>) -> tensor<2x4x3xf32, #batch_last>
  ccn.return %1 : tensor<2x4x3xf32, #batch_last>
}

// CHECK-LABEL: ccn.program @transpose_and_back(
// CHECK-NEXT: ccn.return %arg0 : tensor<2x3x4xf32>
ccn.program @transpose_and_back(%x: tensor<2x3x4xf32> {ccn.name = "x"}) -> (tensor<2x3x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.transpose %x by [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = ccn.transpose %0 by [1, 2, 0] : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  ccn.return %1 : tensor<2x3x4xf32>
}

// Dimensions of the same size do not make another permutation an identity.
// CHECK-LABEL: ccn.program @transpose_identity(
// CHECK-NEXT: %[[V0:.*]] = ccn.transpose %arg0 by [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<4x4xf32>
ccn.program @transpose_identity(%x: tensor<4x4xf32> {ccn.name = "x"}) -> (tensor<4x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.transpose %x by [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = ccn.transpose %0 by [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  ccn.return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: ccn.program @reshape_of_reshape(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshape %arg0 to [4, 8] {ccn.let = "r"} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<4x8xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<4x8xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
ccn.program @reshape_of_reshape(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<4x8xf32, #sum> {ccn.name = "r0"}) {
  %0 = ccn.reshape %x to [32] : (tensor<8x4xf32, #sum>) -> tensor<32xf32, #v_sum>
  %1 = ccn.reshape %0 to [4, 8] {ccn.let = "r"} : (tensor<32xf32, #v_sum>) -> tensor<4x8xf32, #sum>
  ccn.return %1 : tensor<4x8xf32, #sum>
}

// CHECK-LABEL: ccn.program @reshape_and_back(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32>
ccn.program @reshape_and_back(%x: tensor<8x4xf32> {ccn.name = "x"}) -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reshape %x to [32] : (tensor<8x4xf32>) -> tensor<32xf32>
  %1 = ccn.reshape %0 to [8, 4] : (tensor<32xf32>) -> tensor<8x4xf32>
  ccn.return %1 : tensor<8x4xf32>
}

// The cut might find another counterpart.
// CHECK-LABEL: ccn.program @no_reshape_of_cut(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshape %arg0 to [8, 2, 2] : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x2x2xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.reshape %[[V0]] to [8, 1, 4] : (tensor<8x2x2xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>) -> tensor<8x1x4xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x1x4xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>
ccn.program @no_reshape_of_cut(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x1x4xf32, #batch> {ccn.name = "r0"}) {
  %0 = ccn.reshape %x to [8, 2, 2] : (tensor<8x4xf32, #rows>) -> tensor<8x2x2xf32, #batch>
  %1 = ccn.reshape %0 to [8, 1, 4] : (tensor<8x2x2xf32, #batch>) -> tensor<8x1x4xf32, #batch>
  ccn.return %1 : tensor<8x1x4xf32, #batch>
}

// CHECK-LABEL: ccn.program @whole_extract(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32>
ccn.program @whole_extract(%x: tensor<8x4xf32> {ccn.name = "x"}) -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.extract %x at 1 from 0 to 4 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @no_part_extract(
// CHECK-NEXT: %[[V0:.*]] = ccn.extract %arg0 at 1 from 0 to 3 : (tensor<8x4xf32>) -> tensor<8x3xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x3xf32>
ccn.program @no_part_extract(%x: tensor<8x4xf32> {ccn.name = "x"}) -> (tensor<8x3xf32> {ccn.name = "r0"}) {
  %0 = ccn.extract %x at 1 from 0 to 3 : (tensor<8x4xf32>) -> tensor<8x3xf32>
  ccn.return %0 : tensor<8x3xf32>
}

// CHECK-LABEL: ccn.program @single_concat(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @single_concat(%x: tensor<8x4xf32, #cols> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.concat %x at 0 : (tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return %0 : tensor<8x4xf32, #cols>
}

// The second adds nothing, but may cut.
// CHECK-LABEL: ccn.program @no_concat_of_nothing(
// CHECK-NEXT: %[[V0:.*]] = ccn.concat %arg0, %arg1 at 0 : (tensor<8x4xf32>, tensor<0x4xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @no_concat_of_nothing(%x: tensor<8x4xf32> {ccn.name = "x"},
    %y: tensor<0x4xf32, #cols> {ccn.name = "y"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.concat %x, %y at 0 : (tensor<8x4xf32>, tensor<0x4xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return %0 : tensor<8x4xf32, #cols>
}

// CHECK-LABEL: ccn.program @broadcast_to_itself(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @broadcast_to_itself(%x: tensor<8x4xf32, #cols> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return %0 : tensor<8x4xf32, #cols>
}

// CHECK-LABEL: ccn.program @no_broadcast_to_more(
// CHECK-NEXT: %[[V0:.*]] = ccn.broadcast_to %arg0 to [1, 4] : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<1x4xf32>
ccn.program @no_broadcast_to_more(%x: tensor<4xf32> {ccn.name = "x"}) -> (tensor<1x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.broadcast_to %x to [1, 4] : (tensor<4xf32>) -> tensor<1x4xf32>
  ccn.return %0 : tensor<1x4xf32>
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

// CHECK-LABEL: ccn.program @select_of_same(
// CHECK-NEXT: ccn.return %arg1 : tensor<8xf32>
ccn.program @select_of_same(%c: tensor<8xi1> {ccn.name = "c"}, %x: tensor<8xf32> {ccn.name = "x"})
    -> (tensor<8xf32> {ccn.name = "r0"}) {
  %0 = ccn.select %c, %x, %x : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  ccn.return %0 : tensor<8xf32>
}

// The scalar is repeated.
// CHECK-LABEL: ccn.program @no_select_of_scalar(
// CHECK-NEXT: %[[V0:.*]] = ccn.select %arg0, %arg1, %arg1 : (tensor<8xi1>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8xf32>
ccn.program @no_select_of_scalar(%c: tensor<8xi1> {ccn.name = "c"}, %x: tensor<f32> {ccn.name = "x"})
    -> (tensor<8xf32> {ccn.name = "r0"}) {
  %0 = ccn.select %c, %x, %x : (tensor<8xi1>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  ccn.return %0 : tensor<8xf32>
}

// The result is local, the operand is not.
// CHECK-LABEL: ccn.program @no_select_with_local_condition(
// CHECK-NEXT: %[[V0:.*]] = ccn.select %arg0, %arg1, %arg1 : (tensor<i1, #ccn.layout<@m, [], local = {"a"}>>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>
ccn.program @no_select_with_local_condition(%c: tensor<i1, #s_local> {ccn.name = "c"}, %x: tensor<8xf32> {ccn.name = "x"})
    -> (tensor<8xf32, #v_local> {ccn.name = "r0"}) {
  %0 = ccn.select %c, %x, %x : (tensor<i1, #s_local>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32, #v_local>
  ccn.return %0 : tensor<8xf32, #v_local>
}

// Constants come last in what commutes, once each.
// CHECK-LABEL: ccn.program @constants(
// CHECK-NEXT: %[[V0:.*]] = ccn.constant 2.000000e+00 : f32
// CHECK-NEXT: %[[V1:.*]] = ccn.mul %arg0, %[[V0]] : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: %[[V2:.*]] = ccn.sub %[[V0]], %[[V1]] : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V2]] : tensor<8xf32>
ccn.program @constants(%x: tensor<8xf32> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "r0"}) {
  %0 = ccn.constant 2.0 : f32
  %1 = ccn.constant 2.0 : f32
  %2 = ccn.mul %0, %x : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = ccn.sub %1, %2 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  ccn.return %3 : tensor<8xf32>
}

// What has no effect and no use goes, communication too.
// CHECK-LABEL: ccn.program @unused(
// CHECK-NEXT: ccn.return
ccn.program @unused(%x: tensor<8xf32, #v_sum> {ccn.name = "x"}) {
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf32, #v_sum>) -> tensor<8xf32>
  ccn.return
}

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

// CHECK-LABEL: ccn.program @reshard_nothing(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @reshard_nothing(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32, #rows>
  ccn.return %0 : tensor<8x4xf32, #rows>
}

// The name of the second stays.
// CHECK-LABEL: ccn.program @reshard_of_reshard(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 {ccn.let = "r"} : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>> to tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>
ccn.program @reshard_of_reshard(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols_b> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32>
  %1 = ccn.reshard %0 {ccn.let = "r"} : tensor<8x4xf32> to tensor<8x4xf32, #cols_b>
  ccn.return %1 : tensor<8x4xf32, #cols_b>
}

// CHECK-LABEL: ccn.program @reshard_and_back(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @reshard_and_back(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32>
  %1 = ccn.reshard %0 : tensor<8x4xf32> to tensor<8x4xf32, #rows>
  ccn.return %1 : tensor<8x4xf32, #rows>
}

// What is reduced at once may be reduced later.
// CHECK-LABEL: ccn.program @reshard_of_partial(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>> to tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @reshard_of_partial(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum> to tensor<8x4xf32>
  %1 = ccn.reshard %0 : tensor<8x4xf32> to tensor<8x4xf32, #rows>
  ccn.return %1 : tensor<8x4xf32, #rows>
}

// The parts stay the parts.
// CHECK-LABEL: ccn.program @reshard_of_partial_as_local(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>> to tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}], local = {"a"}>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}], local = {"a"}>>
ccn.program @reshard_of_partial_as_local(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_b_local> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum_ab> to tensor<8x4xf32, #sum_local>
  %1 = ccn.reshard %0 : tensor<8x4xf32, #sum_local> to tensor<8x4xf32, #rows_b_local>
  ccn.return %1 : tensor<8x4xf32, #rows_b_local>
}

// The reduced value serves as local, not the parts: no.
// CHECK-LABEL: ccn.program @no_reshard_of_reduced_as_local(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>> to tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.reshard %[[V0]] : tensor<8x4xf32> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
ccn.program @no_reshard_of_reduced_as_local(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #local> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum> to tensor<8x4xf32>
  %1 = ccn.reshard %0 : tensor<8x4xf32> to tensor<8x4xf32, #local>
  ccn.return %1 : tensor<8x4xf32, #local>
}

// A sliced value does not become local at once: no.
// CHECK-LABEL: ccn.program @no_reshard_of_gathered_as_local(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>> to tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.reshard %[[V0]] : tensor<8x4xf32> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
ccn.program @no_reshard_of_gathered_as_local(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #local> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32>
  %1 = ccn.reshard %0 : tensor<8x4xf32> to tensor<8x4xf32, #local>
  ccn.return %1 : tensor<8x4xf32, #local>
}

// The second is free after the first: no.
// CHECK-LABEL: ccn.program @no_reshard_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>> to tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.reshard %[[V0]] : tensor<8x4xf32> to tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V0]], %[[V1]] : tensor<8x4xf32>, tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @no_reshard_used_twice(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}, tensor<8x4xf32, #cols> {ccn.name = "r1"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32>
  %1 = ccn.reshard %0 : tensor<8x4xf32> to tensor<8x4xf32, #cols>
  ccn.return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32, #cols>
}
