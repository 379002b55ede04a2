// Fused regions: text form, each skeleton, values from around them.
// RUN: ccn-opt %s | FileCheck %s

ccn.mesh @m ["a" = 2]

// CHECK-LABEL: ccn.program @skeletons
ccn.program @skeletons(%x: tensor<8x8xf32> {ccn.name = "x"},
                       %g: tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>> {ccn.name = "g"}) {
  // CHECK: %[[E:.*]] = ccn.fused elementwise {
  // CHECK:   %[[A:.*]] = ccn.exp %arg0
  // CHECK:   %[[B:.*]] = ccn.add %[[A]], %arg0
  // CHECK:   ccn.yield %[[B]] : tensor<8x8xf32>
  // CHECK: } : tensor<8x8xf32>
  %e = ccn.fused elementwise {
    %0 = ccn.exp %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = ccn.add %0, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ccn.yield %1 : tensor<8x8xf32>
  } : tensor<8x8xf32>
  // CHECK: %{{.*}}:2 = ccn.fused collective_compute {
  %c:2 = ccn.fused collective_compute {
    %0 = ccn.reduce_scatter sum %g into 0 along <@m, ["a"]> : (tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x8xf32, #ccn.layout<@m, [{"a"}, {}]>>
    %1 = ccn.exp %0 : (tensor<8x8xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x8xf32, #ccn.layout<@m, [{"a"}, {}]>>
    %2 = ccn.all_gather %1 along <@m, ["a"]> : (tensor<8x8xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x8xf32>
    ccn.yield %1, %2 : tensor<8x8xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x8xf32>
  } : tensor<8x8xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x8xf32>
  // CHECK: ccn.fused compute_move {
  %s = ccn.fused compute_move {
    %0 = ccn.exp %g : (tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
    %1 = ccn.send %0 by 1 along <@m, ["a"]> : (tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
    ccn.yield %1 : tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  } : tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  // CHECK: ccn.fused matmul_collective {
  %m = ccn.fused matmul_collective {
    %0 = ccn.matmul %g, %x : (tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>, tensor<8x8xf32>) -> tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
    %1 = ccn.all_reduce sum %0 along <@m, ["a"]> : (tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x8xf32>
    ccn.yield %1 : tensor<8x8xf32>
  } : tensor<8x8xf32>
  // CHECK: ccn.fused collectives {
  %k:2 = ccn.fused collectives {
    %0 = ccn.all_reduce sum %g along <@m, ["a"]> : (tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x8xf32>
    %1 = ccn.all_reduce max %g along <@m, ["a"]> : (tensor<8x8xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x8xf32>
    ccn.yield %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
  } : tensor<8x8xf32>, tensor<8x8xf32>
  // CHECK: ccn.fused attention {
  %n = ccn.fused attention {
    %0 = ccn.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = ccn.reduction max %0 over [1] : (tensor<8x8xf32>) -> tensor<8xf32>
    %2 = ccn.reshape %1 to [8, 1] : (tensor<8xf32>) -> tensor<8x1xf32>
    %3 = ccn.broadcast_to %2 to [8, 8] : (tensor<8x1xf32>) -> tensor<8x8xf32>
    %4 = ccn.sub %0, %3 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = ccn.exp %4 : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %6 = ccn.reduction sum %5 over [1] : (tensor<8x8xf32>) -> tensor<8xf32>
    %7 = ccn.reshape %6 to [8, 1] : (tensor<8xf32>) -> tensor<8x1xf32>
    %8 = ccn.broadcast_to %7 to [8, 8] : (tensor<8x1xf32>) -> tensor<8x8xf32>
    %9 = ccn.div %5, %8 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %10 = ccn.matmul %9, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ccn.yield %10 : tensor<8x8xf32>
  } : tensor<8x8xf32>
  ccn.return
}
