//===- GpuProgram.h - The kernels of a plan for GPUs ------------*- C++ -*-===//
//
// What a package for NVIDIA GPUs holds beside its plan: CUDA C++, which NVRTC
// compiles on the machine where it runs, and which kernel executes each launch
// of the plan. GpuAbi.h has the kernels' parameters.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_GPUPROGRAM_H
#define CCN_RUNTIME_PLAN_GPUPROGRAM_H

#include "runtime/plan/Plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ccn::runtime {

/// An `extern "C"` kernel of the source.
struct GpuKernel {
  std::string name;
  /// The threads of a block.
  int64_t threads = 256;
  /// The dynamic shared memory of a block.
  int64_t sharedBytes = 0;
  /// The workspace of each block, in device memory; a multiple of 64.
  int64_t blockBytes = 0;
  /// Whether blocks wait for each other or for other ranks: then all blocks
  /// must be on the device at once, and be as many on all ranks.
  bool waits = false;
  /// The length of the array of numbers, at least 1.
  int64_t numbers = 1;
  /// Whether clusters of blocks can do what blocks do otherwise; a cluster then
  /// has CCN_CLUSTER_THREADS threads in all.
  bool clusters = false;
};

/// A product of matrices, in the rank's own memory, with which a launch begins;
/// a library may compute it instead of the kernel. Its views are of the plan's
/// buffers as the kernel accesses them: arguments may have taken the place of
/// symmetric memory.
struct GpuProduct {
  MatmulPart part;
  /// Whether the launch does nothing else.
  bool isAll = false;
};

/// How a launch of the plan runs.
struct GpuLaunch {
  /// An index into GpuProgram::kernels; -1 if nothing is to do.
  int kernel = 0;
  /// How many blocks have something to do. Fewer blocks do it too, in several
  /// turns.
  int64_t blocks = 1;
  /// Device memory that all blocks share while it runs; a multiple of 64.
  int64_t workspaceBytes = 0;
  std::vector<int64_t> numbers;
  std::optional<GpuProduct> product = std::nullopt;
};

/// Symmetric memory that is not zero before the first run.
struct GpuFill {
  int64_t offset = 0, bytes = 0;
  /// The value of every byte.
  int value = 0;
};

/// Bytes that go from one rank to another where GPUs cannot access each other's
/// memory (GpuMessages.h).
struct GpuMessage {
  int from = 0, to = 0;
  /// True: `from` has written into memory of `to`. False: `to` is about to read
  /// memory of `from`.
  bool isWrite = false;
  /// Which memory this is: an index into `sharedArguments`, or -1 for symmetric
  /// memory.
  int argument = -1;
  /// Where the first contiguous range begins, and its length. There are
  /// `counts` such ranges in each dimension, the outermost first, `strides`
  /// bytes apart.
  int64_t offset = 0, bytes = 0;
  std::vector<int64_t> counts, strides;

  bool operator==(const GpuMessage &) const = default;
};

/// A launch that is cut into segments, as many on all ranks. Messages between
/// the segments take the place of what waits in the kernel: what a segment does
/// to other ranks' memory has arrived when the next one begins.
struct GpuSegments {
  int count = 0;
  /// messages[2 * i] come before segment i, messages[2 * i + 1] after it. They
  /// are sent and received in this order, which is the same on all ranks.
  std::vector<std::vector<GpuMessage>> messages;
  /// Earlier launches on other streams that must be done first, on all ranks.
  /// Some ranks wait for them by events, others by flags.
  std::vector<int> waits;
};

struct GpuProgram {
  /// The numbers of the arguments that ranks access in each other's memory.
  /// After the addresses of all arguments, a kernel gets all ranks' addresses
  /// of each of these.
  std::vector<int> sharedArguments;
  /// One translation unit without includes.
  std::string source;
  std::vector<GpuKernel> kernels;
  /// The kernel that writes the tables of lists of buffers (GpuAbi.h), an index
  /// into `kernels`; -1 where no argument is scattered.
  int tableKernel = -1;
  /// launches[rank][i] is launch i of the rank's plan.
  std::vector<std::vector<GpuLaunch>> launches;
  /// The plan's symmetric memory and, behind it, that of exchanges; flags not
  /// included.
  int64_t symmetricBytes = 0;
  /// The flags of the plan and of exchanges; each has CCN_MAX_BLOCKS words.
  int64_t flags = 0;
  std::vector<GpuFill> fills;
  /// One for each launch.
  std::vector<GpuSegments> segments;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_GPUPROGRAM_H
