//===- ScatteredTest.cpp - Arguments in lists of buffers ------------------===//
//
// Programs with scattered arguments on the driver of FakeCuda.cpp, with the
// kernels that are generated for them compiled by FakeNvrtc.cpp: whatever the
// buffers are, results are those of the CPU. Values are small whole numbers, so
// that sums are exact in any order.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Compiler.h"
#include "runtime/cuda/GpuDevice.h"
#include "runtime/cuda/GpuExecutor.h"
#include "runtime/cuda/GpuMachine.h"
#include "runtime/plan/Pieces.h"
#include "runtime/tensor/Convert.h"
#include "test/unit/Cuda/CompiledPlan.h"
#include "test/unit/Gpu/FakeCuda.h"

#include <cstdlib>
#include <random>
#include <thread>

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;

namespace {

/// Buffers of a device for a part of an argument: one, or as many as there are
/// sizes.
class DeviceBuffers {
public:
  DeviceBuffers(const GpuDevice &device, int size,
                const std::vector<int64_t> &sizes, std::mt19937 &random)
      : size(size) {
    for (int64_t count : sizes) {
      // Aligned as elements need be, and sometimes better.
      int64_t shift = sizes.size() > 1 ? static_cast<int64_t>(random() % 3) : 0;
      memory.push_back(
          *allocateMemory(device, (count + shift) * size + 1, "test"));
      pieces.push_back(
          {reinterpret_cast<void *>(memory.back().get() +
                                    static_cast<CUdeviceptr>(shift * size)),
           count});
    }
    list = {pieces.data(), pieces.size()};
  }
  DeviceBuffers(const DeviceBuffers &) = delete;
  DeviceBuffers(DeviceBuffers &&) = delete;

  // The fake's memory is the host's.
  void set(const void *from) const {
    auto *at = static_cast<const std::byte *>(from);
    for (const Piece &piece : pieces) {
      std::memcpy(piece.data, at, static_cast<size_t>(piece.count * size));
      at += piece.count * size;
    }
  }
  void get(void *to) const {
    auto *at = static_cast<std::byte *>(to);
    for (const Piece &piece : pieces) {
      std::memcpy(at, piece.data, static_cast<size_t>(piece.count * size));
      at += piece.count * size;
    }
  }

  std::vector<Piece> pieces;
  PieceList list;

private:
  int size;
  std::vector<DeviceMemory> memory;
};

/// What ranks do with their buffers.
enum class How {
  /// Run on those that were bound.
  Bound,
  /// Run on some that were not.
  Unbound,
  /// Bind some, and run on others.
  Other,
  /// Bind buffers of other sizes on each rank.
  Uneven,
  /// Replay a run that was captured.
  Captured,
  /// The same on what was not bound, after a run on something else.
  CapturedUnbound,
};
constexpr How allWays[] = {How::Bound,  How::Unbound,  How::Other,
                           How::Uneven, How::Captured, How::CapturedUnbound};

/// Sizes that add up to `count`, some of them 0 and 1.
std::vector<int64_t> split(int64_t count, std::mt19937 &random) {
  std::vector<int64_t> sizes;
  for (int64_t left = count; left > 0; left -= sizes.back()) {
    int64_t most = random() % 3 == 0 ? 2 : random() % 3 == 0 ? 12 : 90;
    sizes.push_back(
        std::min<int64_t>(left, static_cast<int64_t>(random()) % (most + 1)));
  }
  sizes.push_back(0);
  return sizes;
}

class Scattered : public testing::Test {
protected:
  void SetUp() override {
    // Nothing is kept on disk: it would not be known by what the emulator was.
    setenv("CCN_CACHE_DIR", "", 1);
    if (Status status = checkGpus(); !status)
      GTEST_SKIP() << status.message();
    if (!fakeFunction<decltype(ccnFakeObjects)>("ccnFakeObjects"))
      GTEST_SKIP() << "buffers are filled as only those of the fake driver are";
    if (Result<std::string> version = compilerVersion(); !version)
      GTEST_SKIP() << version.message();
  }

