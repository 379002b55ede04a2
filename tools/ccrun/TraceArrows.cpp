//===- TraceArrows.cpp - Which rank waited for which ----------------------===//
//
// What meets is found by the plan: the same barrier of a launch, of one group;
// a flag.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/TraceArrows.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// What a part is in the plan; null for what is not there.
const Part *partOf(const Plan &plan, const TracedPart &traced) {
  if (traced.rank < 0 || static_cast<size_t>(traced.rank) >= plan.ranks.size())
    return nullptr;
  const auto &launches = plan.ranks[static_cast<size_t>(traced.rank)].launches;
  if (traced.launch < 0 ||
      static_cast<size_t>(traced.launch) >= launches.size())
    return nullptr;
  const auto &parts = launches[static_cast<size_t>(traced.launch)].parts;
  if (traced.part < 0 || static_cast<size_t>(traced.part) >= parts.size())
    return nullptr;
  return &parts[static_cast<size_t>(traced.part)];
}

/// The run, the launch, the group, and which of the group's barriers it is.
using Meeting = std::tuple<uint64_t, int, int, int>;
/// The run, who sets a flag, whose flag it is, and which.
using Flag = std::tuple<uint64_t, int, int, int64_t>;

Meeting meetingOf(const Plan &plan, const TracedPart &traced, int group) {
  const auto &parts = plan.ranks[static_cast<size_t>(traced.rank)]
                          .launches[static_cast<size_t>(traced.launch)]
                          .parts;
  int before = 0;
  for (int i = 0; i < traced.part; ++i) {
    const auto *other =
        std::get_if<BarrierPart>(&parts[static_cast<size_t>(i)]);
    before += other && other->group == group;
  }
  return {traced.run, traced.launch, group, before};
}

} // namespace

std::vector<TraceArrow> ccn::findArrows(const Plan &plan,
                                        const std::vector<TracedPart> &parts) {
  std::map<Meeting, std::vector<const TracedPart *>> meetings;
  std::map<Flag, const TracedPart *> signals;
  std::vector<std::pair<Flag, const TracedPart *>> awaits;
  for (const TracedPart &traced : parts) {
    const Part *part = partOf(plan, traced);
    if (!part)
      continue;
    if (const auto *barrier = std::get_if<BarrierPart>(part))
      meetings[meetingOf(plan, traced, barrier->group)].push_back(&traced);
    else if (const auto *signal = std::get_if<SignalPart>(part))
      signals[{traced.run, traced.rank, signal->rank, signal->flag}] = &traced;
    else if (const auto *await = std::get_if<AwaitPart>(part))
      awaits.push_back(
          {{traced.run, await->rank, traced.rank, await->flag}, &traced});
  }
  std::vector<TraceArrow> arrows;
  for (const auto &[meeting, members] : meetings) {
    const TracedPart *last = *std::max_element(
        members.begin(), members.end(),
        [](const auto *a, const auto *b) { return a->begin < b->begin; });
    for (const TracedPart *member : members)
      if (member != last && member->end >= last->begin)
        arrows.push_back({*last, *member, last->begin, member->end});
  }
  for (const auto &[flag, await] : awaits) {
    auto signal = signals.find(flag);
    // One that was set before is not waited for.
    if (signal != signals.end() && signal->second->end > await->begin &&
        signal->second->end <= await->end)
      arrows.push_back(
          {*signal->second, *await, signal->second->end, await->end});
  }
  std::sort(arrows.begin(), arrows.end(), [](const auto &a, const auto &b) {
    return std::tie(a.begin, a.end, a.to.rank) <
           std::tie(b.begin, b.end, b.to.rank);
  });
  return arrows;
}
