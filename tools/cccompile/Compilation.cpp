//===- Compilation.cpp - What is asked of one program ---------------------===//
//
// Takes a program through the phases of the compiler, and writes what was asked
// for or runs it.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/Compilation.h"

#include "dialect/ccn/Ccn.h"
#include "lib/Driver/FindSchedule.h"
#include "lib/Frontend/Parser.h"
#include "synth/interop/TopologyImport.h"
#include "tools/cccompile/Autotune.h"
#include "tools/cccompile/EmitLayouts.h"
#include "tools/cccompile/EmitPackage.h"
#include "tools/cccompile/Predict.h"
#include "tools/cccompile/Run.h"
#include "tools/cccompile/Verify.h"

#include "llvm/Support/FileSystem.h"

using namespace ccn;

namespace {

/// Of more ranks, times are predicted from those that stand for all. As many as
/// kernels reach are predicted one by one, as measured times are compared with
/// that.
constexpr int64_t maxPredictedRanks = plan::kMaxKernelRanks;

codegen::ProgramText programText(const SourceFile &source) {
  // Lines of MLIR that an earlier phase left are not the program's.
  return {source.getName().str(), isMlir(source) ? "" : source.getText()};
}

/// Whether a module holds what one rank executes.
bool isLocalized(mlir::ModuleOp module) {
  auto programs = module.getOps<ProgramOp>();
  return llvm::any_of(programs, [](ProgramOp program) {
    return program.getRank().has_value();
  });
}

int exitCode(CompileStatus status) {
  switch (status) {
  case CompileStatus::Done:
    return 0;
  case CompileStatus::WrongProgram:
    return 1;
  case CompileStatus::WrongUsage:
    return 2;
  }
  llvm_unreachable("all statuses have an exit code");
}

/// The first error.
llvm::StringRef messageOf(const Diagnostics &diagnostics) {
  for (const Diagnostic *diagnostic : diagnostics.getSorted())
    if (diagnostic->severity == Severity::Error)
      return diagnostic->message;
  return "no reason is known";
}

/// Compiles; the exit code if that fails, else 0.
int compileTo(const SourceFile &source, mlir::MLIRContext *context,
              const CompileOptions &options, Diagnostics &diagnostics,
              mlir::OwningOpRef<mlir::ModuleOp> &module,
              mlir::OwningOpRef<mlir::ModuleOp> &schedules) {
  return exitCode(
      compile(source, context, options, diagnostics, module, &schedules));
}

/// Makes the package of `plans`, which were compiled with `compileOptions` and,
/// unless it is null, with `schedules`; `isFound` and `others` as in
/// makeVariants.
/// makePackage explains `description`. If it returns none, an error was
/// reported, and `code` is the exit code.
std::optional<EmittedProgram>
packageOf(mlir::ModuleOp plans, mlir::ModuleOp schedules,
          const SourceFile &source, mlir::MLIRContext *context,
          const CompileOptions &compileOptions, const Options &options,
          bool isFound, llvm::ArrayRef<const SourceFile *> others,
          std::string *description, Diagnostics &diagnostics, int &code) {
  // What it would do without a schedule, and without those of a topology:
  // ccrun always compares with that what GPUs compute. Applications do not.
  PackageParts parts;
  parts.plans = plans;
  parts.file = programText(source);
  mlir::OwningOpRef<mlir::ModuleOp> unused;
  if (options.emit == "package" &&
      (schedules || !options.topology.empty() || options.target.isGpu() ||
       options.autotune)) {
    CompileOptions plain = compileOptions;
    plain.unscheduled = true;
    plain.topology.clear();
    plain.dumpFolder.clear();
    plain.explain = false;
    plain.stopAfter = Phase::Schedule;
    code = compileTo(source, context, plain, diagnostics, parts.plain, unused);
    if (code)
      return std::nullopt;
    // What a file holds of one rank cannot be taken back.
    if (isLocalized(*parts.plain)) {
      parts.plain = {};
    } else {
      plain.stopAfter = Phase::Plan;
      code = compileTo(source, context, plain, diagnostics, parts.reference,
                       unused);
      if (code)
        return std::nullopt;
    }
  }
  if (schedules)
    parts.schedule = options.nameOfSchedule();
  std::vector<ScheduledVariant> variants;
  if (options.autotune)
    variants =
        makeVariants(source, context, options, compileOptions, isFound, others);
  for (ScheduledVariant &variant : variants)
    if (parts.variant.empty() && variant.schedule == parts.schedule)
      // It is what the package has by default.
      parts.variant = variant.plan.name;
    else
      parts.variants.push_back(
          {variant.plan.name, variant.schedule, *variant.plan.plans});
  return makePackage(parts, options, compileOptions.machine, description,
                     diagnostics, code);
}

/// What is asked of one file: it is compiled, verified, and run or written.
class Compilation {
public:
  /// If `searches`, a schedule is searched for where none is named and
  /// Options::searchesUnnamed.
  Compilation(const Options &options, const SourceFile &source,
              const CompilationHost &host, bool searches,
              Diagnostics &diagnostics)
      : options(options), source(source), host(host), searches(searches),
        diagnostics(diagnostics),
        context(allDialects(), mlir::MLIRContext::Threading::DISABLED),
        verifies(!options.verify.empty()),
        onlyVerifies(verifies && !options.run && options.emit.empty() &&
                     options.predict.empty()) {
    context.loadAllAvailableDialects();
  }

