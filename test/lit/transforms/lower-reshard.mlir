// ccn-lower-reshard: every change of layout, by the cheapest way.
// RUN: ccn-opt %s -ccn-lower-reshard | FileCheck %s
// RUN: ccn-opt %s -ccn-lower-reshard -canonicalize -ccn-lower-reshard -o %t

#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#local_ab = #ccn.layout<@m, [{}, {}], local = {"a", "b"}>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#s_sum_ab = #ccn.layout<@m, [], partial<sum> = {"a", "b"}>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#rows_b = #ccn.layout<@m, [{"b"}, {}]>
#cols_rows = #ccn.layout<@m, [{"b"}, {"a"}]>
#cut_ab = #ccn.layout<@m, [{"a", "b"}]>
#cut_ba = #ccn.layout<@m, [{"b", "a"}]>
#cols_b = #ccn.layout<@m, [{}, {"b"}]>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#sum_b = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>
#local_b = #ccn.layout<@m, [{}, {}], local = {"b"}>
#rows_b_sum = #ccn.layout<@m, [{"b"}, {}], partial<sum> = {"a"}>
#cut_abc = #ccn.layout<@m, [{"a", "b", "c"}]>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

//===----------------------------------------------------------------------===//
// One axis
//===----------------------------------------------------------------------===//

// CHECK-LABEL: ccn.program @nothing(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @nothing(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32, #rows>
  ccn.return %0 : tensor<8x4xf32, #rows>
}

// CHECK-LABEL: ccn.program @slice(
// CHECK-NEXT: %[[V0:.*]] = ccn.slice %arg0 into 1 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @slice(%x: tensor<8x4xf32> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<8x4xf32, #cols>
  ccn.return %0 : tensor<8x4xf32, #cols>
}

