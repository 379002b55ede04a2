// ccn.dropout: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // CHECK: ccn.dropout %{{.*}}, %{{.*}} rate 1.000000e-01 : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  %0 = ccn.dropout %x, %s rate 1.000000e-01 : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  ccn.return
}

// Any floating-point type, any integer as seed, no elements, the least rate.
// CHECK-LABEL: ccn.program @types
ccn.program @types(%a: tensor<f16> {ccn.name = "a"},
    %b: tensor<0x3xbf16> {ccn.name = "b"},
    %c: tensor<8xf8E5M2> {ccn.name = "c"},
    %s: tensor<ui8> {ccn.name = "s"},
    %t: tensor<i32> {ccn.name = "t"}) {
  // CHECK: ccn.dropout %{{.*}}, %{{.*}} rate 0.000000e+00 : (tensor<f16>, tensor<ui8>) -> tensor<f16>
  %0 = ccn.dropout %a, %s rate 0.0 : (tensor<f16>, tensor<ui8>) -> tensor<f16>
  // CHECK: ccn.dropout %{{.*}}, %{{.*}} rate 5.000000e-01 : (tensor<0x3xbf16>, tensor<i32>) -> tensor<0x3xbf16>
  %1 = ccn.dropout %b, %t rate 0.5 : (tensor<0x3xbf16>, tensor<i32>) -> tensor<0x3xbf16>
  // CHECK: ccn.dropout %{{.*}}, %{{.*}} rate 0.98999999999999999 : (tensor<8xf8E5M2>, tensor<ui8>) -> tensor<8xf8E5M2>
  %2 = ccn.dropout %c, %s rate 9.9e-01 : (tensor<8xf8E5M2>, tensor<ui8>) -> tensor<8xf8E5M2>
  ccn.return
}

// CHECK-LABEL: ccn.program @layouts
ccn.program @layouts(%a: tensor<8x4xf32, #rows> {ccn.name = "a"},
    %b: tensor<8x4xf32, #local> {ccn.name = "b"},
    %c: tensor<8x4xf32, #rows_ab> {ccn.name = "c"},
    %s: tensor<i64> {ccn.name = "s"}) {
  // CHECK: ccn.dropout %{{.*}}, %{{.*}} rate 5.000000e-01 : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<i64>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.dropout %a, %s rate 0.5 : (tensor<8x4xf32, #rows>, tensor<i64>) -> tensor<8x4xf32, #rows>
  // CHECK: ccn.dropout %{{.*}}, %{{.*}} rate 5.000000e-01 : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>, tensor<i64>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %1 = ccn.dropout %b, %s rate 0.5 : (tensor<8x4xf32, #local>, tensor<i64>) -> tensor<8x4xf32, #local>
  // CHECK: ccn.dropout %{{.*}}, %{{.*}} rate 5.000000e-01 : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>, tensor<i64>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %2 = ccn.dropout %c, %s rate 0.5 : (tensor<8x4xf32, #rows_ab>, tensor<i64>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}
