//===- MeasureTest.cpp - What ccrun has GPUs do for times -----------------===//
//
// Where only times are wanted nothing comes back from the device.
//
//===----------------------------------------------------------------------===//

#include "GpuRunUtil.h"

#include "tools/ccrun/Ranks.h"

using namespace ccn;
using namespace ccn::runtime;

namespace {

class Measure : public GpuRun {
protected:
  /// Memory in which x and y are 1 and s is 7, and scale is 1.
  std::unique_ptr<RunMemory> start(bool givesResults) {
    RunTask task;
    task.onGpus = true;
    task.runs = task.timedRuns = 3;
    task.runsPerGraph = 2;
    task.givesResults = givesResults;
    std::unique_ptr<RunMemory> memory = *RunMemory::create(package.plan, task);
    for (size_t i = 0; i < package.plan.arguments.size(); ++i)
      memory->distribute(i, *HostTensor::splat(ElementType::F32,
                                               package.plan.arguments[i].shape,
                                               i == 3 ? 7 : 1));
    return memory;
  }
  Status run(RunMemory &memory) {
    Trace trace;
    return runThreads(package, memory, trace);
  }
  /// The first elements of y and of s on rank 1.
  std::pair<float, float> left(const RunMemory &memory) {
    std::vector<void *> parts = memory.arguments(1);
    return {*static_cast<float *>(parts[1]), *static_cast<float *>(parts[3])};
  }

  Package package = averageOnGpus(2, 1000);
};

TEST_F(Measure, ResultsAreThoseOfOneRun) {
  std::unique_ptr<RunMemory> memory = start(true);
  Status status = run(*memory);
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(left(*memory), std::pair(3.0f, 3.0f));
  EXPECT_GT(memory->time(1, 2).end, 0);
}

TEST_F(Measure, TimesAlone) {
  if (fail)
    fail("cuMemcpyDtoHAsync", -1, 0);
  std::unique_ptr<RunMemory> memory = start(false);
  Status status = run(*memory);
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(left(*memory), std::pair(1.0f, 7.0f));
  for (int rank : {0, 1}) {
    EXPECT_EQ(memory->report(rank).state, RankState::Done);
    EXPECT_GT(memory->report(rank).launchedSeconds, 0);
    for (int timed = 0; timed < 3; ++timed)
      EXPECT_GT(memory->time(rank, timed).end, 0);
  }
}

} // namespace
