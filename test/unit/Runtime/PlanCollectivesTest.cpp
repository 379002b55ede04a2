//===- PlanCollectivesTest.cpp - Collectives made of parts ----------------===//
//
// Every kind of collective as copies, rows and flags, with sizes that divide
// the ranks and do not, for every element type. Reductions are compared with
// the reference interpreter's, bit for bit; movements with boxes of the whole.
//
//===----------------------------------------------------------------------===//

#include "CollectivePlans.h"
#include "TensorUtil.h"
#include "lib/Interpreter/Movement.h"
#include "runtime/plan/CheckPlan.h"

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// The input and the expected output of a rank in a call.
using TensorOf = std::function<HostTensor(int rank, int call)>;

/// Runs a plan of an input and an output some times and compares the outputs.
void expectOutputs(const Plan &plan, const TensorOf &input,
                   const TensorOf &expected, const std::string &what,
                   const ExecutorOptions &options = {}, int calls = 3) {
  expectPlan(
      plan,
      [&](PlanExecutor &executor, int rank) {
        for (int call = 0; call < calls; ++call) {
          HostTensor in = input(rank, call), wanted = expected(rank, call);
          std::vector<uint64_t> out = storage(wanted.byteCount());
          void *arguments[] = {const_cast<std::byte *>(in.data()), out.data()};
          if (Status status = executor.run(arguments); !status)
            return status;
          EXPECT_TRUE(sameBits(wanted, out))
              << what << " rank " << rank << " call " << call;
        }
        return Status();
      },
      options);
}

uint64_t seedOf(int rank, int call) {
  return static_cast<uint64_t>(call) * 100 + static_cast<uint64_t>(rank);
}

HostTensor slice(const HostTensor &whole, size_t dim, int ranks, int rank) {
  auto d = static_cast<int64_t>(dim);
  SliceBounds bounds = sliceOf(whole.size(d), ranks, rank);
  return *interp::extract(whole, d, bounds.offset, bounds.offset + bounds.size);
}

HostTensor randomOf(ElementType type, const Shape &shape, uint64_t seed) {
  return *randomTensor(type, product(shape), seed).reshaped(shape);
}

const std::vector<Shape> shapes = {{7},       {4, 6}, {3, 5, 2},
                                   {2, 9, 3}, {5, 0}, {1, 4}};

} // namespace

TEST(PlanCollectives, TwoShotAllReduceOnAllTypes) {
  for (int ranks : {1, 2, 3, 4, 8})
    for (int64_t count : {0, 1, 37, 2500})
      for (ElementType type : allElementTypes)
        for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod,
                                ReduceKind::Max, ReduceKind::Mean}) {
          if (!isDefined(kind, type) || (count > 37 && kind != ReduceKind::Sum))
            continue;
          expectOutputs(
              twoShotPlan(ranks, type, kind, count),
              [&](int rank, int call) {
                return randomTensor(type, count, seedOf(rank, call));
              },
              [&](int, int call) {
                return expectedSum(type, kind, ranks, count, seedOf(0, call));
              },
              "two-shot " + std::string(name(type)));
        }
}

TEST(PlanCollectives, ReduceScatterOnRaggedShapes) {
  for (int ranks : {1, 2, 3, 4, 8})
    for (const Shape &shape : shapes)
      for (size_t dim = 0; dim < shape.size(); ++dim)
        for (ElementType type : allElementTypes) {
          ReduceKind kind =
              type == ElementType::Bool ? ReduceKind::Max : ReduceKind::Sum;
          expectOutputs(
              reduceScatterPlan(ranks, type, kind, shape, dim),
              [&](int rank, int call) {
                return randomOf(type, shape, seedOf(rank, call));
              },
              [&](int rank, int call) {
                HostTensor sum = expectedSum(type, kind, ranks, product(shape),
                                             seedOf(0, call));
                return slice(*sum.reshaped(shape), dim, ranks, rank);
              },
              "reduce_scatter");
        }
}

