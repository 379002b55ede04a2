//===- Commands.cpp - What ccsynth's commands do --------------------------===//
//
// See Commands.h.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "synth/Certificate.h"
#include "synth/Compose.h"
#include "synth/Explain.h"
#include "synth/Gantt.h"
#include "synth/Sketch.h"
#include "synth/TopologyEdit.h"
#include "synth/interop/Msccl.h"
#include "synth/interop/Plan.h"
#include "synth/interop/ScheduleImport.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <unistd.h>

namespace ccn::synth {

std::atomic<bool> interrupted{false};

int fail(const std::string &message, int code) {
  std::cerr << "ccsynth: " << message << "\n";
  return code;
}
int fail(const Status &status, int code) {
  return fail(status.message(), code);
}

int checkOutputs(const std::string &firstPath, const std::string &first,
                 const std::string &secondPath, const std::string &second) {
  if (firstPath != "-" || secondPath != "-")
    return 0;
  return fail("expected a file for the " + first + " or for the " + second +
                  ", found standard output for both",
              Usage);
}

void printNotes(const std::vector<std::string> &notes) {
  for (const std::string &note : notes)
    std::cerr << "ccsynth: note: " << note << "\n";
}

int emit(const std::string &path, const std::string &text) {
  if (path.empty() || path == "-") {
    std::cout << text << std::flush;
    return std::cout ? Done : Failed;
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    return fail(path + ": cannot write the file", Failed);
  return Done;
}

Result<Groups> Problem::parseGroups(int ranks) const {
  Groups groups;
  for (const std::string &text : groupTexts) {
    std::vector<int> &group = groups.emplace_back();
    // One more item than there are commas.
    for (size_t at = 0; at <= text.size();) {
      size_t end = std::min(text.find(',', at), text.size());
      int first = 0, last = 0;
      const char *item = text.data() + at, *past = text.data() + end;
      auto [dash, wrong] = std::from_chars(item, past, first);
      bool isRange = wrong == std::errc() && dash != past && *dash == '-';
      bool isRight = wrong == std::errc() && first >= 0;
      if (isRange) {
        auto [rest, wrongLast] = std::from_chars(dash + 1, past, last);
        isRight &= wrongLast == std::errc() && rest == past && last >= first &&
                   last < ranks;
      } else {
        isRight &= dash == past;
      }
      if (!isRight)
        return error("--group: expected ranks like 0,1,4-7, found \"" + text +
                     "\"");
      for (int rank = first; rank <= (isRange ? last : first); ++rank)
        group.push_back(rank);
      at = end + 1;
    }
  }
  if (std::string wrong = wrongGroups(groups, ranks); !wrong.empty())
    return error("--group: " + wrong);
  return groups;
}

int Problem::granule(int ranks) const {
  if (parseCollectiveKind(collective) != CollectiveKind::AllToAll)
    return 1;
  Result<Groups> groups = parseGroups(ranks);
  if (!groups || groups->empty())
    return ranks;
  size_t common = 1;
  for (const std::vector<int> &group : *groups)
    common = std::min<size_t>(std::lcm(common, group.size()), 1 << 24);
  return static_cast<int>(common);
}

Result<Collective> Problem::load(const Fabric &fabric, int chunkCount) const {
  Counts matrix;
  if (!counts.empty()) {
    // Standard input can be read once only.
    if (!countsText) {
      Result<std::string> text = readFile(counts);
      if (!text)
        return text.status();
      countsText = std::make_shared<const std::string>(*std::move(text));
    }
    Result<Counts> read =
        parseCounts(*countsText, counts == "-" ? "<stdin>" : counts);
    if (!read)
      return read.status();
    matrix = std::move(*read);
  }
  if (groupTexts.empty())
    return loadCollective(collective, fabric.ranks, chunkCount, root, matrix);
  std::optional<CollectiveKind> kind = parseCollectiveKind(collective);
  if (!kind || kind == CollectiveKind::AllToAllV)
    return error("--group: expected all_gather, reduce_scatter, all_reduce, "
                 "broadcast, reduce, gather, scatter or all_to_all, found \"" +
                 collective + "\"");
  Result<Groups> groups = parseGroups(fabric.ranks);
  if (!groups)
    return groups.status();
  return makeGrouped(*kind, fabric.ranks, *groups, chunkCount, root);
}

Result<Collective> Problem::loadTimes(const Fabric &fabric, int times) const {
  Result<Collective> loaded = load(fabric, times);
  if (loaded && loaded->kind == CollectiveKind::Custom && groupTexts.empty())
    return repeated(*loaded, times);
  return loaded;
}

Result<Topology> Problem::machine() const {
  Result<Topology> loaded = loadTopology(topology);
  if (!loaded || without.empty())
    return loaded;
  return withoutParts(*loaded, without);
}

Result<MachineInUnits> Problem::inUnits(bool countsChunks) const {
  Result<Topology> loaded = machine();
  if (!loaded)
    return loaded.status();
  if (!std::isfinite(unit))
    return error("--unit: expected GB/s, found ", unit);
  double known = unit > 0 || !countsChunks ? unit : unitForSteps(*loaded);
  Result<Fabric> fabric = makeFabric(*loaded, known);
  if (!fabric)
    return fabric.status();
  printNotes(fabric->topology.notes);
  return MachineInUnits{*std::move(loaded), *std::move(fabric)};
}

Result<Fabric> Problem::fabric(bool countsChunks) const {
  Result<MachineInUnits> loaded = inUnits(countsChunks);
  if (!loaded)
    return loaded.status();
  return std::move(loaded->fabric);
}

int runSolve(const SolveCommand &c) {
  if (!c.certificate.empty() && !c.sketch.empty())
    return fail("--certificate: expected no sketch, which narrows what is "
                "searched",
                Usage);
  Result<MachineInUnits> loaded = c.problem.inUnits(true);
  if (!loaded)
    return fail(loaded.status());
  auto &[machine, fabric] = *loaded;
  std::optional<Sketch> sketch;
  int chunks = c.problem.chunks;
  if (!c.sketch.empty()) {
    Result<std::string> text = readFile(c.sketch);
    if (!text)
      return fail(text.status());
    Result<Sketch> read =
        parseSketch(*text, c.sketch == "-" ? "<stdin>" : c.sketch);
    if (!read)
      return fail(read.status());
    sketch = std::move(*read);
    if (chunks == 0)
      chunks = sketchChunks(*sketch, c.problem.collective, fabric.ranks);
  }
  if (chunks == 0)
    return fail("expected --chunks, or a sketch with input_chunkup", Usage);
  Result<Collective> collective = c.problem.load(fabric, chunks);
  if (!collective)
    return fail(collective.status());
  SolveOptions options;
  options.engine = *parseEngine(c.engine);
  options.mode = c.mode == "direct"        ? ReduceMode::Direct
                 : c.mode == "composition" ? ReduceMode::Composition
                 : c.mode == "one-sum"     ? ReduceMode::OneSum
                                           : ReduceMode::Auto;
  options.seed = c.seed;
  options.limits = Limits::seconds(c.timeLimit, &interrupted);
  bool terminal = isatty(STDERR_FILENO) && !c.quiet;
  if (terminal)
    options.progress = [](const std::string &text) {
      std::cerr << "\r\033[K" << text << std::flush;
    };
  Result<SolveResult> result =
      sketch ? solveSketch(fabric, *collective, c.steps, c.rounds, *sketch,
                           options)
             : solve(fabric, *collective, c.steps, c.rounds, options);
  if (terminal)
    std::cerr << "\r\033[K" << std::flush;
  if (!result)
    return fail((sketch ? c.sketch + ": " : "") + result.message());
  std::string what = collective->name + " on " + fabric.topology.name + " (" +
                     std::to_string(collective->chunksPerNode) + "," +
                     std::to_string(c.steps) + "," + std::to_string(c.rounds) +
                     ")";
  if (result->answer == Answer::No) {
    std::cerr << what << ": none exists, by " << result->method << ": "
              << result->certificate << "\n";
    return c.certificate.empty()
               ? sayWhoProved(*result)
               : emitStepProof(c, machine, fabric, *collective, *result);
  }
  if (!c.certificate.empty())
    printNotes(
        {"--certificate: nothing is written, as " +
         std::string(result->answer == Answer::Yes ? "a schedule exists"
                                                   : "nothing was proved")});
  if (result->answer == Answer::Unknown) {
    std::cerr << what << ": "
              << (interrupted                ? "interrupted"
                  : options.limits.expired() ? "out of time"
                  : result->certificate.empty()
                      ? "undecided: the search tries no more than it did"
                      : "undecided: " + result->certificate)
              << "\n";
    return NoneFound;
  }
  if (!c.quiet)
    std::cerr << what << ": found by " << result->method << "; "
              << result->schedule.totalSends() << " sends; checked\n";
  return emit(c.output, writeSchedule(result->schedule, &fabric));
}

int runTopologies(const std::string &name, const ImportOptions &options,
                  const std::vector<std::string> &without,
                  const std::string &output) {
  if (name.empty()) {
    std::string text;
    for (const BuiltinTopology &t : builtinTopologies()) {
      std::string pattern = t.pattern;
      pattern.resize(std::max<size_t>(pattern.size() + 1, 20), ' ');
      text += pattern + t.summary + "\n";
    }
    return emit(output, text);
  }
  Result<Topology> topology = loadTopology(name, options);
  if (topology && !without.empty())
    topology = withoutParts(*topology, without);
  if (!topology)
    return fail(topology.status());
  printNotes(topology->notes);
  return emit(output, writeTopology(*topology));
}

/// Loads a schedule, and the fabric if one is named.
namespace {
struct Loaded {
  std::optional<Fabric> fabric;
  Schedule schedule;
};
} // namespace

static std::string placeOf(const std::string &file) {
  return file == "-" ? "<stdin>" : file;
}

static Result<Loaded> loadSchedule(const Problem &problem,
                                   const std::string &file,
                                   const Result<std::string> &text) {
  Loaded loaded;
  if (problem.topology.empty() && !problem.without.empty())
    return error("--without: expected a topology (-t), found none");
  if (!problem.topology.empty()) {
    Result<Fabric> fabric = problem.fabric();
    if (!fabric)
      return fabric.status();
    loaded.fabric = std::move(*fabric);
  }
  if (!text)
    return text.status();
  Result<Schedule> schedule = parseSchedule(
      *text, placeOf(file), loaded.fabric ? &*loaded.fabric : nullptr);
  if (!schedule)
    return schedule.status();
  loaded.schedule = std::move(*schedule);
  return loaded;
}

static int checkXml(const std::string &text, const std::string &file) {
  Result<MscclProgram> program = parseMsccl(text, file);
  if (!program)
    return fail(program.status());
  printNotes(program->notes);
  std::string wrong = checkMsccl(*program);
  if (!wrong.empty())
    return fail(file + ": " + wrong);
  std::cout << file << ": correct " << kindName(program->kind) << " on "
            << program->gpus.size() << " ranks, MSCCL program \""
            << program->name << "\"\n";
  return Done;
}

/// Gives every send its first way and every step the rounds it needs.
static std::string fitTo(Schedule &schedule, const Fabric &fabric) {
  if (fabric.ranks != schedule.collective.ranks)
    return "expected the topology's " + std::to_string(fabric.ranks) +
           " ranks, found " + std::to_string(schedule.collective.ranks);
  return placeOn(schedule, fabric);
}

static int emitPlan(const ConvertCommand &c, const std::string &where,
                    const Plan &plan) {
  if (c.to != "mscclpp-legacy")
    return emit(c.output, writePlan(plan));
  Result<std::string> legacy = writeLegacyPlan(plan);
  if (!legacy)
    return fail(where + ": " + legacy.message());
  return emit(c.output, *legacy);
}

int runConvert(const ConvertCommand &c) {
  Result<std::string> text = readFile(c.input);
  if (!text)
    return fail(text.status());
  std::string where = placeOf(c.input);
  if (c.to == "schedule") {
    Result<Schedule> schedule = importSchedule(*text, where);
    if (!schedule)
      return fail(schedule.status());
    if (c.problem.topology.empty())
      return emit(c.output, writeSchedule(*schedule));
    Result<Fabric> fabric = c.problem.fabric();
    if (!fabric)
      return fail(fabric.status());
    std::string wrong = fitTo(*schedule, *fabric);
    if (!wrong.empty())
      return fail(where + ": " + wrong);
    return emit(c.output, writeSchedule(*schedule, &*fabric));
  }
  if (!c.problem.topology.empty())
    return fail(
        "--topology: expected with --to schedule only, as files of other "
        "formats name no links",
        Usage);
  bool toPlan = c.to.starts_with("mscclpp");
  if (toPlan && isPlan(*text)) {
    Result<Plan> plan = parsePlan(*text, where);
    if (!plan)
      return fail(plan.status());
    if (!c.name.empty())
      plan->name = c.name;
    return emitPlan(c, where, *plan);
  }
  MscclDialect dialect = c.to == "msccl"         ? MscclDialect::Microsoft
                         : c.to == "msccl-azure" ? MscclDialect::Azure
                                                 : MscclDialect::Rccl;
  if (isXml(*text) && !toPlan) {
    Result<MscclProgram> program = parseMsccl(*text, where);
    if (!program)
      return fail(program.status());
    printNotes(program->notes);
    if (!c.name.empty())
      program->name = c.name;
    return emit(c.output, writeMsccl(*program, dialect));
  }
  Result<Schedule> schedule = importSchedule(*text, where);
  if (!schedule)
    return fail(schedule.status());
  std::string name =
      c.name.empty() ? "ccn_" + schedule->collective.name : c.name;
  if (toPlan) {
    Result<Plan> plan = exportPlan(*schedule, name,
                                   c.to == "mscclpp-ll" ? PlanProtocol::LL
                                                        : PlanProtocol::Simple);
    if (!plan)
      return fail(where + ": " + plan.message());
    return emitPlan(c, where, *plan);
  }
  Result<MscclProgram> program = exportMsccl(*schedule, name);
  if (!program)
    return fail(where + ": " + program.message());
  return emit(c.output, writeMsccl(*program, dialect));
}

static int checkPlanFile(const std::string &text, const std::string &file) {
  Result<Plan> plan = parsePlan(text, file);
  if (!plan)
    return fail(plan.status());
  std::string wrong = checkPlan(*plan);
  if (!wrong.empty())
    return fail(file + ": " + wrong);
  std::cout << file << ": correct " << kindName(plan->kind) << " on "
            << plan->gpus.size() << " ranks, MSCCL++ plan \"" << plan->name
            << "\"\n";
  return Done;
}

int runCheck(const Problem &problem, const std::string &file) {
  Result<std::string> text = readFile(file);
  if (!text)
    return fail(text.status());
  if (isCertificate(*text))
    return checkCertificate(problem, *text, placeOf(file));
  bool plan = isPlan(*text);
  if (plan || isXml(*text)) {
    if (!problem.topology.empty())
      return fail("--topology: an " +
                      std::string(plan ? "MSCCL++ plan" : "MSCCL program") +
                      " names no links to check",
                  Usage);
    return plan ? checkPlanFile(*text, placeOf(file))
                : checkXml(*text, placeOf(file));
  }
  Result<Loaded> loaded = loadSchedule(problem, file, text);
  if (!loaded)
    return fail(loaded.status());
  const Schedule &s = loaded->schedule;
  std::string wrong = check(s, loaded->fabric ? &*loaded->fabric : nullptr);
  if (!wrong.empty())
    return fail(file + ": " + wrong);
  std::cout << file << ": correct " << s.collective.name << " on "
            << s.collective.ranks << " ranks, " << s.steps.size() << " steps, "
            << s.totalRounds() << " rounds, " << s.totalSends() << " sends"
            << (loaded->fabric ? ", within the capacities of " +
                                     loaded->fabric->topology.name
                               : "")
            << "\n";
  return Done;
}

/// "1024", "64KB", "1MB", "2GiB" in bytes; negative on a bad text.
static double parseSize(const std::string &text) {
  size_t end = 0;
  double value = -1;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception &) {
    return -1;
  }
  static const std::map<std::string, double> units = {
      {"", 1},     {"B", 1},       {"KB", 1e3},       {"MB", 1e6},
      {"GB", 1e9}, {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.},
  };
  auto it = units.find(text.substr(end));
  if (it == units.end() || !(value > 0) || !std::isfinite(value * it->second))
    return -1;
  return value * it->second;
}

Result<std::vector<double>> parseSizes(const std::vector<std::string> &sizes) {
  std::vector<double> bytes;
  for (const std::string &size : sizes) {
    bytes.push_back(parseSize(size));
    if (bytes.back() < 0)
      return error(
          "--size: expected a size like 65536, 64KB or 1GiB, found \"" + size +
          "\"");
  }
  return bytes;
}

int printTimes(const Schedule &schedule, const Fabric &fabric,
               const std::vector<double> &bytes) {
  std::printf("%14s %16s %16s %12s\n", "bytes", "stepwise us", "event us",
              "algbw GB/s");
  for (double b : bytes) {
    Result<Timing> timing = simulate(schedule, fabric, b);
    if (!timing)
      return fail(timing.status());
    std::printf("%14.0f %16.3f %16.3f %12.3f\n", b, timing->stepwiseUs,
                timing->eventUs,
                timing->eventUs > 0 ? b / timing->eventUs / 1000 : 0.0);
  }
  return Done;
}

int drawGantt(const std::string &path, const Schedule &schedule,
              const Fabric &fabric, const std::vector<double> &bytes) {
  if (path.empty())
    return Done;
  Result<std::string> svg =
      ganttSvg(schedule, fabric, bytes.empty() ? 1e6 : bytes.back());
  return svg ? emit(path, *svg) : fail(svg.status(), NoneFound);
}

int runSimulate(const Problem &problem, const std::string &file,
                const std::vector<std::string> &sizes, const std::string &gantt,
                bool explains) {
  Result<std::vector<double>> bytes = parseSizes(sizes);
  if (!bytes)
    return fail(bytes.status(), Usage);
  Result<Loaded> loaded = loadSchedule(problem, file, readFile(file));
  if (!loaded)
    return fail(loaded.status());
  std::string wrong = check(loaded->schedule, &*loaded->fabric);
  if (!wrong.empty())
    return fail(file + ": " + wrong);
  if (int code = printTimes(loaded->schedule, *loaded->fabric, *bytes))
    return code;
  if (explains)
    std::cout << explain(loaded->schedule, *loaded->fabric, bytes->back())
              << std::flush;
  return drawGantt(gantt, loaded->schedule, *loaded->fabric, *bytes);
}

int runPareto(ParetoCommand &c) {
  if (int code =
          checkOutputs(c.output, "points", c.certificate, "certificates"))
    return code;
  Result<MachineInUnits> loaded = c.problem.inUnits(true);
  if (!loaded)
    return fail(loaded.status());
  auto &[machine, fabric] = *loaded;
  ParetoOptions &options = c.options;
  options.solve.engine = *parseEngine(c.engine);
  options.solve.limits = Limits::seconds(c.timeLimit, &interrupted);
  if (!c.problem.groupTexts.empty())
    options.granule = c.problem.granule(fabric.ranks);
  if (!c.resume.empty()) {
    Result<std::string> text = readFile(c.resume);
    if (!text)
      return fail(text.status());
    Result<std::vector<ParetoPoint>> known =
        parsePareto(*text, c.resume, fabric);
    if (!known)
      return fail(known.status());
    options.known = std::move(*known);
  }
  bool terminal = isatty(STDERR_FILENO) && !c.quiet;
  if (terminal)
    options.solve.progress = [](const std::string &text) {
      std::cerr << "\r\033[K" << text << std::flush;
    };
  Result<ParetoResult> result = paretoFrontier(
      fabric, [&](int chunks) { return c.problem.loadTimes(fabric, chunks); },
      options);
  if (terminal)
    std::cerr << "\r\033[K" << std::flush;
  if (!result)
    return fail(result.status());
  // A list of certificates on standard output stands there alone.
  int code = c.certificate == "-" ? static_cast<int>(Done)
                                  : emit("", paretoTable(*result, fabric));
  if (code == Done && !c.output.empty())
    code = emit(c.output, paretoJson(*result, fabric));
  if (code == Done && !c.certificate.empty())
    code = emitRateProofs(c, machine, fabric, *result);
  if (code == Done && !c.plot.empty()) {
    Result<std::string> svg = paretoSvg(*result, fabric);
    if (!svg)
      return fail(svg.status(), NoneFound);
    code = emit(c.plot, *svg);
  }
  return code == Done && result->points.empty() ? NoneFound : code;
}

} // namespace ccn::synth
