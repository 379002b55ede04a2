//===- TensorMapRunTest.cpp - Runs of kernels that copy boxes -------------===//
//
// On the driver of FakeCuda.cpp, or on a GPU that copies boxes of tensors.
//
//===----------------------------------------------------------------------===//

#include "GpuRunUtil.h"

#include "runtime/cuda/GpuMemory.h"

#include <algorithm>
#include <cstdlib>

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int64_t rows = 20, columns = 40, row = 15, column = 12;
constexpr int64_t count = rows * columns;

/// Memory of the device, on which the tests work as a caller would.
class TensorMapRun : public GpuRun {
protected:
  void SetUp() override {
    GpuRun::SetUp();
    if (IsSkipped())
      return;
    Result<int> major =
        GpuDevice::open(0).status()
            ? (*GpuDevice::open(0))
                  ->attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
            : 0;
    if (!major || *major < 9)
      GTEST_SKIP() << "the GPU does not copy boxes of tensors";
  }

  /// Calls body(executor, device, stream, memory), where memory begins with
  /// 0, 1, 2 ... of `bytes` bytes; the executor's failure.
  using Body = std::function<Status(GpuExecutor &, const GpuDevice &, CUstream,
                                    CUdeviceptr)>;
  static Status withMemory(const Package &package, size_t floats,
                           const Body &body) {
    return onGpus(package, {}, [&](int, GpuExecutor &executor, GpuRuns &) {
      auto device = GpuDevice::open(executor.device());
      if (!device)
        return device.status();
      CurrentContext current((*device)->driver, (*device)->context);
      auto bytes = static_cast<int64_t>(floats * sizeof(float));
      auto memory = allocateMemory(**device, bytes, "a test's memory");
      auto stream = (*device)->setupStream();
      if (!memory || !stream)
        return memory ? stream.status() : memory.status();
      std::vector<float> values(floats);
      for (size_t i = 0; i < floats; ++i)
        values[i] = static_cast<float>(i);
      (void)(*device)->driver.memcpyHtoDAsync(memory->get(), values.data(),
                                              floats * sizeof(float), *stream);
      Status status = awaitStream(**device, *stream);
      if (status)
        status = body(executor, **device, *stream, memory->get());
      Status ended = awaitStream(**device, *stream);
      (*device)->endSetup();
      return status ? ended : status;
    });
  }

  static std::vector<float> read(const GpuDevice &device, CUstream stream,
                                 CUdeviceptr from, size_t floats) {
    std::vector<float> values(floats);
    (void)device.driver.memcpyDtoHAsync(values.data(), from,
                                        floats * sizeof(float), stream);
    EXPECT_EQ(awaitStream(device, stream).message(), "");
    return values;
  }

  /// Tensors that begin at these floats of the memory.
  static std::vector<void *> at(CUdeviceptr memory,
                                std::initializer_list<int64_t> places) {
    std::vector<void *> result;
    for (int64_t place : places)
      result.push_back(reinterpret_cast<void *>(
          memory + static_cast<CUdeviceptr>(place) * sizeof(float)));
    return result;
  }

  /// `memory` after the box was copied between tensors that begin there.
  static void copyBox(std::vector<float> &memory, int64_t from, int64_t to) {
    for (int64_t i = row; i < std::min(row + 8, rows); ++i)
      for (int64_t j = column; j < std::min(column + 32, columns); ++j)
        memory[static_cast<size_t>(to + i * columns + j)] =
            memory[static_cast<size_t>(from + i * columns + j)];
  }
  static std::vector<float> numbers(size_t floats) {
    std::vector<float> values(floats);
    for (size_t i = 0; i < floats; ++i)
      values[i] = static_cast<float>(i);
    return values;
  }
};

} // namespace

TEST_F(TensorMapRun, RunsGetTheMapsOfTheirArguments) {
  Package package = boxesOnGpus(rows, columns, row, column);
  Status status = withMemory(
      package, 8 * count,
      [](GpuExecutor &executor, const GpuDevice &device, CUstream stream,
         CUdeviceptr memory) {
        std::vector<float> expected = numbers(8 * count);
        for (int64_t first : {int64_t(0), 4 * count, int64_t(0)}) {
          Status status =
              executor.run(at(memory, {first, first + count, first + 2 * count,
                                       first + 3 * count}),
                           stream);
          if (status)
            status = executor.synchronize(stream);
          if (!status)
            return status;
          copyBox(expected, first, first + count);
          copyBox(expected, first + 2 * count, first + 3 * count);
          EXPECT_EQ(read(device, stream, memory, 8 * count), expected);
        }
        return Status();
      });
  EXPECT_EQ(status.message(), "");
}