TEST(PlanCollectives, AllGatherOnRaggedShapes) {
  for (int ranks : {1, 2, 3, 4, 8})
    for (const Shape &shape : shapes)
      for (size_t dim = 0; dim < shape.size(); ++dim)
        for (bool push : {false, true})
          for (ElementType type : allElementTypes)
            expectOutputs(
                allGatherPlan(ranks, type, shape, dim, push),
                [&](int rank, int call) {
                  return slice(randomOf(type, shape, seedOf(0, call)), dim,
                               ranks, rank);
                },
                [&](int, int call) {
                  return randomOf(type, shape, seedOf(0, call));
                },
                push ? "all_gather by puts" : "all_gather by views");
}

TEST(PlanCollectives, GathersOnRaggedShapes) {
  for (int ranks : {1, 2, 3, 5, 8})
    for (const Shape &shape : shapes)
      for (size_t dim = 0; dim < shape.size(); ++dim)
        for (ElementType type :
             {ElementType::F64, ElementType::F16, ElementType::I8}) {
          Plan plan = gatherPlan(ranks, type, shape, dim);
          Status status = checkPlan(plan);
          EXPECT_TRUE(status.ok()) << status.message();
          expectOutputs(
              plan,
              [&](int rank, int call) {
                return slice(randomOf(type, shape, seedOf(0, call)), dim, ranks,
                             rank);
              },
              [&](int, int call) {
                return randomOf(type, shape, seedOf(0, call));
              },
              "all_gather by gathers");
        }
}

TEST(PlanCollectives, AllToAllOnRaggedShapes) {
  for (int ranks : {1, 2, 3, 4, 8})
    for (const Shape &shape : shapes)
      for (size_t from = 0; from < shape.size(); ++from)
        for (size_t to = 0; to < shape.size(); ++to)
          for (ElementType type : {ElementType::F64, ElementType::F32,
                                   ElementType::BF16, ElementType::Bool})
            expectOutputs(
                allToAllPlan(ranks, type, shape, from, to),
                [&](int rank, int call) {
                  return slice(randomOf(type, shape, seedOf(0, call)), from,
                               ranks, rank);
                },
                [&](int rank, int call) {
                  return slice(randomOf(type, shape, seedOf(0, call)), to,
                               ranks, rank);
                },
                "all_to_all");
}

TEST(PlanCollectives, SendAndBroadcast) {
  for (int ranks : {1, 2, 3, 4, 8})
    for (int64_t count : {0, 1, 1000})
      for (ElementType type : allElementTypes) {
        auto input = [&](int rank, int call) {
          return randomTensor(type, count, seedOf(rank, call));
        };
        expectOutputs(
            sendPlan(ranks, type, count), input,
            [&](int rank, int call) {
              return input(std::max(rank - 1, 0), call);
            },
            "send");
        expectOutputs(
            broadcastPlan(ranks, type, count, ranks - 1), input,
            [&](int, int call) { return input(ranks - 1, call); }, "broadcast");
      }
}

TEST(PlanCollectives, LargeOnesInPieces) {
  // Pieces of views and puts are smaller than these, and columns are strided.
  constexpr int ranks = 3;
  Shape shape = {70, 5001};
  ElementType type = ElementType::F64;
  auto whole = [&](int, int call) {
    return randomOf(type, shape, seedOf(0, call));
  };
  for (bool push : {false, true})
    for (size_t dim : {0u, 1u})
      expectOutputs(
          allGatherPlan(ranks, type, shape, dim, push),
          [&](int rank, int call) {
            return slice(whole(0, call), dim, ranks, rank);
          },
          whole, "all_gather");
  expectOutputs(
      reduceScatterPlan(ranks, type, ReduceKind::Sum, shape, 1),
      [&](int rank, int call) {
        return randomOf(type, shape, seedOf(rank, call));
      },
      [&](int rank, int call) {
        HostTensor sum = expectedSum(type, ReduceKind::Sum, ranks,
                                     product(shape), seedOf(0, call));
        return slice(*sum.reshaped(shape), 1, ranks, rank);
      },
      "reduce_scatter");
}

