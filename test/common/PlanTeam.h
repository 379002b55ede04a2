//===- PlanTeam.h - Plans executed as packages, in tests --------*- C++ -*-===//
//
// Takes plans all the way that they take to a user: a package is made of them,
// written, read, and executed by one thread for each rank.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_PLANTEAM_H
#define CCN_TEST_COMMON_PLANTEAM_H

#include "lib/Interpreter/Interpreter.h"
#include "runtime/cpu/PlanExecutor.h"
#include "runtime/plan/ObjectCode.h"
#include "runtime/plan/Package.h"
#include "runtime/team/SymmetricHeap.h"
#include "tools/ccrun/RunMemory.h"

#include "mlir/IR/BuiltinOps.h"

namespace ccn::test {

class PlanTeam {
public:
  using Outputs = std::vector<interp::Output>;

  /// Ranks for the plans of `program` in a module that the phase `plan` left.
  /// A rank waits `timeLimit` seconds for another.
  static Result<std::unique_ptr<PlanTeam>>
  create(mlir::ModuleOp plans, llvm::StringRef program, double timeLimit = 60);
  ~PlanTeam();

  /// Runs on arguments in external form, all of them. What the results' memory
  /// and the rest of the arguments' held before is overwritten with garbage.
  /// The outputs are in the interpreter's order.
  Result<Outputs> run(const interp::NamedTensors &inputs);
  /// Runs once more: inout arguments are as the last run left them.
  Result<Outputs> runAgain();

  const runtime::Package &getPackage() const { return package; }

private:
  PlanTeam() = default;

  /// Calls `work` for all ranks, on a thread each.
  static void forAllRanks(size_t ranks, const std::function<void(int)> &work);
  /// Memory and executors anew; also after a failure, which ends a team.
  Status start();

  runtime::Package package;
  double timeLimit = 60;
  std::unique_ptr<runtime::ObjectCode> code;
  std::unique_ptr<RunMemory> memory;
  std::unique_ptr<runtime::SymmetricHeap> heap;
  std::vector<std::unique_ptr<runtime::PlanExecutor>> executors;
};

} // namespace ccn::test

#endif // CCN_TEST_COMMON_PLANTEAM_H
