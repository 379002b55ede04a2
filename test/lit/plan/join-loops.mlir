// RUN: ccn-opt %s --plan-join-loops -split-input-file | FileCheck %s

// Loops whose rows need only the same row of each other become one part, and what
// is only between them becomes scratch; dimensions become one.
// CHECK-LABEL: plan.program "f"
// CHECK: %[[X:.*]] = plan.argument
// CHECK: %[[Y:.*]] = plan.argument
// CHECK: %[[XV:.*]] = plan.view %[[X]] : {{.*}} to memref<32xf32, #plan.memory<argument>>
// CHECK-NEXT: %[[YV:.*]] = plan.view %[[Y]] : {{.*}} to memref<32xf32, #plan.memory<argument>>
// CHECK-NEXT: plan.launch
// CHECK-NEXT: plan.rows {
// CHECK-NEXT: %[[Z:.*]] = plan.buffer : memref<32xf32, #plan.memory<scratch>>
// CHECK-NEXT: plan.loop @double ins(%[[XV]]) outs(%[[Z]])
// CHECK-NEXT: plan.loop @double ins(%[[Z]]) outs(%[[YV]])
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func private @double(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  return %0 : f32
}
plan.program "f" rank(0) {
  %x = plan.argument input "x" of tensor<4x8xf32> : memref<4x8xf32, #plan.memory<argument>>
  %y = plan.argument result "y" of tensor<4x8xf32> : memref<4x8xf32, #plan.memory<argument>>
  %z = plan.buffer : memref<32xf32, #plan.memory<private>>
  %v = plan.view %z : memref<32xf32, #plan.memory<private>> to memref<4x8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      plan.loop @double ins(%x) outs(%v) : memref<4x8xf32, #plan.memory<argument>> -> memref<4x8xf32, #plan.memory<private>>
    }
    plan.rows {
      plan.loop @double ins(%v) outs(%y) : memref<4x8xf32, #plan.memory<private>> -> memref<4x8xf32, #plan.memory<argument>>
    }
  }
}

// -----

// A sum over rows needs whole rows: their elements become one dimension, but not
// rows and elements. Positions follow.
// CHECK-LABEL: plan.program "f"
// CHECK: plan.rows {
// CHECK: plan.buffer : memref<24xf32, #plan.memory<scratch>>
// CHECK: plan.loop @plus {{.*}} indices [array<i64: 5, 6, 1>] : memref<4x6xf32{{.*}} -> memref<4x6xf32, #plan.memory<scratch>>
// CHECK: plan.loop @same {{.*}} reduced(1) by [#ccn<reduction_kind sum>] over [1.000000e+00] : memref<4x6xf32, #plan.memory<scratch>> ->
func.func private @plus(%a: f32, %i: i64) -> f32 {
  %0 = arith.sitofp %i : i64 to f32
  %1 = arith.addf %a, %0 : f32
  return %1 : f32
}
func.func private @same(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.argument input "x" of tensor<4x3x2xf32> : memref<4x3x2xf32, #plan.memory<argument>>
  %y = plan.argument result "y" of tensor<4xf32> : memref<4xf32, #plan.memory<argument>>
  %z = plan.buffer : memref<24xf32, #plan.memory<private>>
  %v = plan.view %z : memref<24xf32, #plan.memory<private>> to memref<4x3x2xf32, #plan.memory<private>>
  %s = plan.view %y : memref<4xf32, #plan.memory<argument>> to memref<4x3x2xf32, strided<[1, 0, 0]>, #plan.memory<argument>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      plan.loop @plus ins(%x) outs(%v) indices [array<i64: 5, 6, 2, 1>] : memref<4x3x2xf32, #plan.memory<argument>> -> memref<4x3x2xf32, #plan.memory<private>>
    }
    plan.rows {
      plan.loop @same ins(%v) outs(%s) reduced(2) by [#ccn<reduction_kind sum>] over [1.0] : memref<4x3x2xf32, #plan.memory<private>> -> memref<4x3x2xf32, strided<[1, 0, 0]>, #plan.memory<argument>>
    }
  }
}

// -----

