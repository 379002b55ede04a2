//===- ChosenAlgorithms.cpp - Algorithms chosen by a topology -------------===//
//
// Matches reductions at different sizes by their place in the file and their
// order: sizes change neither, but may make some reductions vanish.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/ChosenAlgorithms.h"

#include "lib/Transforms/Algorithms.h"
#include "synth/interop/ScheduleImport.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::verify;

/// Calls visit(reduction, key) for the reductions of a module. The key
/// identifies a reduction at any size: its program, its location, its
/// collective and number of ranks, and its number among reductions with the
/// same of these.
static void forEachReduction(
    ModuleOp module,
    llvm::function_ref<void(CollectiveOpInterface, const std::string &)>
        visit) {
  std::map<std::string, int> alike;
  module.walk([&](CollectiveOpInterface op) {
    if (!op.communicates() || !op.getReduction())
      return;
    std::string key;
    llvm::raw_string_ostream os(key);
    os << op->getParentOfType<ProgramOp>().getSymName() << " ";
    op->getLoc().print(os);
    os << " " << stringifyCollective(op.getCollective()) << " "
       << requestFor(op).ranks;
    key += " " + std::to_string(alike[key]++);
    visit(op, key);
  });
}

FailureOr<ChosenAlgorithms> ChosenAlgorithms::find(const SourceFile &source,
                                                   MLIRContext *context,
                                                   CompileOptions options,
                                                   Diagnostics &diagnostics) {
  ChosenAlgorithms chosen;
  if (options.topology.empty())
    return chosen;
  options.configure = nullptr;
  options.dumpFolder.clear();
  options.roundTrip = options.explain = false;
  options.stopAfter = Phase::Select;
  OwningOpRef<ModuleOp> selected;
  if (compile(source, context, options, diagnostics, selected) !=
      CompileStatus::Done)
    return failure();
  forEachReduction(
      *selected, [&](CollectiveOpInterface op, const std::string &key) {
        auto symbol = op->getAttrOfType<FlatSymbolRefAttr>(kAlgorithmAttr);
        if (!symbol)
          return;
        auto algorithm = selected->lookupSymbol<AlgorithmOp>(symbol.getValue());
        chosen.algorithms[key] = {algorithm.getSchedule().str(),
                                  algorithm.getSymName().str()};
      });
  return chosen;
}

void ChosenAlgorithms::giveTo(ModuleOp scheduled) const {
  forEachReduction(
      scheduled, [&](CollectiveOpInterface op, const std::string &key) {
        auto it = algorithms.find(key);
        if (it == algorithms.end() || choiceFor(op, kAlgorithmAttr))
          return;
        const auto &[text, name] = it->second;
        Result<synth::Schedule> schedule =
            synth::importSchedule(std::string_view(text), name);
        assert(schedule && "algorithms were read when they were chosen");
        op->setAttr(kAlgorithmAttr,
                    addAlgorithm(scheduled, *schedule, name, op->getLoc()));
      });
}
