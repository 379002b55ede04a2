//===- GpuProgram.h - The kernels of a plan for GPUs ------------*- C++ -*-===//
//
// What a package for NVIDIA GPUs holds beside its plan: CUDA C++ that NVRTC
// compiles on the machine where it runs, and which kernel does what each launch
// of the plan says. GpuAbi.h has the kernels' parameters.
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
  /// Whether a cluster of blocks can have what otherwise a block has, which
  /// then has CCN_CLUSTER_THREADS threads in all.
  bool clusters = false;
};

/// A product of matrices with which a launch begins, of the rank's own memory:
/// a library may do it in the kernel's place. Its views are of the plan's
/// buffers, but as the kernel accesses them: arguments may have taken the place
/// of the symmetric memory that the plan says.
struct GpuProduct {
  MatmulPart part;
  /// Whether the launch does nothing else.
  bool isAll = false;
};

/// How a launch of the plan runs.
struct GpuLaunch {
  /// An index into GpuProgram::kernels; -1 if nothing is to do.
  int kernel = 0;
  /// How many blocks have something to do; fewer do it too, in turns.
  int64_t blocks = 1;
  /// Device memory that all blocks share while it runs; a multiple of 64.
  int64_t workspaceBytes = 0;
  std::vector<int64_t> numbers;
  std::optional<GpuProduct> product = std::nullopt;
};

/// Symmetric memory that is not zero before the first run.
struct GpuFill {
  int64_t offset = 0, bytes = 0;
  /// Of every byte.
  int value = 0;
};

/// Bytes that go from one rank to another where GPUs cannot access each other's
/// memory (GpuMessages.h).
struct GpuMessage {
  int from = 0, to = 0;
  /// Whether `from` has written what is the memory of `to`; else `to` is to
  /// read what is that of `from`.
  bool isWrite = false;
  /// Of what memory: a place in `sharedArguments`; -1 is symmetric memory.
  int argument = -1;
  /// Where it begins and how much is contiguous; so `counts` times, outermost
  /// first, in steps of `strides` bytes.
  int64_t offset = 0, bytes = 0;
  std::vector<int64_t> counts, strides;

  bool operator==(const GpuMessage &) const = default;
};

/// A launch in segments, on all ranks as many, between which messages stand for
/// what waits in the kernel: all that a segment does to other ranks' memory is
/// there when the next one begins.
struct GpuSegments {
  int count = 0;
  /// Of 2 * segment those before it, of 2 * segment + 1 those after it. In this
  /// order, which is the same on all ranks, they are sent and received.
  std::vector<std::vector<GpuMessage>> messages;
  /// Earlier launches on other streams that must be done on all ranks: what
  /// some wait for by events, others by flags.
  std::vector<int> waits;
};

struct GpuProgram {
  /// The arguments that ranks access of each other, by number. After the
  /// addresses of all arguments a kernel gets, for each of these, those of all
  /// ranks.
  std::vector<int> sharedArguments;
  /// One translation unit without includes.
  std::string source;
  std::vector<GpuKernel> kernels;
  /// The kernel that writes the tables of lists of buffers (GpuAbi.h), an index
  /// into `kernels`; -1 where no argument is scattered.
  int tableKernel = -1;
  /// Of each rank, of each launch of its plan.
  std::vector<std::vector<GpuLaunch>> launches;
  /// The plan's symmetric memory and, behind it, that of exchanges; flags not
  /// included.
  int64_t symmetricBytes = 0;
  /// The flags of the plan and of exchanges; each has CCN_MAX_BLOCKS words.
  int64_t flags = 0;
  std::vector<GpuFill> fills;
  /// Of each launch.
  std::vector<GpuSegments> segments;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_GPUPROGRAM_H
