//===- Phases.cpp - The phases of the compiler ----------------------------===//
//
// Runs the phases on a program, from text or from the IR of an earlier run.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Phases.h"

#include "lib/Driver/ApplySchedule.h"
#include "lib/Driver/Remarks.h"
#include "lib/Frontend/Parser.h"
#include "lib/Plan/MakePlans.h"
#include "lib/Plan/Passes.h"
#include "lib/Plan/RankClasses.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/ScheduleOps.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace ccn;

StringRef ccn::phaseName(Phase phase) {
  switch (phase) {
  case Phase::Parse:
    return "parse";
  case Phase::Schedule:
    return "schedule";
  case Phase::Localize:
    return "localize";
  case Phase::Select:
    return "select";
  case Phase::Plan:
    return "plan";
  }
  llvm_unreachable("all phases are named");
}

std::optional<Phase> ccn::phaseByName(StringRef name) {
  for (Phase phase : allPhases)
    if (phaseName(phase) == name)
      return phase;
  return std::nullopt;
}

void ccn::registerDialects(DialectRegistry &registry) {
  registry.insert<CcnDialect, plan::PlanDialect, func::FuncDialect,
                  arith::ArithDialect, math::MathDialect>();
  registerScheduleOps(registry);
}

void ccn::forwardDiagnostic(mlir::Diagnostic &diagnostic,
                            Diagnostics &diagnostics) {
  auto place = [](Location location) {
    auto found = location->findInstanceOf<FileLineColLoc>();
    return found ? found : FileLineColLoc();
  };
  Severity severity;
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    severity = Severity::Error;
    break;
  case DiagnosticSeverity::Warning:
    severity = Severity::Warning;
    break;
  default:
    return;
  }
  // Drops an error that MLIR adds after another one that says why.
  if (StringRef(diagnostic.str()).ends_with("failed to infer returned types") &&
      diagnostics.hasErrors())
    return;
  DiagnosticHandle handle;
  if (FileLineColLoc loc = place(diagnostic.getLocation()))
    handle =
        diagnostics.report(severity, loc.getFilename().getValue(),
                           loc.getLine(), loc.getColumn(), diagnostic.str());
  else
    handle = diagnostics.report(severity, diagnostic.str());
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    // Drops the note with the printed operation, which adds nothing to its
    // line.
    if (StringRef(note.str()).starts_with("see current operation"))
      continue;
    if (FileLineColLoc loc = place(note.getLocation()))
      handle.note(loc.getFilename().getValue(), loc.getLine(), loc.getColumn(),
                  note.str());
    else
      handle.note(note.str());
  }
}

bool ccn::isMlir(const SourceFile &source) {
  return source.getName().ends_with(".mlir") ||
         source.getName().ends_with(".mlirbc") ||
         source.getText().starts_with("ML\xefR");
}

static OwningOpRef<ModuleOp> parseMlir(const SourceFile &source,
                                       MLIRContext *context,
                                       Diagnostics &diagnostics) {
  diagnostics.addFile(source);
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(source.getText(), source.getName()),
      llvm::SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sourceMgr, ParserConfig(context));
  assert((module || diagnostics.hasErrors()) &&
         "MLIR's parser says what is wrong");
  return module;
}

/// Reads the IR of an earlier phase; sets `done` to that phase.
static OwningOpRef<ModuleOp> resume(const SourceFile &source,
                                    MLIRContext *context,
                                    const CompileOptions &options,
                                    Diagnostics &diagnostics, Phase &done,
                                    CompileStatus &status) {
  status = CompileStatus::WrongProgram;
  if (!options.lower.params.empty() || !options.lower.mesh.empty()) {
    status = CompileStatus::WrongUsage;
    diagnostics.error("params and mesh are fixed in '" + source.getName() +
                      "'; set them when compiling the .ccn file");
    return {};
  }
  if (!options.lower.schedule.empty()) {
    status = CompileStatus::WrongUsage;
    diagnostics.error("'" + source.getName() + "' has no schedule '" +
                      options.lower.schedule +
                      "'; give a transform script (.mlir)");
    return {};
  }
  OwningOpRef<ModuleOp> module = parseMlir(source, context, diagnostics);
  if (!module)
    return {};
  done = Phase::Parse;
  if (auto name = (*module)->getAttrOfType<StringAttr>(kPhaseAttr)) {
    std::optional<Phase> phase = phaseByName(name);
    if (!phase) {
      diagnostics.error("'" + source.getName() + "' comes from phase '" +
                        name.getValue() + "', which this ccn does not have");
      return {};
    }
    done = *phase;
  }
  // Plans that the phase itself has checked may have been edited since.
  if (done == Phase::Plan && failed(plan::verifyPlans(*module)))
    return {};
  status = CompileStatus::Done;
  return module;
}

