//===- MessageTransport.cpp - Ranks that exchange messages ----------------===//
//
// A record is appended to the last message of a queue until that message is
// full or sent. So many small stores travel in one message when they come
// faster than the network sends.
//
//===----------------------------------------------------------------------===//

#include "runtime/team/MessageTransport.h"

#include "runtime/base/FreeMemory.h"
#include "runtime/team/MessageRecord.h"
#include "runtime/team/Wait.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace ccn::runtime {

namespace {

/// How many requests of one thread may be under way at a time, in units of the
/// largest record.
constexpr int64_t readWindow = 4;

} // namespace

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
  // One byte more, so that a block of no bytes has an address too.
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
  // Under the lock, this cannot come between the progress thread's last check
  // and its sleep.
  std::lock_guard<std::mutex> lock(wakeMutex);
  wakeUp.notify_one();
}

void MessageTransport::append(int rank, const Record &record,
                              const void *data) {
  Queue &queue = queueOf(rank);
  size_t bytes = sizeof record + record.dataBytes();
  {
    std::lock_guard<std::mutex> lock(queue.mutex);
    // Once this rank has left, others may be gone. A beat that nobody accepts
    // would keep this process from ending.
    if (record.kind == Record::Beat && hasLeft(own))
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

/// Waits until the queue has room for a record; false if the team has failed.
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
    append(rank, {Record::Put, static_cast<uint32_t>(n), offset + done, 0},
           from + done);
    done += n;
  }
}

void MessageTransport::putWord(Waiter &waiter, int rank, int64_t offset,
                               uint64_t value) {
  if (waitForRoom(waiter, rank))
    append(rank, {Record::Word, 0, offset, value}, nullptr);
}

void MessageTransport::storeRelease(Waiter &waiter, int rank, int64_t offset,
                                    uint32_t value) {
  if (waitForRoom(waiter, rank))
    append(rank, {Record::Flag, 0, offset, value}, nullptr);
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
    append(rank,
           {Record::Read, static_cast<uint32_t>(n), offset + done, ids.back()},
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
  // Replies that arrive after this are dropped.
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
    append(0, {Record::Allocate, 0, index, static_cast<uint64_t>(bytes)},
           nullptr);
  if (failed())
    return failure();
  return offset;
}

/// Called on rank 0, which gets a record of every allocation of every rank.
void MessageTransport::compareAllocation(int rank, int64_t index,
                                         int64_t bytes) {
  Allocation first{};
  {
    std::lock_guard<std::mutex> lock(allocationMutex);
    // Each rank's allocations arrive in order, so no index is skipped.
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
    appendToAll({Record::Fail, static_cast<uint32_t>(text.size()), 0, 0},
                text.data());
}

/// Returns whether this is the team's first failure.
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
    appendToAll({Record::Fail, static_cast<uint32_t>(text.size()), 0, 0},
                text.data());
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
    appendToAll({Record::Leave, 0, 0, 0}, nullptr);
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

} // namespace ccn::runtime
