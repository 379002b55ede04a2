//===- FakeDriver.h - What the parts of the fake driver share ---*- C++ -*-===//
//
// The state of FakeCuda.cpp, for FakeMemory.cpp, and what calls begin with.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_GPU_FAKEDRIVER_H
#define CCN_TEST_UNIT_GPU_FAKEDRIVER_H

#include <cuda.h>

#include <atomic>
#include <mutex>
#include <string>

namespace fake {

extern std::mutex mutex;
/// What has been given and not been given back.
extern std::atomic<int> objects;

/// Whether ccnFakeFail has said so. `function` has the version that cuda.h
/// gives it.
bool isFailing(std::string function);
/// Of this thread; -1 if it has none.
int currentDevice();
CUcontext currentContext();
bool isCapturing();
/// Whether the current device may access what an address of a kernel leads to,
/// as far as this is known.
bool isAccessible(CUdeviceptr address);

/// Until all that the current context was given is done; nobody can give it
/// anything meanwhile.
void awaitDevice();

} // namespace fake

#define CCN_CALL(function)                                                     \
  if (fake::isFailing(#function))                                              \
    return CUDA_ERROR_UNKNOWN;
/// What needs a context, and what captures of this thread or another forbid.
#define CCN_CONTEXT(function)                                                  \
  CCN_CALL(function)                                                           \
  if (fake::currentDevice() < 0)                                               \
    return CUDA_ERROR_INVALID_CONTEXT;
#define CCN_UNCAPTURED(function)                                               \
  CCN_CONTEXT(function)                                                        \
  if (fake::isCapturing())                                                     \
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;

/// What also waits for the device, as the real driver may.
#define CCN_WAITING(function)                                                  \
  CCN_UNCAPTURED(function)                                                     \
  fake::awaitDevice();

#endif // CCN_TEST_UNIT_GPU_FAKEDRIVER_H
