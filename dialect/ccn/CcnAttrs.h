//===- CcnAttrs.h - Dialect, enumerations and attributes --------*- C++ -*-===//
//
// The generated declarations of the dialect, its enumerations and attributes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_CCNATTRS_H
#define CCN_DIALECT_CCN_CCNATTRS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/TensorEncoding.h"

#include "dialect/ccn/CcnDialect.h.inc"
#include "dialect/ccn/CcnEnums.h.inc"

namespace ccn {

/// A mesh axis along which a reduction is pending.
struct PartialAxis {
  mlir::StringAttr axis;
  ReduceKind kind;

  bool operator==(const PartialAxis &other) const = default;
};

inline llvm::hash_code hash_value(const PartialAxis &partial) {
  return llvm::hash_combine(partial.axis, static_cast<int>(partial.kind));
}

} // namespace ccn

#define GET_ATTRDEF_CLASSES
#include "dialect/ccn/CcnAttrs.h.inc"

#endif // CCN_DIALECT_CCN_CCNATTRS_H
