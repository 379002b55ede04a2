//===- GpuPackageTest.cpp - Programs for GPUs in packages -----------------===//
//
// What does not fit its plan is refused, with the reason.
//
//===----------------------------------------------------------------------===//

#include "SamplePackages.h"
#include "runtime/plan/CheckGpuProgram.h"
#include "runtime/plan/CheckPlan.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// Why the program of `average` on two ranks with this change is refused.
std::string whyNotWith(const std::function<void(GpuProgram &)> &change) {
  Package package = averageOnGpus(2, 1000);
  change(*package.gpu);
  return checkGpuProgram(package.plan, *package.gpu).message();
}

} // namespace

TEST(GpuPackage, SamplesAreRight) {
  for (int ranks : {1, 2, 3, 4, 16}) {
    Package package = averageOnGpus(ranks, 1000);
    EXPECT_EQ(checkPlan(package.plan).message(), "");
    EXPECT_EQ(checkGpuProgram(package.plan, *package.gpu).message(), "");
    EXPECT_EQ(checkTarget(package).message(), "");
  }
}

TEST(GpuPackage, MoreRanksThanAKernelCanAddressAreRefused) {
  Package package = averageOnGpus(17, 1000);
  EXPECT_EQ(checkGpuProgram(package.plan, *package.gpu).message(),
            "expected at most 16 ranks, whose memory a kernel can address, "
            "found 17");
}

TEST(GpuPackage, KernelsAreChecked) {
  auto whyNotKernel = [](const std::function<void(GpuKernel &)> &change) {
    return whyNotWith([&](GpuProgram &gpu) { change(gpu.kernels[1]); });
  };
  for (const char *name : {"", "1st", "a b", "a\n", "operator+"})
    EXPECT_EQ(whyNotKernel([&](GpuKernel &k) { k.name = name; }),
              "kernel 1 ('" + std::string(name) +
                  "'): expected a name that is an identifier of C");
  EXPECT_EQ(whyNotKernel([](GpuKernel &k) { k.name = "slice"; }),
            "kernel 2 ('slice'): another one has the same name");
  for (int64_t threads : {-32, 0, 31, 33, 1056})
    EXPECT_EQ(whyNotKernel([&](GpuKernel &k) { k.threads = threads; }),
              "kernel 1 ('update'): expected 32 to 1024 threads, a multiple of "
              "32, found " +
                  std::to_string(threads));
  auto ofClusters = [](GpuKernel &k, int64_t threads) {
    k.clusters = true;
    k.threads = threads;
  };
  EXPECT_EQ(whyNotKernel([&](GpuKernel &k) { ofClusters(k, 512); }), "");
  EXPECT_EQ(whyNotKernel([&](GpuKernel &k) { ofClusters(k, 480); }),
            "kernel 1 ('update'): expected at least 512 threads, as blocks of "
            "clusters may have, found 480");
  EXPECT_EQ(whyNotKernel([](GpuKernel &k) { k.sharedBytes = 232448; }), "");
  EXPECT_EQ(whyNotKernel([](GpuKernel &k) { k.sharedBytes = 232449; }),
            "kernel 1 ('update'): expected at most 232448 bytes of shared "
            "memory, found 232449");
  EXPECT_NE(whyNotKernel([](GpuKernel &k) { k.sharedBytes = -1; }), "");
  EXPECT_EQ(whyNotKernel([](GpuKernel &k) { k.blockBytes = 100; }),
            "kernel 1 ('update'): expected a workspace of 0 to 1073741824 "
            "bytes, a multiple of 64, found 100");
  EXPECT_NE(whyNotKernel([](GpuKernel &k) { k.blockBytes = INT64_MAX - 63; }),
            "");
  EXPECT_EQ(whyNotKernel([](GpuKernel &k) { k.numbers = 0; }).substr(0, 44),
            "kernel 1 ('update'): expected 1 to 4065 numb");
  EXPECT_NE(whyNotKernel([](GpuKernel &k) { k.numbers = 4068; }), "");
  EXPECT_EQ(whyNotWith([](GpuProgram &gpu) { gpu.source += '\0'; }),
            "the source of the kernels is not text");
}

