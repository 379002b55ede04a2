//===- Bodies.h - What loops compute ----------------------------*- C++ -*-===//
//
// Makes the functions over scalars that loops call. Loops that compute the same
// share one, on whatever rank and in whatever chunk they are.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_BODIES_H
#define CCN_LIB_PLAN_BODIES_H

#include "dialect/plan/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace ccn::plan {

/// An operand of an operation in a body: an argument of the body, or the result
/// of an operation before it.
struct BodyOperand {
  bool isArgument = false;
  unsigned number = 0;
};

/// An operation on scalars; none copies its operand.
struct BodyStep {
  mlir::Operation *op = nullptr;
  llvm::SmallVector<BodyOperand, 3> operands;
  /// Of dropout and iota: which of the body's positions is the element's.
  int position = -1;
};

struct BodySpec {
  /// The element types of the arguments.
  llvm::SmallVector<mlir::Type> arguments;
  unsigned positions = 0;
  llvm::SmallVector<BodyStep> steps;
  llvm::SmallVector<BodyOperand> results;
};

class BodyMaker {
public:
  /// Adds functions to `module`.
  explicit BodyMaker(mlir::ModuleOp module) : module(module) {}

  mlir::FailureOr<mlir::func::FuncOp> make(const BodySpec &spec,
                                           mlir::Location loc);
  /// The body without arguments that gives the type's zero.
  mlir::func::FuncOp makeZero(mlir::Type element);

private:
  mlir::func::FuncOp share(mlir::func::FuncOp body);

  mlir::ModuleOp module;
  llvm::StringMap<mlir::func::FuncOp> known;
};

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_BODIES_H
