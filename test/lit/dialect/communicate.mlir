// Every collective in its local form, and what else a localized program has: text form, slices that are short or empty.
// RUN: ccn-opt %s | FileCheck %s
// RUN: ccn-opt %s | ccn-opt | FileCheck %s

ccn.mesh @m ["a" = 3]

#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>

// CHECK-LABEL: ccn.program @communicate
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x2xf32> {ccn.global = tensor<4x2xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>, ccn.name = "x"}
// CHECK-SAME: %[[R:[^:]*]]: tensor<0x2xf32> {ccn.global = tensor<4x2xf32, #ccn.layout<@m, [{"a"}, {}]>>, ccn.name = "r"}
// CHECK-SAME: -> (tensor<4x2xf32> {ccn.global = tensor<4x2xf32>, ccn.name = "y"}) attributes {ccn.rank = 2 : i64}
ccn.program @communicate(%x: tensor<4x2xf32> {ccn.name = "x", ccn.global = tensor<4x2xf32, #local>},
                         %r: tensor<0x2xf32> {ccn.name = "r", ccn.global = tensor<4x2xf32, #rows>},
                         %seed: tensor<i64> {ccn.name = "seed", ccn.global = tensor<i64>})
    -> (tensor<4x2xf32> {ccn.name = "y", ccn.global = tensor<4x2xf32>}) attributes {ccn.rank = 2 : i64} {
  // CHECK: ccn.communicate all_reduce %[[X]] with sum along <@m, ["a"]> channel 0 from tensor<4x2xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>> to tensor<4x2xf32> {ccn.algorithm = "ring", ccn.let = "y"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 0 from tensor<4x2xf32, #local> to tensor<4x2xf32> {ccn.algorithm = "ring", ccn.let = "y"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK: ccn.communicate reduce_scatter {{.*}} with max {{.*}} channel 11 {{.*}} : (tensor<4x2xf32>) -> tensor<0x2xf32>
  %1 = ccn.communicate reduce_scatter %x with max along <@m, ["a"]> channel 11 from tensor<4x2xf32, #local> to tensor<4x2xf32, #rows> : (tensor<4x2xf32>) -> tensor<0x2xf32>
  // CHECK: ccn.communicate all_gather %[[R]] {{.*}} : (tensor<0x2xf32>) -> tensor<4x2xf32>
  %2 = ccn.communicate all_gather %r along <@m, ["a"]> channel 2 from tensor<4x2xf32, #rows> to tensor<4x2xf32> : (tensor<0x2xf32>) -> tensor<4x2xf32>
  // CHECK: ccn.communicate all_to_all %[[R]] {{.*}} : (tensor<0x2xf32>) -> tensor<4x0xf32>
  %3 = ccn.communicate all_to_all %r along <@m, ["a"]> channel 3 from tensor<4x2xf32, #rows> to tensor<4x2xf32, #cols> : (tensor<0x2xf32>) -> tensor<4x0xf32>
  // CHECK: ccn.communicate broadcast %[[X]] along <@m, ["a"]> root 1 channel 4
  %4 = ccn.communicate broadcast %x along <@m, ["a"]> root 1 channel 4 from tensor<4x2xf32, #local> to tensor<4x2xf32> : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK: ccn.communicate reduce %[[X]] with min along <@m, ["a"]> root 2 channel 5
  %5 = ccn.communicate reduce %x with min along <@m, ["a"]> root 2 channel 5 from tensor<4x2xf32, #local> to tensor<4x2xf32, #local> : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK: ccn.communicate gather %[[R]] along <@m, ["a"]> root 0 channel 6
  %6 = ccn.communicate gather %r along <@m, ["a"]> root 0 channel 6 from tensor<4x2xf32, #rows> to tensor<4x2xf32, #local> : (tensor<0x2xf32>) -> tensor<4x2xf32>
  // CHECK: ccn.communicate scatter %[[X]] along <@m, ["a"]> root 0 channel 7
  %7 = ccn.communicate scatter %x along <@m, ["a"]> root 0 channel 7 from tensor<4x2xf32, #local> to tensor<4x2xf32, #cols> : (tensor<4x2xf32>) -> tensor<4x0xf32>
  // CHECK: ccn.communicate send %[[X]] along <@m, ["a"]> by -1 channel 8
  %8 = ccn.communicate send %x along <@m, ["a"]> by -1 channel 8 from tensor<4x2xf32, #local> to tensor<4x2xf32, #local> : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK: ccn.dropout %{{.*}}, %{{.*}} rate 5.000000e-01 at [2, 0] of [4, 2] :
  %9 = ccn.extract %x at 0 from 2 to 4 : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %10 = ccn.dropout %9, %seed rate 0.5 at [2, 0] of [4, 2] : (tensor<2x2xf32>, tensor<i64>) -> tensor<2x2xf32>
  // CHECK: ccn.reduction mean %{{.*}} over [0] of 4 :
  %11 = ccn.reduction mean %10 over [0] of 4 : (tensor<2x2xf32>) -> tensor<2xf32>
  // CHECK: ccn.fused matmul_collective {
  // CHECK:   ccn.communicate all_reduce %{{.*}} with sum
  %12 = ccn.fused matmul_collective {
    %14 = ccn.transpose %x by [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
    %15 = ccn.matmul %x, %14 : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %16 = ccn.communicate all_reduce %15 with sum along <@m, ["a"]> channel 9 from tensor<4x4xf32, #local> to tensor<4x4xf32> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    ccn.yield %16 : tensor<4x4xf32>
  } : tensor<4x4xf32>
  // A collective whose result nothing needs stays: the other ranks wait for it.
  // CHECK: ccn.overlapped chunks(2) dims [1] ring("a") takes(%[[R]] : tensor<0x2xf32>, <0 from 4 of 4 in ["a"]>) {
  // CHECK:   ccn.reshape {{.*}} {ccn.chunked_dim = 1 : i64}
  %13 = ccn.overlapped chunks(2) dims [1] ring("a") takes(%r : tensor<0x2xf32>, <0 from 4 of 4 in ["a"]>) {
    %14 = ccn.communicate all_gather %r along <@m, ["a"]> channel 10 from tensor<4x2xf32, #rows> to tensor<4x2xf32> : (tensor<0x2xf32>) -> tensor<4x2xf32>
    %15 = ccn.reshape %14 to [1, 4, 2] {ccn.chunked_dim = 1} : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
    ccn.yield %15 : tensor<1x4x2xf32>
  } : tensor<1x4x2xf32>
  ccn.return %0 : tensor<4x2xf32>
}
