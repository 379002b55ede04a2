//===- GpuTest.cpp - The C API on GPUs, or on what seems so ---------------===//
//
// CTest runs this on the driver of FakeCuda.cpp; started by hand where GPUs are
// it runs on them.
//
//===----------------------------------------------------------------------===//

#include "ApiUtil.h"

#include "runtime/cuda/Compiler.h"
#include "runtime/cuda/GpuDevice.h"
#include "runtime/cuda/GpuExecutor.h"
#include "runtime/cuda/GpuMachine.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>

using namespace ccn;
using namespace ccn::runtime;

namespace {

class ApiGpu : public testing::Test {
protected:
  void SetUp() override {
    if (Status status = checkGpus(); !status)
      GTEST_SKIP() << status.message();
    if (Result<std::string> version = compilerVersion(); !version)
      GTEST_SKIP() << version.message();
  }
};

/// What a rank's application has on its device: buffers and a stream.
class RankBuffers {
public:
  RankBuffers(int device, AverageArrays &arrays, int rank)
      : opened(*GpuDevice::open(device)), driver(opened->driver),
        current(driver, opened->context), host(arrays.of(rank)),
        stream(*createStream(*opened)) {
    auto count = static_cast<size_t>(arrays.count);
    for (size_t elements : {count, count, size_t(1), count}) {
      bytes.push_back(elements * sizeof(float));
      // Unlike memory of no bytes this has an address.
      memory.push_back(*allocateMemory(*opened, int64_t(bytes.back()), "test"));
      addresses.push_back(reinterpret_cast<void *>(memory.back().get()));
    }
    for (size_t i = 0; i < memory.size(); ++i)
      check(driver.memcpyHtoDAsync(memory[i].get(), host[i], bytes[i],
                                   stream.get()));
    EXPECT_TRUE(awaitStream(*opened, stream.get()).ok());
  }
  ~RankBuffers() {
    if (runner)
      check(driver.graphExecDestroy(runner));
    if (graph)
      check(driver.graphDestroy(graph));
  }

