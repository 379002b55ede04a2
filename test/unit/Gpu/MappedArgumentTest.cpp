//===- MappedArgumentTest.cpp - Arguments in memory that was mapped -------===//
//
// In memory of cuMemCreate, in parts, as PyTorch's expandable segments have it:
// of ranks that are threads and of ranks that are processes, which are this
// program once more. Where GPUs are, this runs on them too, but for what a
// driver can do wrong.
//
//===----------------------------------------------------------------------===//

#include "GpuRunUtil.h"

#include "runtime/cuda/Compiler.h"
#include "runtime/cuda/GpuDevice.h"
#include "runtime/cuda/GpuExecutor.h"
#include "runtime/team/SymmetricHeap.h"
#include "test/unit/Package/SamplePackages.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int ranks = 2;
constexpr size_t granularity = size_t(2) << 20;
/// They reach from near the end of the first part into the third.
constexpr int64_t count = 530000;
constexpr size_t partSizes[] = {granularity, granularity, 2 * granularity};
constexpr size_t bytes = count * sizeof(float);

/// Memory of a device in parts that are mapped one after the other.
class MappedArray {
public:
  MappedArray(const GpuDevice &device, bool isExportable, size_t offset)
      : offset(offset) {
    for (size_t size : partSizes)
      total += size;
    check(device, "cuMemAddressReserve",
          device.driver.memAddressReserve(&begin, total, 0, 0, 0));
    auto *create = fakeFunction<decltype(cuMemCreate)>("cuMemCreate");
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device.number};
    if (isExportable)
      properties.requestedHandleTypes =
          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUdeviceptr at = begin;
    for (size_t size : partSizes) {
      CUmemGenericAllocationHandle handle = 0;
      check(device, "cuMemCreate", create(&handle, size, &properties, 0));
      check(device, "cuMemMap", device.driver.memMap(at, size, 0, handle, 0));
      check(device, "cuMemRelease", device.driver.memRelease(handle));
      at += size;
    }
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(device, "cuMemSetAccess",
          device.driver.memSetAccess(begin, total, &access, 1));
    unmap = device.driver.memUnmap;
    free = device.driver.memAddressFree;
  }
  MappedArray(const MappedArray &) = delete;
  MappedArray &operator=(const MappedArray &) = delete;
  ~MappedArray() {
    CUdeviceptr at = begin;
    for (size_t size : partSizes) {
      EXPECT_EQ(unmap(at, size), CUDA_SUCCESS);
      at += size;
    }
    EXPECT_EQ(free(begin, total), CUDA_SUCCESS);
  }

  CUdeviceptr address() const { return begin + offset; }

private:
  static void check(const GpuDevice &device, const char *call,
                    CUresult result) {
    Status status = device.check(result, call);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  CUdeviceptr begin = 0;
  size_t total = 0, offset;
  decltype(&cuMemUnmap) unmap;
  decltype(&cuMemAddressFree) free;
};

struct Case {
  /// Whether runs copy the argument.
  bool isCopied = false;
  bool isExportable = true;
  /// Whether only rank 1 has it in memory that was mapped.
  bool isMixed = false;
  /// A function of the driver that fails, on this device or on all.
  const char *failing = nullptr;
  int failingDevice = -1;
};

const Case threadCases[] = {
    {},
    {.isExportable = false},
    {.isMixed = true},
    {true, true, false, "cuMemRetainAllocationHandle"},
    {true, true, false, "cuMemAddressReserve"},
    {true, true, false, "cuMemMap"},
    {true, true, false, "cuMemSetAccess"},
    {true, true, false, "cuMemSetAccess", 1},
    {true, true, true, "cuMemMap"},
};

const Case processCases[] = {
    {},
    {.isMixed = true},
    {true, false},
    {true, false, true},
    {true, true, false, "cuMemExportToShareableHandle"},
    {true, true, false, "cuMemExportToShareableHandle", 1},
    {true, true, false, "cuMemImportFromShareableHandle"},
    {true, true, false, "cuMemImportFromShareableHandle", 0},
    {true, true, false, "cuMemMap", 1},
    {true, true, false, "cuMemSetAccess", 0},
    {true, true, true, "cuMemImportFromShareableHandle", 0},
};

