//===- AllReduce.cpp - One-shot and two-shot all_reduce -------------------===//
//
// One-shot: every member sends all of its input to all others, and each
// combines everything. Two-shot: each combines a slice and stores the result,
// or what a body makes of it, to all others.
//
//===----------------------------------------------------------------------===//

#include "runtime/CollectiveSupport.h"

#include "runtime/SliceBounds.h"

#include <cstring>

namespace ccn::runtime {

namespace {

//===----------------------------------------------------------------------===//
// One-shot
//===----------------------------------------------------------------------===//

/// Clears the sign of elements of all ones: of a float type, that makes one NaN
/// another, and no word is the sentinel.
template <typename Bits> void scrubAs(std::byte *data, int64_t count) {
  Bits *bits = reinterpret_cast<Bits *>(data);
  for (int64_t i = 0; i < count; ++i)
    if (bits[i] == static_cast<Bits>(~Bits(0)))
      bits[i] = static_cast<Bits>(bits[i] >> 1);
}

void scrub(ElementType type, std::byte *data, int64_t count) {
  if (isFloat(type))
    withBits(type, [&](auto zero) { scrubAs<decltype(zero)>(data, count); });
}

template <typename Exchange> class OneShot : public Collective {
  using Data = typename Exchange::Data;
  static constexpr int64_t wordSize = sizeof(Data);
  static constexpr bool scrubs = std::is_same_v<Exchange, LamportExchange<>>;
  /// Words that are awaited of each member before they are combined.
  static constexpr int64_t blockWords = 512;

public:
  OneShot(RankMemory &memory, Members members, ElementType type,
          ReduceKind kind, int64_t count)
      : memory(memory), members(std::move(members)), type(type), kind(kind),
        count(count),
        words((count * sizeInBytes(type) + wordSize - 1) / wordSize) {}

  Status prepare(const Group &group) {
    Result<int64_t> padded =
        symmetricBytes(group, type, count, words * wordSize, 1, operation);
    if (!padded)
      return padded.status();
    int64_t largest = (*padded + wordSize - 1) / wordSize, total;
    if (__builtin_mul_overflow(largest, 4 * 8 * members.count(), &total))
      return error(operation, ": the tensor's bytes overflow");
    Result<int64_t> slots =
        memory.allocate(Exchange::bytes(members.count(), largest));
    if (!slots)
      return slots.status();
    exchange.emplace(*slots, members.count(), words);
    // Words of 8 bytes keep elements aligned.
    packed.resize(static_cast<size_t>(words * wordSize + 7) / 8);
    received.resize(static_cast<size_t>(members.count()) * blockWords);
    parts.resize(static_cast<size_t>(members.count()));
    Signals prepared{"preparation"};
    if (Status status = allocateSignals(memory, members, prepared); !status)
      return status;
    exchange->prepare(memory);
    return barrier(memory, members, prepared, operation, 1);
  }

  Status run(const void *input, void *output) override {
    Status status = runChecked(input, static_cast<std::byte *>(output));
    return status ? status : memory.fail(status.message());
  }

private:
  Status runChecked(const void *input, std::byte *output) {
    int64_t bytes = count * sizeInBytes(type);
    if (Status status = checkBuffer(input, bytes, type, operation, "input");
        !status)
      return status;
    if (Status status = checkBuffer(output, bytes, type, operation, "output");
        !status)
      return status;
    ++epoch;
    auto *own = reinterpret_cast<std::byte *>(packed.data());
    if (bytes > 0)
      std::memcpy(own, input, static_cast<size_t>(bytes));
    if (scrubs)
      scrub(type, own, count);
    exchange->send(memory, members, reinterpret_cast<const Data *>(own), epoch);
    for (int64_t first = 0; first < words; first += blockWords) {
      int64_t n = std::min(blockWords, words - first);
      Status status = forEachPeer(members, [&](int member) {
        uint64_t *block = &received[static_cast<size_t>(member) * blockWords];
        parts[static_cast<size_t>(member)] =
            reinterpret_cast<const std::byte *>(block);
        return exchange->receive(memory, members, member, first, n,
                                 reinterpret_cast<Data *>(block), operation,
                                 epoch);
      });
      if (!status)
        return status;
      parts[static_cast<size_t>(members.position)] = own + first * wordSize;
      // A word may be half an element; a block is always whole ones.
      int64_t done = first * wordSize / sizeInBytes(type);
      int64_t elements =
          std::min(count - done, n * wordSize / sizeInBytes(type));
      combine(kind, type, parts, elements, output + first * wordSize);
    }
    exchange->finish(memory, members, epoch);
    return Status();
  }

  static constexpr const char *operation = "all_reduce";
  RankMemory &memory;
  Members members;
  ElementType type;
  ReduceKind kind;
  int64_t count, words;
  std::optional<Exchange> exchange;
  Epoch epoch = 0;
  std::vector<uint64_t> packed, received;
  std::vector<const std::byte *> parts;
};

//===----------------------------------------------------------------------===//
// Two-shot
//===----------------------------------------------------------------------===//

class TwoShot : public ReduceBodyGather {
public:
  TwoShot(RankMemory &memory, Members members, ElementType type,
          ReduceKind kind, int64_t rows, int64_t rowSize,
          std::vector<ElementType> outputs, const char *operation)
      : memory(memory), members(std::move(members)), type(type), kind(kind),
        rows(rows), rowSize(rowSize), outputTypes(std::move(outputs)),
        operation(operation) {}

