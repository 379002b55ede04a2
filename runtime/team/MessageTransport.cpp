//===- MessageTransport.cpp - Ranks that reach others by messages ---------===//
//
// A message is a sequence of records, each a header and data. Queues hold
// messages to which records are appended until they are full or are sent, so
// that many small stores travel together when the network is slower than they
// come. All hosts are taken to have the same byte order.
//
//===----------------------------------------------------------------------===//

#include "runtime/team/MessageTransport.h"

#include "runtime/base/FreeMemory.h"
#include "runtime/team/Wait.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace ccn::runtime {

namespace {

/// Requests of one thread that may be under way at a time.
constexpr int64_t readWindow = 4;
/// Seconds between looks at who is alive.
constexpr double tickInterval = 0.1;
/// Each exchange of a plan takes one or two, in every layer and chunk.
constexpr int maxAllocations = 1 << 16;

enum Kind : uint32_t {
  Put,      ///< store the data at `offset`
  Word,     ///< store the 8 bytes of `value` at `offset`
  Flag,     ///< store the 4 bytes of `value` at `offset`, after all before
  Read,     ///< answer request `value` with as many bytes from `offset`
  Reply,    ///< the data of request `value`
  Allocate, ///< allocation number `offset` is of `value` bytes
  Fail,     ///< the team has failed; the data is the text
  Leave,    ///< the sender takes part no longer
  Beat,     ///< the sender lives and waits for rank `offset`, -1 for nobody
};

} // namespace

struct MessageTransport::Record {
  uint32_t kind;
  /// Of the data that follows, or of Read that is asked for.
  uint32_t bytes;
  int64_t offset;
  uint64_t value;

  size_t dataBytes() const { return kind == Read ? 0 : bytes; }
};

//===----------------------------------------------------------------------===//
// Start and end
//===----------------------------------------------------------------------===//

MessageTransport::MessageTransport(std::unique_ptr<Network> n, int64_t bytes,
                                   MessageOptions o)
    : network(std::move(n)), own(network->rank()), bytesPerRank(bytes),
      options(std::move(o)) {
  auto ranks = static_cast<size_t>(network->ranks());
  blocks.resize(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    queues.push_back(std::make_unique<Queue>());
    peers.push_back(std::make_unique<Peer>());
  }
}

Result<std::unique_ptr<MessageTransport>>
MessageTransport::start(std::unique_ptr<Network> network, int64_t bytesPerRank,
                        MessageOptions options) {
  int ranks = network->ranks();
  if (ranks < 1 || ranks > maxRanks)
    return error("expected 1 to ", maxRanks, " ranks, found ", ranks);
  if (bytesPerRank < 0 || bytesPerRank > int64_t(1) << 46)
    return error("cannot share ", bytesPerRank, " bytes");
  if (Status status =
          checkPiece(bytesPerRank, [] { return "symmetric memory"; });
      !status)
    return status;
  options.queueBytes = options.queueBytesOf(ranks);
  std::unique_ptr<MessageTransport> transport(new MessageTransport(
      std::move(network), bytesPerRank, std::move(options)));
  // A block of no bytes has an address too.
  void *block = mmap(nullptr, static_cast<size_t>(bytesPerRank) + 1,
                     PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED)
    return error("cannot share ", bytesPerRank,
                 " bytes: ", std::strerror(errno));
  transport->memory = static_cast<std::byte *>(block);
  transport->blocks[static_cast<size_t>(transport->own)] = transport->memory;
  transport->thread =
      std::thread([pointer = transport.get()] { pointer->progress(); });
  return transport;
}

MessageTransport::~MessageTransport() {
  close();
  if (memory)
    munmap(static_cast<void *>(memory), static_cast<size_t>(bytesPerRank) + 1);
}

bool MessageTransport::close() {
  if (!thread.joinable())
    return clean;
  leave(own);
  closing = true;
  wake();
  thread.join();
  return clean;
}

double MessageTransport::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                       startTime)
      .count();
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

int64_t MessageTransport::mostData() const {
  return options.messageBytes - static_cast<int64_t>(sizeof(Record));
}

