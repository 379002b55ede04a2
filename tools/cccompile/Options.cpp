//===- Options.cpp - The command line of cccompile ------------------------===//
//
// CLI11 reads the command line; it reports mistakes by exceptions, so this file
// alone is compiled with them and without LLVM.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/Options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <functional>

using namespace ccn;

namespace {

/// Takes `name=value` apart.
NamedValues splitAll(const std::vector<std::string> &texts,
                     const std::string &option, const std::string &example) {
  NamedValues values;
  for (const std::string &text : texts) {
    size_t equal = text.find('=');
    if (equal == 0 || equal == std::string::npos || equal + 1 == text.size())
      throw CLI::ValidationError(option, "expected " + example + ", found '" +
                                             text + "'");
    std::string name = text.substr(0, equal);
    for (const auto &[other, value] : values)
      if (other == name)
        throw CLI::ValidationError(option, "'" + name + "' is given twice");
    values.emplace_back(name, text.substr(equal + 1));
  }
  return values;
}

/// A check of an option's text; what it should be is said in our words.
CLI::Validator expect(const std::string &what,
                      const std::function<bool(const std::string &)> &holds) {
  return CLI::Validator(
      [what, holds](std::string &text) {
        return holds(text) ? std::string()
                           : "expected " + what + ", found '" + text + "'";
      },
      "");
}

CLI::Validator expectOneOf(const std::vector<std::string> &words) {
  std::string what;
  for (const std::string &word : words) {
    const char *before = word == words.front()  ? "'"
                         : word == words.back() ? " or '"
                                                : ", '";
    what += before + word + "'";
  }
  return expect(what, [words](const std::string &text) {
    return std::find(words.begin(), words.end(), text) != words.end();
  });
}

bool isSeed(const std::string &text) {
  uint64_t seed;
  const char *end = text.data() + text.size();
  auto [last, failure] = std::from_chars(text.data(), end, seed);
  return failure == std::errc() && last == end;
}

bool isRank(const std::string &text) {
  uint16_t rank;
  const char *end = text.data() + text.size();
  auto [last, failure] = std::from_chars(text.data(), end, rank);
  return failure == std::errc() && last == end;
}

bool isTimeLimit(const std::string &text) {
  double seconds;
  const char *end = text.data() + text.size();
  auto [last, failure] = std::from_chars(text.data(), end, seconds);
  return failure == std::errc() && last == end && seconds >= 0.001 &&
         seconds <= 1e9;
}

/// CLI11's words for an option without or with too many values in ours.
std::string describe(const CLI::ArgumentMismatch &error) {
  std::string text = error.what();
  std::string option = text.substr(0, text.find(':'));
  bool missing = text.find("missing") != std::string::npos;
  return option + (missing ? ": expected a value, found none"
                           : ": expected once, found twice");
}

} // namespace

