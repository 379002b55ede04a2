//===- CpuLoops.h - Machine code for loop nests -----------------*- C++ -*-===//
//
// Compiles the loops of a plan for the CPU: from the scalar function that a
// loop applies to each element to a shared object that exports one function for
// each loop. Results are bit for bit those of the reference interpreter's
// kernels: no fast-math, no contraction, its accumulators and its one order.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_CPU_CPULOOPS_H
#define CCN_CODEGEN_CPU_CPULOOPS_H

#include "codegen/plan/LoopKernel.h"
#include "lib/Target/Target.h"

namespace ccn::codegen {

struct CompiledLoops {
  /// An ELF shared object that exports a runtime::LoopFunction for each kernel,
  /// under its name; it needs libm.
  std::string object;
  /// What a CPU must have to execute it, by the names in /proc/cpuinfo.
  std::vector<std::string> cpuFeatures;
};

/// Compiles loops into one object. Fails if a kernel is not as LoopKernel.h
/// says.
///
/// In a compiled function, an output does not overlap an input except exactly:
/// with the same address and strides. An output's elements are distinct.
llvm::Expected<CompiledLoops>
compileLoops(mlir::MLIRContext *context, llvm::ArrayRef<LoopKernel> kernels,
             const Target &target = Target::host());

/// The optimized LLVM IR that compileLoops generates code for, as text. All
/// kernels are rare, or none is.
llvm::Expected<std::string>
printOptimizedLoops(mlir::MLIRContext *context,
                    llvm::ArrayRef<LoopKernel> kernels,
                    const Target &target = Target::host());

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CPU_CPULOOPS_H
