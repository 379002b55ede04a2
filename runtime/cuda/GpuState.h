//===- GpuState.h - What an executor for GPUs holds -------------*- C++ -*-===//
//
// Shared by the parts of its implementation.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUSTATE_H
#define CCN_RUNTIME_CUDA_GPUSTATE_H

#include "runtime/base/FreeMemory.h"
#include "runtime/cuda/GpuExecutor.h"
#include "runtime/cuda/GpuGrid.h"
#include "runtime/cuda/GpuKernels.h"
#include "runtime/cuda/GpuMessages.h"
#include "runtime/cuda/GpuTeam.h"
#include "runtime/cuda/LibraryProduct.h"
#include "runtime/plan/GpuAbi.h"
#include "runtime/plan/Pieces.h"

#include <array>
#include <atomic>
#include <mutex>

namespace ccn::runtime {

/// Keeps objects that must not be freed before the process ends, in a place
/// that leak checkers know.
template <typename T> void keepForever(std::unique_ptr<T> object) {
  static std::mutex mutex;
  static auto &kept = *new std::vector<std::unique_ptr<T>>;
  std::lock_guard lock(mutex);
  kept.push_back(std::move(object));
}

/// Of what each launch has in device memory.
constexpr int64_t controlBytes = (sizeof(CcnControl) + 255) / 256 * 256;

/// The driver makes tensor maps for multiples of that many bytes.
inline constexpr uintptr_t tensorAlignment = 16;
inline bool isTensorAligned(const void *address) {
  return reinterpret_cast<uintptr_t>(address) % tensorAlignment == 0;
}

/// A launch that is ready to run.
struct PreparedGpuLaunch {
  CUfunction function = nullptr;
  unsigned blocks = 1, threads = 1, sharedBytes = 0;
  int stream = 0;
  CcnContext context{};
  std::vector<int64_t> numbers;
  /// Its tensors, the driver's maps of them, and for which addresses these are;
  /// null for what is not encoded yet.
  std::vector<GpuTensorMap> tensors;
  std::vector<CcnTensorMap> tensorMaps;
  std::vector<void *> tensorAddresses;
  void setTensors(const std::vector<GpuTensorMap> &given) {
    tensors = given;
    tensorMaps.resize(given.size());
    tensorAddresses.resize(given.size());
  }
  /// What runs instead if addresses are aligned for its tensors' maps; null if
  /// there is no such kernel on this device.
  std::unique_ptr<PreparedGpuLaunch> preferred;
  /// Whether it runs even if they are not (GpuKernel::isOfAllRanks).
  bool needsNoMaps = false;
  /// The library's product that replaces the first part if the addresses allow,
  /// and whether the launch has no other part.
  std::unique_ptr<LibraryProduct> product;
  bool isProduct = false;
  View a, b, c;
  /// How many segments it has, by GpuProgram::segments; 0 if ranks access each
  /// other's memory.
  int segments = 0;
  /// Launches on other streams that must be done.
  std::vector<int> waits;
  /// Recorded when it is done, if a launch on another stream waits for it.
  Event done;
  /// Recorded before and after it in traced runs.
  Event begin, end;
};

/// Counts the items that were submitted to a stream: launches, copies, and
/// events that are recorded or waited for. The driver has room for some 1,000
/// items in a queue. Submitting more blocks the thread, and may block other
/// threads of the process, for whose work that queue may be waiting.
struct StreamPace {
  /// After this many items, as many more are submitted only when those before
  /// are done.
  static constexpr size_t most = 256;
  size_t given = 0;
  /// Recorded behind the last of these items, and behind those before.
  Event last, before;
};

/// Host memory that the device accesses: for its reports, and for the word that
/// stops kernels.
struct HostWords {
  CcnFault fault;
  /// In another cache line.
  alignas(256) unsigned stop;
};

/// The places of an argument that ranks access in each other's memory.
struct SharedPlaces {
  /// What kernels get, by rank: addresses of arrays, or of tables of pieces.
  std::vector<CUdeviceptr> addresses;
  /// This rank's memory.
  std::vector<Piece> own;
  /// What is opened to access the other ranks' memory, for each piece.
  std::vector<PeerMemory> memory = {};
};

/// An argument that ranks access in each other's memory.
struct SharedArgument {
  size_t number;
  /// The bytes of an element, and the elements of this rank's part.
  int size;
  int64_t count;
  /// Whether runs read it from the caller, and write it back.
  bool isInput, isOutput, isScattered;
  /// Whether some rank accesses it by tensor maps, which need aligned
  /// addresses.
  bool isInTensorMaps = false;
  /// `staged` is in symmetric memory, and `bound` where the callers have bound
  /// it, if all ranks can access that. Where ranks send messages, `staged` has
  /// the copies of the other ranks' parts, and this rank's part where the run's
  /// caller has it, unless it is scattered.
  SharedPlaces staged;
  std::optional<SharedPlaces> bound;

