//===- ErrorBoundTest.cpp - Bounds hold and are tight ---------------------===//
//
// The bound of a value against its true error, for which the value in f64
// stands: it must hold for every element, and be of the right size.
//
//===----------------------------------------------------------------------===//

#include "TestUtil.h"

using namespace ccn;
using namespace ccn::verify;

namespace {

class ErrorBoundTest : public VerifyTest {
protected:
  /// The value in f64, the bound and what the program itself gives, of its one
  /// result.
  struct Result {
    runtime::HostTensor value, bound, native;
  };

  Result compute(const std::string &text, ValueSet set,
                 Arithmetic arithmetic = Arithmetic::Native) {
    ProgramOp program = parse(text);
    if (!program)
      std::abort();
    auto bounds = makeBoundProgram(program, arithmetic);
    EXPECT_TRUE(mlir::succeeded(bounds));
    EXPECT_FALSE(bounds->exact[0]);
    auto inputs = drawInputs(program, set, Integers::Any, 3);
    ProgramOp bound = onlyProgram(*bounds->module);
    auto outputs = interp::run(bound, bound.getMesh(), *toF64(*inputs), {});
    auto module = cloneInF64(program);
    ProgramOp inF64 = onlyProgram(*module);
    auto wide = interp::run(inF64, inF64.getMesh(), *toF64(*inputs), {});
    auto native = interp::run(program, program.getMesh(), *inputs, {});
    EXPECT_TRUE(mlir::succeeded(outputs) && mlir::succeeded(wide) &&
                mlir::succeeded(native));
    return {(*wide)[0].tensor, (*outputs)[0].tensor, (*native)[0].tensor};
  }

  /// The bound holds, for every element, and is at most `slack` times the
  /// largest error; so many elements have none.
  void expectHolds(const Result &result, double slack, int64_t unknown = 0) {
    double error = 0, bound = 0;
    for (int64_t i = 0; i < result.value.count(); ++i) {
      double e = result.bound.doubleAt(i);
      if (!std::isfinite(e)) {
        --unknown;
        continue;
      }
      double off =
          std::fabs(result.value.doubleAt(i) - result.native.doubleAt(i));
      EXPECT_LE(off, e);
      error = std::max(error, off);
      bound = std::max(bound, e);
    }
    EXPECT_EQ(unknown, 0);
    EXPECT_LE(bound, slack * error);
  }
};

TEST_F(ErrorBoundTest, SumOfHalves) {
  expectHolds(compute("program p(x: f16[20, 50]) { let y = sum(x, 1)\n"
                      "return y }",
                      ValueSet::Signed),
              50);
}

/// The sum is 0, its terms are not.
TEST_F(ErrorBoundTest, Cancellation) {
  Result result = compute("program p(x: f32[64]) {\n"
                          "  let y = sum(concat([x, -x], 0)) + 0\n"
                          "  return y }",
                          ValueSet::Signed);
  EXPECT_LT(std::fabs(result.value.doubleAt(0)), 1e-12);
  EXPECT_GT(result.bound.doubleAt(0), 1e-5);
  EXPECT_LT(result.bound.doubleAt(0), 1e-2);
}

TEST_F(ErrorBoundTest, Softmax) {
  expectHolds(compute("mesh m (r = 3)\nprogram p(x: f16[7, 11] sliced(1)) {\n"
                      "  let y = softmax(x, 1)\n return y }",
                      ValueSet::Signed),
              30);
}

TEST_F(ErrorBoundTest, MatmulThenNorm) {
  expectHolds(compute("mesh m (r = 2)\nprogram p(a: bf16[5, 8] sliced(1),\n"
                      "  b: bf16[8, 6] sliced(0), g: bf16[6]) {\n"
                      "  let y = rms_norm(all_reduce(sum, matmul(a, b)), g,\n"
                      "    1e-6)\n return y }",
                      ValueSet::Signed),
              1000);
}

TEST_F(ErrorBoundTest, InF64) {
  Result result =
      compute("program p(x: f32[30]) { let y = sum(exp(x)) / norm(x)\n"
              "return y }",
              ValueSet::Positive, Arithmetic::Wide);
  EXPECT_GT(result.bound.doubleAt(0), 0);
  EXPECT_LT(result.bound.doubleAt(0), 1e-12 * result.value.doubleAt(0));
}

/// Whatever some order overflows is unknown; in f64 it is not.
TEST_F(ErrorBoundTest, Overflow) {
  const std::string text = "program p(x: f16[8]) { let y = sum(x)\nreturn y }";
  EXPECT_FALSE(std::isfinite(compute(text, ValueSet::Huge).bound.doubleAt(0)));
  EXPECT_TRUE(std::isfinite(
      compute(text, ValueSet::Huge, Arithmetic::Wide).bound.doubleAt(0)));
}

/// A mean is small where its sum overflows, which that of 16-bit floats does in
/// f32.
TEST_F(ErrorBoundTest, OverflowOfMeans) {
  for (auto [element, isKnown] :
       {std::pair("f32", false), std::pair("bf16", false),
        std::pair("f16", true)}) {
    std::string text = std::string("program p(x: ") + element +
                       "[8]) { let y = mean(x)\nreturn y }";
    double bound = compute(text, ValueSet::Huge).bound.doubleAt(0);
    EXPECT_EQ(std::isfinite(bound), isKnown) << element;
  }
}

/// A quotient by what may be 0, a comparison that may tip over.
TEST_F(ErrorBoundTest, Unknown) {
  Result result = compute("program p(x: f32[9]) {\n"
                          "  let zero = sum(concat([x, -x], 0))\n"
                          "  let y = 1 / zero\n  return y }",
                          ValueSet::Signed);
  EXPECT_FALSE(std::isfinite(result.bound.doubleAt(0)));
  result = compute("program p(x: f32[9]) {\n"
                   "  let zero = sum(concat([x, -x], 0))\n"
                   "  let y = zero > 0\n  return y }",
                   ValueSet::Signed);
  EXPECT_FALSE(std::isfinite(result.bound.doubleAt(0)));
  result = compute("program p(x: f32[9]) {\n"
                   "  let y = sum(x * x) > 1e-3\n  return y }",
                   ValueSet::Signed);
  EXPECT_EQ(result.bound.doubleAt(0), 0);
}

TEST_F(ErrorBoundTest, MovementAndExtremesAreExact) {
  ProgramOp program =
      parse("mesh m (r = 2)\nprogram p(x: f32[4, 6] local, i: i32[5]) {\n"
            "  let a = max(transpose(all_reduce(max, x)), 0)\n"
            "  let b = sum(i) * 3\n"
            "  let c = -a\n"
            "  let d = cast(a, f64)\n"
            "  let e = a + a\n"
            "  return a, b, c, d, e }");
  auto bounds = makeBoundProgram(program, Arithmetic::Native);
  ASSERT_TRUE(mlir::succeeded(bounds));
  EXPECT_EQ(bounds->exact, (std::vector<bool>{true, true, true, true, false}));
}

TEST_F(ErrorBoundTest, LongestReduction) {
  Terms terms = longestReduction(
      parse("mesh m (r = 2)\nprogram p(x: f16[4, 6], i: i32[900]) {\n"
            "  let a = sum(x)\n  let b = matmul(x, transpose(x))\n"
            "  let c = sum(i)\n  return a, b, c }"));
  EXPECT_EQ(terms.count, 24);
  EXPECT_EQ(elementTypeName(terms.element), "f16");
}

} // namespace