  /// All of it; the exit code. `scheduleFiles` will hold the files of
  /// schedules that are read or found: like the source they outlive the
  /// diagnostics that show their lines.
  int run(std::vector<std::unique_ptr<SourceFile>> &scheduleFiles);

  /// Whether there was a search that nobody asked for.
  bool hasSearchedUnnamed() const {
    return hasSearched && options.schedule.empty();
  }

private:
  static mlir::DialectRegistry allDialects() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }
  /// The result is what is shown last: neither an earlier phase nor something
  /// made of it was asked for.
  bool showsLast() const {
    return options.stopAfter.empty() &&
           (options.emit.empty() || options.emit == "mlir");
  }

  // Each returns an exit code, 0 if the next one may follow.
  int readMachine();
  int readTopology();
  int readSchedule(std::vector<std::unique_ptr<SourceFile>> &scheduleFiles);
  int searchSchedule(bool keepsWritten,
                     std::vector<std::unique_ptr<SourceFile>> &scheduleFiles);
  /// How a search prices programs. None if it cannot: an error, or, if nobody
  /// asked for a search, a warning.
  std::optional<FindOptions> priceFor(const CompileOptions &searched);
  int compileFile();
  /// Applies the schedule for its errors alone.
  int checkSchedule(mlir::OwningOpRef<mlir::ModuleOp> &applied);
  int verifySchedule();
  int emitCode();
  int writePrediction();
  int writeResult();

  void setOptions();
  Phase lastPhase() const;
  void printReport(llvm::raw_ostream &os, llvm::StringRef prefix) const {
    if (verifies)
      for (const std::string &line : report)
        os << prefix << line << "\n";
  }
  /// Writes to -o; the exit code.
  int writeOutput(llvm::function_ref<void(llvm::raw_ostream &)> print) {
    return host.write(options.output, print) ? 0 : 2;
  }

  Options options;
  const SourceFile &source;
  const CompilationHost &host;
  bool searches;
  Diagnostics &diagnostics;
  mlir::MLIRContext context;
  CompileOptions compileOptions;
  bool verifies, onlyVerifies;
  /// Whether there was a search, and whether the schedules are what it found.
  bool hasSearched = false, isFound = false;
  /// The next best schedules of the search.
  std::vector<const SourceFile *> others;
  mlir::OwningOpRef<mlir::ModuleOp> module, schedules;
  std::vector<std::string> report;
};

void Compilation::setOptions() {
  compileOptions.lower.params = options.params;
  compileOptions.lower.mesh = options.mesh;
  compileOptions.roundTrip = options.roundTrip;
  compileOptions.explain = options.explain;
  compileOptions.configure = host.configure;
  compileOptions.program = options.program;
  compileOptions.dumpFolder = options.dumpFolder;
  compileOptions.rank = options.rank;
  compileOptions.topology = options.topology;
  compileOptions.searchSeconds = options.searchSeconds;
  compileOptions.target = options.target;
  compileOptions.stopAfter = lastPhase();
  if (!options.predict.empty())
    compileOptions.maxPlannedRanks = maxPredictedRanks;
}

