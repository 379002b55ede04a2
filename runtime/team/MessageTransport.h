//===- MessageTransport.h - Ranks that exchange messages --------*- C++ -*-===//
//
// The transport of ranks that are processes, on any hosts. Each process has
// only its own block of symmetric memory. A store to another rank's block
// travels as a record ("store these bytes there"); the other process applies
// the records of a sender in the order in which they were appended. A read is a
// request and its reply.
//
// One thread of each process, the progress thread, owns the network. The rank's
// own threads append records to the queue of the destination and go on while
// the data travels. The progress thread sends the queues, applies what arrives,
// replies to requests, and sleeps when there is nothing to do. A thread that
// appends to a full queue waits. The progress thread never waits: it always
// receives what others send, so ranks with full queues cannot wait for each
// other in a circle. It may add replies to a full queue, but each thread may
// request only a limited amount at a time.
//
// Every process regularly tells every other that it is alive. If a process has
// been silent too long, or has ended, the team fails.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TEAM_MESSAGETRANSPORT_H
#define CCN_RUNTIME_TEAM_MESSAGETRANSPORT_H

#include "runtime/team/Network.h"
#include "runtime/team/Transport.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace ccn::runtime {

struct MessageOptions {
  /// The seconds between two signs of life, and the seconds of silence after
  /// which a rank counts as lost.
  double beat = 0.5, silence = 5;
  /// Returns whether a rank's process has ended, as far as that can be known.
  std::function<bool(int rank)> hasEnded = {};
  /// The most bytes that wait to be sent to one rank.
  int64_t queueBytes = 1 << 20;
  /// The most bytes of one message.
  int64_t messageBytes = 1 << 16;

  /// The most bytes that wait to be sent to one rank of a team of `ranks`
  /// ranks; fewer than queueBytes in large teams.
  int64_t queueBytesOf(int ranks) const {
    constexpr int64_t maxInAll = int64_t(64) << 20;
    return std::min(queueBytes, std::max(maxInAll / ranks, 2 * messageBytes));
  }
};

class MessageTransport : public Transport, public RemoteMemory {
public:
  /// The transport of the network's rank, with a zeroed block of `bytesPerRank`
  /// bytes. All ranks of the network call it with the same sizes.
  static Result<std::unique_ptr<MessageTransport>>
  start(std::unique_ptr<Network> network, int64_t bytesPerRank,
        MessageOptions options = {});

  /// Closes the transport.
  ~MessageTransport() override;

  /// Leaves the team and waits until all other ranks have left too or are lost;
  /// waits only some seconds if the team has failed. Returns whether all have
  /// left and everything was sent: only then can the network be shut down in
  /// good order.
  bool close();

  RemoteMemory *remote() override { return this; }
  Result<int64_t> allocate(int rank, int64_t bytes) override;
  Status fail(int rank, const std::string &cause) override;
  Status failure() const override;
  bool failed() const override {
    return hasFailed.load(std::memory_order_acquire);
  }
  void leave(int rank) override;
  bool isGone(int rank) const override;
  bool hasLeft(int rank) const override;
  void setWaitingFor(int rank, int other) override;
  int waitingFor(int rank) const override;

  void put(Waiter &waiter, int rank, int64_t offset, const void *data,
           int64_t bytes) override;
  void putWord(Waiter &waiter, int rank, int64_t offset,
               uint64_t value) override;
  void storeRelease(Waiter &waiter, int rank, int64_t offset,
                    uint32_t value) override;
  void read(Waiter &waiter, int rank, int64_t offset, void *to,
            int64_t bytes) override;

private:
  struct Record;
  /// The messages that wait to be sent to one rank.
  struct Queue {
    std::mutex mutex;
    /// Each message has only whole records.
    std::deque<Message> messages;
    std::atomic<int64_t> bytes = 0;
    /// Used by the progress thread only: the message that the network has not
    /// accepted yet.
    Message next;
  };
  /// What this process knows of a rank.
  struct Peer {
    std::atomic<bool> left = false, lost = false;
    std::atomic<int> waitingFor = -1;
    // Used by the progress thread only.
    double lastHeard = 0;
    bool foundEnded = false;
  };
  /// A request whose reply has not arrived.
  struct PendingRead {
    std::byte *to = nullptr;
    int64_t bytes = 0;
    std::atomic<int64_t> *left = nullptr;
  };
  /// On rank 0: the size of the n-th allocation, and the rank that made it
  /// first.
  struct Allocation {
    int rank;
    int64_t bytes;
  };

  MessageTransport(std::unique_ptr<Network> network, int64_t bytesPerRank,
                   MessageOptions options);

  Queue &queueOf(int rank) { return *queues[static_cast<size_t>(rank)]; }
  Peer &peerOf(int rank) { return *peers[static_cast<size_t>(rank)]; }
  const Peer &peerOf(int rank) const {
    return *peers[static_cast<size_t>(rank)];
  }
  /// The most bytes of data in one record.
  int64_t mostData() const;

  void append(int rank, const Record &record, const void *data);
  void appendToAll(const Record &record, const void *data);
  bool waitForRoom(Waiter &waiter, int rank);
  void wake();
  void compareAllocation(int rank, int64_t index, int64_t bytes);
  bool setFailure(const std::string &text);

  // Used by the progress thread only.
  void progress();
  bool sendQueues();
  bool receiveMessages();
  void apply(int from, const Message &message);
  bool applyRecord(int from, const Record &record, const std::byte *data);
  void tick();
  void lose(int rank, const std::string &how);
  bool mayEnd();
  double now() const;

  std::unique_ptr<Network> network;
  const int own;
  const int64_t bytesPerRank;
  const MessageOptions options;
  std::byte *memory = nullptr;
  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<std::unique_ptr<Peer>> peers;
  const std::chrono::steady_clock::time_point startTime =
      std::chrono::steady_clock::now();

  std::atomic<bool> hasFailed = false;
  mutable std::mutex failureMutex;
  std::string failureText;

  std::mutex allocationMutex;
  int64_t allocated = 0, allocations = 0;
  std::vector<Allocation> firstAllocations;

  std::mutex readMutex;
  uint64_t lastRead = 0;
  std::map<uint64_t, PendingRead> reads;

  std::mutex wakeMutex;
  std::condition_variable wakeUp;
  std::atomic<bool> sleeping = false;

  // Used by the progress thread only.
  double lastTick = 0, lastBeat = 0, lastLoop = 0, closingSince = -1;
  bool clean = false;

  std::atomic<bool> closing = false;
  std::thread thread;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_MESSAGETRANSPORT_H
