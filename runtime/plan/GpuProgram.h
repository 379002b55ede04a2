//===- GpuProgram.h - The kernels of a plan for GPUs ------------*- C++ -*-===//
//
// What a package for NVIDIA GPUs holds in addition to its plan: kernels in CUDA
// C++, which NVRTC compiles on the machine where they run, and which kernel
// executes which launch of the plan. GpuAbi.h describes the kernels'
// parameters.
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

/// An `extern "C"` kernel in the source.
struct GpuKernel {
  std::string name;
  /// The number of threads of a block.
  int64_t threads = 256;
  /// The bytes of dynamic shared memory of a block.
  int64_t sharedBytes = 0;
  /// The bytes of device memory that each block has as workspace; a multiple of
  /// 64.
  int64_t blockBytes = 0;
  /// Whether blocks wait for each other or for other ranks. If they do, all
  /// blocks must be resident on the device at once, and all ranks must have
  /// equally many.
  bool waits = false;
  /// The length of the array of numbers that the kernel gets, at least 1.
  int64_t numbers = 1;
  /// Whether the kernel can run with clusters, which then do the work of single
  /// blocks. A cluster has CCN_CLUSTER_THREADS threads in all.
  bool clusters = false;
  /// How many tensor maps the kernel gets, as GpuLaunch::tensorMaps; 0 if it
  /// has no such parameter. A kernel with some needs a GPU of compute
  /// capability 9.0 or later.
  int64_t tensorMaps = 0;
  /// Of a kernel that launches prefer and that waits: whether it runs on all
  /// ranks or on none. It then gets zeros for maps of addresses that are not
  /// multiples of 16 bytes, and does without them.
  bool isOfAllRanks = false;
};

/// A matrix product in the rank's own memory with which a launch begins; a
/// library may compute it instead of the kernel. Its views refer to the plan's
/// buffers as the kernel accesses them, where arguments may replace symmetric
/// memory.
struct GpuProduct {
  MatmulPart part;
  /// Whether the product is all that the launch does.
  bool isAll = false;
};

/// The memory that a tensor map describes.
enum class TensorMemory : uint8_t {
  Buffer,    ///< a buffer of the plan, unless it is a scattered argument
  Symmetric, ///< all of the symmetric memory, that of exchanges included
  Workspace, ///< what all blocks of the launch share
};

/// A tensor that a kernel accesses by asynchronous copies of boxes (TMA): the
/// arguments of cuTensorMapEncodeTiled. Boxes may reach beyond the tensor: what
/// is loaded there is 0, and nothing is stored there.
///
/// A tensor without elements has no map: the kernel gets zeros for it.
struct GpuTensorMap {
  TensorMemory memory = TensorMemory::Buffer;
  /// For TensorMemory::Buffer, an index into RankPlan::buffers.
  int buffer = 0;
  /// The rank whose memory it is; -1 is this rank. It may be another rank for
  /// symmetric memory and for shared arguments.
  int rank = -1;
  /// Where the tensor begins in that memory, in bytes; a multiple of 16.
  int64_t offset = 0;
  ElementType type = ElementType::F32;
  /// One to five dimensions; the innermost one is the last, as in views.
  /// Kernels give coordinates in the reverse order, as PTX has them.
  std::vector<int64_t> sizes = {};
  /// In elements. The last is 1; each other one is a multiple of 16 bytes.
  std::vector<int64_t> strides = {};
  /// The elements of a box, 1 to 256 in each dimension; the last dimension is a
  /// multiple of 16 bytes.
  std::vector<int64_t> box = {};
  /// 0, or 32, 64 or 128: within so many bytes the 16-byte units of a box are
  /// exchanged in shared memory, so that columns of units are in different
  /// banks. A box is as wide as that at most.
  int swizzle = 0;

  bool operator==(const GpuTensorMap &) const = default;
};

