// Overlapped regions: text form, with and without a ring, fused stages, the inference of chunks.
// RUN: ccn-opt %s | FileCheck %s

ccn.mesh @m ["a" = 2]

#rows = #ccn.layout<@m, [{"a"}, {}]>
#part = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>

// CHECK: ccn.algorithm @ring "all_reduce" on 2 ranks "{}"
ccn.algorithm @ring "all_reduce" on 2 ranks "{}"

// CHECK-LABEL: ccn.program @pipelines
ccn.program @pipelines(%x: tensor<8x6xf32, #ccn.layout<@m, [{}, {"a"}]>> {ccn.name = "x"}, %w: tensor<6x4xf32, #ccn.layout<@m, [{"a"}, {}]>> {ccn.name = "w"},
                       %y: tensor<8x6xf32, #rows> {ccn.name = "y"}, %v: tensor<6x4xf32> {ccn.name = "v"}, %r: tensor<8x4xf32> {ccn.name = "r"}) {
  // CHECK: ccn.overlapped chunks(4) dims [0] ring("a") {
  // CHECK:   ccn.all_reduce {{.*}} {ccn.algorithm = @ring, ccn.priority = 0 : i64, ccn.protocol = "ll", ccn.sms = 8 : i64}
  %0 = ccn.overlapped chunks(4) dims [0] ring("a") {
    %1 = ccn.matmul %x, %w : (tensor<8x6xf32, #ccn.layout<@m, [{}, {"a"}]>>, tensor<6x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #part>
    %2 = ccn.all_reduce sum %1 along <@m, ["a"]> {ccn.algorithm = @ring, ccn.protocol = "ll", ccn.sms = 8 : i64, ccn.priority = 0 : i64} : (tensor<8x4xf32, #part>) -> tensor<8x4xf32>
    ccn.yield %2 : tensor<8x4xf32>
  } : tensor<8x4xf32>
  // The columns of the product, of which the other operand has the chunks.
  // CHECK: ccn.overlapped chunks(1) dims [1] {
  %3 = ccn.overlapped chunks(1) dims [1] {
    %1 = ccn.matmul %x, %w : (tensor<8x6xf32, #ccn.layout<@m, [{}, {"a"}]>>, tensor<6x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x4xf32, #part>
    %2 = ccn.all_reduce sum %1 along <@m, ["a"]> : (tensor<8x4xf32, #part>) -> tensor<8x4xf32>
    ccn.yield %2 : tensor<8x4xf32>
  } : tensor<8x4xf32>
  // The transpose moves the chunks; a fused stage; two results.
  // CHECK: %{{.*}}:2 = ccn.overlapped chunks(2) dims [0, 1] ring("a") {
  // CHECK:   ccn.fused elementwise {
  %4:2 = ccn.overlapped chunks(2) dims [0, 1] ring("a") {
    %1 = ccn.all_gather %y along <@m, ["a"]> : (tensor<8x6xf32, #rows>) -> tensor<8x6xf32>
    %2 = ccn.matmul %1, %v : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %5 = ccn.fused elementwise {
      %6 = ccn.add %2, %r : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      %7 = ccn.transpose %6 by [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
      ccn.yield %7 : tensor<4x8xf32>
    } : tensor<4x8xf32>
    ccn.yield %2, %5 : tensor<8x4xf32>, tensor<4x8xf32>
  } : tensor<8x4xf32>, tensor<4x8xf32>
  ccn.return
}
