//===- FakeKernels.h - Kernels on the host ----------------------*- C++ -*-===//
//
// Those of SampleKernels.cu and SampleBoxes.cu, block after block.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_GPU_FAKEKERNELS_H
#define CCN_TEST_UNIT_GPU_FAKEKERNELS_H

#include "runtime/plan/GpuAbi.h"

#include <cstddef>

struct FakeKernel {
  const char *name;
  void (*run)(unsigned blocks, unsigned threads, const void *context,
              const void *arguments, const void *numbers,
              const void *tensorMaps);
  size_t parameterBytes[4];
};

/// Null if there is none.
const FakeKernel *findFakeKernel(const char *name);

#endif // CCN_TEST_UNIT_GPU_FAKEKERNELS_H
