//===- BuildPackage.cpp - From plans to a package -------------------------===//
//
// Exports the plans, compiles what their loops need, and puts both together.
//
//===----------------------------------------------------------------------===//

#include "codegen/package/BuildPackage.h"

#include "codegen/gpu/EmitCuda.h"
#include "codegen/gpu/map/MapKernels.h"
#include "codegen/gpu/skeletons/Skeletons.h"
#include "codegen/plan/ExportPlan.h"
#include "runtime/plan/PlanJson.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::codegen;

/// Whether ranks hold the same parts of the arguments of both plans.
static bool takesTheSame(const runtime::Plan &a, const runtime::Plan &b) {
  auto interfaceOf = [](const runtime::Plan &plan) {
    runtime::Plan bare;
    bare.arguments = plan.arguments;
    for (const runtime::RankPlan &rank : plan.ranks)
      bare.ranks.emplace_back().placements = rank.placements;
    return bare;
  };
  return runtime::isSamePlan(interfaceOf(a), interfaceOf(b));
}

/// Whether one of the package's plans is this.
static bool hasPlan(const runtime::Package &package,
                    const runtime::Plan &plan) {
  return runtime::isSamePlan(package.plan, plan) ||
         llvm::any_of(package.variants, [&](const auto &variant) {
           return runtime::isSamePlan(variant.plan, plan);
         });
}

/// The kernels of a plan; a description of them, unless that is null.
static Result<runtime::GpuProgram>
kernelsOf(const runtime::Plan &plan, const LoopLibrary &library,
          const Target &target, const Machine &machine, const ProgramText &file,
          std::string *description) {
  LoopKernels bodies(library.kernels);
  llvm::Expected<std::unique_ptr<KernelPlans>> mapped =
      mapKernels(plan, bodies, allSkeletons(), target, machine.orOf(target));
  if (mapped && description)
    *description = printKernels(**mapped);
  llvm::Expected<runtime::GpuProgram> gpu =
      mapped ? emitCuda(**mapped, file.text)
             : llvm::Expected<runtime::GpuProgram>(mapped.takeError());
  if (!gpu)
    return error("no kernels for GPUs: ", llvm::toString(gpu.takeError()));
  return std::move(*gpu);
}

Result<runtime::GpuProgram>
codegen::buildKernels(ModuleOp plans, const std::string &program,
                      const Target &target, const Machine &machine,
                      const ProgramText &file, std::string *description) {
  LoopLibrary library;
  library.file = file.name;
  runtime::Plan plan = exportPlan(plans, program, library);
  return kernelsOf(plan, library, target, machine, file, description);
}

Result<std::string> codegen::printKernelPlans(ModuleOp plans,
                                              const std::string &program,
                                              const Target &target,
                                              const Machine &machine) {
  LoopLibrary library;
  runtime::Plan plan = exportPlan(plans, program, library);
  llvm::Expected<std::unique_ptr<KernelPlans>> mapped =
      mapKernels(plan, LoopKernels(library.kernels), allSkeletons(), target,
                 machine.orOf(target));
  if (!mapped)
    return error("no kernels for GPUs: ", llvm::toString(mapped.takeError()));
  return printKernels(**mapped);
}

Result<runtime::Package> codegen::buildPackage(ModuleOp plans,
                                               const PackageOptions &options) {
  runtime::Package package;
  package.compiler = "ccn " CCN_VERSION;
  package.program = options.program;
  package.schedule = options.schedule;
  LoopLibrary library;
  library.file = options.file.name;
  package.plan = exportPlan(plans, options.program, library);
  auto emitKernels = [&](const runtime::Plan &plan, std::string *description)
      -> Result<std::optional<runtime::GpuProgram>> {
    if (!options.target.isGpu())
      return std::optional<runtime::GpuProgram>();
    Result<runtime::GpuProgram> gpu =
        kernelsOf(plan, library, options.target, options.machine, options.file,
                  description);
    if (!gpu)
      return gpu.status();
    return std::optional(*std::move(gpu));
  };
  Result<std::optional<runtime::GpuProgram>> gpu =
      emitKernels(package.plan, options.description);
  if (!gpu)
    return gpu.status();
  package.gpu = *std::move(gpu);
  if (options.target.isGpu())
    package.target = "cuda";
  package.variant = options.variant;
  for (const VariantOptions &variant : options.variants) {
    runtime::PackageVariant made{
        variant.name, variant.schedule,
        exportPlan(variant.plans, options.program, library), std::nullopt};
    if (!takesTheSame(package.plan, made.plan) || hasPlan(package, made.plan))
      continue;
    Result<std::optional<runtime::GpuProgram>> kernels =
        emitKernels(made.plan, nullptr);
    // Not every plan has kernels.
    if (!kernels)
      continue;
    made.gpu = *std::move(kernels);
    package.variants.push_back(std::move(made));
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
  for (runtime::PackageVariant &variant : package.variants)
    variant.plan.failures = library.failures;
  if (!library.kernels.empty()) {
    llvm::Expected<CompiledLoops> loops =
        compileLoops(plans.getContext(), library.kernels, options.target);
    if (!loops)
      return error("the loops cannot be compiled: ",
                   llvm::toString(loops.takeError()));
    package.objectCode = std::move(loops->object);
    package.cpuFeatures = std::move(loops->cpuFeatures);
  }
  return package;
}
