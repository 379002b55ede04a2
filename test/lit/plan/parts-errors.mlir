// Parts of kernels other than loops: every constraint that an operation checks by itself.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// copy_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf16, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected views of one element type, found}}
    plan.copy %x to %y : memref<8xf32, #plan.memory<private>> to memref<8xf16, #plan.memory<private>>
  }
}

// -----

// copy_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{all of {from, to} have same shape}}
    plan.copy %x to %y : memref<8xf32, #plan.memory<private>> to memref<4xf32, #plan.memory<private>>
  }
}

// -----

// copy_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %v = plan.view %x rank(1) : memref<8xf32, #plan.memory<symmetric>> to memref<8xf32, #plan.memory<symmetric>>
  %w = plan.view %y rank(1) : memref<8xf32, #plan.memory<symmetric>> to memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected one view in the own memory}}
    plan.copy %v to %w : memref<8xf32, #plan.memory<symmetric>> to memref<8xf32, #plan.memory<symmetric>>
  }
}

// -----

// barrier_c1
plan.program "f" rank(2) {
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected a group that rank 2 is in, found}}
    plan.barrier <[0, 1]> flags(0)
  }
}

// -----

// matmul_c1
plan.program "f" rank(0) {
  %a = plan.buffer : memref<2x3xf16, #plan.memory<private>>
  %b = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %c = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected views of one element type, found}}
    plan.matmul %a, %b to %c : memref<2x3xf16, #plan.memory<private>>, memref<3x4xf32, #plan.memory<private>> to memref<2x4xf32, #plan.memory<private>>
  }
}

// -----

// matmul_c1
plan.program "f" rank(0) {
  %a = plan.buffer : memref<2x3xf32, #plan.memory<private>>
  %b = plan.buffer : memref<4x4xf32, #plan.memory<private>>
  %c = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected matrices that fit, found}}
    plan.matmul %a, %b to %c : memref<2x3xf32, #plan.memory<private>>, memref<4x4xf32, #plan.memory<private>> to memref<2x4xf32, #plan.memory<private>>
  }
}

// -----

// matmul_c1
plan.program "f" rank(0) {
  %a = plan.buffer : memref<2x3xf32, #plan.memory<private>>
  %b = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %c = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected matrices that fit, found}}
    plan.matmul %a, %b to %c : memref<2x3xf32, #plan.memory<private>>, memref<3x4xf32, #plan.memory<private>> to memref<3x4xf32, #plan.memory<private>>
  }
}

// -----

// matmul_c1
plan.program "f" rank(0) {
  %a = plan.buffer : memref<2x3xf32, #plan.memory<private>>
  %b = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %c = plan.buffer : memref<2x5xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected matrices that fit, found}}
    plan.matmul %a, %b to %c : memref<2x3xf32, #plan.memory<private>>, memref<3x4xf32, #plan.memory<private>> to memref<2x5xf32, #plan.memory<private>>
  }
}

// -----

// matmul_c1
plan.program "f" rank(0) {
  %a = plan.buffer : memref<5x2x3xf32, #plan.memory<private>>
  %b = plan.buffer : memref<4x3x4xf32, #plan.memory<private>>
  %c = plan.buffer : memref<5x2x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected matrices that fit, found}}
    plan.matmul %a, %b to %c : memref<5x2x3xf32, #plan.memory<private>>, memref<4x3x4xf32, #plan.memory<private>> to memref<5x2x4xf32, #plan.memory<private>>
  }
}

// -----

// matmul_c1
plan.program "f" rank(0) {
  %a = plan.buffer : memref<5x2x3xf32, #plan.memory<private>>
  %b = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %c = plan.buffer : memref<5x2x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected matrices that fit, found}}
    plan.matmul %a, %b to %c : memref<5x2x3xf32, #plan.memory<private>>, memref<3x4xf32, #plan.memory<private>> to memref<5x2x4xf32, #plan.memory<private>>
  }
}

// -----

