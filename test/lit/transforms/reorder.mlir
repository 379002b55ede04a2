// ccn-reorder: what follows runs on slices, and stays whole where it is stored.
// RUN: ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-reorder{value=ag after=p}))' | FileCheck %s

ccn.mesh @g ["a" = 2]

// CHECK: %[[M:.*]] = ccn.add
// CHECK-SAME: -> tensor<5xf32, #ccn.layout<@g, [{"a"}]>>
// CHECK: %[[G:.*]] = ccn.all_gather %[[M]]
// CHECK: ccn.update %arg1 with %[[G]]
// CHECK: %[[P:.*]] = ccn.mul %[[M]], %arg2
// CHECK: %[[W:.*]] = ccn.all_gather %[[P]]
// CHECK: ccn.update %arg2 with %[[W]]
ccn.program @f(%x: tensor<5xf32, #ccn.layout<@g, [{"a"}]>> {ccn.name = "x"}, %m: tensor<5xf32> {ccn.inout, ccn.name = "m"}, %p: tensor<5xf32> {ccn.inout, ccn.name = "p"}) {
  %0 = ccn.all_gather %x along <@g, ["a"]> {ccn.let = "ag"} : (tensor<5xf32, #ccn.layout<@g, [{"a"}]>>) -> tensor<5xf32>
  %1 = ccn.add %m, %0 {ccn.let = "m"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %2 = ccn.update %m with %1 {ccn.let = "m"} : tensor<5xf32>
  %3 = ccn.mul %2, %p {ccn.let = "p"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %4 = ccn.update %p with %3 {ccn.let = "p"} : tensor<5xf32>
  ccn.return
}