void MessageTransport::wake() {
  if (!sleeping.exchange(false, std::memory_order_seq_cst))
    return;
  // Taken, so that this does not come between its last look and its sleep.
  std::lock_guard<std::mutex> lock(wakeMutex);
  wakeUp.notify_one();
}

void MessageTransport::append(int rank, const Record &record,
                              const void *data) {
  Queue &queue = queueOf(rank);
  size_t bytes = sizeof record + record.dataBytes();
  {
    std::lock_guard<std::mutex> lock(queue.mutex);
    // Who has heard that this rank leaves may be gone, and a beat that nobody
    // takes would keep this one.
    if (record.kind == Beat && hasLeft(own))
      return;
    if (queue.messages.empty() || queue.messages.back().size() + bytes >
                                      static_cast<size_t>(options.messageBytes))
      queue.messages.emplace_back();
    Message &message = queue.messages.back();
    const auto *header = reinterpret_cast<const std::byte *>(&record);
    message.insert(message.end(), header, header + sizeof record);
    const auto *from = static_cast<const std::byte *>(data);
    message.insert(message.end(), from, from + record.dataBytes());
    queue.bytes.fetch_add(static_cast<int64_t>(bytes),
                          std::memory_order_seq_cst);
  }
  wake();
}

void MessageTransport::appendToAll(const Record &record, const void *data) {
  for (int rank = 0; rank < ranks(); ++rank)
    if (rank != own)
      append(rank, record, data);
}

/// Whether a record may be appended, once there is room; false if the team has
/// failed.
bool MessageTransport::waitForRoom(Waiter &waiter, int rank) {
  if (failed())
    return false;
  Queue &queue = queueOf(rank);
  auto hasRoom = [&] { return queue.bytes.load() < options.queueBytes; };
  return hasRoom() || waiter
                          .wait(rank, {"sending", "room for more", 1}, hasRoom,
                                Waiter::Needs::Process)
                          .ok();
}

void MessageTransport::put(Waiter &waiter, int rank, int64_t offset,
                           const void *data, int64_t bytes) {
  const auto *from = static_cast<const std::byte *>(data);
  for (int64_t done = 0; done < bytes;) {
    int64_t n = std::min(bytes - done, mostData());
    if (!waitForRoom(waiter, rank))
      return;
    append(rank, {Put, static_cast<uint32_t>(n), offset + done, 0},
           from + done);
    done += n;
  }
}

void MessageTransport::putWord(Waiter &waiter, int rank, int64_t offset,
                               uint64_t value) {
  if (waitForRoom(waiter, rank))
    append(rank, {Word, 0, offset, value}, nullptr);
}

void MessageTransport::storeRelease(Waiter &waiter, int rank, int64_t offset,
                                    uint32_t value) {
  if (waitForRoom(waiter, rank))
    append(rank, {Flag, 0, offset, value}, nullptr);
}

void MessageTransport::read(Waiter &waiter, int rank, int64_t offset, void *to,
                            int64_t bytes) {
  auto *out = static_cast<std::byte *>(to);
  std::memset(out, 0, static_cast<size_t>(bytes));
  std::atomic<int64_t> left = 0;
  std::vector<uint64_t> ids;
  Status status;
  for (int64_t done = 0; done < bytes && status;) {
    int64_t n = std::min(bytes - done, mostData());
    status = waiter.wait(
        rank, {"reading", "memory", ids.size() + 1},
        [&] {
          return left.load(std::memory_order_acquire) < readWindow * mostData();
        },
        Waiter::Needs::Process);
    if (!status || !waitForRoom(waiter, rank))
      break;
    left.fetch_add(n, std::memory_order_relaxed);
    {
      std::lock_guard<std::mutex> lock(readMutex);
      ids.push_back(++lastRead);
      reads[ids.back()] = {out + done, n, &left};
    }
    append(rank, {Read, static_cast<uint32_t>(n), offset + done, ids.back()},
           nullptr);
    done += n;
  }
  if (status)
    status = waiter.wait(
        rank, {"reading", "memory", ids.size()},
        [&] { return left.load(std::memory_order_acquire) == 0; },
        Waiter::Needs::Process);
  if (status && !failed())
    return;
  // Answers that come late find nobody.
  std::lock_guard<std::mutex> lock(readMutex);
  for (uint64_t id : ids)
    reads.erase(id);
  std::memset(out, 0, static_cast<size_t>(bytes));
}

