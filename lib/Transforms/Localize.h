//===- Localize.h - Programs as one rank executes them ----------*- C++ -*-===//
//
// Replaces global shapes and layouts by the shapes of one rank's parts.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_LOCALIZE_H
#define CCN_LIB_TRANSFORMS_LOCALIZE_H

#include "lib/Transforms/Rewrites.h"

namespace ccn {

/// Whether a reshard moves no data: it makes a partial or replicated value
/// local, or changes nothing.
bool isRelabelling(ReshardOp op);

/// Changes a program to the one that `rank` executes. The programs of all ranks
/// have the same operations in the same order.
///
/// - `localize_c1`: the program is not localized.
/// - `localize_c2`: the rank is one of the mesh; without a mesh, 0.
/// - `localize_c3`: every reshard moves nothing.
mlir::LogicalResult localize(ProgramOp program, int64_t rank, EmitRefusal emit);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_LOCALIZE_H
