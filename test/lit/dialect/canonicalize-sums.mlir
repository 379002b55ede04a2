// Canonicalization of sums of reductions: every pattern and folder, and what must not be rewritten.
// RUN: ccn-opt %s -canonicalize | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#sum_b = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

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