  /// Compares in all ways.
  void check(const std::string &text, const verify::Variant &variant,
             std::vector<How> ways);
  void checkAt(const std::string &text, int ranks, int64_t n,
               const std::string &schedule,
               std::vector<How> ways = {std::begin(allWays),
                                        std::end(allWays)});

  /// What was compared last.
  GpuProgram program;

private:
  Status runRank(int rank, How how, Transport &team, RunMemory &memory);

  PlanCompiler compiler;
  Plan plan;
  std::mt19937 random{1};
};

/// Small whole numbers of a type.
HostTensor draw(ElementType type, const std::vector<int64_t> &shape,
                std::mt19937 &random) {
  HostTensor tensor = *HostTensor::uninitialized(type, shape);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    int64_t value = static_cast<int64_t>(random() % 4);
    convert(ElementType::I64, reinterpret_cast<const std::byte *>(&value), type,
            tensor.mutableData() + i * sizeInBytes(type), 1);
  }
  return tensor;
}

Status Scattered::runRank(int rank, How how, Transport &team,
                          RunMemory &memory) {
  auto executor = GpuExecutor::create(plan, program, rank, team, {});
  if (!executor)
    return executor.status();
  auto device = *GpuDevice::open((*executor)->device());
  CurrentContext current(device->driver, device->context);
  std::mt19937 sizes(7), own(static_cast<unsigned>(rank));
  std::vector<void *> host = memory.arguments(rank);
  struct Set {
    std::vector<std::unique_ptr<DeviceBuffers>> buffers;
    std::vector<void *> addresses;
  };
  auto make = [&](std::mt19937 &random) {
    Set set;
    for (size_t i = 0; i < host.size(); ++i) {
      const Argument &argument = plan.arguments[i];
      int64_t count = countOf(plan.ranks[static_cast<size_t>(rank)], i);
      int size = sizeInBytes(argument.type);
      std::vector<int64_t> parts = {count};
      if (argument.scattered)
        parts = split(count, random);
      set.buffers.push_back(
          std::make_unique<DeviceBuffers>(*device, size, parts, own));
      if (count > 0)
        set.buffers.back()->set(host[i]);
      set.addresses.push_back(argument.scattered
                                  ? &set.buffers.back()->list
                                  : set.buffers.back()->pieces[0].data);
    }
    return set;
  };
  Set bound = make(how == How::Uneven ? own : sizes), other = make(own);
  Status status;
  if (how != How::Unbound && how != How::CapturedUnbound)
    status = (*executor)->bind(bound.addresses);
  bool usesBound =
      how == How::Bound || how == How::Uneven || how == How::Captured;
  Set &used = usesBound ? bound : other;
  Stream stream = *createStream(*device);
  const Driver &driver = device->driver;
  bool isCaptured = how == How::Captured || how == How::CapturedUnbound;
  CUgraph graph = nullptr;
  if (isCaptured)
    EXPECT_EQ(driver.streamBeginCapture(stream.get(),
                                        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
              CUDA_SUCCESS);
  if (status)
    status = (*executor)->run(used.addresses, stream.get());
  // Lists have been read.
  for (auto &buffers : used.buffers)
    buffers->list = {};
  if (isCaptured) {
    EXPECT_EQ(driver.streamEndCapture(stream.get(), &graph), CUDA_SUCCESS);
    // What was bound is where copies of others go.
    Set another = make(sizes);
    if (status && how == How::CapturedUnbound)
      status = (*executor)->run(another.addresses, stream.get());
    if (status)
      status = (*executor)->synchronize(stream.get());
    CUgraphExec runner = nullptr;
    EXPECT_EQ(driver.graphInstantiate(&runner, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(driver.graphLaunch(runner, stream.get()), CUDA_SUCCESS);
    if (status)
      status = (*executor)->synchronize(stream.get());
    EXPECT_EQ(driver.graphExecDestroy(runner), CUDA_SUCCESS);
    EXPECT_EQ(driver.graphDestroy(graph), CUDA_SUCCESS);
    // The executor may still know what is gone.
    (*executor).reset();
  } else if (status) {
    status = (*executor)->synchronize(stream.get());
  }
  for (size_t i = 0; i < host.size(); ++i)
    if (host[i])
      used.buffers[i]->get(host[i]);
  (*executor).reset();
  return status;
}

void Scattered::check(const std::string &text, const verify::Variant &variant,
                      std::vector<How> ways) {
  std::string messages;
  auto plans = compiler.compileTo(Phase::Plan, text, variant, messages);
  ASSERT_TRUE(plans) << messages;
  auto first = *plans->getOps<plan::PlanOp>().begin();
  auto team = PlanTeam::create(*plans, first.getName());
  ASSERT_TRUE(team) << team.message();
  plan = (*team)->getPackage().plan;
  program = emitFor(compiler, text, variant);
  interp::NamedTensors inputs;
  for (const Argument &argument : plan.arguments)
    if (argument.kind != ArgumentKind::Result)
      inputs.insert_or_assign(argument.name,
                              draw(argument.type, argument.shape, random));
  auto expected = (*team)->run(inputs);
  ASSERT_TRUE(expected) << expected.message();
  for (How how : ways) {
    SCOPED_TRACE("way " + std::to_string(static_cast<int>(how)));
    auto memory = RunMemory::create(plan, RunTask());
    ASSERT_TRUE(memory) << memory.message();
    for (size_t i = 0; i < plan.arguments.size(); ++i)
      if (plan.arguments[i].kind != ArgumentKind::Result)
        (*memory)->distribute(i, inputs.at(plan.arguments[i].name));
    int ranks = static_cast<int>(plan.ranks.size());
    auto heap = SymmetricHeap::create(ranks, gpuTransportBytes(plan));
    ASSERT_TRUE(heap) << heap.message();
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        Status status = runRank(rank, how, **heap, **memory);
        if (!status)
          (void)(*heap)->fail(rank, status.message());
        (*heap)->leave(rank);
      });
    for (std::thread &thread : threads)
      thread.join();
    ASSERT_EQ((*heap)->failure().message(), "");
    Outputs found;
    for (size_t i = 0; i < plan.arguments.size(); ++i)
      if (plan.arguments[i].kind != ArgumentKind::Input) {
        auto tensor = (*memory)->collect(i);
        ASSERT_TRUE(tensor) << tensor.message();
        found.push_back({plan.arguments[i].name, *std::move(tensor)});
      }
    ASSERT_TRUE(haveSameBits(*expected, found));
  }
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

constexpr const char *momentum = R"(mesh m (dp = 4)
param N = 1003
program momentum(g: f16[N] local scattered, inout p: f32[N] scattered,
                 inout mom: f32[N] sliced(0), lr: f32) {
  let avg = all_reduce(sum, g)
  let grad = cast(avg, f32)
  mom <- 0.5 * mom + grad
  p <- p - lr * mom
}
schedule fused for momentum {
  let (rs, ag) = split avg
  let (part, agp) = reorder ag after p
  fuse rs, part, agp
}
)";

/// Ranks read all of p before they meet, then write their parts everywhere.
constexpr const char *limited = R"(mesh m (dp = 4)
param N = 1003
program limited(g: f16[N] local scattered, inout p: f32[N] scattered,
                inout q: f32[N], inout mom: f32[N] sliced(0), lr: f32) {
  let total = all_reduce(sum, g)
  mom <- 0.5 * mom + cast(total, f32)
  let step = mom + p - q
  let most = max(p, [0]) - max(q, [0])
  let scale = most - all_reduce(max, max(step, [0]))
  p <- p - lr * scale * step
  q <- q + lr * scale * step
}
schedule fused for limited {
  let (rs, ag) = split total
  let (part, whole) = reorder ag after mom, p, q
  fuse most, rs, part, whole
}
)";

