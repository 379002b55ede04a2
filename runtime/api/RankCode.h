//===- RankCode.h - What ranks execute of a package -------------*- C++ -*-===//
//
// The code of a package, loaded once for all ranks of a process, and the memory
// that its executors need of a team.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_API_RANKCODE_H
#define CCN_RUNTIME_API_RANKCODE_H

#include "runtime/base/FreeMemory.h"
#include "runtime/launch/Bootstrap.h"
#include "runtime/plan/ObjectCode.h"
#include "runtime/plan/Package.h"

#include <functional>

namespace ccn::runtime {

/// The code that ranks execute: one of the two.
struct RankCode {
  /// The package's object code, on the CPU.
  std::unique_ptr<ObjectCode> cpu;
  /// Its kernels, on GPUs.
  const GpuProgram *gpu = nullptr;
};

/// The code of `package`, which outlives it. An error if it holds no kernels
/// for GPUs, or object code that does not load.
Result<RankCode> loadCode(const Package &package, bool onGpus);

/// The name, for tuned packages, of a machine that has all ranks: its CPUs, or
/// its GPUs, and whether these send messages.
Result<std::string> tunedMachine(bool onGpus, GpuTransport transport);

/// The package's variants that were measured to be the fastest on this machine.
/// GPUs of several hosts send messages, so theirs is what was measured with
/// these.
TunedVariants fastestVariants(const Package &package, bool onGpus,
                              GpuTransport transport);

/// The bytes of symmetric memory, of each rank, that an executor of `plan`
/// allocates. `plan` is one that checkPlan accepts.
Result<int64_t> executorBytes(const Plan &plan, bool onGpus);

/// The bytes of host memory that a rank's executor takes beside that, with
/// copies of scattered arguments.
int64_t privateBytes(const Plan &plan, int rank, bool onGpus);

/// The memory that one rank takes when it runs the package: of its host with
/// its arguments and results, or of its GPU.
Result<MemoryNeeds> needsOfRank(const Package &package, int rank, bool onGpus);

/// The largest value of bytesOf among the plans of the package and of all its
/// variants; an error if checkPlan does not accept one of them.
Result<int64_t>
mostBytes(const Package &package,
          const std::function<Result<int64_t>(const Plan &)> &bytesOf);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_API_RANKCODE_H
