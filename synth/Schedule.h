//===- Schedule.h - Chunk-level schedules -----------------------*- C++ -*-===//
//
// A schedule is a list of steps, each of some rounds, in which chunks travel
// between hosts. It can be checked against its collective (and a fabric's
// capacities), timed, written and read.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_SCHEDULE_H
#define CCN_SYNTH_SCHEDULE_H

#include "synth/Collective.h"
#include "synth/Fabric.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace ccn::synth {

/// What the receiver does with a chunk.
enum class SendOp {
  Copy,   ///< stores it in place of what it has of the chunk
  Reduce, ///< adds it to what it has of the chunk
  Stash,  ///< keeps it apart, as one more partial sum (needs scratch memory)
};

std::string_view opName(SendOp op);

/// One chunk on its way. Hosts are numbered as in Fabric (ranks first).
struct Send {
  int chunk = 0, src = 0, dst = 0;
  SendOp op = SendOp::Copy;
  /// The fabric's edge; -1 means the first from src to dst.
  int edge = -1;
  /// For a combining collective: the ranks whose contributions this partial
  /// sum holds (sorted). Empty means the sender's running sum, whatever is in
  /// it. A list must be a sum of distinct parts the sender holds: its own
  /// contribution, its running sum and stashed partial sums.
  std::vector<int> sums;
};

struct Step {
  int rounds = 1;
  std::vector<Send> sends;
};

struct Schedule {
  Collective collective;
  std::string topology;
  /// Hosts that take part: the ranks, then CPUs.
  int hosts = 0;
  std::vector<Step> steps;

  int totalRounds() const;
  int totalSends() const;
};

/// Gives each step as many rounds as its sends, which have edges of `fabric`,
/// need for every edge set to carry what it can; never fewer than it has.
void fitRounds(Schedule &schedule, const Fabric &fabric);

/// Proves that `schedule` implements its collective: nothing is sent before
/// it arrived, every contribution is counted exactly once and reaches every
/// rank that needs it, and nothing arrives that is there already. With
/// `fabric`, also that every send has an edge and that no edge set carries
/// more than rounds * cap chunks in a step. Returns an empty text, or what is
/// wrong: chunk, rank and step (steps count from 1). It shares no code with
/// the searches.
std::string check(const Schedule &schedule, const Fabric *fabric = nullptr);

/// Predicted times of a schedule for a buffer of some bytes.
struct Timing {
  /// Every step waits for the one before: sum over the steps of the longest
  /// latency plus the time of its busiest edge set.
  double stepwiseUs = 0;
  /// Every send starts as soon as its data is there and its links are free; of
  /// those that could start at the same time the one of the earlier step goes
  /// first, and those of one step go as they are listed or by how far the
  /// receiver comes after the sender, whichever takes less time in all. A sum
  /// waits for all that arrives in earlier steps.
  double eventUs = 0;

  /// The time of the better way to run the schedule. Both are right: ranks may
  /// wait for each other after each step, or not.
  double us() const { return std::min(stepwiseUs, eventUs); }
};

/// Alpha-beta prediction: a transfer of b bytes takes the latencies along its
/// path plus b over its smallest capacity, and keeps each link of the path
/// busy for b over that link's own. `bytes` is the buffer's size as
/// Collective::bufferChunks defines it. What carries the sum of several
/// contributions but not of all (partialSends) is `partialFactor` times as
/// large as other chunks.
Result<Timing> simulate(const Schedule &schedule, const Fabric &fabric,
                        double bytes, double partialFactor = 1);

/// What one host sends another, as a whole.
struct Message {
  int src = 0, dst = 0;
};

/// Predicted microseconds until messages of `bytes` each, which all start at
/// once, have arrived, as events (see Timing). Each goes the way of the fewest
/// edges, and who is on it passes on what is there. An error says that there is
/// no way.
Result<double> simulateMessages(const std::vector<Message> &messages,
                                const Fabric &fabric, double bytes);

/// The schedule backwards in time and space, for the dual collective: sends of
/// a copying schedule become reductions and the reverse. `fabric` is the one
/// of the given schedule or its reverse; edge indices stay valid.
Result<Schedule> invert(const Schedule &schedule);

/// `first` and then `second` (both over the same chunks), as a schedule of
/// `collective`: reduce_scatter then all_gather makes all_reduce.
Schedule concatenate(const Schedule &first, const Schedule &second,
                     const Collective &collective);

/// all_gather, reduce_scatter or all_reduce with chunks that go around the ring
/// of all ranks in their order: one chunk of each rank's share, those of a
/// reduction from the rank after the one that needs them.
Schedule ringSchedule(CollectiveKind kind, int ranks);

/// JSON, format in synth/README.md. Sends name their hosts by number; `fabric`
/// (optional) lets edges be named by the nodes they pass. Ways that it lacks,
/// being longer than the shortest, are added to it.
std::string writeSchedule(const Schedule &schedule,
                          const Fabric *fabric = nullptr);
Result<Schedule> parseSchedule(std::string_view text, std::string_view where,
                               Fabric *fabric = nullptr);

} // namespace ccn::synth

#endif // CCN_SYNTH_SCHEDULE_H
