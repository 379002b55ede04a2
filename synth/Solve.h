//===- Solve.h - Finding a schedule, or proving there is none ---*- C++ -*-===//
//
// The one entry to the searches: given a fabric, a collective with its C
// chunks, S steps and R rounds, answer with a checked schedule, with "none" and
// why, or with "out of time".
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_SOLVE_H
#define CCN_SYNTH_SOLVE_H

#include "synth/Sat.h"
#include "synth/Schedule.h"
#include "synth/Symmetry.h"

#include <functional>
#include <string>

namespace ccn::synth {

enum class Engine {
  Auto, ///< flows where they decide, else CaDiCaL
  Z3,   ///< every search by Z3
  Sat,  ///< every search by CaDiCaL
  Flow, ///< linear and integer programs only
};

std::string_view engineName(Engine engine);
std::optional<Engine> parseEngine(std::string_view text);

/// How collectives with sums for several ranks (all_reduce) are made.
enum class ReduceMode {
  Auto,        ///< composition first where it fits, then direct
  Composition, ///< reduce_scatter, then all_gather
  Direct,      ///< trees or general partial sums, not composed
  OneSum,      ///< composition or trees: one rank, or two that exchange their
               ///< halves, form each sum
};

struct SolveOptions {
  Engine engine = Engine::Auto;
  ReduceMode mode = ReduceMode::Auto;
  uint64_t seed = 1;
  Limits limits;
  /// Whether to prove "none" by search where bounds and cuts do not: off, the
  /// answer is then "out of time" at once.
  bool exhaustive = true;
  /// The most conflicts that Boolean models are searched for in vain, whatever
  /// the clock says; 0: no bound. Where they do not do, the answer is "out of
  /// time". Trying many numbers of chunks and rounds ends soon so.
  int64_t maxConflicts = 0;
  /// What a sketch demands besides; see Sketch.h. Must outlive the search.
  const Restriction *restriction = nullptr;
  /// Called with a short text when the search turns to something else.
  std::function<void(const std::string &)> progress;
};

struct SolveResult {
  /// Yes: `schedule` (which passed check); No: none exists, for the reason in
  /// `certificate`; Unknown: out of time (or the engine cannot decide, which
  /// `certificate` then says).
  Answer answer = Answer::Unknown;
  Schedule schedule;
  /// What found the answer: "flow", "CaDiCaL, group of 4", "step cut", ...
  std::string method;
  std::string certificate;
};

/// Solves for `steps` S and `rounds` R; C is in the collective. A failure
/// is a mistake in the arguments or a schedule that did not pass its
/// check, which would be a bug.
Result<SolveResult> solve(const Fabric &fabric, const Collective &collective,
                          int steps, int rounds, const SolveOptions &options);

} // namespace ccn::synth

#endif // CCN_SYNTH_SOLVE_H
