//===- PrintPrediction.cpp - Predictions for people and tools -------------===//

#include "codegen/predict/Predict.h"

#include "lib/CostModel/CostModel.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <map>

using namespace ccn;
using namespace ccn::codegen;
namespace json = llvm::json;

namespace {

/// A line of the table: launches of one name that are bound by the same.
struct Line {
  std::string name;
  Bound bound;
  int count = 0;
  double us = 0, memoryBytes = 0, linkBytes = 0, flops = 0;
};

/// Of each launch the rank for which it takes longest.
std::vector<const PredictedLaunch *> slowest(const Prediction &prediction) {
  std::vector<const PredictedLaunch *> launches;
  for (const PredictedLaunch &launch : prediction.launches) {
    auto index = static_cast<size_t>(launch.index);
    if (index >= launches.size())
      launches.resize(index + 1);
    const PredictedLaunch *&best = launches[index];
    if (!best || launch.us() > best->us() + 1e-9)
      best = &launch;
  }
  return launches;
}

std::string describeFlops(double flops) {
  if (flops < 1)
    return "-";
  constexpr const char *units[] = {"", "k", "M", "G", "T", "P"};
  size_t unit = 0;
  for (; flops >= 999.5 && unit + 1 < std::size(units); ++unit)
    flops /= 1000;
  return llvm::formatv("{0:f1} {1}", flops, units[unit]);
}

/// Thousandths are more than predictions are good for.
double rounded(double number) { return std::round(number * 1000) / 1000; }

std::string printed(json::Value value) {
  return llvm::formatv("{0}", std::move(value));
}

/// Names may be no UTF-8.
std::string utf8(llvm::StringRef text) { return json::fixUTF8(text); }

} // namespace

std::string codegen::printTable(const Prediction &prediction) {
  std::vector<Line> lines;
  for (const PredictedLaunch *launch : slowest(prediction)) {
    auto found = llvm::find_if(lines, [&](const Line &line) {
      return line.name == launch->name && line.bound == launch->times.bound();
    });
    if (found == lines.end())
      found = lines.insert(lines.end(), {launch->name, launch->times.bound()});
    ++found->count;
    found->us += launch->us();
    found->memoryBytes += launch->memoryBytes;
    found->linkBytes += launch->linkBytes;
    found->flops += launch->flops;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("predicted for {0} ({1} rank{2}): {3:f2} us a run\n",
                      prediction.machine, prediction.ranks,
                      prediction.ranks == 1 ? "" : "s", prediction.totalUs);
  os << llvm::formatv("{0,10}  {1,-12}  {2,8}  {3,8}  {4,7}  {5}\n", "us",
                      "bound by", "memory", "links", "flop", "launch");
  for (const Line &line : lines)
    os << llvm::formatv(
        "{0,10:f2}  {1,-12}  {2,8}  {3,8}  {4,7}  {5}{6}\n", line.us,
        nameOf(line.bound), describeBytes(line.memoryBytes),
        describeBytes(line.linkBytes), describeFlops(line.flops),
        line.count > 1 ? std::to_string(line.count) + " x " : "", line.name);
  return text;
}

std::string codegen::printJson(const Prediction &prediction) {
  json::Array launches;
  for (const PredictedLaunch &launch : prediction.launches) {
    json::Object bounds;
    for (size_t i = 0; i < boundCount; ++i)
      if (launch.times.us[i] > 0)
        bounds[nameOf(static_cast<Bound>(i))] = rounded(launch.times.us[i]);
    launches.push_back(
        json::Object{{"rank", launch.rank},
                     {"index", launch.index},
                     {"stream", launch.stream},
                     {"name", utf8(launch.name)},
                     {"begin_us", rounded(launch.times.begin)},
                     {"end_us", rounded(launch.times.end)},
                     {"bound_by", nameOf(launch.times.bound())},
                     {"us", std::move(bounds)},
                     {"memory_bytes", std::round(launch.memoryBytes)},
                     {"link_bytes", std::round(launch.linkBytes)},
                     {"flops", std::round(launch.flops)}});
  }
  json::Object all{{"program", utf8(prediction.program)},
                   {"machine", prediction.machine},
                   {"measured_on", utf8(prediction.measuredOn)},
                   {"ranks", prediction.ranks},
                   {"total_us", rounded(prediction.totalUs)},
                   {"stream_us", rounded(prediction.streamUs)},
                   {"launches", std::move(launches)}};
  return llvm::formatv("{0:2}\n", json::Value(std::move(all)));
}

std::string codegen::printTrace(const Prediction &prediction) {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  std::map<std::pair<int, int>, bool> named;
  auto nameIt = [&](const char *kind, int rank, int stream,
                    const std::string &name) {
    text += printed(json::Object{{"ph", "M"},
                                 {"name", kind},
                                 {"pid", rank},
                                 {"tid", stream},
                                 {"args", json::Object{{"name", name}}}}) +
            ",\n";
  };
  for (const PredictedLaunch &launch : prediction.launches) {
    if (named.lower_bound({launch.rank, 0}) == named.end())
      nameIt("process_name", launch.rank, 0,
             "rank " + std::to_string(launch.rank));
    if (named.try_emplace({launch.rank, launch.stream}, true).second)
      nameIt("thread_name", launch.rank, launch.stream,
             "stream " + std::to_string(launch.stream));
    text += printed(json::Object{
                {"ph", "X"},
                {"pid", launch.rank},
                {"tid", launch.stream},
                {"name", utf8(launch.name)},
                {"cat", "launch"},
                {"ts", rounded(launch.times.begin)},
                {"dur", rounded(launch.us())},
                {"args",
                 json::Object{{"index", launch.index},
                              {"bound_by", nameOf(launch.times.bound())}}}}) +
            ",\n";
  }
  if (text.ends_with(",\n"))
    text.erase(text.size() - 2);
  return text + "\n]}\n";
}
