//===- SumSchedules.h - The order in which a collective adds ----*- C++ -*-===//
//
// A collective whose algorithm is a schedule of chunks adds in that schedule's
// order, any other in the order of the ranks. The interpreter adds in the order
// of the compiled program, so that its sums have the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_SUMSCHEDULES_H
#define CCN_INTERPRETER_SUMSCHEDULES_H

#include "dialect/ccn/Ccn.h"
#include "runtime/base/Status.h"
#include "synth/SumOrder.h"

#include <memory>

namespace ccn::interp {

/// The sums of a combining schedule.
struct SumSchedule {
  synth::Collective collective;
  /// The sums of each chunk.
  std::vector<synth::ChunkSums> chunks;

  /// The operand of the chunk's sums that the rank at a position of the group
  /// gets as its result; none if the rank does not get the chunk.
  std::optional<int> resultAt(int chunk, int64_t position) const;
};

/// The sums of a collective of `ranks` ranks; null if it adds in the order of
/// the ranks. Several threads may call this at the same time.
Result<std::shared_ptr<const SumSchedule>> findSums(CollectiveOpInterface op,
                                                    int64_t ranks);

/// Whether a collective adds in the order of a schedule, and not of the ranks.
bool addsBySchedule(CollectiveOpInterface op);
/// Whether a collective in the region adds by a schedule.
bool addsBySchedule(OverlappedOp region);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_SUMSCHEDULES_H
