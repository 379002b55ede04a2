//===- GpuMessagesTest.cpp - Ranks whose GPUs send messages ---------------===//
//
// What GpuRunTest.cpp tests, where ranks do not access each other's memory: on
// the driver of FakeCuda.cpp and the library of FakeNccl.cpp, or on as many
// GPUs as there are ranks.
//
//===----------------------------------------------------------------------===//

#include "GpuRunUtil.h"

#include "runtime/cuda/GpuDevice.h"

#include <atomic>
#include <chrono>
#include <cstdlib>

using namespace ccn;
using namespace ccn::runtime;

namespace {

class GpuMessagesRun : public GpuRun {
protected:
  void SetUp() override {
    GpuRun::SetUp();
    options.transport = GpuTransport::Nccl;
    constexpr int most = 4;
    int devices = most;
    if (Result<const Driver *> driver = Driver::get(); driver && !fail)
      (*driver)->deviceGetCount(&devices);
    if (devices < most)
      GTEST_SKIP() << "NCCL takes one rank on a GPU, and there are fewer than "
                   << most;
  }
  void TearDown() override {
    for (const char *name : {"CCN_FAKE_NO_PEERS", "CCN_FAKE_GPUS",
                             "CCN_FAKE_NCCL_FAILS", "CCN_FAKE_NCCL_VERSION"})
      unsetenv(name);
    GpuRun::TearDown();
  }

  /// Why two ranks do not run `average`.
  std::string whyNot() {
    Package package = averageOnGpus(2, 1000);
    Arrays arrays(2, 1000);
    return onGpus(package, options,
                  [&](int rank, GpuExecutor &, GpuRuns &runs) {
                    return runSome(runs, arrays, rank, 2);
                  })
        .message();
  }

  GpuExecutorOptions options;
};

/// Starts `average` of some numbers so often, and waits for its stream without
/// the executor; then what the executor says of one run more, if `again`.
Status runByItself(GpuExecutor &executor, int64_t count, int runs, bool again) {
  Result<std::unique_ptr<GpuDevice>> device =
      GpuDevice::open(executor.device());
  if (!device)
    return device.status();
  CurrentContext current((*device)->driver, (*device)->context);
  std::vector<DeviceMemory> memory;
  std::vector<void *> arguments;
  for (int i = 0; i < 4; ++i) {
    Result<DeviceMemory> taken =
        allocateMemory(**device, count * int64_t(sizeof(float)), "an argument");
    if (!taken)
      return taken.status();
    arguments.push_back(reinterpret_cast<void *>(taken->get()));
    memory.push_back(*std::move(taken));
  }
  Result<Stream> stream = createStream(**device);
  Status status = stream.status();
  for (int i = 0; i < runs && status; ++i)
    status = executor.run(arguments, stream->get());
  if (status)
    status = awaitStream(**device, stream->get());
  return status && again ? executor.run(arguments, stream->get()) : status;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != text.npos;
}

} // namespace

TEST_F(GpuMessagesRun, GiveTheBitsOfTheHost) {
  for (int ranks : {1, 2, 3, 4})
    for (int64_t count : {1, 1000, 10007}) {
      Package package = averageOnGpus(ranks, count);
      Arrays arrays(ranks, count);
      Status status =
          onGpus(package, options, [&](int rank, GpuExecutor &, GpuRuns &runs) {
            return runSome(runs, arrays, rank, 3);
          });
      ASSERT_TRUE(status.ok()) << status.message();
      expectResults(package, arrays, 3);
    }
}

TEST_F(GpuMessagesRun, NeedNoKernelsForPeers) {
  for (bool isCutOff : {false, true}) {
    if (isCutOff && !fail)
      continue;
    if (isCutOff)
      setenv("CCN_FAKE_NO_PEERS", "1", 1);
    GpuExecutorOptions own = options;
    own.transport = isCutOff ? GpuTransport::Auto : GpuTransport::Nccl;
    Package package = averageOnGpus(2, 1000);
    package.gpu->peerSource = "\nmistake\n";
    Arrays arrays(2, 1000);
    auto run = [&] {
      return onGpus(package, own, [&](int rank, GpuExecutor &, GpuRuns &runs) {
        return runSome(runs, arrays, rank, 1);
      });
    };
    Status status = run();
    EXPECT_TRUE(status.ok()) << status.message();
    package.gpu->messageSource = "\nmistake\n";
    EXPECT_TRUE(contains(run().message(), "the kernels do not compile:\n"));
  }
}