Phase Compilation::lastPhase() const {
  if (!options.stopAfter.empty())
    return *phaseByName(options.stopAfter);
  if (options.emit == "plan" || options.emitsCode() || !options.predict.empty())
    return Phase::Plan;
  if (options.emit == "layouts")
    return Phase::Parse;
  // A schedule that is asked for is checked, and its result shown, unless what
  // else was asked for comes before it.
  return options.run || options.explain || options.emit == "scheduled" ||
                 onlyVerifies || (showsLast() && !options.schedule.empty())
             ? Phase::Schedule
             : Phase::Parse;
}

int Compilation::readMachine() {
  if (!options.machine)
    return 0;
  Result<Machine> machine = loadMachine(*options.machine);
  if (!machine) {
    diagnostics.error("--machine: " + machine.message());
    // As of topologies.
    return isMachineFile(*options.machine) &&
                   llvm::sys::fs::is_regular_file(*options.machine)
               ? 1
               : 2;
  }
  Status isFor;
  if (options.searchesSchedule())
    isFor = checkMachine(*machine, options.searchTarget);
  // Before algorithms are selected only --explain takes the figures.
  if (compileOptions.stopAfter < Phase::Select) {
    if (!machine->gpu && options.explain) {
      diagnostics.error("--machine: expected figures of GPUs with --explain, "
                        "found '" +
                        machine->name + "', which has none");
      return 2;
    }
  } else if (isFor) {
    isFor = checkMachine(*machine, options.target);
  }
  if (!isFor) {
    diagnostics.error("--machine: " + isFor.message());
    return 2;
  }
  compileOptions.machine = *std::move(machine);
  return 0;
}

int Compilation::readTopology() {
  if (options.topology.empty())
    return 0;
  auto topology = synth::loadTopology(options.topology);
  if (!topology) {
    diagnostics.error("--topology: " + topology.message());
    // A file with wrong content is wrong input, any other word wrong usage.
    return llvm::sys::fs::exists(options.topology) ? 1 : 2;
  }
  for (const std::string &note : topology->notes)
    diagnostics.report(Severity::Warning, "--topology: " + note);
  return 0;
}

int Compilation::readSchedule(
    std::vector<std::unique_ptr<SourceFile>> &scheduleFiles) {
  ScheduleRequest request;
  if (!options.searchesUnnamed()) {
    request = readScheduleRequest(options.schedule, source);
  } else if (searches) {
    bool isOfOne = options.emitsCode() || !options.predict.empty();
    request = requestForGpus(source, options.program, isOfOne);
    if (request.isSearched || !request.name.empty())
      options.unnamedSchedule = "auto";
  }
  llvm::StringRef name = request.name;
  if (name.ends_with(".mlir") || name.ends_with(".ccn")) {
    scheduleFiles.push_back(frontend::readSource(request.name, diagnostics));
    compileOptions.scheduleFile = scheduleFiles.back().get();
    if (!compileOptions.scheduleFile)
      return 2;
  } else {
    compileOptions.lower.schedule = request.name;
  }
  compileOptions.unscheduled = request.isNone;
  return request.isSearched
             ? searchSchedule(request.keepsWritten, scheduleFiles)
             : 0;
}

std::optional<FindOptions>
Compilation::priceFor(const CompileOptions &searched) {
  if (!options.schedule.empty())
    return predictingSearch(options, searched.target, searched.machine,
                            diagnostics);
  Diagnostics silent;
  std::optional<FindOptions> found =
      predictingSearch(options, searched.target, searched.machine, silent);
  // What a prediction needs, too, is an error of that.
  if (!found && options.predict.empty())
    diagnostics.report(Severity::Warning,
                       "no schedule is searched for: " + messageOf(silent));
  return found;
}

