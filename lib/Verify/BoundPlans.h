//===- BoundPlans.h - Bounds of errors as ranks compute them ----*- C++ -*-===//
//
// Plans of the program that bounds another's errors, so that a package can
// judge by itself what differs by rounding.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_BOUNDPLANS_H
#define CCN_LIB_VERIFY_BOUNDPLANS_H

#include "dialect/ccn/Ccn.h"

#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace ccn::verify {

struct BoundPlans {
  /// Of all ranks. The program has the same name and takes the same arguments
  /// in the same order, floats in f64.
  mlir::OwningOpRef<mlir::ModuleOp> plans;
  /// What each result bounds: the number of an argument of the first program,
  /// its results counted after its arguments. Outputs that are not here are
  /// exact.
  std::vector<int> outputs;
};

/// Plans of the program that computes bounds (see ErrorBound.h) of another,
/// which is not localized. Fails, without saying why, where none is known.
mlir::FailureOr<BoundPlans> makeBoundPlans(ProgramOp program);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_BOUNDPLANS_H
