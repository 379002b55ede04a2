//===- ShapesTest.cpp - Small sizes of a program --------------------------===//
//
// The sizes that are found are of many kinds, fit the budget, and keep what a
// program and its schedule need.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Shapes.h"
#include "TestUtil.h"

using namespace ccn;
using namespace ccn::verify;

namespace {

class ShapesTest : public VerifyTest {
protected:
  /// Each size as text; what went wrong is in `messages`.
  std::vector<std::string> find(const std::string &text, Budget budget = {},
                                const std::string &schedule = {}) {
    sources.emplace_back("test.ccn", withMesh(text));
    CompileOptions options;
    options.lower.schedule = schedule;
    Diagnostics diagnostics;
    auto sizes =
        findSizes(sources.back(), &context, options, budget, diagnostics);
    messages.clear();
    llvm::raw_string_ostream os(messages);
    diagnostics.renderText(os);
    std::vector<std::string> texts;
    if (mlir::failed(sizes))
      return {"failed"};
    for (const SizedProgram &size : *sizes) {
      EXPECT_TRUE(size.before && size.after);
      texts.push_back(size.str());
    }
    return texts;
  }

  std::string messages;
};

using Texts = std::vector<std::string>;

const char *const free2 = "mesh m (r = 4)\nparam N = 1048576\nparam M = 1000\n"
                          "program p(x: f32[N, M] local) {\n"
                          "  let y = all_reduce(sum, x)\n  return y }\n";

TEST_F(ShapesTest, ManyKinds) {
  EXPECT_EQ(find(free2),
            (Texts{"N = 5, M = 3", "N = 1, M = 1", "N = 9, M = 6",
                   "N = 3, M = 3", "N = 4, M = 8", "N = 0, M = 0"}));
}

TEST_F(ShapesTest, OwnSizesIfSmall) {
  EXPECT_EQ(find("mesh m (r = 2)\nparam N = 1003\n"
                 "program p(x: f32[N]) { let y = x\n return y }")
                .back(),
            "N = 1003");
}

TEST_F(ShapesTest, NoParams) {
  EXPECT_EQ(find("program p(x: f32[6]) { let y = x\n return y }"), Texts{""});
  // Nothing says what else it could be.
  EXPECT_EQ(find("mesh m (r = 2)\n"
                 "program p(x: f32[r * 50000000]) { let y = x\n return y }"),
            Texts());
}

// Where the program is too large they shrink like params, with all that has the
// same number; not where it is small.
TEST_F(ShapesTest, SizesThatAreNumbers) {
  EXPECT_EQ(find("program p(x: f32[100000000], y: f32[100000000]) {\n"
                 "  let z = x + y\n return z }"),
            (Texts{"100000000 = 5", "100000000 = 1", "100000000 = 2",
                   "100000000 = 0"}));
  // Beside params, which alone make it small enough only where there is
  // nothing.
  Texts texts =
      find("param N = 7\nprogram p(x: f32[N, 40000000]) {\n"
           "  let y = reshape(slice(x, 1, 0, 20000000), [N, 20000000])"
           "\n return y }");
  ASSERT_GT(texts.size(), 1u);
  EXPECT_EQ(texts[0], "N = 0");
  for (const std::string &text : llvm::drop_begin(texts))
    EXPECT_NE(text.find(", 40000000 = "), std::string::npos) << text;
}

TEST_F(ShapesTest, RelationBetweenParams) {
  // Only H = heads * D holds together.
  Texts texts = find("mesh m (r = 2)\nparam heads = 16\nparam D = 64\n"
                     "param H = 1024\nparam B = 4096\n"
                     "program p(x: f32[B, H]) {\n"
                     "  let y = reshape(x, [B, heads, D])\n  return y }");
  ASSERT_GE(texts.size(), 2u);
  // All ones, and all zeros, keep it too; what is shrunk from the own is small.
  EXPECT_EQ(texts[0], "heads = 1, D = 1, H = 1, B = 1");
  bool found = false;
  for (const std::string &text : texts)
    found |= text.find("B = 3") != std::string::npos;
  EXPECT_TRUE(found) << llvm::join(texts, "; ");
}

TEST_F(ShapesTest, DerivedParamsFollow) {
  EXPECT_EQ(find("param N = 64\nparam M = 4 * N\n"
                 "program p(x: f32[N, M]) { let y = x\n return y }")
                .front(),
            "N = 5");
}

TEST_F(ShapesTest, OnlyIntegersThatAreSizes) {
  EXPECT_EQ(find("param N = 64\nparam eps = 0.5\nparam yes = true\n"
                 "param minus = -1\n"
                 "program p(x: f32[N]) { let y = x * eps + minus\n return y }")
                .front(),
            "N = 5");
}

TEST_F(ShapesTest, Budget) {
  Budget budget;
  budget.elements = 300;
  budget.largestParam = 5;
  budget.sizes = 2;
  Texts texts = find(free2, budget);
  EXPECT_EQ(texts, (Texts{"N = 5, M = 3", "N = 1, M = 1"}));
  budget.elements = 100;
  EXPECT_EQ(find(free2, budget), (Texts{"N = 1, M = 1", "N = 3, M = 3"}));
  budget.elements = 3;
  budget.sizes = 1;
  EXPECT_EQ(find(free2, budget), Texts{"N = 0, M = 0"});
}

TEST_F(ShapesTest, WorkCountsProducts) {
  Budget budget;
  budget.work = 2000;
  Texts texts = find("param N = 100\n"
                     "program p(x: f32[N, N]) { let y = matmul(x, x)\n"
                     "return y }",
                     budget);
  EXPECT_EQ(texts.front(), "N = 5");
  for (const std::string &text : texts)
    EXPECT_NE(text, "N = 100");
}

TEST_F(ShapesTest, RefusedSizesArePassedOver) {
  // Broadcasts of size 1 vanish.
  Texts texts = find("mesh m (r = 2)\nparam N = 64\n"
                     "program p(x: f32[N] local) {\n"
                     "  let y = all_reduce(sum, x)\n"
                     "  let z = concat([slice(y, 0, 0, N), y], 0)\n"
                     "  let w = exp(y)\n  return w, z }\n"
                     "schedule s for p {\n  let (rs, ag) = split y\n"
                     "  let (c, g) = reorder ag after w\n}\n",
                     {}, "s");
  EXPECT_FALSE(texts.empty()) << messages;
}

} // namespace