std::optional<int> ccn::parseOptions(int argc, char **argv, Options &options) {
  CLI::App app{
      "Compiles programs over distributed tensors (.ccn), and runs them on CPU "
      "ranks.\n\n"
      "  cccompile adam.ccn                        check, print the IR\n"
      "  cccompile adam.ccn -D N=1003 --mesh dp=4 --run \\\n"
      "      --input g=g.npy --input lr=0.001 --output p=p.npy\n",
      "cccompile"};
  app.option_defaults()->always_capture_default(false);
  std::vector<std::string> params, mesh, inputs, outputs;
  std::string diagnostics = "text";

  app.add_option("FILE", options.file,
                 "the program: .ccn text, or .mlir that an earlier phase left; "
                 "- is standard input")
      ->required()
      ->type_name("");
  app.add_option("-D", params, "set a param, as in -D N=1003")
      ->type_name("NAME=NUMBER")
      ->expected(1)
      ->take_all();
  app.add_option("--mesh", mesh,
                 "set the size of a mesh axis, as in --mesh dp=8")
      ->type_name("AXIS=SIZE")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  app.add_option(
         "--emit", options.emit,
         "what to write: ast, the syntax tree; mlir, the IR after "
         "--stop-after, or after parse (the default); schedule, what is "
         "applied, as a transform script; scheduled, the IR after it; plan, "
         "what each rank executes")
      ->type_name("KIND")
      ->check(expectOneOf({"ast", "mlir", "schedule", "scheduled", "plan"}));
  app.add_option("-o", options.output,
                 "where to write it; - is standard output (the default)")
      ->type_name("FILE");
  app.add_option("--schedule", options.schedule,
                 "the schedule to apply: one of the program's, a file of "
                 "schedules (.ccn) or a transform script (.mlir); without it "
                 "'default', if there is one")
      ->type_name("NAME|FILE");
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
  app.add_option("--stop-after", options.stopAfter,
                 "the last phase: parse, schedule, localize, select or plan")
      ->type_name("PHASE")
      ->check(expectOneOf({"parse", "schedule", "localize", "select", "plan"}));
  app.add_option("--rank", options.rank,
                 "with --stop-after localize or select, the rank whose program "
                 "is made (default 0); with --emit plan the only one whose "
                 "plan is made")
      ->type_name("N")
      ->check(expect("an integer from 0 to 65535", isRank));
  app.add_option("--dump-phases", options.dumpFolder,
                 "write the IR after each phase into this folder")
      ->type_name("DIR");
  app.add_flag("--explain", options.explain,
               "say what each primitive of the schedule did, and what others "
               "could still do or why not");
  app.add_flag("--round-trip", options.roundTrip,
               "write and read back the IR after each phase, as text and as "
               "bytecode (for tests)");
  app.add_option("--diagnostics", diagnostics,
                 "how errors are written: text (the default) or json")
      ->type_name("FORM")
      ->check(expectOneOf({"text", "json"}));

  auto *run =
      app.add_flag("--run", options.run, "run the program, one thread a rank");
  run->group("Running");
  app.add_option("--program", options.program,
                 "the program to run, if the file has several")
      ->type_name("NAME")
      ->group("Running");
  app.add_option("--input", inputs,
                 "an argument: a .npy file, or the number itself of a scalar; "
                 "a file for each buffer of a scattered one. What is not given "
                 "is drawn at random")
      ->type_name("NAME=FILE")
      ->expected(1)
      ->take_all()
      ->group("Running");
  app.add_option("--output", outputs,
                 "where to write an inout argument or result, as .npy")
      ->type_name("NAME=FILE")
      ->expected(1)
      ->take_all()
      ->group("Running");
  app.add_option("--seed", options.seed,
                 "the seed of what is drawn at random (default 0)")
      ->type_name("N")
      ->check(expect("an integer from 0 to 2^64 - 1", isSeed))
      ->group("Running");
  app.add_option("--time-limit", options.timeLimit,
                 "how many seconds a rank waits for another (default 600)")
      ->type_name("SECONDS")
      ->check(expect("seconds from 0.001 to 1e9", isTimeLimit))
      ->group("Running");
  app.footer(
      "Arrays have the global shape of a replicated or sliced tensor; a local "
      "or\npartial one has a leading dimension for each mesh axis it is local "
      "on. bf16\ntravels as V2, f8e4m3 and f8e5m2 as V1.\n\n"
      "Options of MLIR pass through, with '=': --mlir-timing, "
      "--mlir-print-ir-after-all,\n--mlir-print-op-generic, ...\n\n"
      "With CCN_VERIFY=1 in the environment (and in debug builds, unless it is "
      "0) every\nschedule that is applied is verified briefly. What synth(...) "
      "finds is "
      "kept in\nCCN_CACHE_DIR, else ~/.cache/ccn.\n\n"
      "Exit codes: 0 done; 1 the program or schedule is wrong; 2 usage; 4 a "
      "run failed,\nor --verify found a difference.");
  app.allow_extras();
  // So that -D N=4 and -DN=4 both work.
  app.allow_windows_style_options(false);

  try {
    app.parse(argc, argv);
    options.params = splitAll(params, "-D", "NAME=NUMBER");
    options.mesh = splitAll(mesh, "--mesh", "AXIS=SIZE");
    options.inputs = splitAll(inputs, "--input", "NAME=FILE");
    options.outputs = splitAll(outputs, "--output", "NAME=FILE");
    options.jsonDiagnostics = diagnostics == "json";
    for (const std::string &extra : app.remaining()) {
      if (extra.rfind("--mlir-", 0) != 0)
        throw CLI::ValidationError("unknown argument '" + extra +
                                   "'; see --help");
      options.mlirArgs.push_back(extra);
    }
    auto needsRun = [&](bool given, const char *option) {
      if (given && !options.run)
        throw CLI::ValidationError(option, "expected --run beside it");
    };
    needsRun(!inputs.empty(), "--input");
    needsRun(!outputs.empty(), "--output");
    needsRun(!options.program.empty(), "--program");
    if (options.run && !options.emit.empty())
      throw CLI::ValidationError("--emit", "expected without --run");
    if (options.rank && options.stopAfter != "localize" &&
        options.stopAfter != "select" && options.stopAfter != "plan" &&
        options.emit != "plan")
      throw CLI::ValidationError(
          "--rank", "expected --stop-after localize, select or plan beside it");
    if (options.run && !options.stopAfter.empty() &&
        options.stopAfter != "schedule")
      throw CLI::ValidationError("--stop-after",
                                 "expected 'schedule' or nothing with --run");
    if (!options.verify.empty() && options.emit == "ast")
      throw CLI::ValidationError("--emit", "expected no 'ast' with --verify");
    if (!options.verify.empty() && options.stopAfter == "parse")
      throw CLI::ValidationError(
          "--stop-after", "expected 'schedule' or nothing with --verify");
  } catch (const CLI::CallForHelp &) {
    std::cout << app.help();
    return 0;
  } catch (const CLI::RequiredError &) {
    std::cerr << "cccompile: error: expected a FILE; see --help\n";
    return 2;
  } catch (const CLI::ArgumentMismatch &error) {
    std::cerr << "cccompile: error: " << describe(error) << "\n";
    return 2;
  } catch (const CLI::Error &error) {
    std::cerr << "cccompile: error: " << error.what() << "\n";
    return 2;
  }
  return std::nullopt;
}
