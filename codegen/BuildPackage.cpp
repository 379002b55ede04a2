//===- BuildPackage.cpp - From plans to a package -------------------------===//
//
// Exports the plans, compiles what their loops need, and puts both together.
//
//===----------------------------------------------------------------------===//

#include "codegen/BuildPackage.h"

#include "codegen/EmitCuda.h"
#include "codegen/ExportPlan.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::codegen;

static Result<runtime::GpuProgram> kernelsOf(const runtime::Plan &plan,
                                             const LoopLibrary &library) {
  llvm::Expected<runtime::GpuProgram> gpu = emitCuda(plan, library.kernels);
  if (!gpu)
    return error("no kernels for GPUs: ", llvm::toString(gpu.takeError()));
  return std::move(*gpu);
}

Result<runtime::GpuProgram> codegen::buildKernels(ModuleOp plans,
                                                  const std::string &program) {
  LoopLibrary library;
  runtime::Plan plan = exportPlan(plans, program, library);
  return kernelsOf(plan, library);
}

Result<runtime::Package> codegen::buildPackage(ModuleOp plans,
                                               const PackageOptions &options) {
  runtime::Package package;
  package.compiler = "ccn " CCN_VERSION;
  package.program = options.program;
  package.schedule = options.schedule;
  LoopLibrary library;
  package.plan = exportPlan(plans, options.program, library);
  if (options.gpu) {
    Result<runtime::GpuProgram> gpu = kernelsOf(package.plan, library);
    if (!gpu)
      return gpu.status();
    package.gpu = *std::move(gpu);
    package.target = "cuda";
  }
  if (options.reference)
    package.reference = exportPlan(options.reference, options.program, library);
  // Only --check takes them.
  library.addsRare = true;
  if (options.bounds)
    package.bounds = exportPlan(options.bounds, options.program, library);
  package.bounded = options.bounded;
  package.plan.failures = library.failures;
  for (std::optional<runtime::Plan> *other :
       {&package.reference, &package.bounds})
    if (*other)
      (*other)->failures = library.failures;
  if (!library.kernels.empty()) {
    llvm::Expected<CompiledLoops> loops =
        compileLoops(plans.getContext(), library.kernels, options.cpu);
    if (!loops)
      return error("the loops cannot be compiled: ",
                   llvm::toString(loops.takeError()));
    package.objectCode = std::move(loops->object);
    package.cpuFeatures = std::move(loops->cpuFeatures);
  }
  return package;
}
