//===- Options.cpp - The command line of cccompile ------------------------===//
//
// CLI11 reads the command line; it reports mistakes by exceptions, so this file
// alone is compiled with them and without LLVM.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/Options.h"

#include "lib/Target/Machine.h"
#include "tools/common/CommandLine.h"

using namespace ccn;
using namespace ccn::cli;

/// Whether a command line asks for diagnostics in JSON, even if the rest of it
/// is wrong.
static bool asksForJson(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i], next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--diagnostics=json" ||
        (word == "--diagnostics" && next == "json"))
      return true;
  }
  return false;
}

/// The kind of output that the ending of a name stands for; empty if none.
static std::string kindByEnding(const std::string &path) {
  static const std::pair<const char *, const char *> endings[] = {
      {".ccnpkg", "package"}, {".a", "lib"},   {".h", "header"},
      {".cu", "cuda"},        {".ptx", "ptx"}, {".cubin", "cubin"}};
  for (auto [ending, kind] : endings)
    if (path.ends_with(ending))
      return kind;
  return "";
}

/// Sets the kind of output by the ending of the output's name. It is an error
/// if the options ask for another kind.
static void takeEnding(Options &options) {
  std::string kind = kindByEnding(options.output);
  if (options.run && options.output != "-")
    throw CLI::ValidationError(
        "-o", "expected without --run; --output NAME=FILE writes arrays");
  if (kind.empty())
    return;
  // A report, or what an early phase leaves, is neither.
  if (options.emit.empty() && options.verify.empty() &&
      options.predict.empty() &&
      (options.stopAfter.empty() || options.stopAfter == "emit"))
    options.emit = kind;
  if (options.emit != kind)
    throw CLI::ValidationError(
        "-o", "expected --emit " + kind + " for '" + options.output + "'" +
                  (options.emit.empty() ? "" : ", found " + options.emit));
}

/// Whether names in C may begin with a prefix without being names of the C API.
static bool isPrefix(const std::string &text) {
  auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && !isDigit(text[0]) && text != "ccn" &&
         !text.starts_with("ccn_") &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return isDigit(c) || c == '_' || (c >= 'a' && c <= 'z') ||
                  (c >= 'A' && c <= 'Z');
         });
}

/// The architectures of GPUs, separated by a text.
static std::string gpuNames(const std::string &between) {
  std::string names;
  for (const GpuArch &arch : gpuArchs)
    names += (names.empty() ? "" : between) + std::string(arch.name);
  return names;
}

/// A CLI11 check by a function that parses a value and says what it expected.
template <typename T>
static CLI::Validator expectParsed(Result<T> parse(std::string_view)) {
  return CLI::Validator(
      [parse](std::string &text) { return parse(text).message(); }, "");
}

namespace {

/// The command line while it is read: CLI11's options, and the texts that are
/// yet to be parsed.
class CommandLine {
public:
  explicit CommandLine(Options &options);
  std::optional<int> parse(int argc, char **argv, std::string &mistake);

private:
  // In the order in which the help has them.
  void addProgram();
  void addOutput();
  void addSchedule();
  void addPhases();
  void addRunning();

  /// Takes texts apart.
  void takeTexts();
  // What does not go together, in the order in which it is reported.
  void checkOutput();
  void checkTarget();
  void checkPhases();
  void checkPrefix();
  void checkSearch();
  void checkMachine();
  void checkPredict();
  void checkTopology();
  void checkRun();

  Options &options;
  CLI::App app;
  std::vector<std::string> params, mesh, inputs, outputs;
  /// The target is empty if none is given.
  std::string cpu = "native", target;
  std::string diagnostics = "text";
  CLI::Option *topology = nullptr, *search = nullptr;
};

} // namespace

CommandLine::CommandLine(Options &options)
    : options(options),
      app("Compiles programs over distributed tensors (.ccn), and runs them on "
          "CPU ranks.\n\n"
          "  cccompile adam.ccn                        check, print the IR\n"
          "  cccompile adam.ccn -D N=1003 --mesh dp=4 --run \\\n"
          "      --input g=g.npy --input lr=0.001 --output p=p.npy\n",
          "cccompile") {
  app.option_defaults()->always_capture_default(false);
  addProgram();
  addOutput();
  addSchedule();
  addPhases();
  addRunning();
  app.footer(
      std::string(arraysNote) +
      "Options of MLIR pass through, with '=': --mlir-timing, "
      "--mlir-print-ir-after-all,\n--mlir-print-op-generic, ...\n\n"
      "With CCN_VERIFY=1 in the environment (and in debug builds, unless it is "
      "0) every\nschedule that is applied is verified briefly. What synth(...) "
      "and --topology\nfind is kept in CCN_CACHE_DIR, else ~/.cache/ccn.\n\n"
      "Exit codes: 0 done; 1 the program or schedule is wrong; 2 usage; 4 a "
      "run failed,\nor --verify found a difference.");
  app.allow_extras();
  // So that -D N=4 and -DN=4 both work.
  app.allow_windows_style_options(false);
}

