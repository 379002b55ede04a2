//===- SolveImpl.h - The parts of the search --------------------*- C++ -*-===//
//
// Shared between Solve.cpp, which dispatches, and the searches for copying
// collectives and for all_reduce.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_SOLVEIMPL_H
#define CCN_SYNTH_SOLVEIMPL_H

#include "synth/Solve.h"

#include <functional>
#include <vector>

namespace ccn::synth {

/// Calls `visit` with every way to write `rounds` as a sum of `steps` numbers
/// of at least one, in lexicographic order, until it returns false. Returns
/// whether all were visited.
bool forEachRoundVector(
    int steps, int rounds,
    const std::function<bool(const std::vector<int> &)> &visit);

/// Copying collectives (steps and rounds within the bounds).
SolveResult solveCopying(const Fabric &fabric, const Collective &collective,
                         int steps, int rounds, const SolveOptions &options);

/// Combining collectives whose sums are needed in several places, without
/// composing them.
SolveResult solveReduceDirect(const Fabric &fabric,
                              const Collective &collective, int steps,
                              int rounds, const SolveOptions &options);

/// Groups of ranks that exchange nothing, each on its own links by `solveOne`;
/// Unknown where there are none, or that does not do.
SolveResult solveGroups(
    const Fabric &fabric, const Collective &collective, int steps, int rounds,
    const SolveOptions &options,
    const std::function<Result<SolveResult>(const Fabric &, const Collective &)>
        &solveOne);

/// What the searches for one schedule may spend on models that they leave
/// undecided, in conflicts; see SolveOptions.
class Effort {
public:
  explicit Effort(const SolveOptions &options) : options(options) {}
  /// Whether a model may be searched with so many conflicts (0: any number).
  bool allows(int64_t conflicts) const {
    if (options.maxConflicts > 0)
      return conflicts > 0 && spent + conflicts <= options.maxConflicts;
    return conflicts > 0 || options.exhaustive;
  }
  void undecidedAfter(int64_t conflicts) { spent += conflicts; }

private:
  const SolveOptions &options;
  int64_t spent = 0;
};

inline SatSolver satSolverOf(Engine engine) {
  return engine == Engine::Z3 ? SatSolver::Z3 : SatSolver::Cadical;
}
inline const char *satSolverName(Engine engine) {
  return engine == Engine::Z3 ? "Z3" : "CaDiCaL";
}

} // namespace ccn::synth

#endif // CCN_SYNTH_SOLVEIMPL_H