int Compilation::searchSchedule(
    bool keepsWritten,
    std::vector<std::unique_ptr<SourceFile>> &scheduleFiles) {
  if (const SourceFile *file = compileOptions.scheduleFile;
      file && isMlir(*file)) {
    diagnostics.error("--schedule: expected a schedule in .ccn text to add "
                      "lines to, found '" +
                      file->getName() + "'");
    return 2;
  }
  CompileOptions searched = compileOptions;
  searched.target = options.searchTarget;
  searched.rank.reset();
  searched.maxPlannedRanks = maxPredictedRanks;
  searched.unscheduled =
      searched.lower.schedule.empty() && !searched.scheduleFile;
  std::optional<FindOptions> findOptions = priceFor(searched);
  if (!findOptions)
    return options.schedule.empty() ? 0 : 1;
  findOptions->keepsWritten = keepsWritten;
  // Some of these make equal plans.
  constexpr size_t numMeasured = 6;
  findOptions->maxOthers = options.autotune ? numMeasured - 1 : 0;
  FoundSchedules found;
  hasSearched = true;
  int code = exitCode(findSchedule(source, &context, searched, *findOptions,
                                   diagnostics, found));
  for (std::unique_ptr<SourceFile> &file : found.others) {
    others.push_back(file.get());
    scheduleFiles.push_back(std::move(file));
  }
  if (found.best)
    scheduleFiles.push_back(std::move(found.best));
  // Of a file without programs there is nothing to schedule.
  if (code || scheduleFiles.back()->getText().empty())
    return code;
  // Where nobody asks what was found, nothing is no schedule.
  if (options.schedule.empty() && !found.hasLines &&
      options.emit != "schedule" && !verifies) {
    compileOptions.unscheduled = true;
    return 0;
  }
  compileOptions.scheduleFile = scheduleFiles.back().get();
  compileOptions.lower.schedule.clear();
  isFound = true;
  return 0;
}

int Compilation::checkSchedule(mlir::OwningOpRef<mlir::ModuleOp> &applied) {
  CompileOptions scheduled = compileOptions;
  scheduled.stopAfter = Phase::Schedule;
  scheduled.dumpFolder.clear();
  mlir::OwningOpRef<mlir::ModuleOp> unused;
  return compileTo(source, &context, scheduled, diagnostics, unused, applied);
}

int Compilation::compileFile() {
  if (int code = compileTo(source, &context, compileOptions, diagnostics,
                           module, schedules))
    return code;
  // One that applies by itself is checked too.
  if (schedules && showsLast() && compileOptions.stopAfter == Phase::Parse)
    return checkSchedule(schedules);
  return 0;
}

int Compilation::verifySchedule() {
  bool isScheduled = compileOptions.stopAfter >= Phase::Schedule;
  if (!verifies && !(isScheduled && verifiesAlways()))
    return 0;
  if (!isScheduled) {
    // The schedule must be right before it is compared.
    mlir::OwningOpRef<mlir::ModuleOp> applied;
    if (int code = checkSchedule(applied))
      return code;
  }
  return verifyFile(source, &context, compileOptions,
                    schedules ? *schedules : mlir::ModuleOp(), options,
                    diagnostics, report);
}

int Compilation::emitCode() {
  int code;
  // What kernels for GPUs are to be is written after the phases.
  std::string described;
  bool dumps = !options.dumpFolder.empty() && options.target.isGpu();
  std::string *description = dumps ? &described : nullptr;
  std::optional<EmittedProgram> emitted;
  if (!options.emitsKernels())
    emitted =
        packageOf(*module, schedules.get(), source, &context, compileOptions,
                  options, isFound, others, description, diagnostics, code);
  else if (std::optional<std::string> kernels = makeKernels(
               *module, programText(source), options, compileOptions.machine,
               description, diagnostics, code))
    emitted = EmittedProgram{*std::move(kernels), ""};
  bool isDumped = described.empty() ||
                  host.write(options.dumpFolder + "/5-map.txt",
                             [&](llvm::raw_ostream &os) { os << described; });
  if (!emitted)
    return code;
  if (!isDumped)
    return 2;
  code = writeOutput([&](llvm::raw_ostream &os) { os << emitted->bytes; });
  if (code || options.header.empty())
    return code;
  return host.write(options.header,
                    [&](llvm::raw_ostream &os) { os << emitted->header; })
             ? 0
             : 2;
}

