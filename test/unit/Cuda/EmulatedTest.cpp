//===- EmulatedTest.cpp - Kernels that exchange, executed on the CPU ------===//
//
// Whole kernels against the interpreter: an all_reduce by packets or by a
// schedule, and what is done with its rows. Blocks are fewer than rows, and
// none waits for another but where the kernel says so.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Convert.h"
#include "test/unit/Cuda/EmulatedKernels.h"

#include <cmath>

namespace ccn::test {

namespace {

/// Between what is sent and what is combined.
constexpr const char *ofPush = "pipeline units\\(";

/// So many phases in chunks.
std::string ofPhases(int phases) {
  return "phase " + std::to_string(phases - 1) +
         "\n(?! *phase)(?:.*\n(?! *phase))*$";
}

/// Where ranks meet at the end, with nothing to copy afterwards.
constexpr const char *ofNoCopy = "barrier at the edge\n$";

/// The sum of `x` over ranks, and as many rows of `r` from an element on.
std::string totalAndRest(int first) {
  std::string from = std::to_string(first);
  return "  let total = all_reduce(sum, x)\n"
         "  let rest = reshape(slice(r, 0, " +
         from + ", T * H + " + from + "), [T, H])\n";
}

class ExchangedKernels : public EmulatedKernels,
                         public testing::WithParamInterface<Case> {};

} // namespace

TEST_P(ExchangedKernels, Normalize) {
  const Case &c = GetParam();
  std::string type = std::string(c.element) + "[T, H]";
  check(meshOf(c.ranks, {{"T", c.rows}, {"H", c.columns}}) + "program f(x: " +
            type + " local, inout r: " + type + ", g: " + c.element +
            "[H]) {\n"
            "  let total = all_reduce(sum, x)\n"
            "  let res = r + total\n"
            "  r <- res\n"
            "  let top = max(res, [1])\n"
            "  let y = res - broadcast_to(reshape(top, [T, 1]), [T, H]) + g\n"
            "  return y\n"
            "}\n"
            "schedule fused for f {\n"
            "  fuse total, res, r, top, y\n  " +
            c.choice + "\n}\n",
        c.waits, c.blocks, std::nullopt, c.clusterBits);
}

// What threads of a team have for themselves, and what they leave each other:
// rows that may not be aligned, sums of which scalars are made, and of parts of
// rows, and rows that are too long for registers.
TEST_F(EmulatedKernels, ShareRows) {
  struct Shape {
    int rows, columns, parts, first;
    const char *element;
  };
  for (const Shape &s :
       {Shape{5, 8, 2, 1, "f32"}, Shape{37, 96, 4, 0, "bf16"},
        Shape{37, 96, 4, 1, "bf16"}, Shape{5, 2048, 2, 1, "f16"},
        Shape{3, 4104, 3, 0, "f64"}, Shape{3, 20000, 5, 0, "f32"},
        Shape{3, 20000, 5, 3, "bf16"}}) {
    std::string element = s.element;
    check(meshOf(2, {{"T", s.rows},
                     {"H", s.columns},
                     {"P", s.parts},
                     {"Q", s.columns / s.parts}}) +
              "program f(x: " + element + "[T, H] local, r: " + element +
              "[T * H + 8]) {\n" + totalAndRest(s.first) +
              "  let res = cast(total, f64) + cast(rest, f64)\n"
              "  let top = max(res, [1])\n"
              "  let half = (top + min(res, [1])) / 2\n"
              "  let mid = res - broadcast_to(reshape(half, [T, 1]), [T, H])\n"
              "  let tops = max(reshape(mid, [T, P, Q]), [2])\n"
              "  let y = reshape(mid, [T, P, Q]) - "
              "broadcast_to(reshape(tops, [T, P, 1]), [T, P, Q])\n"
              "  let least = min(reshape(y, [T, H]), [1])\n"
              "  return y, top, least\n"
              "}\n"
              "schedule fused for f {\n"
              "  fuse total, res, top, half, mid, tops, y, least\n"
              "  protocol total = lamport\n}\n",
          s.columns > 10000 ? " block_memory\\(" : " own\\(", 2);
  }
}

// Elements that are for themselves, more and fewer than blocks take at a time;
// `rest` may not be aligned, `b` is the same for all rows.
TEST_F(EmulatedKernels, ExchangeElements) {
  struct Elements {
    int rows, columns;
    const char *element, *protocol;
    int first;
  };
  for (const Elements &e :
       {Elements{5, 7, "f32", "ll", 0}, Elements{40, 256, "f32", "lamport", 0},
        Elements{1, 9001, "f32", "ll", 0},
        Elements{1, 20003, "bf16", "lamport", 0},
        Elements{67, 104, "f64", "lamport", 1},
        Elements{83, 1000, "f8e5m2", "ll", 1}}) {
    std::string type = std::string(e.element) + "[T, H]";
    check(meshOf(2, {{"T", e.rows}, {"H", e.columns}}) +
              "program f(x: " + type + " local, inout p: " + type +
              ", r: " + e.element + "[T * H + 1], b: " + e.element +
              "[H]) {\n" + totalAndRest(e.first) +
              "  p <- total * p\n"
              "  let y = total - rest\n"
              "  let z = total + b\n"
              "  return y, z\n"
              "}\n"
              "schedule fused for f {\n"
              "  fuse total, p, y, z\n"
              "  protocol total = " +
              e.protocol + "\n}\n",
          ofBlock, 2);
  }
}

// The first block forms the sum, and exchanges it; all then need it.
TEST_F(EmulatedKernels, SumBeforeTheyExchange) {
  for (int elements : {5, 300001})
    check(meshOf(2, {{"N", elements}}) + "program f(x: f32[N] sliced(0)) {\n"
                                         "  let part = sum(x, 0)\n"
                                         "  let total = all_reduce(sum, part)\n"
                                         "  let twice = 2 * total\n"
                                         "  let y = x - twice\n"
                                         "  return y\n"
                                         "}\n"
                                         "schedule fused for f {\n"
                                         "  fuse part, total, twice, y\n"
                                         "  protocol total = ll\n"
                                         "}\n",
          "wait\\(block\\) exchange ", 3);
}

// Blocks sum up what they have made themselves, and the first adds their sums
// where ranks meet: nothing else lets all blocks wait.
TEST_F(EmulatedKernels, AddSumsWhereTheyMeet) {
  auto text = [](int ranks, int elements) {
    return meshOf(ranks, {{"N", elements}}) +
           "program f(x: f32[N] local, r: f32[N], inout s: f32[N] sliced(0)) "
           "{\n"
           "  let total = reduce_scatter(sum, x, 0)\n"
           "  let most = max(r)\n"
           "  s <- s + total\n"
           "  let low = all_reduce(min, min(s))\n"
           "  let y = s + (most + low)\n"
           "  return y, most\n"
           "}\n"
           "schedule fused for f {\n  fuse total, most, s, low, y\n}\n";
  };
  const char *ownElements = "wait\\(block\\) grid rows\\(1\\) share\\(",
             *whereTheyMeet = "few_sums deferred\n *barrier of all blocks\n";
  check(text(2, 66000), ownElements, 3, 1);
  check(text(2, 65537), whereTheyMeet, 2);
  check(text(2, 66000), whereTheyMeet, 1);
  check(text(3, 98304), ownElements, 5, 0);
}

// What the first block alone makes of sums of all elements is made when all
// blocks have added theirs, also where another loop over the row is before.
TEST_F(EmulatedKernels, UseSumsInTheFirstBlock) {
  for (int elements : {40003, 66000})
    check(meshOf(2, {{"N", elements}}) +
              "program f(x: f32[N] local, w: f32[100] local) {\n"
              "  let most = max(x)\n"
              "  let v = sum(most - x)\n"
              "  let y = w + v\n"
              "  return y\n"
              "}\n"
              "schedule fused for f {\n  fuse most, v, y\n}\n",
          "do_deferred wait\\(block\\) elements\n", 2);
}

// All of `p` is read, then all ranks write their parts of it into that of the
// others: in place if all blocks meet in between, so that the kernel ends where
// ranks meet; else it is copied after that.
TEST_F(EmulatedKernels, WriteWhatOthersHaveRead) {
  struct Shape {
    int ranks, elements;
    bool meet;
    const char *protocol = "simple";
    std::optional<int> lateRank = std::nullopt;
  };
  for (const Shape &s : {Shape{2, 1003, true}, Shape{3, 20011, true, "push", 1},
                         Shape{4, 203, true, "simple", 0}, Shape{2, 1, true},
                         Shape{3, 1001, false}})
    check(meshOf(s.ranks, {{"N", s.elements}}) +
              "program f(g: f16[N] local, inout p: f32[N], "
              "inout mom: f32[N] sliced(0), lr: f32) {\n"
              "  let total = all_reduce(sum, g)\n"
              "  mom <- 0.5 * mom + cast(total, f32)\n"
              "  let step = mom + 0.25 * p\n"
              "  let most = max(p, [0])\n"
              "  let top = all_reduce(max, max(step, [0]))\n"
              "  p <- p - lr * " +
              (s.meet ? "(most - top)" : "most") +
              " * step\n"
              "}\n"
              "schedule fused for f {\n"
              "  let (rs, ag) = split total\n"
              "  let (part, whole) = reorder ag after mom, p\n"
              "  fuse most, rs, part, whole\n"
              "  protocol rs = " +
              s.protocol + "\n}\n",
          s.meet ? ofNoCopy : "barrier of all blocks\n", 3, s.lateRank);
}

// What is sent is made of what the sum is then written to, in chunks or not.
TEST_F(EmulatedKernels, WriteWhatWasSentFrom) {
  struct Shape {
    int ranks, elements;
    const char *choice;
    std::optional<int> lateRank = std::nullopt;
  };
  for (const Shape &s : {Shape{2, 54007, "protocol total = push", 1},
                         Shape{3, 70001, "protocol total = push", 0},
                         Shape{4, 1003, "protocol total = push", 3},
                         Shape{3, 1001, "algorithm total = two_shot", 2}})
    check(meshOf(s.ranks, {{"N", s.elements}}) +
              "program f(x: i32[N] local, inout p: i32[N]) {\n"
              "  let part = x - 3 * p\n"
              "  let total = all_reduce(sum, part)\n"
              "  p <- total\n"
              "}\n"
              "schedule fused for f {\n"
              "  fuse part, total, p\n  " +
              s.choice + "\n}\n",
          ofNoCopy, 3, s.lateRank);
}

// What is sent is what the sum is then written to, chunk by chunk.
TEST_F(EmulatedKernels, SumInPlaceInChunks) {
  for (auto [ranks, elements, lateRank] :
       {std::tuple(2, 54007, 1), std::tuple(3, 70001, 0),
        std::tuple(4, 130003, 2)})
    check(meshOf(ranks, {{"N", elements}}) +
              "program f(inout p: i32[N] local) {\n"
              "  let total = all_reduce(sum, p)\n"
              "  p <- total\n"
              "}\n"
              "schedule fused for f {\n"
              "  fuse total, p\n"
              "  protocol total = push\n}\n",
          ofPhases(2), 3, lateRank);
}

// Ranks that sum the same up, of which one has it at an odd address, agree.
TEST_F(EmulatedKernels, SumInOneOrderWhereverElementsBegin) {
  struct Sums {
    runtime::ElementType type;
    const char *shape;
    int64_t count;
    int dim, blocks;
  };
  using enum runtime::ElementType;
  // By threads, warps, blocks and the grid, few and many.
  for (const Sums &sums :
       {Sums{F64, "[5, 8]", 40, 1, 1}, Sums{F32, "[5, 96]", 480, 1, 1},
        Sums{BF16, "[3, 4096]", 12288, 1, 2}, Sums{F64, "[70000]", 70000, 0, 3},
        Sums{F32, "[2, 32776]", 65552, 1, 3},
        Sums{F64, "[2, 40, 1000]", 80000, 2, 2}}) {
    // Large ones, of which every two cancel, and small ones, of which they
    // round away a part.
    std::vector<double> values;
    for (int64_t i = 0; i < sums.count; ++i) {
      auto of = [](int64_t n) { return std::sin(static_cast<double>(n)); };
      double large = (sums.type == F32 ? 0x1p50 : 0x1p20) * of(i / 3);
      values.push_back(i % 3 == 2 ? of(i) : i % 3 == 1 ? -large : large);
    }
    std::optional<CudaTeam::Outputs> expected;
    for (int64_t first : {0, 1, 3}) {
      std::string element(runtime::name(sums.type)),
          begin = std::to_string(first), count = std::to_string(sums.count);
      std::string text = meshOf(1, {}) + "program f(x: " + element + "[" +
                         count + " + 3]) {\n  let part = reshape(slice(x, 0, " +
                         begin + ", " + count + " + " + begin + "), " +
                         sums.shape + ")\n  let y = sum(part, " +
                         std::to_string(sums.dim) + ")\n  return y\n}\n";
      PlanCompiler compiler;
      std::string messages;
      auto plans = compiler.compileTo(Phase::Plan, text, {.phase = Phase::Plan},
                                      messages);
      ASSERT_TRUE(plans) << messages;
      auto team = CudaTeam::create(*plans, "f", sums.blocks);
      ASSERT_TRUE(team) << team.message();
      EXPECT_FALSE(has(printedKernels(*plans), " width(1)"));
      auto x = runtime::HostTensor::uninitialized(sums.type, {sums.count + 3});
      ASSERT_TRUE(x) << x.message();
      runtime::convert(
          F64, reinterpret_cast<std::byte *>(values.data()), sums.type,
          x->mutableData() + first * sizeInBytes(sums.type), sums.count);
      auto found = (*team)->run({{"x", *x}});
      ASSERT_TRUE(found) << found.message();
      if (!expected)
        expected = *found;
      EXPECT_TRUE(haveSameBits(*expected, *found))
          << element << sums.shape << " from " << first << " on";
    }
  }
}

// An all_reduce and what is done with all of it, in chunks of elements.
TEST_F(EmulatedKernels, SendElementsInChunks) {
  struct Elements {
    int ranks, count;
    const char *element;
    int blocks;
    std::optional<int> lateRank = std::nullopt;
  };
  for (const Elements &e :
       {Elements{2, 54007, "f32", 2}, Elements{3, 70001, "i32", 2, 1},
        Elements{4, 130003, "bf16", 3, 0}, Elements{8, 65539, "f64", 1},
        Elements{2, 1, "f16", 2}, Elements{3, 66, "f32", 2}})
    check(meshOf(e.ranks, {{"N", e.count}}) + "program f(x: " + e.element +
              "[N] local, inout r: " + e.element +
              "[N]) {\n"
              "  let total = all_reduce(sum, x)\n"
              "  r <- total - r\n"
              "  return total\n"
              "}\n"
              "schedule fused for f {\n"
              "  fuse total, r\n"
              "  protocol total = push\n}\n",
          ofPhases(3), e.blocks, e.lateRank);
}

// What ranks have a slice of is updated between what is sent twice.
TEST_F(EmulatedKernels, UpdateSlicesInChunks) {
  struct Slices {
    int ranks;
    const char *size;
    int blocks;
    std::optional<int> lateRank = std::nullopt;
  };
  for (const Slices &s : {Slices{2, "[90002]", 2}, Slices{4, "[260000]", 3, 2},
                          Slices{3, "[300, 201]", 2, 0},
                          Slices{8, "[70000, 2]", 1}, Slices{3, "[2, 7]", 2}})
    check(meshOf(s.ranks, {}) + "program f(g: f16" + s.size +
              " local, inout w: f16" + s.size + ", inout p: f32" + s.size +
              " sliced(0)) {\n"
              "  let total = all_reduce(sum, g)\n"
              "  p <- 0.5 * p + cast(total, f32)\n"
              "  w <- cast(p, f16)\n"
              "}\n"
              "schedule fused for f {\n"
              "  let (rs, ag) = split total\n"
              "  let (part, whole) = reorder ag after p, w\n"
              "  fuse rs, part, whole\n"
              "  protocol rs = push\n}\n",
          ofPhases(2), s.blocks, s.lateRank);
}

// Rows of all slices, by threads, warps and blocks.
TEST_F(EmulatedKernels, SendRowsInChunks) {
  struct Rows {
    int ranks, rows, columns;
    const char *element;
    int blocks, phases;
    std::optional<int> lateRank = std::nullopt;
  };
  for (const Rows &r :
       {Rows{2, 4096, 8, "f32", 2, 3}, Rows{2, 256, 256, "f32", 2, 3, 1},
        Rows{4, 514, 512, "f16", 3, 3, 3}, Rows{2, 256, 1088, "bf16", 2, 3, 0},
        // Fewer rows, such as begin within a vector, and such as are cut.
        Rows{2, 254, 64, "f32", 2, 2}, Rows{2, 256, 33, "f16", 2, 2},
        Rows{3, 385, 40, "bf16", 2, 2}})
    check(meshOf(r.ranks, {{"T", r.rows}, {"H", r.columns}}) + "program f(x: " +
              r.element + "[T, H] local, inout r: " + r.element +
              "[T, H]) {\n"
              "  let total = all_reduce(sum, x)\n"
              "  let res = r + total\n"
              "  r <- res\n"
              "  let top = max(res, [1])\n"
              "  let y = res - broadcast_to(reshape(top, [T, 1]), [T, H])\n"
              "  return y, top\n"
              "}\n"
              "schedule fused for f {\n"
              "  fuse total, res, r, top, y\n"
              "  protocol total = push\n}\n",
          ofPhases(r.phases), r.blocks, r.lateRank);
}

INSTANTIATE_TEST_SUITE_P(
    All, ExchangedKernels,
    testing::Values(
        Case{1, 8192, 2, "bf16", "protocol total = ll", 2, ofCluster},
        Case{1, 8189, 2, "bf16", "protocol total = lamport", 2, ofCluster},
        // Rows of clusters.
        Case{1, 8192, 2, "bf16", "protocol total = ll", 1, ofCluster, 3},
        Case{1, 8192, 4, "bf16", "protocol total = lamport", 1, ofCluster, 2},
        Case{1, 8189, 3, "bf16", "protocol total = lamport", 2, ofCluster, 1},
        Case{1, 1031, 2, "f8e5m2", "protocol total = ll", 1, ofCluster, 3},
        Case{5, 4096, 3, "f32", "protocol total = lamport", 2, ofCluster, 2},
        Case{5, 4096, 2, "f32", "protocol total = ll", 1, ofCluster, 3},
        Case{3, 2048, 1, "f64", "protocol total = ll", 2, ofCluster, 3},
        Case{5, 4104, 2, "f32", "protocol total = lamport", 2, ofCluster, 3},
        Case{3, 2056, 2, "f64", "protocol total = ll", 2, ofCluster, 2},
        Case{3, 12296, 1, "f16", "protocol total = lamport", 2, ofCluster, 2},
        // Several rows of each block, warp and thread.
        Case{7, 1100, 3, "f32", "protocol total = ll", 2, ofBlock},
        Case{7, 1100, 2, "f64", "protocol total = lamport", 3, ofBlock},
        Case{83, 40, 2, "f16", "protocol total = lamport", 2, ofBlock},
        Case{83, 9, 4, "f32", "protocol total = ll", 2, ofBlock},
        Case{1100, 6, 2, "f8e5m2", "protocol total = ll", 2, ofBlock},
        Case{1100, 5, 2, "f64", "protocol total = lamport", 1, ofBlock},
        // More than a thread has on their way at once.
        Case{2, 8192, 2, "f32", "protocol total = ll", 1, ofCluster},
        Case{2, 5000, 3, "f64", "protocol total = lamport", 2, ofCluster},
        // Packets of two rows, and rows of the grid.
        Case{5, 1101, 2, "bf16", "protocol total = ll", 3, ofGrid},
        Case{5, 1101, 3, "f32", "protocol total = lamport", 3, ofGrid},
        Case{2, 32770, 2, "f16", "protocol total = lamport", 3, ofGrid},
        Case{7, 1100, 2, "bf16",
             "algorithm total = synth(\"ring(2)\", latency)", 3, ofGrid},
        Case{83, 9, 3, "f32", "algorithm total = ring", 2, ofGrid},
        // What is combined lies in slots.
        Case{7, 1100, 3, "bf16", "protocol total = push", 3, ofPush},
        Case{83, 9, 4, "f16", "protocol total = push", 2, ofPush},
        Case{1, 5, 3, "f64", "protocol total = push", 1, ofPush},
        Case{9, 7, 1, "f32", "protocol total = ll", 2, ofBlock}));

} // namespace ccn::test