  Status prepare(const Group &group) {
    int64_t count = rows * rowSize;
    // Blocks of about blockSize elements, of whole rows.
    blockRows = std::max<int64_t>(1, blockSize / std::max<int64_t>(rowSize, 1));
    auto allocate = [&](ElementType of, int64_t &offset) {
      Result<int64_t> bytes = symmetricBytes(
          group, of, count, count * sizeInBytes(of), 1, operation);
      if (!bytes)
        return bytes.status();
      Result<int64_t> allocated = memory.allocate(*bytes);
      if (allocated)
        offset = *allocated;
      return allocated.status();
    };
    if (Status status = allocate(type, staging); !status)
      return status;
    gathered.resize(outputTypes.size());
    for (size_t i = 0; i < outputTypes.size(); ++i)
      if (Status status = allocate(outputTypes[i], gathered[i]); !status)
        return status;
    for (Signals *signals : {&staged, &stored})
      if (Status status = allocateSignals(memory, members, *signals); !status)
        return status;
    int64_t blockCount = blockRows * rowSize;
    sums.resize(static_cast<size_t>(blockCount * sizeInBytes(type) + 7) / 8);
    for (ElementType output : outputTypes) {
      results.emplace_back(
          static_cast<size_t>(blockCount * sizeInBytes(output) + 7) / 8);
      resultPointers.push_back(
          reinterpret_cast<std::byte *>(results.back().data()));
    }
    parts.resize(static_cast<size_t>(members.count()));
    viewed.resize(parts.size());
    return Status();
  }

  Status run(const void *input, std::span<void *const> outputs,
             const Body &body) override {
    Status status = runChecked(input, outputs, body);
    return status ? status : memory.fail(status.message());
  }

private:
  Status runChecked(const void *input, std::span<void *const> outputs,
                    const Body &body) {
    int64_t count = rows * rowSize;
    int64_t inputBytes = count * sizeInBytes(type);
    if (Status status =
            checkBuffer(input, inputBytes, type, operation, "input");
        !status)
      return status;
    if (outputs.size() != outputTypes.size())
      return error(operation, ": expected ", outputTypes.size(),
                   " outputs, found ", outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i)
      if (Status status =
              checkBuffer(outputs[i], count * sizeInBytes(outputTypes[i]),
                          outputTypes[i], operation, "output");
          !status)
        return status;
    ++epoch;
    Status status = twoShot(
        memory, members, staged, stored, operation, epoch,
        [&] { memory.put(memory.rank(), staging, input, inputBytes); },
        [&] { return reduceSlice(body); });
    if (!status)
      return status;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (int64_t bytes = count * sizeInBytes(outputTypes[i]))
        std::memcpy(outputs[i], memory.at(memory.rank(), gathered[i]),
                    static_cast<size_t>(bytes));
    return Status();
  }

  /// Combines the own rows, block by block, and stores what the body makes of
  /// them to all members.
  Status reduceSlice(const Body &body) {
    int64_t all = members.count(), own = members.position;
    SliceBounds slice = cutPiece(rows, rows, {&all, 1}, {&own, 1});
    int64_t end = slice.offset + slice.size;
    for (int64_t row = slice.offset; row < end; row += blockRows) {
      int64_t first = row * rowSize;
      int64_t n = std::min(blockRows, end - row) * rowSize;
      int64_t offset = staging + first * sizeInBytes(type);
      for (int member = 0; member < members.count(); ++member)
        parts[static_cast<size_t>(member)] =
            memory.view(members.rankAt(member), offset, n * sizeInBytes(type),
                        viewed[static_cast<size_t>(member)]);
      if (Status status = memory.failure(); !status)
        return status;
      auto *sum = reinterpret_cast<std::byte *>(sums.data());
      combine(kind, type, parts, n, sum);
      body(first, n, sum, resultPointers);
      for (size_t i = 0; i < results.size(); ++i) {
        int64_t size = sizeInBytes(outputTypes[i]);
        for (int step = 0; step < members.count(); ++step) {
          int member = (members.position + step) % members.count();
          memory.put(members.rankAt(member), gathered[i] + first * size,
                     resultPointers[i], n * size);
        }
      }
    }
    return Status();
  }

