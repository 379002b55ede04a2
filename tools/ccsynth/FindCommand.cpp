//===- FindCommand.cpp - ccsynth find -------------------------------------===//
//
// Progress, the table of engines, and the schedule.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "synth/Certificate.h"
#include "synth/Explain.h"
#include "synth/Find.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unistd.h>

namespace ccn::synth {

namespace {

/// Says on standard error what runs and what is best so far: on a terminal in
/// one line that is written again and again, else a line a second at most, when
/// the best has changed.
class ProgressLine {
public:
  void show(const FindProgress &progress) {
    double interval = terminal ? 0.1 : 1;
    if (progress.seconds - shownAt < interval ||
        (!terminal && progress.bestUs == shownUs))
      return;
    shownAt = progress.seconds;
    shownUs = progress.bestUs;
    char text[160];
    std::snprintf(text, sizeof text, "%.0f s: ", progress.seconds);
    std::string line = text;
    if (progress.bestUs > 0) {
      std::snprintf(text, sizeof text, "best %.3f us", progress.bestUs);
      line += text + (" by " + progress.bestMethod);
    } else {
      line += "none yet";
    }
    if (progress.boundUs > 0) {
      std::snprintf(text, sizeof text, ", bound %.3f us", progress.boundUs);
      line += text;
    }
    if (progress.boundUs > 0 && progress.bestUs > 0) {
      std::snprintf(text, sizeof text, " (%.2f %% above)",
                    100 *
                        std::max(0.0, progress.bestUs / progress.boundUs - 1));
      line += text;
    }
    if (terminal) {
      std::string running;
      for (const std::string &engine : progress.running)
        running += (running.empty() ? "; running " : ", ") + engine;
      std::cerr << "\r\033[K" << line + running << std::flush;
    } else {
      std::cerr << line << "\n";
    }
  }
  void clear() const {
    if (terminal)
      std::cerr << "\r\033[K" << std::flush;
  }

private:
  const bool terminal = isatty(STDERR_FILENO);
  double shownAt = 0, shownUs = 0;
};

} // namespace

static void printFound(const FindCommand &c, const FindResult &result,
                       double bytes) {
  const FoundSchedule &best = result.found.front();
  if (!c.quiet)
    for (const FoundSchedule &found : result.found)
      std::fprintf(stderr, "%14.3f us  %s\n", found.us, found.method.c_str());
  const Schedule &schedule = best.schedule;
  std::fprintf(stderr,
               "%s on %s, %.0f bytes: %.3f us (%.3f GB/s) by %s; %d chunks a "
               "node, %zu steps, %d rounds, %d sends; checked\n",
               schedule.collective.name.c_str(),
               best.fabric->topology.name.c_str(), bytes, best.us,
               best.us > 0 ? bytes / best.us / 1000 : 0.0, best.method.c_str(),
               schedule.collective.chunksPerNode, schedule.steps.size(),
               schedule.totalRounds(), schedule.totalSends());
  if (result.boundUs > 0)
    std::fprintf(stderr,
                 "no schedule takes less than %.3f us (%s): %.2f %% "
                 "above the bound\n",
                 result.boundUs, result.bound.c_str(),
                 100 * std::max(0.0, best.us / result.boundUs - 1));
  if (result.outOfTime)
    std::fprintf(stderr, "%s: engines that had not ended might find better\n",
                 interrupted ? "interrupted" : "out of time");
}

/// Writes what proves the bound, as far as it is proved.
static int emitFindCertificate(const FindCommand &c, const Topology &machine,
                               const Fabric &fabric, const FindResult &result,
                               double bytes) {
  Result<Collective> collective =
      c.problem.loadTimes(fabric, c.problem.granule(fabric.ranks));
  if (!collective)
    return fail(collective.status());
  Certificate certificate;
  certificate.topology = machine;
  certificate.collective = std::move(*collective);
  certificate.cut = result.proof.cut;
  certificate.countsSends = result.proof.countsSends;
  certificate.lengths = result.proof.lengths;
  certificate.prices = result.proof.prices;
  certificate.latencyFrom = result.proof.latencyFrom;
  certificate.latencyTo = result.proof.latencyTo;
  certificate.bytes = bytes;
  certificate.leastUsPerGB = provedUsPerGB(certificate);
  certificate.leastUs = std::min(result.boundUs, provedUs(certificate));
  constexpr double rounding = 1 - 1e-9;
  if (certificate.leastUs < result.boundUs * rounding)
    std::cerr << "ccsynth: note: the certificate proves " << certificate.leastUs
              << " us only\n";
  return emit(c.certificate, writeCertificate(certificate));
}

int runFind(const FindCommand &c) {
  Result<std::vector<double>> bytes = parseSizes({c.size});
  if (!bytes)
    return fail(bytes.message(), Usage);
  if (int code = checkOutputs(c.output.empty() ? "-" : c.output, "schedule",
                              c.certificate, "certificate"))
    return code;
  // Every engine reads them anew.
  if (c.problem.counts == "-" || c.problem.collective == "-")
    return fail("expected a file with the collective's " +
                    std::string(c.problem.counts == "-" ? "counts" : "chunks") +
                    ", found standard input",
                Usage);
  Result<MachineInUnits> loaded = c.problem.inUnits();
  if (!loaded)
    return fail(loaded.message());
  auto &[machine, fabric] = *loaded;
  FindOptions options;
  options.bytes = bytes->front();
  options.limits = Limits::seconds(c.timeLimit, &interrupted);
  options.threads = c.threads;
  options.seed = c.seed;
  Result<Groups> groups = c.problem.parseGroups(fabric.ranks);
  if (!groups)
    return fail(groups.status());
  options.groups = *groups;
  options.groupKind = parseCollectiveKind(c.problem.collective)
                          .value_or(CollectiveKind::Custom);
  ProgressLine line;
  if (!c.quiet)
    options.progress = [&](const FindProgress &progress) {
      line.show(progress);
    };
  // Engines that go on after all else has ended keep a copy.
  Problem problem = c.problem;
  auto shared = std::make_shared<const Fabric>(fabric);
  Result<FindResult> result = findSchedule(
      fabric,
      [problem, shared](int k) { return problem.loadTimes(*shared, k); },
      options);
  if (!c.quiet)
    line.clear();
  // Engines that have not ended must not lose what they use.
  auto leave = [](int code) {
    std::cout << std::flush;
    std::cerr << std::flush;
    std::_Exit(code);
  };
  if (!result)
    leave(fail(result.message(),
               result.message().find("(a bug)") == std::string::npos
                   ? InputWrong
                   : Failed));
  int code = NoneFound;
  if (result->found.empty()) {
    std::cerr << c.problem.collective << " on " << fabric.topology.name
              << ": none found"
              << (!result->outOfTime ? ""
                  : interrupted      ? ": interrupted"
                                     : ": out of time")
              << "\n";
  } else {
    printFound(c, *result, bytes->front());
    const FoundSchedule &best = result->found.front();
    code = emit(c.output, writeSchedule(best.schedule, best.fabric.get()));
    if (c.explains)
      std::cerr << explain(best.schedule, *best.fabric, bytes->front());
    if (code == Done)
      code = drawGantt(c.gantt, best.schedule, *best.fabric, *bytes);
    if (code == Done && !c.certificate.empty())
      code = emitFindCertificate(c, machine, fabric, *result, bytes->front());
  }
  if (result->stillRunning)
    leave(code);
  return code;
}

} // namespace ccn::synth
