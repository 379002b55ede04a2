// ccn.iota: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// Of any element type, and of no elements; the largest index.
// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%a: tensor<8x4xf32> {ccn.name = "a"},
    %b: tensor<0x3xi1> {ccn.name = "b"}) {
  // CHECK: ccn.iota %{{.*}} dim 1 : (tensor<8x4xf32>) -> tensor<8x4xi64>
  %0 = ccn.iota %a dim 1 : (tensor<8x4xf32>) -> tensor<8x4xi64>
  // CHECK: ccn.iota %{{.*}} dim 0 : (tensor<0x3xi1>) -> tensor<0x3xi64>
  %1 = ccn.iota %b dim 0 from 0 : (tensor<0x3xi1>) -> tensor<0x3xi64>
  // CHECK: ccn.iota %{{.*}} dim 0 from 9223372036854775799 : (tensor<8x4xf32>) -> tensor<8x4xi64>
  %2 = ccn.iota %a dim 0 from 9223372036854775799 : (tensor<8x4xf32>) -> tensor<8x4xi64>
  ccn.return
}

// CHECK-LABEL: ccn.program @layouts
ccn.program @layouts(%a: tensor<8x4xf32, #rows> {ccn.name = "a"},
    %b: tensor<8x4xf32, #local> {ccn.name = "b"}) {
  // CHECK: ccn.iota %{{.*}} dim 0 : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xi64, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.iota %a dim 0 : (tensor<8x4xf32, #rows>) -> tensor<8x4xi64, #rows>
  // CHECK: ccn.iota %{{.*}} dim 0 : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xi64, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %1 = ccn.iota %b dim 0 : (tensor<8x4xf32, #local>) -> tensor<8x4xi64, #local>
  ccn.return
}
