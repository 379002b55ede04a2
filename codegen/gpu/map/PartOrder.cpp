//===- PartOrder.cpp - The order of a plan's parts ------------------------===//
//
// Finds what comes after a part, from launch to launch and from rank to rank.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/PartOrder.h"

#include "codegen/gpu/map/LaunchBarriers.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

PartOrder::PartOrder(const Plan &plan) : plan(plan) {
  for (auto [rank, own] : llvm::enumerate(plan.ranks)) {
    auto &ofRank = barriers.emplace_back(own.launches.size());
    auto &after = next.emplace_back(own.launches.size());
    std::map<int, size_t> latest;
    for (auto [l, launch] : llvm::enumerate(own.launches)) {
      if (auto it = latest.find(launch.stream); it != latest.end())
        after[it->second].push_back(l);
      latest[launch.stream] = l;
      for (int before : launch.waits)
        after[static_cast<size_t>(before)].push_back(l);
      for (auto [i, part] : llvm::enumerate(launch.parts))
        if (isBarrier(part))
          ofRank[l].push_back(i);
        else if (const auto *await = std::get_if<AwaitPart>(&part))
          awaits[{await->rank, static_cast<int>(rank), await->flag}] = {
              static_cast<int>(rank), l, i};
    }
  }
}

PartOrder::Later PartOrder::findLater(const PartPlace &place) const {
  constexpr size_t none = std::numeric_limits<size_t>::max();
  Later found;
  for (const RankPlan &own : plan.ranks)
    found.emplace_back(own.launches.size(), none);
  std::vector<std::pair<PartPlace, size_t>> open;
  auto reach = [&](int rank, size_t launch, size_t part) {
    size_t &from = found[static_cast<size_t>(rank)][launch];
    if (part < from)
      open.emplace_back(PartPlace{rank, launch, part},
                        std::exchange(from, part));
  };
  reach(place.rank, place.launch, place.part + 1);
  while (!open.empty()) {
    auto [at, end] = open.back();
    open.pop_back();
    auto rank = static_cast<size_t>(at.rank);
    const std::vector<Part> &parts = plan.ranks[rank].launches[at.launch].parts;
    for (size_t i = at.part; i < std::min(end, parts.size()); ++i) {
      if (const auto *signal = std::get_if<SignalPart>(&parts[i])) {
        auto await = awaits.find({at.rank, signal->rank, signal->flag});
        if (await != awaits.end())
          reach(await->second.rank, await->second.launch,
                await->second.part + 1);
      } else if (const auto *barrier = std::get_if<BarrierPart>(&parts[i])) {
        const std::vector<size_t> &own = barriers[rank][at.launch];
        auto number = static_cast<size_t>(llvm::find(own, i) - own.begin());
        for (int member : plan.groups[static_cast<size_t>(barrier->group)])
          // Not all ranks need be planned (see mapKernels).
          if (static_cast<size_t>(member) < plan.ranks.size())
            reach(member, at.launch,
                  barriers[static_cast<size_t>(member)][at.launch][number] + 1);
      }
    }
    if (end == none)
      for (size_t launch : next[rank][at.launch])
        reach(at.rank, launch, 0);
  }
  return found;
}

bool PartOrder::isBefore(const PartPlace &first, const PartPlace &second) {
  if (last != first) {
    later = findLater(first);
    last = first;
  }
  return later[static_cast<size_t>(second.rank)][second.launch] <= second.part;
}
