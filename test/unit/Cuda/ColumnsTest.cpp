//===- ColumnsTest.cpp - Sums along other than rows, on the CPU -----------===//
//
// Kernels that reduce a dimension that is not contiguous, executed and compared
// with the interpreter: of values that no order rounds, as the orders differ.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Cuda/ComparedTeam.h"
#include "test/unit/Cuda/CompiledPlan.h"
#include "test/unit/Cuda/PlanBuilder.h"
#include "test/unit/Cuda/PrintedPlan.h"
#include "test/unit/Plan/PlanUtil.h"

using namespace ccn;
using namespace ccn::test;
using runtime::ElementType;

namespace {

/// Runs a program, of which so many loops are to be by columns and the blocks
/// share out the sums of so many, and compares. Without a name of a schedule
/// each operation is a kernel.
void check(const std::string &text, int blocks, int64_t loops, int64_t shared,
           const std::string &schedule = "",
           verify::ValueSet values = verify::ValueSet::Ties) {
  SCOPED_TRACE(text + std::to_string(blocks) + " blocks");
  ComparedTeam compared;
  ASSERT_TRUE(compared.create(text, schedule, blocks));
  std::string kernels = printedKernels(compared.plans());
  EXPECT_EQ(findAll(kernels, "( lanes\\(\\d+\\) tiles\\()").size(),
            size_t(loops))
      << kernels;
  EXPECT_EQ(findAll(kernels, "( shares\\()").size(), size_t(shared)) << kernels;
  // Again, as memory has something in it then, and where ranks do not access
  // each other's.
  for (uint64_t seed : {1, 2, 3}) {
    if (seed == 3)
      ASSERT_TRUE(compared.team().sendMessages().ok());
    ASSERT_TRUE(compared.run(seed, values));
  }
}

const char mesh[] = "mesh m (d = 1)\n";

std::string shapeOf(std::initializer_list<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text + "]";
}

/// All reductions of one dimension of `x`.
std::string allReductions(ElementType type, const std::string &shape, int dim) {
  std::string text = mesh, returned, name(runtime::name(type));
  text += "program f(x: " + name + shape + ") {\n";
  auto add = [&](const char *kind) {
    text += std::string("  let ") + kind[0] + kind[1] + "0 = " + kind +
            "(x, [" + std::to_string(dim) + "])\n";
    returned += (returned.empty() ? "" : ", ") + std::string(kind, 2) + "0";
  };
  add("max");
  add("min");
  if (type != ElementType::Bool) {
    add("sum");
    add("prod");
  }
  if (runtime::isFloat(type))
    add("mean");
  return text + "  return " + returned + "\n}\n";
}

int64_t reductionsOf(ElementType type) {
  return type == ElementType::Bool ? 2 : runtime::isFloat(type) ? 5 : 4;
}

class ColumnsOf : public testing::TestWithParam<ElementType> {};

// A block has all of a sum, or none.
TEST_P(ColumnsOf, Reduce) {
  ElementType type = GetParam();
  int64_t count = reductionsOf(type);
  // Vectors of 16 bytes, and of one element.
  check(allReductions(type, shapeOf({260, 64}), 0), 3, count, 0);
  check(allReductions(type, shapeOf({4001, 33}), 0), 5, count, count);
}

// Of NaN, infinities and zeros the largest and the least do not depend on the
// order.
TEST_P(ColumnsOf, ReduceSpecialValues) {
  std::string type(runtime::name(GetParam()));
  if (!runtime::isFloat(GetParam()))
    return;
  check(std::string(mesh) + "program f(x: " + type +
            "[4001, 33]) {\n  let a = max(x, [0])\n  let b = min(x, [0])\n  "
            "return "
            "a, b\n}\n",
        4, 2, 2, "", verify::ValueSet::Special);
}

INSTANTIATE_TEST_SUITE_P(All, ColumnsOf,
                         testing::ValuesIn(runtime::allElementTypes),
                         [](const auto &info) {
                           return std::string(runtime::name(info.param));
                         });

TEST(Columns, AreOfAnySizes) {
  struct Shape {
    int64_t before, reduced, after;
    const char *element;
    int blocks;
    bool isShared;
  };
  for (const Shape &s :
       {Shape{1, 5, 2000, "f32", 3, false}, Shape{1, 5, 2001, "bf16", 2, false},
        Shape{1, 2, 8190, "f16", 2, false}, Shape{1, 9, 1000, "f64", 7, false},
        Shape{1, 1001, 33, "f32", 3, false}, Shape{1, 1201, 7, "f64", 3, false},
        Shape{1, 30011, 7, "f32", 4, true}, Shape{1, 100000, 2, "f16", 4, true},
        Shape{1, 8001, 24, "bf16", 7, true}, Shape{1, 4001, 40, "f32", 1, true},
        // Several rows of columns, of which vectors are parts or tiles are.
        Shape{3, 1001, 10, "f32", 3, false}, Shape{2, 5, 1000, "f16", 2, false},
        Shape{2, 7, 1001, "f32", 4, false}, Shape{65, 130, 3, "bf16", 4, false},
        Shape{2, 9001, 12, "f32", 7, true},
        Shape{1003, 9, 2, "f32", 3, false}}) {
    std::string type = s.element;
    int64_t dim = s.before > 1;
    check(std::string(mesh) + "program f(x: " + type +
              (dim ? shapeOf({s.before, s.reduced, s.after})
                   : shapeOf({s.reduced, s.after})) +
              ") {\n  let s = sum(x, " + std::to_string(dim) +
              ")\n  return s\n}\n",
          s.blocks, 1, s.isShared);
  }
}

// What is reduced, or kept, is not contiguous with itself; rows may be aligned
// or not.
TEST(Columns, AreOfSlices) {
  for (int first : {0, 1, 4})
    for (const char *element : {"f32", "bf16"})
      check(std::string(mesh) + "program f(x: " + element +
                "[100, 60, 40], y: " + element +
                "[70000]) {\n"
                "  let a = sum(slice(x, 1, 3, 50), 0)\n"
                "  let b = sum(slice(x, 2, " +
                std::to_string(first) + ", " + std::to_string(first + 32) +
                "), 1)\n"
                "  let c = sum(reshape(slice(y, 0, " +
                std::to_string(first) + ", " + std::to_string(first + 64000) +
                "), [1000, 64]), 0)\n"
                "  return a, b, c\n}\n",
            3, 3, 0);
}

// What is summed up is computed, of operands that are the same for all results,
// or for all that is summed up, and of positions.
TEST(Columns, AreOfComputedValues) {
  for (const char *rows : {"300", "9000"})
    check(std::string(mesh) + "param R = " + rows +
              "\n"
              "program f(x: bf16[R, 40], y: f32[R, 40], w: f32[40], "
              "v: f32[R], s: f32) {\n"
              "  let p = cast(x, f32) * y + broadcast_to(reshape(v, [R, 1]), "
              "[R, 40]) * w + s\n"
              "  let a = sum(p, 0)\n"
              "  let q = dropout(y, 0.5, 7)\n"
              "  let b = sum(q, 0)\n"
              "  return a, b\n"
              "}\n"
              "schedule fused for f {\n"
              "  fuse p, a\n"
              "  fuse q, b\n"
              "}\n",
          4, 2, *rows == '9' ? 2 : 0, "fused");
}

// Loops of one kernel: sums of what was made before, of which others are made,
// which take the place of what they are made of.
TEST(Columns, AreAmongOtherParts) {
  for (const char *rows : {"1500", "5000"}) {
    int64_t shared = *rows == '5' ? 2 : 0;
    check(std::string(mesh) + "param R = " + rows +
              "\n"
              "program f(x: f32[R, 48], inout w: f32[48]) {\n"
              "  let p = x * x - x\n"
              "  let a = sum(p, 0)\n"
              "  let b = max(p, [0])\n"
              "  w <- w + a - b\n"
              "  let y = p - broadcast_to(w, [R, 48])\n"
              "  return y, a\n"
              "}\n"
              "schedule fused for f {\n"
              "  fuse p, a, b, w, y\n"
              "}\n",
          3, 2, shared, "fused");
  }
}

// What several loops need is computed by each, from the same operands: nothing
// as large is written but the result. The same as softmax, but for values that
// no order rounds.
TEST(Columns, ComputeAgainWhatOthersCompute) {
  struct Shape {
    const char *shape, *reduced;
    int dim;
  };
  for (const Shape &s :
       {Shape{"[700, 104]", "[1, 104]", 0}, Shape{"[6001, 33]", "[1, 33]", 0},
        Shape{"[3, 500, 56]", "[3, 1, 56]", 1}}) {
    std::string shape = s.shape, dim = std::to_string(s.dim),
                one = std::string(s.reduced) + "), " + shape + ")\n",
                text = std::string(mesh) + "program f(x: bf16" + shape +
                       ") {\n"
                       "  let p = cast(x, f32)\n"
                       "  let top = max(p, [" +
                       dim + "])\n  let q = p - broadcast_to(reshape(top, " +
                       one + "  let s = sum(q * q, " + dim +
                       ")\n  let y = q + broadcast_to(reshape(s, " + one +
                       "  return y\n}\n"
                       "schedule fused for f {\n"
                       "  fuse p, top, q, s, y\n}\n";
    check(text, 3, 2, shape == "[6001, 33]" ? 2 : 0, "fused");
    PlanCompiler compiler;
    std::string kernels = printedKernels(
        compiler, text, {.phase = Phase::Plan, .schedule = "fused"});
    EXPECT_EQ(findAll(kernels, "( fetched\\()").size(), 3u) << kernels;
  }
}

// A row is taken by threads where what is reduced is contiguous, where there is
// little of it, and where neighbours are not neighbours in all operands.
TEST(Columns, AreNotOfRows) {
  for (const char *text :
       {"program f(x: f32[300, 500]) {\n  let p = x * x\n  let s = sum(p, 1)",
        "program f(x: f32[100, 50]) {\n  let p = x * x\n  let s = sum(p, 0)",
        "program f(x: f32[300, 500], y: f32[500, 300]) {\n"
        "  let p = x + transpose(y)\n  let s = sum(p, 0)"}) {
    PlanCompiler compiler;
    std::string kernels = printedKernels(
        compiler,
        std::string(mesh) + text +
            "\n  return s\n}\nschedule fused for f {\n  fuse p, s\n}\n",
        {.phase = Phase::Plan, .schedule = "fused"});
    EXPECT_FALSE(has(kernels, " columns")) << kernels;
  }
}

// Ranks sum up what they have, and then what all have; and the other way round.
TEST(Columns, AreBesideExchanges) {
  struct Choice {
    const char *text;
    /// Of both ranks, or one of each.
    int64_t kernels;
  };
  for (const Choice &choice :
       {Choice{"protocol t = ll", 1}, Choice{"algorithm t = ring", 1},
        Choice{"algorithm t = two_shot", 2}})
    check("mesh m (d = 2)\n"
          "program f(x: f32[6000, 40] local) {\n"
          "  let s = sum(x, 0)\n"
          "  let t = all_reduce(sum, s)\n"
          "  let y = t * 2\n"
          "  return y\n"
          "}\n"
          "schedule fused for f {\n"
          "  fuse s, t, y\n  " +
              std::string(choice.text) + "\n}\n",
          3, choice.kernels, choice.kernels, "fused");
}

// In chunks: two of what each rank sums up, and of each two of the ring.
TEST(Columns, AreOfChunks) {
  check("mesh m (d = 2)\n"
        "program f(x: f32[3000, 160] local) {\n"
        "  let s = sum(x, 0)\n"
        "  let t = reduce_scatter(sum, s, 0)\n"
        "  return t\n"
        "}\n"
        "schedule fused for f {\n"
        "  overlap s, t chunks 2\n}\n",
        3, 4, 4, "fused");
}

// Rows that blocks have exchanged are theirs, and so are those of a pipeline.
TEST(Columns, AreOfRowsThatBlocksHave) {
  check("mesh m (d = 2)\n"
        "program f(x: f32[8, 64, 64] local) {\n"
        "  let t = all_reduce(sum, x)\n"
        "  let s = sum(t, 1)\n"
        "  return s\n"
        "}\n"
        "schedule fused for f {\n"
        "  fuse t, s\n  protocol t = lamport\n}\n",
        3, 0, 0, "fused");
}

} // namespace
