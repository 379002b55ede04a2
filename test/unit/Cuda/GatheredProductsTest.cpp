//===- GatheredProductsTest.cpp - Products of what ranks gather -----------===//
//
// Gathers and products as one kernel: on emulated ranks, whose results have the
// interpreter's bits, and by CUDA's compiler, which spills nothing.
//
//===----------------------------------------------------------------------===//

#include "lib/Target/Target.h"
#include "runtime/cuda/Compiler.h"
#include "test/unit/Cuda/EmulatedKernels.h"

#include "gtest/gtest.h"

using namespace ccn::runtime;

namespace ccn::test {

namespace {

/// What is gathered, and what becomes of it: rows of `x` or columns of `w`,
/// which is [N, K] or [K, N].
enum class Form { Rows, KeptRows, Columns, TransposedColumns };

struct Gather {
  Form form;
  int ranks;
  const char *element;
  int m, n, k;
  const char *loop = "p";

  friend void PrintTo(const Gather &g, std::ostream *os) {
    *os << "form " << static_cast<int>(g.form) << " on " << g.ranks
        << " ranks, " << g.m << " x " << g.n << " x " << g.k << " " << g.element
        << ", " << g.loop;
  }
};

std::string textOf(const Gather &g) {
  std::string text = meshOf(g.ranks, {{"M", g.m}, {"N", g.n}, {"K", g.k}}),
              type = g.element;
  bool isOfRows = g.form == Form::Rows || g.form == Form::KeptRows,
       isTransposed = g.form == Form::TransposedColumns;
  std::string w = isTransposed ? "[K, N]" : "[N, K]",
              of = isTransposed ? "w" : "transpose(w)";
  text += "program f(x: " + type + "[M, K]" + (isOfRows ? " sliced(0)" : "") +
          ", w: " + type + w +
          (isOfRows       ? ""
           : isTransposed ? " sliced(1)"
                          : " sliced(0)") +
          ", v: " + type + "[N], r: " + type + "[M, N]) {\n";
  if (isOfRows)
    text += "  let g = all_gather(x)\n  let p = matmul(g, " + of + ")\n";
  else
    text += "  let g = all_gather(w)\n  let p = matmul(x, " +
            std::string(isTransposed ? "g" : "transpose(g)") + ")\n";
  bool hasLoop = std::string(g.loop) != "p";
  std::string y = hasLoop ? "y" : "p";
  if (hasLoop)
    text += std::string("  let y = ") + g.loop + "\n";
  text += "  return " + y + (g.form == Form::KeptRows ? ", g" : "") +
          "\n}\nschedule fused for f {\n  fuse g, p" + (hasLoop ? ", y" : "") +
          "\n}\n";
  return text;
}

class GatheredProducts : public testing::TestWithParam<Gather> {};

} // namespace

// Copies, products and threads in other orders each time. First some ranks run
// the launch's other kernel, which waits in the same way, then none does.
TEST_P(GatheredProducts, HaveTheSameBits) {
  const Gather &gather = GetParam();
  ComparedTeam compared;
  ASSERT_TRUE(compared.create(textOf(gather), "fused", 2));
  CudaTeam &team = compared.team();
  ASSERT_TRUE(compared.run(1));
  ASSERT_EQ(team.prefer(0), 1);
  ASSERT_TRUE(compared.run(2));
  ASSERT_EQ(team.prefer(), gather.ranks - 1);
  for (uint64_t seed : {3, 4, 5}) {
    ASSERT_TRUE(compared.run(seed));
    team.makeLate(gather.ranks - 1);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GatheredProducts,
    testing::Values(
        Gather{Form::Rows, 2, "bf16", 100, 80, 136, "gelu(p + v) + r"},
        // Rows of the result are not aligned; slices are not equally large.
        Gather{Form::Rows, 3, "f16", 130, 77, 200, "p * v"},
        Gather{Form::Rows, 4, "f8e4m3", 270, 72, 272, "cast(p, f32)"},
        Gather{Form::Rows, 8, "bf16", 150, 136, 72, "relu(p)"},
        // The last rank has no rows.
        Gather{Form::Rows, 4, "bf16", 5, 70, 64, "p + v"},
        Gather{Form::KeptRows, 2, "f16", 67, 64, 80, "p + v"},
        Gather{Form::KeptRows, 4, "bf16", 140, 72, 72, "p"},
        Gather{Form::Columns, 2, "bf16", 70, 150, 136, "gelu(p + v) + r"},
        Gather{Form::Columns, 3, "f8e5m2", 66, 97, 144, "cast(p, f32)"},
        Gather{Form::Columns, 4, "f16", 70, 5, 64, "p * v"},
        Gather{Form::TransposedColumns, 2, "bf16", 70, 272, 72, "p + v"},
        Gather{Form::TransposedColumns, 4, "f16", 64, 320, 136, "relu(p)"}),
    [](const auto &info) {
      return "of" + std::to_string(info.param.ranks) + "_" +
             std::to_string(info.index);
    });

namespace {

/// What prefers no such kernel, and why not.
struct Other {
  const char *why, *program, *schedule;
};

class OtherGathers : public testing::TestWithParam<Other> {};

} // namespace

TEST_P(OtherGathers, GoByOtherKernels) {
  ComparedTeam compared;
  ASSERT_TRUE(compared.create(
      std::string("mesh m (d = 2)\nprogram f(") + GetParam().program +
          "}\nschedule fused for f {\n  " + GetParam().schedule + "\n}\n",
      "fused", 2));
  EXPECT_EQ(compared.team().prefer(), 0);
  EXPECT_TRUE(compared.run(1));
}

INSTANTIATE_TEST_SUITE_P(
    All, OtherGathers,
    testing::Values(
        Other{"rows_that_are_not_aligned",
              "x: bf16[40, 35] sliced(0), w: bf16[64, 35]) {\n  let g = "
              "all_gather(x)\n  let p = matmul(g, transpose(w))\n  return p\n",
              "fuse g, p"},
        Other{"a_type_without_tensor_cores",
              "x: f32[40, 32] sliced(0), w: f32[64, 32]) {\n  let g = "
              "all_gather(x)\n  let p = matmul(g, transpose(w))\n  return p\n",
              "fuse g, p"},
        Other{"loops_that_read_what_is_gathered",
              "x: bf16[40, 64] sliced(0), w: bf16[64, 64]) {\n  let g = "
              "all_gather(x)\n  let p = matmul(g, transpose(w)) + g\n  return "
              "p\n",
              "fuse g, p"},
        Other{"other_loops",
              "x: bf16[40, 64] sliced(0), w: bf16[64, 64]) {\n  let g = "
              "all_gather(x)\n  let p = matmul(g, transpose(w))\n  let q = g * "
              "g\n  return p, q\n",
              "fuse g, p, q"}),
    [](const auto &info) { return std::string(info.param.why); });

// A rank that misses another one ends, and says so.
TEST(GatheredProduct, EndsWithoutTheOthers) {
  ComparedTeam compared;
  ASSERT_TRUE(compared.create(
      textOf({Form::Rows, 2, "bf16", 100, 80, 136, "relu(p)"}), "fused", 2));
  ASSERT_EQ(compared.team().prefer(), 2);
  ASSERT_TRUE(compared.run(1));
  Status status = compared.team().runAlone(0);
  EXPECT_EQ(status.message(), "launch 0: fault 1 of rank 1");
}

namespace {

class CompiledGathers : public testing::TestWithParam<Gather> {
protected:
  void SetUp() override {
    if (Result<std::string> version = compilerVersion(); !version)
      GTEST_SKIP() << version.message();
  }
};

} // namespace

TEST_P(CompiledGathers, FitTheGpu) {
  PlanCompiler compiler;
  GpuProgram program = emitFor(compiler, textOf(GetParam()),
                               {.phase = Phase::Plan, .schedule = "fused"});
  const GpuLaunch &launch = program.launches.front().front();
  ASSERT_EQ(launch.preferred.size(), 1U);
  const GpuKernel &kernel =
      program.kernels[static_cast<size_t>(launch.preferred.front().kernel)];
  std::string ptx;
  Result<CompiledKernels> compiled =
      compileKernels(program.textFor(KernelTransport::Peers), "sm_90a", &ptx);
  ASSERT_TRUE(compiled) << compiled.message();
  // See WholeProducts.FitTheGpu. Other kernels of the program may end threads.
  size_t begin = ptx.find(".entry " + kernel.name + "(");
  ASSERT_NE(begin, ptx.npos);
  std::string own = ptx.substr(begin, ptx.find("\n}", begin) - begin);
  EXPECT_EQ(own.find("trap;"), own.npos);
  EXPECT_EQ(own.find("exit;"), own.npos);
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

INSTANTIATE_TEST_SUITE_P(
    All, CompiledGathers,
    testing::Values(
        Gather{Form::Rows, 4, "bf16", 8192, 4096, 2048, "gelu(p + v) + r"},
        Gather{Form::Rows, 8, "bf16", 8192, 4096, 8192, "gelu(p + v)"},
        Gather{Form::Rows, 2, "f16", 256, 4096, 4096, "p"},
        Gather{Form::KeptRows, 4, "f8e4m3", 8192, 4096, 2048, "p + v"},
        Gather{Form::Columns, 4, "bf16", 4096, 8192, 4096, "silu(p) * r"},
        Gather{Form::TransposedColumns, 4, "f16", 4096, 8192, 2048, "p + v"}),
    [](const auto &info) { return "number_" + std::to_string(info.index); });

} // namespace ccn::test
