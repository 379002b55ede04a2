//===- RankCode.h - What ranks execute of a package -------------*- C++ -*-===//
//
// The code of a package, loaded once for all ranks of a process, and the memory
// that its executors need of a team.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_RANKCODE_H
#define CCN_RUNTIME_RANKCODE_H

#include "runtime/ObjectCode.h"
#include "runtime/Package.h"

#include <functional>

namespace ccn::runtime {

/// One of them.
struct RankCode {
  /// The package's object code, on the CPU.
  std::unique_ptr<ObjectCode> cpu;
  /// Its kernels, on GPUs.
  const GpuProgram *gpu = nullptr;
};

/// The code of `package`, which outlives it. An error if it holds no kernels
/// for GPUs, or object code that does not load.
Result<RankCode> loadCode(const Package &package, bool onGpus);

/// The machine that packages are tuned for: its GPUs, or its CPUs.
Result<std::string> tunedMachine(bool onGpus);

/// The number of the package's variant that was measured to be the fastest on
/// this machine; 0 if none was, or if there are no variants.
size_t fastestVariant(const Package &package, bool onGpus);

/// The bytes of symmetric memory, of each rank, that an executor of `plan`
/// allocates. `plan` is one that checkPlan accepts.
Result<int64_t> executorBytes(const Plan &plan, bool onGpus);

/// The most that bytesOf is of the plans of the package and all its variants;
/// an error if checkPlan does not accept one of these.
Result<int64_t>
mostBytes(const Package &package,
          const std::function<Result<int64_t>(const Plan &)> &bytesOf);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_RANKCODE_H
