//===- ScheduledTest.cpp - Synthesized schedules on ranks -----------------===//
//
// Schedules of the synthesizer and some by hand, executed by threads and
// compared with what their collective means.
//
//===----------------------------------------------------------------------===//

#include "TeamUtil.h"
#include "runtime/cpu/ScheduledCollective.h"
#include "runtime/tensor/SliceBounds.h"
#include "synth/Solve.h"
#include "synth/SumOrder.h"

#include <random>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// The runtime's form of a synthesized schedule for blocks of `count` elements:
/// what a rank contributes to or gets of another, of all_reduce the whole. The
/// last chunk of a block may be short or empty.
ChunkSchedule convert(const synth::Schedule &schedule, int64_t count) {
  const synth::Collective &collective = schedule.collective;
  ChunkSchedule result;
  result.name = collective.name;
  result.members = collective.ranks;
  result.combining = collective.combining;
  bool toAll = collective.kind == synth::CollectiveKind::AllToAll;
  int64_t perNode = collective.chunksPerNode;
  int64_t perBlock = toAll ? perNode / collective.ranks : perNode;
  for (size_t c = 0; c < collective.chunks.size(); ++c) {
    auto index = static_cast<int64_t>(c);
    int64_t position = index % perBlock, node = index / perNode;
    SliceBounds part = cutPiece(count, count, {&perBlock, 1}, {&position, 1});
    Chunk chunk;
    chunk.sources = collective.chunks[c].pre;
    chunk.destinations = collective.chunks[c].post;
    chunk.inputFirst = chunk.outputFirst = part.offset;
    chunk.count = part.size;
    switch (collective.kind) {
    case synth::CollectiveKind::AllGather:
      chunk.outputFirst += node * count;
      break;
    case synth::CollectiveKind::ReduceScatter:
      chunk.inputFirst += node * count;
      break;
    case synth::CollectiveKind::AllToAll:
      chunk.inputFirst += index % perNode / perBlock * count;
      chunk.outputFirst += node * count;
      break;
    default:
      break;
    }
    result.chunks.push_back(chunk);
  }
  for (const synth::Step &step : schedule.steps) {
    std::vector<Transfer> transfers;
    for (const synth::Send &send : step.sends)
      transfers.push_back({send.chunk, send.src, send.dst,
                           send.op == synth::SendOp::Copy ? TransferOp::Copy
                           : send.op == synth::SendOp::Reduce
                               ? TransferOp::Reduce
                               : TransferOp::Stash,
                           send.sums});
    result.steps.push_back(transfers);
  }
  return result;
}

synth::Schedule solved(const std::string &topology, synth::CollectiveKind kind,
                       int chunks, int steps, int rounds,
                       synth::ReduceMode mode = synth::ReduceMode::Auto) {
  synth::Fabric fabric = *synth::makeFabric(*synth::buildTopology(topology));
  synth::SolveOptions options;
  options.mode = mode;
  auto result =
      synth::solve(fabric, *synth::makeCollective(kind, fabric.ranks, chunks),
                   steps, rounds, options);
  EXPECT_TRUE(bool(result));
  EXPECT_EQ(result->answer, synth::Answer::Yes) << topology << steps;
  return result->schedule;
}

/// What rank r has at input index i.
int32_t inputValue(int rank, int64_t i) {
  return static_cast<int32_t>(1000 * rank + i * i % 997);
}

