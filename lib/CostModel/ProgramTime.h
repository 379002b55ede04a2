//===- ProgramTime.h - About how long a program takes -----------*- C++ -*-===//
//
// An estimate from the IR alone, in microseconds of this process rather than
// the milliseconds of a prediction from plans and kernels: by it a search
// decides which of many programs to predict.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_COSTMODEL_PROGRAMTIME_H
#define CCN_LIB_COSTMODEL_PROGRAMTIME_H

#include "dialect/ccn/Ccn.h"
#include "lib/Target/MachineRates.h"

namespace ccn {

/// Estimated microseconds of the busiest rank: each operation or region is a
/// launch that takes as long as what bounds it, memory, links or products;
/// stages of a pipeline run at once but for a chunk. Only to compare programs
/// that compute the same.
double estimateUs(ProgramOp program, const MachineRates &rates);

} // namespace ccn

#endif // CCN_LIB_COSTMODEL_PROGRAMTIME_H