/// How GPUs run a launch of the plan.
struct GpuLaunch {
  /// An index into GpuProgram::kernels; -1 if there is nothing to do.
  int kernel = 0;
  /// The number of blocks that have something to do at once. Fewer blocks can
  /// do the same work in several turns.
  int64_t blocks = 1;
  /// The bytes of device memory that all blocks share while the launch runs; a
  /// multiple of 64.
  int64_t workspaceBytes = 0;
  std::vector<int64_t> numbers;
  std::optional<GpuProduct> product = std::nullopt;
  /// As many as the kernel gets.
  std::vector<GpuTensorMap> tensorMaps = {};
  /// At most one: the same launch by a kernel with tensor maps, which is
  /// faster. It runs instead if the device is of compute capability 9.0 and all
  /// maps can be made, for which addresses are multiples of 16 bytes. It has a
  /// kernel without clusters, no product, and none that is preferred to it. If
  /// that kernel waits, so does the launch's, which has no clusters: each rank
  /// runs one or the other, in any run, so both have equally many blocks, and
  /// set and await the same flags of other ranks, unless all ranks run the same
  /// one (GpuKernel::isOfAllRanks). It runs only where ranks access each
  /// other's memory.
  std::vector<GpuLaunch> preferred = {};
};

/// Symmetric memory that must be filled with a value other than 0 before the
/// first run.
struct GpuFill {
  int64_t offset = 0, bytes = 0;
  /// The value of every byte.
  int value = 0;
};

/// Bytes that one rank sends to another if GPUs cannot access each other's
/// memory (GpuMessages.h).
struct GpuMessage {
  int from = 0, to = 0;
  /// True: the kernel of `from` has written these bytes for the memory of `to`.
  /// False: the kernel of `to` is about to read these bytes of `from`.
  bool isWrite = false;
  /// Which memory the bytes are in: an index into `sharedArguments`, or -1 for
  /// symmetric memory.
  int argument = -1;
  /// Where the first contiguous range begins, and its length. In dimension i (0
  /// is the outermost) there are counts[i] such ranges, strides[i] bytes apart.
  int64_t offset = 0, bytes = 0;
  std::vector<int64_t> counts, strides;

  bool operator==(const GpuMessage &) const = default;
};

/// How a launch is cut into segments, equally many on all ranks. Messages
/// between segments replace the waits within the kernel: what one segment
/// writes for other ranks' memory has arrived there when the next segment
/// begins.
struct GpuSegments {
  int count = 0;
  /// messages[2 * i] are exchanged before segment i, messages[2 * i + 1] after
  /// it. All ranks send and receive them in this order.
  std::vector<std::vector<GpuMessage>> messages;
  /// Earlier launches on other streams that must be done first, on all ranks.
  /// Some ranks wait for them by events, others by flags.
  std::vector<int> waits;
};

/// How the kernels of a rank get at the data of others: in their memory, where
/// ranks wait for each other by flags; or in messages that are exchanged before
/// and after each segment of a launch (GpuSegments).
enum class KernelTransport { Peers, Messages };

struct GpuProgram {
  /// The numbers of the arguments that ranks access in each other's memory. A
  /// kernel gets the addresses of all arguments, then, for each of these, the
  /// addresses on all ranks.
  std::vector<int> sharedArguments;
  /// CUDA C++: what kernels of both transports have in common, and the kernels
  /// that are the same for both; and what follows for either transport, in
  /// which the other kernels have the same names.
  std::string source, peerSource, messageSource;
  /// The kernels for a transport: one translation unit without includes.
  std::string textFor(KernelTransport transport) const {
    return source +
           (transport == KernelTransport::Peers ? peerSource : messageSource);
  }
  std::vector<GpuKernel> kernels;
  /// An index into `kernels`: the kernel that writes the tables of scattered
  /// arguments (GpuAbi.h); -1 if no argument is scattered.
  int tableKernel = -1;
  /// launches[rank][i] is launch i of the rank's plan.
  std::vector<std::vector<GpuLaunch>> launches;
  /// The bytes of symmetric memory of the plan and, after it, of exchanges,
  /// without flags.
  int64_t symmetricBytes = 0;
  /// The number of flags of the plan and of exchanges; each flag has
  /// CCN_MAX_BLOCKS words.
  int64_t flags = 0;
  std::vector<GpuFill> fills;
  /// One for each launch.
  std::vector<GpuSegments> segments;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_GPUPROGRAM_H