/// What a collective gives at `rank`.
std::vector<int32_t> expectedOutput(const synth::Collective &collective,
                                    int rank, int64_t count) {
  int ranks = collective.ranks;
  std::vector<int32_t> result;
  auto sum = [&](int64_t i) {
    int32_t total = 0;
    for (int r = 0; r < ranks; ++r)
      total += inputValue(r, i);
    return total;
  };
  switch (collective.kind) {
  case synth::CollectiveKind::AllReduce:
    for (int64_t i = 0; i < count; ++i)
      result.push_back(sum(i));
    break;
  case synth::CollectiveKind::ReduceScatter:
    for (int64_t i = 0; i < count; ++i)
      result.push_back(sum(rank * count + i));
    break;
  case synth::CollectiveKind::AllGather:
    for (int r = 0; r < ranks; ++r)
      for (int64_t i = 0; i < count; ++i)
        result.push_back(inputValue(r, i));
    break;
  case synth::CollectiveKind::AllToAll:
    for (int r = 0; r < ranks; ++r)
      for (int64_t i = 0; i < count; ++i)
        result.push_back(inputValue(r, rank * count + i));
    break;
  default:
    ADD_FAILURE() << "not expected here";
  }
  return result;
}

void expectExecutes(const synth::Schedule &schedule,
                    AccessHook *hook = nullptr) {
  ASSERT_FALSE(schedule.steps.empty());
  int ranks = schedule.collective.ranks;
  for (int64_t count : {0, 1, 5, 24, 1003})
    expectTeam(
        ranks, 8 << 20,
        [&](RankMemory &memory) {
          auto collective =
              makeScheduled(memory, allRanks(ranks), ElementType::I32,
                            ReduceKind::Sum, convert(schedule, count));
          if (!collective)
            return collective.status();
          std::vector<int32_t> expected =
              expectedOutput(schedule.collective, memory.rank(), count);
          for (int call = 0; call < 4; ++call) {
            // In every other call in place.
            std::vector<int32_t> in, out(expected.size(), -1);
            for (int64_t i = 0; i < ranks * count; ++i)
              in.push_back(inputValue(memory.rank(), i));
            int32_t *to = call % 2 ? in.data() : out.data();
            if (Status status = (*collective)->run(in.data(), to); !status)
              return status;
            EXPECT_EQ(std::vector<int32_t>(to, to + expected.size()), expected)
                << schedule.collective.name << " count " << count << " rank "
                << memory.rank();
          }
          return Status();
        },
        hook);
}

/// all_gather round a ring: member r's part walks on in every step.
ChunkSchedule ring(int ranks, int64_t count) {
  ChunkSchedule schedule{"ring", ranks};
  for (int r = 0; r < ranks; ++r)
    schedule.chunks.push_back(
        {{r}, allRanks(ranks).ranks, 0, r * count, count});
  for (int t = 0; t + 1 < ranks; ++t) {
    schedule.steps.emplace_back();
    for (int r = 0; r < ranks; ++r)
      schedule.steps.back().push_back(
          {(r - t + ranks) % ranks, r, (r + 1) % ranks});
  }
  return schedule;
}

std::string refusal(const ChunkSchedule &schedule) {
  auto heap = SymmetricHeap::create(schedule.members, 1 << 20);
  RankMemory memory(**heap, 0, 1);
  return makeScheduled(memory, allRanks(schedule.members), ElementType::F32,
                       ReduceKind::Sum, schedule)
      .message();
}

using Kind = synth::CollectiveKind;

} // namespace

TEST(Scheduled, Rings) {
  expectExecutes(solved("ring(4)", Kind::AllGather, 2, 2, 3));
  expectExecutes(solved("ring(5)", Kind::AllReduce, 5, 4, 8));
  expectExecutes(solved("ring(3)", Kind::ReduceScatter, 2, 2, 2));
  expectExecutes(solved("ring(4)", Kind::AllToAll, 8, 2, 4));
}

TEST(Scheduled, Dgx1) {
  expectExecutes(solved("dgx1", Kind::AllGather, 6, 3, 7));
  expectExecutes(solved("dgx1", Kind::AllToAll, 24, 2, 8));
  expectExecutes(solved("dgx1", Kind::AllReduce, 16, 4, 6));
}

