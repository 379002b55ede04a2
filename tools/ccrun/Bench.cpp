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

/// Of each timed run, in seconds.
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

Summary summarize(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  size_t half = seconds.size() / 2;
  double median = seconds.size() % 2 ? seconds[half]
                                     : (seconds[half - 1] + seconds[half]) / 2;
  return {median, seconds.front(), seconds.back()};
}

} // namespace

void ccn::printBench(std::ostream &os, RunMemory &memory) {
  const RunTask &task = memory.task();
  Summary summary = summarize(secondsOf(memory));
  auto milliseconds = [&](double seconds) {
    os << std::setw(14) << std::fixed << std::setprecision(3) << seconds * 1e3;
  };
  os << "time of a run in ms, of " << task.timedRuns << " after "
     << task.runs - task.timedRuns << " to warm up\n"
     << std::setw(14) << "median" << std::setw(14) << "min" << std::setw(14)
     << "max" << "\n";
  milliseconds(summary.median);
  milliseconds(summary.least);
  milliseconds(summary.most);
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
                                 {"target", package.target},
                                 {"ranks", task.ranks},
                                 {"ranksAre", ranksAre},
                                 {"warmUpRuns", task.runs - task.timedRuns},
                                 {"seconds",
                                  {{"median", summary.median},
                                   {"min", summary.least},
                                   {"max", summary.most},
                                   {"all", seconds}}},
                                 {"bytes", nlohmann::ordered_json::array()}};
  for (int rank = 0; rank < task.ranks; ++rank) {
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
