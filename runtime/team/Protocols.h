//===- Protocols.h - How ranks hand data to each other ----------*- C++ -*-===//
//
// The protocols of all collectives, on the CPU and on GPUs: epoch signals, LL
// and Lamport. Each is a template over the memory it runs on (RankMemory.h),
// and the tests explore each exhaustively.
//
// An epoch is the number of an instance's call, from 1. Flags hold its low 32
// bits and are never reset, so a captured graph of calls can be replayed. Every
// instance of a collective has its own flags and buffers.
//
// LL ("low latency", as in NCCL) sends each 4 bytes of data with a 4-byte flag
// in one 8-byte store: whoever sees the flag has the data. Lamport (as in
// TensorRT-LLM) sends data alone: a slot that holds anything but the sentinel,
// which data never contains, has arrived.
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
/// which of them this is.
struct Members {
  std::vector<int> ranks;
  int position = 0;

  int count() const { return static_cast<int>(ranks.size()); }
  int rankAt(int member) const { return ranks[static_cast<size_t>(member)]; }
};

/// Calls body(member) for all members but this one, from the next one round, so
/// that not all start with the same; stops at the first failure.
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

/// Flags in the memory of every rank, each set by one other rank to the epoch
/// of what is done. Everything the setter did before is visible to who awaits.
struct Signals {
  /// For messages: what the flags say is done.
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
  /// Waits until the own flag `index`, which `rank` sets, has reached `epoch`.
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

/// Waits until all members have told this one.
template <typename Memory>
Status awaitAll(Memory &memory, const Members &members, const Signals &signals,
                const char *operation, Epoch epoch) {
  return forEachPeer(members, [&](int member) {
    return signals.await(memory, members.rankAt(member), member, operation,
                         epoch);
  });
}

/// Nobody leaves before all have come, and what each did before it came is
/// visible to all.
template <typename Memory>
Status barrier(Memory &memory, const Members &members, const Signals &signals,
               const char *operation, Epoch epoch) {
  signalAll(memory, members, signals, epoch);
  return awaitAll(memory, members, signals, operation, epoch);
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// Slots in the memory of a receiver, each written by one sender: `full` says
/// that the slot of an epoch has been written, `free` (in the sender's memory)
/// that it has been read. With two buffers the sender may be one call ahead.
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

/// Where the words of one-shot exchanges lie: in `buffers` buffers in turn, in
/// each `words` words of each of `members` members, from `offset` on as
/// allocated.
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

/// LL. Two buffers suffice: a member that writes into a buffer again has, in
/// the call between, heard from every other that it had finished the call
/// before.
template <uint32_t buffers = CCN_LL_BUFFERS>
class LowLatencyExchange : public ExchangeSlots<buffers> {
public:
  /// The data that one word carries.
  using Data = uint32_t;

  using ExchangeSlots<buffers>::ExchangeSlots;

  /// Memory as allocated, all zero, is what the first epoch, 1, needs.
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

/// Lamport. The call that has read a buffer's successor clears it: of three,
/// one may be in use by others that are a call ahead, one by this call, and the
/// third nobody writes before all have finished this call. The fence keeps the
/// clearing before the next call's data, which lets others write into what was
/// cleared.
template <uint32_t buffers = CCN_LAMPORT_BUFFERS>
class LamportExchange : public ExchangeSlots<buffers> {
public:
  using Data = uint64_t;
  static constexpr Data sentinel = ~uint64_t(0);

  using ExchangeSlots<buffers>::ExchangeSlots;
  using ExchangeSlots<buffers>::bytes;

  /// Fills the own slots with the sentinel. Before the first call all members
  /// must have done so.
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

  /// Clears the buffer of the call before, which is the one of the call after
  /// the next.
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