void CommandLine::addProgram() {
  app.add_option("FILE", options.file,
                 "the program: .ccn text, or .mlir that an earlier phase left; "
                 "- is standard input")
      ->required()
      ->type_name("");
  app.add_option("-D", params,
                 "set a param, as in -D N=1003, or the sizes that are given as "
                 "a number, as in -D 4096=9")
      ->type_name("NAME=NUMBER")
      ->expected(1)
      ->take_all();
  app.add_option("--mesh", mesh,
                 "set the size of a mesh axis, as in --mesh dp=8")
      ->type_name("AXIS=SIZE")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
}

void CommandLine::addOutput() {
  app.add_option(
         "--emit", options.emit,
         "what to write: ast, the syntax tree; layouts, the text with the "
         "inferred type and layout of each let; mlir (the default), the IR "
         "after --stop-after, else after the schedule that --schedule names, "
         "else after parse; schedule, what is "
         "applied, as a transform script, or as a file of schedules if a "
         "search has found it; scheduled, the IR after it; plan, "
         "what each rank executes; package, the plans with machine code in one "
         "file, for ccrun (also with --stop-after emit); lib, a package as a "
         "static library for applications; header, the program's functions for "
         "C and C++; kernels, a description of the kernels for GPUs (also with "
         "--stop-after map); cuda, ptx, cubin, these kernels, all in one file: "
         "as CUDA C++, or compiled by NVRTC")
      ->type_name("KIND")
      ->check(expectOneOf({"ast", "layouts", "mlir", "schedule", "scheduled",
                           "plan", "package", "lib", "header", "kernels",
                           "cuda", "ptx", "cubin"}));
  app.add_option("-o", options.output,
                 "where to write it; - is standard output (the default). "
                 "Without --emit, the ending of its name says what to write: "
                 ".ccnpkg a package, .a "
                 "lib, .h header, .cu cuda, .ptx, .cubin")
      ->type_name("FILE");
  app.add_option("--emit-header", options.header,
                 "with --emit lib or package, where to write the header too")
      ->type_name("FILE");
  app.add_option("--prefix", options.prefix,
                 "what the names begin with that the header declares, instead "
                 "of the program's: programs of one name link together then")
      ->type_name("NAME");
}

void CommandLine::addSchedule() {
  app.add_option("--schedule", options.schedule,
                 "the schedule to apply: one of the program's, a file of "
                 "schedules (.ccn) or a transform script (.mlir). auto: the "
                 "one that is fastest by prediction among those that a search "
                 "finds, for GPUs unless --target or --machine says otherwise; "
                 "NAME+auto goes on from one by hand; none: the program as "
                 "written. Without it 'default', if there is one, else auto "
                 "for GPUs, but with --topology, and none for CPUs. --explain "
                 "says what each line that was found saves, --emit schedule "
                 "writes them as a file of schedules")
      ->type_name("NAME|FILE");
  app.add_option("--slice-state", options.states,
                 "for the search of --schedule auto, inout arguments that the "
                 "search may "
                 "store in slices, which whoever runs the program then passes")
      ->type_name("NAME,...")
      ->delimiter(',');
  app.add_option("--search-states", options.searchStates,
                 "for the search of --schedule auto, how many ways to run a "
                 "program are "
                 "priced at most, but for some in the end (default 100, fewer "
                 "of large programs and on many ranks)")
      ->type_name("N")
      ->check(
          expect("an integer from 1 to 1000000", isIntegerFrom(1, 1000000)));
  topology = app.add_option(
      "--topology", options.topology,
      "the GPUs, one for each rank of the mesh, and their links: collectives "
      "without an "
      "algorithm run by a schedule that is synthesized for it where that is "
      "predicted to be faster (--explain says where). A name of `ccsynth "
      "topologies`, as dgx1 or 'ring(8)', or a file");
  topology->type_name("NAME|FILE");
  app.add_option(
         "--machine", options.machine,
         "the measured figures that choices are made by, such as the "
         "sizes at which all_reduces change how they run: cpu, h200, h100, "
         "a100, or a file (.json) of a machine of your own "
         "(lib/Target/README.md "
         "has its fields). By default those of the target; --explain "
         "takes those of GPUs, and says whose they are")
      ->type_name("NAME|FILE");
  search = app.add_option(
      "--search-time", options.searchSeconds,
      "with --topology, how many seconds each search for a schedule may take "
      "(default 10); two are searched for each kind of collective, once");
  search->type_name("SECONDS")->check(
      expect("seconds from 0.001 to 1e6", isNumberFrom(0.001, 1e6)));
  app.add_flag(
         "--verify", options.verify,
         "compare the program with and without the schedule, on all ranks "
         "of the mesh, at several small sizes and on ordinary and extreme "
         "values (--seed draws others): it must compute the same. Prints "
         "what was compared and how equal it is, before what --run or "
         "--emit give if they are there too. --verify=run is the same; "
         "--verify=prove proves it instead")
      // CLI11 gives a flag without a value this one.
      ->transform(
          [](std::string text) { return text == "true" ? "run" : text; }, "")
      ->check(expectOneOf({"run", "prove"}));
}

