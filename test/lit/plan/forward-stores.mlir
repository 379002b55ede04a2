// RUN: ccn-opt %s --plan-forward-stores -split-input-file | FileCheck %s

// What is made for an argument is made there, also where its views are; what
// lies there already is not copied. A launch that has nothing left goes, and what
// follows on its stream waits for what it waited for.
// CHECK-LABEL: plan.program "f"
// CHECK: %[[X:.*]] = plan.argument
// CHECK: %[[R:.*]] = plan.argument
// CHECK: %[[V:.*]] = plan.view %[[R]] : memref<4x8xf32, #plan.memory<argument>> to memref<32xf32, #plan.memory<argument>>
// CHECK: %[[A:.*]] = plan.launch "a" stream(1) segment(0) {
// CHECK: plan.loop @double ins(%[[X]]) outs(%[[V]])
// CHECK-NOT: plan.copy
// CHECK: plan.launch "c" stream(0) segment(0) waits(%[[A]]) {
// CHECK-NEXT: plan.copy %[[X]] to %{{.*}} : memref
// CHECK-NOT: plan.launch
func.func private @double(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  return %0 : f32
}
plan.program "f" rank(0) {
  %x = plan.argument inout "x" of tensor<32xf32> : memref<32xf32, #plan.memory<argument>>
  %r = plan.argument result "r" of tensor<4x8xf32> : memref<4x8xf32, #plan.memory<argument>>
  %s = plan.argument result "s" of tensor<32xf32> : memref<32xf32, #plan.memory<argument>>
  %y = plan.buffer : memref<32xf32, #plan.memory<private>>
  %v = plan.view %y : memref<32xf32, #plan.memory<private>> to memref<4x8xf32, #plan.memory<private>>
  %0 = plan.launch "a" stream(1) segment(0) {
    plan.rows {
      plan.loop @double ins(%x) outs(%y) : memref<32xf32, #plan.memory<argument>> -> memref<32xf32, #plan.memory<private>>
    }
    plan.copy %v to %r store : memref<4x8xf32, #plan.memory<private>> to memref<4x8xf32, #plan.memory<argument>>
  }
  %1 = plan.launch "b" stream(0) segment(0) waits(%0) {
    plan.copy %x to %x store : memref<32xf32, #plan.memory<argument>> to memref<32xf32, #plan.memory<argument>>
  }
  %2 = plan.launch "c" stream(0) segment(0) {
    plan.copy %x to %s store : memref<32xf32, #plan.memory<argument>> to memref<32xf32, #plan.memory<argument>>
  }
}

// -----

// A loop reads each element before it writes that one, so it may write into what
// it reads; a product may not.
// CHECK-LABEL: plan.program "f"
// CHECK: %[[X:.*]] = plan.argument inout "x"
// CHECK: %[[Y:.*]] = plan.argument inout "y"
// CHECK: plan.loop @double ins(%[[X]]) outs(%[[X]])
// CHECK: plan.matmul %[[Y]], %[[Y]] to %[[Z:.*]] :
// CHECK-NEXT: plan.copy %[[Z]] to %[[Y]] :
func.func private @double(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  return %0 : f32
}
plan.program "f" rank(0) {
  %x = plan.argument inout "x" of tensor<4x4xf32> : memref<4x4xf32, #plan.memory<argument>>
  %y = plan.argument inout "y" of tensor<4x4xf32> : memref<4x4xf32, #plan.memory<argument>>
  %z = plan.buffer : memref<16xf32, #plan.memory<private>>
  %w = plan.buffer : memref<16xf32, #plan.memory<private>>
  %zv = plan.view %z : memref<16xf32, #plan.memory<private>> to memref<4x4xf32, #plan.memory<private>>
  %wv = plan.view %w : memref<16xf32, #plan.memory<private>> to memref<4x4xf32, #plan.memory<private>>
  %0 = plan.launch "a" stream(0) {
    plan.rows {
      plan.loop @double ins(%x) outs(%zv) : memref<4x4xf32, #plan.memory<argument>> -> memref<4x4xf32, #plan.memory<private>>
    }
    plan.copy %zv to %x store : memref<4x4xf32, #plan.memory<private>> to memref<4x4xf32, #plan.memory<argument>>
  }
  %1 = plan.launch "b" stream(0) {
    plan.matmul %y, %y to %wv : memref<4x4xf32, #plan.memory<argument>>, memref<4x4xf32, #plan.memory<argument>> to memref<4x4xf32, #plan.memory<private>>
    plan.copy %wv to %y store : memref<4x4xf32, #plan.memory<private>> to memref<4x4xf32, #plan.memory<argument>>
  }
}

// -----

// Something else may still read the old content: a launch of another stream does so
// at any time, one of the same stream, or of a segment before, is over.
// CHECK-LABEL: plan.program "other stream"
// CHECK: plan.launch "b"
// CHECK-NEXT: plan.copy %{{.*}} to %[[Y:.*]] : memref
// CHECK-NEXT: plan.copy %[[Y]] to %{{.*}} : memref
plan.program "other stream" rank(0) {
  %x = plan.argument inout "x" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
  %a = plan.buffer : memref<8xf32, #plan.memory<private>>
  %b = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "a" stream(1) segment(0) {
    plan.copy %x to %a : memref<8xf32, #plan.memory<argument>> to memref<8xf32, #plan.memory<private>>
  }
  %1 = plan.launch "b" stream(0) segment(0) {
    plan.copy %b to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
    plan.copy %y to %x store : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<argument>>
  }
}
// CHECK-LABEL: plan.program "segment before"
// CHECK: %[[X:.*]] = plan.argument
// CHECK: plan.launch "b"
// CHECK-NEXT: plan.copy %{{.*}} to %[[X]] :
// CHECK-NEXT: }
plan.program "segment before" rank(0) {
  %x = plan.argument inout "x" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
  %a = plan.buffer : memref<8xf32, #plan.memory<private>>
  %b = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "a" stream(1) segment(0) {
    plan.copy %x to %a : memref<8xf32, #plan.memory<argument>> to memref<8xf32, #plan.memory<private>>
  }
  %1 = plan.launch "b" stream(0) segment(1) {
    plan.copy %b to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
    plan.copy %y to %x store : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<argument>>
  }
}

// -----

// All ranks or none: on rank 1 only a part of the buffer is stored.
// CHECK-LABEL: plan.program "f" rank(0)
// CHECK-COUNT-2: plan.copy
// CHECK-LABEL: plan.program "f" rank(1)
// CHECK-COUNT-2: plan.copy
plan.program "f" rank(0) {
  %r = plan.argument result "r" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
  %b = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.copy %b to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
    plan.copy %y to %r store : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<argument>>
  }
}
plan.program "f" rank(1) {
  %r = plan.argument result "r" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
  %b = plan.buffer : memref<9xf32, #plan.memory<private>>
  %y = plan.buffer : memref<9xf32, #plan.memory<private>>
  %v = plan.view %y : memref<9xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.copy %b to %y : memref<9xf32, #plan.memory<private>> to memref<9xf32, #plan.memory<private>>
    plan.copy %v to %r store : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<argument>>
  }
}
