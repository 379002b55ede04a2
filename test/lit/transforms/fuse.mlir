// ccn-fuse: one region, which yields what is needed after it.
// RUN: ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-reorder{value=ag after=p,m},ccn-fuse{values=m,p}))' | FileCheck %s

ccn.mesh @g ["a" = 2]

// CHECK: %[[K:.*]]:2 = ccn.fused collective_compute {
// CHECK: ccn.add
// CHECK: ccn.mul
// CHECK: ccn.yield
// CHECK: ccn.update %arg1 with %[[K]]#0
// CHECK: ccn.update %arg2 with %[[K]]#1
ccn.program @f(%x: tensor<5xf32, #ccn.layout<@g, [{"a"}]>> {ccn.name = "x"}, %m: tensor<5xf32> {ccn.inout, ccn.name = "m"}, %p: tensor<5xf32> {ccn.inout, ccn.name = "p"}) {
  %0 = ccn.all_gather %x along <@g, ["a"]> {ccn.let = "ag"} : (tensor<5xf32, #ccn.layout<@g, [{"a"}]>>) -> tensor<5xf32>
  %1 = ccn.add %m, %0 {ccn.let = "m"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %2 = ccn.update %m with %1 {ccn.let = "m"} : tensor<5xf32>
  %3 = ccn.mul %2, %p {ccn.let = "p"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %4 = ccn.update %p with %3 {ccn.let = "p"} : tensor<5xf32>
  ccn.return
}
