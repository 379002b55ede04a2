//===- cccompile.cpp - The compiler's command line ------------------------===//
//
// Reads a program, takes it through the phases of the compiler, and writes what
// was asked for or runs it.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Ccn.h"
#include "lib/Driver/Phases.h"
#include "lib/Frontend/Parser.h"
#include "synth/interop/TopologyImport.h"
#include "tools/cccompile/Autotune.h"
#include "tools/cccompile/EmitPackage.h"
#include "tools/cccompile/Options.h"
#include "tools/cccompile/Run.h"
#include "tools/cccompile/Verify.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

#include <cstdio>
#include <unistd.h>

using namespace ccn;

namespace {

codegen::ProgramText programText(const SourceFile &source) {
  // Lines of MLIR that an earlier phase left are not the program's.
  return {source.getName().str(), isMlir(source) ? "" : source.getText()};
}

/// Whether the user has not asked for text without colours (no-color.org).
bool wantsColours() {
  const char *no = std::getenv("NO_COLOR");
  return !no || !*no;
}

/// Reports what was collected, once, and passes the exit code on.
int finish(int code, const Options &options, const Diagnostics &diagnostics) {
  bool colour = llvm::errs().has_colors() && wantsColours();
  if (options.jsonDiagnostics)
    diagnostics.renderJson(llvm::errs());
  else
    diagnostics.renderText(llvm::errs(), colour);
  return code;
}

/// Reports a mistake in the command line, which is the tool's own; returns its
/// exit code.
int finishUsage(llvm::StringRef mistake, const Options &options) {
  if (!options.jsonDiagnostics) {
    llvm::errs() << "cccompile: error: " << mistake << "\n";
    return 2;
  }
  Diagnostics diagnostics;
  diagnostics.error(mistake);
  return finish(2, options, diagnostics);
}

/// Writes through an open file; what the system says if that fails.
std::error_code writeTo(int descriptor,
                        llvm::function_ref<void(llvm::raw_ostream &)> print) {
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/false);
  print(os);
  os.flush();
  std::error_code failure = os.error();
  os.clear_error();
  return failure;
}

/// Writes a file as a whole: what was there stays if that fails. A device or
/// pipe is written to and not replaced; through a link, what it names is
/// written.
std::error_code writeFile(llvm::StringRef path,
                          llvm::function_ref<void(llvm::raw_ostream &)> print) {
  namespace fs = llvm::sys::fs;
  llvm::SmallString<128> target = path;
  fs::file_status status;
  if (!fs::status(path, status) && fs::exists(status)) {
    if (fs::is_directory(status))
      return std::make_error_code(std::errc::is_a_directory);
    if (!fs::is_regular_file(status)) {
      int descriptor;
      if (std::error_code failure = fs::openFileForWrite(
              path, descriptor, fs::CD_OpenExisting, fs::OF_None))
        return failure;
      std::error_code failure = writeTo(descriptor, print);
      fs::file_t file = fs::convertFDToNativeFile(descriptor);
      std::error_code closed = fs::closeFile(file);
      return failure ? failure : closed;
    }
    if (std::error_code failure = fs::real_path(path, target))
      return failure;
  }
  llvm::Expected<fs::TempFile> file = fs::TempFile::create(target + ".%%%%%%");
  if (!file)
    return llvm::errorToErrorCode(file.takeError());
  std::error_code failure = writeTo(file->FD, print);
  llvm::Error kept = failure ? file->discard() : file->keep(target);
  if (!failure)
    return llvm::errorToErrorCode(std::move(kept));
  llvm::consumeError(std::move(kept));
  return failure;
}

bool write(llvm::StringRef path, Diagnostics &diagnostics,
           llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (path == "-") {
    print(llvm::outs());
    llvm::outs().flush();
    return true;
  }
  std::error_code failure = writeFile(path, print);
  if (failure)
    diagnostics.error("cannot write '" + path + "': " + failure.message());
  return !failure;
}

/// Writes what kernels for GPUs are to be after the phases that --dump-phases
/// asks for. If that fails, an error was reported and `code` is the exit code.
bool dumpKernelPlans(mlir::ModuleOp plans, const Options &options,
                     Diagnostics &diagnostics, int &code) {
  if (options.dumpFolder.empty() || options.target == "cpu")
    return true;
  Options kernels = options;
  kernels.emit = "kernels";
  std::optional<std::string> text =
      makeKernels(plans, /*file=*/{}, kernels, diagnostics, code);
  if (!text)
    return false;
  std::string path = options.dumpFolder + "/5-map.txt";
  code = 2;
  return write(path, diagnostics, [&](llvm::raw_ostream &os) { os << *text; });
}

/// Whether a module holds what one rank executes.
bool isLocalized(mlir::ModuleOp module) {
  auto programs = module.getOps<ProgramOp>();
  return llvm::any_of(programs, [](ProgramOp program) {
    return program.getRank().has_value();
  });
}

