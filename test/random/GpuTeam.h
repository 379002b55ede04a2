//===- GpuTeam.h - Plans executed by ccrun on GPUs --------------*- C++ -*-===//
//
// Takes plans all the way that they take to a user's GPUs, which are none: a
// package is written, and ccrun executes its kernels on the driver of
// test/unit/Gpu.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_RANDOM_GPUTEAM_H
#define CCN_TEST_RANDOM_GPUTEAM_H

#include "lib/Interpreter/Interpreter.h"
#include "runtime/Plan.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace ccn::random {

class GpuTeam {
public:
  using Outputs = std::vector<interp::Output>;

  /// Whether this build has such GPUs.
  static bool isThere();

  /// For the plans of `program` in a module that the phase `plan` left.
  static Result<std::unique_ptr<GpuTeam>> create(mlir::ModuleOp plans,
                                                 llvm::StringRef program);
  ~GpuTeam();

  /// Runs on arguments in external form, all of them: ranks access each other's
  /// memory, or send each other messages, which must leave the same bits.
  /// Products are the library's and the kernels' in turns. The outputs are in
  /// the interpreter's order.
  Result<Outputs> run(const interp::NamedTensors &inputs);

private:
  GpuTeam() = default;
  Result<Outputs> run(const interp::NamedTensors &inputs,
                      const std::string &transport,
                      const std::string &products);

  runtime::Plan plan;
  int runs = 0;
  /// Of the package, the arrays and the kernels that were compiled.
  std::string folder;
};

} // namespace ccn::random

#endif // CCN_TEST_RANDOM_GPUTEAM_H
