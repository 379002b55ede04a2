//===- PlanExecutorTest.cpp - Loops of plans, and what is refused ---------===//
//
// Plans made by hand, with C++ functions as bodies of loops, against plain
// loops.
//
//===----------------------------------------------------------------------===//

#include "LoopFunctions.h"

using namespace ccn;
using namespace ccn::runtime;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

TEST(PlanExecutor, RowsGoThroughScratchInBlocks) {
  // Each row divided by its sum; many more rows than a block has.
  for (int64_t rows : {0, 1, 7, 60000})
    for (int64_t columns : {1, 5}) {
      PlanBuilder b(1);
      int in = b.argument(f32, rows * columns, ArgumentKind::Input);
      int out = b.argument(f32, rows * columns);
      b.launch("normalize", [&](int) -> std::vector<Part> {
        Shape full = {rows, columns};
        return {RowsPart{rows,
                         {{"sum_rows",
                           full,
                           1,
                           {load(in, {columns, 1})},
                           {scratch(0, {1, 0})}},
                          {"divide",
                           full,
                           0,
                           {load(in, {columns, 1}), scratch(0, {1, 0})},
                           {scratch(1, {columns, 1})}},
                          {"",
                           full,
                           0,
                           {scratch(1, {columns, 1})},
                           {store(out, {columns, 1})}}}}};
      });
      expectPlan(
          b.plan,
          [&](PlanExecutor &executor, int) {
            std::vector<float> a = counting(rows * columns), c(a.size());
            void *arguments[] = {a.data(), c.data()};
            Status status = executor.run(arguments);
            for (size_t i = 0; i < c.size(); ++i) {
              double sum = 0;
              size_t row = i / static_cast<size_t>(columns);
              for (size_t j = 0; j < static_cast<size_t>(columns); ++j)
                sum += a[row * static_cast<size_t>(columns) + j];
              EXPECT_EQ(c[i], a[i] / static_cast<float>(sum)) << i;
              if (c[i] != a[i] / static_cast<float>(sum))
                break;
            }
            return status;
          },
          withFunctions());
    }
}

TEST(PlanExecutor, IndexOperandsFollowTheBlocks) {
  constexpr int64_t rows = 100000, columns = 3;
  PlanBuilder b(1);
  int in = b.argument(f32, rows * columns),
      out = b.argument(f32, rows * columns);
  b.launch("index", [&](int) -> std::vector<Part> {
    LoopOperand index{Access::Index, {0, 7, {1, 2}}, ElementType::I64};
    return {RowsPart{rows,
                     {{"add_index",
                       {rows, columns},
                       0,
                       {load(in, {columns, 1}), index},
                       {store(out, {columns, 1})}}}}};
  });
  expectPlan(
      b.plan,
      [&](PlanExecutor &executor, int) {
        std::vector<float> a(rows * columns), c(a.size());
        void *arguments[] = {a.data(), c.data()};
        Status status = executor.run(arguments);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j)
            if (c[static_cast<size_t>(i * columns + j)] !=
                static_cast<float>(1000 * (7 + i + 2 * j))) {
              ADD_FAILURE() << i << " " << j;
              return status;
            }
        return status;
      },
      withFunctions());
}

TEST(PlanExecutor, SumsOfAllAndOfNothing) {
  for (int64_t columns : {0, 1, 1000}) {
    PlanBuilder b(1);
    int in = b.argument(f32, columns), out = b.argument(f32, 1);
    int rowsOut = b.argument(f32, 3);
    b.launch("sum", [&](int) -> std::vector<Part> {
      return {RowsPart{1,
                       {{"sum_all",
                         {1, columns},
                         2,
                         {load(in, {0, 1})},
                         {store(out, {0, 0})}}}},
              RowsPart{3,
                       {{"sum_rows",
                         {3, columns},
                         1,
                         {load(in, {0, 1})},
                         {store(rowsOut, {1, 0})}}}}};
    });
    expectPlan(
        b.plan,
        [&](PlanExecutor &executor, int) {
          std::vector<float> a(static_cast<size_t>(columns), 2), rows(3, -1);
          float sum = -1;
          void *arguments[] = {a.data(), &sum, rows.data()};
          Status status = executor.run(arguments);
          EXPECT_EQ(sum, 2 * static_cast<float>(columns));
          EXPECT_EQ(rows, std::vector<float>(3, sum));
          return status;
        },
        withFunctions());
  }
}

