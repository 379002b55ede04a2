// ccn-slice-state: the argument, what is computed from it and its stores become sliced.
// RUN: ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-reorder{value=ag after=p},ccn-slice-state{arguments=m}))' | FileCheck %s
// RUN: not ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-slice-state{arguments=q}))' 2>&1 | FileCheck %s --check-prefix=NAME

ccn.mesh @g ["a" = 2]

// CHECK-LABEL: ccn.program @f
// CHECK-SAME: %arg1: tensor<5xf32, #ccn.layout<@g, [{"a"}]>> {ccn.inout, ccn.name = "m"}
// CHECK: %[[M:.*]] = ccn.add %arg1, %arg0 {{.*}} -> tensor<5xf32, #ccn.layout<@g, [{"a"}]>>
// CHECK: ccn.update %arg1 with %[[M]]
// CHECK: %[[P:.*]] = ccn.mul %[[M]], %arg2
// CHECK: %[[W:.*]] = ccn.all_gather %[[P]]
// CHECK: ccn.update %arg2 with %[[W]]
// NAME: error: program 'f' has no argument 'q'
ccn.program @f(%x: tensor<5xf32, #ccn.layout<@g, [{"a"}]>> {ccn.name = "x"}, %m: tensor<5xf32> {ccn.inout, ccn.name = "m"}, %p: tensor<5xf32> {ccn.inout, ccn.name = "p"}) {
  %0 = ccn.all_gather %x along <@g, ["a"]> {ccn.let = "ag"} : (tensor<5xf32, #ccn.layout<@g, [{"a"}]>>) -> tensor<5xf32>
  %1 = ccn.add %m, %0 {ccn.let = "m"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %2 = ccn.update %m with %1 {ccn.let = "m"} : tensor<5xf32>
  %3 = ccn.mul %2, %p {ccn.let = "p"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %4 = ccn.update %p with %3 {ccn.let = "p"} : tensor<5xf32>
  ccn.return
}