TEST_F(GpuMessagesRun, AreAllThatMoves) {
  // Without them ranks have nothing of each other's.
  Package package = averageOnGpus(2, 1000);
  for (std::vector<GpuMessage> &messages : package.gpu->segments[1].messages)
    for (GpuMessage &message : messages)
      message.bytes -= 4;
  Arrays arrays(2, 1000);
  Status status =
      onGpus(package, options, [&](int rank, GpuExecutor &, GpuRuns &runs) {
        return runSome(runs, arrays, rank, 1);
      });
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<float> expected = arrays.expected(1);
  EXPECT_EQ(arrays.y[0][998], expected[998]);
  EXPECT_NE(arrays.y[0][999], expected[999]);
}

TEST_F(GpuMessagesRun, AreOfTheCallersArguments) {
  // Each has the other's, with no copies in between.
  Package package = neighbourOnGpus(1000);
  std::vector<std::vector<float>> x, y(2, std::vector<float>(1000, -1));
  for (int rank = 0; rank < 2; ++rank) {
    x.emplace_back();
    for (int i = 0; i < 1000; ++i)
      x.back().push_back(static_cast<float>(i + 5000 * rank));
  }
  Status status = onGpus(
      package, options, [&](int rank, GpuExecutor &executor, GpuRuns &runs) {
        EXPECT_FALSE(executor.isCopied(0));
        auto at = static_cast<size_t>(rank);
        std::vector<void *> arguments = {x[at].data(), y[at].data()};
        Status status = runs.upload(arguments);
        for (int i = 0; i < 2 && status; ++i)
          status = runs.run();
        return status ? runs.download(arguments) : status;
      });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(y[0], x[1]);
  EXPECT_EQ(y[1], x[0]);
}

TEST_F(GpuMessagesRun, AreInGraphs) {
  Package package = averageOnGpus(3, 1000);
  Arrays arrays(3, 1000);
  Status status =
      onGpus(package, options, [&](int rank, GpuExecutor &, GpuRuns &runs) {
        Status status = runs.captureGraph(5);
        if (status)
          status = runs.upload(arrays.of(rank));
        if (status)
          status = runs.timeGraph(7).status();
        return status ? runs.download(arrays.of(rank)) : status;
      });
  ASSERT_TRUE(status.ok()) << status.message();
  expectResults(package, arrays, 5 * (7 + 1));
}

TEST_F(GpuMessagesRun, ServeWhereMemoryCannotBeAccessed) {
  if (!fail)
    GTEST_SKIP() << "a fake device can be cut off";
  setenv("CCN_FAKE_NO_PEERS", "1", 1);
  options.transport = GpuTransport::Auto;
  EXPECT_EQ(whyNot(), "");
  options.transport = GpuTransport::Peer;
  std::string why = whyNot();
  EXPECT_TRUE(contains(why, "cannot access the memory of GPU") &&
              why.ends_with("; CCN_GPU_TRANSPORT is peer"))
      << why;
}

TEST_F(GpuMessagesRun, NeedALibrary) {
  if (!fail)
    GTEST_SKIP() << "a fake library can be too old";
  // It is opened once in a process.
  setenv("CCN_FAKE_NCCL_VERSION", "21602", 1);
  setenv("CCN_FAKE_NO_PEERS", "1", 1);
  options.transport = GpuTransport::Auto;
  std::string why = whyNot();
  if (why.empty())
    GTEST_SKIP() << "NCCL has been opened before";
  EXPECT_TRUE(contains(why, "cannot access the memory of GPU") &&
              why.ends_with(
                  "; and NCCL, which would send messages instead, cannot be "
                  "used: expected NCCL of version 21700 or newer, found 21602"))
      << why;
}

TEST_F(GpuMessagesRun, NeedADeviceForEachRank) {
  if (!fail)
    GTEST_SKIP() << "of the fake devices it is known how many they are";
  setenv("CCN_FAKE_GPUS", "1", 1);
  EXPECT_TRUE(whyNot().ends_with(
      "CCN_GPU_TRANSPORT is nccl; and NCCL, which would send messages instead, "
      "takes one rank on a GPU, found ranks 0 and 1 on the same"))
      << whyNot();
}