void CommandLine::addPhases() {
  app.add_option("--stop-after", options.stopAfter,
                 "the last phase: parse, schedule, localize, select, plan, "
                 "map or emit")
      ->type_name("PHASE")
      ->check(expectOneOf(
          {"parse", "schedule", "localize", "select", "plan", "map", "emit"}));
  app.add_option("--rank", options.rank,
                 "with --stop-after localize or select, the rank whose program "
                 "is made (default 0); with --emit plan the only one whose "
                 "plan is made")
      ->type_name("N")
      ->check(expect("an integer from 0 to 65535", isIntegerFrom(0, 65535)));
  app.add_option(
         "--cpu", cpu,
         "with --emit package or lib, the CPU that it is for: native, as good "
         "as this machine's (the default); x86-64, any; x86-64-v3, "
         "with AVX2; x86-64-v4, with AVX-512")
      ->type_name("LEVEL")
      ->check(expectParsed(parseCpu));
  app.add_option("--target", target,
                 "with --emit package or lib, what executes it: cpu (the "
                 "default), or GPUs (and the CPU): " +
                     gpuNames(", ") +
                     "; with --emit "
                     "ptx or cubin, the GPUs to compile for; with --emit plan "
                     "or --stop-after select or plan, what to plan for")
      ->type_name("TARGET")
      ->check(expectParsed(parseTarget));
  app.add_option("--transport", options.transport,
                 "with --emit cuda, ptx or cubin, the kernels of which "
                 "transport: peers (the default), which access the memory of "
                 "other ranks; messages, between which NCCL moves what other "
                 "ranks access")
      ->type_name("TRANSPORT")
      ->check(expectOneOf({"peers", "messages"}));
  app.add_flag("--autotune", options.autotune,
               "with --emit package, compile other ways to run the program "
               "too, for `ccrun --tune` to choose from by measurement: its "
               "other schedules, unless --schedule names one; if one is "
               "searched for, the best few that are found, too; and other "
               "algorithms for all_reduces that have none");
  app.add_option(
         "--dump-phases", options.dumpFolder,
         "write the IR after each phase into this folder and, if code for "
         "GPUs is emitted, what its kernels are to be")
      ->type_name("DIR");
  app.add_flag("--explain", options.explain,
               "say what each primitive of the schedule did, and what others "
               "could still do or why not");
  app.add_flag(
         "--predict", options.predict,
         "predict how long a run takes, on each rank of a machine that need "
         "not "
         "be there: GPUs, unless --target or --machine says otherwise. Prints "
         "a "
         "line for each launch, with its time, what bounds it, and the bytes "
         "that it moves. --predict=json writes all launches of all ranks; "
         "--predict=trace, a timeline for Perfetto, as does -o FILE.json")
      ->transform(
          [](std::string text) { return text == "true" ? "table" : text; }, "")
      ->check(expectOneOf({"table", "json", "trace"}));
  app.add_flag("--round-trip", options.roundTrip,
               "write and read back the IR after each phase, as text and as "
               "bytecode (for tests)");
  app.add_option("--diagnostics", diagnostics,
                 "how errors are written: text (the default) or json")
      ->type_name("FORM")
      ->check(expectOneOf({"text", "json"}));
}

void CommandLine::addRunning() {
  auto *run =
      app.add_flag("--run", options.run, "run the program on all ranks");
  run->group("Running");
  app.add_option("--program", options.program,
                 "the program that is meant, if the file has several")
      ->type_name("NAME")
      ->group("Running");
  addArrayOptions(app, inputs, outputs, options.seed, "Running");
}

