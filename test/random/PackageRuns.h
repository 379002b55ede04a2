//===- PackageRuns.h - Plans executed by ccrun ------------------*- C++ -*-===//
//
// Takes plans all the way that they take to a user: a package is written, and
// ccrun executes it, on GPUs which are none but the driver of test/unit/Gpu, or
// as processes on the CPU.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_RANDOM_PACKAGERUNS_H
#define CCN_TEST_RANDOM_PACKAGERUNS_H

#include "lib/Interpreter/Interpreter.h"
#include "lib/Target/Target.h"
#include "runtime/plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace ccn::random {

class PackageRuns {
public:
  using Outputs = std::vector<interp::Output>;

  /// Whether this build has such GPUs.
  static bool hasGpus();

  /// For the plans of `program` in a module that the phase `plan` left; with
  /// kernels, if the target is GPUs.
  static Result<std::unique_ptr<PackageRuns>>
  create(mlir::ModuleOp plans, llvm::StringRef program, const Target &target);
  ~PackageRuns();

  // Both take arguments in external form, all of them, and give outputs in the
  // interpreter's order.

  /// Ranks access each other's memory, or send each other messages, which must
  /// leave the same bits. Products are the library's and the kernels' in turns.
  Result<Outputs> onGpus(const interp::NamedTensors &inputs);
  /// On the CPU, a process for each rank.
  Result<Outputs> asProcesses(const interp::NamedTensors &inputs);

private:
  PackageRuns() = default;
  Result<Outputs> run(const interp::NamedTensors &inputs,
                      std::vector<std::string> variables,
                      std::vector<std::string> options);

  runtime::Plan plan;
  int runs = 0;
  /// Of the package, the arrays and the kernels that were compiled.
  std::string folder;
};

/// The first element in which two runs' outputs differ, with what both say of
/// it, the second as `how`; empty if there is none.
std::string differenceOf(const PackageRuns::Outputs &first,
                         const PackageRuns::Outputs &second,
                         const std::string &how);

} // namespace ccn::random

#endif // CCN_TEST_RANDOM_PACKAGERUNS_H
