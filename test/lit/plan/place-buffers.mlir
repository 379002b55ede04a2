// RUN: ccn-opt %s --plan-place-buffers -split-input-file | FileCheck %s

// What is used at different times is at one place, the largest buffers first; what
// nothing uses goes, and so do segments and marks of stores.
// CHECK-LABEL: plan.program "f"
// CHECK-NEXT: plan.argument
// CHECK-NEXT: %[[X:.*]] = plan.buffer at 128 : memref<8xf32
// CHECK-NEXT: %[[Y:.*]] = plan.buffer at 0 : memref<24xf32
// CHECK-NEXT: %[[Z:.*]] = plan.buffer at 128 : memref<8xf32
// CHECK-NEXT: %[[V:.*]] = plan.view %[[Y]]
// CHECK-NEXT: plan.launch "a" stream(0) {
// CHECK-NEXT: plan.copy %[[X]] to %[[V]] :
// CHECK: plan.launch "b" stream(0) {
// CHECK-NEXT: plan.copy %[[V]] to %[[Z]] :
// CHECK: plan.copy %[[Z]] to %{{.*}} :
plan.program "f" rank(0) {
  %r = plan.argument result "r" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
  %u = plan.buffer : memref<1024xf32, #plan.memory<private>>
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<24xf32, #plan.memory<private>>
  %z = plan.buffer : memref<8xf32, #plan.memory<private>>
  %w = plan.view %u : memref<1024xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  %v = plan.view %y : memref<24xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "a" stream(0) segment(0) {
    plan.copy %x to %v : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
  %1 = plan.launch "b" stream(0) segment(0) {
    plan.copy %v to %z : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
    plan.copy %z to %r store : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<argument>>
  }
}

// -----

// In a segment of several streams what any launch uses is used throughout.
// CHECK-LABEL: plan.program "f"
// CHECK-COUNT-1: plan.buffer at 0
// CHECK-COUNT-1: plan.buffer at 64
// CHECK-COUNT-1: plan.buffer at 128
// CHECK-COUNT-1: plan.buffer at 192
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer : memref<8xf32, #plan.memory<private>>
  %w = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "a" stream(0) segment(0) {
    plan.copy %x to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
  %1 = plan.launch "b" stream(1) segment(0) {
    plan.copy %z to %w : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// Symmetric buffers have one place on all ranks, and stay there if any uses them.
// Scratch has no place.
// CHECK-LABEL: plan.program "f" rank(0)
// CHECK-NEXT: plan.buffer at 0 : memref<32xf32, #plan.memory<symmetric>>
// CHECK-NEXT: plan.buffer at 128 : memref<16xf32, #plan.memory<symmetric>>
// CHECK-NEXT: plan.launch
// CHECK: plan.buffer : memref<16xf32, #plan.memory<scratch>>
// CHECK-LABEL: plan.program "f" rank(1)
// CHECK-NEXT: plan.buffer at 0 : memref<32xf32, #plan.memory<symmetric>>
// CHECK-NEXT: plan.buffer at 128 : memref<16xf32, #plan.memory<symmetric>>
// CHECK-NEXT: plan.view
// CHECK-NEXT: plan.launch
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %n = plan.buffer : memref<64xf32, #plan.memory<symmetric>>
  %x = plan.buffer : memref<32xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<16xf32, #plan.memory<symmetric>>
  %0 = plan.launch "a" stream(0) {
    plan.rows {
      %s = plan.buffer : memref<16xf32, #plan.memory<scratch>>
      plan.loop @id ins(%y) outs(%s) : memref<16xf32, #plan.memory<symmetric>> -> memref<16xf32, #plan.memory<scratch>>
      plan.loop @id ins(%s) outs(%y) : memref<16xf32, #plan.memory<scratch>> -> memref<16xf32, #plan.memory<symmetric>>
    }
  }
}
plan.program "f" rank(1) {
  %n = plan.buffer : memref<64xf32, #plan.memory<symmetric>>
  %x = plan.buffer : memref<32xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<16xf32, #plan.memory<symmetric>>
  %v = plan.view %x : memref<32xf32, #plan.memory<symmetric>> to memref<16xf32, #plan.memory<symmetric>>
  %0 = plan.launch "a" stream(0) {
    plan.copy %v to %y : memref<16xf32, #plan.memory<symmetric>> to memref<16xf32, #plan.memory<symmetric>>
  }
}
