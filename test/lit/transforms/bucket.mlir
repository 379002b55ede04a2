// ccn-bucket: one collective is its own bucket; sizes are checked.
// RUN: ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-bucket{values=ag size=64}))' | FileCheck %s
// RUN: not ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-bucket{values=ag size=0}))' 2>&1 | FileCheck %s --check-prefix=SIZE

ccn.mesh @g ["a" = 2]

// CHECK-NOT: ccn.fused
// CHECK: ccn.all_gather
// SIZE: error: expected a size of at least 1 byte, found 0
ccn.program @f(%x: tensor<5xf32, #ccn.layout<@g, [{"a"}]>> {ccn.name = "x"}, %m: tensor<5xf32> {ccn.inout, ccn.name = "m"}, %p: tensor<5xf32> {ccn.inout, ccn.name = "p"}) {
  %0 = ccn.all_gather %x along <@g, ["a"]> {ccn.let = "ag"} : (tensor<5xf32, #ccn.layout<@g, [{"a"}]>>) -> tensor<5xf32>
  %1 = ccn.add %m, %0 {ccn.let = "m"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %2 = ccn.update %m with %1 {ccn.let = "m"} : tensor<5xf32>
  %3 = ccn.mul %2, %p {ccn.let = "p"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %4 = ccn.update %p with %3 {ccn.let = "p"} : tensor<5xf32>
  ccn.return
}
