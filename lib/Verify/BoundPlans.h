//===- BoundPlans.h - Plans that compute error bounds -----------*- C++ -*-===//
//
// Makes plans of the program that computes error bounds, so that a package
// itself can judge whether a difference is due to rounding.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_BOUNDPLANS_H
#define CCN_LIB_VERIFY_BOUNDPLANS_H

#include "dialect/ccn/Ccn.h"

#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace ccn::verify {

/// Plans that compute error bounds, and what they bound.
struct BoundPlans {
  /// The plans of all ranks. The program of bounds has the first program's name
  /// and takes the same arguments in the same order, with floats in f64.
  mlir::OwningOpRef<mlir::ModuleOp> plans;
  /// For each result of the bounds' program, the output of the first program
  /// that it bounds: the number of an argument, or of a result, which are
  /// counted after the arguments. Outputs that are not listed are exact.
  std::vector<int> outputs;
};

/// Makes plans of the program that computes the error bounds (ErrorBound.h) of
/// `program`, which must not be localized. Fails, without reporting why, if no
/// bound is known.
mlir::FailureOr<BoundPlans> makeBoundPlans(ProgramOp program);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_BOUNDPLANS_H
