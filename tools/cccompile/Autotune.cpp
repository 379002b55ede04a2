//===- Autotune.cpp - What measurement chooses from -----------------------===//
//
// Each schedule is applied anew, and planned in several ways. A schedule that
// cannot be applied is left out silently; if the user asks for it, that is an
// error.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/Autotune.h"

#include "lib/Driver/FindSchedule.h"

#include "llvm/ADT/STLExtras.h"

using namespace ccn;

/// The most ways to run the program under one schedule.
static constexpr size_t maxPerSchedule = 24;

std::vector<ScheduledVariant>
ccn::makeVariants(const SourceFile &source, mlir::MLIRContext *context,
                  const Options &options, const CompileOptions &compileOptions,
                  bool isFound, llvm::ArrayRef<const SourceFile *> others) {
  std::vector<ScheduledVariant> variants;
  auto add = [&](const std::string &name, CompileOptions chosen) {
    chosen.stopAfter = Phase::Schedule;
    chosen.dumpFolder.clear();
    chosen.explain = false;
    Diagnostics silent;
    mlir::OwningOpRef<mlir::ModuleOp> module, schedules;
    if (compile(source, context, chosen, silent, module, &schedules) !=
        CompileStatus::Done)
      return;
    mlir::ScopedDiagnosticHandler quiet(
        context, [](mlir::Diagnostic &) { return mlir::success(); });
    std::string prefix = name.empty() ? "no schedule" : "schedule " + name;
    for (PlanVariant &plan :
         planVariants(*module, options.program, chosen, maxPerSchedule)) {
      plan.name = prefix + (plan.name.empty() ? "" : ": " + plan.name);
      variants.push_back({name, std::move(plan)});
    }
  };
  std::vector<std::string> names = schedulesFor(options.program, source);
  const std::string &first = options.nameOfSchedule();
  bool isNamed = !options.schedule.empty();
  if (compileOptions.unscheduled)
    add("", compileOptions);
  else if (isNamed || isFound || llvm::is_contained(names, first))
    add(first, compileOptions);
  if (isNamed && !isFound)
    return variants;
  CompileOptions chosen = compileOptions;
  chosen.unscheduled = false;
  for (const SourceFile *other : others) {
    chosen.scheduleFile = other;
    add(schedulesFor(options.program, *other).front(), chosen);
  }
  chosen.scheduleFile = nullptr;
  if (!compileOptions.unscheduled) {
    chosen.unscheduled = true;
    add("", chosen);
    chosen.unscheduled = false;
  }
  for (const std::string &name : names) {
    if (name == first)
      continue;
    chosen.lower.schedule = name;
    add(name, chosen);
  }
  return variants;
}
