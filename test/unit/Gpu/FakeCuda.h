//===- FakeCuda.h - A driver of CUDA without GPUs ---------------*- C++ -*-===//
//
// FakeCuda.cpp and FakeMemory.cpp are a libcuda.so.1 whose devices are threads:
// the runtime's tests load it in place of NVIDIA's, to execute everything but
// the kernels, which are those of averageOnGpus written for the host, or what
// FakeNvrtc.cpp compiles. It is as strict as the real one about what a capture
// forbids, and about what mapped memory a device can access.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_GPU_FAKECUDA_H
#define CCN_TEST_UNIT_GPU_FAKECUDA_H

#include <cstddef>
#include <dlfcn.h>

extern "C" {
/// Makes calls of `function` fail from its `call`-th on, counted from 0, in
/// threads whose current device is `device` (-1: any). Null ends that.
void ccnFakeFail(const char *function, int device, int call);
/// What devices have free from now on.
void ccnFakeFree(size_t bytes);
/// How many pieces of memory, mappings, streams, events and modules there are.
int ccnFakeObjects();
/// Whether the calling thread has a context that somebody holds.
int ccnFakeHasContext();
/// How many streams have got a queue that may be another's too, since the last
/// call.
int ccnFakeSharedQueues();
/// Calls work(data) in the stream, as of a library.
void ccnFakeEnqueue(struct CUstream_st *stream, void (*work)(void *),
                    void *data);
}

/// A function of the driver, where one is loaded; of the fake one's own, null
/// on a real one.
template <typename Function> Function *fakeFunction(const char *name) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver ? reinterpret_cast<Function *>(dlsym(driver, name)) : nullptr;
}

#endif // CCN_TEST_UNIT_GPU_FAKECUDA_H
