//===- Remarks.h - Shows remarks among diagnostics --------------*- C++ -*-===//
//
// Shows MLIR's remarks among the diagnostics. Primitives and the pass
// ccn-explain make remarks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_DRIVER_REMARKS_H
#define CCN_LIB_DRIVER_REMARKS_H

#include "lib/Frontend/Diagnostics.h"

#include "mlir/IR/MLIRContext.h"

namespace ccn {

/// Reports remarks made in `context` to `diagnostics`, such as "applied split:
/// ..." or "missed fuse: ..., because ...". `diagnostics` must live as long as
/// `context` is used.
mlir::LogicalResult enableRemarks(mlir::MLIRContext &context,
                                  Diagnostics &diagnostics);

} // namespace ccn

#endif // CCN_LIB_DRIVER_REMARKS_H
