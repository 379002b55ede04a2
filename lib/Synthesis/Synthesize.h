//===- Synthesize.h - Algorithms for collectives of programs ----*- C++ -*-===//
//
// Asks the synthesizer for the schedule of a collective on a machine, and keeps
// what it finds on disk.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_SYNTHESIS_SYNTHESIZE_H
#define CCN_LIB_SYNTHESIS_SYNTHESIZE_H

#include "synth/Schedule.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ccn {

/// What is asked for: `synth(dgx1, latency)`, `synth(dgx1, chunks = 6, ...)`.
struct SynthRequest {
  synth::CollectiveKind kind = synth::CollectiveKind::AllReduce;
  int64_t ranks = 0, root = 0;
  /// The name of a topology, or the file of one.
  std::string topology;
  /// `latency`: the fewest steps, and of those the fewest rounds a chunk.
  /// `bandwidth`: the fewest rounds a chunk, by packing trees or by flows where
  /// those apply. Empty where `chunks`, `steps` and `rounds` are given instead.
  std::string objective;
  int64_t chunks = 0, steps = 0, rounds = 0;
  /// Whether all ranks must have sums added in the same order.
  bool ordered = false;
  /// How long to search. What is found in time depends on the machine. Where
  /// the best schedule adds in different orders, the search for one that does
  /// not takes as long again at most.
  double seconds = 60;
};

struct Synthesized {
  /// In the synthesizer's format, checked.
  std::string schedule;
  /// Why it is not what the objective alone would have given, or empty.
  std::string note;
};

/// A schedule, from the cache if it was asked for before. Ranks send to each
/// other by the topology's shortest ways, as programs do, and over CPUs only
/// where nothing else joins them. An error says that the topology is wrong or
/// has another number of GPUs, that no such schedule exists and why, or that
/// none was found in time.
Result<Synthesized> synthesize(const SynthRequest &request);

/// The same, asked once in a process: who asks again gets the same answer, and
/// at once if it is an error. So all ranks of a program take the same schedule
/// even where the cache is off or the search is cut off by its time.
Result<Synthesized> synthesizeOnce(const SynthRequest &request);

/// "2 steps and 3 rounds for 1 chunk".
std::string describeSize(const synth::Schedule &schedule);

} // namespace ccn

#endif // CCN_LIB_SYNTHESIS_SYNTHESIZE_H
