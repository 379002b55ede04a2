// Canonicalization of gathers beside slices and reductions: every pattern and folder, and what must not be rewritten.
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
