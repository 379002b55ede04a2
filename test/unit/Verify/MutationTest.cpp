//===- MutationTest.cpp - Programs that compute something else ------------===//
//
// What a wrong schedule could do, done by hand: each must be found, also where
// 16-bit rounding would hide it.
//
//===----------------------------------------------------------------------===//

#include "TestUtil.h"

using namespace ccn;
using namespace ccn::verify;

namespace {

struct Mutation {
  const char *name;
  const char *right, *wrong;
};

class MutationTest : public VerifyTest,
                     public testing::WithParamInterface<Mutation> {};

const char *const head =
    "mesh m (r = 4)\n"
    "program p(g: f16[9, 5] local, h: f32[9, 5] local, x: f32[9, 5],\n"
    "          inout s: f32[9, 5], part: f32[9, 5] sliced(0), seed: i64) {\n";

TEST_P(MutationTest, IsFound) {
  auto text = [](const char *body) { return std::string(head) + body + "}\n"; };
  EXPECT_EQ(compare(text(GetParam().right), text(GetParam().right)), "");
  std::string found = compare(text(GetParam().right), text(GetParam().wrong));
  EXPECT_NE(found, "");
  EXPECT_NE(found.find("element ["), std::string::npos) << found;
  EXPECT_NE(found.find(" on rank "), std::string::npos) << found;
}

const Mutation mutations[] = {
    {"MissingReduction", "let y = all_reduce(sum, h)\n return y",
     "let y = broadcast(h, 0)\n return y"},
    {"MissingReductionOf16Bits", "let y = all_reduce(sum, g)\n return y",
     "let y = broadcast(g, 0)\n return y"},
    {"OtherReduction", "let y = all_reduce(sum, h)\n return y",
     "let y = all_reduce(max, h)\n return y"},
    {"OtherRoot", "let y = broadcast(h, 0)\n return y",
     "let y = broadcast(h, 1)\n return y"},
    {"OtherShift", "let y = send(h, r, +1)\n return y",
     "let y = send(h, r, -1)\n return y"},
    {"MissingScale", "let y = all_reduce(sum, h) / r\n return y",
     "let y = all_reduce(sum, h)\n return y"},
    {"OtherScale", "let y = all_reduce(sum, h) / r\n return y",
     "let y = all_reduce(sum, h) / 5\n return y"},
    {"SlightlyOtherScale", "let y = all_reduce(sum, h) * 0.5\n return y",
     "let y = all_reduce(sum, h) * 0.5 * 1.0000001\n return y"},
    {"SlightlyOtherScaleOf16Bits",
     "let y = all_reduce(sum, g) * 0.5\n return y",
     "let y = all_reduce(sum, g) * 0.5005\n return y"},
    {"NormOfASlice", "let y = norm(part)\n return y",
     "let y = norm(slice(all_gather(part), 0, 0, 3))\n return y"},
    {"MeanOfASlice", "let y = mean(x, 0)\n return y",
     "let y = mean(slice(x, 0, 0, 8), 0)\n return y"},
    {"RowsShifted", "let y = x\n return y",
     "let y = concat([slice(x, 0, 1, 9), slice(x, 0, 0, 1)], 0)\n return y"},
    {"SlicesSwapped", "let y = slice(all_reduce(sum, h), 0, r)\n return y",
     "let y = slice(concat([slice(all_reduce(sum, h), 0, 3, 6), "
     "slice(all_reduce(sum, h), 0, 0, 3), slice(all_reduce(sum, h), 0, 6, "
     "9)], 0), 0, r)\n return y"},
    {"LastRowForgotten", "let y = all_reduce(sum, h)\n return y",
     "let y = concat([slice(all_reduce(sum, h), 0, 0, 8), slice(x, 0, 8, 9)], "
     "0)\n return y"},
    {"StoreForgotten", "s <- s + all_reduce(sum, h)", "let y = s"},
    {"StoreOfTheOldValue", "s <- s + x\n let y = s * 2\n return y",
     "let y = s * 2\n s <- s + x\n return y"},
    {"TwoStoresInOtherOrder", "s <- s + x\n s <- s * x",
     "s <- s * x\n s <- s + x"},
    {"OtherDropout", "let y = dropout(x, 0.5, seed)\n return y",
     "let y = dropout(x, 0.5, seed + 1)\n return y"},
    {"DropoutOfLocalIndices", "let y = dropout(x, 0.5, seed)\n return y",
     "let y = concat([dropout(slice(x, 0, 0, 4), 0.5, seed), "
     "dropout(slice(x, 0, 4, 9), 0.5, seed)], 0)\n return y"},
    {"IotaOfLocalIndices", "let y = x * cast(iota(x, 0), f32)\n return y",
     "let y = x * concat([cast(iota(slice(x, 0, 0, 4), 0), f32), "
     "cast(iota(slice(x, 0, 4, 9), 0), f32)], 0)\n return y"},
    {"SumBeforeANonlinearity", "let y = tanh(all_reduce(sum, h))\n return y",
     "let y = all_reduce(sum, tanh(h))\n return y"},
    {"TermTwice", "let y = all_reduce(sum, h)\n return y",
     "let y = all_reduce(sum, h) + broadcast(h, 3)\n return y"},
    {"Comparison", "let y = select(x > 0, x, s)\n return y",
     "let y = select(x >= 0, x, s)\n return y"},
    {"Truncation", "let y = cast(x, i32)\n return y",
     "let y = cast(x + 0.25, i32)\n return y"},
    {"NaNIgnored", "let y = max(x, s)\n return y",
     "let y = select(x > s, x, s)\n return y"},
    {"Epsilon", "let y = x / (sqrt(s * s) + 1e-8)\n return y",
     "let y = x / (sqrt(s * s) + 1e-6)\n return y"},
};

INSTANTIATE_TEST_SUITE_P(All, MutationTest, testing::ValuesIn(mutations),
                         [](const testing::TestParamInfo<Mutation> &info) {
                           return info.param.name;
                         });

class InterfaceTest : public VerifyTest {};

TEST_F(InterfaceTest, OtherResult) {
  EXPECT_EQ(compare("program p(x: f32[3]) { let y = x\n return y }",
                    "program p(x: f32[3]) { let z = x\n return z }"),
            "expected output 'y', found 'z'");
}

TEST_F(InterfaceTest, OtherNumberOfResults) {
  EXPECT_EQ(compare("program p(x: f32[3]) { let y = x\n return y }",
                    "program p(x: f32[3]) { let y = x\n let z = x\n"
                    "return y, z }"),
            "expected 1 outputs, found 2");
}

TEST_F(InterfaceTest, OtherShape) {
  EXPECT_EQ(compare("mesh m (r = 2)\nprogram p(x: f32[3] local) { let y = x\n"
                    "return y }",
                    "mesh m (r = 2)\nprogram p(x: f32[3]) { let y = x\n"
                    "return y }"),
            "expected argument 'x' of 'f32[3] local(r)', found 'f32[3]'");
}

TEST_F(InterfaceTest, OtherMesh) {
  EXPECT_EQ(compare("mesh m (r = 2)\nprogram p(x: f32[3]) { let y = x\n"
                    "return y }",
                    "mesh m (r = 3)\nprogram p(x: f32[3]) { let y = x\n"
                    "return y }"),
            "expected 2 ranks, found 3");
}

TEST_F(InterfaceTest, RunThatFails) {
  std::string found =
      compare("program p(x: i32[3]) { let y = x * 0 + 7\n return y }",
              "program p(x: i32[3]) { let y = 7 / (x * 0)\n return y }");
  EXPECT_NE(found.find("the run fails: test.ccn:2:"), std::string::npos)
      << found;
  EXPECT_NE(found.find("zero"), std::string::npos) << found;
}

} // namespace