TEST(GpuPackage, LaunchesAreChecked) {
  auto whyNotLaunch = [](const std::function<void(GpuLaunch &)> &change) {
    return whyNotWith([&](GpuProgram &gpu) { change(gpu.launches[1][2]); });
  };
  std::string where = "rank 1: launch 2 ('slice'): ";
  for (int kernel : {-2, 3})
    EXPECT_EQ(whyNotLaunch([&](GpuLaunch &l) { l.kernel = kernel; }),
              where + "expected a kernel below 3, or -1, found " +
                  std::to_string(kernel));
  // Nothing to do.
  EXPECT_EQ(whyNotLaunch([](GpuLaunch &l) { l = {-1, 1, 0, {}}; }), "");
  EXPECT_EQ(whyNotLaunch([](GpuLaunch &l) { l.blocks = 1ll << 31; }),
            where + "expected 0 to 2147483647 blocks, found 2147483648");
  EXPECT_EQ(whyNotLaunch([](GpuLaunch &l) { l.blocks = 0; }), "");
  EXPECT_NE(whyNotLaunch([](GpuLaunch &l) { l.workspaceBytes = -64; }), "");
  EXPECT_EQ(whyNotLaunch([](GpuLaunch &l) { l.numbers.pop_back(); }),
            where + "expected the 3 numbers of kernel 'slice', found 2");
  // What a library is to multiply is in the buffers, and in own memory.
  auto whyNotProduct = [&](const std::function<void(MatmulPart &)> &change) {
    return whyNotLaunch([&](GpuLaunch &l) {
      MatmulPart part;
      part.m = part.n = part.k = 1;
      part.a = part.b = {0, 0, {1, 1}, -1};
      part.c = {1, 0, {1, 1}, -1};
      change(part);
      l.product = GpuProduct{part, true};
    });
  };
  EXPECT_EQ(whyNotProduct([](MatmulPart &) {}), "");
  EXPECT_EQ(whyNotProduct([](MatmulPart &p) { p.a.buffer = 99; }),
            where + "its product: expected a buffer below 5, found 99");
  EXPECT_EQ(
      whyNotProduct([](MatmulPart &p) { p.b.strides[1] = 1000, p.n = 2; }),
      where + "its product: the view has elements 0 to 1000 of buffer 0, "
              "which has 1000");
  EXPECT_EQ(whyNotProduct([](MatmulPart &p) { p.a.buffer = 4, p.a.rank = 0; }),
            where + "its product: expected own memory, found that of rank 0");
  EXPECT_EQ(whyNotWith([](GpuProgram &gpu) { gpu.launches.pop_back(); }),
            "expected the launches of 2 ranks, found 1");
  EXPECT_EQ(whyNotWith([](GpuProgram &gpu) { gpu.launches[0].pop_back(); }),
            "rank 0: expected the plan's 3 launches, found 2");
}

