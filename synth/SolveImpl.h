//===- SolveImpl.h - The parts of the search --------------------*- C++ -*-===//
//
// Shared between Solve.cpp, which dispatches, and the searches for copying
// collectives and for all_reduce.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_SOLVEIMPL_H
#define CCN_SYNTH_SOLVEIMPL_H

#include "synth/Solve.h"

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

inline SatSolver satSolverOf(Engine engine) {
  return engine == Engine::Z3 ? SatSolver::Z3 : SatSolver::Cadical;
}
inline const char *satSolverName(Engine engine) {
  return engine == Engine::Z3 ? "Z3" : "CaDiCaL";
}

} // namespace ccn::synth

#endif // CCN_SYNTH_SOLVEIMPL_H