  RankMemory &memory;
  Members members;
  ElementType type;
  ReduceKind kind;
  int64_t rows, rowSize, blockRows = 1;
  std::vector<ElementType> outputTypes;
  const char *operation;
  Signals staged{"input"}, stored{"results"};
  int64_t staging = 0;
  std::vector<int64_t> gathered;
  Epoch epoch = 0;
  std::vector<uint64_t> sums;
  std::vector<std::vector<uint64_t>> results;
  std::vector<std::byte *> resultPointers;
  std::vector<const std::byte *> parts;
  /// Of each member, for parts that are not in memory of an address.
  std::vector<std::vector<std::byte>> viewed;
};

Result<std::unique_ptr<TwoShot>>
makeTwoShot(RankMemory &memory, const Group &group, ElementType type,
            ReduceKind kind, int64_t rows, int64_t rowSize,
            const std::vector<ElementType> &outputs, const char *operation) {
  Result<Members> members = checkGroup(memory, group, operation);
  if (!members)
    return memory.fail(members.message());
  // Of the widest type, so that no output overflows either.
  if (Result<int64_t> bytes =
          checkShape({rows, rowSize}, ElementType::F64, operation);
      !bytes)
    return memory.fail(bytes.message());
  if (Status status = checkReduction(kind, type, std::string(name(type)));
      !status)
    return memory.fail(status.message());
  auto result = std::make_unique<TwoShot>(memory, *members, type, kind, rows,
                                          rowSize, outputs, operation);
  if (Status status = result->prepare(group); !status)
    return memory.fail(status.message());
  return result;
}

/// The two-shot all_reduce: the body changes nothing.
class TwoShotAllReduce : public Collective {
public:
  TwoShotAllReduce(std::unique_ptr<TwoShot> twoShot, ElementType type)
      : twoShot(std::move(twoShot)), size(sizeInBytes(type)) {}

  Status run(const void *input, void *output) override {
    void *outputs[] = {output};
    return twoShot->run(input, outputs,
                        [this](int64_t, int64_t n, const std::byte *sums,
                               std::span<std::byte *const> results) {
                          std::memcpy(results[0], sums,
                                      static_cast<size_t>(n * size));
                        });
  }

private:
  std::unique_ptr<TwoShot> twoShot;
  int size;
};

template <typename Exchange>
Result<CollectivePtr> makeOneShot(RankMemory &memory, const Group &group,
                                  const Members &members, ElementType type,
                                  ReduceKind kind, int64_t count) {
  auto result =
      std::make_unique<OneShot<Exchange>>(memory, members, type, kind, count);
  if (Status status = result->prepare(group); !status)
    return memory.fail(status.message());
  return CollectivePtr(std::move(result));
}

} // namespace

Result<CollectivePtr> makeAllReduce(RankMemory &memory, const Group &group,
                                    ElementType type, ReduceKind kind,
                                    int64_t count, Protocol protocol) {
  const char *operation = "all_reduce";
  if (protocol == Protocol::TwoShot) {
    Result<std::unique_ptr<TwoShot>> twoShot =
        makeTwoShot(memory, group, type, kind, count, 1, {type}, operation);
    if (!twoShot)
      return twoShot.status();
    return CollectivePtr(
        std::make_unique<TwoShotAllReduce>(*std::move(twoShot), type));
  }
  Result<Members> members = checkGroup(memory, group, operation);
  if (!members)
    return memory.fail(members.message());
  if (Result<int64_t> bytes = checkShape({count}, type, operation); !bytes)
    return memory.fail(bytes.message());
  if (Status status = checkReduction(kind, type, std::string(name(type)));
      !status)
    return memory.fail(status.message());
  if (protocol == Protocol::LL)
    return makeOneShot<LowLatencyExchange<>>(memory, group, *members, type,
                                             kind, count);
  if (isInteger(type))
    return memory.fail(std::string(operation) + ": protocol lamport takes " +
                       "floats and bool, which have a value to spare, found " +
                       std::string(name(type)));
  return makeOneShot<LamportExchange<>>(memory, group, *members, type, kind,
                                        count);
}

Result<std::unique_ptr<ReduceBodyGather>>
makeReduceBodyGather(RankMemory &memory, const Group &group, ElementType type,
                     ReduceKind kind, int64_t rows, int64_t rowSize,
                     const std::vector<ElementType> &outputs) {
  Result<std::unique_ptr<TwoShot>> twoShot =
      makeTwoShot(memory, group, type, kind, rows, rowSize, outputs,
                  "reduce_scatter, body, all_gather");
  if (!twoShot)
    return twoShot.status();
  return std::unique_ptr<ReduceBodyGather>(*std::move(twoShot));
}

} // namespace ccn::runtime
