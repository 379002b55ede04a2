//===- TensorMapsTest.cpp - Tensor maps in packages -----------------------===//
//
// They are kept, and what the driver or the memory would not take is refused,
// with the reason.
//
//===----------------------------------------------------------------------===//

#include "SamplePackages.h"
#include "runtime/plan/CheckGpuProgram.h"
#include "runtime/plan/Package.h"

#include <gtest/gtest.h>

#include <functional>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// 10 rows of 100 floats of the argument x, in boxes of 8 rows of 32.
GpuTensorMap rowsOfX() {
  return {TensorMemory::Buffer,
          0,
          -1,
          0,
          ElementType::F32,
          {10, 100},
          {100, 1},
          {8, 32},
          128};
}

/// `average` on two ranks, whose last launch has that map on rank 1, and any on
/// rank 0.
Package withMap(const GpuTensorMap &map) {
  Package package = averageOnGpus(2, 1000);
  GpuProgram &gpu = *package.gpu;
  gpu.kernels[2].tensorMaps = 1;
  gpu.launches[0][2].tensorMaps = {rowsOfX()};
  gpu.launches[1][2].tensorMaps = {map};
  return package;
}

/// Why a program with this change to the map of x is refused.
std::string whyNot(const std::function<void(GpuTensorMap &)> &change,
                   const std::function<void(Package &)> &more = nullptr) {
  GpuTensorMap map = rowsOfX();
  change(map);
  Package package = withMap(map);
  if (more)
    more(package);
  std::string why = checkGpuProgram(package.plan, *package.gpu).message();
  const std::string begin = "rank 1: launch 2 ('slice'): tensor map 0: ";
  return why.starts_with(begin) ? why.substr(begin.size()) : why;
}

} // namespace

TEST(TensorMaps, AreReadAsTheyWereWritten) {
  Package package = everything();
  Result<std::string> bytes = encodePackage(package);
  ASSERT_TRUE(bytes.ok());
  Result<Package> read = decodePackage(*bytes);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->gpu->kernels[1].tensorMaps, 9);
  const std::vector<GpuTensorMap> &maps = read->gpu->launches[0][0].tensorMaps;
  ASSERT_EQ(maps.size(), 1u);
  EXPECT_EQ(maps, package.gpu->launches[0][0].tensorMaps);
  EXPECT_EQ(maps[0].memory, TensorMemory::Workspace);
  EXPECT_EQ(maps[0].box, (std::vector<int64_t>{13, 14}));
}

TEST(TensorMaps, KernelsGetAsManyAsLaunchesHave) {
  auto whyNotWith = [](const std::function<void(GpuProgram &)> &change) {
    Package package = withMap(rowsOfX());
    change(*package.gpu);
    return checkGpuProgram(package.plan, *package.gpu).message();
  };
  EXPECT_EQ(whyNotWith([](GpuProgram &) {}), "");
  EXPECT_EQ(
      whyNotWith([](GpuProgram &g) { g.launches[0][2].tensorMaps.clear(); }),
      "rank 0: launch 2 ('slice'): expected the 1 tensor maps of kernel "
      "'slice', found 0");
  EXPECT_EQ(whyNotWith([](GpuProgram &g) { g.kernels[2].tensorMaps = -1; }),
            "kernel 2 ('slice'): expected 0 to 253 tensor maps, found -1");
  EXPECT_EQ(whyNotWith([](GpuProgram &g) { g.kernels[2].tensorMaps = 254; }),
            "kernel 2 ('slice'): expected 0 to 253 tensor maps, found 254");
  // They leave less room for numbers.
  EXPECT_EQ(whyNotWith([](GpuProgram &g) {
              g.kernels[2].numbers = 4000;
            }).substr(0, 37),
            "rank 0: launch 2 ('slice'): expected ");
  EXPECT_EQ(whyNotWith([](GpuProgram &g) {
              g.kernels[2].tensorMaps = 100;
              g.kernels[2].numbers = 4000;
            }).substr(0, 34),
            "kernel 2 ('slice'): expected 1 to ");
}

TEST(TensorMaps, AreInsideOfTheirMemory) {
  EXPECT_EQ(whyNot([](GpuTensorMap &) {}), "");
  const std::string outside = " is not inside of the ";
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.sizes = {11, 100}; }),
            "the tensor at 0 is not inside of the 4000 bytes of its memory");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.offset = 16; }),
            "the tensor at 16 is not inside of the 4000 bytes of its memory");
  // The last row is shorter than its stride.
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.sizes[1] = 96, m.offset = 16; }),
            "");
  EXPECT_NE(whyNot([](GpuTensorMap &m) { m.sizes[1] = 96, m.offset = 32; }),
            "");
  // Rows that overlap, or are the same.
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.strides[0] = 4; }), "");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) {
              m.strides[0] = 0, m.sizes[0] = int64_t(1) << 32;
            }),
            "");
  EXPECT_NE(whyNot([](GpuTensorMap &m) {
              m.strides[0] = (int64_t(1) << 38) - 4;
              m.sizes[0] = int64_t(1) << 32;
            }).find(outside),
            std::string::npos);
  EXPECT_NE(
      whyNot([](GpuTensorMap &m) { m.offset = INT64_MAX - 15; }).find(outside),
      std::string::npos);
  // Nothing is nowhere.
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.sizes[0] = 0; }), "");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.buffer = 5; }),
            "expected a buffer below 5, found 5");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.buffer = -1; }),
            "expected a buffer below 5, found -1");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.rank = 2; }),
            "expected a rank below 2, or -1, found 2");
}

