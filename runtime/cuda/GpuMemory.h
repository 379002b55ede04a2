//===- GpuMemory.h - Whether devices have the memory they need --*- C++ -*-===//
//
// Before ranks take memory of their devices, each tells the others how much,
// so that all refuse, with the sizes, what does not fit a device that several
// may share.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUMEMORY_H
#define CCN_RUNTIME_CUDA_GPUMEMORY_H

#include "runtime/base/FreeMemory.h"
#include "runtime/cuda/GpuDevice.h"
#include "runtime/cuda/HostExchange.h"

namespace ccn::runtime {

/// The size of the records that are exchanged.
int64_t memoryRecordBytes();

/// How many bytes each rank may take beyond `needs`, which is what it is about
/// to take: the same on all ranks. An error, likewise, if those of a device
/// need more memory of it together than it has free. All ranks call this at the
/// same point; the device's context is current.
Result<int64_t> checkDeviceMemory(const GpuDevice &device,
                                  HostExchange &exchange,
                                  const MemoryNeeds &needs);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUMEMORY_H
