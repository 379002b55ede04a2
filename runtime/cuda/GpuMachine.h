//===- GpuMachine.h - The GPUs of this machine ------------------*- C++ -*-===//
//
// Finds out which GPUs there are, without an executor. Needs no headers of
// CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUMACHINE_H
#define CCN_RUNTIME_CUDA_GPUMACHINE_H

#include "runtime/base/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace ccn::runtime {

class GpuDevice;

/// An error if there is no driver of CUDA, or no device.
Status checkGpus();

/// The architecture of the device `number`: "sm_90a".
Result<std::string> gpuArchitecture(int number);

/// The devices, for which packages are tuned: "4 x NVIDIA H100 80GB HBM3", and
/// others after a comma.
Result<std::string> gpuMachine();

/// Keeps the devices of `count` ranks, those from `first` on of this host, set
/// up until the result is destroyed, for executors that come and go, as that
/// takes long. Errors are left for the executors to report.
using HeldGpus = std::shared_ptr<const std::vector<std::unique_ptr<GpuDevice>>>;
HeldGpus holdGpus(int first, int count);

/// Whether the GPUs still work: after some failures a GPU's context refuses
/// every call.
bool areUsable(const HeldGpus &gpus);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUMACHINE_H
