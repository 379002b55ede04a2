//===- Redistribute.cpp - Collectives that move data only -----------------===//
//
// all_gather, all_to_all, send, broadcast, gather and scatter are one: each
// member holds a box of a tensor and wants another, and every pair of members
// has the common part of what one holds and the other wants. The sender packs
// it into the receiver's memory, over a channel of two buffers.
//
//===----------------------------------------------------------------------===//

#include "runtime/CollectiveSupport.h"

#include <algorithm>
#include <cstring>

namespace ccn::runtime {

namespace {

/// What travels between which members.
struct Movement {
  const char *operation;
  ElementType type = ElementType::F32;
  /// By member; a box of some size 0 is nothing.
  std::vector<Box> held, wanted;
  /// Of each member the one that sends to it; empty if all do.
  std::vector<int> source = {};
  /// The only member that receives; -1 if all do.
  int receiver = -1;
  /// What a member's result is before anything arrives.
  enum Initial { Nothing, Input, Zeros } initial = Nothing;

  bool travels(int from, int to) const {
    return (receiver < 0 || receiver == to) &&
           (source.empty() || source[static_cast<size_t>(to)] == from);
  }
  Box block(int from, int to) const {
    return intersect(held[static_cast<size_t>(from)],
                     wanted[static_cast<size_t>(to)]);
  }
  int64_t blockBytes(int from, int to) const {
    return travels(from, to) ? block(from, to).count() * sizeInBytes(type) : 0;
  }
};

class Redistribution : public Collective {
public:
  static Result<CollectivePtr> make(RankMemory &memory, const Group &group,
                                    Movement movement, int64_t count) {
    Result<Members> members = checkGroup(memory, group, movement.operation);
    if (!members)
      return memory.fail(members.message());
    auto result =
        std::make_unique<Redistribution>(memory, *members, std::move(movement));
    if (Status status = result->prepare(group, count); !status)
      return memory.fail(status.message());
    return CollectivePtr(std::move(result));
  }

  Redistribution(RankMemory &memory, Members members, Movement movement)
      : memory(memory), members(std::move(members)),
        movement(std::move(movement)) {}

  Status run(const void *input, void *output) override {
    Status status = runChecked(static_cast<const std::byte *>(input),
                               static_cast<std::byte *>(output));
    return status ? status : memory.fail(status.message());
  }

private:
  /// The common part of what one member has and the other wants.
  struct Block {
    int peer;
    Box region;
    /// From the start of the receiver's buffer.
    int64_t offset;
  };

  Status prepare(const Group &group, int64_t count) {
    int own = members.position;
    for (int to = 0; to < members.count(); ++to) {
      int64_t offset = 0;
      for (int from = 0; from < members.count(); ++from) {
        int64_t bytes = movement.blockBytes(from, to);
        if (bytes == 0 || from == to)
          continue;
        if (from == own)
          sends.push_back({to, movement.block(from, to), offset});
        if (to == own)
          receives.push_back({from, movement.block(from, to), offset});
        offset += aligned(bytes);
      }
      bufferBytes = std::max(bufferBytes, offset);
    }
    // Each starts with the next member, so that not all send to one at a time.
    auto next = std::find_if(sends.begin(), sends.end(),
                             [&](const Block &b) { return b.peer > own; });
    std::rotate(sends.begin(), next, sends.end());
    Result<int64_t> bytes =
        symmetricBytes(group, movement.type, count, bufferBytes,
                       members.count(), movement.operation);
    if (!bytes)
      return bytes.status();
    bufferBytes = aligned(*bytes);
    for (Signals *signals : {&channel.full, &channel.free})
      if (Status status = allocateSignals(memory, members, *signals); !status)
        return status;
    Result<int64_t> allocated = memory.allocate(2 * bufferBytes);
    if (allocated)
      buffers = *allocated;
    return allocated.status();
  }

  const Box &ownHeld() const {
    return movement.held[static_cast<size_t>(members.position)];
  }
  const Box &ownWanted() const {
    return movement.wanted[static_cast<size_t>(members.position)];
  }

  Status runChecked(const std::byte *input, std::byte *output) {
    int64_t elementSize = sizeInBytes(movement.type);
    const char *operation = movement.operation;
    int own = members.position;
    int64_t heldBytes = ownHeld().count() * elementSize;
    int64_t wantedBytes = ownWanted().count() * elementSize;
    if (Status status =
            checkBuffer(input, heldBytes, movement.type, operation, "input");
        !status)
      return status;
    if (Status status = checkBuffer(output, wantedBytes, movement.type,
                                    operation, "output");
        !status)
      return status;
    ++epoch;
    int64_t buffer = buffers + decltype(channel)::buffer(epoch) * bufferBytes;
    for (const Block &block : sends) {
      int rank = members.rankAt(block.peer);
      if (Status status =
              channel.awaitFree(memory, rank, block.peer, operation, epoch);
          !status)
        return status;
      memory.putFormed(rank, buffer + block.offset,
                       block.region.count() * elementSize, packed,
                       [&](std::byte *to) {
                         copyBox(elementSize, block.region, input, ownHeld(),
                                 to, block.region);
                       });
      channel.signalFull(memory, rank, own, epoch);
    }
    takeOwn(input, heldBytes, output, wantedBytes);
    for (const Block &block : receives) {
      int rank = members.rankAt(block.peer);
      if (Status status =
              channel.awaitFull(memory, rank, block.peer, operation, epoch);
          !status)
        return status;
      copyBox(elementSize, block.region,
              memory.at(memory.rank(), buffer + block.offset), block.region,
              output, ownWanted());
      channel.signalFree(memory, rank, own, epoch);
    }
    return Status();
  }

