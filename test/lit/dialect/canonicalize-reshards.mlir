// Canonicalization of reshards: every pattern and folder, and what must not be rewritten.
// RUN: ccn-opt %s -canonicalize | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#cols_b = #ccn.layout<@m, [{}, {"b"}]>
#rows_b_local = #ccn.layout<@m, [{"b"}, {}], local = {"a"}>
#sum_local = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

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