int openFiles() {
  int files = 0;
  for (auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
    files += !entry.path().empty();
  return files;
}

class MappedArguments : public GpuRun {
protected:
  void SetUp() override {
    GpuRun::SetUp();
    enqueue = fakeFunction<decltype(ccnFakeEnqueue)>("ccnFakeEnqueue");
  }

  /// Binds and runs, several times, and looks at what comes out.
  void runRank(Transport &team, int rank, const Case &wanted,
               bool isProcess = false);

  decltype(ccnFakeEnqueue) *enqueue = nullptr;
};

void MappedArguments::runRank(Transport &team, int rank, const Case &wanted,
                              bool isProcess) {
  Result<std::unique_ptr<GpuDevice>> opened = GpuDevice::openForRank(rank);
  ASSERT_TRUE(opened.ok()) << opened.message();
  const GpuDevice &device = **opened;
  CurrentContext current(device.driver, device.context);
  auto check = [&](CUresult result) {
    Status status = device.check(result, "a call");
    EXPECT_TRUE(status.ok()) << status.message();
  };
  // Each rank's lies otherwise in its parts.
  size_t offset = granularity - 4096 + static_cast<size_t>(rank) * 64;
  MappedArray first(device, wanted.isExportable, offset),
      second(device, wanted.isExportable, offset + 256);
  DeviceMemory usual = *allocateMemory(device, bytes, "test");
  DeviceMemory y = *allocateMemory(device, bytes, "test");
  Stream stream = *createStream(device);
  std::vector<float> x(count), found(count);

  // Threads open each other's, and a real driver its own.
  bool countsFiles = isProcess && objects;
  int files = openFiles();
  Package package = neighbourOnGpus(count);
  GpuExecutorOptions options;
  options.timeLimit = 20;
  auto executor =
      GpuExecutor::create(package.plan, *package.gpu, rank, team, options);
  ASSERT_TRUE(executor.ok()) << executor.message();
  // All ranks have come here. Copies fail where there should be none.
  if (fail && wanted.failing)
    fail(wanted.failing, wanted.failingDevice, 0);
  else if (fail && !wanted.isCopied)
    fail("cuMemcpyDtoDAsync", -1, 0);
  auto value = [](int ofRank, int binding, int run, int64_t i) {
    return static_cast<float>(i % 4099 + 10000 * ofRank + 1000 * binding +
                              100 * run);
  };
  auto run = [&](std::span<void *const> arguments, int binding, int number) {
    for (int64_t i = 0; i < count; ++i)
      x[static_cast<size_t>(i)] = value(rank, binding, number, i);
    check(device.driver.memcpyHtoDAsync(
        reinterpret_cast<CUdeviceptr>(arguments[0]), x.data(), bytes,
        stream.get()));
    Status status = (*executor)->run(arguments, stream.get());
    ASSERT_TRUE(status.ok()) << status.message();
  };
  auto expect = [&](int binding, int number) {
    check(device.driver.memcpyDtoHAsync(found.data(), y.get(), bytes,
                                        stream.get()));
    ASSERT_TRUE(awaitStream(device, stream.get()).ok());
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(found[static_cast<size_t>(i)],
                value(1 - rank, binding, number, i))
          << i;
  };
  int held = -1, heldFiles = -1;
  for (int binding = 0; binding < 4; ++binding) {
    CUdeviceptr place = wanted.isMixed && rank == 0 ? usual.get()
                        : binding % 2               ? second.address()
                                                    : first.address();
    std::vector<void *> arguments = {reinterpret_cast<void *>(place),
                                     reinterpret_cast<void *>(y.get())};
    Status status = (*executor)->bind(arguments);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ((*executor)->isCopied(0), wanted.isCopied);
    EXPECT_FALSE((*executor)->isCopied(1));
    // What the binding before had is given back.
    if (objects && held >= 0) {
      EXPECT_EQ(objects(), held);
    }
    if (countsFiles && heldFiles >= 0) {
      EXPECT_EQ(openFiles(), heldFiles);
    }
    held = objects ? objects() : 0;
    heldFiles = openFiles();
    // The run that had been started meanwhile has ended.
    if (binding > 0)
      expect(binding - 1, 2);
    for (int number = 0; number < 2; ++number) {
      run(arguments, binding, number);
      ASSERT_TRUE((*executor)->synchronize(stream.get()).ok());
      expect(binding, number);
    }
    if (enqueue)
      enqueue(
          stream.get(),
          [](void *) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          },
          nullptr);
    run(arguments, binding, 2);
  }
  executor = error("it is gone");
  if (fail)
    fail(nullptr, -1, 0);
  if (countsFiles) {
    EXPECT_EQ(openFiles(), files);
  }
}

