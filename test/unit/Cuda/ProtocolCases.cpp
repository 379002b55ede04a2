//===- ProtocolCases.cpp - A kernel for each protocol ---------------------===//

#include "test/unit/Cuda/ProtocolCases.h"

#include "test/unit/Cuda/PlanBuilder.h"
#include "gtest/gtest.h"

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;

namespace {

using Values = std::function<std::optional<float>(const ElementOfRun &)>;

/// What a rank has at `i` in a run: not the same in any two runs or ranks.
float valueOf(int rank, int run, int64_t i) {
  return static_cast<float>(1 + 150 * run + 30 * rank + i % 29);
}
/// That in argument `argument`, and what is expected in the next one.
Values inputs(int argument) {
  return [=](const ElementOfRun &e) -> std::optional<float> {
    if (e.argument != argument)
      return std::nullopt;
    return valueOf(e.rank, e.run, e.i);
  };
}
Values outputs(int argument,
               std::function<float(int rank, int run, int64_t i)> value) {
  return [=](const ElementOfRun &e) -> std::optional<float> {
    if (e.argument != argument)
      return std::nullopt;
    return value(e.rank, e.run, e.i);
  };
}
/// The sum over `ranks` ranks.
Values sums(int argument, int ranks) {
  return outputs(argument, [=](int, int run, int64_t i) {
    float sum = 0;
    for (int rank = 0; rank < ranks; ++rank)
      sum += valueOf(rank, run, i);
    return sum;
  });
}

ExchangePart exchangePart(Exchange exchange, int64_t count, int from, int to) {
  ExchangePart part;
  part.exchange = exchange;
  part.inputCount = part.outputCount = part.largestCount = count;
  part.from = view(from);
  part.to = view(to);
  return part;
}

/// An all_reduce by packets.
ProtocolCase packets(const char *name, Exchange exchange, int ranks) {
  constexpr int64_t count = 70;
  PlanBuilder plan(ranks);
  int in = plan.argument({count}), out = plan.argument({count});
  for (int rank = 0; rank < ranks; ++rank)
    plan.add(rank, exchangePart(exchange, count, in, out));
  return {.name = name,
          .plan = plan.plan,
          .input = inputs(0),
          .expected = sums(1, ranks),
          .blocks = 1,
          .runs = 7,
          .threads = 32};
}

/// Two ranks that send each other what they have, which is summed.
ProtocolCase scheduledSum() {
  constexpr int64_t count = 100;
  PlanBuilder plan(2);
  ChunkSchedule schedule{.name = "all_reduce", .members = 2, .combining = true};
  schedule.chunks = {{{0, 1}, {0, 1}, 0, 0, count}};
  schedule.steps = {
      {{0, 0, 1, TransferOp::Reduce}, {0, 1, 0, TransferOp::Reduce}}};
  plan.plan.schedules = {schedule};
  int in = plan.argument({count}), out = plan.argument({count});
  for (int rank : {0, 1}) {
    ExchangePart part = exchangePart(Exchange::Schedule, count, in, out);
    part.schedule = 0;
    plan.add(rank, part);
  }
  return {.name = "scheduled-sum",
          .plan = plan.plan,
          .input = inputs(0),
          .expected = sums(1, 2),
          .runs = 7,
          .threads = 32};
}

/// Rank 0 sends to rank 1, which sends to rank 2: who sends hears only that
/// slots are free again.
ProtocolCase scheduledBroadcast() {
  constexpr int64_t count = 100;
  PlanBuilder plan(3);
  ChunkSchedule schedule{.name = "broadcast", .members = 3};
  schedule.chunks = {{{0}, {0, 1, 2}, 0, 0, count}};
  schedule.steps = {{{0, 0, 1, TransferOp::Copy}},
                    {{0, 1, 2, TransferOp::Copy}}};
  plan.plan.schedules = {schedule};
  int in = plan.argument({count}), out = plan.argument({count});
  for (int rank : {0, 1, 2}) {
    ExchangePart part = exchangePart(Exchange::Schedule, count, in, out);
    part.schedule = 0;
    plan.add(rank, part);
  }
  return {.name = "scheduled-broadcast",
          .plan = plan.plan,
          .input = inputs(0),
          .expected = outputs(
              1, [](int, int run, int64_t i) { return valueOf(0, run, i); }),
          .runs = 8,
          .threads = 32};
}

LoopOperand load(const View &view) {
  return {Access::Load, view, ElementType::F32};
}
LoopOperand store(const View &view) {
  return {Access::Store, view, ElementType::F32};
}

/// Each rank reads what the next one's blocks of other numbers have put where
/// it can be read.
ProtocolCase groupBarriers(const char *name, int ranks) {
  constexpr int64_t half = 152;
  PlanBuilder plan(ranks);
  int in = plan.argument({2 * half}), out = plan.argument({2 * half});
  int place = plan.symmetric({2 * half});
  plan.barrier();
  for (int rank = 0; rank < ranks; ++rank)
    plan.add(rank, loop(2 * half, load(view(in)), store(view(place))));
  plan.barrier();
  for (int rank = 0; rank < ranks; ++rank)
    for (int64_t first : {int64_t(0), half})
      plan.add(rank,
               loop(half, load(view(place, half - first, (rank + 1) % ranks)),
                    store(view(out, first))));
  plan.barrier();
  return {.name = name,
          .plan = plan.plan,
          .input = inputs(0),
          .expected = outputs(1,
                              [=](int rank, int run, int64_t i) {
                                return valueOf((rank + 1) % ranks, run,
                                               (i + half) % (2 * half));
                              }),
          .threads = 32};
}

/// The same of one rank's blocks.
ProtocolCase gridBarriers() {
  // More than threads of one block take at once.
  constexpr int64_t half = 1100;
  PlanBuilder plan(1);
  int in = plan.argument({2 * half}), out = plan.argument({2 * half});
  int place = plan.privateBuffer({2 * half});
  plan.add(0, loop(2 * half, load(view(in)), store(view(place))));
  for (int64_t first : {int64_t(0), half})
    plan.add(0, loop(half, load(view(place, half - first)),
                     store(view(out, first))));
  return {.name = "grid-barriers",
          .plan = plan.plan,
          .input = inputs(0),
          .expected = outputs(1,
                              [=](int rank, int run, int64_t i) {
                                return valueOf(rank, run,
                                               (i + half) % (2 * half));
                              }),
          .runs = 3,
          .threads = 32};
}

/// Ranks meet at the edges of kernels only: each writes where the other reads
/// in its next launch.
ProtocolCase edgeBarriers() {
  constexpr int64_t count = 300;
  PlanBuilder plan(2);
  int in = plan.argument({count}), out = plan.argument({count});
  int place = plan.symmetric({count});
  plan.barrier();
  for (int rank : {0, 1})
    plan.add(rank,
             loop(count, load(view(in)), store(view(place, 0, 1 - rank))));
  plan.barrier();
  plan.launch();
  for (int rank : {0, 1})
    plan.add(rank, loop(count, load(view(place)), store(view(out))));
  return {.name = "edge-barriers",
          .plan = plan.plan,
          .input = inputs(0),
          .expected =
              outputs(1, [](int rank, int run,
                            int64_t i) { return valueOf(1 - rank, run, i); }),
          .threads = 32};
}

/// Rank 0 writes to rank 1 and signals; rank 1 signals back when it has read.
ProtocolCase signals() {
  constexpr int64_t half = 152;
  PlanBuilder plan(2);
  int in = plan.argument({2 * half}), out = plan.argument({2 * half});
  int place = plan.symmetric({2 * half});
  plan.add(0, loop(2 * half, load(view(in)), store(view(place, 0, 1))));
  plan.add(0, SignalPart{1, 0});
  plan.add(0, AwaitPart{1, 1});
  plan.add(1, AwaitPart{0, 0});
  for (int64_t first : {int64_t(0), half})
    plan.add(1, loop(half, load(view(place, half - first)),
                     store(view(out, first))));
  plan.add(1, SignalPart{0, 1});
  for (RankPlan &rank : plan.plan.ranks)
    rank.flags = 2;
  return {.name = "signals",
          .plan = plan.plan,
          .input = inputs(0),
          .expected = [=](const ElementOfRun &e) -> std::optional<float> {
            if (e.argument != 1 || e.rank != 1)
              return std::nullopt;
            return valueOf(0, e.run, (e.i + half) % (2 * half));
          },
          .threads = 32};
}

/// An all_reduce of rows in chunks, and a copy of its result, in `phases`
/// phases.
ProtocolCase pipeline(const char *name, int64_t rows, int64_t columns,
                      int phases, const char *leastUnits, unsigned seeds) {
  PlanBuilder plan(2);
  reduceRows(plan, rows, columns);
  return {.name = name,
          .plan = plan.plan,
          .input = inputs(0),
          .expected = sums(1, 2),
          .runs = 2,
          .threads = 32,
          .seeds = seeds,
          .adapt = [=](std::string &source) {
            const std::string chunks = "const Chunks chunks(";
            size_t at = source.find(chunks);
            size_t comma = source.find(", ", at);
            ASSERT_TRUE(at != source.npos && comma != source.npos);
            ASSERT_NE(source.find("chunks.count + " +
                                  std::to_string(phases - 1) + ";"),
                      source.npos);
            source.replace(comma + 2, source.find(")", comma) - comma - 2,
                           leastUnits);
          }};
}

/// Rows of which the blocks of a cluster have parts; half a row is read by
/// others than wrote it.
ProtocolCase clusterBarriers() {
  constexpr int64_t columns = 8192;
  PlanBuilder plan(1);
  int in = plan.argument({columns}), kept = plan.privateBuffer({columns}),
      out = plan.argument({columns / 2});
  plan.add(0, throughScratch(1, columns, {in, 0, {columns, 1}},
                             {kept, 0, {columns, 1}}));
  plan.add(0, throughScratch(1, columns / 2, {kept, columns / 2, {columns, 1}},
                             {out, 0, {columns, 1}}));
  return {.name = "cluster-barriers",
          .plan = plan.plan,
          .input = inputs(0),
          .expected = outputs(1,
                              [=](int rank, int run, int64_t i) {
                                return valueOf(rank, run, i + columns / 2);
                              }),
          .blocks = 1,
          .runs = 2,
          .clusterBits = 1,
          .seeds = 4};
}

/// A product of what the other rank has sent, which asynchronous copies bring
/// to shared memory.
ProtocolCase asynchronousCopies() {
  constexpr int64_t size = 64;
  PlanBuilder plan(2);
  int in = plan.argument({size * size}), b = plan.argument({size * size}),
      out = plan.argument({size * size});
  int place = plan.symmetric({size * size});
  for (RankPlan &rank : plan.plan.ranks)
    for (Buffer &buffer : rank.buffers)
      buffer.type = ElementType::F16;
  plan.barrier();
  for (int rank : {0, 1})
    plan.add(rank, copy(size * size, view(in), view(place, 0, 1 - rank)));
  plan.barrier();
  for (int rank : {0, 1}) {
    MatmulPart part{{}, size, size, size, view(place), view(b), view(out)};
    part.a.strides = part.b.strides = part.c.strides = {size, 1};
    plan.add(rank, part);
  }
  plan.barrier();
  // The product with twice the unit matrix.
  return {.name = "asynchronous-copies",
          .plan = plan.plan,
          .input = [=](const ElementOfRun &e) -> std::optional<float> {
            if (e.argument == 0)
              return valueOf(e.rank, e.run, e.i);
            if (e.argument == 1)
              return e.i % (size + 1) == 0 ? 2.0f : 0.0f;
            return std::nullopt;
          },
          .expected = outputs(2,
                              [](int rank, int run, int64_t i) {
                                return 2 * valueOf(1 - rank, run, i);
                              }),
          .blocks = 1,
          .runs = 2,
          .seeds = 3};
}

/// Rows that both ranks have are multiplied with twice the unit matrix as they
/// are gathered: where the plan copies them, or where it only shows them.
ProtocolCase gatheredProduct(const char *name, bool isCopied) {
  constexpr int64_t rows = 40, size = 64;
  PlanBuilder plan(2);
  int in = plan.argument({rows * size}), b = plan.argument({size * size}),
      out = plan.argument({2 * rows * size});
  int place = plan.symmetric({rows * size}),
      all = plan.privateBuffer({2 * rows * size});
  for (RankPlan &rank : plan.plan.ranks)
    for (Buffer &buffer : rank.buffers)
      buffer.type = ElementType::F16;
  auto matrix = [&](int buffer, int64_t row = 0, int rank = -1) {
    return View{buffer, row * size, {size, 1}, rank};
  };
  for (int rank : {0, 1})
    plan.add(rank, CopyPart{{rows, size}, matrix(in), matrix(place)});
  if (isCopied)
    plan.barrier();
  for (int rank : {0, 1}) {
    int other = 1 - rank;
    if (isCopied) {
      plan.add(rank, CopyPart{{rows, size},
                              matrix(place, 0, other),
                              matrix(all, other * rows)});
      plan.add(rank,
               CopyPart{{rows, size}, matrix(place), matrix(all, rank * rows)});
      plan.add(
          rank,
          MatmulPart{
              {}, 2 * rows, size, size, matrix(all), matrix(b), matrix(out)});
    } else {
      plan.add(rank, SignalPart{other, rank});
      plan.add(rank, MatmulPart{{},
                                rows,
                                size,
                                size,
                                matrix(place),
                                matrix(b),
                                matrix(out, rank * rows)});
      plan.add(rank, AwaitPart{other, other});
      plan.add(rank, MatmulPart{{},
                                rows,
                                size,
                                size,
                                matrix(place, 0, other),
                                matrix(b),
                                matrix(out, other * rows)});
    }
  }
  plan.barrier();
  // The first two are signals'.
  for (RankPlan &rank : plan.plan.ranks) {
    rank.flags = 4;
    std::get<BarrierPart>(rank.launches[0].parts.back()).flags = 2;
  }
  return {.name = name,
          .plan = plan.plan,
          .input = [=](const ElementOfRun &e) -> std::optional<float> {
            if (e.argument == 0)
              return valueOf(e.rank, e.run, e.i);
            if (e.argument == 1)
              return e.i % (size + 1) == 0 ? 2.0f : 0.0f;
            return std::nullopt;
          },
          .expected = outputs(2,
                              [](int, int run, int64_t i) {
                                auto rank = static_cast<int>(i / (rows * size));
                                return 2 *
                                       valueOf(rank, run, i % (rows * size));
                              }),
          .blocks = 2,
          .runs = 3,
          .seeds = 4,
          .prefers = true};
}

/// A product of which each rank has a slice: tiles go to slots in its owner's
/// memory. Blocks have several tiles of each slice. In a launch before, that
/// memory has something else; of three ranks one is in it for a while, and
/// another waits for it.
ProtocolCase scatteredProduct(const char *name, int ranks, int64_t columns) {
  constexpr int64_t rows = 64, k = 64;
  PlanBuilder plan(ranks);
  int a = plan.argument({ranks * rows * k}), b = plan.argument({k * columns}),
      out = plan.argument({rows * columns}), copied = plan.argument({rows * k});
  int place = plan.symmetric({ranks * rows * columns}),
      before = plan.symmetric({rows * k});
  for (RankPlan &rank : plan.plan.ranks)
    for (Buffer &buffer : rank.buffers)
      buffer.type = ElementType::F16;
  for (RankPlan &rank : plan.plan.ranks)
    rank.buffers[static_cast<size_t>(before)].offset =
        rank.buffers[static_cast<size_t>(place)].offset;
  const int64_t flags = 2 * ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    plan.add(rank, copy(rows * k, view(a), view(before)));
    if (rank == 1 && ranks == 3)
      plan.add(rank, AwaitPart{2, flags});
    for (int i = 0; rank == 2 && i < 8; ++i)
      plan.add(rank, copy(rows * k, view(a, i), view(copied)));
    if (rank == 2)
      plan.add(rank, SignalPart{1, flags});
    plan.add(rank, copy(rows * k, view(before), view(copied)));
  }
  plan.launch();
  plan.barrier();
  // The barrier's flags come first.
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<Part> &parts = plan.parts(rank, 1);
    Part end = parts.back();
    parts.clear();
    for (int step = 1; step <= ranks; ++step) {
      int owner = (rank + step) % ranks;
      MatmulPart part{{},
                      rows,
                      columns,
                      k,
                      view(a, owner * rows * k),
                      view(b),
                      view(place, owner * rows * columns)};
      part.a.strides = {k, 1};
      part.b.strides = part.c.strides = {columns, 1};
      parts.push_back(part);
      if (owner != rank)
        parts.push_back(SignalPart{owner, ranks + rank});
    }
    for (int other = 0; other < ranks; ++other)
      if (other != rank)
        parts.push_back(AwaitPart{other, ranks + other});
    RowsPart sum =
        loop(rows * columns, load(view(place, rank * rows * columns)),
             store(view(out)));
    LoopOperand &input = sum.loops.front().inputs.front();
    input.access = Access::LoadReduced;
    input.group = 0;
    input.type = sum.loops.front().outputs.front().type = ElementType::F16;
    parts.push_back(sum);
    parts.push_back(end);
    plan.plan.ranks[static_cast<size_t>(rank)].flags = flags + 1;
  }
  // The product with a matrix that has one 1 in each column.
  return {.name = name,
          .plan = plan.plan,
          .input = [=](const ElementOfRun &e) -> std::optional<float> {
            if (e.argument == 0)
              return valueOf(e.rank, e.run, e.i);
            if (e.argument == 1)
              return e.i / columns == e.i % columns % k ? 1.0f : 0.0f;
            return std::nullopt;
          },
          .expected = [=](const ElementOfRun &e) -> std::optional<float> {
            if (e.argument == 3)
              return valueOf(e.rank, e.run, e.i);
            if (e.argument != 2)
              return std::nullopt;
            int64_t row = e.rank * rows + e.i / columns;
            float sum = 0;
            for (int other = 0; other < ranks; ++other)
              sum += valueOf(other, e.run, row * k + e.i % columns % k);
            return sum;
          },
          .runs = 3,
          .seeds = 3,
          .prefers = true};
}

} // namespace

