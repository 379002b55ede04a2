//===- GpuGrid.cpp - How many blocks kernels get --------------------------===//
//
// Plain arithmetic, apart from CUDA so that it can be tested.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuGrid.h"

#include "runtime/GpuAbi.h"

#include <algorithm>

namespace ccn::runtime {

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
