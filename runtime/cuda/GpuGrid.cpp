//===- GpuGrid.cpp - How many blocks kernels get --------------------------===//
//
// Plain arithmetic, apart from CUDA so that it can be tested.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuGrid.h"

#include "runtime/plan/GpuAbi.h"

#include <algorithm>
#include <map>

namespace ccn::runtime {

Result<int> streamsThatFit(const SharedDevice &device) {
  int64_t runs = device.ranks * device.runsAtOnce;
  int64_t own = device.ranksOfProcess * device.runsAtOnce;
  auto tooMany = [&](int64_t ranks, int64_t most, const char *what) {
    return error("expected at most ", most,
                 " runs at once whose kernels wait for other ranks, as there "
                 "are as many ",
                 what, "; found ", ranks, " ranks with ", device.runsAtOnce,
                 " each");
  };
  if (runs > device.multiprocessors)
    return tooMany(device.ranks, device.multiprocessors, "multiprocessors");
  int64_t streams = device.multiprocessors / runs;
  if (own > 1 && own > device.queues)
    return tooMany(device.ranksOfProcess, device.queues,
                   "queues (CUDA_DEVICE_MAX_CONNECTIONS, before CUDA starts)");
  // One stream is that on which the rank is set up.
  if (own > 1)
    streams = std::min(streams, device.queues / 2 / own - 1);
  return static_cast<int>(std::clamp<int64_t>(streams, 1, INT32_MAX));
}

void shareStreams(RankPlan &plan, int streams) {
  plan.streams = std::min(plan.streams, streams);
  for (Launch &launch : plan.launches)
    launch.stream %= plan.streams;
}

std::vector<int64_t> streamsAtOnce(const RankPlan &plan) {
  std::map<int, std::vector<int>> streams;
  for (size_t i = 0; i < plan.launches.size(); ++i)
    streams[plan.launches[i].stream].push_back(static_cast<int>(i));
  // The last launch of each stream that is over when another begins.
  std::vector<std::map<int, int>> last(plan.launches.size());
  std::map<int, int> newest;
  auto follow = [&](std::map<int, int> &own, int other) {
    auto at = static_cast<size_t>(other);
    for (auto [stream, launch] : last[at])
      own[stream] = std::max(own.try_emplace(stream, -1).first->second, launch);
    int &before = own.try_emplace(plan.launches[at].stream, -1).first->second;
    before = std::max(before, other);
  };
  auto lastOn = [&](int launch, int stream) {
    const std::map<int, int> &own = last[static_cast<size_t>(launch)];
    auto it = own.find(stream);
    return it == own.end() ? -1 : it->second;
  };
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch &launch = plan.launches[i];
    if (auto it = newest.find(launch.stream); it != newest.end())
      follow(last[i], it->second);
    for (int other : launch.waits)
      follow(last[i], other);
    newest[launch.stream] = static_cast<int>(i);
  }
  std::vector<int64_t> counts;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    auto launch = static_cast<int>(i);
    int own = plan.launches[i].stream;
    counts.push_back(1);
    for (const auto &[stream, launches] : streams) {
      if (stream == own)
        continue;
      // The first that is not before it; if that is after it, so are the rest.
      auto it = std::upper_bound(launches.begin(), launches.end(),
                                 lastOn(launch, stream));
      counts.back() += it != launches.end() && lastOn(*it, own) < launch;
    }
  }
  return counts;
}

int64_t residentBlocks(const DeviceShare &share) {
  int64_t parts = std::max<int64_t>(share.ranks * share.streams, 1);
  if (parts == 1)
    return std::max<int64_t>(share.multiprocessors * share.blocksEach, 1);
  return std::max<int64_t>(share.multiprocessors / parts, 1);
}

ClusterCounts residentClusters(const ClusterCounts &counts,
                               const DeviceShare &share) {
  ClusterCounts resident{};
  for (size_t i = 0; i < counts.size() && share.ranks * share.streams <= 1; ++i)
    resident[i] = std::min(counts[i], share.multiprocessors >> (i + 1));
  return resident;
}

int clusterBitsOf(std::span<const LaunchNeeds> ranks) {
  int64_t wanted = 1;
  for (const LaunchNeeds &needs : ranks)
    wanted = std::max(wanted, needs.blocks);
  for (size_t bits = ClusterCounts().size(); bits > 0; --bits)
    if ((wanted << bits) <= CCN_MAX_BLOCKS &&
        std::all_of(ranks.begin(), ranks.end(), [&](const LaunchNeeds &needs) {
          return wanted <= needs.clusters[bits - 1];
        }))
      return static_cast<int>(bits);
  return 0;
}

int64_t waitingBlocks(std::span<const LaunchNeeds> ranks, int clusterBits) {
  int64_t wanted = 1, resident = CCN_MAX_BLOCKS;
  for (const LaunchNeeds &needs : ranks) {
    if (needs.resident <= 0)
      continue;
    wanted = std::max(wanted, needs.blocks);
    resident = std::min(resident, needs.resident);
  }
  return clusterBits > 0 ? wanted << clusterBits : std::min(wanted, resident);
}

int64_t independentBlocks(int64_t blocks, bool hasWorkspaces,
                          const DeviceShare &share) {
  int64_t most = hasWorkspaces ? share.multiprocessors * share.blocksEach
                               : int64_t(INT32_MAX);
  return std::clamp<int64_t>(blocks, 1, std::max<int64_t>(most, 1));
}

} // namespace ccn::runtime