//===----------------------------------------------------------------------===//
// The team
//===----------------------------------------------------------------------===//

Result<int64_t> MessageTransport::allocate(int rank, int64_t bytes) {
  if (failed())
    return failure();
  int64_t offset, index;
  {
    std::lock_guard<std::mutex> lock(allocationMutex);
    offset = allocated;
    index = allocations;
    if (bytes >= 0 && index < maxAllocations &&
        bytes <= bytesPerRank - offset) {
      ++allocations;
      allocated =
          std::min((offset + bytes + alignment - 1) / alignment * alignment,
                   bytesPerRank);
    }
  }
  if (bytes < 0)
    return fail(rank, "cannot allocate " + std::to_string(bytes) + " bytes");
  if (index >= maxAllocations)
    return fail(rank, "more than " + std::to_string(maxAllocations) +
                          " symmetric allocations");
  if (bytes > bytesPerRank - offset)
    return fail(rank, "out of symmetric memory: " + std::to_string(bytes) +
                          " bytes do not fit the " +
                          std::to_string(bytesPerRank - offset) +
                          " that are left of " + std::to_string(bytesPerRank));
  if (own == 0)
    compareAllocation(own, index, bytes);
  else
    append(0, {Allocate, 0, index, static_cast<uint64_t>(bytes)}, nullptr);
  if (failed())
    return failure();
  return offset;
}

/// Of rank 0, which hears of everybody's allocations.
void MessageTransport::compareAllocation(int rank, int64_t index,
                                         int64_t bytes) {
  Allocation first{};
  {
    std::lock_guard<std::mutex> lock(allocationMutex);
    // Each rank's come in order, so there is no gap.
    if (index == static_cast<int64_t>(firstAllocations.size()))
      firstAllocations.push_back({rank, bytes});
    first = firstAllocations[static_cast<size_t>(index)];
  }
  if (first.bytes == bytes)
    return;
  std::string text = "rank " + std::to_string(rank) +
                     ": symmetric allocation " + std::to_string(index + 1) +
                     " is of " + std::to_string(bytes) +
                     " bytes, that of rank " + std::to_string(first.rank) +
                     " of " + std::to_string(first.bytes);
  if (setFailure(text))
    appendToAll({Fail, static_cast<uint32_t>(text.size()), 0, 0}, text.data());
}

/// Whether it is the first.
bool MessageTransport::setFailure(const std::string &text) {
  std::lock_guard<std::mutex> lock(failureMutex);
  if (hasFailed)
    return false;
  failureText = text;
  hasFailed.store(true, std::memory_order_release);
  return true;
}

Status MessageTransport::fail(int rank, const std::string &cause) {
  constexpr size_t longest = 1023;
  std::string text =
      ("rank " + std::to_string(rank) + ": " + cause).substr(0, longest);
  if (setFailure(text))
    appendToAll({Fail, static_cast<uint32_t>(text.size()), 0, 0}, text.data());
  return failure();
}

Status MessageTransport::failure() const {
  if (!failed())
    return Status();
  std::lock_guard<std::mutex> lock(failureMutex);
  return Status::failure(failureText);
}

void MessageTransport::leave(int rank) {
  if (!peerOf(rank).left.exchange(true))
    appendToAll({Leave, 0, 0, 0}, nullptr);
}

bool MessageTransport::hasLeft(int rank) const {
  return peerOf(rank).left.load(std::memory_order_acquire);
}

bool MessageTransport::isGone(int rank) const {
  return hasLeft(rank) || peerOf(rank).lost.load(std::memory_order_acquire);
}

void MessageTransport::setWaitingFor(int rank, int other) {
  peerOf(rank).waitingFor.store(other, std::memory_order_relaxed);
}