TEST(PlanExecutor, FunctionsReduceFromAndStoreToAll) {
  // reduce_scatter, a body, all_gather in one kernel: each member takes the
  // columns of its slice, so that views are strided in others' memory.
  for (int ranks : {1, 2, 3, 4}) {
    constexpr int64_t rows = 37, columns = 1001;
    PlanBuilder b(ranks);
    int in = b.argument(f32, rows * columns),
        out = b.argument(f32, rows * columns);
    int staged = b.symmetric(f32, rows * columns);
    int gathered = b.symmetric(f32, rows * columns);
    BarrierPart first = b.barrier(), second = b.barrier();
    b.launch("fused", [&](int rank) -> std::vector<Part> {
      SliceBounds slice = sliceOf(columns, ranks, rank);
      Shape strides = {columns, 1};
      return {
          copyAll(in, staged, rows * columns), first,
          RowsPart{
              rows,
              {{"add_index",
                {rows, slice.size},
                0,
                {{Access::LoadReduced,
                  {staged, slice.offset, strides},
                  f32,
                  0,
                  ReduceKind::Sum},
                 {Access::Index, {0, slice.offset, {0, 1}}, ElementType::I64}},
                {{Access::StoreAll,
                  {gathered, slice.offset, strides},
                  f32,
                  0}}}}},
          second, copyAll(gathered, out, rows * columns)};
    });
    expectPlan(
        b.plan,
        [&](PlanExecutor &executor, int rank) {
          for (int call = 0; call < 3; ++call) {
            std::vector<float> a(rows * columns,
                                 static_cast<float>(rank + call)),
                c(a.size());
            void *arguments[] = {a.data(), c.data()};
            if (Status status = executor.run(arguments); !status)
              return status;
            float sum = 0;
            for (int r = 0; r < ranks; ++r)
              sum += static_cast<float>(r + call);
            for (int64_t i = 0; i < rows * columns; ++i)
              if (c[static_cast<size_t>(i)] !=
                  sum + static_cast<float>(1000 * (i % columns))) {
                ADD_FAILURE() << i << " of " << ranks;
                return Status();
              }
          }
          return Status();
        },
        withFunctions());
  }
}