// matmul_c1
plan.program "f" rank(0) {
  %a = plan.buffer : memref<3xf32, #plan.memory<private>>
  %b = plan.buffer : memref<3xf32, #plan.memory<private>>
  %c = plan.buffer : memref<3xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected matrices that fit, found}}
    plan.matmul %a, %b to %c : memref<3xf32, #plan.memory<private>>, memref<3xf32, #plan.memory<private>> to memref<3xf32, #plan.memory<private>>
  }
}

// -----

// conv2d_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<1x2x4x4xf16, #plan.memory<private>>
  %w = plan.buffer : memref<3x2x3x3xf32, #plan.memory<private>>
  %y = plan.buffer : memref<1x3x2x2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected views of one element type, found}}
    plan.conv2d %x, %w to %y stride 1 padding 0 : memref<1x2x4x4xf16, #plan.memory<private>>, memref<3x2x3x3xf32, #plan.memory<private>> to memref<1x3x2x2xf32, #plan.memory<private>>
  }
}

// -----

// conv2d_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2x4x4xf32, #plan.memory<private>>
  %w = plan.buffer : memref<3x2x3x3xf32, #plan.memory<private>>
  %y = plan.buffer : memref<1x3x2x2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected contiguous views of rank 4, found}}
    plan.conv2d %x, %w to %y stride 1 padding 0 : memref<2x4x4xf32, #plan.memory<private>>, memref<3x2x3x3xf32, #plan.memory<private>> to memref<1x3x2x2xf32, #plan.memory<private>>
  }
}

// -----

// conv2d_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<1x2x4x4xf32, #plan.memory<private>>
  %v = plan.view %x : memref<1x2x4x4xf32, #plan.memory<private>> to memref<1x2x4x4xf32, strided<[32, 16, 1, 4]>, #plan.memory<private>>
  %w = plan.buffer : memref<3x2x3x3xf32, #plan.memory<private>>
  %y = plan.buffer : memref<1x3x2x2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected contiguous views of rank 4, found}}
    plan.conv2d %v, %w to %y stride 1 padding 0 : memref<1x2x4x4xf32, strided<[32, 16, 1, 4]>, #plan.memory<private>>, memref<3x2x3x3xf32, #plan.memory<private>> to memref<1x3x2x2xf32, #plan.memory<private>>
  }
}

// -----

// gather_rows_c1
plan.program "f" rank(0) {
  %t = plan.buffer : memref<8x4xf16, #plan.memory<private>>
  %i = plan.buffer : memref<3xi64, #plan.memory<private>>
  %o = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected views of one element type, found}}
    plan.gather_rows %t at %i to %o : memref<8x4xf16, #plan.memory<private>>, memref<3xi64, #plan.memory<private>> to memref<3x4xf32, #plan.memory<private>>
  }
}

// -----

// gather_rows_c1
plan.program "f" rank(0) {
  %t = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %i = plan.buffer : memref<3xi64, #plan.memory<private>>
  %o = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected contiguous rows that fit, found}}
    plan.gather_rows %t at %i to %o : memref<8x4xf32, #plan.memory<private>>, memref<3xi64, #plan.memory<private>> to memref<2x4xf32, #plan.memory<private>>
  }
}

// -----

// gather_rows_c1
plan.program "f" rank(0) {
  %t = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %i = plan.buffer : memref<3xi64, #plan.memory<private>>
  %o = plan.buffer : memref<3x5xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected contiguous rows that fit, found}}
    plan.gather_rows %t at %i to %o : memref<8x4xf32, #plan.memory<private>>, memref<3xi64, #plan.memory<private>> to memref<3x5xf32, #plan.memory<private>>
  }
}

// -----

// gather_rows_c1
plan.program "f" rank(0) {
  %t = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %i = plan.buffer : memref<3x1xi64, #plan.memory<private>>
  %o = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected contiguous rows that fit, found}}
    plan.gather_rows %t at %i to %o : memref<8x4xf32, #plan.memory<private>>, memref<3x1xi64, #plan.memory<private>> to memref<3x4xf32, #plan.memory<private>>
  }
}

