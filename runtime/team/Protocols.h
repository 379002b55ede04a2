//===- Protocols.h - Protocols by which ranks exchange data -----*- C++ -*-===//
//
// The protocols of all collectives, on the CPU and on GPUs: epoch signals, LL
// and Lamport. Each protocol is a template over the memory on which it runs
// (RankMemory.h), so a model checker in the tests can explore it exhaustively.
//
// An epoch is the number of a call of one instance of a collective, from 1 on.
// Flags hold the low 32 bits of an epoch and are never reset, so a captured
// graph of calls can be replayed. Every instance has its own flags and buffers.
//
// LL ("low latency", as in NCCL) sends each 4 bytes of data with a 4-byte flag
// in one 8-byte store: whoever sees the flag has the data. Lamport (as in
// TensorRT-LLM) sends data alone: a word has arrived when it is not the
// sentinel, a value that data never has.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TEAM_PROTOCOLS_H
#define CCN_RUNTIME_TEAM_PROTOCOLS_H

#include "runtime/plan/ProtocolRules.h"
#include "runtime/team/Wait.h"

#include <algorithm>
#include <span>
#include <vector>

namespace ccn::runtime {

/// The ranks that take part in a collective, the same list on all of them, and
/// this rank's position in the list.
struct Members {
  std::vector<int> ranks;
  int position = 0;

  int count() const { return static_cast<int>(ranks.size()); }
  int rankAt(int member) const { return ranks[static_cast<size_t>(member)]; }
};

/// Calls body(member) for all members but this one, beginning with the next
/// one, so that different members begin with different peers. Stops at the
/// first failure.
template <typename Body> Status forEachPeer(const Members &members, Body body) {
  for (int i = 1; i < members.count(); ++i) {
    int member = (members.position + i) % members.count();
    if (Status status = body(member); !status)
      return status;
  }
  return Status();
}

/// The number of a call.
using Epoch = uint64_t;

/// Whether a flag holds `wanted` or a later epoch.
inline bool reached(uint32_t seen, Epoch wanted) {
  return ccnReached(seen, static_cast<uint32_t>(wanted));
}

//===----------------------------------------------------------------------===//
// Epoch signals
//===----------------------------------------------------------------------===//

/// Flags in the memory of every rank. One other rank sets a flag to the epoch
/// that it has completed. Whoever awaits the flag sees everything that the
/// setter did before.
struct Signals {
  /// For error messages: what the flags say has been done.
  const char *what = "";
  int64_t offset = 0;

  static constexpr int64_t stride = symmetricAlignment;
  static int64_t bytes(int64_t flags) { return flagBytes(flags); }

