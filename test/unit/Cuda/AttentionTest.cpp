//===- AttentionTest.cpp - Attention whose warps have roles ---------------===//
//
// What CUDA's compiler makes of attention of all sizes of heads and all kinds
// of scores: no registers are spilled, and the compiler follows what kernels
// say about registers and products. And what kernels compute on the emulator,
// beside the interpreter.
//
//===----------------------------------------------------------------------===//

#include "lib/Target/Target.h"
#include "runtime/cuda/Compiler.h"
#include "test/unit/Cuda/EmulatedKernels.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace ccn::runtime;

namespace ccn::test {

namespace {

/// y = softmax(scores) v: rows, keys, the width of rows of q and k, and of v.
/// `scores` are of the product s, a mask m of all heads, a bias bias and a
/// number factor; heads are in two dimensions, of which all in the second may
/// share keys.
struct Attention {
  const char *name, *element;
  int batches, heads, rows, keys, head, width;
  bool isShared;
  const char *scores, *result, *printed;

  friend void PrintTo(const Attention &a, std::ostream *os) { *os << a.name; }
  /// With scores and weights in f32, or as elements are.
  std::string text(bool isWide = false) const;
};

std::string Attention::text(bool isWide) const {
  std::string e = element, names = "s, p, o";
  if (std::string_view(scores) != "s")
    names += ", w";
  if (std::string_view(result) != "o")
    names += ", y";
  auto wide = [&](const std::string &value) {
    return isWide ? "cast(" + value + ", f32)" : value;
  };
  std::string text = "mesh d (rank = 1)\n";
  for (auto [param, value] : {std::pair("B", batches),
                              {"H", heads},
                              {"T", rows},
                              {"S", keys},
                              {"D", head},
                              {"E", width}})
    text +=
        std::string("param ") + param + " = " + std::to_string(value) + "\n";
  std::string own = isShared ? "[B, S, " : "[B, H, S, ";
  text += "program f(q: " + e + "[B, H, T, D], k: " + e + own + "D], v: " + e +
          own + "E], m: bool[T, S], b: " + e + "[H, T, S], c: " + e +
          ", r: " + e + "[B, H, T, E]) {\n";
  for (auto [name, argument, size] :
       {std::tuple("kk", "k", "D"), {"vv", "v", "E"}})
    text += std::string("  let ") + name + " = " +
            wide(isShared ? std::string("broadcast_to(reshape(") + argument +
                                ", [B, 1, S, " + size + "]), [B, H, S, " +
                                size + "])"
                          : argument) +
            "\n";
  text += "  let factor = " + wide("c") + "\n  let bias = " + wide("b") +
          "\n  let s = matmul(" + wide("q") +
          ", transpose(kk, [0, 1, 3, 2]))\n  let w = " + scores +
          "\n  let p = softmax(w, 3)\n  let o = ";
  text += isWide ? "cast(matmul(p, vv), " + e + ")" : "matmul(p, vv)";
  text += std::string("\n  let y = ") + result + "\n  return y\n}\n";
  if (!isWide)
    text += "schedule s for f {\n  fuse " + names + "\n}\n";
  return text;
}

constexpr const char causal[] =
    "select(iota(s, 3) <= iota(s, 2), s * 0.125, -1e30)",
                     causalNone[] = "select(iota(s, 3) <= iota(s, 2) - 10, s * "
                                    "0.125, -3e38)",
                     window[] = "select(iota(s, 3) <= iota(s, 2), select(iota(s"
                                ", 2) - iota(s, 3) < 40, s / 8, -60000), "
                                "-60000)",
                     masked[] = "select(broadcast_to(reshape(m, [1, 1, T, S]), "
                                "[B, H, T, S]), s * factor, -1e4)",
                     biased[] = "s * 0.125 + broadcast_to(reshape(bias, [1, H, "
                                "T, S]), [B, H, T, S])";

class AttentionKernels : public testing::TestWithParam<Attention> {};

} // namespace

TEST_P(AttentionKernels, FitTheGpu) {
  if (Result<std::string> version = compilerVersion(); !version)
    GTEST_SKIP() << version.message();
  PlanCompiler compiler;
  GpuProgram program = emitFor(compiler, GetParam().text(),
                               {.phase = Phase::Plan, .schedule = "s"});
  ASSERT_EQ(program.launches.front().size(), 1U);
  const GpuLaunch &launch = program.launches.front().front();
  ASSERT_EQ(launch.preferred.size(), 1U);
  std::string source = program.textFor(KernelTransport::Peers);
  const GpuKernel &kernel =
      program.kernels[static_cast<size_t>(launch.preferred.front().kernel)];
  std::string ptx;
  Result<CompiledKernels> compiled = compileKernels(source, "sm_90a", &ptx);
  ASSERT_TRUE(compiled) << compiled.message();
  // With it the compiler would ignore what warps say of registers.
  EXPECT_EQ(ptx.find("trap;"), std::string::npos);
  EXPECT_EQ(compiled->log.find("C75"), std::string::npos) << compiled->log;
  std::vector<KernelResources> all = kernelResources(*compiled);
  auto found = llvm::find_if(all, [&](const KernelResources &resources) {
    return resources.name == kernel.name;
  });
  ASSERT_NE(found, all.end()) << compiled->log;
  EXPECT_EQ(found->spillStores, 0);
  EXPECT_EQ(found->spillLoads, 0);
  EXPECT_EQ(found->stackBytes, 0);
  EXPECT_EQ(found->sharedBytes, 0);
  EXPECT_LE(kernel.sharedBytes, gpuArchs[1].sharedBytes);
  EXPECT_LE(found->registers * kernel.threads, 65536);
}

TEST_P(AttentionKernels, ComputeWhatTheInterpreterDoes) {
  const Attention &attention = GetParam();
  ComparedTeam compared;
  ASSERT_TRUE(compared.create(attention.text(), "s", 2));
  std::string kernels = printedKernels(compared.plans());
  EXPECT_NE(kernels.find(attention.printed), std::string::npos) << kernels;
  ASSERT_EQ(compared.team().prefer(), 1);
  // Weights are rounded before they are divided by their sum.
  double limit = std::string_view(attention.element) == "f16" ? 2e-3 : 1.6e-2;
  for (auto [seed, values] : {std::pair(1, verify::ValueSet::Signed),
                              {2, verify::ValueSet::Ties},
                              {3, verify::ValueSet::Positive},
                              {4, verify::ValueSet::Zero},
                              {5, verify::ValueSet::Tiny},
                              {6, verify::ValueSet::Special}})
    ASSERT_TRUE(compared.runNear(attention.text(/*isWide=*/true),
                                 static_cast<uint64_t>(seed), values, limit));
}

INSTANTIATE_TEST_SUITE_P(
    All, AttentionKernels,
    testing::Values(
        Attention{"Plain", "bf16", 1, 2, 200, 200, 64, 64, false, "s", "o",
                  "attention(2x200x200x64x64) tile(128x128) stages(4) "
                  "scale(1) group(1)"},
        Attention{
            "Scaled", "f16", 2, 3, 130, 300, 128, 128, false, "s * 0.09375",
            "o", "attention(6x130x300x128x128) tile(128x128) stages(2) scale("},
        Attention{"Causal", "bf16", 1, 3, 300, 300, 64, 64, false, causal, "o",
                  "scale(0.125) if(0 + 1 * row + -1 * key) group(3)"},
        Attention{"CausalOfLargeHeads", "bf16", 1, 2, 260, 260, 256, 256, false,
                  causal, "o",
                  "attention(2x260x260x256x256) tile(128x64) stages(2)"},
        Attention{"RowsWithoutKeys", "bf16", 1, 2, 270, 150, 128, 128, false,
                  causalNone, "o", "if(-10 + 1 * row + -1 * key)"},
        Attention{"Window", "bf16", 2, 1, 300, 290, 80, 72, false, window, "o",
                  "if(0 + 1 * row + -1 * key) if(39 + -1 * row + 1 * key)"},
        Attention{"Masked", "f16", 2, 2, 77, 90, 64, 128, false, masked, "o",
                  "loads(2)"},
        Attention{"Biased", "bf16", 2, 2, 77, 91, 96, 64, false, biased, "o",
                  "loads(1)"},
        Attention{"SharedKeys", "bf16", 2, 3, 140, 200, 64, 64, true, causal,
                  "o", "attention(6x140x200x64x64)"},
        Attention{"OneRow", "f16", 2, 2, 1, 300, 64, 64, false, "s * 0.125",
                  "o", "attention(4x1x300x64x64)"},
        Attention{"OneKey", "bf16", 1, 2, 5, 1, 128, 128, false, "s", "o",
                  "attention(2x5x1x128x128)"},
        Attention{"Small", "bf16", 1, 1, 3, 5, 8, 8, false, "s", "o",
                  "attention(3x5x8x8) tile(128x128) stages(4) scale(1) group"},
        Attention{"LoopsAfter", "f16", 2, 2, 150, 130, 192, 192, false,
                  "s * 0.0625", "relu(o) + r",
                  "attention(4x150x130x192x192) tile(128x64)"},
        Attention{"StoredInAnotherOrder", "bf16", 2, 3, 150, 130, 64, 64, false,
                  "s * 0.0625", "transpose(o, [0, 2, 1, 3])",
                  "attention(6x150x130x64x64)"},
        Attention{"StoredByRows", "bf16", 2, 3, 150, 130, 64, 64, false,
                  "s * 0.0625",
                  "reshape(transpose(o, [2, 0, 1, 3]), [T, B, H * E])",
                  "attention(6x150x130x64x64)"}),
    [](const auto &info) { return std::string(info.param.name); });

// Ranks that have slices of rows, of which conditions depend on where they
// begin, or of heads; the last ones have fewer, or none.
TEST(AttentionOfRanks, ComputesSlices) {
  auto textOf = [](int ranks, const char *rows, const char *keys, bool isWide) {
    auto wide = [&](const char *value) {
      return isWide ? "cast(" + std::string(value) + ", f32)" : value;
    };
    std::string text =
        "mesh d (rank = " + std::to_string(ranks) +
        ")\nprogram f(q: bf16[5, 190, 64] " + rows + ", k: bf16[5, 170, 64] " +
        keys + ", v: bf16[5, 170, 64] " + keys + ") {\n  let s = matmul(" +
        wide("q") + ", transpose(" + wide("k") +
        ", [0, 2, 1])) * 0.125\n  let w = select(iota(s, 2) <= iota(s, 1) - 3, "
        "s, -1e30)\n  let p = softmax(w, 2)\n  let o = ";
    text += isWide ? "cast(matmul(p, cast(v, f32)), bf16)" : "matmul(p, v)";
    text += "\n  return o\n}\n";
    if (!isWide)
      text += "schedule s for f {\n  fuse s, w, p, o\n}\n";
    return text;
  };
  for (int ranks : {2, 3, 4, 8})
    for (auto [rows, keys] :
         {std::pair("sliced(1)", ""), {"sliced(0)", "sliced(0)"}}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, q is " + rows);
      ComparedTeam compared;
      ASSERT_TRUE(compared.create(textOf(ranks, rows, keys, false), "s", 2));
      int heads = 5, ofRank = (heads + ranks - 1) / ranks,
          withSome = *keys ? (heads + ofRank - 1) / ofRank : ranks;
      ASSERT_EQ(compared.team().prefer(), withSome);
      ASSERT_TRUE(compared.runNear(textOf(ranks, rows, keys, true), 1,
                                   verify::ValueSet::Signed, 1.6e-2));
    }
}

} // namespace ccn::test
