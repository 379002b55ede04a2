// ccn-order and ccn-choose: attributes of the collective.
// RUN: ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-order{values=ag}),ccn-choose{what=sms value=ag choice=8},ccn-choose{what=algorithm value=ag choice=ring})' | FileCheck %s
// RUN: not ccn-opt %s --pass-pipeline='builtin.module(ccn-choose{what=sms value=none choice=8})' 2>&1 | FileCheck %s --check-prefix=NOVALUE
// RUN: not ccn-opt %s --pass-pipeline='builtin.module(ccn-choose{what=colour value=ag choice=red})' 2>&1 | FileCheck %s --check-prefix=WHAT
// RUN: not ccn-opt %s --pass-pipeline='builtin.module(ccn-choose{what=protocol value=ag choice=red})' 2>&1 | FileCheck %s --check-prefix=PROTOCOL

ccn.mesh @g ["a" = 2]

// CHECK: ccn.all_gather {{.*}} {ccn.algorithm = "ring", ccn.let = "ag", ccn.priority = 0 : i64, ccn.sms = 8 : i64}
// NOVALUE: error: no program has a value 'none'
// WHAT: error: expected 'algorithm', 'protocol' or 'sms', found 'colour'
// PROTOCOL: error: expected protocol 'simple', 'll', 'lamport' or 'push', found 'red'
ccn.program @f(%x: tensor<5xf32, #ccn.layout<@g, [{"a"}]>> {ccn.name = "x"}, %m: tensor<5xf32> {ccn.inout, ccn.name = "m"}, %p: tensor<5xf32> {ccn.inout, ccn.name = "p"}) {
  %0 = ccn.all_gather %x along <@g, ["a"]> {ccn.let = "ag"} : (tensor<5xf32, #ccn.layout<@g, [{"a"}]>>) -> tensor<5xf32>
  %1 = ccn.add %m, %0 {ccn.let = "m"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %2 = ccn.update %m with %1 {ccn.let = "m"} : tensor<5xf32>
  %3 = ccn.mul %2, %p {ccn.let = "p"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %4 = ccn.update %p with %3 {ccn.let = "p"} : tensor<5xf32>
  ccn.return
}
