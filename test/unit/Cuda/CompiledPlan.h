//===- CompiledPlan.h - From a program to its kernels in tests --*- C++ -*-===//
//
// Compiles a text as far as the runtime's plan, and that to CUDA C++.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_COMPILEDPLAN_H
#define CCN_TEST_UNIT_CUDA_COMPILEDPLAN_H

#include "codegen/EmitCuda.h"
#include "codegen/ExportPlan.h"
#include "test/unit/Plan/PlanUtil.h"

namespace ccn::test {

/// A text's one program for GPUs, which must be right.
inline runtime::GpuProgram emitFor(PlanCompiler &compiler,
                                   const std::string &text,
                                   const verify::Variant &variant = {}) {
  std::string messages;
  mlir::OwningOpRef<mlir::ModuleOp> plans =
      compiler.compileTo(Phase::Plan, text, variant, messages);
  if (!plans) {
    ADD_FAILURE() << messages;
    return {};
  }
  codegen::LoopLibrary library;
  auto first = *plans->getOps<plan::PlanOp>().begin();
  runtime::Plan plan = codegen::exportPlan(*plans, first.getName(), library);
  llvm::Expected<runtime::GpuProgram> program =
      codegen::emitCuda(plan, library.kernels);
  if (!program) {
    ADD_FAILURE() << llvm::toString(program.takeError());
    return {};
  }
  return *std::move(program);
}

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_COMPILEDPLAN_H