TEST_F(MappedArguments, OfThreads) {
  Package package = neighbourOnGpus(count);
  for (const Case &wanted : threadCases) {
    if (wanted.failing && !fail)
      continue;
    SCOPED_TRACE(&wanted - threadCases);
    auto heap = SymmetricHeap::create(ranks, gpuTransportBytes(package.plan));
    ASSERT_TRUE(heap.ok()) << heap.message();
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        runRank(**heap, rank, wanted);
        (*heap)->leave(rank);
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ((*heap)->failure().message(), "");
  }
}

/// One of those that OfProcesses starts.
TEST_F(MappedArguments, DISABLED_OfAProcess) {
  const char *variable = std::getenv("CCN_TEST_RANK"),
             *number = std::getenv("CCN_TEST_CASE"),
             *heapFile = std::getenv("CCN_TEST_HEAP");
  ASSERT_TRUE(variable && number && heapFile);
  int rank = std::atoi(variable);
  Package package = neighbourOnGpus(count);
  SymmetricHeap::Member member;
  member.rank = rank;
  member.ranks = ranks;
  member.bytesPerRank = gpuTransportBytes(package.plan);
  auto file = SymmetricHeap::openFile(getppid(), std::atoi(heapFile));
  ASSERT_TRUE(file.ok()) << file.message();
  auto heap = SymmetricHeap::join(*std::move(file), member);
  ASSERT_TRUE(heap.ok()) << heap.message();
  runRank(**heap, rank, processCases[std::atoi(number)], /*isProcess=*/true);
  (*heap)->leave(rank);
  EXPECT_EQ((*heap)->failure().message(), "");
}

TEST_F(MappedArguments, OfProcesses) {
  for (const Case &wanted : processCases) {
    if (wanted.failing && !fail)
      continue;
    auto number = std::to_string(&wanted - processCases);
    SCOPED_TRACE(number);
    std::vector<pid_t> children;
    FileDescriptor heap = *SymmetricHeap::makeFile();
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<std::string> words = {
          "CCN_TEST_RANK=" + std::to_string(rank), "CCN_TEST_CASE=" + number,
          "CCN_TEST_HEAP=" + std::to_string(heap.get())};
      std::vector<char *> variables;
      for (std::string &word : words)
        variables.push_back(word.data());
      for (char **each = environ; *each; ++each)
        variables.push_back(*each);
      variables.push_back(nullptr);
      std::string program = "/proc/self/exe";
      std::string filter = "--gtest_filter=*.DISABLED_OfAProcess";
      std::string also = "--gtest_also_run_disabled_tests";
      std::string brief = "--gtest_brief=1";
      char *arguments[] = {program.data(), filter.data(), also.data(),
                           brief.data(), nullptr};
      pid_t child = 0;
      ASSERT_EQ(posix_spawn(&child, program.c_str(), nullptr, nullptr,
                            arguments, variables.data()),
                0);
      children.push_back(child);
    }
    for (pid_t child : children) {
      int state = 0;
      waitpid(child, &state, 0);
      EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << state;
    }
  }
}

} // namespace
