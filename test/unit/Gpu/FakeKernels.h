//===- FakeKernels.h - Kernels on the host ----------------------*- C++ -*-===//
//
// Those of SampleKernels.cu, block after block.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_GPU_FAKEKERNELS_H
#define CCN_TEST_UNIT_GPU_FAKEKERNELS_H

#include "runtime/plan/GpuAbi.h"

#include <cstddef>

struct FakeKernel {
  const char *name;
  void (*run)(unsigned blocks, unsigned threads, const void *context,
              const void *arguments, const void *numbers);
};

constexpr size_t fakeParameterBytes[] = {sizeof(CcnContext), 32, 24};

/// Null if there is none.
const FakeKernel *findFakeKernel(const char *name);

#endif // CCN_TEST_UNIT_GPU_FAKEKERNELS_H