// CHECK-LABEL: ccn.program @all_gather(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32>
ccn.program @all_gather(%x: tensor<8x4xf32, #cols> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #cols> to tensor<8x4xf32>
  ccn.return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @all_to_all(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_to_all %arg0 from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @all_to_all(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32, #cols>
  ccn.return %0 : tensor<8x4xf32, #cols>
}

// CHECK-LABEL: ccn.program @all_reduce(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce max %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32>
ccn.program @all_reduce(%x: tensor<8x4xf32, #max> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #max> to tensor<8x4xf32>
  ccn.return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @reduce_scatter(
// CHECK-NEXT: %[[V0:.*]] = ccn.reduce_scatter sum %arg0 into 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @reduce_scatter(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum> to tensor<8x4xf32, #cols>
  ccn.return %0 : tensor<8x4xf32, #cols>
}

// CHECK-LABEL: ccn.program @scalar(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a"]> : (tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a"}>>) -> tensor<f32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<f32>
ccn.program @scalar(%x: tensor<f32, #s_sum> {ccn.name = "x"}) -> (tensor<f32> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<f32, #s_sum> to tensor<f32>
  ccn.return %0 : tensor<f32>
}

// A value that only serves as local moves nothing.
// CHECK-LABEL: ccn.program @kept_replicated_as_local(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
ccn.program @kept_replicated_as_local(%x: tensor<8x4xf32> {ccn.name = "x"})
    -> (tensor<8x4xf32, #local> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<8x4xf32, #local>
  ccn.return %0 : tensor<8x4xf32, #local>
}

// CHECK-LABEL: ccn.program @kept_partial_as_local(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
ccn.program @kept_partial_as_local(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #local> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum> to tensor<8x4xf32, #local>
  ccn.return %0 : tensor<8x4xf32, #local>
}

// CHECK-LABEL: ccn.program @kept_on_two_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a", "b"}>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a", "b"}>>
ccn.program @kept_on_two_axes(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #local_ab> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum> to tensor<8x4xf32, #local_ab>
  ccn.return %0 : tensor<8x4xf32, #local_ab>
}

// Every operation has the name of the reshard.
// CHECK-LABEL: ccn.program @name(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["b"]> {ccn.let = "y"} : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_to_all %[[V0]] from 0 to 1 along <@m, ["a"]> {ccn.let = "y"} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: %[[V2:.*]] = ccn.slice %[[V1]] into 0 along <@m, ["b"]> {ccn.let = "y"} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {"a"}]>>
// CHECK-NEXT: %[[V3:.*]] = ccn.all_to_all %[[V2]] from 1 to 0 along <@m, ["a"]> {ccn.let = "y"} : (tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {"a"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V3]] : tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
ccn.program @name(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_ba> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x {ccn.let = "y"} : tensor<8x4xf32, #rows_ab> to tensor<8x4xf32, #rows_ba>
  ccn.return %0 : tensor<8x4xf32, #rows_ba>
}

//===----------------------------------------------------------------------===//
// Several axes
//===----------------------------------------------------------------------===//

// Reducing along both at once moves fewer bytes than one after the other.
// CHECK-LABEL: ccn.program @all_reduce_two_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32>
ccn.program @all_reduce_two_axes(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum_ab> to tensor<8x4xf32>
  ccn.return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @all_reduce_scalar_two_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a", "b"]> : (tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a", "b"}>>) -> tensor<f32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<f32>
ccn.program @all_reduce_scalar_two_axes(%x: tensor<f32, #s_sum_ab> {ccn.name = "x"}) -> (tensor<f32> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<f32, #s_sum_ab> to tensor<f32>
  ccn.return %0 : tensor<f32>
}

// The first axis cuts first.
// CHECK-LABEL: ccn.program @reduce_scatter_two_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.reduce_scatter sum %arg0 into 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
ccn.program @reduce_scatter_two_axes(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_ab> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum_ab> to tensor<8x4xf32, #rows_ab>
  ccn.return %0 : tensor<8x4xf32, #rows_ab>
}

// CHECK-LABEL: ccn.program @reduce_scatter_other_order(
// CHECK-NEXT: %[[V0:.*]] = ccn.reduce_scatter sum %arg0 into 0 along <@m, ["b", "a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
ccn.program @reduce_scatter_other_order(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_ba> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum_ab> to tensor<8x4xf32, #rows_ba>
  ccn.return %0 : tensor<8x4xf32, #rows_ba>
}

// CHECK-LABEL: ccn.program @reduce_scatter_two_dimensions(
// CHECK-NEXT: %[[V0:.*]] = ccn.reduce_scatter sum %arg0 into 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.reduce_scatter sum %[[V0]] into 1 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
ccn.program @reduce_scatter_two_dimensions(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_cols> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum_ab> to tensor<8x4xf32, #rows_cols>
  ccn.return %0 : tensor<8x4xf32, #rows_cols>
}

// CHECK-LABEL: ccn.program @slice_two_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.slice %arg0 into 0 along <@m, ["b", "a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
ccn.program @slice_two_axes(%x: tensor<8x4xf32> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_ba> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<8x4xf32, #rows_ba>
  ccn.return %0 : tensor<8x4xf32, #rows_ba>
}

// CHECK-LABEL: ccn.program @slice_two_dimensions(
// CHECK-NEXT: %[[V0:.*]] = ccn.slice %arg0 into 0 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.slice %[[V0]] into 1 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
ccn.program @slice_two_dimensions(%x: tensor<8x4xf32> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_cols> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<8x4xf32, #rows_cols>
  ccn.return %0 : tensor<8x4xf32, #rows_cols>
}

// CHECK-LABEL: ccn.program @slice_inside(
// CHECK-NEXT: %[[V0:.*]] = ccn.slice %arg0 into 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
ccn.program @slice_inside(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_ab> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32, #rows_ab>
  ccn.return %0 : tensor<8x4xf32, #rows_ab>
}

// CHECK-LABEL: ccn.program @gather_two_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32>
ccn.program @gather_two_axes(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_ab> to tensor<8x4xf32>
  ccn.return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @gather_two_dimensions(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32>
ccn.program @gather_two_dimensions(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_cols> to tensor<8x4xf32>
  ccn.return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @gather_inner(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
ccn.program @gather_inner(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_ab> to tensor<8x4xf32, #rows>
  ccn.return %0 : tensor<8x4xf32, #rows>
}

// The inner axis must be moved out of the way.
// CHECK-LABEL: ccn.program @gather_outer(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_to_all %arg0 from 0 to 1 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>
// CHECK-NEXT: %[[V2:.*]] = ccn.all_to_all %[[V1]] from 1 to 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}]>>
// CHECK-NEXT: ccn.return %[[V2]] : tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}]>>
ccn.program @gather_outer(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_b> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_ab> to tensor<8x4xf32, #rows_b>
  ccn.return %0 : tensor<8x4xf32, #rows_b>
}

// Two axes change places: through the other dimension.
// CHECK-LABEL: ccn.program @swap(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_to_all %[[V0]] from 1 to 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}]>>
// CHECK-NEXT: %[[V2:.*]] = ccn.slice %[[V1]] into 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V2]] : tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {"a"}]>>
ccn.program @swap(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols_rows> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_cols> to tensor<8x4xf32, #cols_rows>
  ccn.return %0 : tensor<8x4xf32, #cols_rows>
}

// CHECK-LABEL: ccn.program @reorder(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_to_all %[[V0]] from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: %[[V2:.*]] = ccn.slice %[[V1]] into 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {"a"}]>>
// CHECK-NEXT: %[[V3:.*]] = ccn.all_to_all %[[V2]] from 1 to 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {"a"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
// CHECK-NEXT: ccn.return %[[V3]] : tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
ccn.program @reorder(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_ba> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_ab> to tensor<8x4xf32, #rows_ba>
  ccn.return %0 : tensor<8x4xf32, #rows_ba>
}

// With one dimension there is no other way than to gather.
// CHECK-LABEL: ccn.program @reorder_vector(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a", "b"]> : (tensor<8xf32, #ccn.layout<@m, [{"a", "b"}]>>) -> tensor<8xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.slice %[[V0]] into 0 along <@m, ["b", "a"]> : (tensor<8xf32>) -> tensor<8xf32, #ccn.layout<@m, [{"b", "a"}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf32, #ccn.layout<@m, [{"b", "a"}]>>
ccn.program @reorder_vector(%x: tensor<8xf32, #cut_ab> {ccn.name = "x"})
    -> (tensor<8xf32, #cut_ba> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8xf32, #cut_ab> to tensor<8xf32, #cut_ba>
  ccn.return %0 : tensor<8xf32, #cut_ba>
}

// The new cut is free and comes first: less is gathered.
// CHECK-LABEL: ccn.program @replace_axis(
// CHECK-NEXT: %[[V0:.*]] = ccn.slice %arg0 into 1 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>
ccn.program @replace_axis(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols_b> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32, #cols_b>
  ccn.return %0 : tensor<8x4xf32, #cols_b>
}

// CHECK-LABEL: ccn.program @reduce_and_slice(
// CHECK-NEXT: %[[V0:.*]] = ccn.slice %arg0 into 0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}], partial<sum> = {"a"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %[[V0]] along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}]>>
ccn.program @reduce_and_slice(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_b> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum> to tensor<8x4xf32, #rows_b>
  ccn.return %0 : tensor<8x4xf32, #rows_b>
}

// CHECK-LABEL: ccn.program @partial_and_sliced(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_to_all %arg0 from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}], partial<sum> = {"b"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %[[V0]] along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @partial_and_sliced(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_sum> to tensor<8x4xf32, #cols>
  ccn.return %0 : tensor<8x4xf32, #cols>
}

// A pending reduction that stays moves nothing.
// CHECK-LABEL: ccn.program @partial_kept(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>>
ccn.program @partial_kept(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #sum_b> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum_ab> to tensor<8x4xf32, #sum_b>
  ccn.return %0 : tensor<8x4xf32, #sum_b>
}

// CHECK-LABEL: ccn.program @local_kept(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>
ccn.program @local_kept(%x: tensor<8x4xf32, #rows_local> {ccn.name = "x"})
    -> (tensor<8x4xf32, #local_b> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_local> to tensor<8x4xf32, #local_b>
  ccn.return %0 : tensor<8x4xf32, #local_b>
}

// The parts serve as local values; they are not reduced on the way.
// CHECK-LABEL: ccn.program @relabel_and_gather(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}], partial<sum> = {"a"}>> to tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}], local = {"a"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}], local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
ccn.program @relabel_and_gather(%x: tensor<8x4xf32, #rows_b_sum> {ccn.name = "x"})
    -> (tensor<8x4xf32, #local> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_b_sum> to tensor<8x4xf32, #local>
  ccn.return %0 : tensor<8x4xf32, #local>
}

// CHECK-LABEL: ccn.program @relabel_and_reduce(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_reduce sum %[[V0]] along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
ccn.program @relabel_and_reduce(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"})
    -> (tensor<8x4xf32, #local> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum_ab> to tensor<8x4xf32, #local>
  ccn.return %0 : tensor<8x4xf32, #local>
}

// CHECK-LABEL: ccn.program @replicated_as_local_and_slice(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshard %arg0 : tensor<8x4xf32> to tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.slice %[[V0]] into 0 along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>
ccn.program @replicated_as_local_and_slice(%x: tensor<8x4xf32> {ccn.name = "x"})
    -> (tensor<8x4xf32, #rows_local> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<8x4xf32, #rows_local>
  ccn.return %0 : tensor<8x4xf32, #rows_local>
}

// CHECK-LABEL: ccn.program @partial_and_sliced_to_replicated(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["b"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x4xf32>
ccn.program @partial_and_sliced_to_replicated(%x: tensor<8x4xf32, #rows_sum> {ccn.name = "x"})
    -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_sum> to tensor<8x4xf32>
  ccn.return %0 : tensor<8x4xf32>
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

// Nothing moves in any way: the fewest collectives.
// CHECK-LABEL: ccn.program @empty(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_reduce sum %arg0 along <@m, ["b"]> : (tensor<0x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<0x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_to_all %[[V0]] from 0 to 1 along <@m, ["a"]> : (tensor<0x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<0x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<0x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @empty(%x: tensor<0x4xf32, #rows_sum> {ccn.name = "x"})
    -> (tensor<0x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<0x4xf32, #rows_sum> to tensor<0x4xf32, #cols>
  ccn.return %0 : tensor<0x4xf32, #cols>
}

// CHECK-LABEL: ccn.program @odd(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_to_all %arg0 from 0 to 1 along <@m, ["a"]> : (tensor<7x3xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<7x3xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<7x3xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @odd(%x: tensor<7x3xf32, #rows> {ccn.name = "x"})
    -> (tensor<7x3xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<7x3xf32, #rows> to tensor<7x3xf32, #cols>
  ccn.return %0 : tensor<7x3xf32, #cols>
}

// CHECK-LABEL: ccn.program @small(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_to_all %arg0 from 0 to 1 along <@m, ["a"]> : (tensor<1x1xi1, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<1x1xi1, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<1x1xi1, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @small(%x: tensor<1x1xi1, #rows> {ccn.name = "x"})
    -> (tensor<1x1xi1, #cols> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<1x1xi1, #rows> to tensor<1x1xi1, #cols>
  ccn.return %0 : tensor<1x1xi1, #cols>
}

// CHECK-LABEL: ccn.program @three_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a", "b", "c"]> : (tensor<8xf32, #ccn.layout<@m, [{"a", "b", "c"}]>>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8xf32>
ccn.program @three_axes(%x: tensor<8xf32, #cut_abc> {ccn.name = "x"})
    -> (tensor<8xf32> {ccn.name = "r0"}) {
  %0 = ccn.reshard %x : tensor<8xf32, #cut_abc> to tensor<8xf32>
  ccn.return %0 : tensor<8xf32>
}
