//===- StepProof.h - Proofs about schedules of some steps -------*- C++ -*-===//
//
// Why no schedule moves a collective's chunks in some steps and rounds, or why
// each needs so many rounds a chunk in so many steps. A proof is verified from
// the machine's links and the collective's chunks alone, without the fabric,
// the searches, and the solvers that made it.
//
// A proof has cuts through space and time: what holds data after which step.
// Each says, by the capacities of the links that leave it in each step, what
// sum of the steps' rounds is too small. Every division of the rounds among the
// steps must fail by one of them, or be refuted by a search: clauses that say
// what a schedule is, and lemmas by which they contradict each other.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_STEPPROOF_H
#define CCN_SYNTH_STEPPROOF_H

#include "synth/Collective.h"
#include "synth/RupCheck.h"
#include "synth/Support.h"
#include "synth/Topology.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ccn::synth {

/// Where data that must leave is kept: a host from the end of some step on (0:
/// from the begin; more than there are steps: never), a switch or NIC in some
/// steps. Chunks of which all copies (of a sum: some contribution) begin
/// within, and which are needed outside, must cross in some step.
struct TimedCut {
  /// By node; of hosts only.
  std::vector<int> holdsFrom;
  /// By node, the steps (from 1 on) in which a switch or NIC is inside.
  std::vector<std::vector<int>> passes;
  /// Not a cut: hosts send and receive, in each round, no more than their links
  /// carry, and a sum needs a number of sends.
  bool countsSends = false;
  /// For a rate: how often it counts.
  int64_t weight = 0;
};

/// The lemmas that refute one division of the rounds among the steps.
struct RoundsSearch {
  std::vector<int> rounds;
  std::string lemmas;
};

struct StepProof {
  Topology topology;
  Collective collective;
  /// Links carry whole chunks in a round: as many as whole units.
  double unitGBps = 0;
  int steps = 0;
  /// The claim: no schedule has these rounds (0 or more), or, if negative, none
  /// has fewer than `least`, nor fewer in proportion if each chunk is cut.
  int rounds = -1;
  Fraction least;
  std::vector<TimedCut> cuts;
  std::vector<RoundsSearch> searches;
};

/// Whether the text of a certificate is one of steps.
bool isStepProof(std::string_view text);
std::string writeStepProof(const StepProof &proof);
Result<StepProof> parseStepProof(std::string_view text, std::string_view where);

/// Empty if the proof shows the claim; else what is wrong. `lemmas`, if it is
/// given, receives how many lemmas the searches have.
std::string verify(const StepProof &proof, int64_t *lemmas = nullptr);

/// A division of the rounds among the steps that nothing in the proof excludes;
/// none if there is none. `tooMany` is set if there are too many to look at.
std::optional<std::vector<int>> uncovered(const StepProof &proof,
                                          bool &tooMany);

/// What a schedule with these rounds in its steps is, as clauses; an error
/// where the proof has no such form (switches and NICs, sums that several ranks
/// need, much that must be sent).
Result<Cnf> clausesOf(const StepProof &proof, const std::vector<int> &rounds);

} // namespace ccn::synth

#endif // CCN_SYNTH_STEPPROOF_H
