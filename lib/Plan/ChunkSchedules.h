//===- ChunkSchedules.h - Algorithms as chunk schedules ---------*- C++ -*-===//
//
// Converts the text of an algorithm, in any format that the synthesizer reads,
// to the schedule of chunks that an exchange of a plan moves.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_PLAN_CHUNKSCHEDULES_H
#define CCN_PLAN_CHUNKSCHEDULES_H

#include "dialect/ccn/Ccn.h"
#include "runtime/base/ChunkSchedule.h"

namespace ccn {

/// The schedule of an algorithm, with the place of each chunk in the input and
/// the output, which have `inputCount` and `outputCount` elements: one block
/// for each member, or one block that is the whole tensor. The text is valid,
/// since the choice of the algorithm has read it before.
runtime::ChunkSchedule chunkSchedule(AlgorithmOp algorithm, int64_t inputCount,
                                     int64_t outputCount);

} // namespace ccn

#endif // CCN_PLAN_CHUNKSCHEDULES_H
