//===- Predict.cpp - Predicted times from the command line ----------------===//

#include "tools/cccompile/Predict.h"

#include "codegen/gpu/skeletons/Skeletons.h"
#include "codegen/plan/ExportPlan.h"
#include "codegen/predict/Predict.h"

using namespace ccn;

static Result<std::string> predicted(mlir::ModuleOp plans,
                                     const std::string &program,
                                     const Options &options,
                                     const Machine &machine) {
  std::string name = options.machine.value_or(machine.name);
  Result<MachineFile> file = loadMachineFile(name);
  if (!file)
    return file.status();
  if (!file->rates)
    return error("--machine: expected 'rates', by which times are predicted, "
                 "found none in '",
                 name, "'");
  codegen::LoopLibrary library;
  runtime::Plan plan = codegen::exportPlan(plans, program, library);
  codegen::LoopKernels bodies(library.kernels);
  std::unique_ptr<codegen::KernelPlans> kernels;
  if (options.target.isGpu()) {
    llvm::Expected<std::unique_ptr<codegen::KernelPlans>> mapped =
        codegen::mapKernels(plan, bodies, codegen::allSkeletons(),
                            options.target, machine);
    if (!mapped)
      return error("no kernels for GPUs: ", llvm::toString(mapped.takeError()));
    kernels = std::move(*mapped);
  }
  Result<codegen::Prediction> prediction =
      codegen::predict(plan, kernels.get(), bodies, machine, *file->rates);
  if (!prediction)
    return prediction.status();
  prediction->program = program;
  return options.predict == "json"    ? codegen::printJson(*prediction)
         : options.predict == "trace" ? codegen::printTrace(*prediction)
                                      : codegen::printTable(*prediction);
}

std::optional<std::string> ccn::predictProgram(mlir::ModuleOp plans,
                                               const std::string &program,
                                               const Options &options,
                                               const Machine &machine,
                                               Diagnostics &diagnostics) {
  Result<std::string> text =
      predicted(plans, program, options, machine.orOf(options.target));
  if (text)
    return *std::move(text);
  diagnostics.error(text.message());
  return std::nullopt;
}
