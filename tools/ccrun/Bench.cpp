//===- Bench.cpp - Times and bytes of runs --------------------------------===//
//
// Times are measured by the ranks; bytes are what the plan's views say.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iomanip>
#include <ostream>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// The time of each timed run, in seconds.
std::vector<double> secondsOf(RunMemory &memory) {
  const RunTask &task = memory.task();
  std::vector<double> seconds;
  for (int run = 0; run < task.timedRuns; ++run) {
    int64_t begin = INT64_MAX, end = INT64_MIN;
    for (int rank = 0; rank < task.ranks; ++rank) {
      begin = std::min(begin, memory.time(rank, run).begin);
      end = std::max(end, memory.time(rank, run).end);
    }
    seconds.push_back(static_cast<double>(end - begin) * 1e-9);
  }
  return seconds;
}

struct Summary {
  double median, least, most;
};

Summary summarize(const std::vector<double> &seconds) {
  auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  return {median(seconds), *least, *most};
}

/// On GPUs: the time of a run that launches its kernels without a graph, on the
/// slowest rank.
double launchedSeconds(RunMemory &memory) {
  double most = 0;
  for (int rank = 0; rank < memory.task().ranks; ++rank)
    most = std::max(most, memory.report(rank).launchedSeconds);
  return most;
}

} // namespace

double ccn::median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t half = values.size() / 2;
  return values.size() % 2 ? values[half]
                           : (values[half - 1] + values[half]) / 2;
}

double ccn::medianSeconds(RunMemory &memory) {
  return median(secondsOf(memory));
}

void ccn::printBench(std::ostream &os, RunMemory &memory) {
  const RunTask &task = memory.task();
  Summary summary = summarize(secondsOf(memory));
  auto milliseconds = [&](double seconds) {
    os << std::setw(14) << std::fixed << std::setprecision(task.onGpus ? 5 : 3)
       << seconds * 1e3;
  };
  os << "time of a run in ms, of " << task.timedRuns;
  if (task.onGpus)
    os << " replays of a graph of " << task.runsPerGraph << " runs\n";
  else
    os << " after " << task.runs - task.timedRuns << " to warm up\n";
  os << std::setw(14) << "median" << std::setw(14) << "min" << std::setw(14)
     << "max" << "\n";
  milliseconds(summary.median);
  milliseconds(summary.least);
  milliseconds(summary.most);
  if (task.onGpus) {
    os << "\nlaunched rather than replayed, median\n";
    milliseconds(launchedSeconds(memory));
    os << "\n";
    return;
  }
  os << "\nbytes that a run moves\n"
     << std::setw(6) << "rank" << std::setw(18) << "own memory" << std::setw(18)
     << "read remotely" << std::setw(18) << "written remotely"
     << "\n";
  for (int rank = 0; rank < task.ranks; ++rank) {
    const RankReport &report = memory.report(rank);
    os << std::setw(6) << rank << std::setw(18) << report.moved.own
       << std::setw(18) << report.moved.remoteRead << std::setw(18)
       << report.moved.remoteWritten << "\n";
  }
}

Status ccn::writeBench(const std::string &path, const Package &package,
                       RunMemory &memory, const std::string &ranksAre) {
  const RunTask &task = memory.task();
  std::vector<double> seconds = secondsOf(memory);
  Summary summary = summarize(seconds);
  nlohmann::ordered_json json = {{"program", package.program},
                                 {"schedule", package.schedule},
                                 {"hash", package.hash},
                                 {"variant", task.variant},
                                 {"target", task.onGpus ? "cuda" : "cpu"},
                                 {"ranks", task.ranks},
                                 {"ranksAre", ranksAre},
                                 {"warmUpRuns", task.runs - task.timedRuns},
                                 {"seconds",
                                  {{"median", summary.median},
                                   {"min", summary.least},
                                   {"max", summary.most},
                                   {"all", seconds}}},
                                 {"bytes", nlohmann::ordered_json::array()}};
  if (task.onGpus) {
    json["runsPerGraph"] = task.runsPerGraph;
    json["launchedSeconds"] = launchedSeconds(memory);
    for (const char *key : {"bytes", "warmUpRuns"})
      json.erase(key);
  }
  for (int rank = 0; rank < task.ranks && !task.onGpus; ++rank) {
    const RankReport &report = memory.report(rank);
    json["bytes"].push_back({{"rank", rank},
                             {"own", report.moved.own},
                             {"remoteRead", report.moved.remoteRead},
                             {"remoteWritten", report.moved.remoteWritten}});
  }
  std::string text =
      json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  return writeFileAtomically(path, {text, "\n"});
}
