//===- GpuStreamsTest.cpp - Ranks that share a GPU's queues and room ------===//
//
// Kernels that wait for other ranks need what those run to be on the device
// too, and in no queue behind them. The fake driver has the queues and the room
// of a small GPU.
//
//===----------------------------------------------------------------------===//

#include "GpuRunUtil.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// All ranks on one device.
GpuExecutorOptions onOneGpu() {
  GpuExecutorOptions options;
  options.localRank = 0;
  options.timeLimit = 10;
  return options;
}

/// What each rank leaves of y, and what it should be after so many runs.
void expectCounts(const Arrays &arrays, int runs) {
  for (const std::vector<float> &y : arrays.y)
    for (float count : y)
      ASSERT_EQ(count, static_cast<float>(1 + runs));
}

} // namespace

TEST_F(GpuRun, PipelinesOfRanksThatShareAGpuEnd) {
  for (auto [ranks, stages, chunks] :
       {std::tuple(2, 16, 4), std::tuple(4, 9, 4), std::tuple(8, 16, 3)}) {
    Package package = pipelineOnGpus(ranks, stages, chunks);
    Arrays arrays(ranks, stages * chunks);
    Status status = onGpus(package, onOneGpu(),
                           [&](int rank, GpuExecutor &, GpuRuns &runs) {
                             return runSome(runs, arrays, rank, 3);
                           });
    ASSERT_TRUE(status.ok()) << status.message();
    expectCounts(arrays, 3);
  }
}

TEST_F(GpuRun, GraphsOfPipelinesOfRanksThatShareAGpuEnd) {
  Package package = pipelineOnGpus(4, 9, 4);
  Arrays arrays(4, 9 * 4);
  Status status =
      onGpus(package, onOneGpu(), [&](int rank, GpuExecutor &, GpuRuns &runs) {
        std::vector<void *> arguments = arrays.of(rank);
        Status status = runs.captureGraph(2);
        if (status)
          status = runs.upload(arguments);
        if (status)
          status = runs.timeGraph(3).status();
        return status ? runs.download(arguments) : status;
      });
  ASSERT_TRUE(status.ok()) << status.message();
  expectCounts(arrays, 2 * (1 + 3));
}

TEST_F(GpuRun, RanksThatShareAGpuDoNotFillItsQueues) {
  // What one rank's launches wait for another rank's thread must launch, which
  // comes late.
  constexpr int launches = 1500;
  Package package = pipelineOnGpus(2, 1, launches);
  Arrays arrays(2, launches);
  Status status =
      onGpus(package, onOneGpu(), [&](int rank, GpuExecutor &, GpuRuns &runs) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200 * rank));
        return runSome(runs, arrays, rank, 1);
      });
  ASSERT_TRUE(status.ok()) << status.message();
  expectCounts(arrays, 1);
}

TEST_F(GpuRun, RanksThatEndEarlyDoNotHoldUpOthersOfTheirGpu) {
  // The first two only meet each other. What they gave back would wait for the
  // third, which waits for the last, and that could launch nothing meanwhile.
  Package package = pipelineOnGpus(4, 2, 2, 2);
  Arrays arrays(4, 4);
  Status status =
      onGpus(package, onOneGpu(), [&](int rank, GpuExecutor &, GpuRuns &runs) {
        std::vector<void *> arguments = arrays.of(rank);
        Status status = runs.upload(arguments);
        if (rank == 3)
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
        if (status)
          status = runs.run();
        return status ? runs.download(arguments) : status;
      });
  ASSERT_TRUE(status.ok()) << status.message();
  expectCounts(arrays, 1);
}

TEST_F(GpuRun, ExecutorsAreMadeWhenAllHaveStartedTheirRuns) {
  // What is taken for the second waits for what the third runs.
  Package package = pipelineOnGpus(4, 2, 2, 2);
  Arrays arrays(4, 4);
  auto heap = SymmetricHeap::create(4, 2 * gpuTransportBytes(package.plan));
  ASSERT_TRUE(heap.ok()) << heap.message();
  Transport &team = **heap;
  auto runBoth = [&](int rank) {
    auto first =
        GpuExecutor::create(package.plan, *package.gpu, rank, team, onOneGpu());
    auto runs = first ? GpuRuns::create(**first, package.plan, rank)
                      : Result<std::unique_ptr<GpuRuns>>(first.status());
    Status status = runs ? (*runs)->upload(arrays.of(rank)) : runs.status();
    if (rank == 3)
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (status)
      status = (*runs)->run();
    if (status)
      status = GpuExecutor::create(package.plan, *package.gpu, rank, team,
                                   onOneGpu())
                   .status();
    return status ? status : team.fail(rank, status.message());
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      (void)runBoth(rank);
      team.leave(rank);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(team.failure().ok()) << team.failure().message();
}

TEST_F(GpuRun, MoreRunsAtOnceThanMultiprocessorsAreRefused) {
  if (!fail)
    GTEST_SKIP() << "of the fake devices it is known how large they are";
  GpuExecutorOptions options = onOneGpu();
  options.runsAtOnce = 3;
  Status status =
      onGpus(pipelineOnGpus(3, 2, 1), options,
             [&](int, GpuExecutor &, GpuRuns &) { return Status(); });
  EXPECT_NE(status.message().find(
                "GPU 0: expected at most 8 runs at once whose kernels wait for "
                "other ranks, as there are as many multiprocessors; found 3 "
                "ranks with 3 each"),
            std::string::npos)
      << status.message();
}

TEST_F(GpuRun, RanksOfOneGpuHaveQueuesOfTheirOwn) {
  auto *shared =
      fakeFunction<decltype(ccnFakeSharedQueues)>("ccnFakeSharedQueues");
  if (!shared)
    GTEST_SKIP() << "the fake driver counts the queues that are shared";
  Package package = averageOnGpus(4, 1000);
  Arrays arrays(4, 1000);
  (void)shared();
  Status status =
      onGpus(package, onOneGpu(), [&](int rank, GpuExecutor &, GpuRuns &runs) {
        return runSome(runs, arrays, rank, 2);
      });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(shared(), 0);
}
