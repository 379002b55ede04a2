//===- Driver.h - CUDA's driver ---------------------------------*- C++ -*-===//
//
// The functions of libcuda.so that the runtime calls, found when it is opened.
// Only the implementation of the runtime for GPUs includes this: it needs
// CUDA's headers.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_DRIVER_H
#define CCN_RUNTIME_CUDA_DRIVER_H

#include "runtime/base/Status.h"

#include <cuda.h>

namespace ccn::runtime {

/// X(member, function): cuda.h defines names such as cuMemAlloc to those of the
/// versions that it declares, cuMemAlloc_v2.
#define CCN_DRIVER_FUNCTIONS(X)                                                \
  X(init, cuInit)                                                              \
  X(getErrorString, cuGetErrorString)                                          \
  X(getErrorName, cuGetErrorName)                                              \
  X(deviceGet, cuDeviceGet)                                                    \
  X(deviceGetCount, cuDeviceGetCount)                                          \
  X(deviceGetName, cuDeviceGetName)                                            \
  X(deviceGetAttribute, cuDeviceGetAttribute)                                  \
  X(deviceGetUuid, cuDeviceGetUuid)                                            \
  X(deviceCanAccessPeer, cuDeviceCanAccessPeer)                                \
  X(devicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)                          \
  X(devicePrimaryCtxRelease, cuDevicePrimaryCtxRelease)                        \
  X(ctxPushCurrent, cuCtxPushCurrent)                                          \
  X(ctxPopCurrent, cuCtxPopCurrent)                                            \
  X(ctxEnablePeerAccess, cuCtxEnablePeerAccess)                                \
  X(ctxGetLimit, cuCtxGetLimit)                                                \
  X(ctxSetLimit, cuCtxSetLimit)                                                \
  X(memGetInfo, cuMemGetInfo)                                                  \
  X(memAlloc, cuMemAlloc)                                                      \
  X(memFree, cuMemFree)                                                        \
  X(memHostAlloc, cuMemHostAlloc)                                              \
  X(memFreeHost, cuMemFreeHost)                                                \
  X(memHostGetDevicePointer, cuMemHostGetDevicePointer)                        \
  X(memsetD8Async, cuMemsetD8Async)                                            \
  X(memsetD32Async, cuMemsetD32Async)                                          \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync)                                        \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync)                                        \
  X(memcpyDtoDAsync, cuMemcpyDtoDAsync)                                        \
  X(memcpy2DAsync, cuMemcpy2DAsync)                                            \
  X(memGetAddressRange, cuMemGetAddressRange)                                  \
  X(ipcGetMemHandle, cuIpcGetMemHandle)                                        \
  X(ipcOpenMemHandle, cuIpcOpenMemHandle)                                      \
  X(ipcCloseMemHandle, cuIpcCloseMemHandle)                                    \
  X(memAddressReserve, cuMemAddressReserve)                                    \
  X(memAddressFree, cuMemAddressFree)                                          \
  X(memMap, cuMemMap)                                                          \
  X(memUnmap, cuMemUnmap)                                                      \
  X(memSetAccess, cuMemSetAccess)                                              \
  X(memRetainAllocationHandle, cuMemRetainAllocationHandle)                    \
  X(memRelease, cuMemRelease)                                                  \
  X(memExportToShareableHandle, cuMemExportToShareableHandle)                  \
  X(memImportFromShareableHandle, cuMemImportFromShareableHandle)              \
  X(streamCreate, cuStreamCreate)                                              \
  X(streamDestroy, cuStreamDestroy)                                            \
  X(streamQuery, cuStreamQuery)                                                \
  X(streamGetId, cuStreamGetId)                                                \
  X(streamWaitEvent, cuStreamWaitEvent)                                        \
  X(streamIsCapturing, cuStreamIsCapturing)                                    \
  X(streamBeginCapture, cuStreamBeginCapture)                                  \
  X(streamEndCapture, cuStreamEndCapture)                                      \
  X(exchangeCaptureMode, cuThreadExchangeStreamCaptureMode)                    \
  X(eventCreate, cuEventCreate)                                                \
  X(eventDestroy, cuEventDestroy)                                              \
  X(eventRecord, cuEventRecord)                                                \
  X(eventQuery, cuEventQuery)                                                  \
  X(graphInstantiate, cuGraphInstantiate)                                      \
  X(graphLaunch, cuGraphLaunch)                                                \
  X(graphDestroy, cuGraphDestroy)                                              \
  X(graphExecDestroy, cuGraphExecDestroy)                                      \
  X(moduleLoadData, cuModuleLoadData)                                          \
  X(moduleUnload, cuModuleUnload)                                              \
  X(moduleGetFunction, cuModuleGetFunction)                                    \
  X(funcGetAttribute, cuFuncGetAttribute)                                      \
  X(funcSetAttribute, cuFuncSetAttribute)                                      \
  X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor)                    \
  X(activeClusters, cuOccupancyMaxActiveClusters)                              \
  X(launchKernel, cuLaunchKernelEx)

struct Driver {
  /// Opens the driver and initializes it, once in a process. An error, the same
  /// each time, if there is no driver, no device, or a driver that is too old.
  static Result<const Driver *> get();

#define CCN_MEMBER(member, function) decltype (&::function)(member) = nullptr;
  CCN_DRIVER_FUNCTIONS(CCN_MEMBER)
#undef CCN_MEMBER
  /// Its second version, which cuda.h declares, has the same parameters and is
  /// not in older drivers.
  decltype(&::cuEventElapsedTime) eventElapsedTime = nullptr;
  /// How many queues a device has for the streams of this process. Streams that
  /// share one wait for each other.
  int queues = 8;
  // Null in older drivers.
  decltype(&::cuFuncLoad) funcLoad = nullptr;
  decltype(&::cuFuncGetParamInfo) funcGetParamInfo = nullptr;
  decltype(&::cuTensorMapEncodeTiled) tensorMapEncodeTiled = nullptr;

  /// Success, or an error with the call's name and CUDA's text.
  Status check(CUresult result, const char *call) const;
};

/// Makes a context current while it exists. What this thread does then, such as
/// giving memory back, does not spoil graphs that others capture meanwhile.
class CurrentContext {
public:
  CurrentContext(const Driver &driver, CUcontext context)
      : driver(driver), pushed(driver.ctxPushCurrent(context)),
        exchanged(driver.exchangeCaptureMode(&mode)) {}
  ~CurrentContext() {
    if (exchanged == CUDA_SUCCESS)
      (void)driver.exchangeCaptureMode(&mode);
    CUcontext popped;
    if (pushed == CUDA_SUCCESS)
      (void)driver.ctxPopCurrent(&popped);
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

  Status status() const { return driver.check(pushed, "cuCtxPushCurrent"); }

private:
  const Driver &driver;
  CUresult pushed;
  /// What this thread's is not meanwhile.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CUresult exchanged;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_DRIVER_H