static bool dump(ModuleOp module, Phase phase, const CompileOptions &options,
                 Diagnostics &diagnostics) {
  if (options.dumpFolder.empty())
    return true;
  SmallString<128> path(options.dumpFolder);
  llvm::sys::path::append(path, std::to_string(static_cast<int>(phase)) + "-" +
                                    phaseName(phase) + ".mlir");
  std::error_code failure =
      llvm::sys::fs::create_directories(options.dumpFolder);
  if (!failure) {
    llvm::raw_fd_ostream os(path, failure);
    if (!failure) {
      module->print(os);
      os << "\n";
      os.close();
      failure = os.error();
      os.clear_error();
    }
  }
  if (failure)
    diagnostics.error("cannot write '" + path + "': " + failure.message());
  return !failure;
}

/// Writes the module as text, reads it, writes it as bytecode and reads it
/// again.
static OwningOpRef<ModuleOp> roundTrip(OwningOpRef<ModuleOp> module,
                                       Diagnostics &diagnostics) {
  MLIRContext *context = module->getContext();
  for (bool bytecode : {false, true}) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (bytecode) {
      if (failed(writeBytecodeToFile(*module, os)))
        return {};
    } else {
      // Prints locations too, as later phases report errors there.
      module->print(os, OpPrintingFlags().enableDebugInfo());
    }
    module = parseSourceString<ModuleOp>(text, ParserConfig(context));
    if (!module) {
      diagnostics.error("the IR does not survive being written and read");
      return {};
    }
  }
  return module;
}

/// Drops all programs except the one that the options name. Reports an error if
/// there is no such program.
static bool keepProgram(ModuleOp module, const CompileOptions &options,
                        Diagnostics &diagnostics) {
  if (options.program.empty())
    return true;
  SmallVector<StringRef> names;
  SmallVector<Operation *> others;
  for (Operation &op : *module.getBody()) {
    StringRef name;
    if (auto program = dyn_cast<ProgramOp>(op))
      name = program.getSymName();
    else if (auto plan = dyn_cast<plan::PlanOp>(op))
      name = plan.getName();
    else
      continue;
    names.push_back(name);
    if (name != options.program)
      others.push_back(&op);
  }
  if (!llvm::is_contained(names, options.program)) {
    diagnostics.error(
        "the file has no program '" + options.program + "'" +
        (names.empty() ? "" : "; it has '" + llvm::join(names, "', '") + "'"));
    return false;
  }
  for (Operation *other : others)
    other->erase();
  return true;
}

/// Drops the schedules of other programs. `schedules` becomes null if none
/// remains, which is an error if the options ask for a schedule.
static bool keepSchedules(OwningOpRef<ModuleOp> &schedules,
                          const CompileOptions &options,
                          Diagnostics &diagnostics) {
  if (options.program.empty() || !schedules)
    return true;
  bool anyLeft = false;
  for (auto sequence : llvm::make_early_inc_range(
           schedules->getOps<transform::NamedSequenceOp>())) {
    auto name = sequence->getAttrOfType<StringAttr>(kForAttr);
    if (name && name.getValue() != options.program)
      sequence.erase();
    else
      anyLeft = true;
  }
  if (anyLeft)
    return true;
  schedules = {};
  if (options.lower.schedule.empty() && !options.scheduleFile)
    return true;
  diagnostics.error(
      (options.scheduleFile
           ? "'" + options.scheduleFile->getName() + "' has no schedule"
           : "the file has no schedule '" + options.lower.schedule + "'") +
      " for program '" + options.program + "'");
  return false;
}

/// The work after every phase: round trip and dump.
static bool finishPhase(OwningOpRef<ModuleOp> &module, Phase phase,
                        const CompileOptions &options,
                        Diagnostics &diagnostics) {
  if (options.roundTrip) {
    module = roundTrip(std::move(module), diagnostics);
    if (!module)
      return false;
  }
  return dump(*module, phase, options, diagnostics);
}