void CommandLine::takeTexts() {
  options.params = splitAll(params, "-D", "NAME=NUMBER");
  options.mesh = splitAll(mesh, "--mesh", "AXIS=SIZE");
  options.inputs = splitAll(inputs, "--input", "NAME=FILE");
  options.outputs = splitAll(outputs, "--output", "NAME=FILE");
  for (const std::string &extra : app.remaining()) {
    if (extra.rfind("--mlir-", 0) != 0)
      throw CLI::ValidationError(unknownArgument(app, extra));
    options.mlirArgs.push_back(extra);
  }
  auto needsRun = [&](bool given, const char *option) {
    if (given && !options.run)
      throw CLI::ValidationError(option, "expected --run beside it");
  };
  needsRun(!inputs.empty(), "--input");
  needsRun(!outputs.empty(), "--output");
}

void CommandLine::checkOutput() {
  if (options.run && !options.emit.empty())
    throw CLI::ValidationError("--emit", "expected without --run");
  for (auto [phase, kind] :
       {std::pair("map", "kernels"), std::pair("emit", "package")}) {
    if (options.stopAfter != phase)
      continue;
    if (!options.emit.empty() && options.emit != kind)
      throw CLI::ValidationError("--emit", std::string("expected '") + kind +
                                               "' with --stop-after " + phase);
    options.emit = kind;
    options.stopAfter.clear();
    break;
  }
  if (!options.header.empty() && options.emit != "lib" &&
      options.emit != "package")
    throw CLI::ValidationError("--emit-header",
                               "expected --emit lib or package beside it");
  if (options.header == options.output && options.header == "-")
    throw CLI::ValidationError(
        "--emit-header", "expected another place than -o, found '-' in both");
  if (options.autotune && options.emit != "package")
    throw CLI::ValidationError("--autotune",
                               "expected --emit package beside it");
  if (options.emitsCode() && !options.stopAfter.empty())
    throw CLI::ValidationError("--stop-after",
                               "expected 'emit' or nothing with --emit " +
                                   options.emit);
}

void CommandLine::checkTarget() {
  bool isGiven = !target.empty();
  bool isPlanned = options.emit == "plan" || options.stopAfter == "select" ||
                   options.stopAfter == "plan" || !options.predict.empty();
  bool isScheduled = options.emit == "schedule" || options.emit == "scheduled";
  if (isGiven && !options.emitsCode() && !isPlanned && !isScheduled &&
      !options.searchesSchedule())
    throw CLI::ValidationError(
        "--target", "expected --predict, --schedule auto, --stop-after select "
                    "or plan, or --emit schedule, scheduled, plan, package, "
                    "lib, kernels, cuda, ptx or cubin, beside it");
  options.target = isGiven ? *parseTarget(target) : Target();
  if (options.emitsKernels() && isGiven && !options.target.isGpu())
    throw CLI::ValidationError("--target", "expected GPUs with --emit " +
                                               options.emit + ", found 'cpu'");
  // The text is the same for all GPUs, what is compiled is not.
  bool isText = options.emit == "kernels" || options.emit == "cuda";
  if (options.emitsKernels() && !isText && !isGiven)
    throw CLI::ValidationError("--target", "expected '" + gpuNames("' or '") +
                                               "' with --emit " + options.emit +
                                               ", found none");
  if (isText && !isGiven)
    options.target = Target::anyGpu();
  if (!options.transport.empty() &&
      (!options.emitsKernels() || options.emit == "kernels"))
    throw CLI::ValidationError("--transport",
                               "expected --emit cuda, ptx or cubin beside it");
  options.searchTarget = options.target;
  if (!isGiven && !options.emitsCode()) {
    // Mistakes in the machine's file are reported when it is read again.
    Result<Machine> machine =
        options.machine ? loadMachine(*options.machine) : Machine();
    options.searchTarget = options.machine && machine && !machine->gpu
                               ? Target()
                               : Target::anyGpu();
    if (!options.predict.empty())
      options.target = options.searchTarget;
  }
  options.target.cpu = options.searchTarget.cpu = *parseCpu(cpu);
}

