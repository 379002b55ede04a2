//===- PartialSums.h - Reductions in several steps --------------*- C++ -*-===//
//
// A value that is reduced along one axis and then along another is a partial
// sum between the two reductions. Partial sums of 16- and 8-bit floats are in
// f32, so that they are rounded only once.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_PARTIALSUMS_H
#define CCN_LIB_TRANSFORMS_PARTIALSUMS_H

#include "dialect/ccn/Ccn.h"

namespace ccn {

/// The element type of partial sums (see runtime::partialType).
mlir::Type partialElement(ReduceKind kind, mlir::Type element);

/// Whether a value has pending reductions, so that it cannot be cast; and its
/// type with partial axes made local.
bool hasPartials(mlir::Value value);
mlir::RankedTensorType asLocal(mlir::Value value);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_PARTIALSUMS_H
