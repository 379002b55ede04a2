//===- FaultTest.cpp - What kernels' faults mean, and missing GPUs --------===//
//
// Every number gives a message.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuExecutor.h"
#include "runtime/cuda/GpuFault.h"
#include "runtime/cuda/GpuMachine.h"
#include "runtime/team/SymmetricHeap.h"
#include "test/unit/Package/SamplePackages.h"

#include <gtest/gtest.h>

#include <vector>

using namespace ccn;
using namespace ccn::runtime;

namespace {

std::string describe(const CcnFault &fault) {
  std::vector<std::string> launches = {"publish", "avg"};
  std::vector<std::string> failures = {"division by zero at adam.ccn:7:3"};
  return describeFault(fault, launches, failures, 10);
}

} // namespace

TEST(GpuFault, Messages) {
  EXPECT_EQ(
      describe({CCN_TIMED_OUT, 1, 3, 0, 3, 5, 4}),
      "launch 'avg': waited 10 s for rank 3 (flag 3: expected 5, seen 4)");
  EXPECT_EQ(describe({CCN_FAILED, 0, 0, 1, 0, 0, 0}),
            "launch 'publish': division by zero at adam.ccn:7:3");
  EXPECT_EQ(describe({CCN_FAILED, 1, 0, -1, 0, 0, 0}),
            "launch 'avg': an index is out of range of its table's rows");
  EXPECT_EQ(describe({CCN_STOPPED, 1, 0, 0, 0, 0, 0}),
            "launch 'avg': was stopped");
}

TEST(GpuFault, NumbersThatMeanNothing) {
  EXPECT_EQ(describe({CCN_FAILED, 1, 0, 2, 0, 0, 0}),
            "launch 'avg': failed with the unknown code 2");
  EXPECT_EQ(describe({CCN_FAILED, 1, 0, -7, 0, 0, 0}),
            "launch 'avg': failed with the unknown code -7");
  EXPECT_EQ(describe({77, 2, 0, 0, 0, 0, 0}), "launch 2: unknown fault 77");
  EXPECT_EQ(describe({77, -1, 0, 0, 0, 0, 0}), "launch -1: unknown fault 77");
}

TEST(GpuFault, HowFarRanksAre) {
  std::vector<std::string> launches = {"publish", "avg", "store"};
  auto describe = [&](std::vector<std::optional<Progress>> ranks) {
    return describeProgress(ranks, launches);
  };
  EXPECT_EQ(describe({{{1, 3}}, {{1, 3}}, {{1, 0}}}),
            "ranks 0 to 1: 3 of 3 launches of run 1; rank 2: 0 of 3 launches "
            "of run 1");
  // Nothing is known of those on other hosts.
  EXPECT_EQ(describe({std::nullopt, {{2, 1}}}),
            "rank 1: 1 of 3 launches of run 2");
  EXPECT_EQ(describe({std::nullopt, std::nullopt}), "");
  EXPECT_EQ(describe({{{1, 3, 1, 2, 1, 1}}, {{1, 3, 1, 3, 3, 3}}}),
            "rank 0: 3 of 3 launches of run 1, 2 begun, 1 over, not 'avg'; "
            "rank 1: 3 of 3 launches of run 1, 3 begun, 3 over");
}

TEST(GpuExecutor, WithoutAGpuTheTeamFails) {
  Status gpus = checkGpus();
  if (gpus)
    GTEST_SKIP() << "there is a GPU";
  Package package = averageOnGpus(1, 10);
  auto heap = SymmetricHeap::create(1, 1 << 20);
  ASSERT_TRUE(heap.ok());
  auto executor =
      GpuExecutor::create(package.plan, *package.gpu, 0, **heap, {});
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.message(), "rank 0: " + gpus.message());
  EXPECT_TRUE((*heap)->failed());
}
