//===- PlanExecutor.h - Executes plans on the CPU ---------------*- C++ -*-===//
//
// Runs the plan of one rank (Plan.h). Each stream is a thread that runs its
// launches; ranks exchange data through symmetric memory.
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
  /// For tests; all streams call it concurrently.
  AccessHook *hook = nullptr;
};

/// The bytes of symmetric memory that the executor of one rank allocates in
/// all. checkPlan must have accepted `plan`.
Result<int64_t> planSymmetricBytes(const Plan &plan);

class PlanExecutor {
public:
  /// Prepares the plan of `rank`: checks it, allocates memory and starts
  /// threads. All ranks of the team call this with the same plan, and for
  /// several plans in the same order; a call may wait for the other ranks.
  /// `transport` and what `options` points to must outlive the executor; the
  /// plan need not. An error fails the team.
  static Result<std::unique_ptr<PlanExecutor>>
  create(const Plan &plan, int rank, Transport &transport,
         const ExecutorOptions &options);

  ~PlanExecutor();
  PlanExecutor(const PlanExecutor &) = delete;
  PlanExecutor &operator=(const PlanExecutor &) = delete;

  /// Executes the plan once; all ranks call it. `arguments` has an address for
  /// each argument of the plan: of this rank's shard, row-major (null if it has
  /// no elements), or, for a scattered argument, of its PieceList. (Compiled
  /// loops need one array, so a scattered argument whose pieces are not
  /// adjacent is copied; the first such run allocates memory for that.) An
  /// error is the failure of the team and names the rank that failed; after it,
  /// every run fails.
  Status run(std::span<void *const> arguments);

  /// What one run of all launches, or of one launch, reads and writes, as
  /// computed from the views.
  const Traffic &traffic() const;
  Traffic traffic(int launch) const;

private:
  struct State;

  explicit PlanExecutor(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_PLANEXECUTOR_H