  /// What needs no travel. Input and output may be the same.
  void takeOwn(const std::byte *input, int64_t heldBytes, std::byte *output,
               int64_t wantedBytes) {
    int own = members.position;
    bool inPlace = input == output;
    int64_t elementSize = sizeInBytes(movement.type);
    if (movement.initial == Movement::Zeros && wantedBytes > 0)
      std::memset(output, 0, static_cast<size_t>(wantedBytes));
    if (movement.initial == Movement::Input && wantedBytes > 0 && !inPlace)
      std::memcpy(output, input, static_cast<size_t>(wantedBytes));
    if (movement.blockBytes(own, own) == 0)
      return;
    Box region = movement.block(own, own);
    if (inPlace) {
      kept.assign(input, input + heldBytes);
      input = kept.data();
    }
    copyBox(elementSize, region, input, ownHeld(), output, ownWanted());
  }

  RankMemory &memory;
  Members members;
  Movement movement;
  std::vector<Block> sends, receives;
  Channel<2> channel;
  int64_t buffers = 0, bufferBytes = 0;
  Epoch epoch = 0;
  std::vector<std::byte> kept, packed;
};

/// Makes a redistribution of a tensor of `shape`, of which fill(members,
/// movement) says who holds and wants what.
template <typename Fill>
Result<CollectivePtr>
makeMovement(RankMemory &memory, const Group &group, const char *operation,
             ElementType type, const std::vector<int64_t> &shape, Fill fill) {
  Result<Members> members = checkGroup(memory, group, operation);
  if (!members)
    return memory.fail(members.message());
  Result<int64_t> bytes = checkShape(shape, type, operation);
  if (!bytes)
    return memory.fail(bytes.message());
  auto count = static_cast<size_t>(members->count());
  Movement movement{operation, type, std::vector<Box>(count, Box::whole(shape)),
                    std::vector<Box>(count, Box::whole(shape))};
  if (Status status = fill(*members, movement); !status)
    return memory.fail(status.message());
  return Redistribution::make(memory, group, std::move(movement),
                              *bytes / sizeInBytes(type));
}

Status setSlices(std::vector<Box> &boxes, const Group &group,
                 const std::vector<int64_t> &shape, Cut cut,
                 const char *operation) {
  Result<std::vector<Box>> slices = sliceBoxes(group, shape, cut, operation);
  if (!slices)
    return slices.status();
  boxes = *std::move(slices);
  return Status();
}

} // namespace

Result<CollectivePtr> makeAllGather(RankMemory &memory, const Group &group,
                                    ElementType type,
                                    const std::vector<int64_t> &shape,
                                    Cut cut) {
  return makeMovement(memory, group, "all_gather", type, shape,
                      [&](const Members &, Movement &movement) {
                        return setSlices(movement.held, group, shape, cut,
                                         movement.operation);
                      });
}

Result<CollectivePtr> makeAllToAll(RankMemory &memory, const Group &group,
                                   ElementType type,
                                   const std::vector<int64_t> &shape, Cut from,
                                   Cut to) {
  return makeMovement(memory, group, "all_to_all", type, shape,
                      [&](const Members &, Movement &movement) {
                        Status status = setSlices(movement.held, group, shape,
                                                  from, movement.operation);
                        return status ? setSlices(movement.wanted, group, shape,
                                                  to, movement.operation)
                                      : status;
                      });
}

Result<CollectivePtr> makeSend(RankMemory &memory, const Group &group,
                               ElementType type,
                               const std::vector<int64_t> &shape,
                               int64_t shift) {
  return makeMovement(
      memory, group, "send", type, shape,
      [&](const Members &members, Movement &movement) {
        movement.initial = Movement::Input;
        for (int to = 0; to < members.count(); ++to) {
          int64_t from;
          bool exists = !__builtin_sub_overflow(int64_t(to), shift, &from) &&
                        from >= 0 && from < members.count();
          movement.source.push_back(exists ? static_cast<int>(from) : -1);
        }
        return Status();
      });
}

Result<CollectivePtr> makeBroadcast(RankMemory &memory, const Group &group,
                                    ElementType type,
                                    const std::vector<int64_t> &shape,
                                    int root) {
  return makeMovement(memory, group, "broadcast", type, shape,
                      [&](const Members &members, Movement &movement) {
                        movement.source.assign(
                            static_cast<size_t>(members.count()), root);
                        return checkRoot(members, root, movement.operation);
                      });
}

Result<CollectivePtr> makeGather(RankMemory &memory, const Group &group,
                                 ElementType type,
                                 const std::vector<int64_t> &shape, Cut cut,
                                 int root) {
  return makeMovement(
      memory, group, "gather", type, shape,
      [&](const Members &members, Movement &movement) {
        if (Status status = checkRoot(members, root, movement.operation);
            !status)
          return status;
        movement.initial =
            members.position == root ? Movement::Nothing : Movement::Zeros;
        movement.receiver = root;
        return setSlices(movement.held, group, shape, cut, movement.operation);
      });
}

Result<CollectivePtr> makeScatter(RankMemory &memory, const Group &group,
                                  ElementType type,
                                  const std::vector<int64_t> &shape, Cut cut,
                                  int root) {
  return makeMovement(
      memory, group, "scatter", type, shape,
      [&](const Members &members, Movement &movement) {
        movement.source.assign(static_cast<size_t>(members.count()), root);
        Status status = checkRoot(members, root, movement.operation);
        return status ? setSlices(movement.wanted, group, shape, cut,
                                  movement.operation)
                      : status;
      });
}

} // namespace ccn::runtime