void Scattered::checkAt(const std::string &text, int ranks, int64_t n,
                        const std::string &schedule, std::vector<How> ways) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(n) +
               " elements");
  check(text,
        {.mesh = {{"dp", std::to_string(ranks)}},
         .params = {{"N", std::to_string(n)}},
         .schedule = schedule},
        std::move(ways));
}

TEST_F(Scattered, OptimizersInOneKernel) {
  checkAt(momentum, 1, 1003, "fused");
  checkAt(momentum, 2, 1003, "fused");
  checkAt(momentum, 3, 1001, "fused", {How::Bound, How::Other});
  checkAt(momentum, 4, 203, "fused", {How::Bound, How::Unbound});
}

TEST_F(Scattered, WhatRanksReadBeforeTheyMeet) {
  checkAt(limited, 2, 1003, "fused");
  EXPECT_EQ(program.sharedArguments, (std::vector<int>{0, 1, 2}));
  checkAt(limited, 3, 1001, "fused", {How::Bound, How::Unbound});
  checkAt(limited, 4, 5, "fused", {How::Bound, How::Other});
}

TEST_F(Scattered, OptimizersOfAFewElements) {
  for (int64_t n : {0, 1, 5})
    checkAt(momentum, 2, n, "fused", {How::Bound, How::Unbound});
}

