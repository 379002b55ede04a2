//===- Retype.h - Programs in f64 -------------------------------*- C++ -*-===//
//
// Replaces every floating-point type of a program by f64, so that errors of a
// schedule are not hidden by the rounding of narrow types.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_RETYPE_H
#define CCN_LIB_VERIFY_RETYPE_H

#include "dialect/ccn/Ccn.h"
#include "lib/Interpreter/Interpreter.h"

#include "mlir/IR/OwningOpRef.h"

namespace ccn::verify {

/// f64 for a floating-point type; any other type is returned unchanged.
mlir::Type toF64(mlir::Type elementType);
/// The tensor type with f64 elements if its elements are floats.
mlir::RankedTensorType toF64(mlir::RankedTensorType type);
/// Changes the value of a float constant, or the target type of a cast to a
/// float, to f64. A constant keeps the value to which its type rounds it.
/// Changes no other operation.
void toF64(mlir::Operation *op);

/// A module with only this program, its mesh and the algorithms of its
/// collectives.
mlir::OwningOpRef<mlir::ModuleOp> cloneAlone(ProgramOp program);

/// The same in f64. Constants keep the values that they have in their own
/// types; casts between floats do nothing.
mlir::OwningOpRef<mlir::ModuleOp> cloneInF64(ProgramOp program);

/// The only program of a module.
ProgramOp onlyProgram(mlir::ModuleOp module);

/// Converts the floats among `inputs` to f64, which is exact. Fails if there is
/// not enough memory.
Result<interp::NamedTensors> toF64(const interp::NamedTensors &inputs);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_RETYPE_H
