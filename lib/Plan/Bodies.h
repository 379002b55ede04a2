//===- Bodies.h - The scalar functions that loops call ----------*- C++ -*-===//
//
// Makes the functions on scalars that loops call. Loops that compute the same
// share one function, even if they belong to different ranks or chunks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_BODIES_H
#define CCN_LIB_PLAN_BODIES_H

#include "dialect/plan/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace ccn::plan {

/// An operand of a step: argument `number` of the body, or the result of the
/// earlier step `number`.
struct BodyOperand {
  bool isArgument = false;
  unsigned number = 0;
};

/// An operation on scalars. A copy needs no step.
struct BodyStep {
  mlir::Operation *op = nullptr;
  llvm::SmallVector<BodyOperand, 3> operands;
  /// Of dropout and iota: which of the body's positions is the element's.
  int position = -1;
};

/// The content of a body. Its function takes `arguments`, then `positions`
/// indices of type i64.
struct BodySpec {
  /// The element types of the arguments.
  llvm::SmallVector<mlir::Type> arguments;
  unsigned positions = 0;
  llvm::SmallVector<BodyStep> steps;
  llvm::SmallVector<BodyOperand> results;
};

/// Makes the functions of bodies; equal bodies share one function.
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
  /// By their text, and by what they were made of: most bodies are made once
  /// for each rank and chunk.
  llvm::StringMap<mlir::func::FuncOp> known, bySpec;
};

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_BODIES_H
