// What holds between the launches of a plan, and between the ranks' plans.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics -plan-verify

// plan_c1
plan.program "f" rank(0) {

}
// expected-error @+1 {{expected one plan for rank 0}}
plan.program "f" rank(0) {

}

// -----

// plan_c2
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer at 64 : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer at 128 : memref<8xf32, #plan.memory<private>>
  // expected-note @+1 {{found 'first'}}
  %0 = plan.launch "first" stream(0) {
    plan.copy %x to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
  // expected-error @+1 {{expected to be ordered by events with a launch of another stream that accesses the same memory}}
  %1 = plan.launch "k" stream(1) {
    plan.copy %z to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// plan_c2
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer at 64 : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer at 128 : memref<8xf32, #plan.memory<private>>
  // expected-note @+1 {{found 'first'}}
  %0 = plan.launch "first" stream(0) {
    plan.copy %x to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
  // expected-error @+1 {{expected to be ordered by events with a launch of another stream that accesses the same memory}}
  %1 = plan.launch "k" stream(1) {
    plan.copy %y to %z : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// plan_c2
plan.program "f" rank(0) {
  %x = plan.buffer at 128 : memref<32xf32, #plan.memory<private>>
  %y = plan.buffer at 64 : memref<32xf32, #plan.memory<private>>
  %z = plan.buffer at 256 : memref<32xf32, #plan.memory<private>>
  // expected-note @+1 {{found 'first'}}
  %0 = plan.launch "first" stream(0) {
    plan.copy %z to %y : memref<32xf32, #plan.memory<private>> to memref<32xf32, #plan.memory<private>>
  }
  // expected-error @+1 {{expected to be ordered by events with a launch of another stream that accesses the same memory}}
  %1 = plan.launch "k" stream(1) {
    plan.copy %x to %z : memref<32xf32, #plan.memory<private>> to memref<32xf32, #plan.memory<private>>
  }
}

// -----

// plan_c2
plan.program "f" rank(0) {
  %x = plan.argument inout "x" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
  %y = plan.buffer at 64 : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer at 128 : memref<8xf32, #plan.memory<private>>
  // expected-note @+1 {{found 'first'}}
  %0 = plan.launch "first" stream(0) {
    plan.copy %y to %x : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<argument>>
  }
  // expected-error @+1 {{expected to be ordered by events with a launch of another stream that accesses the same memory}}
  %1 = plan.launch "k" stream(1) {
    plan.copy %x to %z : memref<8xf32, #plan.memory<argument>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// plan_c2
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer at 64 : memref<8xf32, #plan.memory<private>>
  %v = plan.view %x rank(1) : memref<8xf32, #plan.memory<symmetric>> to memref<8xf32, #plan.memory<symmetric>>
  // expected-note @+1 {{found 'first'}}
  %0 = plan.launch "first" stream(0) {
    plan.copy %y to %v : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<symmetric>>
  }
  // expected-error @+1 {{expected to be ordered by events with a launch of another stream that accesses the same memory}}
  %1 = plan.launch "k" stream(1) {
    plan.copy %x to %z : memref<8xf32, #plan.memory<symmetric>> to memref<8xf32, #plan.memory<private>>
  }
}
plan.program "f" rank(1) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer at 64 : memref<8xf32, #plan.memory<private>>
  %v = plan.view %x rank(0) : memref<8xf32, #plan.memory<symmetric>> to memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "first" stream(0) {
    plan.copy %y to %v : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<symmetric>>
  }
  %1 = plan.launch "k" stream(1) {
    plan.copy %x to %z : memref<8xf32, #plan.memory<symmetric>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// plan_c2
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer at 64 : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer at 128 : memref<8xf32, #plan.memory<private>>
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<4xf32, strided<[2]>, #plan.memory<private>>
  %w = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<3xf32, strided<[3], offset: 1>, #plan.memory<private>>
  %a = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<4xf32, #plan.memory<private>>
  %b = plan.view %z : memref<8xf32, #plan.memory<private>> to memref<3xf32, #plan.memory<private>>
  // expected-note @+1 {{found 'first'}}
  %0 = plan.launch "first" stream(0) {
    plan.copy %a to %v : memref<4xf32, #plan.memory<private>> to memref<4xf32, strided<[2]>, #plan.memory<private>>
  }
  // expected-error @+1 {{expected to be ordered by events with a launch of another stream that accesses the same memory}}
  %1 = plan.launch "k" stream(1) {
    plan.copy %w to %b : memref<3xf32, strided<[3], offset: 1>, #plan.memory<private>> to memref<3xf32, #plan.memory<private>>
  }
}

// -----

// plan_c2
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer at 64 : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer at 128 : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "earlier" stream(0) {
  }
  // expected-note @+1 {{found 'first'}}
  %1 = plan.launch "first" stream(0) {
    plan.copy %x to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
  // expected-error @+1 {{expected to be ordered by events with a launch of another stream that accesses the same memory}}
  %2 = plan.launch "k" stream(1) waits(%0) {
    plan.copy %y to %z : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// plan_c3
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected places of all buffers or of none}}
  %y = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
}

// -----

// plan_c3
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected neither segments nor stores once buffers have places}}
  %0 = plan.launch "k" stream(0) segment(0) {
  }
}

