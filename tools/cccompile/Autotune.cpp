//===- Autotune.cpp - What measurement chooses from -----------------------===//
//
// Each schedule is applied anew, and planned in several ways. A schedule that
// cannot be applied is left out silently; if the user asks for it, that is an
// error.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/Autotune.h"

#include "lib/Driver/FindSchedule.h"
#include "lib/Frontend/Parser.h"

#include "llvm/ADT/STLExtras.h"

using namespace ccn;

/// The most ways to run the program under one schedule.
static constexpr size_t maxPerSchedule = 24;

/// The names of the file's schedules for the program, or for any if it is
/// empty.
static std::vector<std::string> schedulesFor(llvm::StringRef program,
                                             const SourceFile &source) {
  std::vector<std::string> names;
  if (isMlir(source))
    return names;
  Diagnostics silent;
  std::unique_ptr<frontend::ast::File> file = frontend::parse(source, silent);
  for (const frontend::ast::Item *item : file->items)
    if (auto *schedule = llvm::dyn_cast<frontend::ast::ScheduleItem>(item))
      if (program.empty() || schedule->program.text == program)
        names.push_back(schedule->name.text.str());
  return names;
}

std::vector<ScheduledVariant>
ccn::makeVariants(const SourceFile &source, mlir::MLIRContext *context,
                  const Options &options, const CompileOptions &compileOptions,
                  llvm::ArrayRef<const SourceFile *> others) {
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
  CompileOptions chosen = compileOptions;
  std::string first = "default";
  if (!options.schedule.empty()) {
    first.clear();
    add(compileOptions.unscheduled ? "" : options.schedule, compileOptions);
    if (!readScheduleRequest(options.schedule, source).isSearched)
      return variants;
    for (const SourceFile *other : others) {
      chosen.scheduleFile = other;
      add(schedulesFor(options.program, *other).front(), chosen);
    }
    chosen.scheduleFile = nullptr;
  } else if (llvm::is_contained(names, first)) {
    add(first, compileOptions);
  }
  chosen.unscheduled = true;
  add("", chosen);
  chosen.unscheduled = false;
  for (const std::string &name : names) {
    if (name == first)
      continue;
    chosen.lower.schedule = name;
    add(name, chosen);
  }
  return variants;
}