// -----

// gather_rows_c1
plan.program "f" rank(0) {
  %t = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %v = plan.view %t : memref<8x4xf32, #plan.memory<private>> to memref<8x4xf32, strided<[1, 8]>, #plan.memory<private>>
  %i = plan.buffer : memref<3xi64, #plan.memory<private>>
  %o = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected contiguous rows that fit, found}}
    plan.gather_rows %v at %i to %o : memref<8x4xf32, strided<[1, 8]>, #plan.memory<private>>, memref<3xi64, #plan.memory<private>> to memref<3x4xf32, #plan.memory<private>>
  }
}

// -----

// gather_rows_c1
plan.program "f" rank(0) {
  %t = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %i = plan.buffer : memref<3xf32, #plan.memory<private>>
  %o = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected contiguous rows that fit, found}}
    plan.gather_rows %t at %i to %o : memref<8x4xf32, #plan.memory<private>>, memref<3xf32, #plan.memory<private>> to memref<3x4xf32, #plan.memory<private>>
  }
}

// -----

// scatter_rows_c1
plan.program "f" rank(0) {
  %t = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %i = plan.buffer : memref<3xi64, #plan.memory<private>>
  %r = plan.buffer : memref<3x4xf16, #plan.memory<private>>
  %o = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected views of one element type, found}}
    plan.scatter_rows %r at %i into %t to %o : memref<3x4xf16, #plan.memory<private>>, memref<3xi64, #plan.memory<private>>, memref<8x4xf32, #plan.memory<private>> to memref<8x4xf32, #plan.memory<private>>
  }
}

// -----

// scatter_rows_c1
plan.program "f" rank(0) {
  %t = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %i = plan.buffer : memref<3xi64, #plan.memory<private>>
  %r = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %o = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected contiguous rows that fit, found}}
    plan.scatter_rows %r at %i into %t to %o : memref<2x4xf32, #plan.memory<private>>, memref<3xi64, #plan.memory<private>>, memref<8x4xf32, #plan.memory<private>> to memref<8x4xf32, #plan.memory<private>>
  }
}

// -----

// scatter_rows_c1
plan.program "f" rank(0) {
  %t = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %i = plan.buffer : memref<3xi64, #plan.memory<private>>
  %r = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %o = plan.buffer : memref<7x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected to store a contiguous table, found}}
    plan.scatter_rows %r at %i into %t to %o : memref<3x4xf32, #plan.memory<private>>, memref<3xi64, #plan.memory<private>>, memref<8x4xf32, #plan.memory<private>> to memref<7x4xf32, #plan.memory<private>>
  }
}

// -----

// scatter_rows_c1
plan.program "f" rank(0) {
  %t = plan.buffer : memref<8x4xf32, #plan.memory<private>>
  %i = plan.buffer : memref<3xi64, #plan.memory<private>>
  %r = plan.buffer : memref<3x4xf32, #plan.memory<private>>
  %o = plan.buffer : memref<8x4xf16, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected views of one element type, found}}
    plan.scatter_rows %r at %i into %t to %o : memref<3x4xf32, #plan.memory<private>>, memref<3xi64, #plan.memory<private>>, memref<8x4xf32, #plan.memory<private>> to memref<8x4xf16, #plan.memory<private>>
  }
}

// -----

// exchange_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf16, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected views of one element type, found}}
    plan.exchange ll with sum %x to %y among <[0, 1]> largest(8) : memref<8xf32, #plan.memory<private>> to memref<8xf16, #plan.memory<private>>
  }
}

// -----

// exchange_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<4xf32, strided<[2]>, #plan.memory<private>>
  %y = plan.buffer : memref<4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected contiguous views, found}}
    plan.exchange ll with sum %v to %y among <[0, 1]> largest(4) : memref<4xf32, strided<[2]>, #plan.memory<private>> to memref<4xf32, #plan.memory<private>>
  }
}

// -----

