//===- Reductions.cpp - reduce_scatter and reduce -------------------------===//
//
// Each member puts its input, packed into one block for each member that
// receives, into its own symmetric memory; receivers combine their block of
// everybody's. The staging memory is a channel of one buffer.
//
//===----------------------------------------------------------------------===//

#include "runtime/CollectiveSupport.h"

#include <cstring>

namespace ccn::runtime {

namespace {

class Reduction : public Collective {
public:
  Reduction(RankMemory &memory, Members members, const char *operation,
            ElementType type, ReduceKind kind, Box whole,
            std::vector<Box> results)
      : memory(memory), members(std::move(members)), operation(operation),
        type(type), kind(kind), whole(std::move(whole)),
        results(std::move(results)) {}

  Status prepare(const Group &group) {
    int64_t bytes = 0;
    for (const Box &box : results) {
      offsets.push_back(bytes);
      bytes += aligned(box.count() * sizeInBytes(type));
    }
    Result<int64_t> staged = symmetricBytes(group, type, whole.count(), bytes,
                                            members.count(), operation);
    if (!staged)
      return staged.status();
    for (Signals *signals : {&channel.full, &channel.free})
      if (Status status = allocateSignals(memory, members, *signals); !status)
        return status;
    parts.resize(static_cast<size_t>(members.count()));
    viewed.resize(parts.size());
    Result<int64_t> allocated = memory.allocate(*staged);
    if (allocated)
      staging = *allocated;
    return allocated.status();
  }

  Status run(const void *input, void *output) override {
    Status status = runChecked(static_cast<const std::byte *>(input),
                               static_cast<std::byte *>(output));
    return status ? status : memory.fail(status.message());
  }

private:
  int64_t resultCount(int member) const {
    return results[static_cast<size_t>(member)].count();
  }
  int64_t place(int member) const {
    return staging + offsets[static_cast<size_t>(member)];
  }

  Status runChecked(const std::byte *input, std::byte *output) {
    int64_t elementSize = sizeInBytes(type);
    int own = members.position;
    int64_t inputBytes = whole.count() * elementSize;
    if (Status status =
            checkBuffer(input, inputBytes, type, operation, "input");
        !status)
      return status;
    if (Status status = checkBuffer(output, resultCount(own) * elementSize,
                                    type, operation, "output");
        !status)
      return status;
    ++epoch;
    Status status = forEachPeer(members, [&](int member) {
      if (resultCount(member) == 0)
        return Status();
      int rank = members.rankAt(member);
      Status isFree = channel.awaitFree(memory, rank, member, operation, epoch);
      if (!isFree)
        return isFree;
      stage(input, member);
      channel.signalFull(memory, rank, own, epoch);
      return Status();
    });
    if (!status || resultCount(own) == 0)
      return status;
    stage(input, own);
    status = forEachPeer(members, [&](int member) {
      return channel.awaitFull(memory, members.rankAt(member), member,
                               operation, epoch);
    });
    if (!status)
      return status;
    for (int member = 0; member < members.count(); ++member)
      parts[static_cast<size_t>(member)] = memory.view(
          members.rankAt(member), place(own), resultCount(own) * elementSize,
          viewed[static_cast<size_t>(member)]);
    if (status = memory.failure(); !status)
      return status;
    combine(kind, type, parts, resultCount(own), output);
    return forEachPeer(members, [&](int member) {
      channel.signalFree(memory, members.rankAt(member), own, epoch);
      return Status();
    });
  }

  /// Packs what `member` receives.
  void stage(const std::byte *input, int member) {
    const Box &box = results[static_cast<size_t>(member)];
    copyBox(sizeInBytes(type), box, input, whole,
            memory.at(memory.rank(), place(member)), box);
  }

  RankMemory &memory;
  Members members;
  const char *operation;
  ElementType type;
  ReduceKind kind;
  Box whole;
  /// What each member receives.
  std::vector<Box> results;
  std::vector<int64_t> offsets;
  Channel<1> channel;
  int64_t staging = 0;
  Epoch epoch = 0;
  std::vector<const std::byte *> parts;
  /// Of each member, for parts that are not in memory of an address.
  std::vector<std::vector<std::byte>> viewed;
};

/// reduce_scatter's result on all members, and on those but the root the input
/// again.
class RootedReduction : public Collective {
public:
  RootedReduction(std::unique_ptr<Reduction> reduction, bool isRoot,
                  int64_t bytes)
      : reduction(std::move(reduction)), isRoot(isRoot), bytes(bytes) {}

  Status run(const void *input, void *output) override {
    Status status = reduction->run(input, output);
    if (status.ok() && !isRoot && bytes > 0 && input != output)
      std::memcpy(output, input, static_cast<size_t>(bytes));
    return status;
  }

private:
  std::unique_ptr<Reduction> reduction;
  bool isRoot;
  int64_t bytes;
};

} // namespace

Result<CollectivePtr> makeReduceScatter(RankMemory &memory, const Group &group,
                                        ElementType type, ReduceKind kind,
                                        const std::vector<int64_t> &shape,
                                        Cut cut) {
  const char *operation = "reduce_scatter";
  Result<Members> members = checkGroup(memory, group, operation);
  if (!members)
    return memory.fail(members.message());
  if (Result<int64_t> bytes = checkShape(shape, type, operation); !bytes)
    return memory.fail(bytes.message());
  if (Status status = checkReduction(kind, type, std::string(name(type)));
      !status)
    return memory.fail(status.message());
  Result<std::vector<Box>> slices = sliceBoxes(group, shape, cut, operation);
  if (!slices)
    return memory.fail(slices.message());
  auto result =
      std::make_unique<Reduction>(memory, *members, operation, type, kind,
                                  Box::whole(shape), *std::move(slices));
  if (Status status = result->prepare(group); !status)
    return memory.fail(status.message());
  return CollectivePtr(std::move(result));
}

Result<CollectivePtr> makeReduce(RankMemory &memory, const Group &group,
                                 ElementType type, ReduceKind kind,
                                 const std::vector<int64_t> &shape, int root) {
  const char *operation = "reduce";
  Result<Members> members = checkGroup(memory, group, operation);
  if (!members)
    return memory.fail(members.message());
  Result<int64_t> bytes = checkShape(shape, type, operation);
  if (!bytes)
    return memory.fail(bytes.message());
  if (Status status = checkReduction(kind, type, std::string(name(type)));
      !status)
    return memory.fail(status.message());
  if (Status status = checkRoot(*members, root, operation); !status)
    return memory.fail(status.message());
  // As one dimension, which can be empty for all but the root.
  int64_t count = *bytes / sizeInBytes(type);
  std::vector<Box> results(static_cast<size_t>(members->count()), {{0}, {0}});
  results[static_cast<size_t>(root)] = Box::whole({count});
  auto result =
      std::make_unique<Reduction>(memory, *members, operation, type, kind,
                                  Box::whole({count}), std::move(results));
  if (Status status = result->prepare(group); !status)
    return memory.fail(status.message());
  return CollectivePtr(std::make_unique<RootedReduction>(
      std::move(result), members->position == root, *bytes));
}

} // namespace ccn::runtime