TEST(PlanCollectives, GroupsOfAMesh) {
  // A mesh of 2 x 3: pairs exchange by LL, then triples by a schedule, then
  // pairs by Lamport.
  PlanBuilder b(6);
  b.plan.mesh = {{"x", 2}, {"y", 3}};
  b.plan.groups = {{0, 3}, {1, 4}, {2, 5}, {2, 0, 1}, {5, 3, 4}};
  ChunkSchedule ring{"ring", 3};
  ring.combining = true;
  ring.chunks = {{{0, 1, 2}, {0, 1, 2}, 0, 0, 4}};
  ring.steps = {{{0, 0, 1, TransferOp::Reduce}},
                {{0, 1, 2, TransferOp::Reduce}},
                {{0, 2, 0}, {0, 2, 1}}};
  // The other triple's takes more memory: all to one in a step of its own, for
  // fewer elements.
  ChunkSchedule star{"star", 3};
  star.combining = true;
  for (int64_t i = 0; i < 4; ++i) {
    star.chunks.push_back({{0, 1, 2}, {0, 1, 2}, i, i, 1});
    auto chunk = static_cast<int>(i);
    star.steps.push_back(
        {{chunk, 1, 0, TransferOp::Reduce}, {chunk, 2, 0, TransferOp::Reduce}});
    star.steps.push_back({{chunk, 0, 1}, {chunk, 0, 2}});
  }
  b.plan.schedules = {ring, star};
  int in = b.argument(ElementType::F32, 4),
      out = b.argument(ElementType::F32, 4);
  b.launch("exchanges", [&](int rank) -> std::vector<Part> {
    auto exchange = [&](Exchange kind, int group, int from, int to) {
      return ExchangePart{kind,    group, ReduceKind::Sum,    4,
                          4,       4,     {from, 0, {1}, -1}, {to, 0, {1}, -1},
                          rank / 3};
    };
    std::vector<Part> parts = {
        exchange(Exchange::LL, rank % 3, in, out),
        exchange(Exchange::Schedule, 3 + rank / 3, out, out),
        exchange(Exchange::Lamport, rank % 3, in, in)};
    // Some have more to do before, as where slices are not equally large.
    if (rank % 2)
      parts.insert(parts.begin(),
                   CopyPart{{4}, {in, 0, {1}, -1}, {out, 0, {1}, -1}});
    return parts;
  });
  std::unique_ptr<SymmetricHeap> heap = heapFor(b.plan);
  int64_t needed = *planSymmetricBytes(b.plan);
  std::vector<Status> statuses = runTeam(*heap, [&](RankMemory &memory) {
    auto executor = PlanExecutor::create(b.plan, memory.rank(), *heap, {});
    if (!executor)
      return executor.status();
    // What was said to be needed is what was taken.
    EXPECT_EQ(*memory.allocate(0), needed);
    for (int call = 0; call < 5; ++call) {
      std::vector<float> values(4, static_cast<float>(1 << memory.rank())),
          sums(4);
      void *arguments[] = {values.data(), sums.data()};
      if (Status status = (*executor)->run(arguments); !status)
        return status;
      EXPECT_EQ(sums, std::vector<float>(4, 63));
      EXPECT_EQ(values, std::vector<float>(
                            4, static_cast<float>(9 << memory.rank() % 3)));
    }
    return Status();
  });
  for (const Status &status : statuses)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(PlanCollectives, HundredsOfRunsWithDelays) {
  for (uint64_t seed = 0; seed < 250; ++seed) {
    int ranks = 2 + static_cast<int>(seed % 3);
    RandomDelays delays(seed, ranks, 10);
    ExecutorOptions options;
    options.hook = &delays;
    ElementType type = ElementType::F32;
    int64_t count = 1 + static_cast<int64_t>(seed % 11);
    auto input = [&](int rank, int call) {
      return randomTensor(type, count, seedOf(rank, call));
    };
    expectOutputs(
        twoShotPlan(ranks, type, ReduceKind::Sum, count), input,
        [&](int, int call) {
          return expectedSum(type, ReduceKind::Sum, ranks, count,
                             seedOf(0, call));
        },
        "two-shot", options, 4);
    expectOutputs(
        sendPlan(ranks, type, count), input,
        [&](int rank, int call) { return input(std::max(rank - 1, 0), call); },
        "send", options, 4);
    expectOutputs(
        allGatherPlan(ranks, type, {count, 2}, 0, seed % 2),
        [&](int rank, int call) {
          return slice(randomOf(type, {count, 2}, seedOf(0, call)), 0, ranks,
                       rank);
        },
        [&](int, int call) {
          return randomOf(type, {count, 2}, seedOf(0, call));
        },
        "all_gather", options, 4);
    if (HasFailure())
      break;
  }
}