  void check(CUresult result) const { EXPECT_EQ(result, CUDA_SUCCESS); }
  void download() {
    for (size_t i : {1, 3})
      check(driver.memcpyDtoHAsync(host[i], memory[i].get(), bytes[i],
                                   stream.get()));
    EXPECT_TRUE(awaitStream(*opened, stream.get()).ok());
  }
  void beginCapture() {
    check(driver.streamBeginCapture(stream.get(),
                                    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  }
  void endCapture() {
    check(driver.streamEndCapture(stream.get(), &graph));
    check(driver.graphInstantiate(&runner, graph, 0));
  }
  void replay() { check(driver.graphLaunch(runner, stream.get())); }

  std::unique_ptr<GpuDevice> opened;
  const Driver &driver;
  CurrentContext current;
  std::vector<void *> host, addresses;
  std::vector<size_t> bytes;
  std::vector<DeviceMemory> memory;
  Stream stream;
  CUgraph graph = nullptr;
  CUgraphExec runner = nullptr;
};

} // namespace

TEST_F(ApiGpu, RunsOnTheCallersStreamAndBuffers) {
  for (int ranks : {1, 2, 3, 4, 8}) {
    Program program = load(averageOnGpus(ranks, 1003), CCN_TARGET_DEFAULT);
    ccn_program_info info;
    ASSERT_EQ(ccn_program_describe(program.get(), &info), CCN_OK);
    EXPECT_EQ(info.target, CCN_TARGET_GPU);
    Team team = makeTeam({program.get()});
    AverageArrays arrays(ranks, 1003);
    onRanks(team.get(), ranks, [&](int rank) {
      Outcome outcome;
      Executor executor = make(team.get(), program.get(), rank, outcome);
      ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
      int device = -1;
      ASSERT_EQ(ccn_executor_device(executor.get(), &device), CCN_OK);
      RankBuffers buffers(device, arrays, rank);
      CUstream stream = buffers.stream.get();
      EXPECT_EQ(ccn_executor_bind(executor.get(), buffers.addresses.data(), 4),
                CCN_OK)
          << ccn_last_error();
      EXPECT_EQ(
          ccn_executor_run(executor.get(), buffers.addresses.data(), 4, stream),
          CCN_OK)
          << ccn_last_error();
      // A scalar from the host, which is gone before the run is.
      {
        float scale = arrays.scale;
        std::vector<void *> arguments = buffers.addresses;
        arguments[2] = &scale;
        EXPECT_EQ(ccn_executor_run_values(executor.get(), arguments.data(), 4,
                                          stream),
                  CCN_OK)
            << ccn_last_error();
        scale = 1000;
      }
      EXPECT_EQ(ccn_executor_synchronize(executor.get(), stream), CCN_OK)
          << ccn_last_error();
      buffers.download();
      executor.reset();
    });
    EXPECT_EQ(ccn_team_check(team.get()), CCN_OK);
    arrays.expectAfter(2, program.get());
  }
}

TEST_F(ApiGpu, RunsAreCaptured) {
  constexpr int ranks = 3;
  Program program = load(averageOnGpus(ranks, 77), CCN_TARGET_GPU);
  Team team = makeTeam({program.get()});
  AverageArrays arrays(ranks, 77);
  onRanks(team.get(), ranks, [&](int rank) {
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    int device = -1;
    ASSERT_EQ(ccn_executor_device(executor.get(), &device), CCN_OK);
    RankBuffers buffers(device, arrays, rank);
    buffers.beginCapture();
    EXPECT_EQ(ccn_executor_run(executor.get(), buffers.addresses.data(), 4,
                               buffers.stream.get()),
              CCN_OK)
        << ccn_last_error();
    {
      float scale = arrays.scale;
      std::vector<void *> arguments = buffers.addresses;
      arguments[2] = &scale;
      EXPECT_EQ(ccn_executor_run_values(executor.get(), arguments.data(), 4,
                                        buffers.stream.get()),
                CCN_OK)
          << ccn_last_error();
      scale = 1000;
    }
    buffers.endCapture();
    // What was captured has not run.
    for (int run = 0; run < 2; ++run)
      buffers.replay();
    EXPECT_EQ(ccn_executor_synchronize(executor.get(), buffers.stream.get()),
              CCN_OK)
        << ccn_last_error();
    buffers.download();
  });
  arrays.expectAfter(4, program.get());
}

TEST_F(ApiGpu, SaysWhatRunsCopy) {
  Program program = load(neighbourOnGpus(1003), CCN_TARGET_GPU);
  Team team = makeTeam({program.get()});
  AverageArrays arrays(2, 1003);
  onRanks(team.get(), 2, [&](int rank) {
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    int device = -1;
    ASSERT_EQ(ccn_executor_device(executor.get(), &device), CCN_OK);
    RankBuffers buffers(device, arrays, rank);
    // Others access the first, and the result is nobody else's.
    for (int before : {1, 0}) {
      for (int index : {0, 1}) {
        int copies = -1;
        EXPECT_EQ(ccn_executor_copies(executor.get(), index, &copies), CCN_OK)
            << ccn_last_error();
        EXPECT_EQ(copies, index == 0 && before) << index;
      }
      EXPECT_EQ(ccn_executor_bind(executor.get(), buffers.addresses.data(), 2),
                CCN_OK)
          << ccn_last_error();
    }
    executor.reset();
  });
}

TEST_F(ApiGpu, ValuesDoNotMeet) {
  // Each rank's x is one number, which it passes as it passes the scale.
  constexpr int ranks = 3;
  Package package = averageOnGpus(ranks, 1);
  package.plan.arguments[0].shape = {ranks};
  package.plan.arguments[0].typeName = "f32 local(dp)";
  for (int rank = 0; rank < ranks; ++rank)
    package.plan.ranks[size_t(rank)].placements[0] = {{rank}, {1}};
  Program program = load(package, CCN_TARGET_GPU);
  Team team = makeTeam({program.get()});
  AverageArrays arrays(ranks, 1);
  onRanks(team.get(), ranks, [&](int rank) {
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    int device = -1;
    ASSERT_EQ(ccn_executor_device(executor.get(), &device), CCN_OK);
    RankBuffers buffers(device, arrays, rank);
    CUstream stream = buffers.stream.get();
    std::vector<void *> arguments = buffers.addresses;
    arguments[0] = arrays.of(rank)[0];
    arguments[2] = arrays.of(rank)[2];
    for (int run = 0; run < 2; ++run)
      EXPECT_EQ(
          ccn_executor_run_values(executor.get(), arguments.data(), 4, stream),
          CCN_OK)
          << ccn_last_error();
    EXPECT_EQ(ccn_executor_synchronize(executor.get(), stream), CCN_OK)
        << ccn_last_error();
    buffers.download();
  });
  for (const std::vector<float> &y : arrays.y)
    EXPECT_EQ(y, arrays.expected(2));
}

TEST_F(ApiGpu, MisuseIsRefused) {
  Program program = load(averageOnGpus(1, 16), CCN_TARGET_GPU);
  Team team = makeTeam({program.get()});
  AverageArrays arrays(1, 16);
  ccn_executor *made = nullptr;
  EXPECT_EQ(ccn_executor_create(team.get(), program.get(), 0, 99, &made),
            CCN_ERROR_TEAM);
  team = makeTeam({program.get()});
  ASSERT_EQ(ccn_executor_create(team.get(), program.get(), 0, 0, &made), CCN_OK)
      << ccn_last_error();
  Executor executor(made);
  RankBuffers buffers(0, arrays, 0);
  auto run = [&](size_t index, void *address, auto *call) {
    std::vector<void *> arguments = buffers.addresses;
    arguments[index] = address;
    return Outcome(
        call(executor.get(), arguments.data(), 4, buffers.stream.get()));
  };
  for (size_t index : {0, 1, 2, 3})
    for (auto *call : {ccn_executor_run, ccn_executor_run_values})
      EXPECT_EQ(run(index, nullptr, call).status, CCN_ERROR_ARGUMENT) << index;
  EXPECT_EQ(
      run(0, static_cast<char *>(buffers.addresses[0]) + 2, ccn_executor_run)
          .text,
      "argument 'x' is not aligned to 4 bytes");
  EXPECT_EQ(run(0, buffers.addresses[1], ccn_executor_run).status,
            CCN_ERROR_ARGUMENT);
  // On the host a value may be anywhere.
  char bytes[8] = {};
  std::memcpy(bytes + 1, &arrays.scale, sizeof(float));
  EXPECT_EQ(run(2, bytes + 1, ccn_executor_run_values).status, CCN_OK)
      << ccn_last_error();
  // Its own memory is bound for values.
  std::vector<void *> bound = buffers.addresses;
  bound[2] = nullptr;
  EXPECT_EQ(ccn_executor_bind(executor.get(), bound.data(), 4), CCN_OK)
      << ccn_last_error();
  bound[1] = nullptr;
  EXPECT_EQ(ccn_executor_bind(executor.get(), bound.data(), 4),
            CCN_ERROR_ARGUMENT);
  EXPECT_EQ(ccn_executor_synchronize(executor.get(), buffers.stream.get()),
            CCN_OK);
  buffers.download();
  arrays.expectAfter(1, program.get());
}

TEST_F(ApiGpu, AFailureIsAllRanks) {
  constexpr int ranks = 3;
  Program program =
      load(averageOnGpus(ranks, 1000, /*wrongRank=*/1, /*doesFail=*/true),
           CCN_TARGET_GPU);
  Team team = makeTeam({program.get()});
  AverageArrays arrays(ranks, 1000);
  std::barrier made(ranks);
  onRanks(team.get(), ranks, [&](int rank) {
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    made.arrive_and_wait();
    int device = -1;
    ASSERT_EQ(ccn_executor_device(executor.get(), &device), CCN_OK);
    RankBuffers buffers(device, arrays, rank);
    CUstream stream = buffers.stream.get();
    // A rank that is late finds that the others have failed.
    (void)ccn_executor_run(executor.get(), buffers.addresses.data(), 4, stream);
    Outcome ran(ccn_executor_synchronize(executor.get(), stream));
    EXPECT_EQ(ran.status, CCN_ERROR_TEAM);
    EXPECT_NE(ran.text.find("division by zero at sample.ccn:7:3"),
              std::string::npos)
        << ran.text;
    Outcome again(
        ccn_executor_run(executor.get(), buffers.addresses.data(), 4, stream));
    EXPECT_EQ(again.status, CCN_ERROR_TEAM);
    EXPECT_EQ(again.text, ran.text);
  });
}

TEST_F(ApiGpu, TheCpuRunsItToo) {
  if (sampleObjectCode().empty())
    GTEST_SKIP() << "the sample's loops are not here";
  Program program = load(averageOnGpus(2, 9), CCN_TARGET_CPU);
  ccn_program_info info;
  ASSERT_EQ(ccn_program_describe(program.get(), &info), CCN_OK);
  EXPECT_EQ(info.target, CCN_TARGET_CPU);
  Team team = makeTeam({program.get()});
  AverageArrays arrays(2, 9);
  onRanks(team.get(), 2, [&](int rank) {
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    EXPECT_EQ(
        ccn_executor_run(executor.get(), arrays.of(rank).data(), 4, nullptr),
        CCN_OK);
  });
  arrays.expectAfter(1, program.get());
}
