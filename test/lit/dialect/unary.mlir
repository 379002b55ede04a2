// Elementwise operations on one operand: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>
#s_local = #ccn.layout<@m, [], local = {"a"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @every_operation
ccn.program @every_operation(%x: tensor<8xf32> {ccn.name = "x"}) {
  // CHECK: ccn.neg %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %0 = ccn.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.abs %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = ccn.abs %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.relu %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = ccn.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.exp %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = ccn.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.log %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %4 = ccn.log %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.sqrt %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %5 = ccn.sqrt %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.rsqrt %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %6 = ccn.rsqrt %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.tanh %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %7 = ccn.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.sigmoid %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %8 = ccn.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.gelu %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %9 = ccn.gelu %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: ccn.silu %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  %10 = ccn.silu %x : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @floating_point_types
ccn.program @floating_point_types(%a: tensor<8xf64> {ccn.name = "a"},
    %b: tensor<8xf16> {ccn.name = "b"},
    %c: tensor<8xbf16> {ccn.name = "c"},
    %d: tensor<8xf8E4M3FN> {ccn.name = "d"},
    %e: tensor<8xf8E5M2> {ccn.name = "e"}) {
  // CHECK: ccn.exp %{{.*}} : (tensor<8xf64>) -> tensor<8xf64>
  %0 = ccn.exp %a : (tensor<8xf64>) -> tensor<8xf64>
  // CHECK: ccn.sqrt %{{.*}} : (tensor<8xf16>) -> tensor<8xf16>
  %1 = ccn.sqrt %b : (tensor<8xf16>) -> tensor<8xf16>
  // CHECK: ccn.tanh %{{.*}} : (tensor<8xbf16>) -> tensor<8xbf16>
  %2 = ccn.tanh %c : (tensor<8xbf16>) -> tensor<8xbf16>
  // CHECK: ccn.abs %{{.*}} : (tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  %3 = ccn.abs %d : (tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  // CHECK: ccn.gelu %{{.*}} : (tensor<8xf8E5M2>) -> tensor<8xf8E5M2>
  %4 = ccn.gelu %e : (tensor<8xf8E5M2>) -> tensor<8xf8E5M2>
  ccn.return
}

// CHECK-LABEL: ccn.program @integer_types
ccn.program @integer_types(%a: tensor<8xi8> {ccn.name = "a"},
    %b: tensor<8xui8> {ccn.name = "b"},
    %c: tensor<8xi64> {ccn.name = "c"},
    %d: tensor<8xui64> {ccn.name = "d"}) {
  // CHECK: ccn.neg %{{.*}} : (tensor<8xi8>) -> tensor<8xi8>
  %0 = ccn.neg %a : (tensor<8xi8>) -> tensor<8xi8>
  // CHECK: ccn.neg %{{.*}} : (tensor<8xui8>) -> tensor<8xui8>
  %1 = ccn.neg %b : (tensor<8xui8>) -> tensor<8xui8>
  // CHECK: ccn.abs %{{.*}} : (tensor<8xi64>) -> tensor<8xi64>
  %2 = ccn.abs %c : (tensor<8xi64>) -> tensor<8xi64>
  // CHECK: ccn.relu %{{.*}} : (tensor<8xui64>) -> tensor<8xui64>
  %3 = ccn.relu %d : (tensor<8xui64>) -> tensor<8xui64>
  ccn.return
}

// Scalars, no elements, several dimensions.
// CHECK-LABEL: ccn.program @shapes
ccn.program @shapes(%a: tensor<f32> {ccn.name = "a"},
    %b: tensor<0xf32> {ccn.name = "b"},
    %c: tensor<3x0x5xf32> {ccn.name = "c"},
    %d: tensor<1x2x3x4xf32> {ccn.name = "d"}) {
  // CHECK: ccn.neg %{{.*}} : (tensor<f32>) -> tensor<f32>
  %0 = ccn.neg %a : (tensor<f32>) -> tensor<f32>
  // CHECK: ccn.exp %{{.*}} : (tensor<0xf32>) -> tensor<0xf32>
  %1 = ccn.exp %b : (tensor<0xf32>) -> tensor<0xf32>
  // CHECK: ccn.relu %{{.*}} : (tensor<3x0x5xf32>) -> tensor<3x0x5xf32>
  %2 = ccn.relu %c : (tensor<3x0x5xf32>) -> tensor<3x0x5xf32>
  // CHECK: ccn.silu %{{.*}} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %3 = ccn.silu %d : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  ccn.return
}

// Every state but a pending reduction is kept.
// CHECK-LABEL: ccn.program @layouts
ccn.program @layouts(%a: tensor<8x4xf32, #rows> {ccn.name = "a"},
    %b: tensor<8x4xf32, #local> {ccn.name = "b"},
    %c: tensor<8x4xf32, #rows_ab> {ccn.name = "c"},
    %d: tensor<8x4xf32, #rows_local> {ccn.name = "d"},
    %e: tensor<f32, #s_local> {ccn.name = "e"}) {
  // CHECK: ccn.abs %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.abs %a : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows>
  // CHECK: ccn.log %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %1 = ccn.log %b : (tensor<8x4xf32, #local>) -> tensor<8x4xf32, #local>
  // CHECK: ccn.rsqrt %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %2 = ccn.rsqrt %c : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows_ab>
  // CHECK: ccn.sigmoid %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>
  %3 = ccn.sigmoid %d : (tensor<8x4xf32, #rows_local>) -> tensor<8x4xf32, #rows_local>
  // CHECK: ccn.exp %{{.*}} : (tensor<f32, #ccn.layout<@m, [], local = {"a"}>>) -> tensor<f32, #ccn.layout<@m, [], local = {"a"}>>
  %4 = ccn.exp %e : (tensor<f32, #s_local>) -> tensor<f32, #s_local>
  ccn.return
}

// The negative of a sum is the sum of the negatives.
// CHECK-LABEL: ccn.program @neg_of_pending_sum
ccn.program @neg_of_pending_sum(%a: tensor<8x4xf32, #sum> {ccn.name = "a"},
    %b: tensor<8x4xi32, #sum_ab> {ccn.name = "b"},
    %c: tensor<8x4xf32, #rows_sum> {ccn.name = "c"},
    %d: tensor<f32, #s_sum> {ccn.name = "d"}) {
  // CHECK: ccn.neg %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.neg %a : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #sum>
  // CHECK: ccn.neg %{{.*}} : (tensor<8x4xi32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>) -> tensor<8x4xi32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>
  %1 = ccn.neg %b : (tensor<8x4xi32, #sum_ab>) -> tensor<8x4xi32, #sum_ab>
  // CHECK: ccn.neg %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>
  %2 = ccn.neg %c : (tensor<8x4xf32, #rows_sum>) -> tensor<8x4xf32, #rows_sum>
  // CHECK: ccn.neg %{{.*}} : (tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a"}>>) -> tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a"}>>
  %3 = ccn.neg %d : (tensor<f32, #s_sum>) -> tensor<f32, #s_sum>
  ccn.return
}