// -----

// plan_c3
plan.program "f" rank(0) {
  %r = plan.argument result "r" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected neither segments nor stores once buffers have places}}
    plan.copy %x to %r store : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<argument>>
  }
}

// -----

// plan_c2: launches of one segment.
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-note @+1 {{found 'first'}}
  %0 = plan.launch "first" stream(0) segment(1) {
    plan.copy %x to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
  // expected-error @+1 {{expected to be ordered by events with a launch of another stream that accesses the same memory}}
  %1 = plan.launch "k" stream(1) segment(1) {
    plan.copy %x to %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// plan_c4
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    plan.barrier <[0, 1]> flags(0)
    // expected-error @+1 {{expected a flag of its own, found 1}}
    plan.barrier <[0, 1]> flags(1)
  }
}

// -----

// plan_c4
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    plan.await rank(1) flag(3)
    // expected-error @+1 {{expected a flag of its own, found 3}}
    plan.await rank(1) flag(3)
  }
}

// -----

// plan_c4
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    plan.await rank(1) flag(1)
    // expected-error @+1 {{expected a flag of its own, found 1}}
    plan.barrier <[0, 1]> flags(0)
  }
}

// -----

// plan_c4
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected a flag of its own, found -1}}
    plan.await rank(1) flag(-1)
  }
}

// -----

// plan_c5
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

// -----

// plan_c5
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
  }
  // expected-note @+1 {{this is there}}
  %1 = plan.launch "k" stream(1) waits(%0) {
  }
}
plan.program "f" rank(1) {
  %0 = plan.launch "k" stream(0) {
  }
  // expected-error @+1 {{expected the same as on rank 0, launch 1 on stream 1 after 0, found launch 1 on stream 1}}
  %1 = plan.launch "k" stream(1) {
  }
}

// -----

// plan_c5
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
  }
}
// expected-error @+1 {{expected as many launches, barriers and symmetric buffers as on rank 0, 1, found 2}}
plan.program "f" rank(1) {
  %0 = plan.launch "k" stream(0) {
  }
  %1 = plan.launch "k" stream(0) {
  }
}

// -----

// plan_c5
plan.program "f" rank(0) {
  // expected-note @+1 {{this is there}}
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<symmetric>>
}
plan.program "f" rank(1) {
  // expected-error @+1 {{expected the same as on rank 0, a buffer of 32 bytes at 0, found a buffer of 36 bytes at 0}}
  %x = plan.buffer at 0 : memref<9xf32, #plan.memory<symmetric>>
}

// -----

// plan_c5
plan.program "f" rank(0) {
  // expected-note @+1 {{this is there}}
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<symmetric>>
}
plan.program "f" rank(1) {
  // expected-error @+1 {{expected the same as on rank 0, a buffer of 32 bytes at 0, found a buffer of 32 bytes at 64}}
  %x = plan.buffer at 64 : memref<8xf32, #plan.memory<symmetric>>
}

// -----

// plan_c5
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    // expected-note @+1 {{this is there}}
    plan.barrier <[0, 1]> flags(0)
  }
}
plan.program "f" rank(1) {
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected the same as on rank 0, a barrier of 2 ranks with flags from 0, found a barrier of 2 ranks with flags from 2}}
    plan.barrier <[0, 1]> flags(2)
  }
}