TEST(PlanExecutor, LoopsLoadAndStoreInAnothersMemory) {
  // Reads every second element of the next rank, backwards, and stores into the
  // memory of the rank before.
  constexpr int ranks = 3;
  constexpr int64_t count = 500;
  PlanBuilder b(ranks);
  int in = b.argument(f32, 2 * count), out = b.argument(f32, count);
  int from = b.symmetric(f32, 2 * count), to = b.symmetric(f32, count);
  BarrierPart first = b.barrier(), second = b.barrier();
  b.launch("neighbours", [&](int rank) -> std::vector<Part> {
    LoopOperand input = load(from, {-2}, 2 * count - 1);
    input.view.rank = (rank + 1) % ranks;
    LoopOperand output = store(to, {1});
    output.view.rank = (rank + ranks - 1) % ranks;
    return {copyAll(in, from, 2 * count), first,
            RowsPart{count, {{"twice", {count}, 0, {input}, {output}}}}, second,
            copyAll(to, out, count)};
  });
  expectPlan(
      b.plan,
      [&](PlanExecutor &executor, int rank) {
        std::vector<float> a = counting(2 * count,
                                        static_cast<float>(1000 * rank)),
                           c(count);
        void *arguments[] = {a.data(), c.data()};
        Status status = executor.run(arguments);
        // Rank r holds what r + 1 read of r + 2.
        float base = static_cast<float>(1000 * ((rank + 2) % ranks));
        for (int64_t i = 0; i < count; ++i)
          EXPECT_EQ(c[static_cast<size_t>(i)],
                    2 * (base + static_cast<float>(2 * count - 1 - 2 * i)));
        return status;
      },
      withFunctions());
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

namespace {

/// On stream 1 each rank runs a function that may fail, on stream 2 all come to
/// a barrier, on stream 0 something waits for stream 1. So a rank that fails is
/// missed by a flag's wait, by an event's and by none.
Plan failingPlan(int ranks) {
  PlanBuilder b(ranks, 3);
  b.plan.failures = {"division by zero at adam.ccn:7:3"};
  int in = b.argument(f32, 1), out = b.argument(f32, 1);
  BarrierPart barrier = b.barrier(), last = b.barrier();
  int fails = b.launch(
      "update",
      [&](int) -> std::vector<Part> {
        return {
            barrier,
            RowsPart{
                1, {{"failing", {1}, 0, {load(in, {1})}, {store(out, {1})}}}}};
      },
      1);
  b.launch("gather", [&](int) -> std::vector<Part> { return {last}; }, 2,
           {fails});
  b.launch("after",
           [&](int) -> std::vector<Part> { return {copyAll(in, out, 1)}; }, 0,
           {fails, 1});
  return b.plan;
}

} // namespace

TEST(PlanExecutor, AFailureInOneRankEndsAllAndNamesIt) {
  for (Over over : {Over::Memory, Over::Messages}) {
    auto start = std::chrono::steady_clock::now();
    std::vector<Status> statuses = runPlan(
        failingPlan(4),
        [&](PlanExecutor &executor, int rank) {
          for (int run = 0; run < 3; ++run) {
            float in = rank == 2 && run == 1 ? 1.f : 0.f, out = 0;
            void *arguments[] = {&in, &out};
            if (Status status = executor.run(arguments); !status) {
              // It stays so.
              EXPECT_EQ(executor.run(arguments).message(), status.message());
              return status;
            }
          }
          return Status();
        },
        withFunctions(), over);
    EXPECT_LT(secondsSince(start), 1);
    for (const Status &status : statuses)
      EXPECT_EQ(status.message(), "rank 2: division by zero at adam.ccn:7:3");
  }
}

TEST(PlanExecutor, ACodeThatThePlanDoesNotExplain) {
  std::vector<Status> statuses = runPlan(
      failingPlan(1),
      [&](PlanExecutor &executor, int) {
        float in = 9, out = 0;
        void *arguments[] = {&in, &out};
        return executor.run(arguments);
      },
      withFunctions());
  EXPECT_EQ(statuses[0].message(), "rank 0: function 'failing' failed with "
                                   "code 9, which the plan does not explain");
}

TEST(PlanExecutor, ARankThatDoesNotComeIsNamed) {
  for (Over over : {Over::Memory, Over::Messages}) {
    ExecutorOptions options = withFunctions();
    options.timeLimit = 0.3;
    std::atomic<int> ended{0};
    std::vector<Status> statuses = runPlan(
        failingPlan(3),
        [&](PlanExecutor &executor, int rank) {
          auto start = std::chrono::steady_clock::now();
          while (rank == 1 && ended < 2 && secondsSince(start) < 10)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          if (rank == 1)
            return Status();
          float in = 0, out = 0;
          void *arguments[] = {&in, &out};
          Status status = executor.run(arguments);
          ++ended;
          return status;
        },
        options, over);
    for (int rank : {0, 2})
      EXPECT_NE(statuses[static_cast<size_t>(rank)].message().find(
                    "the time limit of 0.3 s passed while waiting for rank 1: "
                    "'arrival' of call 1 of update"),
                std::string::npos)
          << statuses[static_cast<size_t>(rank)].message();
  }
}

TEST(PlanExecutor, RefusesWhatItCannotRun) {
  auto refusal = [](const std::function<Status(PlanExecutor &)> &body,
                    const ExecutorOptions &options) {
    return runPlan(
               failingPlan(1),
               [&](PlanExecutor &executor, int) { return body(executor); },
               options)[0]
        .message();
  };
  auto run = [](std::vector<void *> arguments) {
    return [=](PlanExecutor &executor) { return executor.run(arguments); };
  };
  float values[2] = {};
  EXPECT_EQ(refusal(run({values}), withFunctions()),
            "rank 0: expected 2 arguments, found 1");
  EXPECT_EQ(refusal(run({values, nullptr}), withFunctions()),
            "rank 0: the plan: the argument 1 is null");
  EXPECT_EQ(refusal(run({values, reinterpret_cast<std::byte *>(values) + 1}),
                    withFunctions()),
            "rank 0: the plan: the argument 1 is not aligned for f32");
  EXPECT_EQ(refusal(run({values, values}), {}),
            "rank 0: launch 'update': there is no function 'failing'");
  Plan plan = failingPlan(2);
  auto heap = SymmetricHeap::create(3, 1 << 16);
  EXPECT_EQ(PlanExecutor::create(plan, 0, **heap, withFunctions()).message(),
            "rank 0: the plan is for 2 ranks, the team has 3");
  auto small = SymmetricHeap::create(2, 64);
  Plan large = twoShotPlan(2, f32, ReduceKind::Sum, 10000);
  EXPECT_EQ(PlanExecutor::create(large, 0, **small, {}).message(),
            "rank 0: out of symmetric memory: 80000 bytes do not fit the 4096 "
            "that are left of 4096");
  Plan huge = failingPlan(1);
  huge.ranks[0].privateBytes = int64_t(1) << 46;
  auto heap1 = SymmetricHeap::create(1, 1 << 16);
  std::string why =
      PlanExecutor::create(huge, 0, **heap1, withFunctions()).message();
  EXPECT_EQ(why.find("rank 0: there is not enough memory: expected "
                     "70368744177664 bytes for what is computed with; found "),
            0u)
      << why;
}
