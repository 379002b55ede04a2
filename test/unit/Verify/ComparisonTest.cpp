//===- ComparisonTest.cpp - Programs that compute the same ----------------===//
//
// Pairs of programs that are equal but for the order of their sums: each must
// be taken for the same, within a bound that says something.
//
//===----------------------------------------------------------------------===//

#include "TestUtil.h"

using namespace ccn;
using namespace ccn::verify;

namespace {

class ComparisonTest : public VerifyTest {
protected:
  /// Both agree, not in every bit, and every output could be compared.
  void expectWithinBound(const std::string &before, const std::string &after) {
    EXPECT_EQ(compare(before, after), "");
    EXPECT_FALSE(agreement.sameBits);
    EXPECT_EQ(agreement.findUncompared(), "");
    EXPECT_LE(agreement.wide.difference, agreement.wide.bound);
    EXPECT_LE(agreement.native.difference, agreement.native.bound);
  }
  void expectSameBits(const std::string &before, const std::string &after) {
    EXPECT_EQ(compare(before, after), "");
    EXPECT_TRUE(agreement.sameBits);
    EXPECT_EQ(agreement.str(), "same bits");
    EXPECT_GT(agreement.runs, 0);
  }
};

const std::string mesh = "mesh m (r = 4)\n";

TEST_F(ComparisonTest, SameProgram) {
  const std::string text = mesh + "program p(x: f32[7, 3] local) {\n"
                                  "  let y = softmax(all_reduce(sum, x), 1)\n"
                                  "  return y\n}\n";
  expectSameBits(text, text);
  EXPECT_EQ(agreement.runs, 9);
}

TEST_F(ComparisonTest, SlicesAndGathersKeepEveryBit) {
  expectSameBits(
      mesh + "program p(x: f32[7] local) { let y = exp(all_reduce(sum, x))\n"
             "  return y }",
      mesh + "program p(x: f32[7] local) {\n"
             "  let y = all_gather(exp(reduce_scatter(sum, x, 0)))\n"
             "  return y }");
}

TEST_F(ComparisonTest, OrderOfASum) {
  expectWithinBound(
      mesh + "program p(x: f32[50, 30]) { let y = sum(x)\n return y }",
      mesh + "program p(x: f32[50, 30]) { let y = sum(sum(x, 0), 0)\n"
             "  return y }");
  EXPECT_EQ(agreement.terms.count, 1500);
  EXPECT_NE(agreement.str().find("from reductions of 1500 terms in f32"),
            std::string::npos)
      << agreement.str();
}

TEST_F(ComparisonTest, OrderOfRanks) {
  const std::string head =
      mesh + "program p(x: f32[9] local, z: f32[9] local) {\n";
  expectWithinBound(
      head + "let y = all_reduce(sum, x) + all_reduce(sum, z)\n return y }",
      head + "let y = all_reduce(sum, x + z)\n return y }");
}

TEST_F(ComparisonTest, SumsOfManyTypes) {
  for (const char *type : {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2"}) {
    SCOPED_TRACE(type);
    std::string head = mesh + "program p(x: " + type +
                       "[9, 13] sliced(1), w: " + type + "[13, 6]) {\n";
    EXPECT_EQ(
        compare(head + "let y = matmul(all_gather(x), w)\n return y }",
                head + "let y = all_reduce(sum, matmul(x, w))\n return y }"),
        "");
    EXPECT_EQ(agreement.findUncompared(), "");
  }
}

TEST_F(ComparisonTest, IntegersAreExact) {
  for (const char *type : {"i8", "u16", "i64", "u64"}) {
    std::string head = mesh + "program p(x: " + type + "[9] local, z: " + type +
                       "[9] local) {\n";
    expectSameBits(
        head + "let y = all_reduce(sum, x) + all_reduce(sum, z)\n return y }",
        head + "let y = all_reduce(sum, x + z)\n return y }");
  }
}

/// What follows a sum carries its error on, by every kind of operation.
TEST_F(ComparisonTest, ErrorsCarryOn) {
  std::vector<std::string> expressions = {
      "s * s - s",
      "s / (s * s + 2)",
      "x / s",
      "pow(abs(s) + 1, 1.5)",
      "pow(s, 2.0)",
      "pow(s, 3.0)",
      "min(s, x)",
      "max(s, 0.5)",
      "s % 2.0",
      "select(s > x, s, x)",
      "select(s > 0, x, 2)",
      "dropout(s, 0.3, 7)",
      "cast(cast(s, i32), f32)",
      "cast(s > 0, f32)",
      "cast(cast(s, f16), f32)",
      "softmax(s, 1)",
      "norm(s)",
      "layer_norm(s, v, v, 1e-5)",
      "rms_norm(s, v, 1e-5)",
      "mean(s, 0)",
      "prod(s, 1)",
      "max(s, [1])",
      "transpose(s)",
      "reshape(s, [15])",
      "concat([s, x], 0)",
      "slice(s, 0, 1, 4)",
      "broadcast_to(s, [2, 5, 3])",
      "gather_rows(s, i)",
      "scatter_rows(s, i, x)",
      "matmul(s, transpose(s))",
      "conv2d(reshape(s, [1, 1, 5, 3]), reshape(x, [1, 1, 5, 3]), 1, 2)",
      "all_gather(slice(s, 0, r))",
      "all_gather(all_to_all(slice(s, 0, r), 0 -> 1, r))",
  };
  for (const ElementwiseFunction *function : elementwiseFunctions())
    if (function->numOperands == 1)
      expressions.push_back(std::string(function->name) +
                            (function->domain == Domain::All ? "(s)"
                             : function->domain == Domain::NotNegative
                                 ? "(s * s)"
                                 : "(s * s + 1)"));
  for (const std::string &expression : expressions) {
    SCOPED_TRACE(expression);
    auto program = [&](const char *sum) {
      return mesh +
             "program p(g: f32[7, 5, 3], x: f32[5, 3], v: f32[3], i: i32[5]) "
             "{\n  let s = " +
             sum + "\n  let y = " + expression + "\n  return y }";
    };
    // The terms, which f64 rounds too, in another order.
    EXPECT_EQ(compare(program("sum(g * g * g, 0)"),
                      program("sum(slice(g * g * g, 0, 3, 7), 0) + "
                              "sum(slice(g * g * g, 0, 0, 3), 0)")),
              "");
    EXPECT_EQ(agreement.findUncompared(), "");
  }
}

/// Collectives of bounds: on slices, local and partial tensors.
TEST_F(ComparisonTest, ErrorsTravel) {
  const char *expressions[] = {
      "all_reduce(sum, s)",
      "all_reduce(max, s)",
      "all_reduce(prod, s)",
      "reduce_scatter(sum, s, 0)",
      "broadcast(s, 1)",
      "reduce(sum, s, 1)",
      "scatter(s, 2, 0)",
      "send(s, r, +1)",
      "gather(scatter(s, 2, 1), 0)",
      "norm(scatter(s, 1, 0))",
      "softmax(scatter(s, 1, 0), 0)",
      "s * 2 + s",
      "all_reduce(sum, matmul(scatter(s, 0, 1), transpose(scatter(s, 0, 1))))",
      "mean(scatter(s, 0, 0), 0) * 2 ",
      "reshard(scatter(s, 0, 0), sliced(1))",
      "reshard(mean(scatter(s, 0, 0), 0), sliced(0))",
  };
  for (const char *expression : expressions) {
    SCOPED_TRACE(expression);
    auto program = [&](const char *sum) {
      return mesh + "program p(g: f16[7, 5, 3] local) {\n  let s = " + sum +
             "\n  let y = " + expression + "\n  return y }";
    };
    EXPECT_EQ(compare(program("sum(g * g * g, 0)"),
                      program("sum(slice(g * g * g, 0, 3, 7), 0) + "
                              "sum(slice(g * g * g, 0, 0, 3), 0)")),
              "");
    EXPECT_EQ(agreement.findUncompared(), "");
  }
}

/// What rounding may change by any amount is not compared, and counted.
TEST_F(ComparisonTest, WithoutABound) {
  const std::string head = "program p(x: f32[64, 64]) {\n";
  EXPECT_EQ(compare(head + "let y = sum(x) % 1e-7\n return y }",
                    head + "let y = sum(sum(x, 0), 0) % 1e-7\n return y }"),
            "");
  EXPECT_FALSE(agreement.sameBits);
  EXPECT_GT(agreement.outputs["y"].unbounded, 0);
  EXPECT_NE(agreement.str().find("elements have no bound"), std::string::npos)
      << agreement.str();
}

TEST(AgreementTest, FindUncompared) {
  Agreement total, one;
  one.outputs["a"] = {3, 2};
  one.outputs["b"] = {0, 4};
  total.merge(one);
  EXPECT_EQ(total.findUncompared(), "b");
  one.outputs["b"] = {1, 3};
  total.merge(one);
  EXPECT_EQ(total.findUncompared(), "");
}

TEST(AgreementTest, SaysHowEqual) {
  mlir::MLIRContext context;
  Agreement agreement;
  EXPECT_EQ(agreement.str(), "same bits");
  agreement.sameBits = false;
  agreement.terms = {5, mlir::Float32Type::get(&context)};
  agreement.native = {1.5e-7, 2e-6};
  agreement.wide = {1e-16, 4e-15};
  EXPECT_EQ(agreement.str(),
            "within 1.50e-07 (bound 2.00e-06), in f64 within 1.00e-16 (bound "
            "4.00e-15), from reductions of 5 terms in f32");
  agreement.wide = {};
  EXPECT_EQ(agreement.str(), "within 1.50e-07 (bound 2.00e-06), in f64 no "
                             "difference, from reductions of 5 terms in f32");
}

TEST(AgreementTest, KeepsTheClosestToItsBound) {
  Agreement total, one;
  one.sameBits = false;
  one.native = {1e-3, 1};
  total.merge(one);
  one.native = {1e-6, 1e-5};
  total.merge(one);
  one.native = {0, 1e-9};
  total.merge(one);
  EXPECT_EQ(total.native.bound, 1e-5);
  EXPECT_FALSE(total.sameBits);
}

TEST_F(ComparisonTest, InoutArgumentsAndSlicedState) {
  expectSameBits(mesh + "program p(g: f32[6] local, inout m: f32[6]) {\n"
                        "  m <- 0.9 * m + all_reduce(sum, g)\n}",
                 mesh +
                     "program p(g: f32[6] local, inout m: f32[6] sliced(0)) {\n"
                     "  m <- 0.9 * m + reduce_scatter(sum, g, 0)\n}");
}

TEST_F(ComparisonTest, FailingAlikeIsNoMismatch) {
  const std::string text =
      mesh + "program p(x: i32[3]) { let y = x / (x - x)\n return y }";
  EXPECT_EQ(compare(text, text), "");
  EXPECT_EQ(agreement.runs, 0);
}

TEST_F(ComparisonTest, MilderIntegersWhereAnyFail) {
  const std::string text = mesh +
                           "program p(x: i32[3], y: u8[3]) { let z = 7 / x\n"
                           "  let w = x % cast(y, i32)\n return z, w }";
  expectSameBits(text, text);
  EXPECT_EQ(agreement.runs, 8);
}

TEST_F(ComparisonTest, IndicesLieInTheirTable) {
  const std::string text =
      mesh + "program p(t: f32[3, 2], i: i64[4] sliced(0)) {\n"
             "  let y = gather_rows(t, all_gather(i))\n return y }";
  expectSameBits(text, text);
  EXPECT_EQ(agreement.runs, 9);
}

TEST_F(ComparisonTest, ReductionsOfNothing) {
  for (const char *kind : {"sum", "max", "prod", "mean", "min"}) {
    std::string head = mesh + "program p(x: f32[0, 3] sliced(0)) {\n";
    std::string tail = std::string(kind == std::string("mean") ? "sum" : kind);
    expectSameBits(head + "let y = all_reduce(" + tail + ", " + kind +
                       "(x, [0]))\n return y }",
                   head + "let y = " + kind +
                       "(all_gather(x), [0])\n return y }");
  }
}

} // namespace
