//===- CpuLoops.h - Machine code for loop nests -----------------*- C++ -*-===//
//
// Compiles the loops of a plan for the CPU: from the scalar functions that
// loops apply to each element to a shared object that exports one function for
// each loop. Results equal those of the reference interpreter bit for bit: no
// fast-math, no contraction, the same accumulators and the same order.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_CPU_CPULOOPS_H
#define CCN_CODEGEN_CPU_CPULOOPS_H

#include "codegen/plan/LoopKernel.h"
#include "lib/Target/Target.h"

namespace ccn::codegen {

struct CompiledLoops {
  /// An ELF shared object that exports a runtime::LoopFunction for each kernel,
  /// under the kernel's name. It needs libm.
  std::string object;
  /// The CPU features that the object needs, as named in /proc/cpuinfo.
  std::vector<std::string> cpuFeatures;
};

/// Compiles loops into one object. Fails if a kernel violates the rules in
/// LoopKernel.h.
///
/// Callers of a compiled function must pass outputs that do not overlap an
/// input, unless address and strides are the same. The elements of an output
/// must be distinct.
llvm::Expected<CompiledLoops>
compileLoops(mlir::MLIRContext *context, llvm::ArrayRef<LoopKernel> kernels,
             const Target &target = Target::host());

/// The optimized LLVM IR for which compileLoops generates code, as text. Either
/// all kernels or none must be rare.
llvm::Expected<std::string>
printOptimizedLoops(mlir::MLIRContext *context,
                    llvm::ArrayRef<LoopKernel> kernels,
                    const Target &target = Target::host());

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CPU_CPULOOPS_H
