//===- GpuGrid.h - How many blocks kernels get ------------------*- C++ -*-===//
//
// Blocks that wait for each other, or for those of other ranks, must all be on
// the device at once, whatever else runs there: otherwise what they wait for
// may never begin.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUGRID_H
#define CCN_RUNTIME_CUDA_GPUGRID_H

#include <cstdint>
#include <span>

namespace ccn::runtime {

/// What a rank's kernel has of its device.
struct DeviceShare {
  /// The multiprocessors, and how many blocks of the kernel one of them can
  /// hold.
  int64_t multiprocessors = 1, blocksEach = 1;
  /// The ranks that share the device, and the streams of each.
  int64_t ranks = 1, streams = 1;
};

/// How many blocks of a kernel are on the device at once, at least.
///
/// A kernel that has the device for itself fills it. Where kernels run beside
/// each other each gets an equal part of the multiprocessors and one block for
/// each of them: blocks are spread over multiprocessors, so more of one kernel
/// could leave no multiprocessor with enough room for a block of another. At
/// least 1.
int64_t residentBlocks(const DeviceShare &share);

/// What a rank says of a launch.
struct LaunchNeeds {
  /// Blocks that have something to do.
  int64_t blocks = 1;
  /// residentBlocks() of a kernel that waits; 0 of one that does not.
  int64_t resident = 0;
};

/// The blocks of the kernels of one launch that wait, the same on all ranks:
/// the most that any has use for, as far as all can hold them. `ranks` is what
/// each says.
int64_t waitingBlocks(std::span<const LaunchNeeds> ranks);

/// The blocks of a kernel that does not wait: all that have something to do, or
/// if each has a workspace, as many as can be on the device at once.
int64_t independentBlocks(int64_t blocks, bool hasWorkspaces,
                          const DeviceShare &share);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUGRID_H
