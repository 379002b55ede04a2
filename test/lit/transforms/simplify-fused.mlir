// A kernel of collectives that are all the same is none: the one that is left needs no kernel.
// RUN: ccn-opt %s -pass-pipeline='builtin.module(ccn.program(ccn-simplify))' | FileCheck %s

#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2]

// CHECK-LABEL: ccn.program @equal
// CHECK-NOT:   ccn.fused
// CHECK:       [[X:%.*]] = ccn.broadcast %arg0 from 1
// CHECK-NOT:   ccn.broadcast
// CHECK:       ccn.return [[X]], [[X]]
ccn.program @equal(%x: tensor<8xf32, #local> {ccn.name = "x"})
    -> (tensor<8xf32> {ccn.name = "y"}, tensor<8xf32> {ccn.name = "z"}) {
  %0:2 = ccn.fused collectives {
    %1 = ccn.broadcast %x from 1 along <@m, ["a"]> : (tensor<8xf32, #local>) -> tensor<8xf32>
    %2 = ccn.broadcast %x from 1 along <@m, ["a"]> : (tensor<8xf32, #local>) -> tensor<8xf32>
    ccn.yield %1, %2 : tensor<8xf32>, tensor<8xf32>
  } : tensor<8xf32>, tensor<8xf32>
  ccn.return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
