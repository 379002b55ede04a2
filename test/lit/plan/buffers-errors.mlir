// Buffers, views and launches: every constraint that an operation checks by itself.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// group_c1
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected at least one rank, none negative and none twice}}
    plan.barrier <[0, -1]> flags(0)
  }
}

// -----

// group_c1
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected at least one rank, none negative and none twice}}
    plan.barrier <[0, 1, 0]> flags(0)
  }
}

// -----

// argument_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a contiguous buffer of static shape in the memory 'argument', found}}
  %x = plan.argument input "x" of tensor<8xf32> : memref<8xf32, #plan.memory<private>>
}

// -----

// argument_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a contiguous buffer of static shape in the memory 'argument', found}}
  %x = plan.argument input "x" of tensor<8xf32> : memref<8xf32, strided<[2]>, #plan.memory<argument>>
}

// -----

// argument_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a contiguous buffer of static shape in the memory 'argument', found}}
  %x = plan.argument input "x" of tensor<8xf32> : memref<?xf32, #plan.memory<argument>>
}

// -----

// argument_c1
ccn.mesh @m ["r" = 2]
plan.program "f" rank(1) {
  // expected-error @+1 {{expected the part that rank 1 holds, 'tensor<4xf32>', found 'memref<5xf32, #plan.memory<argument>>'}}
  %x = plan.argument input "x" of tensor<9xf32, #ccn.layout<@m, [{"r"}]>> : memref<5xf32, #plan.memory<argument>>
}

// -----

// argument_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected the part that rank 0 holds, 'tensor<8xf32>', found 'memref<8xf16, #plan.memory<argument>>'}}
  %x = plan.argument input "x" of tensor<8xf32> : memref<8xf16, #plan.memory<argument>>
}

// -----

// argument_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected the type of a tensor, found 'f32'}}
  %x = plan.argument input "x" of f32 : memref<f32, #plan.memory<argument>>
}

// -----

// argument_c1
ccn.mesh @m ["r" = 2]
plan.program "f" rank(2) {
  // expected-error @+1 {{expected a rank of the mesh, found 2}}
  %x = plan.argument input "x" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
}

// -----

// argument_c1
ccn.mesh @m ["r" = 2]
plan.program "f" rank(-1) {
  // expected-error @+1 {{expected a rank of the mesh, found -1}}
  %x = plan.argument input "x" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
}

// -----

// buffer_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a contiguous buffer of static shape in the memory 'private' or 'symmetric', found 'memref<8xf32, #plan.memory<argument>>'}}
  %x = plan.buffer : memref<8xf32, #plan.memory<argument>>
}

// -----

// buffer_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a contiguous buffer of static shape in the memory 'private' or 'symmetric', found 'memref<8xf32>'}}
  %x = plan.buffer : memref<8xf32>
}

// -----

// buffer_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a contiguous buffer of static shape in the memory 'private' or 'symmetric', found 'memref<8xf32, strided<[2]>, #plan.memory<private>>'}}
  %x = plan.buffer : memref<8xf32, strided<[2]>, #plan.memory<private>>
}

// -----

// buffer_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a contiguous buffer of static shape in the memory 'private' or 'symmetric', found 'memref<8xf32, #plan.memory<scratch>>'}}
  %x = plan.buffer : memref<8xf32, #plan.memory<scratch>>
}

// -----

// buffer_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a contiguous buffer of static shape in the memory 'private' or 'symmetric', found 'memref<?xf32, #plan.memory<private>>'}}
  %x = plan.buffer : memref<?xf32, #plan.memory<private>>
}

// -----

// buffer_c1
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected a contiguous buffer of static shape in the memory 'scratch', found}}
      %x = plan.buffer : memref<8xf32, #plan.memory<private>>
    }
  }
}

// -----

// buffer_c2
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a place that is a multiple of 64, and none of scratch, found 32}}
  %x = plan.buffer at 32 : memref<8xf32, #plan.memory<private>>
}

// -----

// buffer_c2
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a place that is a multiple of 64, and none of scratch, found -64}}
  %x = plan.buffer at -64 : memref<8xf32, #plan.memory<private>>
}

// -----

// buffer_c2
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected a place that is a multiple of 64, and none of scratch, found 64}}
      %x = plan.buffer at 64 : memref<8xf32, #plan.memory<scratch>>
    }
  }
}

// -----

// view_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected the element type and memory of the buffer, found}}
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<8xf16, #plan.memory<private>>
}

// -----

// view_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected the element type and memory of the buffer, found}}
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<symmetric>>
}

// -----

// view_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected static sizes and strides, found}}
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<?xf32, #plan.memory<private>>
}

// -----

// view_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected static sizes and strides, found}}
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<4xf32, strided<[?]>, #plan.memory<private>>
}

// -----

// view_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected static sizes and strides, found}}
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<4xf32, strided<[-1], offset: 4>, #plan.memory<private>>
}

// -----

// view_c1
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<4xf32, #plan.memory<private>>
  // expected-error @+1 {{expected a view of a buffer}}
  %w = plan.view %v : memref<4xf32, #plan.memory<private>> to memref<2xf32, #plan.memory<private>>
}

// -----

// view_c2
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected a part of 8 elements, found elements 0 to 8}}
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<9xf32, #plan.memory<private>>
}

// -----

// view_c2
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected a part of 8 elements, found elements 2 to 8}}
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<4xf32, strided<[2], offset: 2>, #plan.memory<private>>
}

// -----

// view_c2
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected a part of 8 elements, found}}
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<2xf32, strided<[9223372036854775807], offset: 1>, #plan.memory<private>>
}

// -----

// view_c2
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected a part of 8 elements, found}}
  %v = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<3x3xf32, strided<[4611686018427387904, 4611686018427387904]>, #plan.memory<private>>
}

// -----

// view_c3
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  // expected-error @+1 {{expected symmetric memory of a rank, found}}
  %v = plan.view %x rank(1) : memref<8xf32, #plan.memory<private>> to memref<8xf32, #plan.memory<private>>
}

// -----

// view_c3
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  // expected-error @+1 {{expected symmetric memory of a rank, found}}
  %v = plan.view %x rank(-1) : memref<8xf32, #plan.memory<symmetric>> to memref<8xf32, #plan.memory<symmetric>>
}

// -----

// launch_c1
plan.program "f" rank(0) {
  // expected-error @+1 {{expected a stream from 0 on, found -1}}
  %0 = plan.launch "k" stream(-1) {
  }
}

// -----

// launch_c2
plan.program "f" rank(0) {
  // expected-error @+1 {{expected parts of a kernel}}
  %0 = plan.launch "k" stream(0) {
    // expected-note @+1 {{found 'arith.constant'}}
    %c = arith.constant 1 : i64
  }
}
