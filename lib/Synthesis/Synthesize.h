//===- Synthesize.h - Algorithms for collectives of programs ----*- C++ -*-===//
//
// Asks the synthesizer for the schedule of a collective on a topology, and
// keeps the answers on disk.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_SYNTHESIS_SYNTHESIZE_H
#define CCN_LIB_SYNTHESIS_SYNTHESIZE_H

#include "synth/Groups.h"
#include "synth/Schedule.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ccn {

/// A request, as in `synth(dgx1, latency)` or `synth(dgx1, chunks = 6, ...)`.
struct SynthRequest {
  synth::CollectiveKind kind = synth::CollectiveKind::AllReduce;
  int64_t ranks = 0, root = 0;
  /// The name of a topology, or the file of one. Its GPUs are the ranks; or, if
  /// it has as many as all groups together have ranks, those that `groups`
  /// names.
  std::string topology;
  /// The groups that run the collective at once, by the same schedule, each of
  /// `ranks` GPUs in the order of their positions. Links that several groups
  /// use are shared.
  synth::Groups groups;
  /// `latency`: the fewest steps, and of those the fewest rounds a chunk.
  /// `bandwidth`: the fewest rounds a chunk, by packing trees or by flows where
  /// those apply. Empty where `chunks`, `steps` and `rounds` are given instead.
  std::string objective;
  int64_t chunks = 0, steps = 0, rounds = 0;
  /// Whether sums must be added in the same order for all ranks.
  bool ordered = false;
  /// How long to search. Which schedule is found in time depends on how fast
  /// this machine is. If `ordered` is set and the best schedule adds in
  /// different orders, the search for another one may take as long again.
  double seconds = 60;
};

/// The answer to a request.
struct Synthesized {
  /// The schedule in the synthesizer's format; it has passed the checker.
  std::string schedule;
  /// Why the schedule is not the best one for the objective; empty if it is.
  std::string note;
};

/// A schedule on `ranks` ranks, from the cache if it was asked for before.
/// Ranks send to each other by the topology's shortest ways, as programs do,
/// and over CPUs only where nothing else joins them. An error says that the
/// topology is wrong or has another number of GPUs, that no such schedule
/// exists and why, or that none was found in time.
Result<Synthesized> synthesize(const SynthRequest &request);

/// Like synthesize, but searches only once per process: a repeated request gets
/// the same answer or error. So all ranks of a program get the same schedule
/// even if the cache is off or the time limit ends the search.
Result<Synthesized> synthesizeOnce(const SynthRequest &request);

/// For example "2 steps and 3 rounds for 1 chunk".
std::string describeSize(const synth::Schedule &schedule);

} // namespace ccn

#endif // CCN_LIB_SYNTHESIS_SYNTHESIZE_H
