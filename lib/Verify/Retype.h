//===- Retype.h - Programs in f64 -------------------------------*- C++ -*-===//
//
// The same program with every floating-point type replaced by f64: what a
// schedule does wrong shows there free of the rounding of narrow types.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_RETYPE_H
#define CCN_LIB_VERIFY_RETYPE_H

#include "dialect/ccn/Ccn.h"
#include "lib/Interpreter/Interpreter.h"

#include "mlir/IR/OwningOpRef.h"

namespace ccn::verify {

/// f64 for a floating-point type, any other type itself.
mlir::Type toF64(mlir::Type elementType);
/// A tensor type with elements in f64 if they are floats.
mlir::RankedTensorType toF64(mlir::RankedTensorType type);
/// A constant's value, which keeps what rounding to its type made of it, or the
/// element type of a cast: f64 in place of a float. Changes no other operation.
void toF64(mlir::Operation *op);

/// A module of the program alone, with its mesh and the algorithms of its
/// collectives.
mlir::OwningOpRef<mlir::ModuleOp> cloneAlone(ProgramOp program);

/// The same in f64. Constants keep the
/// values that they have in their own types, casts between floats do nothing.
mlir::OwningOpRef<mlir::ModuleOp> cloneInF64(ProgramOp program);

/// The module's one program.
ProgramOp onlyProgram(mlir::ModuleOp module);

/// Inputs with floats in f64; exact. Fails if there is no memory.
Result<interp::NamedTensors> toF64(const interp::NamedTensors &inputs);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_RETYPE_H