/// Checks that the module's mesh has the rank that the options name, and that
/// programs which are localized already are localized for it.
static bool checkRank(ModuleOp module, const CompileOptions &options,
                      Diagnostics &diagnostics) {
  if (!options.rank)
    return true;
  MeshOp mesh = getMesh(module);
  int64_t ranks = mesh ? mesh.getNumRanks() : 1;
  if (*options.rank < 0 || *options.rank >= ranks) {
    diagnostics.error("expected a rank from 0 to " + Twine(ranks - 1) +
                      ", found " + Twine(*options.rank));
    return false;
  }
  for (ProgramOp program : module.getOps<ProgramOp>())
    if (std::optional<int64_t> rank = program.getRank();
        rank && rank != options.rank) {
      diagnostics.error("program '" + program.getSymName() +
                        "' is localized already, for rank " + Twine(*rank));
      return false;
    }
  for (auto plan : module.getOps<plan::PlanOp>())
    if (auto rank = static_cast<int64_t>(plan.getRank());
        rank != options.rank) {
      diagnostics.error("program '" + plan.getName() +
                        "' is planned already, for rank " + Twine(rank));
      return false;
    }
  return true;
}

void ccn::addPhasePasses(Phase phase, const CompileOptions &options,
                         OpPassManager &before, OpPassManager &after) {
  switch (phase) {
  case Phase::Parse:
    break;
  case Phase::Schedule:
    before.addNestedPass<ProgramOp>(createLowerReshard());
    before.addNestedPass<ProgramOp>(createSimplify());
    // Drops operations that are unused after the schedule.
    after.addNestedPass<ProgramOp>(createSimplify({/*isScheduled=*/true}));
    if (options.explain)
      after.addPass(
          createExplain({options.machine.gpu ? options.machine : Machine()}));
    break;
  case Phase::Localize:
    after.addNestedPass<ProgramOp>(createLocalize({options.rank.value_or(0)}));
    break;
  case Phase::Select:
    after.addPass(createSelect(
        {options.topology, options.searchSeconds, options.explain,
         options.target, options.machine, options.limits.ll,
         options.limits.lamport, options.limits.kernel, options.limits.push}));
    break;
  case Phase::Plan:
    // These passes run on the module that planAll has made from those of all
    // ranks.
    after.addPass(plan::createForwardStores());
    after.addNestedPass<plan::PlanOp>(plan::createConnectSegments());
    after.addNestedPass<plan::PlanOp>(plan::createJoinLoops());
    after.addPass(plan::createPlaceBuffers());
    if (options.verifiesPasses)
      after.addPass(plan::createVerifyPlans());
    break;
  }
}

/// The plans of many ranks are large. So they are not verified after each pass,
/// except in builds with assertions, but once at the end, by plan-verify.
static void verifyOnce([[maybe_unused]] Phase phase,
                       [[maybe_unused]] PassManager &passes) {
#ifdef NDEBUG
  passes.enableVerifier(phase != Phase::Plan);
#endif
}

OwningOpRef<ModuleOp> ccn::runPhases(ArrayRef<Phase> phases, ModuleOp module,
                                     const CompileOptions &options) {
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager passes(module.getContext());
  for (Phase phase : phases) {
    OpPassManager unused;
    addPhasePasses(phase, options, unused, passes);
  }
  passes.enableVerifier(options.verifiesPasses);
  if (failed(passes.run(*copy)))
    return {};
  return copy;
}

/// Localizes a scheduled module for a rank and selects algorithms; null if that
/// fails.
static OwningOpRef<ModuleOp> selectFor(int64_t rank, ModuleOp scheduled,
                                       CompileOptions options) {
  options.rank = rank;
  return runPhases({Phase::Localize, Phase::Select}, scheduled, options);
}

std::vector<int64_t> ccn::plannedRanks(ModuleOp scheduled,
                                       const CompileOptions &options) {
  MeshOp mesh = getMesh(scheduled);
  int64_t ranks = mesh ? mesh.getNumRanks() : 1;
  bool plansAll = ranks <= options.maxPlannedRanks || !options.topology.empty();
  return plan::RankClasses::find(scheduled, plansAll).representatives();
}

