// Canonicalization of selects, constants and what is not used: every pattern and folder, and what must not be rewritten.
// RUN: ccn-opt %s -canonicalize | FileCheck %s

#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
#s_local = #ccn.layout<@m, [], local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

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
