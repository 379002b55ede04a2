//===- SumSchedules.h - The order in which a collective adds ----*- C++ -*-===//
//
// A collective whose algorithm is a schedule in chunks adds in that schedule's
// order, any other in the order of the ranks. The interpreter adds as what runs
// does, so that its sums have the same bits.
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
  /// By chunk.
  std::vector<synth::ChunkSums> chunks;

  /// Who forms the sum of a chunk for the rank at a position of the group, as
  /// an operand of the chunk's sums; none if it does not get it.
  std::optional<int> resultAt(int chunk, int64_t position) const;
};

/// The sums of a collective of so many ranks; null where it adds in the order
/// of the ranks. May be called by several threads at once.
Result<std::shared_ptr<const SumSchedule>> findSums(CollectiveOpInterface op,
                                                    int64_t ranks);

/// Whether a collective in the region adds by a schedule.
bool addsBySchedule(OverlappedOp region);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_SUMSCHEDULES_H
