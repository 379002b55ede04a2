//===- GpuMessages.h - Ranks whose GPUs cannot access each other -*- C++
//-*-===//
//
// On several hosts, and where GPUs cannot access each other's memory, kernels
// find copies of the others' memory in their own, and NCCL moves between them
// what GpuProgram::segments says, before and after each segment of a launch. It
// moves bytes and adds nothing, so results are the same bits.
//
// Of another rank's memory only the part from the first byte to the last that
// this rank reads or writes has a place here.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUMESSAGES_H
#define CCN_RUNTIME_CUDA_GPUMESSAGES_H

#include "runtime/GpuProgram.h"
#include "runtime/Plan.h"
#include "runtime/cuda/GpuDevice.h"
#include "runtime/cuda/HostExchange.h"
#include "runtime/cuda/Nccl.h"

#include <atomic>
#include <span>

namespace ccn::runtime {

class GpuMessages {
public:
  struct Options {
    int rank = 0;
    double timeLimit = 60;
    /// The most blocks of NCCL's kernels in a stream; 0 is NCCL's choice.
    int blocks = 0;
    /// What makes waiting pointless.
    std::function<Status()> trouble;
    /// Fails the team: others hear of an error before they miss this rank.
    std::function<Status(const Status &)> fail;
  };

  /// The size of the records that it exchanges.
  static int64_t recordBytes() { return sizeof(NcclId); }

  /// Makes a communicator for each stream of the plan, connects it, and takes
  /// memory. All ranks call this at the same point; the context of `device` is
  /// current, here and later.
  static Result<std::unique_ptr<GpuMessages>>
  create(const GpuDevice &device, HostExchange &exchange, const Plan &plan,
         const GpuProgram &program, const Options &options);

  /// Gives up the communicators, as all ranks do: none of their graphs is left,
  /// or this waits for seconds in vain.
  ~GpuMessages();
  GpuMessages(const GpuMessages &) = delete;
  GpuMessages &operator=(const GpuMessages &) = delete;

  /// Where kernels of this rank find another's symmetric memory, and its shared
  /// argument of this number among GpuProgram::sharedArguments.
  CUdeviceptr symmetric(int rank) const { return copyOf(rank, -1).address; }
  CUdeviceptr argument(size_t number, int rank) const {
    return copyOf(rank, static_cast<int>(number)).address;
  }

  /// Sends and receives the messages of a launch that are number `when` in
  /// GpuSegments::messages, in the launch's stream, which may be capturing a
  /// graph. `symmetric` is the own symmetric memory, `shared` has the own
  /// of GpuProgram::sharedArguments, each in one piece.
  Status exchange(size_t launch, size_t when, CUstream stream,
                  CUdeviceptr symmetric, std::span<const CUdeviceptr> shared);

  /// An error of NCCL's, or that messages do not come within the time limit,
  /// which begins when a caller begins to look.
  Status trouble();
  void beginToLook();

  /// Ends what is on its way. Nothing can be exchanged any more.
  void abort();

private:
  /// A part of another rank's memory in the own.
  struct Copy {
    int64_t begin = 0, end = 0;
    DeviceMemory memory;
    /// Where the other's memory would begin.
    CUdeviceptr address = 0;
  };
  /// The own end of a message.
  struct End {
    bool sends = false;
    /// Whether in the own memory, else in the copy of the peer's.
    bool isOwn = false;
    int peer = 0;
    GpuMessage message;
    int64_t bytes = 0;
    /// Where in the staging memory what is not contiguous is; else -1.
    int64_t staged = -1;
  };
  /// Of one stream of the plan.
  struct Channel {
    NcclComm comm = nullptr;
    std::vector<bool> peers;
    int64_t stagingBytes = 0;
    DeviceMemory staging;
    /// In host memory: 1 + the launch whose messages are on their way, or 0.
    unsigned *waiting = nullptr;
    unsigned seen = 0;
    int64_t seenSince = 0;
  };
  struct LaunchMessages {
    std::string name;
    size_t channel = 0;
    std::vector<std::vector<End>> when;
  };

  GpuMessages(const GpuDevice &device, const Nccl &nccl, size_t ranks,
              size_t arguments, const Options &options)
      : device(device), nccl(nccl), options(options), ranks(ranks),
        argumentsOfRank(arguments) {}

  size_t copyIndex(int rank, int argument) const {
    return static_cast<size_t>(rank) * (argumentsOfRank + 1) +
           static_cast<size_t>(argument + 1);
  }
  const Copy &copyOf(int rank, int argument) const {
    return copies[copyIndex(rank, argument)];
  }
  void addMessages(const Plan &plan, const GpuProgram &program);
  void add(std::vector<End> &list, Channel &channel, const GpuMessage &message,
           int64_t &staged);
  Status takeMemory();
  Status takeNumbers();
  Status connect(HostExchange &exchange);
  Status tryConnections();
  void giveUp();
  Status awaitComm(NcclComm comm, const char *call);
  Status mark(Channel &channel, size_t value, CUstream stream);
  Status copyStaged(const End &end, size_t dim, CUdeviceptr place,
                    CUdeviceptr &staging, CUstream stream);
  CUdeviceptr placeOf(const End &end, CUdeviceptr symmetric,
                      std::span<const CUdeviceptr> shared) const;
  /// Gives up a communicator: after an error without its peers.
  void retire(NcclComm &comm, bool aborts);

  const GpuDevice &device;
  const Nccl &nccl;
  Options options;
  size_t ranks, argumentsOfRank;
  /// Of symmetric memory and of each shared argument, by rank.
  std::vector<Copy> copies;
  std::vector<Channel> channels;
  std::vector<LaunchMessages> launches;
  DeviceObject<void *> words;
  DeviceMemory numbers;
  /// For trying connections.
  DeviceMemory trial;
  /// How many communicators are being given up.
  std::shared_ptr<std::atomic<int>> retiring =
      std::make_shared<std::atomic<int>>(0);
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUMESSAGES_H
