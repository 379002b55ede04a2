//===- LoopNest.h - From a loop's body to the function ----------*- C++ -*-===//
//
// Builds the function of a loop kernel: control flow and memory accesses in the
// LLVM dialect, around scalar operations that are still in arith and math.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_CPU_LOOPNEST_H
#define CCN_CODEGEN_CPU_LOOPNEST_H

#include "codegen/cpu/CpuLoops.h"

namespace ccn::codegen {

/// Adds the kernel's function to `module`. checkKernel must have accepted the
/// kernel.
void buildLoopNest(mlir::ModuleOp module, const LoopKernel &kernel);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CPU_LOOPNEST_H
