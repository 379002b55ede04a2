//===- HopperTest.cpp - Instructions of sm_90a on the emulator ------------===//
//
// Each is used as it must be, and then without what makes that right: a wait, a
// fence, a swizzle. What is left out is found at the latest after some orders
// of what happens.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Cuda/HopperUtil.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

using namespace ccn;
using namespace ccn::emulator;
using runtime::ElementType;

namespace {

/// Rows of 32 floats: element (i, j) is 100 i + j.
std::vector<float> numbers(int rows, int columns) {
  std::vector<float> result;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      result.push_back(static_cast<float>(100 * i + j));
  return result;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// One warp writes three numbers, one after the other, and the other reads each
/// before the next is written; what it read.
std::vector<int> passNumbers(unsigned seed, unsigned fullParity,
                             bool awaitsEmpty) {
  std::vector<int> seen;
  int value = 0;
  run(seed, 64, [&] {
    u64 *full = barrierAt(0), *empty = barrierAt(1);
    if (threadIdx.x == 0) {
      beginBarrier(full, 1);
      beginBarrier(empty, 1);
      publishBarriers();
    }
    __syncthreads();
    for (unsigned i = 0; i < 3; ++i) {
      if (threadIdx.x == 0) {
        if (awaitsEmpty)
          awaitPhase(empty, (i & 1) ^ 1);
        value = static_cast<int>(i) + 1;
        arrive(full);
      } else if (threadIdx.x == 32) {
        awaitPhase(full, (i & 1) ^ fullParity);
        seen.push_back(value);
        arrive(empty);
      }
    }
  });
  return seen;
}

TEST(Hopper, BarriersHavePhases) {
  const std::vector<int> right = {1, 2, 3};
  for (unsigned seed = 1; seed <= all; ++seed)
    EXPECT_EQ(passNumbers(seed, 0, true), right);
  // Of the phase before, which is over at once.
  EXPECT_LT(rightOnes([&](unsigned seed) {
              return passNumbers(seed, 1, true) == right;
            }),
            all);
}

using HopperDeathTest = testing::Test;

TEST(HopperDeathTest, BarriersCountWhoArrives) {
  auto with = [](const std::function<void()> &use) {
    run(1, 32, [&] {
      if (threadIdx.x == 0)
        use();
    });
  };
  EXPECT_DEATH(with([] { arrive(barrierAt(0)); }),
               "a barrier is used that was not begun");
  EXPECT_DEATH(with([] {
                 beginBarrier(barrierAt(0), 1);
                 beginBarrier(barrierAt(0), 1);
               }),
               "a barrier is begun twice");
  EXPECT_DEATH(with([] {
                 beginBarrier(barrierAt(0), 1);
                 arriveExpecting(barrierAt(0), 16);
                 arrive(barrierAt(0));
               }),
               "more threads arrive at a barrier than its phase has");
}

/// Two groups of two warps take turns; in which order they did.
std::vector<int> takeTurns(unsigned seed, bool waits, int threads = 128) {
  std::vector<int> order;
  run(seed, 128, [&] {
    int group = static_cast<int>(threadIdx.x) / 64;
    if (group == 1)
      arriveThreads(1, threads);
    for (int turn = 0; turn < 3; ++turn) {
      if (waits)
        syncThreads(1 + group, 128);
      if (threadIdx.x % 64 == 0)
        order.push_back(group);
      if (turn < 2 || group == 0)
        arriveThreads(2 - group, 128);
    }
  });
  return order;
}

TEST(Hopper, WarpsTakeTurns) {
  const std::vector<int> right = {0, 1, 0, 1, 0, 1};
  for (unsigned seed = 1; seed <= all; ++seed)
    EXPECT_EQ(takeTurns(seed, true), right);
}

TEST(HopperDeathTest, WarpsTakeTurns) {
  EXPECT_DEATH(takeTurns(1, true, 96),
               "threads wait at a barrier for different numbers of threads");
  EXPECT_DEATH(run(1, 64,
                   [] {
                     if (threadIdx.x < 32)
                       syncThreads(1, 64);
                   }),
               "a thread of a block waits for ever");
  EXPECT_DEATH(run(1, 32, [] { syncThreads(16, 32); }),
               "a number or a count that it cannot have");
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

struct LoadUse {
  bool waits = true;
  unsigned announced = 1024;
  bool isPublished = true;
  int swizzle = 128;
  int barrierTurns = 1000;
};

/// Element (i, j) of a box of 8 rows of 32 floats from (row, column) on of a
/// tensor of 20 rows of 40, as shared memory has it when it is waited for.
std::vector<float> loadRows(unsigned seed, int row, int column,
                            const LoadUse &use = {}) {
  const std::vector<float> tensor = numbers(20, 40);
  CcnTensorMap map =
      mapOf(tensor.data(), ElementType::F32, {20, 40}, {8, 32}, use.swizzle);
  std::vector<float> seen(8 * 32, -1);
  run(seed, 32, [&] {
    if (threadIdx.x == 0) {
      u64 *barrier = barrierAt(0);
      beginBarrier(barrier, 1);
      if (use.isPublished)
        publishBarriers();
      prefetchMap(&map);
      arriveExpecting(barrier, use.announced);
      loadTile<2>(shared + 1024, &map, {column, row}, barrier);
      for (int turn = 0;
           use.waits && turn < use.barrierTurns && !isPhaseOver(barrier, 0);
           ++turn) {
      }
    }
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      int j = static_cast<int>(threadIdx.x);
      std::memcpy(&seen[static_cast<size_t>(32 * i + j)],
                  shared + 1024 + 128 * i + (j / 4 ^ i) * 16 + j % 4 * 4, 4);
    }
    // What was not waited for has to come before the block ends.
    if (threadIdx.x == 0)
      awaitPhase(barrierAt(0), 0);
  });
  return seen;
}

std::vector<float> box(int row, int column) {
  std::vector<float> result;
  for (int i = row; i < row + 8; ++i)
    for (int j = column; j < column + 32; ++j) {
      bool isInside = i >= 0 && i < 20 && j >= 0 && j < 40;
      result.push_back(isInside ? static_cast<float>(100 * i + j) : 0);
    }
  return result;
}

TEST(Hopper, BoxesAreLoaded) {
  for (unsigned seed = 1; seed <= all; ++seed)
    for (auto [row, column] :
         {std::pair(0, 0), {3, 4}, {16, 20}, {-2, -12}, {30, 0}, {0, 40}})
      EXPECT_EQ(loadRows(seed, row, column), box(row, column));
}

TEST(Hopper, BoxesComeLate) {
  LoadUse unwaited;
  unwaited.waits = false;
  int right = rightOnes([&](unsigned seed) {
    return loadRows(seed, 3, 4, unwaited) == box(3, 4);
  });
  EXPECT_GT(right, 0);
  EXPECT_LT(right, all);
  LoadUse plain;
  plain.swizzle = 0;
  EXPECT_NE(loadRows(1, 0, 0, plain), box(0, 0));
}

TEST(HopperDeathTest, BoxesAreCounted) {
  LoadUse unpublished;
  unpublished.isPublished = false;
  EXPECT_DEATH(loadRows(1, 0, 0, unpublished),
               "a copy counts on a barrier that was not published to copies");
  // More were announced than come: the phase is never over.
  run(1, 32, [] {
    const std::vector<float> tensor = numbers(8, 32);
    CcnTensorMap map =
        mapOf(tensor.data(), ElementType::F32, {8, 32}, {8, 32}, 128);
    if (threadIdx.x != 0)
      return;
    beginBarrier(barrierAt(0), 1);
    publishBarriers();
    arriveExpecting(barrierAt(0), 1040);
    loadTile<2>(shared, &map, {0, 0}, barrierAt(0));
    bool isOver = false;
    for (int turn = 0; turn < 100; ++turn)
      isOver |= isPhaseOver(barrierAt(0), 0);
    EXPECT_FALSE(isOver);
  });
  auto load = [](const CcnTensorMap &map, char *to) {
    run(1, 32, [&] {
      if (threadIdx.x != 0)
        return;
      beginBarrier(barrierAt(0), 1);
      publishBarriers();
      loadTile<2>(to, &map, {0, 0}, barrierAt(0));
    });
  };
  const std::vector<float> tensor = numbers(8, 32);
  CcnTensorMap map =
      mapOf(tensor.data(), ElementType::F32, {8, 32}, {8, 32}, 128);
  EXPECT_DEATH(load(map, shared + 128), "not aligned for its swizzle");
  EXPECT_DEATH(load(map, shared + memoryBytes), "not in dynamic shared memory");
  EXPECT_DEATH(load({}, shared), "a tensor map that the driver has not made");
  EXPECT_DEATH(
      load(mapOf(tensor.data(), ElementType::F32, {256}, {4}, 0), shared),
      "another number of indices than the tensor has");
  EXPECT_DEATH(loadRows(1, 0, 2),
               "a box that does not begin at a multiple of 16 bytes");
  EXPECT_DEATH(load(map, shared),
               "the block ends before copies to its memory have come");
  unsigned flag = 1;
  EXPECT_DEATH(run(1, 32,
                   [&] {
                     if (threadIdx.x != 0)
                       return;
                     beginBarrier(barrierAt(0), 1);
                     publishBarriers();
                     (void)loadAcquire(&flag);
                     loadTile<2>(shared, &map, {0, 0}, barrierAt(0));
                   }),
               "a copy follows a flag without fenceAllForCopies");
}

struct StoreUse {
  bool fences = true, waitsRead = true, waits = true, commits = true;
};

/// Two boxes of 8 rows of 32 floats through the same shared memory to a tensor
/// of 10 rows of 60; what it then is. The second one reaches beyond it.
std::vector<float> storeBoxes(unsigned seed, const StoreUse &use = {}) {
  std::vector<float> tensor(10 * 60, -1);
  CcnTensorMap map =
      mapOf(tensor.data(), ElementType::F32, {10, 60}, {8, 32}, 128);
  run(seed, 32, [&] {
    int lane = static_cast<int>(threadIdx.x);
    for (int turn = 0; turn < 2; ++turn) {
      // As late as something that takes its time.
      if (turn > 0 && lane == 0 && use.waitsRead)
        awaitStoresRead<0>();
      __syncwarp();
      for (int i = 0; i < 8; ++i) {
        auto value = static_cast<float>(1000 * turn + 100 * i + lane);
        std::memcpy(shared + 128 * i + (lane / 4 ^ i) * 16 + lane % 4 * 4,
                    &value, 4);
      }
      if (use.fences)
        fenceForCopies();
      __syncwarp();
      if (lane == 0) {
        storeTile<2>(&map, {32 * turn, 4 * turn}, shared);
        if (use.commits)
          commitStores();
      }
    }
    if (lane == 0 && use.waits)
      awaitStores<0>();
  });
  return tensor;
}

std::vector<float> stored() {
  std::vector<float> tensor(10 * 60, -1);
  for (int turn = 0; turn < 2; ++turn)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 32; ++j)
        if (i + 4 * turn < 10 && j + 32 * turn < 60)
          tensor[static_cast<size_t>(60 * (i + 4 * turn) + j + 32 * turn)] =
              static_cast<float>(1000 * turn + 100 * i + j);
  return tensor;
}

TEST(Hopper, BoxesAreStored) {
  for (unsigned seed = 1; seed <= all; ++seed)
    EXPECT_EQ(storeBoxes(seed), stored());
  StoreUse unfenced;
  unfenced.fences = false;
  EXPECT_EQ(rightOnes([&](unsigned seed) {
              return storeBoxes(seed, unfenced) == stored();
            }),
            0);
  StoreUse early;
  early.waitsRead = false;
  EXPECT_LT(rightOnes([&](unsigned seed) {
              return storeBoxes(seed, early) == stored();
            }),
            all);
}

TEST(HopperDeathTest, BoxesAreStored) {
  StoreUse unwaited;
  unwaited.waits = false;
  EXPECT_DEATH(storeBoxes(1, unwaited),
               "it ends before its copies to global memory were waited for");
  StoreUse uncommitted;
  uncommitted.commits = false;
  EXPECT_DEATH(storeBoxes(1, uncommitted),
               "copies to global memory that were not committed");
}

TEST(Hopper, BoxesOfEverySwizzleComeBack) {
  for (int swizzle : {0, 32, 64, 128})
    for (int dims : {2, 3, 5}) {
      std::vector<int64_t> sizes = {3, 2, 2, 9, 40}, box = {2, 1, 2, 8, 0};
      sizes.erase(sizes.begin(), sizes.end() - dims);
      box.erase(box.begin(), box.end() - dims);
      box.back() = swizzle ? swizzle / 2 : 16;
      auto count = static_cast<size_t>(std::accumulate(
          sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>()));
      std::vector<unsigned short> from(count), to(count, 0xffff);
      std::iota(from.begin(), from.end(), 0);
      CcnTensorMap in = mapOf(from.data(), ElementType::U16, sizes, box,
                              swizzle),
                   out =
                       mapOf(to.data(), ElementType::U16, sizes, box, swizzle);
      int at[5] = {8, 2, 1, 1, 2};
      decode(&in).load(shared, at);
      decode(&out).store(shared, at);
      // What is inside of the box is there, and nothing else.
      size_t inside = 0;
      for (size_t i = 0; i < count; ++i) {
        size_t rest = i;
        bool isInside = true;
        for (int dim = 0; dim < dims; ++dim) {
          auto size = static_cast<size_t>(sizes[size_t(dims - 1 - dim)]);
          auto place = static_cast<int64_t>(rest % size);
          rest /= size;
          isInside &=
              place >= at[dim] && place < at[dim] + box[size_t(dims - 1 - dim)];
        }
        inside += isInside;
        EXPECT_EQ(to[i], isInside ? from[i] : 0xffff);
      }
      EXPECT_GT(inside, 0u);
    }
}

TEST(Hopper, MatricesAreStored) {
  run(1, 32, [] {
    unsigned lane = threadIdx.x;
    unsigned values[4];
    for (unsigned m = 0; m < 4; ++m)
      values[m] = (1000 * m + lane) | (1000 * m + lane + 500) << 16;
    storeMatrices(shared + 16 * (lane ^ 5), values);
    __syncwarp();
    for (unsigned m = 0; m < 4; ++m)
      for (unsigned row = 0; row < 8; ++row) {
        unsigned short found[8];
        std::memcpy(found, shared + 16 * ((8 * m + row) ^ 5), 16);
        for (unsigned j = 0; j < 8; ++j)
          EXPECT_EQ(found[j], 1000 * m + 4 * row + j / 2 + j % 2 * 500);
      }
  });
}

} // namespace
