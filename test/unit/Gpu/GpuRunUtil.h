//===- GpuRunUtil.h - Runs of packages made by hand -------------*- C++ -*-===//
//
// Executors of `average` (SamplePackages.h) for all ranks, as threads.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_GPU_GPURUNUTIL_H
#define CCN_TEST_UNIT_GPU_GPURUNUTIL_H

#include "FakeCuda.h"

#include "runtime/cuda/Compiler.h"
#include "runtime/cuda/GpuMachine.h"
#include "runtime/cuda/GpuRuns.h"
#include "runtime/team/SymmetricHeap.h"
#include "test/unit/Package/SamplePackages.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

namespace ccn::runtime {

/// Begins with a driver and ends without anything that was taken.
class GpuRun : public testing::Test {
protected:
  void SetUp() override {
    if (Status status = checkGpus(); !status)
      GTEST_SKIP() << status.message();
    if (Result<std::string> version = compilerVersion(); !version)
      GTEST_SKIP() << version.message();
    fail = fakeFunction<decltype(ccnFakeFail)>("ccnFakeFail");
    objects = fakeFunction<decltype(ccnFakeObjects)>("ccnFakeObjects");
    before = objects ? objects() : 0;
  }
  void TearDown() override {
    if (fail)
      fail(nullptr, -1, 0);
    // Everything was given back.
    if (objects) {
      EXPECT_EQ(objects(), before);
    }
  }

  decltype(ccnFakeFail) *fail = nullptr;
  decltype(ccnFakeObjects) *objects = nullptr;
  int before = 0;
};

/// Arguments and results of the ranks of `average`, on the host.
struct Arrays {
  Arrays(int ranks, int64_t count) : count(count) {
    for (int rank = 0; rank < ranks; ++rank) {
      x.emplace_back();
      for (int64_t i = 0; i < count; ++i)
        x.back().push_back(static_cast<float>((i * 7 + rank * 13) % 101) / 8);
      y.emplace_back(count, 1.0f);
      s.emplace_back(count, -1.0f);
    }
  }
  std::vector<void *> of(int rank) {
    auto at = static_cast<size_t>(rank);
    return {x[at].data(), y[at].data(), &scale, s[at].data()};
  }
  /// What y is after so many runs.
  std::vector<float> expected(int runs) const {
    std::vector<float> result;
    for (int64_t i = 0; i < count; ++i) {
      float sum = 0, value = 1;
      for (const std::vector<float> &part : x)
        sum += part[static_cast<size_t>(i)];
      for (int run = 0; run < runs; ++run)
        value = value + scale * sum;
      result.push_back(value);
    }
    return result;
  }

  int64_t count;
  float scale = 0.25f;
  std::vector<std::vector<float>> x, y, s;
};

/// Runs body(rank, executor, runs) for each rank; the team's failure.
inline Status
onGpus(const Package &package, const GpuExecutorOptions &options,
       const std::function<Status(int, GpuExecutor &, GpuRuns &)> &body) {
  auto ranks = static_cast<int>(package.plan.ranks.size());
  auto heap = SymmetricHeap::create(ranks, gpuTransportBytes(package.plan));
  if (!heap)
    return heap.status();
  Transport &team = **heap;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      auto run = [&] {
        auto executor = GpuExecutor::create(package.plan, *package.gpu, rank,
                                            team, options);
        if (!executor)
          return executor.status();
        auto runs = GpuRuns::create(**executor, package.plan, rank);
        Status status = runs ? body(rank, **executor, **runs) : runs.status();
        return status ? status : team.fail(rank, status.message());
      };
      (void)run();
      team.leave(rank);
    });
  for (std::thread &thread : threads)
    thread.join();
  return team.failure();
}

/// Copies the arguments there, runs so often, and back.
inline Status runSome(GpuRuns &runs, Arrays &arrays, int rank, int count) {
  std::vector<void *> arguments = arrays.of(rank);
  Status status = runs.upload(arguments);
  for (int i = 0; i < count && status; ++i)
    status = runs.run();
  return status ? runs.download(arguments) : status;
}

inline void expectResults(const Package &package, const Arrays &arrays,
                          int runs) {
  std::vector<float> expected = arrays.expected(runs);
  for (size_t rank = 0; rank < arrays.y.size(); ++rank) {
    EXPECT_EQ(arrays.y[rank], expected) << "rank " << rank;
    const Placement &placement = package.plan.ranks[rank].placements[3];
    for (int64_t i = 0; i < placement.sizes[0]; ++i)
      ASSERT_EQ(arrays.s[rank][size_t(i)],
                expected[size_t(placement.offsets[0] + i)]);
  }
}

/// One of three ranks divides by zero.
inline void
expectWhatCannotBeComputedIsSaid(const GpuExecutorOptions &options) {
  Package package = averageOnGpus(3, 1000, 2, true);
  Arrays arrays(3, 1000);
  Status status =
      onGpus(package, options, [&](int rank, GpuExecutor &, GpuRuns &runs) {
        return runSome(runs, arrays, rank, 1);
      });
  EXPECT_EQ(status.message(),
            "rank 2: launch 'publish': division by zero at sample.ccn:7:3");
}

/// One of three ranks does not run.
inline void
expectWhoFailsElsewhereStopsTheOthers(const GpuExecutorOptions &options) {
  Package package = averageOnGpus(3, 1000);
  Arrays arrays(3, 1000);
  auto start = std::chrono::steady_clock::now();
  Status status = onGpus(package, options,
                         [&](int rank, GpuExecutor &, GpuRuns &runs) -> Status {
                           if (rank == 1)
                             return error("no more");
                           return runSome(runs, arrays, rank, 1);
                         });
  EXPECT_EQ(status.message(), "rank 1: no more");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
}

} // namespace ccn::runtime

#endif // CCN_TEST_UNIT_GPU_GPURUNUTIL_H
