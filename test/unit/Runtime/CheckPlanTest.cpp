//===- CheckPlanTest.cpp - Malformed plans are refused --------------------===//
//
// One misuse at a time with its message, and plans changed at random, which are
// either refused or run without touching what is not theirs (the sanitizers
// watch).
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/CheckPlan.h"
#include "CollectivePlans.h"

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr ElementType f32 = ElementType::F32;

void noFunction(const int64_t *, void *const *, const int64_t *, int64_t *) {}

/// A plan with parts of all kinds for two ranks.
Plan fullPlan() {
  PlanBuilder b(2, 2);
  b.plan.failures = {"division by zero"};
  ChunkSchedule schedule{"exchange", 2};
  schedule.chunks = {{{0}, {0, 1}, 0, 0, 2}, {{1}, {0, 1}, 0, 2, 2}};
  schedule.steps = {{{0, 0, 1}, {1, 1, 0}}};
  b.plan.schedules = {schedule};
  int in = b.argument(f32, 24, ArgumentKind::Input), out = b.argument(f32, 24);
  int indices = b.argument(ElementType::I32, 2, ArgumentKind::Input);
  int shared = b.symmetric(f32, 24), sums = b.symmetric(f32, 48);
  int own = b.buffer(Memory::Private, f32, 48);
  BarrierPart first = b.barrier(), second = b.barrier();
  int64_t full = b.flags(1), free = b.flags(1);
  int start = b.launch("loops", [&](int rank) -> std::vector<Part> {
    LoopOperand reduced{Access::LoadReduced, {shared, 0, {6, 1}}, f32, 0};
    LoopOperand toAll{Access::StoreAll, {sums, 24 * rank, {6, 1}}, f32, 0};
    LoopOperand scratch{Access::Scratch, {0, 0, {1, 0}}, f32};
    LoopOperand index{Access::Index, {0, 3, {6, 1}}, ElementType::I64};
    LoopOperand remote{Access::Load, {shared, 0, {6, 1}, 1 - rank}, f32};
    return {copyAll(in, shared, 24), first,
            RowsPart{4,
                     {{"f", {4, 6}, 1, {reduced, index}, {scratch}},
                      {"f", {4, 6}, 0, {scratch, remote}, {toAll}},
                      {"",
                       {4, 6},
                       0,
                       {reduced},
                       {{Access::Store, {own, 0, {6, 1}}, f32}}}}},
            second};
  });
  b.launch("products",
           [&](int rank) -> std::vector<Part> {
             return {SignalPart{1 - rank, full},
                     AwaitPart{1 - rank, full},
                     MatmulPart{{2},
                                2,
                                3,
                                4,
                                {shared, 0, {8, 4, 1}, 1 - rank},
                                {in, 0, {12, 3, 1}},
                                {own, 0, {6, 3, 1}}},
                     Conv2dPart{{1, 2, 3, 4},
                                {1, 2, 2, 2},
                                {1, 1, 2, 3},
                                1,
                                0,
                                {in, 0, {}},
                                {shared, 0, {}},
                                {own, 24, {}}},
                     GatherRowsPart{
                         4, 6, 2, {in, 0, {}}, {indices, 0, {}}, {own, 24, {}}},
                     ScatterRowsPart{4,
                                     6,
                                     2,
                                     {in, 0, {}},
                                     {indices, 0, {}},
                                     {own, 0, {}},
                                     {out, 0, {}}},
                     GatherPart{0,
                                0,
                                {{2, 1, 3, 6}},
                                {2, 3},
                                {shared, 0, {12, 1}},
                                {own, 24, {3, 1}}},
                     SignalPart{1 - rank, free},
                     AwaitPart{1 - rank, free}};
           },
           1, {start});
  b.launch("exchanges",
           [&](int) -> std::vector<Part> {
             auto exchange = [&](Exchange kind, int64_t count, int64_t result) {
               return ExchangePart{kind,   0,  ReduceKind::Sum, count,
                                   result, 24, {in, 0, {}},     {own, 0, {}},
                                   0};
             };
             return {exchange(Exchange::LL, 24, 24),
                     exchange(Exchange::Lamport, 5, 5),
                     exchange(Exchange::Schedule, 2, 4),
                     CopyPart{{2, 12}, {own, 0, {12, 1}}, {out, 0, {1, 2}}}};
           },
           0, {1});
  return b.plan;
}

