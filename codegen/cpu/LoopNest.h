//===- LoopNest.h - From a loop's body to the function ----------*- C++ -*-===//
//
// Builds the function of a loop kernel: control flow and memory in the LLVM
// dialect around scalars that are still in arith and math.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_CPU_LOOPNEST_H
#define CCN_CODEGEN_CPU_LOOPNEST_H

#include "codegen/cpu/CpuLoops.h"

namespace ccn::codegen {

/// f16, bf16 and the floats of 8 bits.
bool isNarrowFloat(mlir::Type type);

/// The type of scalars of that element type: integers lose their sign.
mlir::Type scalarType(mlir::Type element);

/// Whether an operation of the body of a loop of that name is allowed there.
llvm::Error checkScalar(llvm::StringRef loop, mlir::Operation &op);

/// That it is not.
llvm::Error unsupportedScalar(llvm::StringRef loop, mlir::Operation &op);

/// Whether the kernel's parts fit together and its body has only operations
/// that are allowed there.
llvm::Error checkKernel(const LoopKernel &kernel);

/// Adds the kernel's function to `module`. The kernel passes checkKernel.
void buildLoopNest(mlir::ModuleOp module, const LoopKernel &kernel);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CPU_LOOPNEST_H