/// Compiles; the exit code if that fails, else 0.
int compileTo(const SourceFile &source, mlir::MLIRContext *context,
              const CompileOptions &options, Diagnostics &diagnostics,
              mlir::OwningOpRef<mlir::ModuleOp> &module,
              mlir::OwningOpRef<mlir::ModuleOp> &schedules) {
  switch (compile(source, context, options, diagnostics, module, &schedules)) {
  case CompileStatus::Done:
    return 0;
  case CompileStatus::WrongProgram:
    return 1;
  case CompileStatus::WrongUsage:
    return 2;
  }
  llvm_unreachable("all statuses have an exit code");
}

/// The package of `plans`, compiled as `compileOptions` say, under `schedules`
/// if they are not null. Without it, an error was reported and `code` is the
/// exit code.
std::optional<EmittedProgram>
packageOf(mlir::ModuleOp plans, mlir::ModuleOp schedules,
          const SourceFile &source, mlir::MLIRContext *context,
          const CompileOptions &compileOptions, const Options &options,
          Diagnostics &diagnostics, int &code) {
  // What it would do without a schedule, and without those of a topology:
  // ccrun always compares with that what GPUs compute. Applications do not.
  PackageParts parts;
  parts.plans = plans;
  parts.file = programText(source);
  mlir::OwningOpRef<mlir::ModuleOp> unused;
  if (options.emit == "package" &&
      (schedules || !options.topology.empty() || options.target != "cpu" ||
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
    parts.schedule = options.schedule.empty() ? "default" : options.schedule;
  std::vector<ScheduledVariant> variants;
  if (options.autotune)
    variants = makeVariants(source, context, options, compileOptions);
  for (ScheduledVariant &variant : variants)
    if (parts.variant.empty() && variant.schedule == parts.schedule)
      // It is what the package has by default.
      parts.variant = variant.plan.name;
    else
      parts.variants.push_back(
          {variant.plan.name, variant.schedule, *variant.plan.plans});
  return makePackage(parts, options, diagnostics, code);
}

/// What is asked of one file: it is compiled, verified, and run or written.
class Compilation {
public:
  Compilation(const Options &options, const SourceFile &source,
              Diagnostics &diagnostics)
      : options(options), source(source), diagnostics(diagnostics),
        context(allDialects(), mlir::MLIRContext::Threading::DISABLED),
        verifies(!options.verify.empty()),
        onlyVerifies(verifies && !options.run && options.emit.empty()) {
    context.loadAllAvailableDialects();
  }

  /// All of it; the exit code. `scheduleFile` will hold the file of the
  /// schedule, if one is given: like the source it outlives the diagnostics
  /// that show its lines.
  int run(std::unique_ptr<SourceFile> &scheduleFile);

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
  int readTopology();
  int readSchedule(std::unique_ptr<SourceFile> &scheduleFile);
  int compileFile();
  /// Applies the schedule for its errors alone.
  int checkSchedule(mlir::OwningOpRef<mlir::ModuleOp> &applied);
  int verifySchedule();
  int emitCode();
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
    return write(options.output, diagnostics, print) ? 0 : 2;
  }

  const Options &options;
  const SourceFile &source;
  Diagnostics &diagnostics;
  mlir::MLIRContext context;
  CompileOptions compileOptions;
  bool verifies, onlyVerifies;
  mlir::OwningOpRef<mlir::ModuleOp> module, schedules;
  std::vector<std::string> report;
};

void Compilation::setOptions() {
  compileOptions.lower.params = options.params;
  compileOptions.lower.mesh = options.mesh;
  compileOptions.roundTrip = options.roundTrip;
  compileOptions.explain = options.explain;
  compileOptions.configure = [](mlir::PassManager &passes) {
    mlir::applyDefaultTimingPassManagerCLOptions(passes);
    return mlir::applyPassManagerCLOptions(passes);
  };
  compileOptions.program = options.program;
  compileOptions.dumpFolder = options.dumpFolder;
  compileOptions.rank = options.rank;
  compileOptions.topology = options.topology;
  compileOptions.searchSeconds = options.searchSeconds;
  compileOptions.gpu = options.target != "cpu";
  compileOptions.stopAfter = lastPhase();
}

Phase Compilation::lastPhase() const {
  if (!options.stopAfter.empty())
    return *phaseByName(options.stopAfter);
  if (options.emit == "plan" || options.emitsCode())
    return Phase::Plan;
  // A schedule that is asked for is checked, and its result shown, unless what
  // else was asked for comes before it.
  return options.run || options.explain || options.emit == "scheduled" ||
                 onlyVerifies || (showsLast() && !options.schedule.empty())
             ? Phase::Schedule
             : Phase::Parse;
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

int Compilation::readSchedule(std::unique_ptr<SourceFile> &scheduleFile) {
  if (!llvm::StringRef(options.schedule).ends_with(".mlir") &&
      !llvm::StringRef(options.schedule).ends_with(".ccn")) {
    compileOptions.lower.schedule = options.schedule;
    return 0;
  }
  scheduleFile = frontend::readSource(options.schedule, diagnostics);
  compileOptions.scheduleFile = scheduleFile.get();
  return scheduleFile ? 0 : 2;
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
  if (!dumpKernelPlans(*module, options, diagnostics, code))
    return code;
  std::optional<EmittedProgram> emitted;
  if (!options.emitsKernels())
    emitted = packageOf(*module, schedules.get(), source, &context,
                        compileOptions, options, diagnostics, code);
  else if (std::optional<std::string> kernels = makeKernels(
               *module, programText(source), options, diagnostics, code))
    emitted = EmittedProgram{*std::move(kernels), ""};
  if (!emitted)
    return code;
  code = writeOutput([&](llvm::raw_ostream &os) { os << emitted->bytes; });
  if (code || options.header.empty())
    return code;
  return write(options.header, diagnostics,
               [&](llvm::raw_ostream &os) { os << emitted->header; })
             ? 0
             : 2;
}

int Compilation::writeResult() {
  if (onlyVerifies)
    return writeOutput([&](llvm::raw_ostream &os) { printReport(os, ""); });
  if (options.run) {
    printReport(llvm::outs(), "");
    return runProgram(*module, options, diagnostics);
  }
  if (options.emitsCode())
    return emitCode();
  if (options.emit == "schedule") {
    if (!schedules) {
      diagnostics.error("expected --schedule to say which one to write");
      return 2;
    }
    module = std::move(schedules);
  }
  return writeOutput([&](llvm::raw_ostream &os) {
    printReport(os, "// ");
    module->print(os);
    os << "\n";
  });
}

int Compilation::run(std::unique_ptr<SourceFile> &scheduleFile) {
  setOptions();
  if (int code = readTopology())
    return code;
  if (int code = readSchedule(scheduleFile))
    return code;
  if (int code = compileFile())
    return code;
  if (int code = verifySchedule())
    return code;
  return writeResult();
}

int writeSyntaxTree(const Options &options, const SourceFile &source,
                    Diagnostics &diagnostics) {
  std::unique_ptr<frontend::ast::File> file =
      frontend::parse(source, diagnostics);
  if (diagnostics.hasErrors())
    return 1;
  return write(options.output, diagnostics,
               [&](llvm::raw_ostream &os) { frontend::ast::print(*file, os); })
             ? 0
             : 2;
}

/// Does what the options ask for; the exit code. Of `scheduleFile` see
/// Compilation::run.
int compileAndEmit(const Options &options, const SourceFile &source,
                   std::unique_ptr<SourceFile> &scheduleFile,
                   Diagnostics &diagnostics) {
  bool isBinary = options.emit == "package" || options.emit == "cubin";
  if (isBinary && options.output == "-" && llvm::outs().is_displayed()) {
    diagnostics.error("-o: expected a file with --emit " + options.emit +
                      ", found a terminal");
    return 2;
  }
  if (options.emit == "ast")
    return writeSyntaxTree(options, source, diagnostics);
  return Compilation(options, source, diagnostics).run(scheduleFile);
}

/// Reads the command line of options that MLIR has; if that fails, `mistake`
/// says why.
bool readMlirOptions(llvm::ArrayRef<const char *> args, std::string &mistake) {
  // What is wrong with a value, LLVM says on standard error itself.
  llvm::errs().flush();
  std::FILE *file = std::tmpfile();
  int old = file ? dup(STDERR_FILENO) : -1;
  if (old >= 0)
    dup2(fileno(file), STDERR_FILENO);
  bool done = llvm::cl::ParseCommandLineOptions(args.size(), args.data(), "",
                                                &llvm::errs());
  if (old >= 0) {
    dup2(old, STDERR_FILENO);
    close(old);
    std::rewind(file);
    for (int c; (c = std::fgetc(file)) != EOF;)
      mistake += static_cast<char>(c);
  }
  if (file)
    std::fclose(file);
  if (done) {
    llvm::errs() << mistake;
    return true;
  }
  llvm::StringRef text = llvm::StringRef(mistake).trim();
  text.consume_front("cccompile: ");
  mistake = text.str();
  return false;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  std::string mistake;
  if (std::optional<int> code = parseOptions(argc, argv, options, mistake))
    return mistake.empty() ? *code : finishUsage(mistake, options);

  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  std::vector<const char *> mlirArgs = {"cccompile"};
  for (const std::string &arg : options.mlirArgs) {
    llvm::StringRef name = llvm::StringRef(arg).split('=').first.ltrim('-');
    if (!llvm::cl::getRegisteredOptions().contains(name))
      return finishUsage("unknown argument '" + arg + "'; see --help", options);
    mlirArgs.push_back(arg.c_str());
  }
  if (!readMlirOptions(mlirArgs, mistake))
    return finishUsage(mistake, options);

  Diagnostics diagnostics;
  std::unique_ptr<SourceFile> source =
      frontend::readSource(options.file, diagnostics);
  if (!source)
    return finish(2, options, diagnostics);
  std::unique_ptr<SourceFile> scheduleFile;
  int code = compileAndEmit(options, *source, scheduleFile, diagnostics);
  return finish(code, options, diagnostics);
}