  const SharedPlaces &places() const { return bound ? *bound : staged; }
};

/// A scattered argument that only this rank accesses.
struct OwnScattered {
  size_t number;
  int size;
  /// The pieces that were bound, and their table.
  std::vector<Piece> bound;
  CUdeviceptr boundTable = 0;
  /// The table for runs that are given other pieces.
  DeviceMemory runTable;
};

/// An argument that callers may pass by value.
struct ValueArgument {
  size_t number;
  size_t bytes;
  /// Where runs find the value.
  CUdeviceptr place = 0;
};

struct GpuExecutor::State {
  State(Transport &transport, int rank, const GpuExecutorOptions &options)
      : transport(transport), rank(rank), options(options) {}

  Status prepare(const Plan &plan, const GpuProgram &program);
  Status bind(std::span<void *const> arguments);
  Status checkRun(std::span<void *const> arguments) const;
  Status start(std::span<void *const> arguments, CUstream stream);
  Status startWithValues(std::span<void *const> arguments, CUstream stream);
  Status finishStream(CUstream stream);
  /// Waits until everything that this rank has started is done, and everything
  /// in `stream`; or stops it if the team has failed. Returns whether it has
  /// ended.
  bool settle(CUstream stream = nullptr);
  /// The same, and waits until all ranks have come so far. Giving memory back
  /// waits for the device, and so for kernels of other ranks there, which may
  /// wait for what a third rank cannot launch meanwhile. Returns whether memory
  /// can be given back.
  bool endRuns(CUstream stream = nullptr);
  /// Ends this rank's part. Returns whether the memory that it used may be
  /// freed.
  bool finish();
  /// Frees the state, and waits until all ranks have freed theirs.
  static void giveBack(std::unique_ptr<State> state);

  /// Fails the team, and stops the kernels of this rank.
  Status fail(const Status &cause);

  /// Kernels, or other ranks, did not end, so nothing may be freed.
  bool isStuck = false;

  Transport &transport;
  int rank;
  GpuExecutorOptions options;
  RankPlan plan;
  size_t argumentCount = 0;
  std::vector<bool> isScattered;
  /// Of this rank's part of each argument.
  std::vector<std::string> argumentNames;
  std::vector<int64_t> argumentCounts;
  std::vector<int> elementSizes;
  std::vector<std::string> launchNames, failures;

  // Members that come later are given back first.
  std::unique_ptr<GpuDevice> device;
  GpuKernels kernels;
  DeviceObject<void *> hostMemory;
  DeviceMemory privateMemory, controls, valueMemory;
  /// By stream.
  std::vector<DeviceMemory> workspaces;
  std::unique_ptr<HostExchange> exchange;
  std::unique_ptr<GpuTeam> team;
  /// Null where ranks access each other's memory.
  std::unique_ptr<GpuMessages> messages;
  std::vector<SharedArgument> shared;
  /// If ranks send messages: where this rank's parts of them are in this run.
  std::vector<CUdeviceptr> sentFrom;
  std::vector<OwnScattered> scattered;
  std::vector<ValueArgument> values;
  /// Whether the library does products, on which ranks agree.
  bool usesLibrary = false;
  std::vector<PreparedGpuLaunch> launches;
  /// By stream; null for stream 0, which is the caller's, and for those without
  /// launches.
  std::vector<CUstream> streams;
  /// What `streams` are taken from.
  std::shared_ptr<OwnStreams> ownStreams;
  std::vector<Event> joins;
  /// By stream; empty if this rank has the device's queues for itself.
  std::vector<StreamPace> paces;
  Event fork, last, traceZero;

private:
  Status agreeOnLibrary(const GpuProgram &program);
  Status prepareMessages(const Plan &plan, const GpuProgram &program);
  Status prepareProducts(const GpuProgram &program, int64_t spare);
  Status warmUpProducts(int64_t bytes);
  Status prepareMemory(const GpuProgram &program);
  Status agreeOnStreams(const GpuProgram &program);
  Status agreeOnBlocks(const GpuProgram &program);
  Status prepareLaunches(const Plan &whole, const GpuProgram &program);
  Status prepareStreams();
  Status prepareValues(const Plan &plan);

  int64_t placeShared(const Plan &plan, const GpuProgram &program,
                      int64_t offset);
  Status loadKernels(const GpuProgram &program);

  // GpuNeeds.cpp.
  std::vector<int64_t> workspaceBytes(const GpuProgram &program) const;
  bool mayBeLibrary(const GpuLaunch &launch) const;
  int64_t matrixBytes(const GpuProgram &program) const;
  MemoryNeeds ownNeeds() const;
  MemoryNeeds ownNeeds(const GpuProgram &program) const;

  Status prepareShared();
  CUdeviceptr ownPlace(const SharedArgument &argument) const {
    return argument.places().addresses[static_cast<size_t>(rank)];
  }

