//===- PartAccessesTest.cpp - What parts of plans access ------------------===//

#include "runtime/plan/PartAccesses.h"

#include <gtest/gtest.h>

#include <tuple>

using namespace ccn::runtime;

namespace {

/// Buffer, offset, extent, whether all of it is accessed once, whether it is
/// written, and by rank 5 in whose memory.
using Found = std::tuple<int, int64_t, int64_t, bool, bool, int>;

std::vector<Found> accessesOf(const Part &part) {
  const std::vector<std::vector<int>> groups = {{7}, {4, 5, 6}};
  std::vector<Found> found;
  forEachAccess(part, groups, [&](const PartAccess<const View> &access) {
    found.emplace_back(access.view.buffer, access.view.offset, access.extent,
                       access.isContiguous, access.writes, access.ownerFor(5));
  });
  return found;
}

LoopOperand operand(Access access, View view, int64_t slots = 0) {
  return {access,      std::move(view), ElementType::F32,
          /*group=*/1, ReduceKind::Sum, slots};
}

View whole(int buffer) { return {buffer, 0, {}}; }

} // namespace

TEST(PartAccesses, LoopsAccessMembersOneByOne) {
  Loop loop;
  loop.sizes = {2, 3};
  loop.inputs = {operand(Access::Load, {0, 1, {6, 2}}),
                 operand(Access::LoadReduced, {1, 0, {3, 1}}),
                 operand(Access::LoadReduced, {2, 4, {3, 1}}, /*slots=*/8),
                 operand(Access::Scratch, {0, 0, {3, 1}}),
                 operand(Access::Index, {0, 0, {3, 1}})};
  loop.outputs = {operand(Access::StoreAll, {3, 0, {3, 1}}),
                  operand(Access::Store, {4, 0, {3, 0}, /*rank=*/6})};
  EXPECT_EQ(accessesOf(RowsPart{2, {loop}}),
            (std::vector<Found>{
                {0, 1, 11, false, false, 5},
                {1, 0, 6, true, false, 4},
                {1, 0, 6, true, false, 5},
                {1, 0, 6, true, false, 6},
                // Slots are all in the own memory.
                {2, 4, 6, true, false, 5},
                {2, 12, 6, true, false, 5},
                {2, 20, 6, true, false, 5},
                {3, 0, 6, true, true, 4},
                {3, 0, 6, true, true, 5},
                {3, 0, 6, true, true, 6},
                {4, 0, 4, false, true, 6},
            }));
}

TEST(PartAccesses, ReductionsOfNothingWrite) {
  Loop loop;
  loop.sizes = {2, 0};
  loop.reducedDims = 1;
  loop.inputs = {operand(Access::Load, {0, 0, {1, 1}})};
  loop.outputs = {operand(Access::Store, {1, 0, {1, 0}})};
  EXPECT_EQ(accessesOf(RowsPart{2, {loop}}),
            (std::vector<Found>{{0, 0, 0, false, false, 5},
                                {1, 0, 2, true, true, 5}}));
}

TEST(PartAccesses, OtherPartsReadAllButWhatTheyWrite) {
  EXPECT_EQ(accessesOf(CopyPart{{2, 2}, {0, 0, {4, 1}, 4}, {1, 3, {2, 1}}}),
            (std::vector<Found>{{0, 0, 6, false, false, 4},
                                {1, 3, 4, true, true, 5}}));
  EXPECT_EQ(accessesOf(MatmulPart{{2},
                                  3,
                                  4,
                                  5,
                                  {0, 0, {15, 5, 1}},
                                  {1, 0, {0, 4, 1}},
                                  {2, 0, {12, 4, 1}}}),
            (std::vector<Found>{{0, 0, 30, true, false, 5},
                                {1, 0, 20, false, false, 5},
                                {2, 0, 24, true, true, 5}}));
  EXPECT_EQ(accessesOf(GatherRowsPart{6, 2, 3, whole(0), whole(1), whole(2)}),
            (std::vector<Found>{{0, 0, 12, true, false, 5},
                                {1, 0, 3, true, false, 5},
                                {2, 0, 6, true, true, 5}}));
  EXPECT_EQ(accessesOf(ScatterRowsPart{6, 2, 3, whole(0), whole(1), whole(2),
                                       whole(3)}),
            (std::vector<Found>{{0, 0, 12, true, false, 5},
                                {1, 0, 3, true, false, 5},
                                {2, 0, 6, true, false, 5},
                                {3, 0, 12, true, true, 5}}));
  EXPECT_EQ(accessesOf(BarrierPart{1, 0}), std::vector<Found>());
}

TEST(PartAccesses, GathersReadPieceByPiece) {
  // Members 1 and 2 of group {4, 5, 6}, two pieces of each.
  EXPECT_EQ(accessesOf(GatherPart{1,
                                  1,
                                  {{2, 1, 0, 8}, {2, 0, 5, 4}},
                                  {2, 2},
                                  {0, 3, {3, 1}},
                                  {1, 1, {2, 1}}}),
            (std::vector<Found>{{0, 3, 5, false, false, 5},
                                {0, 8, 5, false, false, 5},
                                {0, 3, 5, false, false, 6},
                                {0, 8, 5, false, false, 6},
                                {1, 1, 16, true, true, 5}}));
}

TEST(PartAccesses, MeetInTheSameMemoryOnly) {
  Buffer first = {Memory::Private, ElementType::F32, 8, 64};
  Buffer second = {Memory::Private, ElementType::F64, 8, 64};
  Buffer argument = {Memory::Argument, ElementType::F32, 8, 1};
  // Bytes 64 to 80 and 72 to 80 of the arena; then from byte 80 on.
  EXPECT_TRUE(bytesOf(first, 0, 0, 4).meets(bytesOf(second, 0, 1, 1)));
  EXPECT_FALSE(bytesOf(first, 0, 0, 4).meets(bytesOf(second, 0, 2, 1)));
  EXPECT_FALSE(bytesOf(first, 0, 0, 4).meets(bytesOf(first, 1, 0, 4)));
  EXPECT_FALSE(bytesOf(first, 0, 0, 4).meets(bytesOf(argument, 0, 0, 8)));
  EXPECT_TRUE(bytesOf(argument, 0, 0, 8).meets(bytesOf(argument, 0, 7, 1)));
  argument.offset = 2;
  EXPECT_FALSE(
      bytesOf(argument, 0, 0, 8)
          .meets(bytesOf({Memory::Argument, ElementType::F32, 8, 1}, 0, 0, 8)));
}
