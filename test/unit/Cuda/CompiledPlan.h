//===- CompiledPlan.h - From a program to its kernels in tests --*- C++ -*-===//
//
// Compiles a text as far as the runtime's plan, and that to CUDA C++.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_COMPILEDPLAN_H
#define CCN_TEST_UNIT_CUDA_COMPILEDPLAN_H

#include "codegen/gpu/EmitCuda.h"
#include "codegen/plan/ExportPlan.h"
#include "test/unit/Plan/PlanUtil.h"

namespace ccn::test {

/// The plans of a text's one program, which must be right; else null, after a
/// failure of the test.
inline mlir::OwningOpRef<mlir::ModuleOp>
plansOf(PlanCompiler &compiler, const std::string &text,
        const verify::Variant &variant) {
  std::string messages;
  auto plans = compiler.compileTo(Phase::Plan, text, variant, messages);
  if (!plans)
    ADD_FAILURE() << messages;
  return plans;
}

/// A module's one plan, and the bodies of its loops, which go to `library`.
inline runtime::Plan onlyPlan(mlir::ModuleOp plans,
                              codegen::LoopLibrary &library) {
  auto first = *plans.getOps<plan::PlanOp>().begin();
  return codegen::exportPlan(plans, first.getName(), library);
}

/// A text's one program for GPUs, which must be right.
inline runtime::GpuProgram emitFor(PlanCompiler &compiler,
                                   const std::string &text,
                                   const verify::Variant &variant = {}) {
  auto plans = plansOf(compiler, text, variant);
  if (!plans)
    return {};
  codegen::LoopLibrary library;
  runtime::Plan plan = onlyPlan(*plans, library);
  llvm::Expected<runtime::GpuProgram> program = codegen::emitCuda(
      plan, library.kernels, Target::anyGpu(), Machine::of(Target::anyGpu()));
  if (!program) {
    ADD_FAILURE() << llvm::toString(program.takeError());
    return {};
  }
  return *std::move(program);
}

/// The sum of what ranks have and a residual, normalized, in one kernel, with
/// more for its schedule.
inline std::string fusedNorm(const std::string &ranks, const std::string &rows,
                             const std::string &columns,
                             const std::string &choice = "") {
  return "mesh m (d = " + ranks + ")\nparam T = " + rows +
         "\nparam H = " + columns +
         "\nprogram f(x: bf16[T, H] local, r: bf16[T, H], g: bf16[H]) {\n"
         "  let total = all_reduce(sum, x)\n"
         "  let res = r + total\n"
         "  let y = rms_norm(res, g, 1e-5)\n"
         "  return y, res\n"
         "}\n"
         "schedule fused for f {\n"
         "  fuse total, res, y\n" +
         choice + "}\n";
}

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_COMPILEDPLAN_H