/// The message with which a changed plan is refused; empty if it is not.
std::string refusal(const std::function<void(Plan &)> &change) {
  Plan plan = fullPlan();
  change(plan);
  return checkPlan(plan).message();
}

template <typename Kind>
Kind &part(Plan &plan, size_t launch, size_t index, size_t rank = 0) {
  return std::get<Kind>(plan.ranks[rank].launches[launch].parts[index]);
}
Loop &loop(Plan &plan, size_t index) {
  return part<RowsPart>(plan, 0, 2).loops[index];
}

/// Runs a plan that checkPlan accepts with arguments of the sizes that it says.
std::vector<Status> runAccepted(const Plan &plan, double timeLimit) {
  ExecutorOptions options;
  options.timeLimit = timeLimit;
  options.resolve = [](std::string_view) { return noFunction; };
  return runPlan(
      plan,
      [&](PlanExecutor &executor, int rank) {
        const RankPlan &own = plan.ranks[static_cast<size_t>(rank)];
        std::vector<std::vector<uint64_t>> memory;
        std::vector<void *> arguments;
        for (size_t i = 0; i < plan.arguments.size(); ++i) {
          int64_t bytes = product(own.placements[i].sizes) *
                          sizeInBytes(plan.arguments[i].type);
          memory.emplace_back(static_cast<size_t>(bytes + 7) / 8);
          arguments.push_back(memory.back().data());
        }
        Status status = executor.run(arguments);
        return status ? executor.run(arguments) : status;
      },
      options);
}

} // namespace

TEST(CheckPlan, AcceptsWhatRuns) {
  Plan plan = fullPlan();
  Status status = checkPlan(plan);
  ASSERT_TRUE(status.ok()) << status.message();
  for (const Status &result : runAccepted(plan, 60))
    EXPECT_TRUE(result.ok()) << result.message();
}

TEST(CheckPlan, WhatRanksShare) {
  EXPECT_EQ(refusal([](Plan &p) { p.mesh[0].size = 3; }),
            "the mesh has 3 ranks, the plan 2");
  EXPECT_EQ(refusal([](Plan &p) { p.mesh[0].size = int64_t(1) << 40; }),
            "the mesh has an axis of 1099511627776 ranks; expected 1 to 1024 "
            "in all");
  EXPECT_EQ(refusal([](Plan &p) { p.groups[0] = {0, 0}; }),
            "group 0: expected different ranks below 2");
  EXPECT_EQ(refusal([](Plan &p) { p.arguments[0].shape[1] = -1; }),
            "argument 'a0': expected sizes of at least 0, found -1");
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[1].symmetricBytes += 64; }),
            "rank 1: its symmetric memory or flags differ from those of rank "
            "0");
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[1].launches.pop_back(); }),
            "rank 1: expected the 3 launches of rank 0, found 2");
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[1].launches[0].parts.pop_back(); }),
            "rank 1: launch 0 is on another stream or has other barriers or "
            "exchanges than on rank 0");
}

TEST(CheckPlan, MemoryOfARank) {
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[0].buffers[5].offset = 8; }),
            "rank 0: buffer 5: 192 bytes at 8 are not aligned, or not inside "
            "of the arena of 192");
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[0].buffers[0].count = 23; }),
            "rank 0: buffer 0: expected the 24 elements of type f32 of "
            "argument 'a0', found 23 of type f32");
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[0].buffers[0].offset = 3; }),
            "rank 0: buffer 0: expected an argument below 3, found 3");
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[0].privateBytes = -1; }),
            "rank 0: an arena cannot have -1 bytes");
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[1].placements[0].offsets[0] = 2; }),
            "rank 1: placement of argument 'a0': indices 2 to 2 + 1 of "
            "dimension 0 do not lie inside of 2");
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[0].streams = 0; }),
            "rank 0: expected 1 to 64 streams, found 0");
}