  // Scattered arguments (GpuPieces.cpp).
  Status prepareScattered(const Plan &plan, const GpuProgram &program);
  /// Where to access a shared argument at the addresses that all ranks gave;
  /// nothing if some rank cannot.
  Result<std::optional<SharedPlaces>>
  shareIfPossible(const SharedArgument &argument, void *given);
  Status bindScattered(OwnScattered &argument, void *given);
  /// Gives back the tables of what was bound.
  void forgetTables();
  Status checkUnbound(const OwnScattered &argument, PieceSpan pieces) const;
  /// Sets what kernels get for the run's scattered arguments.
  void findScattered();
  /// Writes the tables of those that are not what was bound.
  Status placeTables(CUstream stream);
  /// A table of these pieces that is kept.
  Result<CUdeviceptr> tableOf(PieceSpan pieces);
  Status writeTable(CUdeviceptr place, PieceSpan pieces, CUstream stream);
  /// Copies arguments that the caller has elsewhere than they were bound,
  /// before or after the run.
  Status stage(bool before, CUstream stream);
  /// Begins to use a stream of the caller's, unless that was used before or
  /// captures a graph.
  Status beginStream(CUstream stream);
  Status launchAll(CUstream stream);
  /// Whether submitting more may block: a graph has room for everything.
  bool isPaced() const { return !isCaptured && !paces.empty(); }
  /// To be called before `things` items are submitted to a stream of the plan.
  /// Waits if the stream has too many that are not done.
  Status pace(size_t number, CUstream stream, size_t things);
  /// How many items a run submits to the caller's stream beside its launches.
  size_t thingsBeside() const;
  Status launch(PreparedGpuLaunch &launch, CUstream stream, bool isTraced);
  /// All of a launch, with its messages.
  Status launchSegments(PreparedGpuLaunch &launch, CUstream stream);
  Status launchKernel(PreparedGpuLaunch &launch, CUstream stream);

  // Tensor maps (GpuTensorMaps.cpp).
  Status prepareTensorMaps(const Plan &plan, const GpuProgram &program);
  void preparePreferred(const GpuProgram &program);
  /// The kernel that a launch prefers; null if there is none on this device.
  const GpuKernels::Kernel *preferredKernel(const GpuLaunch &launch) const;
  /// Whether the maps of a launch can be made for the addresses of this run.
  bool areTensorsAligned(const PreparedGpuLaunch &launch) const;
  /// Null if no other rank accesses the argument.
  const SharedArgument *sharedArgument(size_t number) const;
  /// Where a tensor of a launch begins in this run.
  void *addressOf(const PreparedGpuLaunch &launch,
                  const GpuTensorMap &tensor) const;
  /// Encodes the launch's maps for the addresses of this run.
  Status encodeTensorMaps(PreparedGpuLaunch &launch);
  /// An error if an argument of a run at these addresses cannot have its maps.
  Status checkTensorAddresses(std::span<void *const> addresses) const;

  /// Where a view of own memory begins in this run.
  void *addressOf(const View &view) const;
  /// Waits for the runs that this rank has started.
  Status awaitRuns();
  Status awaitEvent(const Event &event);
  /// Lets the others see what the device has begun and done of a traced run.
  void showTraced() const;
  /// The fault that a kernel has reported; success if none has.
  Status fault() const;
  /// CUDA's error says less than its cause, such as a rank that is gone. Waits
  /// a moment whether the cause becomes known, and returns that, else `status`.
  Status explain(Status status) const;
  /// An error if waiting for the device has become pointless.
  Status trouble();
  /// An error if another rank has ended, for which this one may wait.
  Status lostRank() const;
  void stopKernels();
  /// Whether all that was started is done within so many seconds.
  bool isIdleWithin(double seconds, CUstream stream);
  bool isBusy(CUstream stream) const;
  Status reportTrace();

  HostWords *words = nullptr;
  CUdeviceptr deviceWords = 0;
  /// Whether the run that is being started is captured.
  bool isCaptured = false;
  /// Whether that run is the first in its stream.
  bool isFirstRun = false;
  /// Whether any run was captured. The thread that watches messages reads it
  /// too.
  std::atomic<bool> hasCaptured = false;
  bool mayBeUsed = false, hasRun = false, isTraceReady = false;
  uint64_t runs = 0;
  /// The ids of the callers' streams that were used last. No two streams get
  /// the same id, and 0 is none.
  std::array<unsigned long long, 16> usedStreams{};
  size_t nextUsed = 0;
  int64_t traceZeroTime = 0;
  /// When to look again whether the others are there, by the steady clock.
  std::atomic<int64_t> nextLook = 0;
  /// Of the run that is being started: the addresses that the caller gave, and
  /// those that kernels get.
  std::vector<void *> given, arguments;
  /// The addresses that the caller gave, with those of the values' places.
  std::vector<void *> placed;

  /// The launch of the kernel that writes tables.
  PreparedGpuLaunch tableWriter;
  /// The tables of staged arguments, and then those of bound ones.
  struct Table {
    std::vector<Piece> pieces;
    DeviceMemory memory;
  };
  std::vector<Table> tables;
  size_t stagedTables = 0;
  /// The words of the table that is being written.
  std::vector<int64_t> tableWords;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUSTATE_H
