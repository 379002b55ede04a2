//===- RankCode.h - The code and memory of a package ------------*- C++ -*-===//
//
// The code of a package, which is loaded once for all ranks of a process, and
// the memory that its executors need.
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

/// The code that ranks execute: either of these is set.
struct RankCode {
  /// The package's object code, for the CPU.
  std::unique_ptr<ObjectCode> cpu;
  /// The package's kernels, for GPUs.
  const GpuProgram *gpu = nullptr;
};

/// Loads the code of `package`, which must outlive the result. An error if the
/// package has no kernels for GPUs, or if its object code cannot be loaded.
Result<RankCode> loadCode(const Package &package, bool onGpus);

/// The name under which tuning records results if this machine runs all ranks:
/// its CPUs, or its GPUs and whether they send messages.
Result<std::string> tunedMachine(bool onGpus, GpuTransport transport);

/// The variants that were measured to be the fastest on this machine: for ranks
/// on one host, and for several hosts, whose GPUs send messages.
TunedVariants fastestVariants(const Package &package, bool onGpus,
                              GpuTransport transport);

/// The bytes of symmetric memory per rank that an executor of `plan` allocates.
/// checkPlan must have accepted `plan`.
Result<int64_t> executorBytes(const Plan &plan, bool onGpus);

/// The bytes of other host memory that a rank's executor needs, with copies of
/// scattered arguments.
int64_t privateBytes(const Plan &plan, int rank, bool onGpus);

/// The memory that one rank needs to run the package, with its arguments and
/// results: of its host, or of its GPU.
Result<MemoryNeeds> needsOfRank(const Package &package, int rank, bool onGpus);

/// The largest value of bytesOf among the package's plan and the plans of its
/// variants. An error if checkPlan refuses one of the variants.
Result<int64_t>
mostBytes(const Package &package,
          const std::function<Result<int64_t>(const Plan &)> &bytesOf);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_API_RANKCODE_H
