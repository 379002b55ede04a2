//===- CudaBlocks.h - Blocks of CUDA threads on the CPU ---------*- C++ -*-===//
//
// Runs kernels on the CPU: the blocks one after the other, the threads of a
// block as contexts of their own that take turns wherever they wait for each
// other, as far out of order as the barriers allow. Instructions of a warp are
// done as their documentation says; asynchronous copies at once or as late as
// may be.
// Included before the files of codegen/cuda.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CODEGEN_CUDABLOCKS_H
#define CCN_TEST_UNIT_CODEGEN_CUDABLOCKS_H

#include "test/unit/Codegen/CudaHost.h"

#include <functional>
#include <utility>

#define __shared__ static

struct CudaIndex {
  unsigned x = 0;
};
extern CudaIndex threadIdx, blockIdx, gridDim;

/// Runs `blocks` blocks of `threads` threads, a multiple of 32; fails the test
/// if threads wait for ones that do not come.
void runBlocks(int blocks, int threads, const std::function<void()> &kernel);

void __syncthreads();
int __syncthreads_or(int predicate);
unsigned __ballot_sync(unsigned mask, int predicate);
inline unsigned long long atomicAdd(unsigned long long *to,
                                    unsigned long long value) {
  return std::exchange(*to, *to + value);
}

// What products.cuh has as PTX; multiplyAdd takes how to decode an element.
void loadMatrices(unsigned (&to)[4], const void *row);
void loadTransposed(unsigned (&to)[4], const void *row);
void multiplyTiles(float (&sums)[4], const unsigned (&a)[4], const unsigned *b,
                   float (*decode)(unsigned short));
void copyAsync(void *to, const void *from, int bytes);
void awaitCopies();

#endif // CCN_TEST_UNIT_CODEGEN_CUDABLOCKS_H
