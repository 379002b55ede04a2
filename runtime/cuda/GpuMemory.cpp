//===- GpuMemory.cpp - Whether devices have the memory they need ----------===//
//
// Devices are identified by their UUIDs, since processes and hosts may number
// them differently.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuMemory.h"

#include "runtime/team/RunIdentity.h"

#include <algorithm>
#include <cstring>

namespace ccn::runtime {

namespace {

struct Record {
  CUuuid device;
  /// What the rank will take, in all and as text, and what it has found free.
  int64_t bytes, free;
  char text[160];
};

bool isSame(const Record &a, const Record &b) {
  return std::memcmp(&a.device, &b.device, sizeof a.device) == 0;
}

} // namespace

int64_t memoryRecordBytes() { return sizeof(Record); }

Result<int64_t> checkDeviceMemory(const GpuDevice &device,
                                  HostExchange &exchange,
                                  const MemoryNeeds &needs) {
  Record own{};
  own.device = device.uuid;
  own.bytes = needs.total();
  setText(own.text, needs.text());
  size_t free = 0, total = 0;
  if (Status status =
          device.check(device.driver.memGetInfo(&free, &total), "cuMemGetInfo");
      !status)
    return status;
  own.free = static_cast<int64_t>(free);
  Result<std::vector<Record>> all = exchange.gather(own);
  if (!all)
    return all.status();
  int64_t spare = INT64_MAX;
  // Report the first device that has too little.
  for (const Record &first : *all) {
    std::vector<int> ranks;
    int64_t wanted = 0, found = INT64_MAX;
    for (size_t rank = 0; rank < all->size(); ++rank) {
      const Record &other = (*all)[rank];
      if (!isSame(first, other))
        continue;
      ranks.push_back(static_cast<int>(rank));
      wanted = addSaturating(wanted, other.bytes);
      found = std::min(found, other.free);
    }
    if (wanted > found)
      return error("there is not enough memory on the GPU of ", rankList(ranks),
                   ": expected ", wanted, " bytes (rank ", ranks.front(), ": ",
                   first.text, "); found ", found, ", which it has free");
    spare =
        std::min(spare, (found - wanted) / static_cast<int64_t>(ranks.size()));
  }
  // For what is small, and in whole pages of the driver.
  constexpr int64_t reserve = 64 << 20;
  return std::max<int64_t>(spare - reserve, 0);
}

} // namespace ccn::runtime
