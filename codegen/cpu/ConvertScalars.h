//===- ConvertScalars.h - arith and math to the LLVM dialect ----*- C++ -*-===//
//
// The conversion of scalar code to the LLVM dialect with the interpreter's
// results: libm's functions of double, and narrow floats by integer operations.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_CPU_CONVERTSCALARS_H
#define CCN_CODEGEN_CPU_CONVERTSCALARS_H

#include "mlir/IR/BuiltinOps.h"

namespace ccn::codegen {

/// Converts all operations of the arith and math dialects in the functions of
/// `module`, which are in the LLVM dialect otherwise. With `hasF16C` the target
/// converts between f16 and f32 itself.
///
/// Functions of the math dialect that are not an instruction are libm's of
/// double, whose result is rounded for f32. Narrow floats become their bits;
/// from f64 they are rounded once.
llvm::LogicalResult convertScalars(mlir::ModuleOp module, bool hasF16C);

/// Whether converted code may call a function of that name.
bool isLibmFunction(llvm::StringRef name);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CPU_CONVERTSCALARS_H