TEST_F(GpuMessagesRun, AreAgreedOn) {
  Package package = averageOnGpus(2, 10);
  auto heap = SymmetricHeap::create(2, gpuTransportBytes(package.plan));
  ASSERT_TRUE(heap.ok());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      GpuExecutorOptions own;
      own.transport = rank == 0 ? GpuTransport::Auto : GpuTransport::Peer;
      (void)GpuExecutor::create(package.plan, *package.gpu, rank, **heap, own);
      (*heap)->leave(rank);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(contains((*heap)->failure().message(),
                       "CCN_GPU_TRANSPORT: expected the same on all ranks, "
                       "found "))
      << (*heap)->failure().message();
}

TEST_F(GpuMessagesRun, WhatFailsIsNamed) {
  if (!fail)
    GTEST_SKIP() << "only a fake library fails when it is told to";
  for (const char *function :
       {"ncclGetUniqueId", "ncclCommInitRankConfig", "ncclSend", "ncclRecv",
        "ncclGroupEnd", "ncclCommGetAsyncError"}) {
    setenv("CCN_FAKE_NCCL_FAILS", function, 1);
    std::string why = whyNot();
    bool isOfComm = std::string(function) == "ncclCommGetAsyncError";
    EXPECT_TRUE(contains(why, isOfComm ? "failed: remote process exited"
                                       : std::string(function) +
                                             " failed: invalid usage"))
        << function << ": " << why;
    unsetenv("CCN_FAKE_NCCL_FAILS");
    EXPECT_EQ(objects(), before) << function;
  }
  for (const char *function :
       {"cuMemAlloc", "cuMemHostAlloc", "cuMemHostGetDevicePointer",
        "cuStreamCreate", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync"})
    for (int call : {0, 1, 2}) {
      fail(function, 1, call);
      std::string why = whyNot();
      fail(nullptr, -1, 0);
      EXPECT_TRUE(contains(why, std::string(function) + " failed: ") ||
                  (why.empty() && call > 0))
          << function << ", call " << call << ": " << why;
      EXPECT_EQ(objects(), before) << function;
    }
}

TEST_F(GpuMessagesRun, WhoDoesNotComeIsNamed) {
  Package package = averageOnGpus(3, 1000);
  Arrays arrays(3, 1000);
  options.timeLimit = 0.5;
  auto start = std::chrono::steady_clock::now();
  Status status =
      onGpus(package, options, [&](int rank, GpuExecutor &, GpuRuns &runs) {
        if (rank != 1)
          return runSome(runs, arrays, rank, 1);
        std::this_thread::sleep_for(std::chrono::seconds(2));
        return Status();
      });
  EXPECT_TRUE(
      contains(status.message(),
               ": launch 'all_reduce + update': waited 0.5 s for messages of "
               "ranks "))
      << status.message();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
}

TEST_F(GpuMessagesRun, EndStreamsOfWhoWaitsByItself) {
  Package package = averageOnGpus(3, 1000);
  options.timeLimit = 0.5;
  auto start = std::chrono::steady_clock::now();
  for (bool fails : {true, false}) {
    Status status = onGpus(
        package, options,
        [&](int rank, GpuExecutor &executor, GpuRuns &) -> Status {
          if (rank == 1 && fails)
            return error("no more");
          if (rank == 1)
            std::this_thread::sleep_for(std::chrono::seconds(2));
          else
            EXPECT_FALSE(runByItself(executor, 1000, 2, /*again=*/true).ok());
          return Status();
        });
    EXPECT_TRUE(fails ? status.message() == "rank 1: no more"
                      : contains(status.message(),
                                 ": launch 'all_reduce + update': waited 0.5 s "
                                 "for messages of ranks "))
        << status.message();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
}

TEST_F(GpuMessagesRun, MayTakeTheTimeLimitInEveryRun) {
  Package package = averageOnGpus(2, 1000);
  options.timeLimit = 0.5;
  Status status =
      onGpus(package, options, [&](int rank, GpuExecutor &executor, GpuRuns &) {
        constexpr int runs = 12;
        if (rank == 0)
          return runByItself(executor, 1000, runs, /*again=*/false);
        Status status;
        for (int i = 0; i < runs && status; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          status = runByItself(executor, 1000, 1, /*again=*/false);
        }
        return status;
      });
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(GpuMessagesRun, WhatCannotBeComputedIsSaid) {
  expectWhatCannotBeComputedIsSaid(options);
}

TEST_F(GpuMessagesRun, WhoFailsElsewhereStopsTheOthers) {
  expectWhoFailsElsewhereStopsTheOthers(options);
}
