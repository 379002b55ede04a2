//===- SliceBoundsTest.cpp - Which elements a rank holds ------------------===//
//
// All pieces of a dimension, for small sizes and up to three nested axes, tile
// it exactly once and in order.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Layout.h"

#include "gtest/gtest.h"

#include <limits>

using namespace ccn;

namespace {

/// Calls `visit` with every position on axes of the given sizes, the last axis
/// fastest.
template <typename Visit>
void forEachRank(llvm::ArrayRef<int64_t> axes, Visit visit) {
  llvm::SmallVector<int64_t> at(axes.size());
  while (true) {
    visit(llvm::ArrayRef<int64_t>(at));
    size_t i = axes.size();
    while (i > 0 && ++at[i - 1] == axes[i - 1])
      at[--i] = 0;
    if (i == 0)
      return;
  }
}

void checkTiles(int64_t size, llvm::ArrayRef<int64_t> axes) {
  int64_t end = 0, previous = std::numeric_limits<int64_t>::max();
  forEachRank(axes, [&](llvm::ArrayRef<int64_t> at) {
    SliceBounds piece = sliceBounds(size, axes, at);
    EXPECT_GE(piece.size, 0);
    // Each piece begins where the one before ends.
    EXPECT_EQ(piece.offset, end);
    end = piece.offset + piece.size;
    // With one axis none is longer than the one before.
    if (axes.size() == 1) {
      EXPECT_LE(piece.size, previous);
      previous = piece.size;
    }
  });
  EXPECT_EQ(end, size);
}

TEST(SliceBounds, OneAxisTilesTheDimension) {
  for (int64_t size = 0; size <= 40; ++size)
    for (int64_t ranks = 1; ranks <= 12; ++ranks)
      checkTiles(size, {ranks});
}

TEST(SliceBounds, TwoAxesTileTheDimension) {
  for (int64_t size = 0; size <= 24; ++size)
    for (int64_t outer = 1; outer <= 6; ++outer)
      for (int64_t inner = 1; inner <= 6; ++inner)
        checkTiles(size, {outer, inner});
}

TEST(SliceBounds, ThreeAxesTileTheDimension) {
  for (int64_t size = 0; size <= 20; ++size)
    for (int64_t a = 1; a <= 4; ++a)
      for (int64_t b = 1; b <= 4; ++b)
        for (int64_t c = 1; c <= 4; ++c)
          checkTiles(size, {a, b, c});
}

TEST(SliceBounds, NoAxisHoldsAll) {
  EXPECT_EQ(sliceBounds(7, {}, {}), (SliceBounds{0, 7}));
  EXPECT_EQ(sliceBounds(0, {}, {}), (SliceBounds{0, 0}));
}

TEST(SliceBounds, PiecesHaveTheCeilingOfTheirShare) {
  EXPECT_EQ(sliceBounds(10, {4}, {0}), (SliceBounds{0, 3}));
  EXPECT_EQ(sliceBounds(10, {4}, {2}), (SliceBounds{6, 3}));
  EXPECT_EQ(sliceBounds(10, {4}, {3}), (SliceBounds{9, 1}));
  // The last ones may be empty.
  EXPECT_EQ(sliceBounds(5, {4}, {2}), (SliceBounds{4, 1}));
  EXPECT_EQ(sliceBounds(5, {4}, {3}), (SliceBounds{5, 0}));
  EXPECT_EQ(sliceBounds(0, {4}, {3}), (SliceBounds{0, 0}));
}

TEST(SliceBounds, InnerCutsDivideTheFullOuterPiece) {
  // The outer piece at 1 holds 2 of 3 elements; it is cut as if it held 3.
  EXPECT_EQ(sliceBounds(5, {2, 2}, {0, 0}), (SliceBounds{0, 2}));
  EXPECT_EQ(sliceBounds(5, {2, 2}, {0, 1}), (SliceBounds{2, 1}));
  EXPECT_EQ(sliceBounds(5, {2, 2}, {1, 0}), (SliceBounds{3, 2}));
  EXPECT_EQ(sliceBounds(5, {2, 2}, {1, 1}), (SliceBounds{5, 0}));
}

TEST(SliceBounds, OrderOfAxesMatters) {
  EXPECT_EQ(sliceBounds(12, {2, 3}, {1, 0}), (SliceBounds{6, 2}));
  EXPECT_EQ(sliceBounds(12, {3, 2}, {0, 1}), (SliceBounds{2, 2}));
}

TEST(SliceBounds, LargestSizes) {
  constexpr int64_t max = std::numeric_limits<int64_t>::max();
  for (int64_t ranks : {1, 2, 3, 7, 65536}) {
    SliceBounds last = sliceBounds(max, {ranks}, {ranks - 1});
    EXPECT_EQ(last.offset + last.size, max) << ranks;
    SliceBounds nested = sliceBounds(max, {2, ranks}, {1, ranks - 1});
    EXPECT_EQ(nested.offset + nested.size, max) << ranks;
  }
}

} // namespace
