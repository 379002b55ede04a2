//===- DelayTest.cpp - Protocols under delays at random points ------------===//
//
// A thousand runs of the flag protocols in which ranks pause before accesses of
// symmetric memory, so that they meet in orders that they otherwise would not.
//
//===----------------------------------------------------------------------===//

#include "TeamUtil.h"
#include "runtime/cpu/ScheduledCollective.h"

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// Runs each collective some calls and checks every element.
Status runAll(RankMemory &memory, uint64_t seed) {
  int ranks = memory.ranks(), rank = memory.rank();
  Group group = allRanks(ranks);
  auto count = static_cast<int64_t>(1 + seed % 7);
  auto size = static_cast<size_t>(count);
  auto input = [](int r, int call, size_t i) {
    return static_cast<float>((r + 1) * 100 + call * 10) +
           static_cast<float>(i);
  };
  std::vector<CollectivePtr> reduces;
  for (Protocol protocol : {Protocol::LL, Protocol::Lamport}) {
    auto made = makeAllReduce(memory, group, ElementType::F32, ReduceKind::Sum,
                              count, protocol);
    if (!made)
      return made.status();
    reduces.push_back(*std::move(made));
  }
  ChunkSchedule ring{"ring", ranks};
  for (int r = 0; r < ranks; ++r)
    ring.chunks.push_back({{r}, group.ranks, 0, r * count, count});
  for (int t = 0; t + 1 < ranks; ++t) {
    ring.steps.emplace_back();
    for (int r = 0; r < ranks; ++r)
      ring.steps.back().push_back(
          {(r - t + ranks) % ranks, r, (r + 1) % ranks});
  }
  // Down a line: nothing but acknowledgements holds back who is ahead.
  ChunkSchedule line{"line", ranks};
  line.chunks = {{{0}, group.ranks, 0, 0, count}};
  for (int r = 0; r + 1 < ranks; ++r)
    line.steps.push_back({{0, r, r + 1}});
  auto broadcast =
      makeScheduled(memory, group, ElementType::F32, ReduceKind::Sum, line);
  if (!broadcast)
    return broadcast.status();
  auto gather =
      makeScheduled(memory, group, ElementType::F32, ReduceKind::Sum, ring);
  if (!gather)
    return gather.status();
  for (int call = 0; call < 6; ++call) {
    std::vector<float> in(size), out(size);
    for (size_t i = 0; i < size; ++i)
      in[i] = input(rank, call, i);
    if (Status status = (*broadcast)->run(in.data(), out.data()); !status)
      return status;
    for (size_t i = 0; i < size; ++i)
      EXPECT_EQ(out[i], input(0, call, i)) << "broadcast, seed " << seed;
  }
  for (int call = 0; call < 4; ++call) {
    std::vector<float> in(size), out(size), all(size * group.ranks.size());
    for (size_t i = 0; i < size; ++i)
      in[i] = input(rank, call, i);
    for (const CollectivePtr &reduce : reduces) {
      if (Status status = reduce->run(in.data(), out.data()); !status)
        return status;
      for (size_t i = 0; i < size; ++i) {
        float sum = 0;
        for (int r = 0; r < ranks; ++r)
          sum += input(r, call, i);
        EXPECT_EQ(out[i], sum) << "all_reduce, seed " << seed;
      }
    }
    if (Status status = (*gather)->run(in.data(), all.data()); !status)
      return status;
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_EQ(all[i], input(static_cast<int>(i / size), call, i % size))
          << "all_gather, seed " << seed;
  }
  return Status();
}

} // namespace

TEST(Delays, ThousandRuns) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    int ranks = 2 + static_cast<int>(seed % 3);
    RandomDelays delays(seed, ranks);
    expectTeam(
        ranks, 1 << 16,
        [seed](RankMemory &memory) { return runAll(memory, seed); }, &delays);
    if (HasFailure())
      break;
  }
}