TEST(Scheduled, PartialSumsKeptApart) {
  // Both sums of three are formed from what is kept apart.
  synth::Schedule schedule;
  schedule.collective = *synth::makeCollective(Kind::AllReduce, 3, 1);
  schedule.hosts = 3;
  using synth::SendOp;
  schedule.steps = {{1,
                     {{0, 0, 1, SendOp::Stash, -1, {0}},
                      {0, 1, 2, SendOp::Stash, -1, {1}},
                      {0, 2, 0, SendOp::Stash, -1, {2}}}},
                    {1,
                     {{0, 0, 1, SendOp::Stash, -1, {2}},
                      {0, 1, 2, SendOp::Stash, -1, {0}},
                      {0, 2, 0, SendOp::Stash, -1, {1}}}}};
  EXPECT_EQ(synth::check(schedule), "");
  expectExecutes(schedule);
}

namespace {

/// The value of a text of sumOrders.
float evaluate(const std::string &text, size_t &at,
               const std::vector<float> &contributions) {
  if (text[at] != '(') {
    size_t used = 0;
    int rank = std::stoi(text.substr(at), &used);
    at += used;
    return contributions[static_cast<size_t>(rank)];
  }
  float sum = evaluate(text, ++at, contributions);
  sum += evaluate(text, ++at, contributions);
  ++at;
  return sum;
}

float rounded(float value, ElementType type) {
  uint32_t bits = 0;
  auto *bytes = reinterpret_cast<std::byte *>(&bits);
  store(type, bytes, 0, 1, &value);
  load(type, bytes, 0, 1, &value);
  return value;
}

/// Every rank has the bits that sumOrders says, rounded once.
void expectOrders(const synth::Schedule &schedule, ElementType type) {
  int ranks = schedule.collective.ranks;
  auto orders = synth::sumOrders(schedule);
  constexpr int64_t count = 203;
  std::vector<std::vector<float>> values(count);
  std::mt19937 random(3);
  std::vector<std::vector<std::byte>> inputs(static_cast<size_t>(ranks),
                                             std::vector<std::byte>(count * 4));
  for (int64_t i = 0; i < count; ++i)
    for (std::vector<std::byte> &input : inputs) {
      float value = std::uniform_real_distribution<float>(-1, 1)(random);
      store(type, input.data(), i, 1, &value);
      load(type, input.data(), i, 1, &value);
      values[static_cast<size_t>(i)].push_back(value);
    }
  ChunkSchedule converted = convert(schedule, count);
  expectTeam(ranks, 8 << 20, [&](RankMemory &memory) {
    auto collective = makeScheduled(memory, allRanks(ranks), type,
                                    ReduceKind::Sum, converted);
    if (!collective)
      return collective.status();
    auto rank = static_cast<size_t>(memory.rank());
    std::vector<std::byte> out(count * 4);
    if (Status status = (*collective)->run(inputs[rank].data(), out.data());
        !status)
      return status;
    for (size_t c = 0; c < converted.chunks.size(); ++c) {
      const Chunk &chunk = converted.chunks[c];
      for (int64_t i = chunk.outputFirst; i < chunk.outputFirst + chunk.count;
           ++i) {
        float found;
        load(type, out.data(), i, 1, &found);
        size_t at = 0;
        float sum =
            evaluate(orders[c][rank], at, values[static_cast<size_t>(i)]);
        EXPECT_EQ(found, rounded(sum, type))
            << "chunk " << c << " rank " << rank << " " << orders[c][rank];
      }
    }
    return Status();
  });
}

} // namespace

TEST(Scheduled, AddsInTheOrderThatIsSaid) {
  for (const synth::Schedule &schedule :
       {solved("ring(4)", Kind::AllReduce, 2, 2, 2),
        solved("full(4)", Kind::AllReduce, 1, 1, 1),
        solved("dgx1", Kind::AllReduce, 2, 2, 2),
        solved("dgx1", Kind::AllReduce, 16, 4, 6)})
    for (ElementType type : {ElementType::F32, ElementType::F16,
                             ElementType::BF16, ElementType::F8E4M3})
      expectOrders(schedule, type);
  // This one forms its sums at several ranks.
  EXPECT_NE(synth::differingSums(solved("dgx1", Kind::AllReduce, 2, 2, 2)), "");
}

