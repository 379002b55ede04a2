//===- HopperUtil.h - Blocks that use instructions of sm_90a ----*- C++ -*-===//
//
// What tests of single instructions have in common: a block's shared memory, an
// order of what happens, and tensors' maps.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_HOPPERUTIL_H
#define CCN_TEST_UNIT_CUDA_HOPPERUTIL_H

#include "test/common/emulator/Blocks.h"
#include "test/common/emulator/TensorMap.h"

#include "test/common/emulator/Intrinsics.h"

#include <cstring>
#include <functional>
#include <vector>

namespace ccn::emulator {

constexpr size_t memoryBytes = 128 << 10;
alignas(1024) inline thread_local char shared[memoryBytes];
using u64 = unsigned long long;

/// A barrier in shared memory, behind everything else.
inline u64 *barrierAt(int number) {
  return reinterpret_cast<u64 *>(shared + memoryBytes) - 1 - number;
}

/// Runs a block, with some order of what happens.
inline void run(unsigned seed, int threads,
                const std::function<void()> &kernel) {
  seedOrder(seed);
  std::memset(shared, 0x55, memoryBytes);
  runBlocks(1, threads, [&] {
    useSharedMemory(shared, memoryBytes);
    kernel();
  });
}

/// How many of 40 orders give what is right.
inline int rightOnes(const std::function<bool(unsigned)> &isRight) {
  int count = 0;
  for (unsigned seed = 1; seed <= 40; ++seed)
    count += isRight(seed);
  return count;
}
constexpr int all = 40;

/// Gives up when nothing happens for long.
inline void awaitPhase(u64 *barrier, unsigned parity) {
  for (int turn = 0; turn < 1000 && !isPhaseOver(barrier, parity); ++turn) {
  }
}

inline CcnTensorMap mapOf(const void *data, runtime::ElementType type,
                          std::vector<int64_t> sizes, std::vector<int64_t> box,
                          int swizzle, int64_t rowStride = 0) {
  runtime::GpuTensorMap map;
  map.type = type;
  map.strides.assign(sizes.size(), 1);
  for (size_t dim = sizes.size() - 1; dim-- > 0;)
    map.strides[dim] = map.strides[dim + 1] * sizes[dim + 1];
  if (rowStride)
    map.strides[0] = rowStride;
  map.sizes = std::move(sizes);
  map.box = std::move(box);
  map.swizzle = swizzle;
  return encode(map, const_cast<void *>(data));
}

} // namespace ccn::emulator

#endif // CCN_TEST_UNIT_CUDA_HOPPERUTIL_H
