// ccn-overlap: a pipeline from the gather on, around its axis.
// RUN: ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-overlap{values=ag,m,p chunks=3}))' | FileCheck %s

ccn.mesh @g ["a" = 2]

// CHECK: %[[O:.*]]:2 = ccn.overlapped chunks(3) dims [0, 0] ring("a") {
// CHECK:   ccn.all_gather
// CHECK:   ccn.add
// CHECK:   ccn.mul
// CHECK:   ccn.yield
// CHECK: ccn.update %arg1 with %[[O]]#0
// CHECK: ccn.update %arg2 with %[[O]]#1
ccn.program @f(%x: tensor<5xf32, #ccn.layout<@g, [{"a"}]>> {ccn.name = "x"}, %m: tensor<5xf32> {ccn.inout, ccn.name = "m"}, %p: tensor<5xf32> {ccn.inout, ccn.name = "p"}) {
  %0 = ccn.all_gather %x along <@g, ["a"]> {ccn.let = "ag"} : (tensor<5xf32, #ccn.layout<@g, [{"a"}]>>) -> tensor<5xf32>
  %1 = ccn.add %m, %0 {ccn.let = "m"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %2 = ccn.update %m with %1 {ccn.let = "m"} : tensor<5xf32>
  %3 = ccn.mul %2, %p {ccn.let = "p"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %4 = ccn.update %p with %3 {ccn.let = "p"} : tensor<5xf32>
  ccn.return
}