int Compilation::writePrediction() {
  std::optional<std::string> program =
      chooseProgram(*module, options, diagnostics);
  if (!program)
    return 2;
  std::optional<std::string> text = predictProgram(
      *module, *program, options, compileOptions.machine, diagnostics);
  if (!text)
    return 1;
  return writeOutput([&](llvm::raw_ostream &os) {
    if (options.predict == "table")
      printReport(os, "");
    os << *text;
  });
}

int Compilation::writeResult() {
  if (onlyVerifies)
    return writeOutput([&](llvm::raw_ostream &os) { printReport(os, ""); });
  if (options.run) {
    int code = 0;
    bool isWritten = host.write("-", [&](llvm::raw_ostream &os) {
      printReport(os, "");
      code = runProgram(*module, options, os, diagnostics);
    });
    return isWritten ? code : 2;
  }
  if (options.emitsCode())
    return emitCode();
  if (!options.predict.empty())
    return writePrediction();
  if (options.emit == "layouts") {
    if (isMlir(source)) {
      diagnostics.error("--emit layouts: expected .ccn text, found IR");
      return 2;
    }
    return writeOutput([&](llvm::raw_ostream &os) {
      os << textWithLayouts(source, compileOptions.lower, *module);
    });
  }
  if (options.emit == "schedule") {
    if (!schedules) {
      diagnostics.error(compileOptions.unscheduled
                            ? "--emit schedule: expected --schedule to name a "
                              "schedule, found 'none'"
                            : "expected --schedule to say which one to write");
      return 2;
    }
    if (isFound)
      return writeOutput([&](llvm::raw_ostream &os) {
        printReport(os, "// ");
        os << compileOptions.scheduleFile->getText();
      });
    module = std::move(schedules);
  }
  return writeOutput([&](llvm::raw_ostream &os) {
    printReport(os, "// ");
    module->print(os);
    os << "\n";
  });
}

int Compilation::run(std::vector<std::unique_ptr<SourceFile>> &scheduleFiles) {
  setOptions();
  if (int code = readMachine())
    return code;
  if (int code = readTopology())
    return code;
  if (int code = readSchedule(scheduleFiles))
    return code;
  if (int code = compileFile())
    return code;
  if (int code = verifySchedule())
    return code;
  return writeResult();
}

int writeSyntaxTree(const Options &options, const SourceFile &source,
                    const CompilationHost &host, Diagnostics &diagnostics) {
  std::unique_ptr<frontend::ast::File> file =
      frontend::parse(source, diagnostics);
  if (diagnostics.hasErrors())
    return 1;
  return host.write(
             options.output,
             [&](llvm::raw_ostream &os) { frontend::ast::print(*file, os); })
             ? 0
             : 2;
}

} // namespace

int ccn::compileAndEmit(const Options &options, const SourceFile &source,
                        const CompilationHost &host,
                        std::vector<std::unique_ptr<SourceFile>> &scheduleFiles,
                        Diagnostics &diagnostics) {
  if (options.emit == "ast")
    return writeSyntaxTree(options, source, host, diagnostics);
  Diagnostics tried;
  Compilation first(options, source, host, /*searches=*/true, tried);
  int code = first.run(scheduleFiles);
  // A difference that --verify found is none.
  bool isRefused = (code == 1 || code == 2) && first.hasSearchedUnnamed();
  if (!isRefused) {
    diagnostics.add(std::move(tried));
    return code;
  }
  // A search that nobody asked for must not be why a compilation fails.
  code = Compilation(options, source, host, /*searches=*/false, diagnostics)
             .run(scheduleFiles);
  if (code == 0)
    diagnostics.report(Severity::Warning,
                       "compiled as written, since the schedule that was found "
                       "fails: " +
                           messageOf(tried));
  return code;
}

void ccn::renderDiagnostics(const Options &options,
                            const Diagnostics &diagnostics,
                            llvm::raw_ostream &os, bool colour) {
  if (options.jsonDiagnostics)
    diagnostics.renderJson(os);
  else
    diagnostics.renderText(os, colour);
}