// exchange_c2
plan.program "f" rank(2) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected a group that rank 2 is in, found}}
    plan.exchange ll with sum %x to %y among <[0, 1]> largest(8) : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// exchange_c3
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected an algorithm of the module with 'schedule', and none otherwise}}
    plan.exchange schedule with sum %x to %y among <[0, 1]> largest(8) : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// exchange_c3
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected an algorithm of the module with 'schedule', and none otherwise}}
    plan.exchange schedule schedule @none with sum %x to %y among <[0, 1]> largest(8) : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
  }
}

// -----

// gather_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<2xf16, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected views of one element type, found}}
    plan.gather %x to %y among <[0, 1]> first(0) counts [1] members [1] reads [0] writes [2] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf16, #plan.memory<private>>
  }
}

// -----

// gather_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2xf32, #plan.memory<private>>
  %y = plan.buffer : memref<2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected to read a symmetric buffer and to write another one, both by views of the own memory}}
    plan.gather %x to %y among <[0, 1]> first(0) counts [1] members [1] reads [0] writes [2] : memref<2xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  }
}

// -----

// gather_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2xf32, #plan.memory<symmetric>>
  %v = plan.view %x rank(1) : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected to read a symmetric buffer and to write another one, both by views of the own memory}}
    plan.gather %v to %y among <[0, 1]> first(0) counts [1] members [1] reads [0] writes [2] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
}

// -----

// gather_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %v = plan.view %x : memref<8xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<symmetric>>
  %w = plan.view %x : memref<8xf32, #plan.memory<symmetric>> to memref<2xf32, strided<[1], offset: 4>, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected to read a symmetric buffer and to write another one, both by views of the own memory}}
    plan.gather %v to %w among <[0, 1]> first(0) counts [2] members [1] reads [0] writes [2] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, strided<[1], offset: 4>, #plan.memory<symmetric>>
  }
}

// -----

// gather_c2
plan.program "f" rank(2) {
  %x = plan.buffer : memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<4xf32, #plan.memory<private>>
  %w = plan.view %y : memref<4xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected a group that rank 2 is in, found}}
    plan.gather %x to %w among <[0, 1]> first(0) counts [2] members [1] reads [0] writes [2] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
}

// -----

// gather_c2
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<4xf32, #plan.memory<private>>
  %w = plan.view %y : memref<4xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected as many steps as counts, counts of at least 1 and steps of at least 0}}
    plan.gather %x to %w among <[0, 1]> first(0) counts [2] members [1] reads [0] writes [2, 2] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
}

// -----

// gather_c2
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<4xf32, #plan.memory<private>>
  %w = plan.view %y : memref<4xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected as many steps as counts, counts of at least 1 and steps of at least 0}}
    plan.gather %x to %w among <[0, 1]> first(0) counts [0] members [1] reads [0] writes [2] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
}

// -----

// gather_c2
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<4xf32, #plan.memory<private>>
  %w = plan.view %y : memref<4xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected pieces of the 2 members of the group}}
    plan.gather %x to %w among <[0, 1]> first(1) counts [2] members [1] reads [0] writes [2] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
}

// -----

// gather_c3
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<4xf32, #plan.memory<private>>
  %w = plan.view %y : memref<4xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected pieces with elements that lie within 'memref<2xf32, #plan.memory<symmetric>>'}}
    plan.gather %x to %w among <[0, 1]> first(0) counts [2] members [1] reads [1] writes [2] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
}

// -----

// gather_c3
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<4xf32, #plan.memory<private>>
  %w = plan.view %y : memref<4xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected pieces with elements that lie within 'memref<4xf32, #plan.memory<private>>'}}
    plan.gather %x to %w among <[0, 1]> first(0) counts [2] members [1] reads [0] writes [3] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
}

// -----

// gather_c3
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<4xf32, #plan.memory<private>>
  %w = plan.view %y : memref<4xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected pieces that are written in places of their own}}
    plan.gather %x to %w among <[0, 1]> first(0) counts [2] members [1] reads [0] writes [1] : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
  }
}
