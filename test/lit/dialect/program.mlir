// ccn.program, ccn.return and ccn.update: text form.
// RUN: ccn-opt %s | FileCheck %s

#cut = #ccn.layout<@m, [{"a"}]>
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2]

// CHECK-LABEL: ccn.program @empty() {
// CHECK-NEXT: ccn.return
ccn.program @empty() {
  ccn.return
}

// CHECK-LABEL: ccn.program private @hidden()
ccn.program private @hidden() {
  ccn.return
}

// Names of arguments and results; other attributes stay.
// CHECK-LABEL: ccn.program @results(%arg0: tensor<8xf32> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "y"}, tensor<f32> {ccn.name = "z"})
// CHECK: ccn.return %arg0, %{{.*}} : tensor<8xf32>, tensor<f32>
ccn.program @results(%x: tensor<8xf32> {ccn.name = "x"})
    -> (tensor<8xf32> {ccn.name = "y"}, tensor<f32> {ccn.name = "z"}) {
  %0 = ccn.constant 1.0 : f32
  ccn.return %x, %0 : tensor<8xf32>, tensor<f32>
}

// A result may have no argument's name, an inout argument is no result.
// CHECK-LABEL: ccn.program @updates(
// CHECK-SAME: %[[P:.*]]: tensor<8xf32> {ccn.inout, ccn.name = "p"}
// CHECK-SAME: %[[S:.*]]: tensor<8xf32, #ccn.layout<@m, [{"a"}]>> {ccn.inout, ccn.name = "s"}
ccn.program @updates(%p: tensor<8xf32> {ccn.name = "p", ccn.inout},
                     %s: tensor<8xf32, #cut> {ccn.name = "s", ccn.inout}) {
  %0 = ccn.neg %p {ccn.let = "n"} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: %[[P1:.*]] = ccn.update %[[P]] with %{{.*}} {ccn.let = "p"} : tensor<8xf32>
  %p1 = ccn.update %p with %0 {ccn.let = "p"} : tensor<8xf32>
  // The next update takes the result of this one.
  // CHECK: ccn.update %[[P1]] with %[[P]] : tensor<8xf32>
  %p2 = ccn.update %p1 with %p : tensor<8xf32>
  // CHECK: ccn.update %[[S]] with %[[S]] : tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
  %s1 = ccn.update %s with %s : tensor<8xf32, #cut>
  ccn.return
}

// CHECK-LABEL: ccn.program @scattered(
// CHECK-SAME: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "g", ccn.scattered}
// CHECK-SAME: tensor<0xf32> {ccn.inout, ccn.name = "h", ccn.scattered}
ccn.program @scattered(%g: tensor<8xf32, #local> {ccn.name = "g", ccn.scattered},
                       %h: tensor<0xf32> {ccn.name = "h", ccn.scattered, ccn.inout}) {
  ccn.return
}

// The largest tensor: its size in bytes fits 64 bits.
// CHECK-LABEL: ccn.program @large
// CHECK-SAME: tensor<1152921504606846975xi8>
ccn.program @large(%x: tensor<1152921504606846975xi8> {ccn.name = "x"}) {
  ccn.return
}

// The module says which phase made it.
// CHECK: module attributes {ccn.phase = "parse"}
module attributes {ccn.phase = "parse"} {
}
