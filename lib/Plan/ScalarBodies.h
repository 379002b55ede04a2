//===- ScalarBodies.h - Elementwise operations on scalars -------*- C++ -*-===//
//
// What an elementwise operation of the ccn dialect does to one element, in
// arith and math: bit for bit what the reference interpreter does, for both
// compute the same function (dialect/ccn/ScalarFunctions.h), and round it once.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_SCALARBODIES_H
#define CCN_LIB_PLAN_SCALARBODIES_H

#include "dialect/ccn/Ccn.h"

namespace ccn::plan {

/// What the operations of a body share.
struct BodyContext {
  /// What makes a body's result unusable: an i1 that says so, and the text:
  /// "division by zero at adam.ccn:7:3".
  struct Failure {
    mlir::Value failed;
    std::string text;
  };
  /// Of the element, an i64: its global row-major index, for dropout; its
  /// global index along a dimension, for iota.
  mlir::Value index;
  llvm::SmallVector<Failure> failures;
};

/// Makes the scalar that `op` makes of `scalars`. They have the element types
/// of the operands and the result, but integers are signless and bool is i1.
/// What cannot be computed adds a failure, and the scalar is anything then.
mlir::FailureOr<mlir::Value> emitScalar(mlir::OpBuilder &builder,
                                        mlir::Operation *op,
                                        mlir::ValueRange scalars,
                                        BodyContext &context);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_SCALARBODIES_H
