//===- PlanExecutor.h - Executes plans on the CPU ---------------*- C++ -*-===//
//
// Runs the plan of one rank (Plan.h): its launches on streams that are threads,
// over symmetric memory.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_PLANEXECUTOR_H
#define CCN_RUNTIME_CPU_PLANEXECUTOR_H

#include "runtime/cpu/Rows.h"
#include "runtime/plan/TraceSink.h"

namespace ccn::runtime {

struct ExecutorOptions {
  /// How long to wait for another rank at a time, in seconds.
  double timeLimit = 60;
  /// Finds the compiled functions of loops.
  FunctionResolver resolve = {};
  TraceSink *trace = nullptr;
  /// For tests; called by all streams at once.
  AccessHook *hook = nullptr;
};

/// The bytes of symmetric memory per rank that the executors of a plan allocate
/// in all. `plan` is one that checkPlan accepts.
Result<int64_t> planSymmetricBytes(const Plan &plan);

class PlanExecutor {
public:
  /// Prepares the plan of `rank`: checks it, takes memory and starts threads.
  /// All ranks of the team call this, with the same plan and in the same order
  /// if there are several plans; each may wait for the others. `transport` and
  /// what `options` points to outlive the executor; the plan need not. An error
  /// fails the team.
  static Result<std::unique_ptr<PlanExecutor>>
  create(const Plan &plan, int rank, Transport &transport,
         const ExecutorOptions &options);

  ~PlanExecutor();
  PlanExecutor(const PlanExecutor &) = delete;
  PlanExecutor &operator=(const PlanExecutor &) = delete;

  /// Executes the plan once, as all ranks do. `arguments` has for each argument
  /// of the plan the address of the rank's part, row-major; null if it has no
  /// elements; of a scattered one that of its PieceList. (Compiled loops know
  /// one array: what does not lie in memory as one is copied, in memory that
  /// the first such run takes.) An error is the team's failure, which names the
  /// rank; after it, every run fails.
  Status run(std::span<void *const> arguments);

  /// What one run reads and writes, by what its views say: all launches, or
  /// one.
  const Traffic &traffic() const;
  Traffic traffic(int launch) const;

private:
  struct State;

  explicit PlanExecutor(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_PLANEXECUTOR_H