const std::vector<ProtocolCase> &test::protocolCases() {
  static const std::vector<ProtocolCase> cases = {
      packets("ll", Exchange::LL, 2),
      packets("ll-of-3", Exchange::LL, 3),
      packets("lamport", Exchange::Lamport, 2),
      packets("lamport-of-3", Exchange::Lamport, 3),
      scheduledSum(),
      scheduledBroadcast(),
      groupBarriers("group-barriers", 2),
      groupBarriers("barriers-of-3", 3),
      gridBarriers(),
      edgeBarriers(),
      signals(),
      pipeline("pipeline-of-2", 256, 4, 2, "1LL", 12),
      pipeline("pipeline-of-3", 256, 64, 3, "16LL", 3),
      clusterBarriers(),
      asynchronousCopies(),
      gatheredProduct("gathered-copies", true),
      gatheredProduct("signals-of-gathered-copies", false),
      scatteredProduct("copies-of-scattered-product", 2, 192),
      scatteredProduct("copies-of-scattered-product-of-3", 3, 128),
  };
  return cases;
}

const ProtocolCase &test::protocolCase(const std::string &name) {
  for (const ProtocolCase &one : protocolCases())
    if (one.name == name)
      return one;
  ADD_FAILURE() << "no case '" << name << "'";
  return protocolCases().front();
}
