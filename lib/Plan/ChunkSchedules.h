//===- ChunkSchedules.h - Algorithms as the runtime has them ----*- C++ -*-===//
//
// From the text of an algorithm, in any format that the synthesizer reads, to
// the chunks that an exchange of a plan moves.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_PLAN_CHUNKSCHEDULES_H
#define CCN_PLAN_CHUNKSCHEDULES_H

#include "dialect/ccn/Ccn.h"
#include "runtime/base/ChunkSchedule.h"

namespace ccn {

/// The schedule of an algorithm, with the place of each chunk in input and
/// output, which have so many elements: a block for each member, or all of the
/// tensor in one. The algorithm was read when it was chosen.
runtime::ChunkSchedule chunkSchedule(AlgorithmOp algorithm, int64_t inputCount,
                                     int64_t outputCount);

} // namespace ccn

#endif // CCN_PLAN_CHUNKSCHEDULES_H