TEST(CheckPlan, LaunchesAndFlags) {
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[0].launches[1].waits = {1}; }),
            "rank 0: launch 1 ('products'): expected to wait for an earlier "
            "launch, found 1");
  EXPECT_EQ(refusal([](Plan &p) { p.ranks[0].launches[0].stream = 2; }),
            "rank 0: launch 0 ('loops'): expected a stream below 2, found 2");
  EXPECT_EQ(refusal([](Plan &p) { part<BarrierPart>(p, 0, 1).flags = 5; }),
            "rank 0: launch 0 ('loops'): part 1: expected 2 flags below 6, "
            "found the first at 5");
  EXPECT_EQ(refusal([](Plan &p) { part<BarrierPart>(p, 0, 1).group = 1; }),
            "rank 0: launch 0 ('loops'): part 1: expected a group below 1, "
            "found 1");
  EXPECT_EQ(refusal([](Plan &p) {
              for (size_t rank : {0u, 1u})
                part<BarrierPart>(p, 0, 3, rank).flags = 0;
            }),
            "flag 0 of rank 0 is set twice in a run");
  EXPECT_EQ(refusal([](Plan &p) { part<BarrierPart>(p, 0, 1).flags = 4; }),
            "launch 0 meeting 0: ranks 0 and 1 do not come to one barrier");
  EXPECT_EQ(refusal([](Plan &p) { part<AwaitPart>(p, 1, 1).flag = 0; }),
            "rank 0 awaits flag 0, which rank 1 does not signal");
  EXPECT_EQ(refusal([](Plan &p) {
              // It would come behind what waits for it.
              std::vector<Part> &parts = p.ranks[1].launches[1].parts;
              p.ranks[1].launches[2].parts.push_back(parts.front());
              parts.erase(parts.begin());
            }),
            "rank 0 awaits flag 4 in launch 1, expected rank 1 to signal it in "
            "that one or before, found launch 2");
  EXPECT_EQ(refusal([](Plan &p) { part<SignalPart>(p, 1, 0).rank = 2; }),
            "rank 0: launch 1 ('products'): part 0: expected a rank below 2, "
            "found 2");
}

TEST(CheckPlan, Loops) {
  const std::string rows = "rank 0: launch 0 ('loops'): part 2: ";
  auto inLoop = [&](size_t index, const std::function<void(Loop &)> &change) {
    return refusal([&](Plan &p) { change(loop(p, index)); });
  };
  EXPECT_EQ(inLoop(0, [](Loop &l) { l.sizes[0] = 5; }),
            rows + "loop 0: expected 4 as the size of the first dimension");
  EXPECT_EQ(inLoop(0, [](Loop &l) { l.reducedDims = 2; }),
            rows + "loop 0: rows are not reduced, unless there is one; found "
                   "4");
  EXPECT_EQ(inLoop(0, [](Loop &l) { l.inputs[0].view.offset = 1; }),
            rows + "loop 0: input 0: the view has elements 1 to 24 of buffer "
                   "3, which has 24");
  EXPECT_EQ(inLoop(0, [](Loop &l) { l.inputs[0].view.strides = {-6, 1}; }),
            rows + "loop 0: input 0: the view has elements -18 to 5 of buffer "
                   "3, which has 24");
  EXPECT_EQ(inLoop(0, [](Loop &l) { l.inputs[0].view.strides[0] = INT64_MAX; }),
            rows + "loop 0: input 0: the view's indices overflow");
  EXPECT_EQ(inLoop(0, [](Loop &l) { l.inputs[0].type = ElementType::F64; }),
            rows + "loop 0: input 0: expected the buffer's type f32, found "
                   "f64");
  EXPECT_EQ(inLoop(0, [](Loop &l) { l.inputs[0].view.buffer = 0; }),
            rows + "loop 0: input 0: expected symmetric memory");
  EXPECT_EQ(inLoop(0, [](Loop &l) { l.outputs[0].view.strides[1] = 1; }),
            rows + "loop 0: output 0: expected stride 0 of reduced dimension "
                   "1, found 1");
  EXPECT_EQ(inLoop(1, [](Loop &l) { l.inputs[0].view.buffer = 1; }),
            rows + "loop 1: input 0: scratch 1 is read before it is made");
  EXPECT_EQ(inLoop(1, [](Loop &l) { l.inputs[0].view.strides[1] = 1; }),
            rows + "loop 1: input 0: scratch 0 is read beyond what is made");
  // A sum of nothing is made all the same.
  EXPECT_EQ(inLoop(0, [](Loop &l) { l.sizes[1] = 0; }), "");
  EXPECT_EQ(inLoop(1, [](Loop &l) { l.inputs[0].type = ElementType::I8; }),
            rows + "loop 1: input 0: scratch 0 is made as f32 and read as i8");
  EXPECT_EQ(inLoop(1, [](Loop &l) { l.inputs[1].view.buffer = 0; }),
            rows + "loop 1: input 1: buffer 0 of rank 1 is not symmetric");
  EXPECT_EQ(inLoop(1, [](Loop &l) { l.inputs[1].access = Access::Store; }),
            rows + "loop 1: input 1: an input cannot be stored");
  EXPECT_EQ(inLoop(2, [](Loop &l) { l.outputs[0].view.buffer = 0; }),
            rows + "loop 2: output 0: input 'a0' would be written");
  EXPECT_EQ(inLoop(2, [](Loop &l) { l.inputs.clear(); }),
            rows + "loop 2: a copy has one input and one output of one type, "
                   "and reduces nothing");
}

