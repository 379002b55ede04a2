//===- GpuMessages.h - Ranks on GPUs without peer access --------*- C++ -*-===//
//
// On several hosts, and where GPUs cannot access each other's memory, kernels
// find copies of the others' memory in their own, and NCCL moves between them
// what GpuProgram::segments says, before and after each segment of a launch. It
// moves bytes and adds nothing, so results are the same bits.
//
// Of another rank's memory only the part from the first byte to the last that
// this rank reads or writes has a place here.
//
// NCCL's kernels wait without a limit. So a thread watches them and ends them
// when waiting has become pointless, even if nobody waits for the streams.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUMESSAGES_H
#define CCN_RUNTIME_CUDA_GPUMESSAGES_H

#include "runtime/cuda/GpuDevice.h"
#include "runtime/cuda/HostExchange.h"
#include "runtime/cuda/Nccl.h"
#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/Plan.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>

namespace ccn::runtime {

class GpuMessages {
public:
  struct Options {
    int rank = 0;
    double timeLimit = 60;
    /// The most blocks of NCCL's kernels in a stream; 0 is NCCL's choice.
    int blocks = 0;
    /// Returns an error if waiting has become pointless. The watching thread
    /// calls it too.
    std::function<Status()> trouble;
    /// Fails the team, and aborts: others hear of an error before they miss
    /// this rank. The watching thread calls it too.
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

  /// Gives up the communicators, as all ranks do at the same point. Graphs that
  /// use them must have been destroyed; else this waits for some seconds in
  /// vain.
  ~GpuMessages();
  GpuMessages(const GpuMessages &) = delete;
  GpuMessages &operator=(const GpuMessages &) = delete;

  /// Where this rank's kernels find the copies of another rank's symmetric
  /// memory, and of its shared argument `number` (of
  /// GpuProgram::sharedArguments).
  CUdeviceptr symmetric(int rank) const { return copyOf(rank, -1).address; }
  CUdeviceptr argument(size_t number, int rank) const {
    return copyOf(rank, static_cast<int>(number)).address;
  }

  /// Sends and receives the messages GpuSegments::messages[when] of a launch,
  /// in the launch's stream, which may be capturing a graph. `epoch` is a word
  /// on the device that each of the launch's kernels changes. `symmetric` is
  /// this rank's symmetric memory, and `shared` has this rank's
  /// GpuProgram::sharedArguments, each in one piece.
  Status exchange(size_t launch, size_t when, CUstream stream,
                  CUdeviceptr epoch, CUdeviceptr symmetric,
                  std::span<const CUdeviceptr> shared);

  /// Until endWatch(), the team fails if NCCL reports an error, if messages do
  /// not come within the time limit, and if waiting for them has become
  /// pointless.
  Status watch();
  void endWatch();

  /// Ends the messages that are on their way. Nothing can be exchanged after
  /// that.
  void abort();

private:
  /// This rank's copy of a part of another rank's memory.
  struct Copy {
    int64_t begin = 0, end = 0;
    DeviceMemory memory;
    /// Where the other's memory would begin.
    CUdeviceptr address = 0;
  };
  /// This rank's end of a message.
  struct End {
    bool sends = false;
    /// Whether it lies in this rank's memory; else it lies in the copy of the
    /// peer's.
    bool isOwn = false;
    int peer = 0;
    GpuMessage message;
    int64_t bytes = 0;
    /// Its place in the staging memory if it is not contiguous; else -1.
    int64_t staged = -1;
  };
  /// What one stream of the plan has.
  struct Channel {
    NcclComm comm = nullptr;
    std::vector<bool> peers;
    int64_t stagingBytes = 0;
    DeviceMemory staging;
  };
  struct LaunchMessages {
    std::string name;
    size_t channel = 0;
    std::vector<std::vector<End>> when;
    /// A word in host memory: the epoch of this launch's messages while they
    /// are on their way, else `idle`. And what was last seen there, since when.
    unsigned *waiting = nullptr;
    unsigned seen = idle;
    int64_t seenSince = 0;
  };
  static constexpr unsigned idle = ~0u;

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
  Status takeWords();
  Status connect(HostExchange &exchange);
  Status tryConnections();
  void giveUp();
  Status awaitComm(NcclComm comm, const char *call);
  /// Whether the messages of a launch are on their way.
  bool isWaiting() const;
  /// An error if messages have not come within the time limit.
  Status lateMessages();
  /// An error that a communicator reports.
  Status libraryError() const;
  /// Has the stream write the word at `word` on the device to `launch.waiting`.
  Status mark(const LaunchMessages &launch, CUdeviceptr word, CUstream stream);
  Status copyStaged(const End &end, size_t dim, CUdeviceptr place,
                    CUdeviceptr &staging, CUstream stream);
  /// Sends and receives what is contiguous, or staged.
  Status send(const std::vector<End> &ends, Channel &channel, CUstream stream,
              CUdeviceptr symmetric, std::span<const CUdeviceptr> shared);
  CUdeviceptr placeOf(const End &end, CUdeviceptr symmetric,
                      std::span<const CUdeviceptr> shared) const;
  /// Gives up a communicator; after an error it does so without its peers.
  void retire(NcclComm &comm, bool aborts);

  const GpuDevice &device;
  const Nccl &nccl;
  Options options;
  size_t ranks, argumentsOfRank;
  /// By rank: the copy of its symmetric memory, then those of its shared
  /// arguments.
  std::vector<Copy> copies;
  std::vector<Channel> channels;
  std::vector<LaunchMessages> launches;
  DeviceObject<void *> words;
  /// `idle`, on the device.
  DeviceMemory idleWord;
  /// For trying connections.
  DeviceMemory trial;
  /// How many communicators are being given up.
  std::shared_ptr<std::atomic<int>> retiring =
      std::make_shared<std::atomic<int>>(0);

  /// Held while a call uses the communicators, and while they are given up.
  std::mutex mutex;
  std::mutex watchMutex;
  std::condition_variable watchEnds;
  bool watchHasEnded = false;
  std::thread watcher;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUMESSAGES_H
