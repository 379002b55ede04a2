//===- Transfers.h - Schedules from what was sent ---------------*- C++ -*-===//
//
// An executed program says which values went between which hosts, and how deep
// in the chain of transfers each was. From that a schedule can be made again:
// the form that is the same for every program that sends the same values, so
// that schedules survive a way through other formats.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_TRANSFERS_H
#define CCN_SYNTH_INTEROP_TRANSFERS_H

#include "synth/Schedule.h"
#include "synth/interop/TokenMemory.h"

#include <map>
#include <optional>
#include <vector>

namespace ccn::synth {

/// A chunk's way from one host to another.
struct Transfer {
  int chunk = 0, src = 0, dst = 0;
  /// Transfers on the longest chain that ends with this one, 1 at least.
  int depth = 1;
  /// For a combining collective: whose contributions are in it, sorted.
  std::vector<int> sums;
  /// Which of the sender's sums (see HeldSums) were added up for it.
  std::vector<size_t> terms = {};
};

/// What a host has of a combining collective's chunk: its running sum, its own
/// contribution, then the sums it keeps apart as they came; with the transfers
/// on the longest chain to each.
struct HeldSums {
  std::vector<std::vector<int>> sets = {{}, {}};
  std::vector<int> depths = {0, 0};
};
/// By chunk and host.
using HeldMap = std::map<std::pair<int, int>, HeldSums>;

/// Which of `sums` (sorted sets of ranks) add up to `target` without overlap,
/// or nothing. A single sum is preferred, then the earlier ones.
std::optional<std::vector<size_t>>
termsOf(const std::vector<int> &target,
        const std::vector<std::vector<int>> &sums);

/// What a schedule sends, in its order. The schedule must pass its check.
/// `held` gets what the hosts of a combining collective have at the end.
std::vector<Transfer> transfersOf(const Schedule &schedule,
                                  HeldMap *held = nullptr);

/// The schedule that makes these transfers, each in the step of its depth: in
/// steps of one round, sends sorted, sums kept apart (stash) only where a host
/// later sends less than all it received. Fails where the transfers are not a
/// schedule of the collective, for example where a chunk arrives twice.
Result<Schedule> scheduleOf(const Collective &collective, int hosts,
                            std::string topology,
                            std::vector<Transfer> transfers);

/// The schedule that an executed program of a named collective makes. Fails,
/// too, where it adds different chunks.
Result<Schedule> scheduleOf(CollectiveKind kind, int ranks,
                            std::string topology, const ProgramTrace &trace);

/// The same transfers as early as they can be, in the form of scheduleOf().
/// Two schedules that send the same values have the same canonical form.
Result<Schedule> canonicalSchedule(const Schedule &schedule);

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_TRANSFERS_H