TEST(CheckPlan, OtherParts) {
  const std::string products = "rank 0: launch 1 ('products'): part ";
  const std::string exchanges = "rank 0: launch 2 ('exchanges'): part ";
  EXPECT_EQ(refusal([](Plan &p) { part<MatmulPart>(p, 1, 2).k = 5; }),
            products + "2: the view has elements 0 to 26 of buffer 0, which "
                       "has 24");
  EXPECT_EQ(refusal([](Plan &p) { part<MatmulPart>(p, 1, 2).m = -1; }),
            products + "2: expected sizes of at least 0, found -1");
  EXPECT_EQ(refusal([](Plan &p) { part<MatmulPart>(p, 1, 2).c.rank = 1; }),
            products + "2: expected own memory, found that of rank 1");
  EXPECT_EQ(refusal([](Plan &p) { part<Conv2dPart>(p, 1, 3).stride = 0; }),
            products +
                "3: expected filters of at least 1 x 1, a stride of at least 1 "
                "and a padding of at least 0 that do not overflow");
  EXPECT_EQ(refusal([](Plan &p) { part<Conv2dPart>(p, 1, 3).padding = 1; }),
            products + "3: the shapes of the convolution do not agree");
  EXPECT_EQ(
      refusal([](Plan &p) { part<GatherRowsPart>(p, 1, 4).tableRows = 5; }),
      products + "4: the view has 30 elements from 0 on of buffer 0, which has "
                 "24");
  EXPECT_EQ(refusal([](Plan &p) {
              part<GatherRowsPart>(p, 1, 4).indices.buffer = 0;
            }),
            products + "4: expected integers as indices, found f32");
  EXPECT_EQ(refusal([](Plan &p) { part<ScatterRowsPart>(p, 1, 5).count = 3; }),
            products + "5: the view has 3 elements from 0 on of buffer 2, "
                       "which has 2");
  EXPECT_EQ(refusal([](Plan &p) {
              part<ExchangePart>(p, 2, 0).schedule = 9;
              part<ExchangePart>(p, 2, 2).schedule = 9;
            }),
            exchanges + "2: expected a schedule below 1, found 9");
  EXPECT_EQ(refusal([](Plan &p) {
              p.schedules[0].combining = true;
              part<ExchangePart>(p, 2, 2).reduction = ReduceKind::Mean;
            }),
            exchanges + "2: a schedule takes sums, products and extremes, "
                        "found a mean");
  EXPECT_EQ(refusal([](Plan &p) { p.schedules[0].chunks[0].count = 3; }),
            exchanges + "2: a chunk of the schedule lies beyond the 2 elements "
                        "of input or the 4 of output");
  EXPECT_EQ(refusal([](Plan &p) { p.schedules[0].steps.clear(); }),
            exchanges + "2: exchange: at the end member 1 does not have chunk "
                        "0");
  EXPECT_EQ(
      refusal([](Plan &p) { part<ExchangePart>(p, 2, 0).largestCount = 23; }),
      exchanges + "0: the largest group has 23 elements, this one 24 and "
                  "24");
  EXPECT_EQ(refusal([](Plan &p) { part<CopyPart>(p, 2, 3).sizes[1] = 13; }),
            exchanges + "3: the view has elements 0 to 25 of buffer 1, which "
                        "has 24");
}

