// ccn-localize: parts of ragged slices, cuts, positions, collectives, regions.
// RUN: ccn-opt %s -ccn-localize=rank=1 | FileCheck %s
// RUN: ccn-opt %s -ccn-localize=rank=5 | FileCheck %s --check-prefix=LAST
// RUN: ccn-opt %s -ccn-localize=rank=1 -cse | FileCheck %s --check-prefix=KEPT

#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#both = #ccn.layout<@m, [{"a", "b"}, {}]>
#v_rows = #ccn.layout<@m, [{"a"}]>
#v_both = #ccn.layout<@m, [{"a", "b"}]>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
#v_local = #ccn.layout<@m, [{}], local = {"a"}>

// Rank 1 is at (0, 1), rank 5, the last, at (2, 1).
ccn.mesh @m ["a" = 3, "b" = 2]

// What is less cut is cut, in each dimension; once for all that take it so.
// CHECK-LABEL: ccn.program @cuts
// CHECK-SAME: %[[X:[^:]*]]: tensor<1x4xf32> {ccn.global = tensor<7x4xf32, {{[^>]*>>}}, ccn.name = "x"}
// CHECK-SAME: %[[Y:[^:]*]]: tensor<7x4xf32> {ccn.global = tensor<7x4xf32>, ccn.name = "y"}
// CHECK-SAME: attributes {ccn.rank = 1 : i64}
// CHECK: %[[CUT:.*]] = ccn.extract %[[Y]] at 0 from 2 to 3 : (tensor<7x4xf32>) -> tensor<1x4xf32>
// CHECK: %[[S:.*]] = ccn.add %[[X]], %[[CUT]] {ccn.let = "s"}
// CHECK-NOT: ccn.extract
// CHECK: ccn.mul %[[S]], %[[CUT]]
// CHECK: %[[W:.*]] = ccn.extract %{{.*}} at 1 from 0 to 2
// CHECK: ccn.matmul %[[W]],
// CHECK: ccn.add {{.*}} (tensor<f32>, tensor<1x4xf32>)
// LAST-LABEL: ccn.program @cuts
// LAST: ccn.extract %{{.*}} at 0 from 7 to 7 : (tensor<7x4xf32>) -> tensor<0x4xf32>
ccn.program @cuts(%x: tensor<7x4xf32, #both> {ccn.name = "x"}, %y: tensor<7x4xf32> {ccn.name = "y"},
                  %l: tensor<4x5xf32, #cols> {ccn.name = "l"}, %w: tensor<4x5xf32> {ccn.name = "w"}, %s: tensor<f32> {ccn.name = "s"}) {
  %0 = ccn.add %x, %y {ccn.let = "s"} : (tensor<7x4xf32, #both>, tensor<7x4xf32>) -> tensor<7x4xf32, #both>
  %1 = ccn.mul %0, %y : (tensor<7x4xf32, #both>, tensor<7x4xf32>) -> tensor<7x4xf32, #both>
  %2 = ccn.transpose %w by [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %3 = ccn.transpose %2 by [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %4 = ccn.transpose %l by [1, 0] : (tensor<4x5xf32, #cols>) -> tensor<5x4xf32, #rows>
  %5 = ccn.matmul %3, %4 : (tensor<4x5xf32>, tensor<5x4xf32, #rows>) -> tensor<4x4xf32, #sum>
  %6 = ccn.add %s, %x : (tensor<f32>, tensor<7x4xf32, #both>) -> tensor<7x4xf32, #both>
  ccn.return
}

// Slices become extracts, with their names; collectives know the whole; positions and divisors are written down.
// CHECK-LABEL: ccn.program @collectives
// CHECK-SAME: %[[X:[^:]*]]: tensor<7xf32>
// CHECK: %[[C:.*]] = ccn.extract %[[X]] at 0 from 2 to 3 {ccn.let = "cut"} : (tensor<7xf32>) -> tensor<1xf32>
// CHECK: %[[G:.*]] = ccn.communicate all_gather %[[C]] along <@m, ["b"]> channel 0 from tensor<7xf32, #ccn.layout<@m, [{"a", "b"}]>> to tensor<7xf32, #ccn.layout<@m, [{"a"}]>> {ccn.algorithm = "direct", ccn.let = "part", ccn.tags = ["t"]} : (tensor<1xf32>) -> tensor<3xf32>
// CHECK: ccn.dropout %[[G]], %{{.*}} rate 5.000000e-01 at [0] of [7]
// CHECK: ccn.dropout %[[X]], %{{.*}} rate 5.000000e-01 : (
// CHECK: %[[M:.*]] = ccn.reduction mean %{{.*}} over [0] of 7
// CHECK: ccn.reduction mean %[[X]] over [0] :
// CHECK: ccn.reduction sum %{{.*}} over [0] :
// CHECK: ccn.communicate all_reduce %[[M]] with sum along <@m, ["a"]> channel 1
// CHECK: ccn.communicate send %{{.*}} along <@m, ["a"]> by 2 channel 2 from tensor<7xf32, {{.*}}local{{.*}} to tensor<7xf32, {{.*}}local{{.*}} : (tensor<7xf32>) -> tensor<7xf32>
// CHECK-NOT: ccn.reshard
// LAST-LABEL: ccn.program @collectives
// LAST: ccn.extract %{{.*}} at 0 from 7 to 7 {ccn.let = "cut"}
// LAST: ccn.dropout %{{.*}}, %{{.*}} rate 5.000000e-01 at [6] of [7]
//
// Nothing that communicates is left out or joined.
// KEPT-LABEL: ccn.program @collectives
// KEPT-COUNT-3: ccn.communicate
ccn.program @collectives(%x: tensor<7xf32> {ccn.name = "x"}, %p: tensor<7xf32, #v_sum> {ccn.name = "p"}, %seed: tensor<i64> {ccn.name = "seed"})
    -> (tensor<7xf32, #v_local> {ccn.name = "r"}) {
  %0 = ccn.slice %x into 0 along <@m, ["a", "b"]> {ccn.let = "cut"} : (tensor<7xf32>) -> tensor<7xf32, #v_both>
  %1 = ccn.all_gather %0 along <@m, ["b"]> {ccn.let = "part", ccn.tags = ["t"], ccn.algorithm = "direct"} : (tensor<7xf32, #v_both>) -> tensor<7xf32, #v_rows>
  %2 = ccn.dropout %1, %seed rate 0.5 : (tensor<7xf32, #v_rows>, tensor<i64>) -> tensor<7xf32, #v_rows>
  %3 = ccn.dropout %x, %seed rate 0.5 : (tensor<7xf32>, tensor<i64>) -> tensor<7xf32>
  %4 = ccn.reduction mean %2 over [0] : (tensor<7xf32, #v_rows>) -> tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a"}>>
  %5 = ccn.reduction mean %x over [0] : (tensor<7xf32>) -> tensor<f32>
  %6 = ccn.reduction sum %2 over [0] : (tensor<7xf32, #v_rows>) -> tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a"}>>
  %7 = ccn.all_reduce sum %4 along <@m, ["a"]> : (tensor<f32, #ccn.layout<@m, [], partial<sum> = {"a"}>>) -> tensor<f32>
  %8 = ccn.reshard %p : tensor<7xf32, #v_sum> to tensor<7xf32, #v_local>
  %9 = ccn.send %8 by 2 along <@m, ["a"]> : (tensor<7xf32, #v_local>) -> tensor<7xf32, #v_local>
  ccn.return %8 : tensor<7xf32, #v_local>
}

// Shapes that attributes hold, and stores.
// CHECK-LABEL: ccn.program @shapes
// CHECK: ccn.reshape %{{.*}} to [1, 3, 4] : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
// CHECK: ccn.broadcast_to %{{.*}} to [2, 3, 4] : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
// CHECK: ccn.update %{{.*}} with %{{.*}} : tensor<3x4xf32>
// LAST-LABEL: ccn.program @shapes
// LAST: ccn.broadcast_to %{{.*}} to [2, 1, 4] : (tensor<1x4xf32>) -> tensor<2x1x4xf32>
ccn.program @shapes(%x: tensor<7x4xf32, #rows> {ccn.name = "x", ccn.inout}) {
  %0 = ccn.reshape %x to [1, 7, 4] : (tensor<7x4xf32, #rows>) -> tensor<1x7x4xf32, #ccn.layout<@m, [{}, {"a"}, {}]>>
  %1 = ccn.broadcast_to %x to [2, 7, 4] : (tensor<7x4xf32, #rows>) -> tensor<2x7x4xf32, #ccn.layout<@m, [{}, {"a"}, {}]>>
  %2 = ccn.exp %x : (tensor<7x4xf32, #rows>) -> tensor<7x4xf32, #rows>
  %3 = ccn.update %x with %2 : tensor<7x4xf32, #rows>
  ccn.return
}

// In a fused region cuts are made inside, and a reshard that is yielded stays a value of the region.
// CHECK-LABEL: ccn.program @fused
// CHECK: ccn.fused compute_move attributes {ccn.tags = ["k"]} {
// CHECK:   ccn.reshape %{{.*}} to [7] : (tensor<7xf32>) -> tensor<7xf32>
// CHECK:   ccn.communicate send
// CHECK: }
// CHECK: ccn.fused elementwise {
// CHECK:   ccn.extract
// CHECK:   ccn.add
// CHECK: } : tensor<3xf32>
ccn.program @fused(%p: tensor<7xf32, #v_sum> {ccn.name = "p"}, %x: tensor<7xf32, #v_rows> {ccn.name = "x"}, %y: tensor<7xf32> {ccn.name = "y"}) {
  %0:2 = ccn.fused compute_move attributes {ccn.tags = ["k"]} {
    %2 = ccn.reshard %p : tensor<7xf32, #v_sum> to tensor<7xf32, #v_local>
    %3 = ccn.send %2 by 1 along <@m, ["a"]> : (tensor<7xf32, #v_local>) -> tensor<7xf32, #v_local>
    ccn.yield %2, %3 : tensor<7xf32, #v_local>, tensor<7xf32, #v_local>
  } : tensor<7xf32, #v_local>, tensor<7xf32, #v_local>
  %1 = ccn.fused elementwise {
    %2 = ccn.exp %x : (tensor<7xf32, #v_rows>) -> tensor<7xf32, #v_rows>
    %3 = ccn.add %2, %y : (tensor<7xf32, #v_rows>, tensor<7xf32>) -> tensor<7xf32, #v_rows>
    ccn.yield %3 : tensor<7xf32, #v_rows>
  } : tensor<7xf32, #v_rows>
  ccn.return
}

// An overlapped region says which part it takes; what it needs whole is cut before it, what it takes in chunks inside.
// CHECK-LABEL: ccn.program @overlapped
// CHECK-SAME: %[[Y:[^:]*]]: tensor<7xf32> {{.*}} %[[Z:[^:]*]]: tensor<7xf32>
// CHECK: %[[CUT:.*]] = ccn.extract %[[Y]] at 0 from 0 to 3
// CHECK-NEXT: ccn.overlapped chunks(2) dims [0] takes(%{{.*}} : tensor<1xf32>, <0 from 2 of 7 in ["a", "b"]>) {
// CHECK-NEXT:   ccn.communicate all_gather %{{.*}} along <@m, ["b"]>
// CHECK-NEXT:   ccn.mul %{{.*}}, %[[CUT]]
// CHECK: ccn.overlapped chunks(2) dims [0] ring("a") takes(%[[Z]] : tensor<7xf32>, <0 from 0 of 7 in ["a"]>) {
// CHECK-NEXT:   ccn.extract %[[Z]] at 0 from 0 to 3
// CHECK-NEXT:   ccn.communicate all_gather
// CHECK-NEXT:   ccn.reshape %{{.*}} to [7, 1] {ccn.chunked_dim = 0 : i64}
// LAST-LABEL: ccn.program @overlapped
// LAST: takes(%{{.*}} : tensor<0xf32>, <0 from 7 of 7 in ["a", "b"]>)
ccn.program @overlapped(%y: tensor<7xf32> {ccn.name = "y"}, %x: tensor<7xf32, #v_both> {ccn.name = "x"}, %z: tensor<7xf32> {ccn.name = "z"}) {
  %0 = ccn.overlapped chunks(2) dims [0] {
    %2 = ccn.all_gather %x along <@m, ["b"]> : (tensor<7xf32, #v_both>) -> tensor<7xf32, #v_rows>
    %3 = ccn.mul %2, %y : (tensor<7xf32, #v_rows>, tensor<7xf32>) -> tensor<7xf32, #v_rows>
    ccn.yield %3 : tensor<7xf32, #v_rows>
  } : tensor<7xf32, #v_rows>
  %1 = ccn.overlapped chunks(2) dims [0] ring("a") {
    %2 = ccn.slice %z into 0 along <@m, ["a"]> : (tensor<7xf32>) -> tensor<7xf32, #v_rows>
    %3 = ccn.all_gather %2 along <@m, ["a"]> : (tensor<7xf32, #v_rows>) -> tensor<7xf32>
    %4 = ccn.reshape %3 to [7, 1] : (tensor<7xf32>) -> tensor<7x1xf32>
    ccn.yield %4 : tensor<7x1xf32>
  } : tensor<7x1xf32>
  ccn.return
}

// What is only needed in parts is made in parts: operands are cut, once for all that take them so, and before what is alike.
// CHECK-LABEL: ccn.program @parts
// CHECK-SAME: %[[X:[^:]*]]: tensor<3xf32> {{[^%]*}} %[[P:[^:]*]]: tensor<7xf32> {{[^%]*}} %[[H:[^:]*]]: tensor<7xf16>
// CHECK: %[[CH:.*]] = ccn.extract %[[H]] at 0 from 0 to 3 : (tensor<7xf16>) -> tensor<3xf16>
// CHECK: %[[CAST:.*]] = ccn.cast %[[CH]] to f32
// CHECK: %[[CP:.*]] = ccn.extract %[[P]] at 0 from 0 to 3 : (tensor<7xf32>) -> tensor<3xf32>
// CHECK: %[[DECAY:.*]] = ccn.mul %{{.*}}, %[[CP]] {ccn.let = "decay"} : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[DROPPED:.*]] = ccn.dropout %[[DECAY]], %{{.*}} rate 5.000000e-01 at [0] of [7]
// CHECK-NOT: ccn.extract
// CHECK: ccn.add %[[X]], %[[DROPPED]]
// CHECK: ccn.sub %{{.*}}, %[[CP]]
// CHECK: ccn.mul %{{.*}}, %[[CAST]]
// LAST-LABEL: ccn.program @parts
// LAST: ccn.dropout %{{.*}}, %{{.*}} rate 5.000000e-01 at [6] of [7] : (tensor<1xf32>
ccn.program @parts(%x: tensor<7xf32, #v_rows> {ccn.name = "x"}, %p: tensor<7xf32> {ccn.name = "p"}, %h: tensor<7xf16> {ccn.name = "h"}, %seed: tensor<i64> {ccn.name = "seed"}) {
  %c = ccn.constant 0.01 : f32
  %0 = ccn.cast %h to f32 : (tensor<7xf16>) -> tensor<7xf32>
  %1 = ccn.mul %c, %p {ccn.let = "decay"} : (tensor<f32>, tensor<7xf32>) -> tensor<7xf32>
  %2 = ccn.dropout %1, %seed rate 0.5 : (tensor<7xf32>, tensor<i64>) -> tensor<7xf32>
  %3 = ccn.add %x, %2 : (tensor<7xf32, #v_rows>, tensor<7xf32>) -> tensor<7xf32, #v_rows>
  %4 = ccn.sub %3, %p : (tensor<7xf32, #v_rows>, tensor<7xf32>) -> tensor<7xf32, #v_rows>
  %5 = ccn.mul %4, %0 : (tensor<7xf32, #v_rows>, tensor<7xf32>) -> tensor<7xf32, #v_rows>
  ccn.return
}

// Ranges that a program names are cut likewise: random numbers stay those of their places, and what is repeated stays whole.
// CHECK-LABEL: ccn.program @ranges
// CHECK-SAME: %[[X:[^:]*]]: tensor<6x8xf32> {{[^%]*}} %[[ROW:[^:]*]]: tensor<8xf32> {{[^%]*}} %[[COLUMN:[^:]*]]: tensor<6x1xf32>
// CHECK: %[[ROWS:.*]] = ccn.broadcast_to %[[ROW]] to [3, 8] : (tensor<8xf32>) -> tensor<3x8xf32>
// CHECK: %[[CUT:.*]] = ccn.extract %[[COLUMN]] at 0 from 2 to 5 : (tensor<6x1xf32>) -> tensor<3x1xf32>
// CHECK: %[[COLUMNS:.*]] = ccn.broadcast_to %[[CUT]] to [3, 8] : (tensor<3x1xf32>) -> tensor<3x8xf32>
// CHECK: %[[SUM:.*]] = ccn.add %[[ROWS]], %[[COLUMNS]]
// CHECK: %[[DROPPED:.*]] = ccn.dropout %[[SUM]], %{{.*}} rate 5.000000e-01 at [2, 0] of [6, 8]
// CHECK: %[[XCUT:.*]] = ccn.extract %{{.*}} at 0 from 2 to 5
// CHECK: ccn.mul %[[DROPPED]], %[[XCUT]]
ccn.program @ranges(%x: tensor<6x8xf32> {ccn.name = "x"}, %row: tensor<8xf32> {ccn.name = "row"}, %column: tensor<6x1xf32> {ccn.name = "column"}, %seed: tensor<i64> {ccn.name = "seed"}) -> (tensor<3x8xf32> {ccn.name = "y"}) {
  %0 = ccn.broadcast_to %row to [6, 8] : (tensor<8xf32>) -> tensor<6x8xf32>
  %1 = ccn.broadcast_to %column to [6, 8] : (tensor<6x1xf32>) -> tensor<6x8xf32>
  %2 = ccn.add %0, %1 : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %3 = ccn.dropout %2, %seed rate 0.5 : (tensor<6x8xf32>, tensor<i64>) -> tensor<6x8xf32>
  %4 = ccn.transpose %x by [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
  %5 = ccn.transpose %4 by [1, 0] : (tensor<8x6xf32>) -> tensor<6x8xf32>
  %6 = ccn.mul %3, %5 : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %7 = ccn.extract %6 at 0 from 2 to 5 : (tensor<6x8xf32>) -> tensor<3x8xf32>
  ccn.return %7 : tensor<3x8xf32>
}

// Halves are no more than the whole. Three parts of two thirds are, the rest of the program needs the whole, or a division of
// integers may fail: all of it is made, and then cut.
// CHECK-LABEL: ccn.program @several
// CHECK-SAME: %[[X:[^:]*]]: tensor<6xf32> {{[^%]*}} %[[N:[^:]*]]: tensor<6xi32>
// CHECK-DAG: ccn.exp %{{.*}} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-DAG: ccn.exp %{{.*}} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: ccn.sqrt %[[X]] : (tensor<6xf32>)
// CHECK: ccn.abs %[[X]] : (tensor<6xf32>)
// CHECK: ccn.div %[[N]], %[[N]] : (tensor<6xi32>
// CHECK: ccn.neg %{{.*}} : (tensor<2xi32>
ccn.program @several(%x: tensor<6xf32> {ccn.name = "x"}, %n: tensor<6xi32> {ccn.name = "n"})
    -> (tensor<6xf32> {ccn.name = "turned"}, tensor<8xf32> {ccn.name = "windows"}, tensor<6xf32> {ccn.name = "whole"}, tensor<2xf32> {ccn.name = "part"}, tensor<2xi32> {ccn.name = "quotients"}) {
  %0 = ccn.exp %x : (tensor<6xf32>) -> tensor<6xf32>
  %1 = ccn.extract %0 at 0 from 3 to 6 : (tensor<6xf32>) -> tensor<3xf32>
  %2 = ccn.extract %0 at 0 from 0 to 3 : (tensor<6xf32>) -> tensor<3xf32>
  %3 = ccn.concat %1, %2 at 0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  %4 = ccn.sqrt %x : (tensor<6xf32>) -> tensor<6xf32>
  %5 = ccn.extract %4 at 0 from 0 to 4 : (tensor<6xf32>) -> tensor<4xf32>
  %6 = ccn.extract %4 at 0 from 2 to 6 : (tensor<6xf32>) -> tensor<4xf32>
  %7 = ccn.concat %5, %6 at 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %8 = ccn.abs %x : (tensor<6xf32>) -> tensor<6xf32>
  %9 = ccn.extract %8 at 0 from 0 to 2 : (tensor<6xf32>) -> tensor<2xf32>
  %10 = ccn.div %n, %n : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
  %11 = ccn.neg %10 : (tensor<6xi32>) -> tensor<6xi32>
  %12 = ccn.extract %11 at 0 from 4 to 6 : (tensor<6xi32>) -> tensor<2xi32>
  ccn.return %3, %7, %8, %9, %12 : tensor<6xf32>, tensor<8xf32>, tensor<6xf32>, tensor<2xf32>, tensor<2xi32>
}

// In a kernel what is cut is stored: not two values, which others there need whole, rather than one.
// CHECK-LABEL: ccn.program @kernels
// CHECK: ccn.fused elementwise {
// CHECK:   %[[S:.*]] = ccn.add %{{.*}} : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
// CHECK:   ccn.extract %[[S]] at 0 from 0 to 3
// CHECK: ccn.fused elementwise {
// CHECK:   %[[E:.*]] = ccn.exp
// CHECK:   %[[CUT:.*]] = ccn.extract %[[E]] at 0 from 0 to 3
// CHECK:   ccn.neg %[[CUT]] : (tensor<3xf32>) -> tensor<3xf32>
ccn.program @kernels(%x: tensor<7xf32, #v_rows> {ccn.name = "x"}, %y: tensor<7xf32> {ccn.name = "y"})
    -> (tensor<7xf32> {ccn.name = "product"}, tensor<7xf32, #v_rows> {ccn.name = "part"}, tensor<7xf32> {ccn.name = "twice"}, tensor<7xf32, #v_rows> {ccn.name = "half"}) {
  %0:2 = ccn.fused elementwise {
    %2 = ccn.exp %y : (tensor<7xf32>) -> tensor<7xf32>
    %3 = ccn.log %y : (tensor<7xf32>) -> tensor<7xf32>
    %4 = ccn.mul %2, %3 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
    %5 = ccn.add %2, %3 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
    %6 = ccn.mul %5, %x : (tensor<7xf32>, tensor<7xf32, #v_rows>) -> tensor<7xf32, #v_rows>
    ccn.yield %4, %6 : tensor<7xf32>, tensor<7xf32, #v_rows>
  } : tensor<7xf32>, tensor<7xf32, #v_rows>
  %1:2 = ccn.fused elementwise {
    %2 = ccn.exp %y : (tensor<7xf32>) -> tensor<7xf32>
    %3 = ccn.add %2, %2 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
    %4 = ccn.neg %2 : (tensor<7xf32>) -> tensor<7xf32>
    %5 = ccn.mul %4, %x : (tensor<7xf32>, tensor<7xf32, #v_rows>) -> tensor<7xf32, #v_rows>
    ccn.yield %3, %5 : tensor<7xf32>, tensor<7xf32, #v_rows>
  } : tensor<7xf32>, tensor<7xf32, #v_rows>
  ccn.return %0#0, %0#1, %1#0, %1#1 : tensor<7xf32>, tensor<7xf32, #v_rows>, tensor<7xf32>, tensor<7xf32, #v_rows>
}

// What a kernel yields is made in it.
// CHECK-LABEL: ccn.program @yielded
// CHECK: %[[N:.*]] = ccn.neg %{{.*}} : (tensor<7xf32>) -> tensor<7xf32>
// CHECK: ccn.fused elementwise {
// CHECK:   %[[CUT:.*]] = ccn.extract %[[N]] at 0 from 0 to 3
// CHECK:   ccn.yield %[[CUT]],
ccn.program @yielded(%x: tensor<7xf32> {ccn.name = "x"}) -> (tensor<7xf32, #v_rows> {ccn.name = "part"}, tensor<7xf32, #v_rows> {ccn.name = "more"}) {
  %0 = ccn.neg %x : (tensor<7xf32>) -> tensor<7xf32>
  %1:2 = ccn.fused elementwise {
    %2 = ccn.slice %0 into 0 along <@m, ["a"]> : (tensor<7xf32>) -> tensor<7xf32, #v_rows>
    %3 = ccn.exp %2 : (tensor<7xf32, #v_rows>) -> tensor<7xf32, #v_rows>
    ccn.yield %2, %3 : tensor<7xf32, #v_rows>, tensor<7xf32, #v_rows>
  } : tensor<7xf32, #v_rows>, tensor<7xf32, #v_rows>
  ccn.return %1#0, %1#1 : tensor<7xf32, #v_rows>, tensor<7xf32, #v_rows>
}
