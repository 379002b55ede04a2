//===- AllReduce.cpp - One-shot all_reduce --------------------------------===//
//
// Every member sends its whole input to all others, and each member combines
// all inputs.
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/CollectiveSupport.h"

#include <cstring>

namespace ccn::runtime {

namespace {

/// Clears the sign bit of elements whose bits are all ones. In a float type
/// this turns one NaN into another, so no word equals the sentinel.
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
  /// The number of words received from each member before they are combined.
  static constexpr int64_t blockWords = 512;

public:
  OneShot(RankMemory &memory, Members members, ElementType type,
          ReduceKind kind, int64_t count)
      : memory(memory), members(std::move(members)), type(type), kind(kind),
        count(count),
        words((count * sizeInBytes(type) + wordSize - 1) / wordSize) {}

  Status prepare(const Group &group) {
    Result<int64_t> largest = slotWords(
        group, type, count, scrubs ? Protocol::Lamport : Protocol::LL);
    if (!largest)
      return largest.status();
    Result<int64_t> slots =
        memory.allocate(Exchange::bytes(members.count(), *largest));
    if (!slots)
      return slots.status();
    exchange.emplace(*slots, members.count(), words);
    // Vectors of 8-byte words keep the elements aligned.
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

  /// A word of 8 bytes carries `wordSize` bytes of data: LL spends the other
  /// half on a flag.
  int64_t bytesSent() const override {
    return count * sizeInBytes(type) * (members.count() - 1) * 8 / wordSize;
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
      // A word may hold half an element; a block always holds whole elements.
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

} // namespace ccn::runtime
