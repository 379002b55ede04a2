//===- Localize.h - Programs as one rank executes them ----------*- C++ -*-===//
//
// From global shapes and layouts to the shapes of what one rank holds.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_LOCALIZE_H
#define CCN_LIB_TRANSFORMS_LOCALIZE_H

#include "lib/Transforms/Rewrites.h"

namespace ccn {

/// Whether a reshard moves nothing: it lets a partial or replicated value serve
/// as a local one, or changes nothing.
bool isRelabelling(ReshardOp op);

/// Makes a program what `rank` executes. All ranks' programs have the same
/// operations in the same order.
///
/// - `localize_c1`: the program is not localized.
/// - `localize_c2`: the rank is one of the mesh; without a mesh, 0.
/// - `localize_c3`: every reshard moves nothing.
mlir::LogicalResult localize(ProgramOp program, int64_t rank, EmitRefusal emit);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_LOCALIZE_H