/// Plans ranks: runs the phases before Plan on `scheduled` for each of them but
/// the first, for which `first` is the result. The passes of the phase Plan
/// must follow. If `scheduled` is null, or the options name a rank, plans only
/// `first`.
static OwningOpRef<ModuleOp> planAll(OwningOpRef<ModuleOp> first,
                                     ModuleOp scheduled,
                                     const CompileOptions &options) {
  std::vector<OwningOpRef<ModuleOp>> others;
  SmallVector<ModuleOp> ranks = {*first};
  std::vector<int64_t> planned = {options.rank.value_or(0)};
  if (scheduled && !options.rank)
    planned = plannedRanks(scheduled, options);
  for (int64_t rank : ArrayRef(planned).drop_front()) {
    // The remarks for the first rank hold for all ranks.
    CompileOptions silent = options;
    silent.explain = false;
#ifdef NDEBUG
    // The passes are those of the first rank, and plan-verify checks the plans.
    silent.verifiesPasses = false;
#endif
    others.push_back(selectFor(rank, scheduled, silent));
    if (!others.back())
      return {};
    ranks.push_back(*others.back());
  }
  return plan::makePlans(ranks);
}

OwningOpRef<ModuleOp> ccn::planScheduled(ModuleOp scheduled,
                                         const CompileOptions &options) {
  OwningOpRef<ModuleOp> plans =
      selectFor(options.rank.value_or(0), scheduled, options);
  if (plans)
    plans = planAll(std::move(plans), scheduled, options);
  PassManager passes(scheduled.getContext());
  OpPassManager unused;
  addPhasePasses(Phase::Plan, options, unused, passes);
  verifyOnce(Phase::Plan, passes);
  if (!options.verifiesPasses)
    passes.enableVerifier(false);
  if (!plans || failed(passes.run(*plans)))
    return {};
  return plans;
}

/// Parses a `.ccn` file, and a file of schedules if the options name one. If
/// the result is Done, `module` is not null.
static CompileStatus parseText(const SourceFile &source, MLIRContext *context,
                               const CompileOptions &options,
                               Diagnostics &diagnostics,
                               OwningOpRef<ModuleOp> &module,
                               OwningOpRef<ModuleOp> &schedules) {
  std::unique_ptr<frontend::ast::File> file =
      frontend::parse(source, diagnostics);
  frontend::LowerOptions lowerOptions = options.lower;
  std::unique_ptr<frontend::ast::File> scheduleFile;
  if (options.scheduleFile && !isMlir(*options.scheduleFile)) {
    scheduleFile = frontend::parse(*options.scheduleFile, diagnostics);
    lowerOptions.scheduleFile = scheduleFile.get();
  }
  bool badOption = false;
  frontend::Lowered lowered =
      frontend::lower(*file, context, lowerOptions, diagnostics, badOption);
  module = std::move(lowered.module);
  // A transform script replaces the schedules of the file.
  if (!options.scheduleFile || !isMlir(*options.scheduleFile))
    schedules = std::move(lowered.schedules);
  if (!module)
    return badOption ? CompileStatus::WrongUsage : CompileStatus::WrongProgram;
  if (!keepProgram(*module, options, diagnostics) ||
      !finishPhase(module, Phase::Parse, options, diagnostics))
    return CompileStatus::WrongUsage;
  return CompileStatus::Done;
}

/// Reads the transform script or the file of schedules that the options name,
/// for a module after the phase `done`.
static CompileStatus parseScript(const SourceFile &source, ModuleOp module,
                                 const CompileOptions &options,
                                 Diagnostics &diagnostics, Phase done,
                                 OwningOpRef<ModuleOp> &schedules) {
  if (done >= Phase::Schedule) {
    diagnostics.error("'" + source.getName() + "' is scheduled already");
    return CompileStatus::WrongUsage;
  }
  if (isMlir(*options.scheduleFile)) {
    schedules =
        parseMlir(*options.scheduleFile, module.getContext(), diagnostics);
  } else {
    diagnostics.addFile(*options.scheduleFile);
    std::unique_ptr<frontend::ast::File> file =
        frontend::parse(*options.scheduleFile, diagnostics);
    if (!diagnostics.hasErrors())
      schedules = frontend::lowerSchedules(*file, module, diagnostics);
  }
  return schedules ? CompileStatus::Done : CompileStatus::WrongProgram;
}

