//===- CollectivesTest.cpp - Collectives against the interpreter ----------===//
//
// Every protocol, element type and kind of reduction, bit for bit.
//
//===----------------------------------------------------------------------===//

#include "TeamUtil.h"
#include "TensorUtil.h"

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int64_t heapBytes = 8 << 20;

} // namespace

class AllReduceTest : public ::testing::TestWithParam<Protocol> {};

TEST_P(AllReduceTest, EqualsTheInterpreterOnAllTypes) {
  for (int ranks : {1, 2, 3, 4})
    for (int64_t count : {0, 1, 3, 37, 2500})
      expectTeam(ranks, heapBytes, [&](RankMemory &memory) {
        for (ElementType type : allElementTypes) {
          if (GetParam() == Protocol::Lamport && isInteger(type))
            continue;
          for (ReduceKind kind : kinds) {
            if (!isDefined(kind, type) ||
                (count == 2500 && kind != kinds[0] && type != ElementType::F16))
              continue;
            auto reduce = makeAllReduce(memory, allRanks(ranks), type, kind,
                                        count, GetParam());
            if (!reduce)
              return reduce.status();
            // More calls than buffers, so that each is used again.
            for (uint64_t call = 0; call < 4; ++call) {
              uint64_t seed = call * 100;
              HostTensor input = randomTensor(
                  type, count, seed + static_cast<uint64_t>(memory.rank()));
              std::vector<uint64_t> out = storage(input.byteCount());
              if (Status status = (*reduce)->run(input.data(), out.data());
                  !status)
                return status;
              EXPECT_TRUE(
                  sameBits(expectedSum(type, kind, ranks, count, seed), out))
                  << name(type) << " " << name(kind) << " count " << count
                  << " ranks " << ranks << " call " << call;
            }
          }
        }
        return Status();
      });
}

INSTANTIATE_TEST_SUITE_P(All, AllReduceTest,
                         ::testing::Values(Protocol::LL, Protocol::Lamport),
                         [](const auto &info) {
                           return info.param == Protocol::LL ? "LL" : "Lamport";
                         });

TEST(AllReduce, GroupsAlongAxesAndInPlace) {
  // A mesh of 2 x 3: groups along the first axis have two ranks, along the
  // second three, in an order of their own.
  expectTeam(6, heapBytes, [](RankMemory &memory) {
    int row = memory.rank() / 3, column = memory.rank() % 3;
    Group alongFirst{{column, column + 3}};
    Group alongSecond{{3 * row + 2, 3 * row, 3 * row + 1}};
    for (const Group &group : {alongFirst, alongSecond}) {
      auto reduce = makeAllReduce(memory, group, ElementType::I32,
                                  ReduceKind::Sum, 5, Protocol::LL);
      if (!reduce)
        return reduce.status();
      std::vector<int32_t> values(5, 1 << memory.rank());
      if (Status status = (*reduce)->run(values.data(), values.data()); !status)
        return status;
      int32_t expected = 0;
      for (int rank : group.ranks)
        expected |= 1 << rank;
      EXPECT_EQ(values, std::vector<int32_t>(5, expected));
    }
    return Status();
  });
}

TEST(AllReduce, RefusesWhatIsWrong) {
  auto message = [](auto make) {
    auto heap = SymmetricHeap::create(2, heapBytes);
    RankMemory memory(**heap, 0, 0.1);
    return make(memory).message();
  };
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllReduce(memory, {{0, 2}}, ElementType::F32,
                                   ReduceKind::Sum, 1, Protocol::LL);
            }),
            "rank 0: all_reduce: expected ranks below 2, found 2");
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllReduce(memory, {{0, 0}}, ElementType::F32,
                                   ReduceKind::Sum, 1, Protocol::LL);
            }),
            "rank 0: all_reduce: rank 0 is in the group twice");
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllReduce(memory, {{1}}, ElementType::F32,
                                   ReduceKind::Sum, 1, Protocol::LL);
            }),
            "rank 0: all_reduce: rank 0 is not in its group");
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllReduce(memory, {{0, 1}}, ElementType::I32,
                                   ReduceKind::Sum, 1, Protocol::Lamport);
            }),
            "rank 0: all_reduce: protocol lamport takes floats and bool, which "
            "have a value to spare, found i32");
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllReduce(memory, {{0, 1}}, ElementType::F32,
                                   ReduceKind::Sum, -1, Protocol::LL);
            }),
            "rank 0: all_reduce: expected sizes of at least 0, found -1");
  auto heap = SymmetricHeap::create(1, heapBytes);
  RankMemory memory(**heap, 0, 1);
  auto reduce = makeAllReduce(memory, {{0}}, ElementType::F32, ReduceKind::Sum,
                              2, Protocol::LL);
  ASSERT_TRUE(reduce.ok());
  float values[3] = {};
  EXPECT_EQ((*reduce)
                ->run(reinterpret_cast<std::byte *>(values) + 1, values)
                .message(),
            "rank 0: all_reduce: the input is not aligned for f32");
}
