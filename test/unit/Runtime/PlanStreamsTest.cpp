//===- PlanStreamsTest.cpp - Streams and traces of plans ------------------===//
//
// Launches that overlap, wait for each other, and say when they ran.
//
//===----------------------------------------------------------------------===//

#include "LoopFunctions.h"

#include <mutex>

using namespace ccn;
using namespace ccn::runtime;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

TEST(PlanExecutor, StreamsOverlapAndWaitForEachOther) {
  // Two launches that end only when they meet, and one that waits for both.
  PlanBuilder b(1, 3);
  int x = b.argument(f32, 1), y = b.argument(f32, 1), z = b.argument(f32, 1);
  auto part = [&](const char *function, int from, int to) {
    return [=](int) -> std::vector<Part> {
      return {RowsPart{
          1, {{function, {1}, 0, {load(from, {1})}, {store(to, {1})}}}}};
    };
  };
  int first = b.launch("one", part("meet", x, x), 1);
  int second = b.launch("two", part("meet", y, y), 2);
  b.launch("three", part("twice", y, z), 0, {first, second});
  expectPlan(
      b.plan,
      [&](PlanExecutor &executor, int) {
        for (int run = 0; run < 50; ++run) {
          meeting = 0;
          float values[3] = {};
          void *arguments[] = {&values[0], &values[1], &values[2]};
          if (Status status = executor.run(arguments); !status)
            return status;
          EXPECT_EQ(values[0] + values[1] + values[2], 4);
        }
        return Status();
      },
      withFunctions());
}

namespace {

/// Delays of several threads of a rank.
class SharedDelays : public AccessHook {
public:
  explicit SharedDelays(uint64_t seed) : random(seed) {}
  void beforeAccess(int) override {
    uint64_t draw;
    {
      std::lock_guard lock(mutex);
      draw = random();
    }
    if (draw % 10 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(draw / 16 % 50));
  }

private:
  std::mutex mutex;
  std::mt19937_64 random;
};

/// Chunks of an all_reduce on stream 1, each of which stream 0 doubles when it
/// is there while the next one is on its way.
Plan pipelinePlan(int ranks, int64_t chunk, int chunks) {
  PlanBuilder b(ranks, 2);
  int64_t count = chunk * chunks;
  int in = b.argument(f32, count), out = b.argument(f32, count);
  int staged = b.symmetric(f32, count), sums = b.symmetric(f32, count);
  int start = b.launch("stage", [&](int) -> std::vector<Part> {
    return {copyAll(in, staged, count)};
  });
  for (int i = 0; i < chunks; ++i) {
    BarrierPart before = b.barrier(), after = b.barrier();
    int64_t offset = chunk * i;
    int reduce = b.launch(
        "reduce",
        [&](int rank) -> std::vector<Part> {
          SliceBounds slice = sliceOf(chunk, ranks, rank);
          int64_t at = offset + slice.offset;
          return {before,
                  copyRows({slice.size},
                           {Access::LoadReduced, {staged, at, {1}}, f32, 0},
                           {Access::StoreAll, {sums, at, {1}}, f32, 0}),
                  after};
        },
        1, {start});
    b.launch("double",
             [&](int) -> std::vector<Part> {
               return {RowsPart{chunk,
                                {{"twice",
                                  {chunk},
                                  0,
                                  {load(sums, {1}, offset)},
                                  {store(out, {1}, offset)}}}}};
             },
             0, {reduce});
  }
  return b.plan;
}

} // namespace

TEST(PlanExecutor, HundredsOfPipelinesWithDelays) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    int ranks = 1 + static_cast<int>(seed % 4);
    int64_t chunk = 1 + static_cast<int64_t>(seed % 13);
    SharedDelays delays(seed);
    ExecutorOptions options = withFunctions();
    options.hook = &delays;
    expectPlan(
        pipelinePlan(ranks, chunk, 4),
        [&](PlanExecutor &executor, int rank) {
          for (int run = 0; run < 4; ++run) {
            std::vector<float> a(static_cast<size_t>(4 * chunk),
                                 static_cast<float>(rank + run)),
                c(a.size());
            void *arguments[] = {a.data(), c.data()};
            if (Status status = executor.run(arguments); !status)
              return status;
            float sum = 0;
            for (int r = 0; r < ranks; ++r)
              sum += static_cast<float>(r + run);
            EXPECT_EQ(c, std::vector<float>(c.size(), 2 * sum))
                << "seed " << seed;
          }
          return Status();
        },
        options);
    if (HasFailure())
      break;
  }
}

