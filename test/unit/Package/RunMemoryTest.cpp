//===- RunMemoryTest.cpp - What the parts of a run share ------------------===//
//
// Large arguments are handed out in chunks, and arguments that are there are
// used again by runs that leave them as they were.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Ranks.h"

#include "SamplePackages.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// The elements 0, 1, 2, ...
HostTensor counted(const Shape &shape) {
  HostTensor tensor = *HostTensor::uninitialized(ElementType::F32, shape);
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.mutableDataAs<float>()[i] = static_cast<float>(i);
  return tensor;
}

std::span<const float> partOf(const RunMemory &memory, size_t argument,
                              int rank) {
  size_t bytes = static_cast<size_t>(memory.argumentBytes(rank, argument));
  return {static_cast<const float *>(memory.arguments(rank)[argument]),
          bytes / sizeof(float)};
}

/// Gives the ranks of `average` an argument x of another shape, of which each
/// has what slices of the last dimension but `fixed` has.
void expectParts(const Shape &shape, size_t dim) {
  constexpr int ranks = 3;
  Package package = average(ranks, 1);
  package.plan.arguments[0].shape = shape;
  std::vector<Placement> placements;
  int64_t width = (shape[dim] + ranks - 1) / ranks;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Placement &own =
        package.plan.ranks[static_cast<size_t>(rank)].placements[0];
    own = {Shape(shape.size(), 0), shape};
    own.offsets[dim] = rank * width;
    own.sizes[dim] = std::min(width, shape[dim] - rank * width);
    placements.push_back(own);
  }
  std::unique_ptr<RunMemory> memory =
      *RunMemory::create(package.plan, RunTask());
  HostTensor whole = counted(shape);
  memory->distribute(0, whole);
  Shape strides = rowMajorStrides(shape);
  for (int rank = 0; rank < ranks; ++rank) {
    const Placement &own = placements[static_cast<size_t>(rank)];
    std::span<const float> part = partOf(*memory, 0, rank);
    ASSERT_EQ(static_cast<int64_t>(part.size()), *elementCount(own.sizes));
    Shape steps = rowMajorStrides(own.sizes);
    for (size_t i = 0; i < part.size(); ++i) {
      int64_t rest = static_cast<int64_t>(i), at = 0;
      for (size_t each = 0; each < shape.size(); ++each) {
        at += (rest / steps[each] + own.offsets[each]) * strides[each];
        rest %= steps[each];
      }
      ASSERT_EQ(part[i], whole.dataAs<float>()[at])
          << "rank " << rank << ", element " << i;
    }
  }
}

TEST(RunMemory, LargeArgumentsAreCutIntoWhatRanksHold) {
  // In one piece; in rows that are many, and few; in what is cut twice.
  expectParts({3'000'001}, 0);
  expectParts({30'011, 101}, 1);
  expectParts({2, 3'000'001}, 1);
  expectParts({2, 1501, 1001}, 1);
  expectParts({2, 1501, 1001}, 2);
  expectParts({1501, 2, 1001}, 0);
}

TEST(RunMemory, APartAlone) {
  Package package = average(2, 3'000'001);
  std::unique_ptr<RunMemory> memory =
      *RunMemory::create(package.plan, RunTask());
  HostTensor own = counted({1, 3'000'001});
  memory->fillPart(0, 1, own);
  std::span<const float> part = partOf(*memory, 0, 1);
  EXPECT_EQ(std::memcmp(part.data(), own.data(), part.size_bytes()), 0);
  EXPECT_EQ(part.size_bytes(), static_cast<size_t>(own.byteCount()));
}

std::unique_ptr<RunMemory> filled(const Plan &plan, const RunTask &task) {
  std::unique_ptr<RunMemory> memory = *RunMemory::create(plan, task);
  for (size_t i = 0; i < 3; ++i)
    memory->distribute(i, counted(plan.arguments[i].shape));
  return memory;
}

/// What y is on a rank after the runs.
std::vector<float> leftBy(const Package &package, RunMemory &memory, int rank) {
  Trace trace;
  Status status = runThreads(package, memory, trace);
  EXPECT_TRUE(status) << status.message();
  std::span<const float> y = partOf(memory, 1, rank);
  return {y.begin(), y.end()};
}

TEST(RunMemory, RunsForTimesLeaveArguments) {
  Package package = average(2, 5);
  for (bool givesResults : {true, false})
    for (int runs : {1, 3}) {
      RunTask task;
      task.runs = task.timedRuns = runs;
      task.givesResults = givesResults;
      std::unique_ptr<RunMemory> memory = filled(package.plan, task);
      memory->distribute(2, *HostTensor::splat(ElementType::F32, {}, 1));
      std::vector<float> y = {0, 1, 2, 3, 4};
      if (givesResults)
        y = {5, 8, 11, 14, 17};
      EXPECT_EQ(leftBy(package, *memory, 0), y);
      EXPECT_EQ(leftBy(package, *memory, 1).size(), y.size());
      EXPECT_GE(memory->time(1, runs - 1).end, memory->time(1, 0).begin);
    }
}

TEST(RunMemory, AnotherPlanFindsTheArguments) {
  Package package = average(2, 5);
  Package wrong = average(2, 5, "add_scaled_wrongly");
  RunTask task;
  task.runs = task.timedRuns = 2;
  task.givesResults = false;
  std::unique_ptr<RunMemory> memory = filled(package.plan, task);
  (void)leftBy(package, *memory, 0);
  EXPECT_EQ(memory->report(1).state, RankState::Done);
  std::strcpy(memory->report(1).message, "before");

  task.variant = 1;
  ASSERT_TRUE(memory->reuse(wrong.plan, task));
  EXPECT_EQ(&memory->plan(), &wrong.plan);
  EXPECT_EQ(memory->task().variant, 1);
  EXPECT_EQ(memory->task().ranks, 2);
  EXPECT_EQ(memory->report(1).state, RankState::Starting);
  EXPECT_STREQ(memory->report(1).message, "");
  std::span<const float> x = partOf(*memory, 0, 1);
  EXPECT_EQ(std::vector<float>(x.begin(), x.end()),
            (std::vector<float>{5, 6, 7, 8, 9}));
  EXPECT_EQ(leftBy(wrong, *memory, 0), (std::vector<float>{0, 1, 2, 3, 4}));
}

TEST(RunMemory, OtherArgumentsAreNotFound) {
  Package package = average(2, 5);
  RunTask task;
  std::unique_ptr<RunMemory> memory = filled(package.plan, task);
  EXPECT_TRUE(memory->reuse(package.plan, task));
  EXPECT_FALSE(memory->reuse(average(2, 6).plan, task));
  EXPECT_FALSE(memory->reuse(average(3, 5).plan, task));
  // As large, and of another type; other parts; other times.
  Plan plan = package.plan;
  plan.arguments[0].typeName = "i32[5] local(dp)";
  EXPECT_FALSE(memory->reuse(plan, task));
  plan = package.plan;
  plan.ranks[1].placements[3].sizes[0] = 1;
  EXPECT_FALSE(memory->reuse(plan, task));
  task.timedRuns = 100;
  EXPECT_FALSE(memory->reuse(package.plan, task));
  EXPECT_EQ(&memory->plan(), &package.plan);
  EXPECT_EQ(memory->task().timedRuns, 0);
}

} // namespace
