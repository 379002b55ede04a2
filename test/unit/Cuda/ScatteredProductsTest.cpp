//===- ScatteredProductsTest.cpp - Products of which ranks have slices ----===//
//
// Kernels that multiply, store other ranks' slices in their memory and combine
// the own one: what CUDA's compiler makes of them, and their results on
// emulated ranks beside the interpreter's, in many orders, with ranks that are
// late, and with operands for which there is no tensor map.
//
//===----------------------------------------------------------------------===//

#include "lib/Target/Target.h"
#include "runtime/cuda/Compiler.h"
#include "test/unit/Cuda/ComparedTeam.h"
#include "test/unit/Cuda/EmulatedKernels.h"

#include "gtest/gtest.h"

using namespace ccn::runtime;

namespace ccn::test {

namespace {

/// A product of m x n x k in all, "p" of operands "a" and "b", of which each
/// rank has some positions k, and what is done with the slice "y" of each; "v"
/// is a vector and "r" a matrix of which ranks have slices, too.
struct Product {
  const char *element;
  int ranks, m, n, k;
  const char *a, *b, *loop, *tile = "";

  friend void PrintTo(const Product &p, std::ostream *os) {
    *os << p.ranks << " ranks, " << p.m << " x " << p.n << " x " << p.k << " "
        << p.element << ", " << p.loop;
  }
};

/// An operand's type: its shape as it is used, which says where k is.
std::string typeOf(const Product &p, llvm::StringRef use, int rows, int columns,
                   int k) {
  if (use.starts_with("transpose")) {
    std::swap(rows, columns);
    k = 1 - k;
  }
  return std::string(p.element) + "[" + std::to_string(rows) + ", " +
         std::to_string(columns) + "] sliced(" + std::to_string(k) + ")";
}

std::string textOf(const Product &p) {
  std::string element = p.element;
  std::string result = element + "[" + std::to_string(p.m) + ", " +
                       std::to_string(p.n) + "] sliced(0)";
  bool isPlain = llvm::StringRef(p.loop) == "y";
  return "mesh d (tp = " + std::to_string(p.ranks) +
         ")\nprogram f(a: " + typeOf(p, p.a, p.m, p.k, 1) +
         ", b: " + typeOf(p, p.b, p.k, p.n, 0) + ", v: " + element + "[" +
         std::to_string(p.n) + "], r: " + result + ") {\n  let p = matmul(" +
         p.a + ", " + p.b + ")\n  let y = reduce_scatter(sum, p, 0)\n" +
         (isPlain ? "  return y"
                  : std::string("  let z = ") + p.loop + "\n  return z") +
         "\n}\nschedule s for f {\n  fuse p, y" + (isPlain ? "" : ", z") +
         "\n}\n";
}

class ScatteredProducts : public testing::TestWithParam<Product> {
protected:
  void SetUp() override {
    if (Result<std::string> version = compilerVersion(); !version)
      GTEST_SKIP() << version.message();
  }
};

std::string nameOf(const testing::TestParamInfo<Product> &info) {
  return std::string(info.param.element) + "_" + std::to_string(info.index);
}

} // namespace

TEST_P(ScatteredProducts, FitTheGpu) {
  const Product &product = GetParam();
  PlanCompiler compiler;
  GpuProgram program = emitFor(compiler, textOf(product),
                               {.phase = Phase::Plan, .schedule = "s"});
  for (const std::vector<GpuLaunch> &launches : program.launches) {
    ASSERT_EQ(launches.size(), 1U);
    ASSERT_EQ(launches.front().preferred.size(), 1U);
  }
  std::string source = program.textFor(KernelTransport::Peers);
  EXPECT_NE(source.find(std::string("WarpTile<") + product.element + ", " +
                        product.tile),
            std::string::npos)
      << source.substr(source.find("\nusing A_"));
  // Kernels of ranks that send messages have none of this.
  EXPECT_EQ(program.textFor(KernelTransport::Messages).find("Scatter<"),
            std::string::npos);
  const GpuKernel &kernel = program.kernels[static_cast<size_t>(
      program.launches.front().front().preferred.front().kernel)];
  std::string ptx;
  Result<CompiledKernels> compiled = compileKernels(source, "sm_90a", &ptx);
  ASSERT_TRUE(compiled) << compiled.message();
  size_t at = ptx.find(".entry " + kernel.name);
  ASSERT_NE(at, ptx.npos);
  // With it the compiler would ignore what warps say of registers.
  EXPECT_EQ(ptx.substr(at, ptx.find(".entry", at + 1) - at).find("trap;"),
            std::string::npos);
  // "Potential performance loss": registers that a warp gives up or takes are
  // ignored, or products wait for each other.
  EXPECT_EQ(compiled->log.find("C75"), std::string::npos) << compiled->log;
  std::vector<KernelResources> all = kernelResources(*compiled);
  auto found = llvm::find_if(all, [&](const KernelResources &resources) {
    return resources.name == kernel.name;
  });
  ASSERT_NE(found, all.end()) << compiled->log;
  EXPECT_EQ(found->spillStores, 0);
  EXPECT_EQ(found->spillLoads, 0);
  // The members of the group, to which threads tell that they are done.
  EXPECT_LE(found->stackBytes, 4 * product.ranks + 8);
  EXPECT_EQ(found->sharedBytes, 0);
  EXPECT_LE(kernel.sharedBytes, gpuArchs[1].sharedBytes);
  EXPECT_LE(found->registers * kernel.threads, 65536);
}

INSTANTIATE_TEST_SUITE_P(
    All, ScatteredProducts,
    testing::Values(
        Product{"bf16", 4, 8192, 8192, 8192, "a", "b", "gelu(y + v) + r",
                "128, 128, 6, 2, true, false, true>"},
        Product{"f16", 2, 8192, 8192, 4096, "transpose(a)", "transpose(b)",
                "silu(y) * r", "128, 128, 6, 2, true, true, false>"},
        Product{"bf16", 8, 8192, 8192, 57344, "a", "transpose(b)",
                "gelu(y + v) + r", "128, 256, 4, 2, false, false, false>"},
        Product{"f16", 3, 98304, 128, 24576, "a", "b", "gelu(y + v) + r",
                "256, 128, 4, 2, false, false, true>"},
        Product{"bf16", 16, 8192, 8192, 16384, "a", "b", "gelu(y + v) + r",
                "128, 128, 6, 2, true, false, true>"},
        Product{"f8e4m3", 4, 8192, 8192, 8192, "a", "transpose(b)", "y + r",
                "128, 128, 6, 2, true, false, false>"},
        Product{"bf16", 8, 64, 1024, 8192, "a", "b", "y + r",
                "64, 64, 12, 1, false, false, true>"},
        Product{"f16", 4, 512, 768, 2048, "transpose(a)", "b", "cast(y, f32)",
                "64, 64, 12, 1, false, true, true>"},
        // Rows of the result are not aligned.
        Product{"bf16", 4, 8192, 8197, 32768, "a", "transpose(b)", "y + v",
                "128, 128, 6, 2, true, false, false>"}),
    nameOf);

namespace {
class EmulatedScatteredProducts : public testing::TestWithParam<Product> {};
} // namespace

// Several tiles of a block, and blocks without; slices that are smaller than
// others, or empty; several runs, which the same slots serve.
TEST_P(EmulatedScatteredProducts, HaveTheSameBits) {
  const Product &product = GetParam();
  ComparedTeam compared;
  ASSERT_TRUE(compared.create(textOf(product), "s", product.ranks > 4 ? 1 : 2));
  ASSERT_EQ(compared.team().prefer(), product.ranks);
  for (uint64_t seed : {1, 2, 3}) {
    compared.team().makeLate(static_cast<int>(seed) % product.ranks);
    ASSERT_TRUE(compared.run(seed));
  }
}

// Threads copy operands that have no map, on some ranks.
TEST_P(EmulatedScatteredProducts, HaveTheSameBitsWithoutMaps) {
  const Product &product = GetParam();
  ComparedTeam compared;
  ASSERT_TRUE(compared.create(textOf(product), "s", product.ranks > 4 ? 1 : 2));
  ASSERT_EQ(compared.team().prefer(), product.ranks);
  ASSERT_EQ(compared.team()
                .replace("bool areMapped = a.isMapped() && b.isMapped();",
                         "bool areMapped = c.rank == 0;")
                .message(),
            "");
  ASSERT_TRUE(compared.run(1));
}

INSTANTIATE_TEST_SUITE_P(
    All, EmulatedScatteredProducts,
    testing::Values(
        Product{"bf16", 2, 200, 72, 272, "a", "b", "gelu(y + v) + r"},
        Product{"f16", 3, 192, 77, 192, "transpose(a)", "transpose(b)",
                "y * v"},
        Product{"f8e4m3", 4, 130, 80, 256, "a", "transpose(b)", "cast(y, f32)"},
        Product{"f8e5m2", 2, 200, 200, 160, "a", "transpose(b)", "y"},
        // The last slice is empty.
        Product{"bf16", 4, 9, 136, 96, "a", "b", "relu(y + v)"},
        Product{"bf16", 8, 72, 64, 256, "a", "b", "y + r"}),
    nameOf);

} // namespace ccn::test
