// RUN: ccn-opt %s --plan-forward-stores -split-input-file -verify-diagnostics

plan.program "f" rank(0) {
  %r = plan.argument result "r" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.copy %x to %r store : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<argument>>
  }
}
// expected-error @+1 {{expected as many stores as on rank 0, 1, found 0}}
plan.program "f" rank(1) {
  %0 = plan.launch "k" stream(0) {
  }
}

// -----

plan.program "f" rank(0) {
  // expected-note @+1 {{this is there}}
  %0 = plan.launch "k" stream(0) {
  }
}
plan.program "f" rank(1) {
  // expected-error @+1 {{expected the same as on rank 0, launch 0 on stream 0, found launch 0 on stream 1}}
  %0 = plan.launch "k" stream(1) {
  }
}
