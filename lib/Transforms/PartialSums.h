//===- PartialSums.h - Reductions in several steps --------------*- C++ -*-===//
//
// What is reduced along one axis and then along another has between the two the
// sums of some contributions. Those of 16- and 8-bit floats are in f32 there,
// so that they are rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_PARTIALSUMS_H
#define CCN_LIB_TRANSFORMS_PARTIALSUMS_H

#include "dialect/ccn/Ccn.h"

namespace ccn {

/// The type of such sums (runtime::partialType).
mlir::Type partialElement(ReduceKind kind, mlir::Type element);

/// Whether something is pending on a value, which then takes no cast; and its
/// type where ranks merely have what they have.
bool hasPartials(mlir::Value value);
mlir::RankedTensorType asLocal(mlir::Value value);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_PARTIALSUMS_H