int MessageTransport::waitingFor(int rank) const {
  return peerOf(rank).waitingFor.load(std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// The progress thread
//===----------------------------------------------------------------------===//

void MessageTransport::progress() {
  using std::chrono::microseconds;
  // Doubles while nothing happens. The shortest is about what a sleep costs;
  // the longest, as an answer's delay, is little beside computation, and waking
  // that often takes about a hundredth of a core.
  constexpr microseconds shortest(20), longest(500);
  constexpr int yields = 10;
  microseconds pause = shortest;
  int idle = 0;
  while (!mayEnd()) {
    // Received before it is judged who is silent.
    bool busy = receiveMessages();
    busy |= sendQueues();
    tick();
    if (busy) {
      idle = 0;
      pause = shortest;
      continue;
    }
    if (++idle <= yields) {
      std::this_thread::yield();
      continue;
    }
    sleeping.store(true, std::memory_order_seq_cst);
    bool hasWork = false;
    for (int rank = 0; rank < ranks(); ++rank) {
      if (queueOf(rank).bytes.load() == 0)
        continue;
      // What the network did not take now it may take soon.
      bool isHeld = !queueOf(rank).next.empty();
      hasWork |= !isHeld;
      pause = isHeld ? shortest : pause;
    }
    if (!hasWork) {
      std::unique_lock<std::mutex> lock(wakeMutex);
      wakeUp.wait_for(lock, pause, [&] { return !sleeping.load(); });
      pause = std::min(2 * pause, longest);
    }
    sleeping.store(false, std::memory_order_seq_cst);
  }
}

bool MessageTransport::sendQueues() {
  // So that no destination keeps the others waiting.
  constexpr int most = 8;
  bool busy = false;
  for (int rank = 0; rank < ranks(); ++rank) {
    Queue &queue = queueOf(rank);
    if (queue.bytes.load() == 0)
      continue;
    for (int i = 0; i < most; ++i) {
      if (queue.next.empty()) {
        std::lock_guard<std::mutex> lock(queue.mutex);
        if (queue.messages.empty())
          break;
        queue.next = std::move(queue.messages.front());
        queue.messages.pop_front();
      }
      auto bytes = static_cast<int64_t>(queue.next.size());
      if (!peerOf(rank).lost) {
        Result<bool> taken = network->send(rank, queue.next);
        if (!taken)
          lose(rank, taken.message());
        else if (!*taken)
          break;
      }
      queue.next = Message();
      queue.bytes.fetch_sub(bytes);
      busy = true;
    }
  }
  return busy;
}

bool MessageTransport::receiveMessages() {
  constexpr int most = 64;
  int i = 0;
  for (; i < most; ++i) {
    Message message;
    int from = Network::anyRank;
    Result<bool> arrived = network->receive(from, message);
    if (!arrived) {
      (void)fail(own, arrived.message());
      break;
    }
    if (!*arrived)
      break;
    peerOf(from).lastHeard = now();
    apply(from, message);
  }
  return i > 0;
}

void MessageTransport::apply(int from, const Message &message) {
  size_t at = 0;
  while (at < message.size()) {
    Record record;
    bool isWhole = message.size() - at >= sizeof record;
    if (isWhole) {
      std::memcpy(&record, message.data() + at, sizeof record);
      at += sizeof record;
      isWhole = message.size() - at >= record.dataBytes();
    }
    if (!isWhole || !applyRecord(from, record, message.data() + at)) {
      (void)fail(own, "rank " + std::to_string(from) +
                          " sent what does not fit the memory here");
      return;
    }
    at += record.dataBytes();
  }
}

/// False if it makes no sense.
bool MessageTransport::applyRecord(int from, const Record &record,
                                   const std::byte *data) {
  auto lies = [&](int64_t bytes, int64_t alignment) {
    return record.offset >= 0 && bytes <= bytesPerRank &&
           record.offset <= bytesPerRank - bytes &&
           record.offset % alignment == 0;
  };
  std::byte *place = memory + record.offset;
  switch (record.kind) {
  case Put:
    if (!lies(record.bytes, 1))
      return false;
    std::memcpy(place, data, record.bytes);
    return true;
  case Word:
    if (!lies(8, 8))
      return false;
    // Releases: who sees the word sees the puts before it too.
    std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t *>(place))
        .store(record.value, std::memory_order_release);
    return true;
  case Flag:
    if (!lies(4, 4))
      return false;
    std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t *>(place))
        .store(static_cast<uint32_t>(record.value), std::memory_order_release);
    return true;
  case Read:
    if (!lies(record.bytes, 1) || record.bytes > mostData())
      return false;
    append(from, {Reply, record.bytes, 0, record.value}, place);
    return true;
  case Reply: {
    std::lock_guard<std::mutex> lock(readMutex);
    auto found = reads.find(record.value);
    if (found == reads.end())
      return failed();
    PendingRead pending = found->second;
    if (pending.bytes != record.bytes)
      return false;
    std::memcpy(pending.to, data, record.bytes);
    reads.erase(found);
    // Last: the reader may go on at once.
    pending.left->fetch_sub(record.bytes, std::memory_order_release);
    return true;
  }
  case Allocate:
    if (own != 0 || record.offset < 0 || record.offset >= maxAllocations)
      return false;
    {
      std::lock_guard<std::mutex> lock(allocationMutex);
      if (record.offset > static_cast<int64_t>(firstAllocations.size()))
        return false;
    }
    compareAllocation(from, record.offset, static_cast<int64_t>(record.value));
    return true;
  case Fail:
    setFailure(std::string(reinterpret_cast<const char *>(data), record.bytes));
    return true;
  case Leave:
    peerOf(from).left.store(true, std::memory_order_release);
    return true;
  case Beat:
    if (record.offset < -1 || record.offset >= ranks())
      return false;
    setWaitingFor(from, static_cast<int>(record.offset));
    return true;
  }
  return false;
}