void CommandLine::checkPhases() {
  if (options.emit == "plan" && !options.stopAfter.empty() &&
      options.stopAfter != "plan")
    throw CLI::ValidationError("--stop-after",
                               "expected 'plan' or nothing with --emit plan");
  if (options.emit == "layouts" && !options.stopAfter.empty() &&
      options.stopAfter != "parse")
    throw CLI::ValidationError(
        "--stop-after", "expected 'parse' or nothing with --emit layouts");
  if (!options.program.empty() && options.emit == "ast")
    throw CLI::ValidationError("--program", "expected without --emit ast");
  if (options.rank && options.stopAfter != "localize" &&
      options.stopAfter != "select" && options.stopAfter != "plan" &&
      options.emit != "plan")
    throw CLI::ValidationError(
        "--rank", "expected --stop-after localize, select or plan, or "
                  "--emit plan, beside it");
}

void CommandLine::checkPrefix() {
  bool hasHeader = options.emit == "lib" || options.emit == "header" ||
                   !options.header.empty();
  if (!options.prefix.empty() && !hasHeader)
    throw CLI::ValidationError(
        "--prefix", "expected --emit lib or header, or --emit-header, "
                    "beside it");
  if (!options.prefix.empty() && !isPrefix(options.prefix))
    throw CLI::ValidationError(
        "--prefix", "expected letters, digits and '_' that do not begin "
                    "with a digit and are not 'ccn' nor begin with 'ccn_', "
                    "found '" +
                        options.prefix + "'");
}

void CommandLine::checkSearch() {
  if (options.searchesSchedule())
    return;
  const char *without = !options.states.empty() ? "--slice-state"
                        : options.searchStates  ? "--search-states"
                                                : nullptr;
  if (without)
    throw CLI::ValidationError(without,
                               "expected --schedule auto or NAME+auto beside "
                               "it, or a target of GPUs and no --schedule");
}

void CommandLine::checkMachine() {
  if (options.machine && !options.explain && options.stopAfter != "select" &&
      options.stopAfter != "plan" && options.emit != "plan" &&
      !options.emitsCode() && options.predict.empty() &&
      !options.searchesSchedule())
    throw CLI::ValidationError(
        "--machine", "expected --explain, --predict, --schedule auto, "
                     "--stop-after select or plan, or --emit plan, package, "
                     "lib, kernels, cuda, ptx or cubin, beside it");
}

void CommandLine::checkPredict() {
  if (options.predict.empty())
    return;
  auto needsNone = [&](bool given, const char *option) {
    if (given)
      throw CLI::ValidationError(option, "expected without --predict");
  };
  needsNone(!options.emit.empty(), "--emit");
  needsNone(options.run, "--run");
  needsNone(!options.stopAfter.empty(), "--stop-after");
  if (options.predict == "table" && options.output.ends_with(".json"))
    options.predict = "trace";
}

void CommandLine::checkTopology() {
  // It is read several times, which standard input cannot be.
  if (*topology && (options.topology.empty() || options.topology == "-"))
    throw CLI::ValidationError("--topology",
                               "expected a name or a file, found '" +
                                   options.topology + "'");
  if (*search && !*topology)
    throw CLI::ValidationError("--search-time",
                               "expected --topology beside it");
  if (*topology && options.stopAfter != "select" &&
      options.stopAfter != "plan" && options.emit != "plan" &&
      !options.emitsCode() && options.verify.empty() && options.predict.empty())
    throw CLI::ValidationError(
        "--topology", "expected --predict, --verify, --stop-after select or "
                      "plan, or --emit plan, package, lib, kernels, cuda, ptx "
                      "or cubin, beside it");
}

void CommandLine::checkRun() {
  if (options.run && !options.stopAfter.empty() &&
      options.stopAfter != "schedule")
    throw CLI::ValidationError("--stop-after",
                               "expected 'schedule' or nothing with --run");
  if (!options.verify.empty() && options.emit == "ast")
    throw CLI::ValidationError("--emit", "expected no 'ast' with --verify");
  if (!options.verify.empty() && options.stopAfter == "parse")
    throw CLI::ValidationError("--stop-after",
                               "expected 'schedule' or nothing with --verify");
}

std::optional<int> CommandLine::parse(int argc, char **argv,
                                      std::string &mistake) {
  auto check = [&] {
    takeTexts();
    takeEnding(options);
    checkOutput();
    checkTarget();
    checkPhases();
    checkPrefix();
    checkSearch();
    checkMachine();
    checkPredict();
    checkTopology();
    checkRun();
  };
  return cli::parse(app, argc, argv, "FILE", check,
                    [&](const std::string &what) { mistake = what; });
}

std::optional<int> ccn::parseOptions(int argc, char **argv, Options &options,
                                     std::string &mistake) {
  options.jsonDiagnostics = asksForJson(argc, argv);
  return CommandLine(options).parse(argc, argv, mistake);
}
