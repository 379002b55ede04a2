//===- Remarks.h - What the compiler did and could not do -------*- C++ -*-===//
//
// Shows MLIR's remarks, which primitives and the explaining pass make, among
// the diagnostics.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_DRIVER_REMARKS_H
#define CCN_LIB_DRIVER_REMARKS_H

#include "lib/Frontend/Diagnostics.h"

#include "mlir/IR/MLIRContext.h"

namespace ccn {

/// Lets remarks made in `context` be reported in `diagnostics`, which must
/// outlive the context's use: "applied split: ...", "missed fuse: ..., because
/// ...".
mlir::LogicalResult enableRemarks(mlir::MLIRContext &context,
                                  Diagnostics &diagnostics);

} // namespace ccn

#endif // CCN_LIB_DRIVER_REMARKS_H
