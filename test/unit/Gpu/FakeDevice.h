//===- FakeDevice.h - Generated CUDA C++ compiled for the CPU ---*- C++ -*-===//
//
// Included by FakeNvrtc.cpp before a program's kernels. Blocks run as
// CudaBlocks.h says, in the fake driver.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_GPU_FAKEDEVICE_H
#define CCN_TEST_UNIT_GPU_FAKEDEVICE_H

#include "test/unit/Codegen/CudaBlocks.h"

#include <cstring>

extern "C" {
/// Dynamic shared memory.
alignas(16) thread_local unsigned char sharedMemory[227 * 1024];
}

template <class T>
void multiplyAdd(float (&sums)[4], const unsigned (&a)[4], const unsigned *b,
                 T) {
  multiplyTiles(sums, a, b,
                [](unsigned short bits) { return toFloat(T{bits}); });
}

#endif // CCN_TEST_UNIT_GPU_FAKEDEVICE_H
