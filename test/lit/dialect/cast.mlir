// ccn.cast: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @element_types
ccn.program @element_types(%x: tensor<8xf32> {ccn.name = "x"}) {
  // CHECK: ccn.cast %{{.*}} to f64 : (tensor<8xf32>) -> tensor<8xf64>
  %0 = ccn.cast %x to f64 : (tensor<8xf32>) -> tensor<8xf64>
  // CHECK: ccn.cast %{{.*}} to f32 : (tensor<8xf32>) -> tensor<8xf32>
  %1 = ccn.cast %x to f32 : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.cast %{{.*}} to f16 : (tensor<8xf32>) -> tensor<8xf16>
  %2 = ccn.cast %x to f16 : (tensor<8xf32>) -> tensor<8xf16>
  // CHECK: ccn.cast %{{.*}} to bf16 : (tensor<8xf32>) -> tensor<8xbf16>
  %3 = ccn.cast %x to bf16 : (tensor<8xf32>) -> tensor<8xbf16>
  // CHECK: ccn.cast %{{.*}} to f8E4M3FN : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %4 = ccn.cast %x to f8E4M3FN : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  // CHECK: ccn.cast %{{.*}} to f8E5M2 : (tensor<8xf32>) -> tensor<8xf8E5M2>
  %5 = ccn.cast %x to f8E5M2 : (tensor<8xf32>) -> tensor<8xf8E5M2>
  // CHECK: ccn.cast %{{.*}} to i8 : (tensor<8xf32>) -> tensor<8xi8>
  %6 = ccn.cast %x to i8 : (tensor<8xf32>) -> tensor<8xi8>
  // CHECK: ccn.cast %{{.*}} to i16 : (tensor<8xf32>) -> tensor<8xi16>
  %7 = ccn.cast %x to i16 : (tensor<8xf32>) -> tensor<8xi16>
  // CHECK: ccn.cast %{{.*}} to i32 : (tensor<8xf32>) -> tensor<8xi32>
  %8 = ccn.cast %x to i32 : (tensor<8xf32>) -> tensor<8xi32>
  // CHECK: ccn.cast %{{.*}} to i64 : (tensor<8xf32>) -> tensor<8xi64>
  %9 = ccn.cast %x to i64 : (tensor<8xf32>) -> tensor<8xi64>
  // CHECK: ccn.cast %{{.*}} to ui8 : (tensor<8xf32>) -> tensor<8xui8>
  %10 = ccn.cast %x to ui8 : (tensor<8xf32>) -> tensor<8xui8>
  // CHECK: ccn.cast %{{.*}} to ui16 : (tensor<8xf32>) -> tensor<8xui16>
  %11 = ccn.cast %x to ui16 : (tensor<8xf32>) -> tensor<8xui16>
  // CHECK: ccn.cast %{{.*}} to ui32 : (tensor<8xf32>) -> tensor<8xui32>
  %12 = ccn.cast %x to ui32 : (tensor<8xf32>) -> tensor<8xui32>
  // CHECK: ccn.cast %{{.*}} to ui64 : (tensor<8xf32>) -> tensor<8xui64>
  %13 = ccn.cast %x to ui64 : (tensor<8xf32>) -> tensor<8xui64>
  // CHECK: ccn.cast %{{.*}} to i1 : (tensor<8xf32>) -> tensor<8xi1>
  %14 = ccn.cast %x to i1 : (tensor<8xf32>) -> tensor<8xi1>
  ccn.return
}

// CHECK-LABEL: ccn.program @layouts
ccn.program @layouts(%a: tensor<8x4xi1, #rows> {ccn.name = "a"},
    %b: tensor<8x4xf16, #local> {ccn.name = "b"},
    %c: tensor<f32> {ccn.name = "c"},
    %d: tensor<0x3xi8> {ccn.name = "d"},
    %e: tensor<8x4xf16, #rows_ba> {ccn.name = "e"}) {
  // CHECK: ccn.cast %{{.*}} to f32 : (tensor<8x4xi1, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.cast %a to f32 : (tensor<8x4xi1, #rows>) -> tensor<8x4xf32, #rows>
  // CHECK: ccn.cast %{{.*}} to f32 : (tensor<8x4xf16, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %1 = ccn.cast %b to f32 : (tensor<8x4xf16, #local>) -> tensor<8x4xf32, #local>
  // CHECK: ccn.cast %{{.*}} to i64 : (tensor<f32>) -> tensor<i64>
  %2 = ccn.cast %c to i64 : (tensor<f32>) -> tensor<i64>
  // CHECK: ccn.cast %{{.*}} to i1 : (tensor<0x3xi8>) -> tensor<0x3xi1>
  %3 = ccn.cast %d to i1 : (tensor<0x3xi8>) -> tensor<0x3xi1>
  // CHECK: ccn.cast %{{.*}} to f32 : (tensor<8x4xf16, #ccn.layout<@m, [{"b", "a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
  %4 = ccn.cast %e to f32 : (tensor<8x4xf16, #rows_ba>) -> tensor<8x4xf32, #rows_ba>
  ccn.return
}