/// Says that this process lives, and looks who else does.
void MessageTransport::tick() {
  double time = now();
  // Others may have spoken while this thread did not listen.
  double deaf = time - lastLoop;
  lastLoop = time;
  if (deaf > tickInterval)
    for (int rank = 0; rank < ranks(); ++rank)
      peerOf(rank).lastHeard += deaf;
  if (time - lastTick < std::min(tickInterval, options.beat))
    return;
  lastTick = time;
  if (time - lastBeat >= options.beat) {
    lastBeat = time;
    for (int rank = 0; rank < ranks(); ++rank)
      // What waits to be sent says as much.
      if (rank != own && !peerOf(rank).lost && queueOf(rank).bytes.load() == 0)
        append(rank, {Beat, 0, waitingFor(own), 0}, nullptr);
  }
  for (int rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peerOf(rank);
    if (rank == own || isGone(rank))
      continue;
    if (network->isCut(rank)) {
      lose(rank, "its connection is gone");
    } else if (options.hasEnded && options.hasEnded(rank)) {
      // Its last messages may be on their way.
      if (peer.foundEnded)
        lose(rank, "its process is gone");
      peer.foundEnded = true;
    } else if (time - peer.lastHeard > options.silence) {
      std::ostringstream text;
      text << "nothing was heard of it for " << options.silence << " s";
      lose(rank, text.str());
    }
  }
}

void MessageTransport::lose(int rank, const std::string &how) {
  if (!peerOf(rank).lost.exchange(true))
    (void)fail(own, "rank " + std::to_string(rank) + " has ended: " + how);
}

bool MessageTransport::mayEnd() {
  if (!closing)
    return false;
  if (closingSince < 0)
    closingSince = now();
  bool anyLost = false, allGone = true, allTaken = true;
  for (int rank = 0; rank < ranks(); ++rank) {
    anyLost |= peerOf(rank).lost;
    allGone &= isGone(rank);
    allTaken &= queueOf(rank).bytes.load() == 0;
  }
  Result<bool> sent = network->allSent();
  clean = allGone && allTaken && !anyLost && sent && *sent;
  if (clean)
    return true;
  // What is on its way to who is lost never leaves.
  double waited = now() - closingSince;
  constexpr double farewell = 0.5;
  if (allGone && allTaken && (anyLost || !sent) && waited > farewell)
    return true;
  return failed() && waited > options.silence;
}

} // namespace ccn::runtime