TEST_F(TensorMapRun, GraphsKeepTheirMaps) {
  Package package = boxesOnGpus(rows, columns, row, column);
  Status status = withMemory(
      package, 8 * count,
      [](GpuExecutor &executor, const GpuDevice &device, CUstream,
         CUdeviceptr memory) {
        const Driver &driver = device.driver;
        CUstream stream = nullptr;
        CUgraph graph = nullptr;
        CUgraphExec ready = nullptr;
        EXPECT_EQ(driver.streamCreate(&stream, CU_STREAM_NON_BLOCKING),
                  CUDA_SUCCESS);
        EXPECT_EQ(driver.streamBeginCapture(
                      stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                  CUDA_SUCCESS);
        Status status =
            executor.run(at(memory, {0, count, 2 * count, 3 * count}), stream);
        EXPECT_EQ(driver.streamEndCapture(stream, &graph), CUDA_SUCCESS);
        EXPECT_EQ(driver.graphInstantiate(&ready, graph, 0), CUDA_SUCCESS);
        // A run elsewhere in between.
        if (status)
          status = executor.run(
              at(memory, {4 * count, 5 * count, 6 * count, 7 * count}), stream);
        EXPECT_EQ(driver.graphLaunch(ready, stream), CUDA_SUCCESS);
        if (status)
          status = executor.synchronize(stream);
        std::vector<float> expected = numbers(8 * count);
        for (int64_t from : {0, 2, 4, 6})
          copyBox(expected, from * count, (from + 1) * count);
        EXPECT_EQ(read(device, stream, memory, 8 * count), expected);
        (void)driver.graphExecDestroy(ready);
        (void)driver.graphDestroy(graph);
        (void)driver.streamDestroy(stream);
        return status;
      });
  EXPECT_EQ(status.message(), "");
}

TEST_F(TensorMapRun, AddressesThatAreNotAlignedAreNamed) {
  Package package = boxesOnGpus(rows, columns, row, column);
  Status status = withMemory(
      package, 5 * count,
      [](GpuExecutor &executor, const GpuDevice &, CUstream stream,
         CUdeviceptr memory) {
        std::vector<void *> arguments =
            at(memory, {0, count, 2 * count, 3 * count + 1});
        EXPECT_EQ(executor.checkRun(arguments).message(),
                  "argument 'v' is at an address that is not a multiple of 16, "
                  "as launch 'second' needs it");
        arguments[3] = at(memory, {3 * count + 4})[0];
        EXPECT_EQ(executor.checkRun(arguments).message(), "");
        arguments[3] = at(memory, {3 * count + 1})[0];
        return executor.run(arguments, stream);
      });
  EXPECT_EQ(status.message(), "rank 0: launch 'second': tensor map 1: its "
                              "address is not a multiple of 16");
}

TEST_F(TensorMapRun, WhatTheDriverRefusesIsNamed) {
  if (!fail)
    GTEST_SKIP() << "what a driver can refuse needs one that does";
  Package package = boxesOnGpus(rows, columns, row, column);
  Status status =
      withMemory(package, 4 * count,
                 [&](GpuExecutor &executor, const GpuDevice &, CUstream stream,
                     CUdeviceptr memory) {
                   fail("cuTensorMapEncodeTiled", -1, 1);
                   return executor.run(
                       at(memory, {0, count, 2 * count, 3 * count}), stream);
                 });
  EXPECT_EQ(status.message(),
            "rank 0: launch 'first': tensor map 1: cuTensorMapEncodeTiled "
            "failed: unknown error (CUDA_ERROR_UNKNOWN)");
}

TEST_F(TensorMapRun, KernelsAreCheckedBeforeTheyRun) {
  Package package = boxesOnGpus(rows, columns, row, column);
  auto whyNot = [&] {
    return onGpus(package, {},
                  [](int, GpuExecutor &, GpuRuns &) { return Status(); })
        .message();
  };
  // It takes two maps.
  package.gpu->kernels[0].tensorMaps = 1;
  for (GpuLaunch &launch : package.gpu->launches[0])
    launch.tensorMaps.pop_back();
  EXPECT_EQ(whyNot(), "rank 0: kernel 'box': parameter 3: expected 128 bytes, "
                      "found 256");
  if (!fail)
    GTEST_SKIP() << "older GPUs need a driver that has such ones";
  setenv("CCN_FAKE_CAPABILITY", "8", 1);
  EXPECT_EQ(whyNot(),
            "rank 0: kernel 'box': it copies boxes of tensors: expected a GPU "
            "of compute capability 9.0 or later, found 8.x");
  unsetenv("CCN_FAKE_CAPABILITY");
}

TEST_F(TensorMapRun, TheDriverRefusesWhatItDocuments) {
  auto device = GpuDevice::open(0);
  ASSERT_TRUE(device.ok());
  const Driver &driver = (*device)->driver;
  CurrentContext current(driver, (*device)->context);
  struct Call {
    cuuint32_t dims = 2;
    uintptr_t address = 1 << 20, map = 0;
    cuuint64_t sizes[5] = {100, 50, 1, 1, 1},
               strides[4] = {400, 20000, 20000, 20000};
    cuuint32_t box[5] = {32, 8, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  };
  auto isRefused = [&](const std::function<void(Call &)> &change) {
    Call call;
    change(call);
    alignas(128) unsigned char maps[256] = {};
    return driver.tensorMapEncodeTiled(
               reinterpret_cast<CUtensorMap *>(maps + call.map),
               CU_TENSOR_MAP_DATA_TYPE_FLOAT32, call.dims,
               reinterpret_cast<void *>(call.address), call.sizes, call.strides,
               call.box, call.steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
               call.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS;
  };
  EXPECT_FALSE(isRefused([](Call &) {}));
  // Drivers need not look at how a map itself is aligned.
  EXPECT_FALSE(isRefused([](Call &c) { c.map = 64; }));
  EXPECT_FALSE(isRefused([](Call &c) { c.dims = 5; }));
  EXPECT_TRUE(isRefused([](Call &c) { c.address += 8; }));
  EXPECT_TRUE(isRefused([](Call &c) { c.dims = 0; }));
  EXPECT_TRUE(isRefused([](Call &c) { c.dims = 6; }));
  EXPECT_TRUE(isRefused([](Call &c) { c.sizes[1] = 0; }));
  EXPECT_TRUE(isRefused([](Call &c) { c.sizes[1] = (1ull << 32) + 1; }));
  EXPECT_TRUE(isRefused([](Call &c) { c.strides[0] = 404; }));
  EXPECT_TRUE(isRefused([](Call &c) { c.strides[0] = 1ull << 40; }));
  EXPECT_TRUE(isRefused([](Call &c) { c.box[1] = 0; }));
  EXPECT_TRUE(isRefused([](Call &c) { c.box[1] = 257; }));
  EXPECT_TRUE(isRefused(
      [](Call &c) { c.box[0] = 30, c.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE; }));
  EXPECT_TRUE(
      isRefused([](Call &c) { c.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }));
  EXPECT_FALSE(isRefused(
      [](Call &c) { c.box[0] = 16, c.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }));
}

// A launch that prefers a kernel with maps runs another one where maps cannot
// be made, or on other GPUs.
TEST_F(TensorMapRun, KernelsWithMapsArePreferred) {
  if (!fail)
    GTEST_SKIP() << "the other kernel is only the fake driver's";
  constexpr int64_t few = 10;
  Package package = boxesOnGpus(rows, columns, row, column);
  package.gpu->kernels.push_back({"slice", 32, 0, 0, false, 3});
  for (GpuLaunch &launch : package.gpu->launches[0]) {
    GpuLaunch other;
    other.kernel = 1;
    other.numbers = {0, few, 0};
    other.preferred = {std::move(launch)};
    launch = std::move(other);
  }
  // Of y, what the other kernel copies to v.
  auto copyFew = [](std::vector<float> &memory) {
    std::copy_n(memory.begin() + count, few, memory.begin() + 3 * count);
  };
  auto runs = [&](int64_t x,
                  const std::function<void(std::vector<float> &)> &change) {
    return withMemory(package, 4 * count,
                      [&](GpuExecutor &executor, const GpuDevice &device,
                          CUstream stream, CUdeviceptr memory) {
                        std::vector<void *> arguments =
                            at(memory, {x, count, 2 * count, 3 * count});
                        EXPECT_EQ(executor.checkRun(arguments).message(), "");
                        Status status = executor.run(arguments, stream);
                        if (status)
                          status = executor.synchronize(stream);
                        std::vector<float> expected = numbers(4 * count);
                        change(expected);
                        EXPECT_EQ(read(device, stream, memory, 4 * count),
                                  expected);
                        return status;
                      })
        .message();
  };
  EXPECT_EQ(runs(0,
                 [](std::vector<float> &memory) {
                   copyBox(memory, 0, count);
                   copyBox(memory, 2 * count, 3 * count);
                 }),
            "");
  // Only the first launch has maps of x.
  EXPECT_EQ(runs(1,
                 [&](std::vector<float> &memory) {
                   copyFew(memory);
                   copyBox(memory, 2 * count, 3 * count);
                 }),
            "");
  setenv("CCN_FAKE_CAPABILITY", "8", 1);
  EXPECT_EQ(runs(0, copyFew), "");
  unsetenv("CCN_FAKE_CAPABILITY");
  // What is preferred waits only if the launch's own kernel does.
  package.gpu->kernels[0].waits = true;
  EXPECT_EQ(runs(0, copyFew),
            "rank 0: program for GPUs: rank 0: launch 0 ('first'): preferred: "
            "expected a kernel that does not wait, as the launch's does not, "
            "or has clusters");
  package.gpu->kernels[0].waits = false;
  package.gpu->kernels[0].isOfAllRanks = true;
  EXPECT_EQ(runs(0, copyFew),
            "rank 0: program for GPUs: rank 0: launch 0 ('first'): preferred: "
            "expected a kernel of all ranks that waits");
  package.gpu->kernels[0].isOfAllRanks = false;
  package.gpu->kernels[0].clusters = true;
  package.gpu->kernels[0].threads = 512;
  EXPECT_EQ(runs(0, copyFew),
            "rank 0: program for GPUs: rank 0: launch 0 ('first'): preferred: "
            "expected a kernel with tensor maps, without clusters, product or "
            "another one that is preferred");
}
