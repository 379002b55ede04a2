//===- WholeProductsTest.cpp - Products whose warps have roles ------------===//
//
// What CUDA's compiler makes of products by all tiles, of all types and orders
// of operands, and with loops after them: no registers are spilled, and the
// compiler follows what kernels say about registers and products.
//
//===----------------------------------------------------------------------===//

#include "lib/Target/Target.h"
#include "runtime/cuda/Compiler.h"
#include "test/unit/Cuda/EmulatedKernels.h"

#include "gtest/gtest.h"

using namespace ccn::runtime;

namespace ccn::test {

namespace {

/// A product and what is done with it: "a" and "b" are its operands, "p" the
/// product, "v" a vector and "r" a matrix.
struct Product {
  const char *element;
  int m, n, k;
  const char *a, *b, *loop, *tile;

  friend void PrintTo(const Product &p, std::ostream *os) {
    *os << p.m << " x " << p.n << " x " << p.k << " " << p.element << ", "
        << p.loop;
  }
};

class WholeProducts : public testing::TestWithParam<Product> {
protected:
  void SetUp() override {
    if (Result<std::string> version = compilerVersion(); !version)
      GTEST_SKIP() << version.message();
  }
};

/// The shape of an operand that is used as `use` says, "a" or "transpose(a)".
std::string shapeOf(llvm::StringRef use, const char *rows,
                    const char *columns) {
  bool isTransposed = use.starts_with("transpose");
  return std::string("[") + (isTransposed ? columns : rows) + ", " +
         (isTransposed ? rows : columns) + "]";
}

std::string textOf(const Product &p) {
  std::string element = p.element;
  return "mesh d (rank = 1)\nparam M = " + std::to_string(p.m) +
         "\nparam N = " + std::to_string(p.n) +
         "\nparam K = " + std::to_string(p.k) + "\nprogram f(a: " + element +
         shapeOf(p.a, "M", "K") + ", b: " + element + shapeOf(p.b, "K", "N") +
         ", v: " + element + "[N], r: " + element +
         "[M, N]) {\n  let p = " + "matmul(" + p.a + ", " + p.b +
         ")\n  let y = " + p.loop +
         "\n  return y\n}\nschedule s for f {\n  fuse p, y\n}\n";
}

} // namespace

TEST_P(WholeProducts, FitTheGpu) {
  const Product &product = GetParam();
  PlanCompiler compiler;
  GpuProgram program = emitFor(compiler, textOf(product),
                               {.phase = Phase::Plan, .schedule = "s"});
  ASSERT_EQ(program.launches.size(), 1U);
  ASSERT_EQ(program.launches.front().size(), 1U);
  const GpuLaunch &launch = program.launches.front().front();
  ASSERT_EQ(launch.preferred.size(), 1U);
  std::string source = program.textFor(KernelTransport::Peers);
  EXPECT_NE(source.find(std::string("WarpTile<") + product.element + ", " +
                        product.tile),
            std::string::npos)
      << source.substr(source.find("\nusing A_"));
  const GpuKernel &kernel =
      program.kernels[static_cast<size_t>(launch.preferred.front().kernel)];

  std::string_view architecture = "sm_90a";
  std::string ptx;
  Result<CompiledKernels> compiled = compileKernels(source, architecture, &ptx);
  ASSERT_TRUE(compiled) << compiled.message();
  // With it the compiler would ignore what warps say of registers.
  EXPECT_EQ(ptx.find("trap;"), std::string::npos);
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
  EXPECT_EQ(found->stackBytes, 0);
  // Tiles begin at multiples of 1024 bytes from the beginning of shared memory.
  EXPECT_EQ(found->sharedBytes, 0);
  EXPECT_LE(kernel.sharedBytes, gpuArchs[1].sharedBytes);
  EXPECT_LE(found->registers * kernel.threads, 65536);
}

// Large tiles by which nothing is left over go by turns; others where they
// leave fewer multiprocessors idle.
INSTANTIATE_TEST_SUITE_P(
    All, WholeProducts,
    testing::Values(
        Product{"bf16", 4096, 4096, 2048, "a", "transpose(b)",
                "gelu(p + v) + r", "128, 128, 6, 2, true, false, false>"},
        Product{"f16", 4096, 4096, 2048, "a", "b", "silu(p) * r",
                "128, 128, 6, 2, true, false, true>"},
        Product{"bf16", 4096, 4096, 2048, "transpose(a)", "b", "relu(p)",
                "128, 128, 6, 2, true, true, true>"},
        Product{"f16", 128, 16384, 512, "a", "transpose(b)", "tanh(p + v)",
                "128, 128, 6, 2, true, false, false>"},
        // Long sums.
        Product{"bf16", 4096, 4096, 4096, "a", "transpose(b)",
                "gelu(p + v) + r", "128, 256, 4, 2, false, false, false>"},
        Product{"f16", 4096, 4096, 8192, "transpose(a)", "b", "gelu(p + v)",
                "128, 256, 4, 2, false, true, true>"},
        Product{"bf16", 32768, 128, 4096, "a", "b", "gelu(p + v)",
                "256, 128, 4, 2, false, false, true>"},
        Product{"f8e4m3", 4096, 4096, 2048, "a", "transpose(b)", "p + r",
                "128, 128, 6, 2, true, false, false>"},
        Product{"bf16", 64, 8192, 8192, "a", "b", "gelu(p + v)",
                "64, 64, 12, 1, false, false, true>"},
        Product{"f16", 1024, 768, 520, "transpose(a)", "b", "cast(p, f32)",
                "64, 128, 8, 1, false, true, true>"},
        Product{"f8e5m2", 1000, 1000, 512, "a", "transpose(b)", "cast(p, f16)",
                "64, 128, 8, 1, false, false, false>"},
        // Rows of the result are not aligned.
        Product{"bf16", 4095, 4101, 4096, "a", "transpose(b)", "p + v",
                "128, 128, 6, 2, true, false, false>"}),
    [](const auto &info) {
      return std::string(info.param.element) + "_" + std::to_string(info.index);
    });

// Copies, products and threads in other orders each time: more stages than the
// ring has, and fewer; several tiles of a block; and what is left over.
TEST(EmulatedWholeProducts, HaveTheSameBits) {
  for (const Product &p :
       {Product{"bf16", 70, 72, 1080, "a", "b", "gelu(p + v) + r", ""},
        Product{"f16", 200, 77, 968, "transpose(a)", "transpose(b)", "p * v",
                ""},
        Product{"f8e4m3", 130, 80, 2064, "a", "transpose(b)", "cast(p, f32)",
                ""}}) {
    SCOPED_TRACE(testing::PrintToString(p));
    ComparedTeam compared;
    ASSERT_TRUE(compared.create(textOf(p), "s", 2));
    ASSERT_EQ(compared.team().prefer(), 1);
    for (uint64_t seed : {1, 2, 3, 4})
      ASSERT_TRUE(compared.run(seed));
  }
}

} // namespace ccn::test
