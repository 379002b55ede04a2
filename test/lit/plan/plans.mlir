// Plans that the checks between launches and ranks accept.
// RUN: ccn-opt %s -plan-verify -split-input-file | ccn-opt -split-input-file | FileCheck %s
// CHECK-COUNT-10: plan.program

// Launches of two streams that share nothing but what both read, interleave, or
// are ordered through a third.
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer at 64 : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer at 128 : memref<8xf32, #plan.memory<private>>
  %e = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<4xf32, strided<[2]>, #plan.memory<private>>
  %o = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<4xf32, strided<[2], offset: 1>, #plan.memory<private>>
  %a = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.copy %a to %e : memref<4xf32, #plan.memory<private>> to memref<4xf32, strided<[2]>, #plan.memory<private>>
  }
  %1 = plan.launch "k" stream(1) {
    plan.copy %a to %o : memref<4xf32, #plan.memory<private>> to memref<4xf32, strided<[2], offset: 1>, #plan.memory<private>>
  }
  %2 = plan.launch "k" stream(2) waits(%0, %1) {
  }
  %3 = plan.launch "k" stream(3) waits(%2) {
    plan.copy %y to %z : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}
// -----

// Each takes the first half of what the other has, whose parts are larger or
// smaller, while it makes the second half of its own.
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<12xf32, #plan.memory<symmetric>>
  %y = plan.buffer at 0 : memref<6xf32, #plan.memory<private>>
  %z = plan.buffer at 64 : memref<6xf32, #plan.memory<private>>
  %v = plan.view %x rank(1) : memref<12xf32, #plan.memory<symmetric>> to memref<4xf32, #plan.memory<symmetric>>
  %w = plan.view %x : memref<12xf32, #plan.memory<symmetric>> to memref<6xf32, strided<[1], offset: 6>, #plan.memory<symmetric>>
  %u = plan.view %z : memref<6xf32, #plan.memory<private>> to memref<4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.copy %v to %u : memref<4xf32, #plan.memory<symmetric>> to memref<4xf32, #plan.memory<private>>
  }
  %1 = plan.launch "k" stream(1) {
    plan.copy %y to %w : memref<6xf32, #plan.memory<private>> to memref<6xf32, strided<[1], offset: 6>, #plan.memory<symmetric>>
  }
}
plan.program "f" rank(1) {
  %x = plan.buffer at 0 : memref<12xf32, #plan.memory<symmetric>>
  %y = plan.buffer at 0 : memref<4xf32, #plan.memory<private>>
  %z = plan.buffer at 64 : memref<6xf32, #plan.memory<private>>
  %v = plan.view %x rank(0) : memref<12xf32, #plan.memory<symmetric>> to memref<6xf32, #plan.memory<symmetric>>
  %w = plan.view %x : memref<12xf32, #plan.memory<symmetric>> to memref<4xf32, strided<[1], offset: 4>, #plan.memory<symmetric>>
  %u = plan.view %z : memref<6xf32, #plan.memory<private>> to memref<6xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.copy %v to %u : memref<6xf32, #plan.memory<symmetric>> to memref<6xf32, #plan.memory<private>>
  }
  %1 = plan.launch "k" stream(1) {
    plan.copy %y to %w : memref<4xf32, #plan.memory<private>> to memref<4xf32, strided<[1], offset: 4>, #plan.memory<symmetric>>
  }
}
// -----

// Buffers without places are apart.
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.copy %x to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
  %1 = plan.launch "k" stream(1) {
    plan.copy %x to %z : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}
// -----

// Segments follow each other.
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) segment(0) {
    plan.copy %x to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
  %1 = plan.launch "k" stream(1) segment(1) {
    plan.copy %y to %x store : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}
// -----

// Symmetric and private memory are apart, whatever their places; so are
// arguments and results.
plan.program "f" rank(0) {
  %g = plan.argument input "g" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
  %r = plan.argument result "r" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer at 0 : memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.copy %g to %x : memref<8xf32, #plan.memory<argument>> to memref<8xf32, #plan.memory<private>>
  }
  %1 = plan.launch "k" stream(1) {
    plan.copy %g to %y : memref<8xf32, #plan.memory<argument>> to memref<8xf32, #plan.memory<symmetric>>
  }
  %2 = plan.launch "k" stream(2) {
    plan.copy %g to %r : memref<8xf32, #plan.memory<argument>> to memref<8xf32, #plan.memory<argument>>
  }
}
// -----

// Ranks that give and take in different ways; signals; one rank of two.
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.barrier <[0, 1]> flags(0)
    plan.signal rank(1) flag(2)
  }
}
plan.program "f" rank(1) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.copy %y to %x : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<symmetric>>
    plan.barrier <[0, 1]> flags(0)
    plan.await rank(0) flag(2)
  }
}
plan.program "g" rank(1) {
  %0 = plan.launch "k" stream(0) {
    plan.await rank(0) flag(0)
  }
}// -----

// A gather writes what no launch of another stream reads.
plan.program "f" rank(1) {
  %x = plan.buffer at 0 : memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer at 64 : memref<2xf32, #plan.memory<private>>
  %v = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  %w = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<2xf32, strided<[1], offset: 2>, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.gather %x to %v among <[0, 1]> first(0) counts [2] members [1] reads [0] writes [4] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
  %1 = plan.launch "k" stream(1) {
    plan.copy %w to %z : memref<2xf32, strided<[1], offset: 2>, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  }
}
