//===- GpuFault.h - What a kernel's fault means -----------------*- C++ -*-===//
//
// Kernels report by numbers (GpuAbi.h), people read words.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUFAULT_H
#define CCN_RUNTIME_CUDA_GPUFAULT_H

#include "runtime/GpuAbi.h"

#include <span>
#include <string>

namespace ccn::runtime {

/// What went wrong: "launch 'avg': waited 10 s for rank 1 (flag 3, epoch 5,
/// seen 4)". `launches` are the names of the plan's launches, `failures` is
/// Plan::failures, `timeLimit` is in seconds.
std::string describeFault(const CcnFault &fault,
                          std::span<const std::string> launches,
                          std::span<const std::string> failures,
                          double timeLimit);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUFAULT_H