//===----------------------------------------------------------------------===//
// Traces and counters
//===----------------------------------------------------------------------===//

namespace {

class Recorder : public TraceSink {
public:
  void record(const TraceEvent &event) override {
    std::lock_guard lock(mutex);
    events.push_back(event);
    names.emplace_back(event.launch, event.part);
  }
  std::mutex mutex;
  std::vector<TraceEvent> events;
  /// With text of their own: the executor is gone when they are read.
  std::vector<std::pair<std::string, std::string>> names;
};

} // namespace

TEST(PlanExecutor, TracesLaunchesAndParts) {
  Recorder recorder;
  ExecutorOptions options = withFunctions();
  options.trace = &recorder;
  std::vector<Status> statuses = runPlan(
      pipelinePlan(1, 8, 2),
      [&](PlanExecutor &executor, int) {
        std::vector<float> a(16), c(16);
        void *arguments[] = {a.data(), c.data()};
        Status status = executor.run(arguments);
        return status ? executor.run(arguments) : status;
      },
      options);
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].message();
  // stage and its copy, two reductions of three parts, two loops; twice.
  ASSERT_EQ(recorder.events.size(), 2u * (2 + 2 * 4 + 2 * 2));
  std::map<std::pair<uint64_t, int>, TraceEvent> launches;
  for (size_t i = 0; i < recorder.events.size(); ++i) {
    const TraceEvent &event = recorder.events[i];
    const auto &[launch, part] = recorder.names[i];
    EXPECT_LE(event.beginNanoseconds, event.endNanoseconds);
    EXPECT_EQ(event.stream, launch == "reduce" ? 1 : 0);
    EXPECT_EQ(part.empty(), event.partIndex < 0);
    if (part.empty())
      launches[{event.run, event.index}] = event;
    if (launch == "reduce" && event.partIndex >= 0)
      EXPECT_EQ(part, event.partIndex == 1 ? "rows" : "barrier");
  }
  EXPECT_EQ(launches.size(), 10u);
  for (uint64_t run : {1, 2}) {
    // What waits begins when what it waits for is done.
    EXPECT_GE((launches[{run, 2}].beginNanoseconds),
              (launches[{run, 1}].endNanoseconds));
    EXPECT_GE((launches[{run, 1}].beginNanoseconds),
              (launches[{run, 0}].endNanoseconds));
  }
}

TEST(PlanExecutor, CountsWhatViewsSay) {
  // Two-shot of 10 floats on 4 ranks: slices of 3, 3, 3 and 1.
  expectPlan(twoShotPlan(4, f32, ReduceKind::Sum, 10),
             [](PlanExecutor &executor, int rank) {
               const Traffic &traffic = executor.traffic();
               int64_t slice = 4 * (rank == 3 ? 1 : 3);
               EXPECT_EQ(traffic.ownRead, 40 + slice + 40);
               EXPECT_EQ(traffic.ownWritten, 40 + slice + 40);
               EXPECT_EQ(traffic.othersRead, 3 * slice);
               EXPECT_EQ(traffic.othersWritten, 3 * slice);
               EXPECT_EQ(executor.traffic(0).ownRead, traffic.ownRead);
               return Status();
             });
}

TEST(PlanExecutor, CountsOfTheRowsOfATableThoseThatAreTaken) {
  PlanBuilder b(1);
  int table = b.argument(f32, 20, ArgumentKind::Input);
  int indices = b.argument(ElementType::I64, 3, ArgumentKind::Input);
  int to = b.argument(f32, 6);
  b.launch("gather", [&](int) -> std::vector<Part> {
    return {GatherRowsPart{
        10, 2, 3, {table, 0, {}}, {indices, 0, {}}, {to, 0, {}}}};
  });
  expectPlan(b.plan, [](PlanExecutor &executor, int) {
    EXPECT_EQ(executor.traffic().ownRead, 3 * 8 + 3 * 2 * 4);
    EXPECT_EQ(executor.traffic().ownWritten, 3 * 2 * 4);
    return Status();
  });
}
