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

#include "codegen/cpu/CpuTarget.h"
#include "dialect/ccn/CcnAttrs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace ccn::codegen {

struct LoopInput {
  /// As a tensor's element type: integers have a sign or none, bool is i1.
  mlir::Type element;
  /// The stride of the innermost dimension if that is 0 or 1; -1 if it is known
  /// at run time only.
  int64_t innerStep = -1;
  /// All strides are 0: what depends on such inputs alone is computed once.
  bool isUniform = false;
};

struct LoopOutput {
  mlir::Type element;
  int64_t innerStep = -1;
  /// How the elements are reduced over the trailing dimensions.
  std::optional<ReductionKind> reduction;
  /// Of a mean: what the sum is divided by.
  double divisor = 0;
};

/// A loop nest of a plan (runtime/plan/Plan.h).
struct LoopKernel {
  std::string name;
  /// What is computed of one element: of scalars of the inputs' and then
  /// `positions` of type i64, to scalars of the outputs' types and then an i1
  /// for each way to fail. One block of operations of the arith and math
  /// dialects, without fast-math flags; of math absf, absi, copysign, sqrt,
  /// exp, log, tanh, erf, erfc, powf, ctlz, cttz and ctpop. Integers are
  /// signless, whatever the elements' sign; arithmetic is on f32 and f64, from
  /// and to narrower floats there are only arith.extf and arith.truncf.
  mlir::func::FuncOp body;
  /// The number of dimensions, and how many of them, the last ones, are
  /// reduced; if any are, every output has a reduction.
  int64_t dims = 0, reducedDims = 0;
  std::vector<LoopInput> inputs;
  std::vector<LoopOutput> outputs;
  /// How many operands of Access::Index follow the inputs.
  int64_t positions = 0;
  /// Failure i of the body is reported as status firstFailure + i + 1.
  int64_t firstFailure = 0;
  /// That it is compiled quickly counts for more than that it runs quickly.
  /// Results are the same bits.
  bool isRare = false;
};

struct CompiledLoops {
  /// An ELF shared object that exports a runtime::LoopFunction for each kernel,
  /// under its name; it needs libm.
  std::string object;
  /// What a CPU must have to execute it, by the names in /proc/cpuinfo.
  std::vector<std::string> cpuFeatures;
};

/// Compiles loops into one object. Fails if a kernel is not as described above.
///
/// In a compiled function, an output does not overlap an input except exactly:
/// with the same address and strides. An output's elements are distinct.
llvm::Expected<CompiledLoops>
compileLoops(mlir::MLIRContext *context, llvm::ArrayRef<LoopKernel> kernels,
             const CpuTarget &target = CpuTarget::host());

/// The optimized LLVM IR that compileLoops generates code for, as text. All
/// kernels are rare, or none is.
llvm::Expected<std::string>
printOptimizedLoops(mlir::MLIRContext *context,
                    llvm::ArrayRef<LoopKernel> kernels,
                    const CpuTarget &target = CpuTarget::host());

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CPU_CPULOOPS_H