/// Runs one phase on a module. Plans of all ranks are made from `scheduled`, if
/// it is not null.
static CompileStatus runPhase(Phase phase, const CompileOptions &options,
                              Diagnostics &diagnostics, ModuleOp scheduled,
                              const OwningOpRef<ModuleOp> &schedules,
                              OwningOpRef<ModuleOp> &module) {
  if (phase == Phase::Plan) {
    module = planAll(std::move(module), scheduled, options);
    if (!module) {
      assert(diagnostics.hasErrors() && "what fails says why");
      return CompileStatus::WrongProgram;
    }
  }
  MLIRContext *context = module->getContext();
  PassManager before(context), after(context);
  addPhasePasses(phase, options, before, after);
  verifyOnce(phase, after);
  for (PassManager *passes : {&before, &after})
    if (options.configure && failed(options.configure(*passes)))
      return CompileStatus::WrongUsage;
  bool applies = phase == Phase::Schedule && schedules;
  bool isScheduled =
      succeeded(before.run(*module)) &&
      (!applies || succeeded(applySchedules(*module, *schedules)));
  if (isScheduled && phase == Phase::Schedule && options.onScheduled)
    options.onScheduled(*module);
  if (!isScheduled || failed(after.run(*module))) {
    assert(diagnostics.hasErrors() && "what fails says why");
    return CompileStatus::WrongProgram;
  }
  (*module)->setAttr(kPhaseAttr, StringAttr::get(context, phaseName(phase)));
  return finishPhase(module, phase, options, diagnostics)
             ? CompileStatus::Done
             : CompileStatus::WrongUsage;
}

CompileStatus ccn::compile(const SourceFile &source, MLIRContext *context,
                           const CompileOptions &options,
                           Diagnostics &diagnostics,
                           OwningOpRef<ModuleOp> &module,
                           OwningOpRef<ModuleOp> *applied) {
  ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    forwardDiagnostic(diagnostic, diagnostics);
    return success();
  });
  module = {};
  if (options.explain && failed(enableRemarks(*context, diagnostics))) {
    diagnostics.error("remarks cannot be enabled");
    return CompileStatus::WrongUsage;
  }
  // Later work in the context must not send remarks to diagnostics that may no
  // longer exist.
  auto forget = llvm::scope_exit([&] {
    if (options.explain)
      context->setRemarkEngine(nullptr);
  });
  Phase done = Phase::Parse;
  OwningOpRef<ModuleOp> current, schedules;
  if (isMlir(source)) {
    CompileStatus status;
    current = resume(source, context, options, diagnostics, done, status);
    if (!current)
      return status;
    if (!keepProgram(*current, options, diagnostics))
      return CompileStatus::WrongUsage;
  } else if (CompileStatus status = parseText(source, context, options,
                                              diagnostics, current, schedules);
             status != CompileStatus::Done) {
    return status;
  }

  if (options.scheduleFile && !schedules)
    if (CompileStatus status = parseScript(source, *current, options,
                                           diagnostics, done, schedules);
        status != CompileStatus::Done)
      return status;
  if (!keepSchedules(schedules, options, diagnostics))
    return CompileStatus::WrongUsage;
  if (options.unscheduled)
    schedules = {};
  if (!options.topology.empty() && done >= Phase::Select) {
    diagnostics.error("'" + source.getName() +
                      "' has algorithms for all collectives already");
    return CompileStatus::WrongUsage;
  }
  if (options.stopAfter >= Phase::Localize &&
      !checkRank(*current, options, diagnostics))
    return CompileStatus::WrongUsage;
  // The module from which the plans of all ranks are made.
  OwningOpRef<ModuleOp> scheduled;
  for (Phase phase : allPhases) {
    if (phase <= done || phase > options.stopAfter)
      continue;
    if (phase == Phase::Localize && options.stopAfter >= Phase::Plan)
      scheduled = current->clone();
    if (CompileStatus status =
            runPhase(phase, options, diagnostics,
                     scheduled ? *scheduled : ModuleOp(), schedules, current);
        status != CompileStatus::Done)
      return status;
  }
  module = std::move(current);
  if (applied)
    *applied = std::move(schedules);
  return CompileStatus::Done;
}