TEST(TensorMaps, AreInMemoryThatTheKernelReaches) {
  auto symmetric = [](GpuTensorMap &m) {
    m.memory = TensorMemory::Symmetric;
    m.sizes = {10, 100};
  };
  EXPECT_EQ(whyNot([&](GpuTensorMap &m) { symmetric(m), m.rank = 0; }), "");
  EXPECT_EQ(whyNot([&](GpuTensorMap &m) { symmetric(m), m.offset = 32; }), "");
  EXPECT_EQ(whyNot([&](GpuTensorMap &m) { symmetric(m), m.offset = 48; }),
            "the tensor at 48 is not inside of the 4032 bytes of its memory");
  // The symmetric buffer, of another rank; an argument, unless it is shared.
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.buffer = 4, m.rank = 0; }), "");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.rank = 0; }),
            "expected own memory or a shared argument, found buffer 0 of rank "
            "0");
  auto share = [](Package &p) { p.gpu->sharedArguments = {0}; };
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.rank = 0; }, share), "");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.rank = 0, m.sizes[0] = 11; }, share),
            "the tensor at 0 is not inside of the 4000 bytes of its memory");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.buffer = 4, m.rank = 0; },
                   [](Package &p) {
                     p.plan.ranks[1].buffers[4].memory = Memory::Private;
                   }),
            "expected own memory, found buffer 4 of rank 0");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.buffer = 1; },
                   [](Package &p) {
                     p.plan.arguments[1].scattered = true;
                     p.gpu->tableKernel = 0;
                     p.gpu->kernels[0].waits = false;
                   }),
            "expected memory in one piece, found buffer 1, which is scattered");
  auto workspace = [](GpuTensorMap &m) { m.memory = TensorMemory::Workspace; };
  auto hasSpace = [](Package &p) {
    p.gpu->launches[1][2].workspaceBytes = 4032;
  };
  EXPECT_EQ(whyNot(workspace, hasSpace), "");
  EXPECT_EQ(whyNot(workspace),
            "the tensor at 0 is not inside of the 0 bytes of its memory");
  EXPECT_EQ(
      whyNot([&](GpuTensorMap &m) { workspace(m), m.rank = 0; }, hasSpace),
      "expected own memory, found the workspace of rank 0");
}

TEST(TensorMaps, HaveTheFormThatTheDriverTakes) {
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.offset = 8, m.sizes[0] = 9; }),
            "expected an offset that is a multiple of 16, found 8");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.offset = -16; }),
            "expected an offset that is a multiple of 16, found -16");
  auto dims = [](size_t count) {
    return [=](GpuTensorMap &m) {
      m.sizes.assign(count, 1);
      m.strides.assign(count, 4);
      m.box.assign(count, 4);
      if (count > 0)
        m.strides.back() = 1;
    };
  };
  for (size_t count : {1, 2, 3, 4, 5})
    EXPECT_EQ(whyNot(dims(count)), "");
  for (size_t count : {0, 6})
    EXPECT_EQ(whyNot(dims(count)),
              "expected 1 to 5 dimensions, found " + std::to_string(count));
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.strides.pop_back(); }),
            "expected 2 strides and sizes of a box, found 1 and 2");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.box.pop_back(); }),
            "expected 2 strides and sizes of a box, found 2 and 1");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.sizes[0] = -1; }),
            "expected sizes of 0 to 4294967296, found -1");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.strides[0] = 102; }),
            "expected strides that are multiples of 16 bytes and less than "
            "1099511627776, found 102 elements of 4 bytes");
  for (int64_t stride : {int64_t(-4), int64_t(1) << 38, INT64_MAX})
    EXPECT_EQ(whyNot([&](GpuTensorMap &m) { m.strides[0] = stride; }),
              "expected strides that are multiples of 16 bytes and less than "
              "1099511627776, found " +
                  std::to_string(stride) + " elements of 4 bytes");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.strides[1] = 4; }),
            "expected 1 as the last stride, found 4");
  for (int64_t rows : {0, 257})
    EXPECT_EQ(whyNot([&](GpuTensorMap &m) { m.box[0] = rows; }),
              "expected a box of 1 to 256 elements in each dimension, found " +
                  std::to_string(rows));
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.box[1] = 6; }),
            "expected a box whose rows are multiples of 16 bytes, found 24");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.swizzle = 16; }),
            "expected a swizzle of 0, 32, 64 or 128 bytes, found 16");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.swizzle = 64; }),
            "expected a box whose rows have at most the 64 bytes of its "
            "swizzle, found 128");
  EXPECT_EQ(whyNot([](GpuTensorMap &m) { m.swizzle = 0, m.box[1] = 256; }), "");
}
