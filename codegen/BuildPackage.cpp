//===- BuildPackage.cpp - From plans to a package -------------------------===//
//
// Exports the plans, compiles what their loops need, and puts both together.
//
//===----------------------------------------------------------------------===//

#include "codegen/BuildPackage.h"

#include "codegen/ExportPlan.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::codegen;

Result<runtime::Package> codegen::buildPackage(ModuleOp plans,
                                               const PackageOptions &options) {
  runtime::Package package;
  package.compiler = "ccn " CCN_VERSION;
  package.program = options.program;
  package.schedule = options.schedule;
  ExportedPlan exported = exportPlan(plans, options.program, "loop");
  package.plan = std::move(exported.plan);
  std::vector<LoopKernel> kernels = std::move(exported.kernels);
  if (options.reference) {
    ExportedPlan reference =
        exportPlan(options.reference, options.program, "reference");
    package.reference = std::move(reference.plan);
    llvm::append_range(kernels, reference.kernels);
  }
  if (!kernels.empty()) {
    llvm::Expected<CompiledLoops> loops =
        compileLoops(plans.getContext(), kernels);
    if (!loops)
      return error("the loops cannot be compiled: ",
                   llvm::toString(loops.takeError()));
    package.objectCode = std::move(loops->object);
    package.cpuFeatures = std::move(loops->cpuFeatures);
  }
  return package;
}
