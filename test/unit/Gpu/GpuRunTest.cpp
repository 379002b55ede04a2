//===- GpuRunTest.cpp - Executes plans on GPUs, or on what seems so -------===//
//
// CTest runs this on the driver of FakeCuda.cpp. Started by hand where GPUs are
// it runs on them, but for the tests of what a driver can do wrong.
//
//===----------------------------------------------------------------------===//

#include "GpuRunUtil.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

using namespace ccn;
using namespace ccn::runtime;

TEST_F(GpuRun, RanksGiveTheBitsOfTheHost) {
  for (int ranks : {1, 2, 3, 4, 8})
    for (int64_t count : {1, 1000, 10007}) {
      Package package = averageOnGpus(ranks, count);
      Arrays arrays(ranks, count);
      Status status =
          onGpus(package, {}, [&](int rank, GpuExecutor &, GpuRuns &runs) {
            return runSome(runs, arrays, rank, 3);
          });
      ASSERT_TRUE(status.ok()) << status.message();
      expectResults(package, arrays, 3);
    }
}

TEST_F(GpuRun, MemoryIsFilledBefore) {
  // What ranks do not write is what the fills and zeros say.
  Package package = averageOnGpus(2, 1000);
  for (std::vector<GpuLaunch> &launches : package.gpu->launches)
    launches[0].numbers[0] = 500;
  package.gpu->fills = {{3000, 1032, 0x40}, {3600, 400, 0x20}};
  Arrays arrays(2, 1000);
  Status status =
      onGpus(package, {}, [&](int rank, GpuExecutor &, GpuRuns &runs) {
        return runSome(runs, arrays, rank, 1);
      });
  ASSERT_TRUE(status.ok()) << status.message();
  auto filled = [](int byte) {
    float value;
    std::memset(&value, byte, sizeof value);
    return 1 + 0.25f * (value + value);
  };
  std::vector<float> published = arrays.expected(1);
  for (size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(arrays.y[1][i], i < 500   ? published[i]
                              : i < 750 ? 1
                              : i < 900 ? filled(0x40)
                                        : filled(0x20))
        << i;
}

TEST_F(GpuRun, GraphsAreReplayed) {
  Package package = averageOnGpus(3, 1000);
  Arrays arrays(3, 1000);
  Status status =
      onGpus(package, {}, [&](int rank, GpuExecutor &, GpuRuns &runs) {
        std::vector<void *> arguments = arrays.of(rank);
        Status status = runs.upload(arguments);
        if (!status)
          return status;
        auto launched = runs.timeRuns(3);
        if (!launched)
          return launched.status();
        EXPECT_EQ(launched->size(), 3u);
        status = runs.captureGraph(5);
        if (!status)
          return status;
        auto replayed = runs.timeGraph(70);
        if (!replayed)
          return replayed.status();
        EXPECT_EQ(replayed->size(), 70u);
        for (double seconds : *replayed)
          EXPECT_GT(seconds, 0);
        return runs.download(arguments);
      });
  ASSERT_TRUE(status.ok()) << status.message();
  // 70 replays are two batches.
  expectResults(package, arrays, (1 + 3) + 5 * (70 + 2));
}

TEST_F(GpuRun, GridsAreSharedOutEqually) {
  if (!fail)
    GTEST_SKIP() << "of the fake devices it is known how large they are";
  // 8 multiprocessors; 2 streams; 1 or 2 ranks on each of 4 devices.
  for (auto [ranks, atOnce, blocks] :
       {std::tuple(4, 1, 4), std::tuple(8, 1, 2), std::tuple(4, 2, 2),
        std::tuple(8, 2, 1), std::tuple(8, 4, 1)}) {
    Package package = averageOnGpus(ranks, 100000);
    package.gpu->kernels[2].blockBytes = 64;
    // The third launch may run at once with the others.
    for (RankPlan &rank : package.plan.ranks)
      rank.launches[2].waits.clear();
    GpuExecutorOptions options;
    options.runsAtOnce = atOnce;
    Status status = onGpus(package, options,
                           [&](int rank, GpuExecutor &executor, GpuRuns &) {
                             EXPECT_EQ(executor.blocks(0), blocks);
                             EXPECT_EQ(executor.blocks(1), blocks);
                             EXPECT_EQ(executor.blocks(2), 16);
                             EXPECT_EQ(executor.device(), rank % 4);
                             return Status();
                           });
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

/// Kernels that are for clusters, with so many for each launch.
static Package averageOfClusters(int ranks, int64_t clusters) {
  Package package = averageOnGpus(ranks, 1000);
  for (GpuKernel &kernel : package.gpu->kernels) {
    kernel.threads = 512;
    kernel.clusters = true;
  }
  for (std::vector<GpuLaunch> &launches : package.gpu->launches)
    for (GpuLaunch &launch : launches)
      launch.blocks = clusters;
  // One stream.
  for (RankPlan &rank : package.plan.ranks)
    rank.launches[2].stream = 0;
  return package;
}

TEST_F(GpuRun, BlocksAreClustersWhereTheyHaveTheDevice) {
  if (!fail)
    GTEST_SKIP() << "of the fake devices it is known how large they are";
  // 8 multiprocessors; 1 or 2 ranks on each of 4 devices.
  for (auto [ranks, clusters, blocks] :
       {std::tuple(3, 1, 8), std::tuple(4, 2, 8), std::tuple(2, 3, 6),
        std::tuple(2, 5, 5), std::tuple(5, 1, 1)}) {
    Package package = averageOfClusters(ranks, clusters);
    Arrays arrays(ranks, 1000);
    Status status = onGpus(
        package, {}, [&](int rank, GpuExecutor &executor, GpuRuns &runs) {
          for (int launch : {0, 1, 2})
            EXPECT_EQ(executor.blocks(launch), blocks) << "rank " << rank;
          Status captured = runs.captureGraph(1);
          return captured ? runSome(runs, arrays, rank, 2) : captured;
        });
    ASSERT_TRUE(status.ok()) << status.message();
    expectResults(package, arrays, 2);
  }
}

TEST_F(GpuRun, ClustersAreNoLargerThanTheDeviceAllows) {
  if (!fail)
    GTEST_SKIP() << "of the fake devices it is known how large they are";
  for (int64_t most : {4, 2, 1}) {
    (void)setenv("CCN_FAKE_CLUSTER", std::to_string(most).c_str(), 1);
    Status status = onGpus(averageOfClusters(2, 1), {},
                           [&](int, GpuExecutor &executor, GpuRuns &runs) {
                             EXPECT_EQ(executor.blocks(0), most);
                             return runs.run();
                           });
    EXPECT_TRUE(status.ok()) << status.message();
  }
  (void)unsetenv("CCN_FAKE_CLUSTER");
}

TEST_F(GpuRun, RanksThatDoNotFitADeviceTakeNothing) {
  auto *setFree = fakeFunction<void(size_t)>("ccnFakeFree");
  if (!setFree)
    GTEST_SKIP() << "only a fake driver has as much free as it is told";
  // Eight ranks on four devices.
  Package package = averageOnGpus(8, 1000);
  auto run = [&](size_t free, int64_t callerBytes) {
    setFree(free);
    GpuExecutorOptions options;
    options.callerBytes = callerBytes;
    std::atomic<int> ready{0};
    Status status =
        onGpus(package, options, [&](int, GpuExecutor &, GpuRuns &) -> Status {
          ++ready;
          return Status();
        });
    setFree(size_t(1) << 50);
    EXPECT_EQ(ready, status ? 8 : 0);
    return status.message();
  };
  EXPECT_EQ(run(size_t(1) << 30, 1 << 20), "");
  std::string why = run(1'000'000, 1 << 20);
  EXPECT_NE(
      why.find("there is not enough memory on the GPU of ranks 0 and 4: "),
      why.npos)
      << why;
  EXPECT_NE(why.find("1048576 for arguments and results); found 1000000, which "
                     "it has free"),
            why.npos)
      << why;
  // Each would fit alone.
  EXPECT_EQ(run(16 << 20, 1 << 20), "");
  EXPECT_NE(run(16 << 20, 12 << 20), "");
}

// Clusters have more blocks than the plan says, each with a workspace.
TEST_F(GpuRun, MemoryIsCheckedOnceMoreWhenGridsAreKnown) {
  auto *setFree = fakeFunction<void(size_t)>("ccnFakeFree");
  if (!setFree)
    GTEST_SKIP() << "only a fake driver has as much free as it is told";
  auto run = [&](bool clusters, size_t free) {
    Package package = averageOfClusters(2, 1);
    for (GpuKernel &kernel : package.gpu->kernels) {
      kernel.clusters = clusters;
      kernel.blockBytes = 1 << 20;
    }
    setFree(free);
    Status status =
        onGpus(package, {}, [](int, GpuExecutor &, GpuRuns &) -> Status {
          return Status();
        });
    setFree(size_t(1) << 50);
    return status.message();
  };
  size_t free = 1 << 10;
  while (!run(false, free).empty() && free < (size_t(1) << 40))
    free *= 2;
  EXPECT_EQ(run(false, free), "");
  EXPECT_NE(run(true, free).find(" for workspaces"), std::string::npos)
      << run(true, free);
  EXPECT_EQ(run(true, free * 16), "");
}

TEST_F(GpuRun, RanksTakeTurnsByTheirNumberOnTheHost) {
  if (!fail)
    GTEST_SKIP() << "of the fake devices it is known how many they are";
  // Not by their rank: all have one number here, and so one device.
  for (int local : {0, 3, 5}) {
    GpuExecutorOptions options;
    options.localRank = local;
    Package package = averageOnGpus(2, 1000);
    Arrays arrays(2, 1000);
    Status status = onGpus(package, options,
                           [&](int rank, GpuExecutor &executor, GpuRuns &runs) {
                             EXPECT_EQ(executor.device(), local % 4);
                             return runSome(runs, arrays, rank, 1);
                           });
    ASSERT_TRUE(status.ok()) << status.message();
    expectResults(package, arrays, 1);
  }
}

TEST_F(GpuRun, RanksAgreeOnGrids) {
  Package package = averageOnGpus(2, 1000);
  auto want = [&](size_t rank, size_t launch, int64_t blocks) {
    package.gpu->launches[rank][launch].blocks = blocks;
  };
  want(0, 0, 1), want(1, 0, 3);
  want(0, 1, 2), want(1, 1, 1);
  want(0, 2, 5), want(1, 2, 0);
  Arrays arrays(2, 1000);
  Status status =
      onGpus(package, {}, [&](int rank, GpuExecutor &executor, GpuRuns &runs) {
        EXPECT_EQ(executor.blocks(0), 3);
        EXPECT_EQ(executor.blocks(1), 2);
        EXPECT_EQ(executor.blocks(2), rank == 0 ? 5 : 1);
        return runSome(runs, arrays, rank, 2);
      });
  ASSERT_TRUE(status.ok()) << status.message();
  expectResults(package, arrays, 2);
}

TEST_F(GpuRun, NothingSpoilsWhatOthersCapture) {
  auto *captureElsewhere = fakeFunction<int(bool)>("ccnFakeCaptureElsewhere");
  if (!captureElsewhere)
    GTEST_SKIP() << "of a fake driver it is known who captures";
  (void)captureElsewhere(true);
  // Made, run, and given back.
  Status status =
      onGpus(averageOnGpus(2, 1000), {},
             [](int, GpuExecutor &, GpuRuns &runs) { return runs.run(); });
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(captureElsewhere(false), 0);
}

TEST_F(GpuRun, StreamsThatWaitForNothingAreCapturedToo) {
  Package package = averageOnGpus(2, 1000);
  for (RankPlan &rank : package.plan.ranks)
    rank.launches[2].waits = {};
  Arrays arrays(2, 1000);
  Status status =
      onGpus(package, {}, [&](int rank, GpuExecutor &, GpuRuns &runs) {
        Status status = runs.captureGraph(2);
        if (status)
          status = runs.upload(arrays.of(rank));
        if (status)
          status = runs.timeGraph(1).status();
        return status ? runs.download(arrays.of(rank)) : status;
      });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(arrays.y[1], arrays.expected(4));
}

TEST_F(GpuRun, WhoDoesNotComeIsNamed) {
  Package package = averageOnGpus(3, 1000, 1);
  Arrays arrays(3, 1000);
  GpuExecutorOptions options;
  options.timeLimit = 0.5;
  std::atomic<int> failures{0};
  Status status =
      onGpus(package, options, [&](int rank, GpuExecutor &, GpuRuns &runs) {
        Status status = runSome(runs, arrays, rank, 1);
        if (!status) {
          ++failures;
          // Nothing runs any more.
          EXPECT_EQ(runs.run().message(), status.message());
        }
        return status;
      });
  EXPECT_TRUE(status.message().ends_with(
      ": launch 'publish': waited 0.5 s for rank 1 (flag 1: expected 1, seen "
      "0); given to the GPUs: ranks 0 to 2: 3 of 3 launches of run 1"))
      << status.message();
  EXPECT_GE(failures, 2);
}

TEST_F(GpuRun, WhatCannotBeComputedIsSaid) {
  expectWhatCannotBeComputedIsSaid({});
}

TEST_F(GpuRun, WhoFailsElsewhereStopsTheOthers) {
  expectWhoFailsElsewhereStopsTheOthers({});
}

TEST_F(GpuRun, ArgumentsAreChecked) {
  Package package = averageOnGpus(1, 1000);
  Status status =
      onGpus(package, {}, [&](int, GpuExecutor &executor, GpuRuns &) {
        std::vector<void *> none(3);
        return executor.run(none, nullptr);
      });
  EXPECT_EQ(status.message(), "rank 0: expected 4 arguments, found 3");
}

TEST_F(GpuRun, KernelsWithOtherParametersAreRefused) {
  Package package = averageOnGpus(2, 1000);
  package.gpu->kernels[1].numbers = 2;
  for (std::vector<GpuLaunch> &launches : package.gpu->launches)
    launches[1].numbers.pop_back();
  Status status = onGpus(
      package, {}, [](int, GpuExecutor &, GpuRuns &) { return Status(); });
  EXPECT_NE(status.message().find("kernel 'update': parameter 2: expected 16 "
                                  "bytes, found 24"),
            std::string::npos)
      << status.message();
}

TEST_F(GpuRun, KernelsThatAreNotThereAreNamed) {
  Package package = averageOnGpus(1, 1000);
  package.gpu->kernels[2].name = "no_such";
  Status status = onGpus(
      package, {}, [](int, GpuExecutor &, GpuRuns &) { return Status(); });
  EXPECT_EQ(status.message().find(
                "rank 0: kernel 'no_such': cuModuleGetFunction failed: "),
            0u)
      << status.message();
}

TEST_F(GpuRun, KernelsThatDoNotCompileAreShown) {
  Package package = averageOnGpus(1, 1000);
  package.gpu->source += "\nmistake\n";
  Status status = onGpus(
      package, {}, [](int, GpuExecutor &, GpuRuns &) { return Status(); });
  EXPECT_NE(status.message().find("the kernels do not compile:\n"),
            std::string::npos)
      << status.message();
}

TEST_F(GpuRun, KernelsForMessagesAreNotCompiled) {
  Package package = averageOnGpus(2, 1000);
  package.gpu->messageSource = "\nmistake\n";
  auto run = [&] {
    return onGpus(package, {},
                  [](int, GpuExecutor &, GpuRuns &) { return Status(); })
        .message();
  };
  EXPECT_EQ(run(), "");
  package.gpu->peerSource = "\nmistake\n";
  EXPECT_NE(run().find("the kernels do not compile:\n"), std::string::npos);
}

TEST_F(GpuRun, DevicesThatCannotReachEachOtherAreNamed) {
  if (!fail)
    GTEST_SKIP() << "a fake device can be cut off";
  setenv("CCN_FAKE_NO_PEERS", "1", 1);
  Package package = averageOnGpus(2, 10);
  GpuExecutorOptions options;
  options.transport = GpuTransport::Peer;
  Status status = onGpus(
      package, options, [](int, GpuExecutor &, GpuRuns &) { return Status(); });
  unsetenv("CCN_FAKE_NO_PEERS");
  EXPECT_NE(status.message().find("cannot access the memory of GPU"),
            std::string::npos)
      << status.message();
}

TEST_F(GpuRun, LaunchesAreTraced) {
  struct Sink : TraceSink {
    void record(const TraceEvent &event) override { events.push_back(event); }
    std::vector<TraceEvent> events;
  } sinks[2];
  Package package = averageOnGpus(2, 1000);
  Arrays arrays(2, 1000);
  auto heap = SymmetricHeap::create(2, gpuTransportBytes(package.plan));
  ASSERT_TRUE(heap.ok());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      GpuExecutorOptions options;
      options.trace = &sinks[rank];
      auto executor = GpuExecutor::create(package.plan, *package.gpu, rank,
                                          **heap, options);
      ASSERT_TRUE(executor.ok()) << executor.message();
      auto runs = GpuRuns::create(**executor, package.plan, rank);
      ASSERT_TRUE(runs.ok());
      ASSERT_TRUE(runSome(**runs, arrays, rank, 2).ok());
      const std::vector<TraceEvent> &events = sinks[rank].events;
      ASSERT_EQ(events.size(), 6u);
      for (size_t i = 0; i < events.size(); ++i) {
        EXPECT_EQ(events[i].launch, package.plan.ranks[0].launches[i % 3].name);
        EXPECT_EQ(events[i].index, int(i % 3));
        EXPECT_EQ(events[i].stream, i % 3 == 2 ? 1 : 0);
        EXPECT_EQ(events[i].run, i / 3 + 1);
        EXPECT_LE(events[i].beginNanoseconds, events[i].endNanoseconds);
        if (i > 0) {
          EXPECT_GE(events[i].beginNanoseconds + 1000,
                    events[i - 1].endNanoseconds);
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(GpuRun, EveryCallThatFailsIsNamed) {
  if (!fail)
    GTEST_SKIP() << "only a fake driver fails when it is told to";
  // Of one rank; the other must end too, and nothing may be lost.
  GpuExecutorOptions options;
  options.transport = GpuTransport::Peer;
  for (const char *function : {"cuDeviceGetCount",
                               "cuDeviceGet",
                               "cuDeviceGetUuid",
                               "cuDevicePrimaryCtxRetain",
                               "cuCtxPushCurrent",
                               "cuDeviceGetAttribute",
                               "cuModuleLoadData",
                               "cuModuleGetFunction",
                               "cuFuncLoad",
                               "cuFuncGetAttribute",
                               "cuFuncGetParamInfo",
                               "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                               "cuOccupancyMaxActiveClusters",
                               "cuCtxGetLimit",
                               "cuCtxSetLimit",
                               "cuMemGetInfo",
                               "cuMemAlloc",
                               "cuMemsetD8Async",
                               "cuStreamCreate",
                               "cuStreamQuery",
                               "cuDeviceCanAccessPeer",
                               "cuCtxEnablePeerAccess",
                               "cuMemHostAlloc",
                               "cuMemHostGetDevicePointer",
                               "cuEventCreate",
                               "cuMemcpyHtoDAsync",
                               "cuStreamIsCapturing",
                               "cuEventRecord",
                               "cuStreamWaitEvent",
                               "cuLaunchKernelEx",
                               "cuMemcpyDtoHAsync"}) {
    // What is called before the device is current fails on both ranks.
    std::string name = function;
    bool isEarly = name.starts_with("cuDeviceGet") ||
                   name.starts_with("cuDevicePrimary") ||
                   name == "cuCtxPushCurrent";
    for (int call : {0, 1, 3}) {
      bool isOfAttributes =
          name == "cuDeviceGetAttribute" || name == "cuDeviceCanAccessPeer";
      if (isOfAttributes && call > 0)
        continue;
      fail(function, isEarly ? -1 : 1, call);
      Package package = averageOnGpus(2, 1000);
      package.gpu->kernels[1].threads = 512;
      package.gpu->kernels[1].clusters = true;
      Arrays arrays(2, 1000);
      Status status =
          onGpus(package, options, [&](int rank, GpuExecutor &, GpuRuns &runs) {
            return runSome(runs, arrays, rank, 2);
          });
      fail(nullptr, -1, 0);
      // Some are called less often.
      if (status && call > 0)
        continue;
      EXPECT_NE(status.message().find(name + " failed: unknown error "
                                             "(CUDA_ERROR_UNKNOWN)"),
                std::string::npos)
          << name << ", call " << call << ": '" << status.message() << "'";
      // Without its context a rank cannot tell what still runs.
      if (name == "cuCtxPushCurrent")
        before = objects();
      EXPECT_EQ(objects(), before) << name;
    }
  }
}
