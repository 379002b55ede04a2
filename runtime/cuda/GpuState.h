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

/// Keeps what must not be freed until the process ends, where checkers for
/// leaks find it.
template <typename T> void keepForever(std::unique_ptr<T> object) {
  static std::mutex mutex;
  static auto &kept = *new std::vector<std::unique_ptr<T>>;
  std::lock_guard lock(mutex);
  kept.push_back(std::move(object));
}

/// A launch that is ready to run.
struct PreparedGpuLaunch {
  CUfunction function = nullptr;
  unsigned blocks = 1, threads = 1, sharedBytes = 0;
  int stream = 0;
  CcnContext context{};
  std::vector<int64_t> numbers;
  /// What does its first part instead, if the addresses allow, and whether that
  /// is all of it.
  std::unique_ptr<LibraryProduct> product;
  bool isProduct = false;
  View a, b, c;
  /// Of GpuProgram::segments.
  int segments = 0;
  /// Launches on other streams that must be done.
  std::vector<int> waits;
  /// Says that it is done, if a launch on another stream waits for it.
  Event done;
  /// Of traces.
  Event begin, end;
};

/// How much a stream has been given: launches, copies, and what is recorded and
/// waited for. The driver has room for some 1,000 things in a queue; whoever
/// gives it more is held up, and may hold up other threads of the process,
/// which the queue may be waiting for.
struct StreamPace {
  /// So many are not followed by as many before they are done.
  static constexpr size_t most = 256;
  size_t given = 0;
  /// Behind the last of them, and of those before.
  Event last, before;
};

/// Host memory that the device accesses: what it reports, and what stops it.
struct HostWords {
  CcnFault fault;
  /// In another cache line.
  alignas(256) unsigned stop;
};

/// Where an argument is that ranks access of each other.
struct SharedPlaces {
  /// What kernels get for it, by rank: addresses, or those of tables.
  std::vector<CUdeviceptr> addresses;
  /// The own memory.
  std::vector<Piece> own;
  /// What is opened for that, of each piece.
  std::vector<PeerMemory> memory = {};
};

/// An argument that ranks access of each other.
struct SharedArgument {
  size_t number;
  /// Of an element, and the elements of the own part.
  int size;
  int64_t count;
  /// Whether it comes from the caller, and goes to it.
  bool isInput, isOutput, isScattered;
  /// In symmetric memory, and where the callers bound it if all ranks can
  /// access that. Where ranks send messages copies of the others', and of what
  /// is not scattered the own where this run's caller has it.
  SharedPlaces staged;
  std::optional<SharedPlaces> bound;

  const SharedPlaces &places() const { return bound ? *bound : staged; }
};

/// A scattered argument that only this rank accesses.
struct OwnScattered {
  size_t number;
  int size;
  /// What was bound, and its table.
  std::vector<Piece> bound;
  CUdeviceptr boundTable = 0;
  /// The table of runs that are given something else.
  DeviceMemory runTable;
};

/// An argument that callers may pass by value.
struct ValueArgument {
  size_t number;
  size_t bytes;
  /// Where runs find it then.
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
  /// Waits until all that this rank has started is done, and all in `stream`,
  /// or stops it if the team has failed; whether it has ended.
  bool settle(CUstream stream = nullptr);
  /// Likewise, and until all ranks have come so far: giving memory back waits
  /// for the device, and so for kernels of other ranks there, which may wait
  /// for what a third could not launch meanwhile. Whether nothing is in the
  /// way.
  bool endRuns(CUstream stream = nullptr);
  /// Ends this rank's part; whether what it used may be freed.
  bool finish();
  /// Frees it, and waits until all ranks have.
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
  /// Of the own part of each argument.
  std::vector<std::string> argumentNames;
  std::vector<int64_t> argumentCounts;
  std::vector<int> elementSizes;
  std::vector<std::string> launchNames, failures;

  // What comes later is given back first.
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
  /// Where this rank has them in this run, if ranks send messages.
  std::vector<CUdeviceptr> sentFrom;
  std::vector<OwnScattered> scattered;
  std::vector<ValueArgument> values;
  std::vector<PreparedGpuLaunch> launches;
  /// By stream; none of stream 0, which is the caller's, and of those without
  /// launches.
  std::vector<CUstream> streams;
  /// What they are taken from.
  std::shared_ptr<OwnStreams> ownStreams;
  std::vector<Event> joins;
  /// By stream; none where this rank has the device's queues for itself.
  std::vector<StreamPace> paces;
  Event fork, last, traceZero;

private:
  Result<bool> agreeOnLibrary(const GpuProgram &program);
  Status prepareMessages(const Plan &plan, const GpuProgram &program);
  Status prepareProducts(const GpuProgram &program);
  Status warmUpProducts(int64_t bytes);
  Status prepareMemory(const GpuProgram &program);
  Status agreeOnStreams(const GpuProgram &program);
  Status agreeOnBlocks(const GpuProgram &program);
  Status prepareLaunches(const GpuProgram &program);
  Status prepareStreams();
  Status prepareValues(const Plan &plan);
  /// Before the others may use this rank's memory.