// Loops stay apart that need other rows of each other, that have other parts
// between them, or that take what members of a group have. What other parts use
// too is no scratch.
// CHECK-LABEL: plan.program "f"
// CHECK: plan.buffer : memref<8xf32, #plan.memory<private>>
// CHECK: plan.launch "rows" stream(0) {
// CHECK-COUNT-2: plan.rows {
// CHECK: plan.launch "parts" stream(0) {
// CHECK-NEXT: plan.rows {
// CHECK: plan.barrier
// CHECK-NEXT: plan.rows {
// CHECK: plan.launch "members" stream(0) {
// CHECK-COUNT-2: plan.rows {
func.func private @same(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.argument inout "x" of tensor<4xf32> : memref<4xf32, #plan.memory<argument>>
  %z = plan.buffer : memref<8xf32, #plan.memory<private>>
  %s = plan.buffer : memref<4xf32, #plan.memory<symmetric>>
  %v = plan.view %z : memref<8xf32, #plan.memory<private>> to memref<4xf32, strided<[2]>, #plan.memory<private>>
  %u = plan.view %z : memref<8xf32, #plan.memory<private>> to memref<4xf32, #plan.memory<private>>
  %0 = plan.launch "rows" stream(0) {
    plan.rows {
      plan.loop @same ins(%x) outs(%v) : memref<4xf32, #plan.memory<argument>> -> memref<4xf32, strided<[2]>, #plan.memory<private>>
    }
    plan.rows {
      plan.loop @same ins(%u) outs(%x) : memref<4xf32, #plan.memory<private>> -> memref<4xf32, #plan.memory<argument>>
    }
  }
  %1 = plan.launch "parts" stream(0) {
    plan.rows {
      plan.loop @same ins(%x) outs(%v) : memref<4xf32, #plan.memory<argument>> -> memref<4xf32, strided<[2]>, #plan.memory<private>>
    }
    plan.barrier <[0]> flags(0)
    plan.rows {
      plan.loop @same ins(%v) outs(%x) : memref<4xf32, strided<[2]>, #plan.memory<private>> -> memref<4xf32, #plan.memory<argument>>
    }
  }
  %2 = plan.launch "members" stream(0) {
    plan.rows {
      plan.loop @same ins(%x) outs(%s) : memref<4xf32, #plan.memory<argument>> -> memref<4xf32, #plan.memory<symmetric>>
    }
    plan.rows {
      plan.loop @same ins(%s) outs(%x) takes [#plan.all<sum, #plan.group<[0]>>] : memref<4xf32, #plan.memory<symmetric>> -> memref<4xf32, #plan.memory<argument>>
    }
  }
}

// -----

// Loops over nothing go, with parts that have no others; the loops of one part
// part where they must not be together; joined once, they stay as they are.
// CHECK-LABEL: plan.program "f"
// CHECK: plan.launch "empty" stream(0) {
// CHECK-NEXT: }
// CHECK: plan.launch "joined" stream(0) {
// CHECK-NEXT: plan.rows {
// CHECK-NEXT: plan.buffer : memref<4xf32, #plan.memory<scratch>>
// CHECK-NEXT: plan.loop
// CHECK-NEXT: plan.loop
// CHECK-NEXT: plan.loop
// CHECK-NEXT: }
// CHECK-NEXT: }
func.func private @same(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.argument inout "x" of tensor<4xf32> : memref<4xf32, #plan.memory<argument>>
  %e = plan.view %x : memref<4xf32, #plan.memory<argument>> to memref<0xf32, #plan.memory<argument>>
  %0 = plan.launch "empty" stream(0) {
    plan.rows {
      plan.loop @same ins(%e) outs(%e) : memref<0xf32, #plan.memory<argument>> -> memref<0xf32, #plan.memory<argument>>
    }
  }
  %1 = plan.launch "joined" stream(0) {
    plan.rows {
      %s = plan.buffer : memref<4xf32, #plan.memory<scratch>>
      plan.loop @same ins(%x) outs(%s) : memref<4xf32, #plan.memory<argument>> -> memref<4xf32, #plan.memory<scratch>>
      plan.loop @same ins(%s) outs(%x) : memref<4xf32, #plan.memory<scratch>> -> memref<4xf32, #plan.memory<argument>>
    }
    plan.rows {
      plan.loop @same ins(%x) outs(%x) : memref<4xf32, #plan.memory<argument>> -> memref<4xf32, #plan.memory<argument>>
    }
  }
}