// -----

// plan_c5
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-note @+1 {{this is there}}
    plan.exchange ll with sum %x to %x among <[0, 1]> largest(8) : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}
plan.program "f" rank(1) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected the same as on rank 0, an exchange of 2 ranks by ll of at most 8 elements, found an exchange of 2 ranks by lamport of at most 8 elements}}
    plan.exchange lamport with sum %x to %x among <[0, 1]> largest(8) : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// plan_c5
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-note @+1 {{this is there}}
    plan.exchange ll with sum %x to %x among <[0, 1]> largest(8) : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}
plan.program "f" rank(1) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected the same as on rank 0, an exchange of 2 ranks by ll of at most 8 elements, found an exchange of 2 ranks by ll of at most 9 elements}}
    plan.exchange ll with sum %x to %x among <[0, 1]> largest(9) : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// plan_c5
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-note @+1 {{this is there}}
    plan.exchange ll with sum %x to %x among <[0, 1]> largest(8) : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}
plan.program "f" rank(1) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected the same as on rank 0, an exchange of 2 ranks by ll of at most 8 elements, found a barrier of 2 ranks with flags from 0}}
    plan.barrier <[0, 1]> flags(0)
  }
}

// -----

// plan_c5
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected one signal and one await of flag 0 from rank 0 to rank 1}}
    plan.signal rank(1) flag(0)
  }
}
plan.program "f" rank(1) {
  %0 = plan.launch "k" stream(0) {
  }
}

// -----

// plan_c5
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
  }
}
plan.program "f" rank(1) {
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected one signal and one await of flag 0 from rank 0 to rank 1}}
    plan.await rank(0) flag(0)
  }
}

// -----

// plan_c5
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    plan.signal rank(1) flag(0)
    plan.signal rank(1) flag(0)
  }
}
plan.program "f" rank(1) {
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected one signal and one await of flag 0 from rank 0 to rank 1}}
    plan.await rank(0) flag(0)
  }
}

// -----

// plan_c2: the second piece of the gather.
plan.program "f" rank(1) {
  %x = plan.buffer at 0 : memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer at 64 : memref<2xf32, #plan.memory<private>>
  %v = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  %w = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<2xf32, strided<[1], offset: 4>, #plan.memory<private>>
  // expected-note @+1 {{found 'first'}}
  %0 = plan.launch "first" stream(0) {
    plan.gather %x to %v among <[0, 1]> first(0) counts [2] members [1] reads [0] writes [4] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
  // expected-error @+1 {{expected to be ordered by events with a launch of another stream that accesses the same memory}}
  %1 = plan.launch "k" stream(1) {
    plan.copy %w to %z : memref<2xf32, strided<[1], offset: 4>, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  }
}

// -----

// plan_c2: one rank reads, by a gather, what the other writes.
plan.program "f" rank(0) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer at 0 : memref<4xf32, #plan.memory<private>>
  %z = plan.buffer at 64 : memref<2xf32, #plan.memory<private>>
  %u = plan.view %x : memref<8xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<symmetric>>
  %v = plan.view %y : memref<4xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  %0 = plan.launch "first" stream(0) {
    plan.gather %u to %v among <[0, 1]> first(0) counts [2] members [1] reads [6] writes [2] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
  %1 = plan.launch "k" stream(1) {
  }
}
plan.program "f" rank(1) {
  %x = plan.buffer at 0 : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer at 0 : memref<2xf32, #plan.memory<private>>
  %u = plan.view %x : memref<8xf32, #plan.memory<symmetric>> to memref<2xf32, strided<[1], offset: 6>, #plan.memory<symmetric>>
  // expected-note @+1 {{found 'first'}}
  %0 = plan.launch "first" stream(0) {
  }
  // expected-error @+1 {{expected to be ordered by events with a launch of another stream that accesses the same memory}}
  %1 = plan.launch "k" stream(1) {
    plan.copy %y to %u : memref<2xf32, #plan.memory<private>> to memref<2xf32, strided<[1], offset: 6>, #plan.memory<symmetric>>
  }
}
