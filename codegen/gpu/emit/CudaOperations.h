//===- CudaOperations.h - Operations on scalars as CUDA C++ -----*- C++ -*-===//
//
// One operation of a body at a time, for CudaScalars.cpp, which says in which
// type it is done and what its operands are called.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDAOPERATIONS_H
#define CCN_CODEGEN_GPU_EMIT_CUDAOPERATIONS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <string>

namespace ccn::codegen {

/// A function of f64 and its namesake of f32.
struct CudaFunction {
  const char *name = nullptr;
  /// Whether that of f32 is within 2 units in the last place: exp 2, log 1,
  /// tanh 2 and erf 2, but erfc 4 and pow 4 (CUDA Programming Guide 13,
  /// "Mathematical Functions", single precision).
  bool isAccurate = false;
  /// Whether rounding its exact result in f64 and then in f32 gives what
  /// rounding in f32 does: so it is with more than twice the digits. (S.
  /// Figueroa, "When is double rounding innocuous?", SIGNUM 30(3), 1995.)
  bool isExact = false;
};

/// The function that an operation is; without a name if it is none.
CudaFunction functionOf(mlir::Operation *op);

/// A literal; of an f64 constant as a float if `isSingle`.
std::string constantText(mlir::arith::ConstantOp op, bool isSingle);

/// An expression for a result of an operation, which is no constant. `x` are
/// its operands: names or literals. If `isSingle`, what is f64 of operands and
/// result is given, and wanted, as float. Empty if there is no translation.
std::string operationText(mlir::OpResult result, llvm::ArrayRef<std::string> x,
                          bool isSingle);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDAOPERATIONS_H
