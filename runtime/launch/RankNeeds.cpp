//===- RankNeeds.cpp - Whether ranks have the memory they need ------------===//
//
// Sums over those that take from the same.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/RankNeeds.h"

#include "runtime/team/RunIdentity.h"

#include <algorithm>
#include <map>

namespace ccn::runtime {

namespace {

/// Ranks that take from the same.
struct Sharers {
  std::vector<int> ranks;
  int64_t symmetric = 0, other = 0;
  /// The least that one of them has found.
  int64_t free = INT64_MAX;

  void add(int rank, const RankNeeds &needs, int64_t found) {
    ranks.push_back(rank);
    symmetric = addSaturating(symmetric, needs.symmetric);
    other = addSaturating(other, needs.other);
    free = std::min(free, found);
  }
  Status check(const char *where) const {
    if (addSaturating(symmetric, other) <= free)
      return Status();
    MemoryNeeds needs;
    needs.add("symmetric memory", 1, symmetric);
    needs.add("arguments, results and private memory", 1, other);
    return error("there is not enough memory for ", rankList(ranks),
                 ": expected ", needs.text(), "; found ", free, ", which ",
                 where);
  }
};

} // namespace

Status checkNeeds(const std::vector<RankNeeds> &all, bool isShared) {
  std::map<uint64_t, Sharers> machines;
  std::map<std::pair<uint64_t, uint64_t>, Sharers> groups;
  int64_t shared = 0;
  for (const RankNeeds &needs : all)
    shared = addSaturating(shared, needs.symmetric);
  Status status;
  for (size_t i = 0; i < all.size(); ++i) {
    auto rank = static_cast<int>(i);
    const RankNeeds &needs = all[i];
    machines[needs.free.machineId].add(rank, needs, needs.free.machine);
    groups[{needs.free.machineId, needs.free.groupId}].add(rank, needs,
                                                           needs.free.group);
    // Each maps all that is shared, which is not its data.
    RankNeeds mapped = needs, own = needs;
    if (isShared) {
      mapped.symmetric = shared;
      own.symmetric = 0;
    }
    Sharers addresses, data;
    addresses.add(rank, mapped, needs.free.addresses);
    data.add(rank, own, needs.free.data);
    if (status)
      status = addresses.check("the limit of its process's addresses leaves "
                               "(see 'ulimit -v')");
    if (status)
      status = data.check("the limit of its process's data leaves (see "
                          "'ulimit -d')");
  }
  for (const auto &[id, sharers] : groups)
    if (status)
      status = sharers.check("the limit of their control group leaves");
  for (const auto &[id, sharers] : machines)
    if (status)
      status = sharers.check("their machine has available");
  if (status && isShared && !all.empty() && shared > all[0].free.file)
    status = error("there is not enough memory: expected ", shared,
                   " bytes for symmetric memory; found ", all[0].free.file,
                   ", the limit of a file's size of rank 0 (see 'ulimit -f')");
  return status;
}

} // namespace ccn::runtime
