//===- MessageProgress.cpp - The thread that owns the network -------------===//
//
// The progress thread of a MessageTransport. It sends the queues, applies the
// records that arrive, tells the other processes that this one is alive, and
// finds out which of them have ended.
//
//===----------------------------------------------------------------------===//

#include "runtime/team/MessageRecord.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace ccn::runtime {

/// Seconds between two checks of which ranks are alive.
static constexpr double tickInterval = 0.1;

void MessageTransport::progress() {
  using std::chrono::microseconds;
  // The pause doubles while nothing happens. The shortest pause is about as
  // long as a sleep takes at least. The longest delays a reply by little
  // compared with computation, and waking that often takes about a hundredth of
  // a core.
  constexpr microseconds shortest(20), longest(500);
  constexpr int yields = 10;
  microseconds pause = shortest;
  int idle = 0;
  while (!mayEnd()) {
    // Receives before it looks for silent ranks, so that no rank counts as
    // silent whose message has just arrived.
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
      // The network may soon accept the message that it did not accept now.
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
  // The most messages to one destination before the next one's turn.
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

/// Returns false if the record makes no sense.
bool MessageTransport::applyRecord(int from, const Record &record,
                                   const std::byte *data) {
  auto lies = [&](int64_t bytes, int64_t alignment) {
    return record.offset >= 0 && bytes <= bytesPerRank &&
           record.offset <= bytesPerRank - bytes &&
           record.offset % alignment == 0;
  };
  std::byte *place = memory + record.offset;
  switch (record.kind) {
  case Record::Put:
    if (!lies(record.bytes, 1))
      return false;
    std::memcpy(place, data, record.bytes);
    return true;
  case Record::Word:
    if (!lies(8, 8))
      return false;
    // A release: a rank that sees the word also sees the puts before it.
    std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t *>(place))
        .store(record.value, std::memory_order_release);
    return true;
  case Record::Flag:
    if (!lies(4, 4))
      return false;
    std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t *>(place))
        .store(static_cast<uint32_t>(record.value), std::memory_order_release);
    return true;
  case Record::Read:
    if (!lies(record.bytes, 1) || record.bytes > mostData())
      return false;
    append(from, {Record::Reply, record.bytes, 0, record.value}, place);
    return true;
  case Record::Reply: {
    std::lock_guard<std::mutex> lock(readMutex);
    auto found = reads.find(record.value);
    if (found == reads.end())
      return failed();
    PendingRead pending = found->second;
    if (pending.bytes != record.bytes)
      return false;
    std::memcpy(pending.to, data, record.bytes);
    reads.erase(found);
    // This comes last, as the reading thread may go on at once.
    pending.left->fetch_sub(record.bytes, std::memory_order_release);
    return true;
  }
  case Record::Allocate:
    if (own != 0 || record.offset < 0 || record.offset >= maxAllocations)
      return false;
    {
      std::lock_guard<std::mutex> lock(allocationMutex);
      if (record.offset > static_cast<int64_t>(firstAllocations.size()))
        return false;
    }
    compareAllocation(from, record.offset, static_cast<int64_t>(record.value));
    return true;
  case Record::Fail:
    setFailure(std::string(reinterpret_cast<const char *>(data), record.bytes));
    return true;
  case Record::Leave:
    peerOf(from).left.store(true, std::memory_order_release);
    return true;
  case Record::Beat:
    if (record.offset < -1 || record.offset >= ranks())
      return false;
    setWaitingFor(from, static_cast<int>(record.offset));
    return true;
  }
  return false;
}

/// Tells the other processes that this one is alive, and finds out which of
/// them are.
void MessageTransport::tick() {
  double time = now();
  // Time in which this thread did not receive is not silence of the others.
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
      // A message that waits to be sent is a sign of life too.
      if (rank != own && !peerOf(rank).lost && queueOf(rank).bytes.load() == 0)
        append(rank, {Record::Beat, 0, waitingFor(own), 0}, nullptr);
  }
  for (int rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peerOf(rank);
    if (rank == own || isGone(rank))
      continue;
    if (network->isCut(rank)) {
      lose(rank, "its connection is gone");
    } else if (options.hasEnded && options.hasEnded(rank)) {
      // Its last messages may still be on their way, so wait for the next
      // check.
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
  // Messages to lost ranks may never be sent.
  double waited = now() - closingSince;
  constexpr double farewell = 0.5;
  if (allGone && allTaken && (anyLost || !sent) && waited > farewell)
    return true;
  return failed() && waited > options.silence;
}

} // namespace ccn::runtime
