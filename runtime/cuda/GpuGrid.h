//===- GpuGrid.h - How many blocks kernels get ------------------*- C++ -*-===//
//
// Blocks that wait for each other, or for blocks of other ranks, must all be on
// the device at once, whatever else runs there. Otherwise a block that others
// wait for might never begin.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUGRID_H
#define CCN_RUNTIME_CUDA_GPUGRID_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ccn::runtime {

/// The runs that share a device at one time, and what the device has for them.
struct SharedDevice {
  int64_t multiprocessors = 1;
  /// For the streams of this process (Driver::queues).
  int64_t queues = 1;
  /// The ranks on the device, and those of them that are in this process.
  int64_t ranks = 1, ranksOfProcess = 1;
  /// How many runs each rank may have in progress at once.
  int64_t runsAtOnce = 1;
};

/// On how many streams each of these runs may have kernels that wait for other
/// ranks; an error if there are too many of them for the device.
///
/// Every stream of every run can have a kernel that waits, with at least one
/// block, which has a multiprocessor: otherwise there may be no room for what
/// it waits for. And runs share no queue of the device: a queue goes on in the
/// order in which it was filled, so one rank's kernel would wait there behind
/// that of another one that waits for it. Half of the queues are left for the
/// branches of graphs and the caller's streams; of the other half each run
/// leaves one for the stream on which its rank is set up.
///
/// The streams of one run may share queues, as the launches of a plan never
/// wait for later ones of any rank (checkPlan): of all that ranks have not done
/// yet the launches of the lowest number wait for nothing that is behind them.
Result<int> streamsThatFit(const SharedDevice &device);

/// Lets a plan run on at most so many streams: launches of streams that become
/// one follow each other in the plan's order, which is the same on all ranks.
void shareStreams(RankPlan &plan, int streams);

/// What a rank's kernel has of its device.
struct DeviceShare {
  /// The multiprocessors, and how many blocks of the kernel one of them can
  /// hold.
  int64_t multiprocessors = 1, blocksEach = 1;
  /// The ranks that share the device, and the streams of each on which kernels
  /// may run at once with this one, its own among them.
  int64_t ranks = 1, streams = 1;
};

/// For each launch of a plan, on how many streams launches may run at the same
/// time as it, its own stream included. Of k launches that run at once, each
/// has a number of k or more here: so if each takes one part in that many of a
/// device, together they never take more than the device.
std::vector<int64_t> streamsAtOnce(const RankPlan &plan);

/// How many blocks of a kernel are on the device at once, at least.
///
/// A kernel that has the device for itself fills it. Where kernels run beside
/// each other each gets an equal part of the multiprocessors and one block for
/// each of them: blocks are spread over multiprocessors, so more of one kernel
/// could leave no multiprocessor with enough room for a block of another. At
/// least 1.
int64_t residentBlocks(const DeviceShare &share);

/// Of clusters of 2, 4 and 8 blocks, how many a device can hold.
using ClusterCounts = std::array<int64_t, 3>;

/// How many clusters of a kernel are on the device at once, at least, if each
/// block has a multiprocessor: `counts` are those that fit if nothing else
/// runs. Beside other kernels' blocks, which may be anywhere, there may be no
/// room for any.
ClusterCounts residentClusters(const ClusterCounts &counts,
                               const DeviceShare &share);

/// What a rank tells the others about a launch.
struct LaunchNeeds {
  /// Blocks that have something to do.
  int64_t blocks = 1;
  /// residentBlocks() of a kernel that waits; 0 of one that does not.
  int64_t resident = 0;
  /// residentClusters() of a kernel that is for clusters.
  ClusterCounts clusters{};
  /// Whether the rank has a kernel that it prefers, and that runs on all ranks
  /// or on none.
  bool hasPreferred = false;
};

/// The size of a launch's clusters, the same on all ranks, as a power of 2: the
/// largest at which every rank has room for as many clusters as any rank has
/// use for. 0 if there is none, and on ranks that do not run the launch.
int clusterBitsOf(std::span<const LaunchNeeds> ranks);

/// The number of blocks of a launch whose kernels wait, the same on all ranks:
/// the most that any rank has use for, as far as all ranks have room; or as
/// many clusters, if clusters have more than one block. `ranks` has what each
/// rank says.
int64_t waitingBlocks(std::span<const LaunchNeeds> ranks, int clusterBits = 0);

/// The number of blocks of a kernel that does not wait: all that have something
/// to do or, if each has a workspace, as many as can be on the device at once.
int64_t independentBlocks(int64_t blocks, bool hasWorkspaces,
                          const DeviceShare &share);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUGRID_H