  int64_t placeShared(const Plan &plan, const GpuProgram &program,
                      int64_t offset);
  MemoryNeeds memoryNeeds(const GpuProgram &program,
                          int64_t symmetricBytes) const;
  Status prepareShared();
  CUdeviceptr ownPlace(const SharedArgument &argument) const {
    return argument.places().addresses[static_cast<size_t>(rank)];
  }

  // Of scattered arguments (GpuPieces.cpp).
  Status prepareScattered(const Plan &plan, const GpuProgram &program);
  /// Where what all ranks gave of a shared argument is to be accessed; nothing
  /// if a rank cannot.
  Result<std::optional<SharedPlaces>>
  shareIfPossible(const SharedArgument &argument, void *given);
  Status bindScattered(OwnScattered &argument, void *given);
  /// Gives back the tables of what was bound.
  void forgetTables();
  Status checkUnbound(const OwnScattered &argument, PieceSpan pieces) const;
  /// Lets kernels find what the run was given.
  void findScattered();
  /// Tells the device where that is if it is not what was bound.
  Status placeTables(CUstream stream);
  /// The table of these pieces, which stays.
  Result<CUdeviceptr> tableOf(PieceSpan pieces);
  Status writeTable(CUdeviceptr place, PieceSpan pieces, CUstream stream);
  /// Copies what the caller has elsewhere than it was bound, before or after
  /// the run.
  Status stage(bool before, CUstream stream);
  /// Begins to use a stream of the caller's, unless that was used before or
  /// captures a graph.
  Status beginStream(CUstream stream);
  Status launchAll(CUstream stream);
  /// Before a stream of the plan is given so many things: waits where it has
  /// many that are not done.
  Status pace(size_t number, CUstream stream, size_t things);
  /// What a run gives the caller's stream beside its launches.
  size_t thingsBeside() const;
  Status launch(PreparedGpuLaunch &launch, CUstream stream, bool isTraced);
  /// All of a launch, with its messages.
  Status launchSegments(PreparedGpuLaunch &launch, CUstream stream);
  Status launchKernel(PreparedGpuLaunch &launch, CUstream stream);
  /// Where a view of own memory begins in this run.
  void *addressOf(const View &view) const;
  /// Waits for the runs that this rank has started.
  Status awaitRuns();
  Status awaitEvent(const Event &event);
  /// Lets the others see what the device has begun and done of a traced run.
  void showTraced() const;
  /// What a kernel has reported; success if none has.
  Status fault() const;
  /// What CUDA says of memory that is gone is less than why it is gone: waits
  /// whether that is known soon.
  Status explain(Status status) const;
  /// What makes waiting for the device pointless.
  Status trouble();
  /// Who has ended, though this rank still waits.
  Status lostRank() const;
  void stopKernels();
  /// Whether all that was started is done within so many seconds.
  bool isIdleWithin(double seconds, CUstream stream);
  bool isBusy(CUstream stream) const;
  Status reportTrace();

  HostWords *words = nullptr;
  CUdeviceptr deviceWords = 0;
  /// Of the run that is being started.
  bool isCaptured = false;
  /// Whether it is the first in its stream.
  bool isFirstRun = false;
  /// Whether any was a capture; who watches messages looks, too.
  std::atomic<bool> hasCaptured = false;
  bool mayBeUsed = false, hasRun = false, isTraceReady = false;
  uint64_t runs = 0;
  /// Of the callers' streams that were used last, by their numbers, which no
  /// other stream gets; 0 is none.
  std::array<unsigned long long, 16> usedStreams{};
  size_t nextUsed = 0;
  int64_t traceZeroTime = 0;
  /// When to look again whether the others are there, by the steady clock.
  std::atomic<int64_t> nextLook = 0;
  /// Of the run that is being started: what the caller gave, and what kernels
  /// get.
  std::vector<void *> given, arguments;
  /// What the caller gave, with places instead of values.
  std::vector<void *> placed;

  /// The kernel that writes tables, and what it gets.
  PreparedGpuLaunch tableWriter;
  /// Of what is staged, and then of what is bound.
  struct Table {
    std::vector<Piece> pieces;
    DeviceMemory memory;
  };
  std::vector<Table> tables;
  size_t stagedTables = 0;
  /// Of the table that is being written.
  std::vector<int64_t> tableWords;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUSTATE_H
