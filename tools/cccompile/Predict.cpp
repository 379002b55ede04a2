//===- Predict.cpp - Predicted times from the command line ----------------===//

#include "tools/cccompile/Predict.h"

#include "codegen/gpu/skeletons/Skeletons.h"
#include "codegen/plan/ExportPlan.h"
#include "codegen/predict/Predict.h"

using namespace ccn;

static Result<MachineRates> loadRates(const Options &options,
                                      const Machine &machine) {
  std::string name = options.machine.value_or(machine.name);
  Result<MachineFile> file = loadMachineFile(name);
  if (!file)
    return file.status();
  if (!file->rates)
    return error("--machine: expected 'rates', by which times are predicted, "
                 "found none in '",
                 name, "'");
  return *file->rates;
}

static Result<codegen::Prediction> predicted(mlir::ModuleOp plans,
                                             const std::string &program,
                                             const Target &target,
                                             const Machine &machine,
                                             const MachineRates &rates) {
  codegen::LoopLibrary library;
  runtime::Plan plan = codegen::exportPlan(plans, program, library);
  codegen::PlannedRanks ranks(codegen::exportedRanks(plans, program),
                              plan.ranks.size(), getMesh(plans));
  codegen::LoopKernels bodies(library.kernels);
  std::unique_ptr<codegen::KernelPlans> kernels;
  if (target.isGpu()) {
    llvm::Expected<std::unique_ptr<codegen::KernelPlans>> mapped =
        codegen::mapKernels(plan, bodies, codegen::allSkeletons(), target,
                            machine, /*isPredicted=*/true);
    if (!mapped)
      return error("no kernels for GPUs: ", llvm::toString(mapped.takeError()));
    kernels = std::move(*mapped);
  }
  Result<codegen::Prediction> prediction =
      codegen::predict(plan, ranks, kernels.get(), bodies, machine, rates);
  if (prediction)
    prediction->program = program;
  return prediction;
}

std::optional<FindOptions> ccn::predictingSearch(const Options &options,
                                                 const Target &target,
                                                 const Machine &machine,
                                                 Diagnostics &diagnostics) {
  const Machine &figures = machine.orOf(target);
  Result<MachineRates> rates = loadRates(options, figures);
  if (!rates) {
    diagnostics.error(rates.message());
    return std::nullopt;
  }
  FindOptions find;
  find.machine = figures.name;
  find.rates = *rates;
  find.states = options.states;
  find.maxPriced = options.searchStates;
  find.price = [=, rates = *rates](mlir::ModuleOp plans,
                                   llvm::StringRef program) -> Result<double> {
    Result<codegen::Prediction> prediction =
        predicted(plans, program.str(), target, figures, rates);
    if (!prediction)
      return prediction.status();
    return prediction->totalUs;
  };
  return find;
}

std::optional<std::string> ccn::predictProgram(mlir::ModuleOp plans,
                                               const std::string &program,
                                               const Options &options,
                                               const Machine &machine,
                                               Diagnostics &diagnostics) {
  const Machine &figures = machine.orOf(options.target);
  Result<MachineRates> rates = loadRates(options, figures);
  Result<codegen::Prediction> prediction =
      rates ? predicted(plans, program, options.target, figures, *rates)
            : Result<codegen::Prediction>(rates.status());
  if (!prediction) {
    diagnostics.error(prediction.message());
    return std::nullopt;
  }
  return options.predict == "json"    ? codegen::printJson(*prediction)
         : options.predict == "trace" ? codegen::printTrace(*prediction)
                                      : codegen::printTable(*prediction);
}
