//===- SumSchedules.cpp - The order in which a collective adds ------------===//
//
// Reads each schedule once, for all ranks and runs.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/SumSchedules.h"

#include "dialect/ccn/Choices.h"
#include "synth/interop/ScheduleImport.h"

#include <map>
#include <mutex>

namespace ccn::interp {

std::optional<int> SumSchedule::resultAt(int chunk, int64_t position) const {
  auto index = static_cast<size_t>(chunk);
  const std::vector<int> &takers = collective.chunks[index].post;
  auto taker = llvm::find(takers, static_cast<int>(position));
  if (taker == takers.end())
    return std::nullopt;
  return chunks[index].results[static_cast<size_t>(taker - takers.begin())];
}

static std::shared_ptr<const SumSchedule>
sumsOf(const synth::Schedule &schedule) {
  auto sums = std::make_shared<SumSchedule>();
  sums->collective = schedule.collective;
  for (size_t chunk = 0; chunk < schedule.collective.chunks.size(); ++chunk)
    sums->chunks.push_back(synth::sumsOf(schedule, static_cast<int>(chunk)));
  return sums;
}

/// The symbol of a collective's schedule, or the name of the ring algorithm;
/// null if the collective adds in the order of the ranks.
static mlir::Attribute scheduleOf(CollectiveOpInterface op) {
  mlir::Attribute algorithm = choiceFor(op, kAlgorithmAttr);
  auto name = llvm::dyn_cast_or_null<mlir::StringAttr>(algorithm);
  bool isOther = name && name.getValue() != stringifyAlgorithm(Algorithm::ring);
  return op.getReduction() && !isOther ? algorithm : mlir::Attribute();
}

bool addsBySchedule(CollectiveOpInterface op) {
  return scheduleOf(op) != nullptr;
}

bool addsBySchedule(OverlappedOp region) {
  return region
      ->walk([](CollectiveOpInterface op) {
        return addsBySchedule(op) ? mlir::WalkResult::interrupt()
                                  : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

Result<std::shared_ptr<const SumSchedule>> findSums(CollectiveOpInterface op,
                                                    int64_t ranks) {
  using Sums = std::shared_ptr<const SumSchedule>;
  mlir::Attribute algorithm = scheduleOf(op);
  if (!algorithm || ranks < 2)
    return Sums();
  std::string text;
  if (auto symbol = llvm::dyn_cast<mlir::FlatSymbolRefAttr>(algorithm)) {
    auto module = op->getParentOfType<mlir::ModuleOp>();
    for (auto other : module.getOps<AlgorithmOp>())
      if (other.getSymName() == symbol.getValue())
        text = other.getSchedule();
    if (text.empty())
      return error("internal error: there is no algorithm '",
                   symbol.getValue().str(), "'");
  }
  std::string what = stringifyCollective(op.getCollective()).str();
  static std::mutex mutex;
  static std::map<std::string, Sums> known;
  std::lock_guard lock(mutex);
  Sums &sums = known[what + " " + std::to_string(ranks) + " " + text];
  if (sums)
    return sums;
  if (text.empty()) {
    sums = sumsOf(synth::ringSchedule(*synth::parseCollectiveKind(what),
                                      static_cast<int>(ranks)));
    return sums;
  }
  Result<synth::Schedule> schedule =
      synth::importSchedule(std::string_view(text), what);
  if (!schedule)
    return error(schedule.message());
  if (schedule->collective.ranks != ranks)
    return error("internal error: an algorithm of ", schedule->collective.ranks,
                 " ranks for ", ranks);
  sums = sumsOf(*schedule);
  return sums;
}

} // namespace ccn::interp