TEST(CheckPlan, Gathers) {
  auto inGather = [&](const std::function<void(GatherPart &)> &change) {
    std::string message =
        refusal([&](Plan &p) { change(part<GatherPart>(p, 1, 6)); });
    std::string where = "rank 0: launch 1 ('products'): part 6: ";
    EXPECT_TRUE(message.empty() || message.starts_with(where)) << message;
    return message.substr(std::min(message.size(), where.size()));
  };
  EXPECT_EQ(inGather([](GatherPart &) {}), "");
  EXPECT_EQ(inGather([](GatherPart &g) { g.group = 1; }),
            "expected a group below 1, found 1");
  EXPECT_EQ(inGather([](GatherPart &g) { g.firstMember = 1; }),
            "expected members below 2, found 1 to 2");
  EXPECT_EQ(inGather([](GatherPart &g) { g.firstMember = -1; }),
            "expected members below 2, found -1 to 0");
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].count = 3; }),
            "expected members below 2, found 0 to 2");
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].memberStep = INT64_MAX; }),
            "expected members below 2, found 0 to 9223372036854775807");
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0] = {3, INT64_MAX, 3, 6}; }),
            "the members' numbers overflow");
  const std::string steps =
      "expected at least one piece, and steps of at least 0";
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].count = 0; }), steps);
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].memberStep = -1; }), steps);
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].fromStep = -1; }), steps);
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].toStep = -1; }), steps);
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].fromStep = 10; }),
            "the view has elements 0 to 24 of buffer 3, which has 24");
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].toStep = 19; }),
            "the view has elements 24 to 48 of buffer 5, which has 48");
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].toStep = 5; }),
            "the pieces overlap where they are written");
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].toStep = INT64_MAX; }),
            "the view's indices overflow");
  // All pieces of one member are as good as those of several.
  EXPECT_EQ(inGather([](GatherPart &g) { g.grid[0].memberStep = 0; }), "");
  EXPECT_EQ(inGather([](GatherPart &g) { g.to.strides[1] = 0; }),
            "the pieces overlap where they are written");
  EXPECT_EQ(inGather([](GatherPart &g) { g.sizes[1] = 0; }),
            "expected pieces with elements");
  EXPECT_EQ(inGather([](GatherPart &g) { g.sizes[1] = -1; }),
            "expected sizes of at least 0, found -1");
  EXPECT_EQ(inGather([](GatherPart &g) { g.sizes.pop_back(); }),
            "expected a stride for each of 1 dimensions, found 2");
  EXPECT_EQ(inGather([](GatherPart &g) { g.from.strides.push_back(1); }),
            "expected a stride for each of 2 dimensions, found 3");
  EXPECT_EQ(inGather([](GatherPart &g) { g.from.offset = 9; }),
            "the view has elements 9 to 26 of buffer 3, which has 24");
  EXPECT_EQ(inGather([](GatherPart &g) { g.from.rank = 1; }),
            "expected own memory, found that of rank 1");
  EXPECT_EQ(inGather([](GatherPart &g) { g.to.rank = 1; }),
            "expected own memory, found that of rank 1");
  EXPECT_EQ(inGather([](GatherPart &g) { g.from.buffer = 0; }),
            "expected symmetric memory");
  EXPECT_EQ(inGather([](GatherPart &g) { g.from.buffer = 6; }),
            "expected a buffer below 6, found 6");
  EXPECT_EQ(inGather([](GatherPart &g) { g.to = {0, 0, {3, 1}}; }),
            "input 'a0' would be written");
  EXPECT_EQ(inGather([](GatherPart &g) { g.to = {3, 0, {3, 1}}; }),
            "the pieces are written in the buffer that members read");
  EXPECT_EQ(refusal([](Plan &p) {
              p.ranks[0].buffers[5].type = ElementType::I32;
            }).substr(0, 7),
            "rank 0:");
}

namespace {

/// Changes one number of a plan at random.
class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}

  void mutate(Plan &plan) {
    RankPlan &rank = plan.ranks[random() % plan.ranks.size()];
    switch (random() % 8) {
    case 0:
      return change(pick(rank.buffers));
    case 1:
      return change(random() % 2 ? rank.privateBytes : rank.flags);
    case 2: {
      Placement &placement = pick(rank.placements);
      return change(pick(random() % 2 ? placement.sizes : placement.offsets));
    }
    case 3: {
      Chunk &chunk = pick(plan.schedules[0].chunks);
      return change(random() % 2 ? chunk.count : chunk.outputFirst);
    }
    default:
      return std::visit([&](auto &part) { change(part); },
                        pick(pick(rank.launches).parts));
    }
  }

