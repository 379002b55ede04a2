//===- SharedArgumentTest.cpp - Arguments that other ranks access ---------===//
//
// Where they are bound, and where they cannot be.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "runtime/cuda/GpuDevice.h"
#include "runtime/cuda/GpuMachine.h"
#include "runtime/cuda/GpuRuns.h"
#include "runtime/team/SymmetricHeap.h"
#include "test/unit/Package/SamplePackages.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int ranks = 2;
constexpr int64_t count = 1000;

class SharedArguments : public testing::Test {
protected:
  void SetUp() override {
    if (Status status = checkGpus(); !status)
      GTEST_SKIP() << status.message();
    fail = fakeFunction<decltype(ccnFakeFail)>("ccnFakeFail");
    if (!fail)
      GTEST_SKIP() << "what a driver can do wrong needs one that does";
  }
  void TearDown() override {
    if (fail)
      fail(nullptr, -1, 0);
  }

  /// Binds and runs once, with one function of the driver failing while ranks
  /// bind, and one while they run; null is none. The team's failure.
  Status run(const char *binding, const char *running) {
    Package package = neighbourOnGpus(count);
    auto heap = SymmetricHeap::create(ranks, gpuTransportBytes(package.plan));
    if (!heap)
      return heap.status();
    Transport &team = **heap;
    std::vector<std::vector<float>> x, y(ranks, std::vector<float>(count, -1));
    for (int rank = 0; rank < ranks; ++rank) {
      x.emplace_back();
      for (int64_t i = 0; i < count; ++i)
        x.back().push_back(static_cast<float>(i + 5000 * rank));
    }
    std::atomic<int> created{0}, bound{0};
    // All come here, and then that fails.
    auto meet = [&](std::atomic<int> &counter, const char *failing) {
      int number = counter.fetch_add(1);
      if (number == ranks - 1) {
        fail(failing, -1, 0);
        ++counter;
      }
      while (counter <= ranks && !team.failed())
        std::this_thread::yield();
    };
    auto runOne = [&](int rank) {
      auto at = static_cast<size_t>(rank);
      auto executor =
          GpuExecutor::create(package.plan, *package.gpu, rank, team, {});
      if (!executor)
        return executor.status();
      meet(created, binding);
      // Its arguments are bound.
      auto runs = GpuRuns::create(**executor, package.plan, rank);
      if (!runs)
        return team.fail(rank, runs.message());
      std::vector<void *> arguments = {x[at].data(), y[at].data()};
      Status status = (*runs)->upload(arguments);
      meet(bound, running);
      if (status)
        status = (*runs)->run();
      if (status)
        status = (*runs)->download(arguments);
      return status ? status : team.fail(rank, status.message());
    };
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        (void)runOne(rank);
        team.leave(rank);
      });
    for (std::thread &thread : threads)
      thread.join();
    for (size_t rank = 0; rank < ranks && !team.failed(); ++rank)
      EXPECT_EQ(y[rank], x[(rank + 1) % ranks]);
    return team.failure();
  }

  decltype(ccnFakeFail) *fail = nullptr;
};

TEST_F(SharedArguments, WhatIsBoundIsNotCopied) {
  EXPECT_EQ(run(nullptr, nullptr).message(), "");
  EXPECT_EQ(run(nullptr, "cuMemcpyDtoDAsync").message(), "");
}

TEST_F(SharedArguments, WhatOthersCannotAccessIsCopied) {
  EXPECT_EQ(run("cuIpcGetMemHandle", nullptr).message(), "");
  EXPECT_NE(run("cuIpcGetMemHandle", "cuMemcpyDtoDAsync")
                .message()
                .find("cuMemcpyDtoDAsync"),
            std::string::npos);
}

TEST_F(SharedArguments, WhatIsBoundIsNotGivenForSomethingElse) {
  Package package = neighbourOnGpus(count);
  auto heap = SymmetricHeap::create(ranks, gpuTransportBytes(package.plan));
  ASSERT_TRUE(heap.ok());
  auto ofRank = [&](int rank) {
    auto executor =
        GpuExecutor::create(package.plan, *package.gpu, rank, **heap, {});
    ASSERT_TRUE(executor.ok()) << executor.message();
    auto device = GpuDevice::open((*executor)->device());
    ASSERT_TRUE(device.ok()) << device.message();
    CurrentContext current((*device)->driver, (*device)->context);
    std::vector<DeviceMemory> memory;
    auto place = [&](size_t i, int64_t element = 0) {
      return reinterpret_cast<void *>(memory[i].get() +
                                      static_cast<CUdeviceptr>(element * 4));
    };
    for (int i = 0; i < 3; ++i)
      memory.push_back(*allocateMemory(**device, (count + 1) * 4, "a test"));
    using Arguments = std::vector<void *>;
    EXPECT_EQ((*executor)->bind(Arguments{place(0), place(1)}).message(), "");
    auto check = [&](const Arguments &arguments) {
      return (*executor)->checkRun(arguments).message();
    };
    EXPECT_EQ(check({place(0), place(1)}), "");
    EXPECT_EQ(check({place(2), place(1)}), "");
    // What is not shared may be anywhere else.
    EXPECT_EQ(check({place(0), place(2)}), "");
    const char *wrong =
        "argument 'x' is elsewhere than it was bound, which the "
        "run overwrites, and argument ";
    EXPECT_EQ(check({place(1), place(0)}),
              std::string(wrong) + "'y' overlaps that");
    EXPECT_EQ(check({place(0, 1), place(1)}),
              std::string(wrong) + "'x' overlaps that");
  };
  std::thread other(ofRank, 1);
  ofRank(0);
  other.join();
}

TEST_F(SharedArguments, DevicesThatCannotAccessEachOtherCopy) {
  EXPECT_EQ(run("cuDeviceCanAccessPeer", nullptr).message(), "");
  EXPECT_NE(run("cuDeviceCanAccessPeer", "cuMemcpyDtoDAsync")
                .message()
                .find("cuMemcpyDtoDAsync"),
            std::string::npos);
}

} // namespace
