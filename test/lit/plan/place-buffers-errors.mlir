// RUN: ccn-opt %s --plan-place-buffers -split-input-file -verify-diagnostics

plan.program "f" rank(0) {
  // expected-note @+1 {{this is there}}
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
}
plan.program "f" rank(1) {
  // expected-error @+1 {{expected the same as on rank 0, a buffer of 32 bytes at 0, found a buffer of 64 bytes at 0}}
  %x = plan.buffer : memref<16xf32, #plan.memory<symmetric>>
}
