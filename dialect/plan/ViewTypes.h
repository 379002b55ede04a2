//===- ViewTypes.h - The types of views -------------------------*- C++ -*-===//
//
// Private to the dialect: what the verifiers of its operations ask.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_PLAN_VIEWTYPES_H
#define CCN_DIALECT_PLAN_VIEWTYPES_H

#include "dialect/plan/Plan.h"

namespace ccn::plan {

inline mlir::MemRefType typeOf(mlir::Value value) {
  return mlir::cast<mlir::MemRefType>(value.getType());
}

/// The memory of a view; none if it is of no buffer.
std::optional<Memory> findMemory(mlir::Value view);

/// Whether the elements follow each other in row-major order.
bool isRowMajor(mlir::MemRefType type);

} // namespace ccn::plan

#endif // CCN_DIALECT_PLAN_VIEWTYPES_H