TEST(Scheduled, BodyIsAppliedOnceToEachSum) {
  // The published order: reduce_scatter, then all_gather, so each chunk's sum
  // is formed by one member, which applies the body before it travels on.
  synth::Schedule schedule = solved("ring(4)", Kind::AllReduce, 8, 6, 12,
                                    synth::ReduceMode::Composition);
  constexpr int64_t count = 1003;
  std::vector<std::atomic<int>> applied(count);
  expectTeam(4, 8 << 20, [&](RankMemory &memory) {
    auto collective =
        makeScheduled(memory, allRanks(4), ElementType::F16, ReduceKind::Max,
                      convert(schedule, count),
                      [&](int64_t first, int64_t n, std::byte *values) {
                        float sums[count];
                        load(ElementType::F16, values, 0, n, sums);
                        for (int64_t i = 0; i < n; ++i) {
                          ++applied[static_cast<size_t>(first + i)];
                          sums[i] = -sums[i];
                        }
                        store(ElementType::F16, values, 0, n, sums);
                      });
    if (!collective)
      return collective.status();
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<float>((memory.rank() * 7 + i) % 50));
    std::vector<uint16_t> in(count), out(count);
    store(ElementType::F16, reinterpret_cast<std::byte *>(in.data()), 0, count,
          values.data());
    if (Status status = (*collective)->run(in.data(), out.data()); !status)
      return status;
    std::vector<float> found(count);
    load(ElementType::F16, reinterpret_cast<std::byte *>(out.data()), 0, count,
         found.data());
    for (int64_t i = 0; i < count; ++i) {
      int64_t most = 0;
      for (int64_t r = 0; r < 4; ++r)
        most = std::max(most, (r * 7 + i) % 50);
      EXPECT_EQ(found[static_cast<size_t>(i)], -static_cast<float>(most));
    }
    return Status();
  });
  // Once on each of two transports.
  for (const std::atomic<int> &times : applied)
    EXPECT_EQ(times, 2);
}

TEST(Scheduled, RefusesWrongSchedules) {
  ChunkSchedule schedule = ring(3, 4);
  EXPECT_EQ(refusal(schedule), "");
  schedule.steps.pop_back();
  EXPECT_EQ(refusal(schedule),
            "rank 0: ring: at the end member 2 does not have chunk 0");
  std::swap(schedule.steps[0][0].source, schedule.steps[0][0].destination);
  EXPECT_EQ(refusal(schedule),
            "rank 0: ring: step 1: chunk 0 from member 1 to member 0: the "
            "sender has nothing of it yet");
  schedule = ring(3, 4);
  schedule.steps[1][0].chunk = 3;
  EXPECT_EQ(refusal(schedule),
            "rank 0: ring: step 2: chunk 3 from member 0 to member 1: expected "
            "a chunk below 3 and two different members below 3");
  schedule = ring(3, 4);
  schedule.chunks[0].count = -1;
  EXPECT_EQ(refusal(schedule), "rank 0: ring: chunk 0 has no place in memory");
  ChunkSchedule twice{"sum", 2, true, {{{0, 1}, {1}, 0, 0, 1}}, {}};
  twice.steps = {{{0, 0, 1, TransferOp::Reduce}},
                 {{0, 0, 1, TransferOp::Reduce}}};
  EXPECT_EQ(refusal(twice), "rank 0: sum: step 2: chunk 0 from member 0 to "
                            "member 1: the contribution of member 0 would be "
                            "added twice");
  twice.steps = {{{0, 0, 1, TransferOp::Copy}}};
  EXPECT_EQ(refusal(twice), "rank 0: sum: step 1: chunk 0 from member 0 to "
                            "member 1: the copy would overwrite contributions "
                            "it lacks");
  twice.steps = {};
  EXPECT_EQ(refusal(twice),
            "rank 0: sum: at the end member 1 does not have the sum of chunk "
            "0");
}
