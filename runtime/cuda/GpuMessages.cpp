//===- GpuMessages.cpp - Ranks whose GPUs cannot access each other --------===//
//
// Every rank knows all messages, in the same order, and takes part in those of
// which it is one end. Messages that are sent at once are one group of NCCL's;
// those that are not contiguous go through staging memory, row by row.
// Communicators do not block: a thread that waits for one polls the other ranks
// too.
//
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuMessages.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <system_error>
#include <thread>

namespace ccn::runtime {

namespace {

/// The alignment of copies and staging memory, so that vectors lie where the
/// other ranks have them.
constexpr int64_t alignment = 256;
/// The time between two polls.
constexpr std::chrono::milliseconds lookInterval(20);
/// How long communicators may take to be given up, in seconds.
constexpr double graceSeconds = 5;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
bool isOver(int64_t since, double seconds) {
  return static_cast<double>(now() - since) > seconds * 1e9;
}

int64_t alignUp(int64_t value) {
  return (value + alignment - 1) / alignment * alignment;
}

int64_t bytesOf(const GpuMessage &message) {
  int64_t bytes = message.bytes;
  for (int64_t count : message.counts)
    bytes *= count;
  return bytes;
}

/// The bytes of a message in memory, from the first to the last.
int64_t extentOf(const GpuMessage &message) {
  int64_t extent = message.bytes;
  for (size_t i = 0; i < message.counts.size(); ++i)
    extent += (message.counts[i] - 1) * message.strides[i];
  return extent;
}

} // namespace

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

void GpuMessages::add(std::vector<End> &list, Channel &channel,
                      const GpuMessage &message, int64_t &staged) {
  if (message.from != options.rank && message.to != options.rank)
    return;
  End end;
  end.sends = message.from == options.rank;
  end.isOwn = end.sends != message.isWrite;
  end.peer = end.sends ? message.to : message.from;
  end.message = message;
  end.bytes = bytesOf(message);
  channel.peers[static_cast<size_t>(end.peer)] = true;
  if (!message.counts.empty()) {
    end.staged = staged;
    staged += alignUp(end.bytes);
    channel.stagingBytes = std::max(channel.stagingBytes, staged);
  }
  if (!end.isOwn) {
    Copy &copy = copies[copyIndex(end.peer, message.argument)];
    int64_t last = message.offset + extentOf(message);
    copy.begin =
        copy.end == 0 ? message.offset : std::min(copy.begin, message.offset);
    copy.end = std::max(copy.end, last);
  }
  list.push_back(std::move(end));
}

void GpuMessages::addMessages(const Plan &plan, const GpuProgram &program) {
  const RankPlan &own = plan.ranks[static_cast<size_t>(options.rank)];
  copies.resize(ranks * (argumentsOfRank + 1));
  channels.resize(static_cast<size_t>(own.streams));
  for (Channel &channel : channels)
    channel.peers.resize(ranks);
  for (size_t i = 0; i < own.launches.size(); ++i) {
    LaunchMessages &launch = launches.emplace_back();
    launch.name = own.launches[i].name;
    launch.channel = static_cast<size_t>(own.launches[i].stream);
    for (const std::vector<GpuMessage> &messages :
         program.segments[i].messages) {
      std::vector<End> &list = launch.when.emplace_back();
      int64_t staged = 0;
      for (const GpuMessage &message : messages)
        add(list, channels[launch.channel], message, staged);
    }
  }
}

Status GpuMessages::takeMemory() {
  for (Copy &copy : copies) {
    if (copy.end == 0)
      continue;
    // The copy is aligned where the other's memory is.
    copy.begin = copy.begin / alignment * alignment;
    Result<DeviceMemory> taken = allocateMemory(
        device, copy.end - copy.begin, "a copy of another rank's memory");
    if (!taken)
      return taken.status();
    copy.memory = *std::move(taken);
    copy.address = copy.memory.get() - static_cast<CUdeviceptr>(copy.begin);
  }
  for (Channel &channel : channels) {
    if (channel.stagingBytes == 0)
      continue;
    Result<DeviceMemory> taken = allocateMemory(
        device, channel.stagingBytes, "messages that are not contiguous");
    if (!taken)
      return taken.status();
    channel.staging = *std::move(taken);
  }
  return takeWords();
}

Status GpuMessages::takeWords() {
  void *host = nullptr;
  size_t bytes = sizeof(unsigned) * std::max<size_t>(launches.size(), 1);
  if (Status status = device.check(
          device.driver.memHostAlloc(&host, bytes, CU_MEMHOSTALLOC_PORTABLE),
          "cuMemHostAlloc");
      !status)
    return status;
  words = DeviceObject<void *>(host, device.driver.memFreeHost);
  auto *word = static_cast<unsigned *>(host);
  for (LaunchMessages &launch : launches) {
    *word = idle;
    launch.waiting = word++;
  }
  Result<DeviceMemory> taken = allocateMemory(
      device, sizeof idle, "what says that no messages are on their way");
  Result<CUstream> stream = device.setupStream();
  if (!taken || !stream)
    return taken ? stream.status() : taken.status();
  idleWord = *std::move(taken);
  Status status = device.check(device.driver.memcpyHtoDAsync(
                                   idleWord.get(), &idle, sizeof idle, *stream),
                               "cuMemcpyHtoDAsync");
  return status ? awaitStream(device, *stream) : status;
}

/// Waits until a call of NCCL's has been carried out.
Status GpuMessages::awaitComm(NcclComm comm, const char *call) {
  int64_t start = now();
  while (true) {
    NcclResult state = NcclSuccess;
    Status status = nccl.check(nccl.commGetAsyncError(comm, &state),
                               "ncclCommGetAsyncError");
    if (status)
      status = nccl.check(state, call);
    if (!status || state != NcclInProgress)
      return status;
    if (Status trouble = options.trouble(); !trouble)
      return trouble;
    if (isOver(start, options.timeLimit))
      return error(call, " has not ended within ", options.timeLimit, " s");
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

Status GpuMessages::connect(HostExchange &exchange) {
  for (size_t i = 0; i < channels.size(); ++i) {
    // Ranks may have messages on other streams, so all agree on which have any.
    Result<std::vector<int>> used = exchange.gather(static_cast<int>(
        std::count(channels[i].peers.begin(), channels[i].peers.end(), true)));
    if (!used)
      return used.status();
    if (std::count(used->begin(), used->end(), 0) ==
        static_cast<std::ptrdiff_t>(used->size()))
      continue;
    NcclId id{};
    if (options.rank == 0)
      if (Status status = nccl.check(nccl.getUniqueId(&id), "ncclGetUniqueId");
          !status)
        return status;
    Result<std::vector<NcclId>> ids = exchange.gather(id);
    if (!ids)
      return ids.status();
    NcclConfig config;
    if (options.blocks > 0)
      config.mostBlocks = options.blocks;
    NcclComm &comm = channels[i].comm;
    Status status =
        nccl.check(nccl.commInit(&comm, static_cast<int>(ranks), ids->front(),
                                 options.rank, &config),
                   "ncclCommInitRankConfig");
    if (status)
      status = awaitComm(comm, "ncclCommInitRankConfig");
    if (!status)
      return status;
  }
  return tryConnections();
}

/// NCCL connects ranks when they first send each other something. That takes
/// memory and time, so it is done here, before any run.
Status GpuMessages::tryConnections() {
  Result<DeviceMemory> memory = allocateMemory(
      device, static_cast<int64_t>(2 * ranks), "trying connections");
  Result<CUstream> stream = device.setupStream();
  if (!memory || !stream)
    return memory ? stream.status() : memory.status();
  trial = *std::move(memory);
  for (Channel &channel : channels) {
    if (!channel.comm)
      continue;
    Status status = nccl.check(nccl.groupStart(), "ncclGroupStart");
    if (!status)
      return status;
    for (size_t peer = 0; peer < ranks; ++peer) {
      if (!channel.peers[peer])
        continue;
      auto *byte = reinterpret_cast<void *>(trial.get() + 2 * peer);
      auto *other = reinterpret_cast<void *>(trial.get() + 2 * peer + 1);
      if (status)
        status =
            nccl.check(nccl.send(byte, 1, NcclBytes, static_cast<int>(peer),
                                 channel.comm, *stream),
                       "ncclSend");
      if (status)
        status =
            nccl.check(nccl.receive(other, 1, NcclBytes, static_cast<int>(peer),
                                    channel.comm, *stream),
                       "ncclRecv");
    }
    Status end = nccl.check(nccl.groupEnd(), "ncclGroupEnd");
    if (status)
      status = end;
    if (status)
      status = awaitComm(channel.comm, "ncclGroupEnd");
    if (!status)
      return status;
  }
  int64_t start = now();
  Status status = awaitStream(device, *stream, [&] {
    if (Status found = options.trouble(); !found)
      return found;
    if (Status found = libraryError(); !found)
      return found;
    return isOver(start, options.timeLimit)
               ? error("NCCL has not connected the ranks within ",
                       options.timeLimit, " s")
               : Status();
  });
  if (status)
    device.endSetup();
  return status;
}

/// Called after an error in set-up, because operations that were begun still
/// use the memory.
void GpuMessages::giveUp() {
  abort();
  int64_t start = now();
  Result<CUstream> stream = device.setupStream();
  if (!stream || !awaitStream(device, *stream, [&] {
        return isOver(start, graceSeconds) ? error("stuck") : Status();
      }))
    (void)trial.release();
}

Result<std::unique_ptr<GpuMessages>>
GpuMessages::create(const GpuDevice &device, HostExchange &exchange,
                    const Plan &plan, const GpuProgram &program,
                    const Options &options) {
  Result<const Nccl *> nccl = Nccl::get();
  if (!nccl)
    return nccl.status();
  std::unique_ptr<GpuMessages> made(
      new GpuMessages(device, **nccl, plan.ranks.size(),
                      program.sharedArguments.size(), options));
  made->addMessages(plan, program);
  Status status = made->takeMemory();
  if (status)
    status = made->connect(exchange);
  if (status)
    return made;
  status = options.fail(status);
  made->giveUp();
  return status;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

CUdeviceptr GpuMessages::placeOf(const End &end, CUdeviceptr symmetric,
                                 std::span<const CUdeviceptr> shared) const {
  int argument = end.message.argument;
  CUdeviceptr base = copyOf(end.peer, argument).address;
  if (end.isOwn)
    base = argument < 0 ? symmetric : shared[static_cast<size_t>(argument)];
  return base + static_cast<CUdeviceptr>(end.message.offset);
}

Status GpuMessages::mark(const LaunchMessages &launch, CUdeviceptr word,
                         CUstream stream) {
  return device.check(device.driver.memcpyDtoHAsync(launch.waiting, word,
                                                    sizeof(unsigned), stream),
                      "cuMemcpyDtoHAsync");
}

/// Copies between memory and staging memory, from dimension `dim` on; rows of
/// the last dimension are one copy.
Status GpuMessages::copyStaged(const End &end, size_t dim, CUdeviceptr place,
                               CUdeviceptr &staging, CUstream stream) {
  const GpuMessage &message = end.message;
  auto width = static_cast<size_t>(message.bytes),
       count = static_cast<size_t>(message.counts[dim]),
       pitch = static_cast<size_t>(message.strides[dim]);
  if (dim + 1 < message.counts.size()) {
    for (size_t i = 0; i < count; ++i)
      if (Status status =
              copyStaged(end, dim + 1, place + i * pitch, staging, stream);
          !status)
        return status;
    return Status();
  }
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = end.sends ? place : staging;
  copy.srcPitch = end.sends ? pitch : width;
  copy.dstDevice = end.sends ? staging : place;
  copy.dstPitch = end.sends ? width : pitch;
  copy.WidthInBytes = width;
  copy.Height = count;
  staging += width * count;
  return device.check(device.driver.memcpy2DAsync(&copy, stream),
                      "cuMemcpy2DAsync");
}

Status GpuMessages::exchange(size_t number, size_t when, CUstream stream,
                             CUdeviceptr epoch, CUdeviceptr symmetric,
                             std::span<const CUdeviceptr> shared) {
  const LaunchMessages &launch = launches[number];
  const std::vector<End> &ends = launch.when[when];
  if (ends.empty())
    return Status();
  Channel &channel = channels[launch.channel];
  auto stage = [&](bool sends) {
    for (const End &end : ends) {
      if (end.sends != sends || end.staged < 0)
        continue;
      CUdeviceptr staging =
          channel.staging.get() + static_cast<CUdeviceptr>(end.staged);
      if (Status status = copyStaged(end, 0, placeOf(end, symmetric, shared),
                                     staging, stream);
          !status)
        return status;
    }
    return Status();
  };
  Status status = mark(launch, epoch, stream);
  if (status)
    status = stage(/*sends=*/true);
  if (status)
    status = send(ends, channel, stream, symmetric, shared);
  if (status)
    status = stage(/*sends=*/false);
  return status ? mark(launch, idleWord.get(), stream) : status;
}

Status GpuMessages::send(const std::vector<End> &ends, Channel &channel,
                         CUstream stream, CUdeviceptr symmetric,
                         std::span<const CUdeviceptr> shared) {
  // Must not be locked while the driver waits for room in a stream, which may
  // never come.
  std::lock_guard lock(mutex);
  if (!channel.comm)
    return error("NCCL's communicator has been given up");
  Status status = nccl.check(nccl.groupStart(), "ncclGroupStart");
  if (!status)
    return status;
  for (const End &end : ends) {
    auto *place = reinterpret_cast<void *>(
        end.staged >= 0
            ? channel.staging.get() + static_cast<CUdeviceptr>(end.staged)
            : placeOf(end, symmetric, shared));
    auto bytes = static_cast<size_t>(end.bytes);
    if (!status)
      break;
    status = end.sends
                 ? nccl.check(nccl.send(place, bytes, NcclBytes, end.peer,
                                        channel.comm, stream),
                              "ncclSend")
                 : nccl.check(nccl.receive(place, bytes, NcclBytes, end.peer,
                                           channel.comm, stream),
                              "ncclRecv");
  }
  Status end = nccl.check(nccl.groupEnd(), "ncclGroupEnd");
  if (status)
    status = end;
  // What comes later in the stream must come after the messages.
  return status ? awaitComm(channel.comm, "ncclGroupEnd") : status;
}

//===----------------------------------------------------------------------===//
// The watching thread
//===----------------------------------------------------------------------===//

bool GpuMessages::isWaiting() const {
  return std::any_of(launches.begin(), launches.end(), [](const auto &launch) {
    return std::atomic_ref(*launch.waiting).load(std::memory_order_acquire) !=
           idle;
  });
}

Status GpuMessages::libraryError() const {
  for (const Channel &channel : channels) {
    if (!channel.comm)
      continue;
    NcclResult state = NcclSuccess;
    Status status = nccl.check(nccl.commGetAsyncError(channel.comm, &state),
                               "ncclCommGetAsyncError");
    if (status)
      status = nccl.check(state, "NCCL's communication");
    if (!status)
      return status;
  }
  return Status();
}

Status GpuMessages::lateMessages() {
  for (LaunchMessages &launch : launches) {
    unsigned waiting =
        std::atomic_ref(*launch.waiting).load(std::memory_order_acquire);
    if (waiting != launch.seen) {
      launch.seen = waiting;
      launch.seenSince = now();
    }
    if (waiting == idle || !isOver(launch.seenSince, options.timeLimit))
      continue;
    std::set<int> peers;
    for (const std::vector<End> &ends : launch.when)
      for (const End &end : ends)
        peers.insert(end.peer);
    std::string names;
    for (int peer : peers)
      names += (names.empty() ? " " : ", ") + std::to_string(peer);
    return error("launch '", launch.name, "': waited ", options.timeLimit,
                 " s for messages of ", peers.size() > 1 ? "ranks" : "rank",
                 names);
  }
  return Status();
}

Status GpuMessages::watch() {
  auto look = [this] {
    std::unique_lock lock(watchMutex);
    while (!watchEnds.wait_for(lock, lookInterval,
                               [this] { return watchHasEnded; })) {
      Status found = lateMessages();
      if (found && isWaiting()) {
        found = options.trouble();
        // If a call is using the communicators, that call looks itself.
        if (std::unique_lock own(mutex, std::try_to_lock); found && own)
          found = libraryError();
      }
      if (!found) {
        (void)options.fail(found);
        return;
      }
    }
  };
  try {
    watcher = std::thread(look);
  } catch (const std::system_error &failure) {
    return error("cannot start a thread: ", failure.what());
  }
  return Status();
}

void GpuMessages::endWatch() {
  {
    std::lock_guard lock(watchMutex);
    watchHasEnded = true;
  }
  watchEnds.notify_all();
  if (watcher.joinable())
    watcher.join();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// NCCL waits for its kernels, and for graphs that have them, so another thread
/// does this. It holds the device's context, which NCCL would otherwise make
/// anew, as it may take longer to end than this object lives.
void GpuMessages::retire(NcclComm &comm, bool aborts) {
  if (!comm)
    return;
  Result<std::unique_ptr<GpuDevice>> opened = GpuDevice::open(device.number);
  std::shared_ptr<GpuDevice> held = opened ? std::move(*opened) : nullptr;
  auto end = aborts ? nccl.commAbort : nccl.commDestroy;
  ++*retiring;
  std::thread([end, held, retired = std::exchange(comm, nullptr),
               left = retiring]() mutable {
    if (held) {
      CurrentContext current(held->driver, held->context);
      (void)end(retired);
    } else {
      (void)end(retired);
    }
    held.reset();
    --*left;
  }).detach();
}

void GpuMessages::abort() {
  std::lock_guard lock(mutex);
  for (Channel &channel : channels)
    retire(channel.comm, /*aborts=*/true);
}

GpuMessages::~GpuMessages() {
  endWatch();
  for (Channel &channel : channels)
    retire(channel.comm, /*aborts=*/false);
  int64_t start = now();
  while (*retiring > 0 && !isOver(start, graceSeconds))
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

} // namespace ccn::runtime