  /// Sets flag `index` of `rank`.
  template <typename Memory>
  void set(Memory &memory, int rank, int64_t index, Epoch epoch) const {
    memory.storeRelease(rank, offset + index * stride,
                        static_cast<uint32_t>(epoch));
  }
  /// Waits until `rank` has set flag `index` of this rank to `epoch` or a later
  /// one.
  template <typename Memory>
  Status await(Memory &memory, int rank, int64_t index, const char *operation,
               Epoch epoch) const {
    return memory.awaitFlag(
        offset + index * stride, rank, {operation, what, epoch},
        [epoch](uint32_t seen) { return reached(seen, epoch); });
  }
};

/// Tells all members that this one has reached `epoch` (flag i is member i's).
template <typename Memory>
void signalAll(Memory &memory, const Members &members, const Signals &signals,
               Epoch epoch) {
  (void)forEachPeer(members, [&](int member) {
    signals.set(memory, members.rankAt(member), members.position, epoch);
    return Status();
  });
}

/// Waits until all members have told this one so.
template <typename Memory>
Status awaitAll(Memory &memory, const Members &members, const Signals &signals,
                const char *operation, Epoch epoch) {
  return forEachPeer(members, [&](int member) {
    return signals.await(memory, members.rankAt(member), member, operation,
                         epoch);
  });
}

/// No member returns before all members have called this. What each did before
/// the call is visible to all afterwards.
template <typename Memory>
Status barrier(Memory &memory, const Members &members, const Signals &signals,
               const char *operation, Epoch epoch) {
  signalAll(memory, members, signals, epoch);
  return awaitAll(memory, members, signals, operation, epoch);
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// Slots in the memory of a receiver, each written by one sender. The flag
/// `full` says that an epoch's slot has been written; the flag `free`, in the
/// sender's memory, that it has been read. With two buffers the sender may be
/// one call ahead.
///
/// Sender:    awaitFree, write into buffer(epoch), signalFull
/// Receiver:  awaitFull, read from buffer(epoch), signalFree
template <uint32_t buffers = CCN_SCHEDULE_BUFFERS> struct Channel {
  Signals full{"data"}, free{"acknowledgement"};

  static int64_t buffer(Epoch epoch) { return ccnBufferOf(epoch, buffers); }

  /// Waits until `receiver` has read what this rank wrote `buffers` calls ago.
  template <typename Memory>
  Status awaitFree(Memory &memory, int receiver, int64_t index,
                   const char *operation, Epoch epoch) const {
    return free.await(memory, receiver, index, operation,
                      ccnEpochBefore(epoch, buffers));
  }
  template <typename Memory>
  void signalFull(Memory &memory, int receiver, int64_t index,
                  Epoch epoch) const {
    full.set(memory, receiver, index, epoch);
  }
  template <typename Memory>
  Status awaitFull(Memory &memory, int sender, int64_t index,
                   const char *operation, Epoch epoch) const {
    return full.await(memory, sender, index, operation, epoch);
  }
  template <typename Memory>
  void signalFree(Memory &memory, int sender, int64_t index,
                  Epoch epoch) const {
    free.set(memory, sender, index, epoch);
  }
};

//===----------------------------------------------------------------------===//
// One-shot exchanges: every member's data to every other
//===----------------------------------------------------------------------===//

/// Where the words of one-shot exchanges lie. Epochs take `buffers` buffers in
/// turn; a buffer holds `words` words from each of `members` members. The first
/// buffer is at `offset` in symmetric memory.
template <uint32_t buffers> class ExchangeSlots {
public:
  ExchangeSlots(int64_t offset, int members, int64_t words)
      : offset(offset), members(members), words(words) {}
  static int64_t bytes(int members, int64_t words) {
    return exchangedBytes(buffers, members, words);
  }

protected:
  int64_t place(Epoch epoch, int member, int64_t word) const {
    return placeIn(ccnBufferOf(epoch, buffers), member, word);
  }
  int64_t placeIn(int64_t buffer, int member, int64_t word) const {
    return offset + ((buffer * members + member) * words + word) * 8;
  }

  int64_t offset;
  int members;
  int64_t words;
};

/// LL. Two buffers suffice: before a member writes into a buffer again, it has
/// received the data of the call between from every other member, each of which
/// had then finished the earlier call.
template <uint32_t buffers = CCN_LL_BUFFERS>
class LowLatencyExchange : public ExchangeSlots<buffers> {
public:
  /// The data that one word carries.
  using Data = uint32_t;

  using ExchangeSlots<buffers>::ExchangeSlots;

  /// Nothing to do: epoch 1 needs zeros, and allocated memory is zero.
  template <typename Memory> void prepare(Memory &) const {}

  template <typename Memory>
  void send(Memory &memory, const Members &group, const Data *data,
            Epoch epoch) const {
    (void)forEachPeer(group, [&](int member) {
      for (int64_t w = 0; w < words; ++w)
        memory.putWord(group.rankAt(member), place(epoch, group.position, w),
                       epoch << 32 | data[w]);
      return Status();
    });
  }

  /// Waits for words [first, first + n) of `member`.
  template <typename Memory>
  Status receive(Memory &memory, const Members &group, int member,
                 int64_t first, int64_t n, Data *data, const char *operation,
                 Epoch epoch) const {
    for (int64_t w = 0; w < n; ++w) {
      uint64_t value = 0;
      Status status = memory.awaitWord(
          place(epoch, member, first + w), group.rankAt(member),
          {operation, "LL data", epoch},
          [epoch](uint64_t seen) {
            return seen >> 32 == static_cast<uint32_t>(epoch);
          },
          value);
      if (!status)
        return status;
      data[w] = static_cast<Data>(value);
    }
    return Status();
  }

  template <typename Memory>
  void finish(Memory &, const Members &, Epoch) const {}

private:
  using ExchangeSlots<buffers>::place, ExchangeSlots<buffers>::words;
};

/// Lamport. Each call clears the buffer of the call before. Of three buffers,
/// other members that are one call ahead may use one, this call uses another,
/// and nobody writes the third before all have finished this call. The fence
/// makes the clearing visible before the next call's data, which permits others
/// to write into the cleared buffer.
template <uint32_t buffers = CCN_LAMPORT_BUFFERS>
class LamportExchange : public ExchangeSlots<buffers> {
public:
  using Data = uint64_t;
  static constexpr Data sentinel = ~uint64_t(0);

  using ExchangeSlots<buffers>::ExchangeSlots;
  using ExchangeSlots<buffers>::bytes;

  /// Fills this rank's slots with the sentinel. All members must have done so
  /// before the first call.
  template <typename Memory> void prepare(Memory &memory) const {
    for (int64_t i = 0; i < bytes(members, words); i += 8)
      memory.putWord(memory.rank(), offset + i, sentinel);
  }

  /// No word of `data` may be the sentinel.
  template <typename Memory>
  void send(Memory &memory, const Members &group, const Data *data,
            Epoch epoch) const {
    (void)forEachPeer(group, [&](int member) {
      for (int64_t w = 0; w < words; ++w)
        memory.putWord(group.rankAt(member), place(epoch, group.position, w),
                       data[w]);
      return Status();
    });
  }

  template <typename Memory>
  Status receive(Memory &memory, const Members &group, int member,
                 int64_t first, int64_t n, Data *data, const char *operation,
                 Epoch epoch) const {
    for (int64_t w = 0; w < n; ++w) {
      Status status = memory.awaitWord(
          place(epoch, member, first + w), group.rankAt(member),
          {operation, "Lamport data", epoch},
          [](uint64_t seen) { return seen != sentinel; }, data[w]);
      if (!status)
        return status;
    }
    return Status();
  }

  /// Clears the buffer of the call before, which the call after the next uses
  /// again.
  template <typename Memory>
  void finish(Memory &memory, const Members &group, Epoch epoch) const {
    int64_t cleared = ccnBufferBefore(ccnBufferOf(epoch, buffers), buffers);
    (void)forEachPeer(group, [&](int member) {
      for (int64_t w = 0; w < words; ++w)
        memory.putWord(memory.rank(), placeIn(cleared, member, w), sentinel);
      return Status();
    });
    memory.fence();
  }

private:
  using ExchangeSlots<buffers>::members, ExchangeSlots<buffers>::offset,
      ExchangeSlots<buffers>::place, ExchangeSlots<buffers>::placeIn,
      ExchangeSlots<buffers>::words;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_PROTOCOLS_H
