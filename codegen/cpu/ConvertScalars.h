//===- ConvertScalars.h - arith and math to the LLVM dialect ----*- C++ -*-===//
//
// Converts scalar code to the LLVM dialect so that results equal those of the
// interpreter: math functions call libm's functions of double, and narrow
// floats are computed by integer operations.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_CPU_CONVERTSCALARS_H
#define CCN_CODEGEN_CPU_CONVERTSCALARS_H

#include "mlir/IR/BuiltinOps.h"

namespace ccn::codegen {

/// Converts all operations of the arith and math dialects in the functions of
/// `module`; everything else must be in the LLVM dialect already. With
/// `hasF16C`, instructions of the target convert between f16 and f32.
///
/// Operations of the math dialect that are not single instructions call libm's
/// functions of double; for f32, the result is then rounded. Narrow floats
/// become their bits. Conversions from f64 to narrow floats round once.
llvm::LogicalResult convertScalars(mlir::ModuleOp module, bool hasF16C);

/// Whether converted code may call a function of that name.
bool isLibmFunction(llvm::StringRef name);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CPU_CONVERTSCALARS_H
