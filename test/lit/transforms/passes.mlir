// The passes do what the schedule operations do, by name.
// RUN: ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-reorder{value=ag after=p},ccn-slice-state{arguments=m}))' | FileCheck %s --check-prefix=STATE
// RUN: ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-reorder{value=ag after=p,m},ccn-fuse{values=m,p}))' | FileCheck %s --check-prefix=FUSE
// RUN: not ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-split{value=ag form=none}))' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-slice-state{arguments=q}))' 2>&1 | FileCheck %s --check-prefix=NAME

ccn.mesh @g ["a" = 2]

// m is read whole before p needs it in slices; p is gathered where it is stored
// STATE-LABEL: ccn.program @f
// STATE-SAME: %arg1: tensor<5xf32, #ccn.layout<@g, [{"a"}]>> {ccn.inout, ccn.name = "m"}
// STATE: %[[M:.*]] = ccn.add %arg1, %arg0 {{.*}} -> tensor<5xf32, #ccn.layout<@g, [{"a"}]>>
// STATE: ccn.update %arg1 with %[[M]]
// STATE: %[[P:.*]] = ccn.mul %[[M]], %arg2
// STATE: %[[W:.*]] = ccn.all_gather %[[P]]
// STATE: ccn.update %arg2 with %[[W]]

// FUSE: %[[K:.*]]:2 = ccn.fused collective_compute {
// FUSE: ccn.add
// FUSE: ccn.mul
// FUSE: ccn.yield
// FUSE: ccn.update %arg1 with %[[K]]#0
// FUSE: ccn.update %arg2 with %[[K]]#1

// FORM: error: expected form 'rs_ag', 'reduce_broadcast' or 'hierarchical', found 'none'
// NAME: error: program 'f' has no argument 'q'
ccn.program @f(%x: tensor<5xf32, #ccn.layout<@g, [{"a"}]>> {ccn.name = "x"}, %m: tensor<5xf32> {ccn.inout, ccn.name = "m"}, %p: tensor<5xf32> {ccn.inout, ccn.name = "p"}) {
  %0 = ccn.all_gather %x along <@g, ["a"]> {ccn.let = "ag"} : (tensor<5xf32, #ccn.layout<@g, [{"a"}]>>) -> tensor<5xf32>
  %1 = ccn.add %m, %0 {ccn.let = "m"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %2 = ccn.update %m with %1 {ccn.let = "m"} : tensor<5xf32>
  %3 = ccn.mul %2, %p {ccn.let = "p"} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %4 = ccn.update %p with %3 {ccn.let = "p"} : tensor<5xf32>
  ccn.return
}

// RUN: ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-overlap{values=ag,m,p chunks=3}))' | FileCheck %s --check-prefix=OVERLAP
// RUN: ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-order{values=ag}),ccn-choose{what=sms value=ag choice=8},ccn-choose{what=algorithm value=ag choice=ring})' | FileCheck %s --check-prefix=ORDER
// RUN: not ccn-opt %s --pass-pipeline='builtin.module(ccn-choose{what=sms value=none choice=8})' 2>&1 | FileCheck %s --check-prefix=NOVALUE
// RUN: not ccn-opt %s --pass-pipeline='builtin.module(ccn-choose{what=colour value=ag choice=red})' 2>&1 | FileCheck %s --check-prefix=WHAT
// RUN: not ccn-opt %s --pass-pipeline='builtin.module(ccn.program(ccn-bucket{values=ag size=0}))' 2>&1 | FileCheck %s --check-prefix=SIZE

// OVERLAP: %[[O:.*]]:2 = ccn.overlapped chunks(3) dims [0, 0] ring("a") {
// OVERLAP:   ccn.all_gather
// OVERLAP:   ccn.add
// OVERLAP:   ccn.mul
// OVERLAP:   ccn.yield
// OVERLAP: ccn.update %arg1 with %[[O]]#0
// OVERLAP: ccn.update %arg2 with %[[O]]#1
// ORDER: ccn.all_gather {{.*}} {ccn.algorithm = "ring", ccn.let = "ag", ccn.priority = 0 : i64, ccn.sms = 8 : i64}
// NOVALUE: error: no program has a value 'none'
// WHAT: error: expected 'algorithm', 'protocol' or 'sms', found 'colour'
// SIZE: error: expected a size of at least 1 byte, found 0