TEST(GpuPackage, MemoryIsChecked) {
  EXPECT_EQ(whyNotWith([](GpuProgram &gpu) {
              gpu.symmetricBytes -= 64;
            }).substr(0, 20),
            "expected 4032 to 703");
  EXPECT_NE(whyNotWith([](GpuProgram &gpu) { gpu.symmetricBytes = INT64_MAX; }),
            "");
  EXPECT_EQ(whyNotWith([](GpuProgram &gpu) { --gpu.flags; }).substr(0, 16),
            "expected 4 to 16");
  EXPECT_NE(whyNotWith([](GpuProgram &gpu) { gpu.flags = INT64_MAX; }), "");
  EXPECT_EQ(whyNotWith([](GpuProgram &gpu) { gpu.sharedArguments = {1, 0}; }),
            "");
  for (std::vector<int> shared : {std::vector<int>{-1}, {0, 0}, {99}})
    EXPECT_EQ(whyNotWith([&](GpuProgram &gpu) {
                gpu.sharedArguments = shared;
              }).substr(0, 31),
              "expected shared arguments below");
  for (int kernel : {-2, 99})
    EXPECT_EQ(whyNotWith([&](GpuProgram &gpu) { gpu.tableKernel = kernel; }),
              "expected a kernel for tables, or -1, found " +
                  std::to_string(kernel));
  EXPECT_NE(whyNotWith([](GpuProgram &gpu) {
              gpu.tableKernel = 0;
              gpu.kernels[0].waits = true;
            }).find("for tables: expected one that does not wait"),
            std::string::npos);
  auto whyNotFill = [](GpuFill fill) {
    return whyNotWith([&](GpuProgram &gpu) { gpu.fills = {fill}; });
  };
  EXPECT_EQ(whyNotFill({0, 4032, 255}), "");
  EXPECT_EQ(whyNotFill({4032, 0, 0}), "");
  EXPECT_EQ(whyNotFill({64, 4032, 0}),
            "fill 0: 4032 bytes at 64 are not inside of the 4032 of symmetric "
            "memory");
  EXPECT_NE(whyNotFill({-1, 1, 0}), "");
  EXPECT_NE(whyNotFill({0, -1, 0}), "");
  EXPECT_NE(whyNotFill({INT64_MAX, INT64_MAX, 0}), "");
  EXPECT_EQ(whyNotFill({0, 1, 256}), "fill 0: expected a byte, found 256");
}

TEST(GpuPackage, MessagesAreChecked) {
  auto whyNotSegments = [](const std::function<void(GpuSegments &)> &change) {
    return whyNotWith([&](GpuProgram &gpu) { change(gpu.segments[1]); });
  };
  EXPECT_EQ(whyNotWith([](GpuProgram &gpu) { gpu.segments.pop_back(); }),
            "expected the segments of 3 launches, found 2");
  const std::string launch = "launch 1 ('all_reduce + update'): ";
  EXPECT_EQ(whyNotSegments([](GpuSegments &s) { s.count = -1; }),
            launch + "expected 0 to 1048576 segments, found -1");
  EXPECT_EQ(whyNotSegments([](GpuSegments &s) { s.count = 2; }),
            launch + "expected messages before and after each of 2 segments, "
                     "found 2");
  EXPECT_EQ(whyNotSegments([](GpuSegments &s) { s.waits = {1}; }),
            launch + "expected an earlier launch to wait for, found 1");
  EXPECT_EQ(whyNotSegments([](GpuSegments &s) { s.waits = {0}; }), "");
  auto whyNotMessage = [&](const std::function<void(GpuMessage &)> &change) {
    std::string why =
        whyNotSegments([&](GpuSegments &s) { change(s.messages[0][0]); });
    const std::string begin = launch + "message 0: ";
    EXPECT_TRUE(why.empty() || why.starts_with(begin)) << why;
    return why.empty() ? why : why.substr(begin.size());
  };
  EXPECT_EQ(whyNotMessage([](GpuMessage &m) { m.to = 2; }),
            "expected ranks below 2, found 2");
  EXPECT_EQ(whyNotMessage([](GpuMessage &m) { m.from = -1; }),
            "expected ranks below 2, found -1");
  EXPECT_EQ(whyNotMessage([](GpuMessage &m) { m.to = m.from; }),
            "expected two ranks, found 0 twice");
  EXPECT_EQ(whyNotMessage([](GpuMessage &m) { m.argument = 0; }),
            "expected a shared argument below 0, or -1, found 0");
  EXPECT_EQ(whyNotMessage([](GpuMessage &m) { m.counts = {1}; }),
            "expected as many strides as counts, found 0 and 1");
  // Of 4032 bytes.
  EXPECT_EQ(whyNotMessage([](GpuMessage &m) { m.offset = 64; }),
            "4000 bytes at 64 in steps are not inside of the 4032 of their "
            "memory");
  auto whyNotRows = [&](int64_t offset, int64_t bytes,
                        std::vector<int64_t> counts,
                        std::vector<int64_t> strides) {
    return whyNotMessage([&](GpuMessage &m) {
      m.offset = offset;
      m.bytes = bytes;
      m.counts = counts;
      m.strides = strides;
    });
  };
  EXPECT_EQ(whyNotRows(32, 100, {4, 10}, {1000, 100}), "");
  EXPECT_NE(whyNotRows(33, 100, {4, 10}, {1000, 100}), "");
  EXPECT_NE(whyNotRows(0, 100, {4, 10}, {999, 100}), "");
  EXPECT_NE(whyNotRows(0, 100, {10}, {99}), "");
  EXPECT_NE(whyNotRows(0, 0, {}, {}), "");
  EXPECT_NE(whyNotRows(-1, 1, {}, {}), "");
  EXPECT_NE(whyNotRows(0, INT64_MAX, {}, {}), "");
  EXPECT_NE(whyNotRows(INT64_MAX, INT64_MAX, {}, {}), "");
  EXPECT_NE(whyNotRows(0, 1, {INT64_MIN}, {1}), "");
  EXPECT_NE(whyNotRows(0, 1, {INT64_MAX}, {INT64_MAX}), "");
}

