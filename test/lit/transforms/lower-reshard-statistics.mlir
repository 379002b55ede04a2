// ccn-lower-reshard counts the reshards that it replaces and what it puts there.
// RUN: ccn-opt %s -ccn-lower-reshard -mlir-pass-statistics -mlir-pass-statistics-display=list -o /dev/null 2>&1 | FileCheck %s

// One all_gather for the first, all_gather and slice for the second, nothing for
// the third; the last stays as it is.
// CHECK: LowerReshard
// CHECK-NEXT: (S) 3 num-collectives
// CHECK-NEXT: (S) 3 num-lowered

#ab = #ccn.layout<@m, [{"a", "b"}]>
#ba = #ccn.layout<@m, [{"b", "a"}]>
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2]
ccn.program @p(%x: tensor<8xf32, #ab> {ccn.name = "x"}, %y: tensor<8xf32> {ccn.name = "y"}) {
  %0 = ccn.reshard %x : tensor<8xf32, #ab> to tensor<8xf32>
  %1 = ccn.reshard %x : tensor<8xf32, #ab> to tensor<8xf32, #ba>
  %2 = ccn.reshard %x : tensor<8xf32, #ab> to tensor<8xf32, #ab>
  %3 = ccn.reshard %y : tensor<8xf32> to tensor<8xf32, #local>
  ccn.return
}
