//===- GpuFault.h - What a kernel's fault means -----------------*- C++ -*-===//
//
// Kernels report by numbers (GpuAbi.h), people read words.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUFAULT_H
#define CCN_RUNTIME_CUDA_GPUFAULT_H

#include "runtime/cuda/HostExchange.h"
#include "runtime/plan/GpuAbi.h"

#include <optional>
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

/// How many of `launches` launches the ranks' GPUs were given, by rank: "ranks
/// 0 to 2: 5 of 5 launches of run 3; rank 3: 2 of 5 launches of run 3". Empty
/// if nothing is known.
std::string describeProgress(std::span<const std::optional<Progress>> ranks,
                             std::span<const std::string> launches);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUFAULT_H