TEST_F(Scattered, OptimizersWithoutASchedule) {
  checkAt(momentum, 1, 1003, "", {How::Bound, How::Unbound});
  checkAt(momentum, 2, 1003, "");
  checkAt(momentum, 4, 203, "", {How::Bound});
}

/// Collectives of a type in every way, on lists of buffers at both ends.
std::string collectives(const std::string &type) {
  bool hasLamport = type.size() > 2 && type.starts_with("f8") == false &&
                    (type[0] == 'f' || type[0] == 'b');
  return "mesh m (dp = 2)\nparam N = 301\nprogram collectives(x: " + type +
         "[N] local scattered, inout y: " + type +
         "[N] scattered, inout z: " + type + "[N] scattered, inout v: " + type +
         "[N] scattered) {\n"
         "  let a = all_reduce(sum, x)\n  let b = all_reduce(max, x)\n"
         "  let c = all_reduce(sum, x)\n  let d = broadcast(x, 1)\n"
         "  y <- a\n  z <- b\n  v <- c\n  return d\n}\n"
         "schedule chosen for collectives {\n"
         "  algorithm a = one_shot\n  protocol a = ll\n"
         "  algorithm b = one_shot\n  protocol b = " +
         (hasLamport ? "lamport" : "ll") + "\n  algorithm c = ring\n}\n";
}

TEST_F(Scattered, CollectivesOfAllTypes) {
  for (const char *type : {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2",
                           "i8", "u16", "i32", "u64"}) {
    SCOPED_TRACE(type);
    checkAt(collectives(type), 2, 301, "chosen", {How::Bound, How::Unbound});
  }
}

TEST_F(Scattered, SumsOfWholeLists) {
  const char *text = R"(mesh m (dp = 2)
param N = 301
program sums(x: f32[N] scattered, inout y: f16[N] scattered, g: f32[N] local scattered) {
  let s = sum(x * x, 0) + max(x, [0])
  let t = sum(reduce_scatter(sum, g, 0), 0)
  y <- y + cast(s, f16) * 0
  return s, t
}
)";
  checkAt(text, 2, 301, "", {How::Bound, How::Unbound, How::Uneven});
  checkAt(text, 1, 10007, "", {How::Bound});
  checkAt(text, 1, 33000, "", {How::Bound});
}

TEST_F(Scattered, ProductsFindThemInOnePlace) {
  const char *text = R"(mesh m (dp = 2)
param N = 96
program products(w: f32[N] scattered, inout y: f32[N] scattered, v: f32[6, 16], at: i32[5]) {
  let m = reshape(w, [16, 6])
  let p = matmul(v, m)
  let r = gather_rows(m, at)
  y <- slice(reshape(matmul(m, transpose(m)), [256]), 0, 0, 96)
  return p, r
}
)";
  checkAt(text, 1, 96, "", {How::Bound, How::Unbound});
}

} // namespace