TEST(GpuPackage, MutatedProgramsAreReadOrRefused) {
  // Whatever a program holds, what is accepted has numbers that fit.
  std::mt19937_64 random(3);
  const int64_t values[] = {-1,   0,         1,         2,        64,
                            4096, INT32_MAX, INT64_MAX, INT64_MIN};
  auto any = [&] { return values[random() % std::size(values)]; };
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    Package package = averageOnGpus(2, 10);
    GpuProgram &gpu = *package.gpu;
    gpu.source = "";
    for (unsigned changes = 1 + random() % 2; changes > 0; --changes) {
      GpuKernel &kernel = gpu.kernels[random() % 3];
      GpuLaunch &launch = gpu.launches[random() % 2][random() % 3];
      switch (random() % 9) {
      case 0:
        kernel.threads = any();
        break;
      case 1:
        kernel.sharedBytes = any();
        break;
      case 2:
        kernel.blockBytes = any();
        break;
      case 3:
        kernel.numbers = any();
        break;
      case 4:
        launch.kernel = static_cast<int>(any());
        break;
      case 5:
        launch.blocks = any();
        break;
      case 6:
        launch.workspaceBytes = any();
        break;
      case 7:
        gpu.symmetricBytes = any();
        break;
      default:
        gpu.fills.push_back({any(), any(), static_cast<int>(any())});
      }
    }
    if (!checkGpuProgram(package.plan, gpu))
      continue;
    ++accepted;
    for (const std::vector<GpuLaunch> &launches : gpu.launches)
      for (const GpuLaunch &launch : launches) {
        if (launch.kernel == -1)
          continue;
        ASSERT_LT(static_cast<size_t>(launch.kernel), gpu.kernels.size());
        const GpuKernel &kernel = gpu.kernels[size_t(launch.kernel)];
        ASSERT_EQ(launch.numbers.size(), size_t(kernel.numbers));
        ASSERT_TRUE(launch.blocks >= 0 && launch.blocks <= INT32_MAX);
        ASSERT_TRUE(kernel.blockBytes >= 0 && launch.workspaceBytes >= 0);
      }
    for (const GpuFill &fill : gpu.fills)
      ASSERT_TRUE(fill.offset >= 0 && fill.bytes >= 0 &&
                  fill.offset + fill.bytes <= gpu.symmetricBytes);
  }
  EXPECT_GT(accepted, 1000);
}