private:
  template <typename T> T &pick(std::vector<T> &list) {
    return list[random() % list.size()];
  }
  void change(int64_t &value) {
    constexpr int64_t extremes[] = {INT64_MIN, INT64_MAX, int64_t(1) << 45, -1};
    int64_t steps[] = {0,
                       1,
                       2,
                       addWrapping(value, int64_t(1)),
                       addWrapping(value, int64_t(-1)),
                       2 * (value % 1000),
                       extremes[random() % 4]};
    value = steps[random() % 7];
  }
  void change(int &value) {
    int64_t wide = value;
    change(wide);
    value = static_cast<int>(wide);
  }
  void change(Buffer &buffer) {
    change(random() % 2 ? buffer.count : buffer.offset);
  }
  void change(View &view) {
    switch (random() % 4) {
    case 0:
      return change(view.buffer);
    case 1:
      return change(view.rank);
    case 2:
      if (!view.strides.empty())
        return change(pick(view.strides));
      [[fallthrough]];
    default:
      return change(view.offset);
    }
  }
  void change(RowsPart &part) {
    Loop &loop = pick(part.loops);
    LoopOperand &operand = pick(random() % 2 ? loop.inputs : loop.outputs);
    switch (random() % 6) {
    case 0:
      return change(loop.reducedDims);
    case 1:
      return change(loop.sizes[1]);
    case 2:
      change(part.rows);
      for (Loop &each : part.loops)
        each.sizes[0] = part.rows;
      return;
    case 3:
      operand.access = static_cast<Access>(random() % 7);
      return;
    default:
      return change(operand.view);
    }
  }
  void change(CopyPart &part) {
    random() % 3 ? change(random() % 2 ? part.from : part.to)
                 : change(pick(part.sizes));
  }
  void change(GatherPart &part) {
    PieceDim &dim = part.grid[0];
    int64_t *numbers[] = {&dim.count,  &dim.memberStep,   &dim.fromStep,
                          &dim.toStep, &part.firstMember, &pick(part.sizes)};
    random() % 2 ? change(*numbers[random() % 6])
                 : change(random() % 2 ? part.from : part.to);
  }
  void change(BarrierPart &part) {
    random() % 2 ? change(part.flags) : change(part.group);
  }
  void change(SignalPart &part) {
    random() % 2 ? change(part.flag) : change(part.rank);
  }
  void change(AwaitPart &part) {
    random() % 2 ? change(part.flag) : change(part.rank);
  }
  void change(MatmulPart &part) {
    int64_t *sizes[] = {&part.m, &part.n, &part.k, part.batch.data()};
    View *views[] = {&part.a, &part.b, &part.c};
    random() % 2 ? change(*sizes[random() % 4]) : change(*views[random() % 3]);
  }
  void change(Conv2dPart &part) {
    View *views[] = {&part.x, &part.w, &part.y};
    std::vector<int64_t> *shapes[] = {&part.xShape, &part.wShape, &part.yShape};
    switch (random() % 3) {
    case 0:
      return change(random() % 2 ? part.stride : part.padding);
    case 1:
      return change(pick(*shapes[random() % 3]));
    default:
      return change(*views[random() % 3]);
    }
  }
  template <typename Rows> void changeRows(Rows &part) {
    int64_t *sizes[] = {&part.tableRows, &part.rowSize, &part.count};
    View *views[] = {&part.table, &part.indices, &part.to};
    random() % 2 ? change(*sizes[random() % 3]) : change(*views[random() % 3]);
  }
  void change(GatherRowsPart &part) { changeRows(part); }
  void change(ScatterRowsPart &part) { changeRows(part); }
  void change(ExchangePart &part) {
    int64_t *sizes[] = {&part.inputCount, &part.outputCount,
                        &part.largestCount};
    switch (random() % 4) {
    case 0:
      return change(random() % 2 ? part.group : part.schedule);
    case 1:
      return change(*sizes[random() % 3]);
    default:
      return change(random() % 2 ? part.from : part.to);
    }
  }

  std::mt19937_64 random;
};

} // namespace

TEST(CheckPlan, PlansChangedAtRandomNeverCrash) {
  int accepted = 0, refused = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Plan plan = fullPlan();
    Mutator mutator(seed);
    mutator.mutate(plan);
    if (seed % 2)
      mutator.mutate(plan);
    Status status = checkPlan(plan);
    if (!status) {
      EXPECT_FALSE(status.message().empty());
      ++refused;
      continue;
    }
    // Memory of half the address space is an error, not what is tested here.
    Result<int64_t> bytes = planSymmetricBytes(plan);
    if (!bytes || *bytes > int64_t(1) << 30)
      continue;
#if __has_feature(thread_sanitizer)
    continue; // Ranks that do as they are told may write where others do.
#endif
    // What it computes may be nonsense, and it may fail, but it ends.
    for (const Status &result : runAccepted(plan, 0.5))
      accepted += result.ok();
  }
#if !__has_feature(thread_sanitizer)
  EXPECT_GT(accepted, 300);
#endif
  EXPECT_GT(refused, 1000);
}
