//===- HostExchange.cpp - What ranks tell each other first ----------------===//
//
// Each rank writes its record to the memory of all ranks. All ranks meet before
// they read, and once more before the memory is used again.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/HostExchange.h"

#include <array>
#include <bit>
#include <chrono>
#include <thread>

namespace ccn::runtime {

static int64_t alignedRecord(int64_t bytes) {
  return (bytes + Transport::alignment - 1) / Transport::alignment *
         Transport::alignment;
}

int64_t HostExchange::bytes(int ranks, int64_t recordBytes) {
  return 2 * Signals::bytes(ranks) + ranks * alignedRecord(recordBytes) +
         alignedRecord(sizeof(Progress));
}

/// Copies word by word, so that no word is torn.
using ProgressWords = std::array<uint32_t, sizeof(Progress) / sizeof(uint32_t)>;

void HostExchange::show(const Progress &own) {
  auto *words = reinterpret_cast<uint32_t *>(memory.at(memory.rank(), shown));
  for (uint32_t word : std::bit_cast<ProgressWords>(own))
    std::atomic_ref(*words++).store(word, std::memory_order_relaxed);
}

std::vector<std::optional<Progress>> HostExchange::progress() {
  std::vector<std::optional<Progress>> all(static_cast<size_t>(memory.ranks()));
  for (int rank = 0; rank < memory.ranks(); ++rank) {
    if (!memory.isAddressable(rank))
      continue;
    auto *words = reinterpret_cast<uint32_t *>(memory.at(rank, shown));
    ProgressWords found;
    for (uint32_t &word : found)
      word = std::atomic_ref(*words++).load(std::memory_order_relaxed);
    all[static_cast<size_t>(rank)] = std::bit_cast<Progress>(found);
  }
  return all;
}

HostExchange::HostExchange(Transport &transport, int rank, double timeLimit,
                           const char *what)
    : transport(transport), memory(transport, rank, timeLimit),
      timeLimit(timeLimit), what(what) {
  for (int i = 0; i < transport.ranks(); ++i)
    members.ranks.push_back(i);
  members.position = rank;
}

Result<std::unique_ptr<HostExchange>>
HostExchange::create(Transport &transport, int rank, double timeLimit,
                     int64_t recordBytes, const char *what) {
  std::unique_ptr<HostExchange> exchange(
      new HostExchange(transport, rank, timeLimit, what));
  int ranks = transport.ranks();
  Result<int64_t> offset = exchange->memory.allocate(bytes(ranks, recordBytes));
  if (!offset)
    return offset.status();
  exchange->recordBytes = alignedRecord(recordBytes);
  exchange->met.offset = *offset;
  exchange->ended.offset = exchange->met.offset + Signals::bytes(ranks);
  exchange->records = exchange->ended.offset + Signals::bytes(ranks);
  exchange->shown = exchange->records + ranks * exchange->recordBytes;
  return exchange;
}

Status HostExchange::barrier(const char *name) {
  return runtime::barrier(memory, members, met, name, ++epoch);
}

Status HostExchange::gatherBytes(std::span<const std::byte> own,
                                 std::span<std::byte> all) {
  auto size = static_cast<int64_t>(own.size());
  if (size > recordBytes)
    return memory.fail("a record of " + std::to_string(size) +
                       " bytes does not fit " + std::to_string(recordBytes));
  for (int rank = 0; rank < memory.ranks(); ++rank)
    memory.put(rank, records + memory.rank() * recordBytes, own.data(), size);
  if (Status status = barrier(what); !status)
    return status;
  for (int rank = 0; rank < memory.ranks() && size > 0; ++rank)
    std::memcpy(all.data() + rank * size,
                memory.at(memory.rank(), records + rank * recordBytes),
                own.size());
  return barrier(what);
}

bool HostExchange::isWhole() const {
  for (int rank = 0; rank < transport.ranks(); ++rank)
    if (transport.isGone(rank))
      return false;
  return !transport.failed();
}

bool HostExchange::hasCome(int rank, EndStage stage) {
  std::byte *flag =
      memory.at(memory.rank(), ended.offset + rank * Signals::stride);
  return std::atomic_ref(*reinterpret_cast<uint32_t *>(flag))
             .load(std::memory_order_acquire) >= static_cast<uint32_t>(stage);
}

bool HostExchange::meetAtEnd(EndStage stage, double graceSeconds) {
  using Clock = std::chrono::steady_clock;
  signalAll(memory, members, ended, static_cast<Epoch>(stage));
  Clock::time_point start = Clock::now(), failed{};
  auto secondsSince = [](Clock::time_point time) {
    return std::chrono::duration<double>(Clock::now() - time).count();
  };
  for (int other = 0; other < memory.ranks(); ++other) {
    while (other != memory.rank() && !hasCome(other, stage) &&
           !transport.isGone(other)) {
      if (transport.failed() && failed == Clock::time_point())
        failed = Clock::now();
      // Others may find out only at the time limit that they wait in vain.
      if (secondsSince(start) > timeLimit + graceSeconds ||
          (failed != Clock::time_point() &&
           secondsSince(failed) > graceSeconds))
        return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  return true;
}

} // namespace ccn::runtime
