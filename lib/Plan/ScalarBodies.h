//===- ScalarBodies.h - Elementwise operations on scalars -------*- C++ -*-===//
//
// Lowers an elementwise operation of the ccn dialect, for one element, to arith
// and math. The results are bit for bit those of the reference interpreter:
// both compute the same function (dialect/ccn/ScalarFunctions.h) and round
// once.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_SCALARBODIES_H
#define CCN_LIB_PLAN_SCALARBODIES_H

#include "dialect/ccn/Ccn.h"

namespace ccn::plan {

/// The state that the operations of a body share.
struct BodyContext {
  /// An i1 that is true if the body's result cannot be computed, and the
  /// reason, such as "division by zero at adam.ccn:7:3".
  struct Failure {
    mlir::Value failed;
    std::string text;
  };
  /// Of the element, an i64: its global row-major index, for dropout; its
  /// global index along a dimension, for iota.
  mlir::Value index;
  llvm::SmallVector<Failure> failures;
};

/// Makes operations that apply `op` to `scalars`, and returns the resulting
/// scalar. Scalars have the element types of the operands and the result, but
/// integers are signless and bool is i1. If the result may not be computable,
/// adds a failure to `context`; the scalar is unspecified where the failure is
/// true.
mlir::FailureOr<mlir::Value> emitScalar(mlir::OpBuilder &builder,
                                        mlir::Operation *op,
                                        mlir::ValueRange scalars,
                                        BodyContext &context);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_SCALARBODIES_H
