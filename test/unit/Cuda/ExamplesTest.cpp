//===- ExamplesTest.cpp - What examples need of a GPU ---------------------===//
//
// Every program of examples/ under each of its schedules, and under none, at
// the sizes that it has by itself, compiles for the oldest and the newest GPUs
// that kernels are for: without a warning, without registers that are spilled
// to memory, and with no more than a block may take; and so do norms after an
// all_reduce by packets, what is sent in chunks, and updates of lists of
// buffers. Their PTX keeps the rules of PtxReader.h. Prints what kernels take.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Verify/Examples.h"
#include "lib/Target/Target.h"
#include "runtime/cuda/Compiler.h"
#include "test/unit/Cuda/CompiledPlan.h"
#include "test/unit/Cuda/PrintedPlan.h"
#include "test/unit/Cuda/PtxReader.h"

#include <cstdio>
#include <fstream>

using namespace ccn::runtime;

namespace ccn {
static void PrintTo(const GpuArch &architecture, std::ostream *os) {
  *os << architecture.name;
}
} // namespace ccn

namespace ccn::test {

namespace {

constexpr int64_t registersOfMultiprocessor = 65536;

using Case = std::tuple<std::filesystem::path, GpuArch>;

class KernelsOfExamples : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    if (Result<std::string> version = compilerVersion(); !version)
      GTEST_SKIP() << version.message();
  }
};

void check(const GpuProgram &program, const std::string &schedule,
           const GpuArch &architecture,
           int64_t mostRegisters = registersOfMultiprocessor,
           KernelTransport transport = KernelTransport::Peers) {
  std::string ptx;
  Result<CompiledKernels> compiled =
      compileKernels(program.textFor(transport), architecture.name, &ptx);
  ASSERT_TRUE(compiled) << compiled.message();
  EXPECT_EQ(compiled->log.find("warning"), std::string::npos) << compiled->log;
  std::vector<KernelResources> all = kernelResources(*compiled);
  ASSERT_EQ(all.size(), program.kernels.size()) << compiled->log;
  std::vector<PtxKernel> read = readPtx(ptx);
  EXPECT_EQ(read.size(), program.kernels.size());
  for (const PtxKernel &kernel : read)
    for (const std::string &fault : kernel.faults)
      ADD_FAILURE() << fault;
  for (const GpuKernel &kernel : program.kernels) {
    auto found = llvm::find_if(all, [&](const KernelResources &resources) {
      return resources.name == kernel.name;
    });
    ASSERT_NE(found, all.end()) << kernel.name;
    std::printf("%-12s %-9s %5lld threads %4lld registers %7lld + %6lld bytes "
                "of shared memory%s\n",
                schedule.empty() ? "(none)" : schedule.c_str(),
                kernel.name.c_str(), static_cast<long long>(kernel.threads),
                static_cast<long long>(found->registers),
                static_cast<long long>(found->sharedBytes),
                static_cast<long long>(kernel.sharedBytes),
                kernel.waits ? ", waits" : "");
    // Where CUDA's compiler makes three blocks fit a multiprocessor, which the
    // kernel does not ask for, it may spill one register for that.
    bool fitsThree =
        3 * found->registers * kernel.threads <= registersOfMultiprocessor;
    int64_t mostSpilled = fitsThree ? 4 : 0;
    EXPECT_LE(found->spillStores, mostSpilled) << kernel.name;
    EXPECT_LE(found->spillLoads, mostSpilled) << kernel.name;
    // Those with tensor maps run on sm_90a only.
    if (kernel.tensorMaps == 0 || architecture.name == "sm_90a")
      EXPECT_LE(found->sharedBytes + kernel.sharedBytes,
                architecture.sharedBytes)
          << kernel.name;
    EXPECT_LE(found->registers * kernel.threads, registersOfMultiprocessor)
        << kernel.name;
    EXPECT_LE(found->registers, mostRegisters) << kernel.name;
  }
}

TEST_P(KernelsOfExamples, FitTheGpu) {
  verify::Example example(std::get<std::filesystem::path>(GetParam()));
  PlanCompiler compiler;
  for (const std::string &schedule : example.schedules) {
    SCOPED_TRACE("under '" + schedule + "'");
    check(emitFor(compiler, example.text,
                  {.phase = Phase::Plan, .schedule = schedule}),
          schedule, std::get<GpuArch>(GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, KernelsOfExamples,
    testing::Combine(testing::ValuesIn(verify::findExamples()),
                     testing::ValuesIn(gpuArchs)),
    [](const auto &info) {
      return std::get<std::filesystem::path>(info.param).stem().string() + "_" +
             std::string(std::get<GpuArch>(info.param).name);
    });

class KernelsOfNorms : public testing::TestWithParam<GpuArch> {
protected:
  void SetUp() override {
    if (Result<std::string> version = compilerVersion(); !version)
      GTEST_SKIP() << version.message();
  }
};

// The same by messages: an exchange by packets and one by rows, a pipeline, and
// a synthesized schedule.
TEST_P(KernelsOfNorms, ByMessagesFitTheGpu) {
  PlanCompiler compiler;
  struct Choice {
    const char *rows, *choice;
  };
  for (const Choice &c : {Choice{"64", "protocol total = ll"},
                          Choice{"2", "protocol total = lamport"},
                          Choice{"8192", "protocol total = push"},
                          Choice{"64", "algorithm total = ring"}}) {
    SCOPED_TRACE(c.choice);
    check(emitFor(compiler,
                  fusedNorm("4", c.rows, "8192",
                            std::string("  ") + c.choice + "\n"),
                  {.phase = Phase::Plan, .schedule = "fused"}),
          c.choice, GetParam(), registersOfMultiprocessor,
          KernelTransport::Messages);
  }
}

// All_reduces by packets, and what follows them in the same kernel.
TEST_P(KernelsOfNorms, FitTheGpu) {
  PlanCompiler compiler;
  for (const char *protocol : {"ll", "lamport"})
    for (const char *ranks : {"2", "4", "8"})
      for (const char *columns : {"8192", "16384"}) {
        std::string what = std::string(protocol) + ", " + ranks;
        SCOPED_TRACE(what + ", " + columns);
        check(emitFor(compiler,
                      fusedNorm(ranks, "64", columns,
                                std::string("  protocol total = ") + protocol +
                                    "\n"),
                      {.phase = Phase::Plan, .schedule = "fused"}),
              what, GetParam());
      }
}

// Rows of which threads have as much for themselves as they may.
TEST_P(KernelsOfNorms, OfLongRowsFitTheGpu) {
  PlanCompiler compiler;
  for (const char *ranks : {"2", "4", "8"})
    for (const char *columns : {"8192", "16384"}) {
      std::string what = std::string(ranks) + ", " + columns;
      SCOPED_TRACE(what);
      check(emitFor(compiler, fusedNorm(ranks, "4096", columns),
                    {.phase = Phase::Plan, .schedule = "fused"}),
            what, GetParam());
    }
}

// Likewise of lanes of a warp and of blocks, of one rank, with at least 512
// threads on a multiprocessor.
TEST_P(KernelsOfNorms, OfOneRankFitTheGpu) {
  struct Rows {
    const char *element, *columns, *norm;
  };
  PlanCompiler compiler;
  for (const Rows &rows : {Rows{"f64", "512", "softmax(y, 1)"},
                           Rows{"f64", "4096", "layer_norm(y, g, b, 1e-5)"},
                           Rows{"f32", "1024", "layer_norm(y, g, b, 1e-5)"},
                           Rows{"f16", "1023", "layer_norm(y, g, b, 1e-5)"},
                           Rows{"bf16", "64", "softmax(y, 1)"},
                           Rows{"bf16", "16384", "layer_norm(y, g, b, 1e-5)"},
                           Rows{"f8e4m3", "2048", "softmax(y, 1)"}}) {
    std::string what = std::string(rows.element) + ", " + rows.columns;
    SCOPED_TRACE(what);
    std::string element = rows.element, type = element + "[65536, H]";
    check(emitFor(compiler,
                  std::string("mesh m (d = 1)\nparam H = ") + rows.columns +
                      "\nprogram f(x: " + type + ", r: " + type +
                      ", g: " + element + "[H], b: " + element +
                      "[H]) {\n"
                      "  let y = x + r\n"
                      "  let out = " +
                      rows.norm +
                      "\n"
                      "  return out, y\n"
                      "}\n"
                      "schedule fused for f {\n"
                      "  fuse y, out\n"
                      "}\n",
                  {.phase = Phase::Plan, .schedule = "fused"}),
          what, GetParam(), 128);
  }
}

/// In how many phases each pipeline of some kernels is.
size_t phasesOf(const std::string &kernels) {
  size_t pipelines = findAll(kernels, "(pipeline) units").size(),
         phases = findAll(kernels, "(phase) \\d+\n").size();
  EXPECT_EQ(phases % std::max<size_t>(pipelines, 1), 0u) << kernels;
  return pipelines == 0 ? 0 : phases / pipelines;
}

// All_reduces in chunks with the norm that follows, and a reduce_scatter and an
// all_gather with an update between them.
TEST_P(KernelsOfNorms, InChunksFitTheGpu) {
  PlanCompiler compiler;
  for (const char *ranks : {"2", "4", "8"}) {
    for (const char *columns : {"64", "8192", "16384"}) {
      std::string what = std::string(ranks) + ", " + columns;
      SCOPED_TRACE(what);
      std::string text =
          fusedNorm(ranks, "8192", columns, "  protocol total = push\n");
      verify::Variant fused = {.phase = Phase::Plan, .schedule = "fused"};
      EXPECT_EQ(phasesOf(printedKernels(compiler, text, fused)), 3u);
      check(emitFor(compiler, text, fused), what, GetParam());
    }
    SCOPED_TRACE(ranks);
    std::string text = std::string("mesh m (d = ") + ranks +
                       ")\nparam N = 16777216\n"
                       "program f(g: f16[N] local, inout w: f16[N], inout p: "
                       "f32[N] sliced(0), inout v: f32[N] sliced(0)) {\n"
                       "  let total = all_reduce(sum, g)\n"
                       "  let grad = cast(total, f32)\n"
                       "  v <- 0.999 * v + 0.001 * grad * grad\n"
                       "  p <- p - grad / (sqrt(v) + 1e-8)\n"
                       "  w <- cast(p, f16)\n"
                       "}\n"
                       "schedule fused for f {\n"
                       "  let (rs, ag) = split total\n"
                       "  let (part, whole) = reorder ag after v, p, w\n"
                       "  fuse rs, part, whole\n"
                       "  protocol rs = push\n}\n";
    verify::Variant fused = {.phase = Phase::Plan, .schedule = "fused"};
    EXPECT_EQ(phasesOf(printedKernels(compiler, text, fused)), 2u);
    check(emitFor(compiler, text, fused), ranks, GetParam());
  }
}

// Arguments in lists of buffers.
TEST_P(KernelsOfNorms, OfListsFitTheGpu) {
  std::ifstream file(CCN_SOURCE "/test/gpu/scattered.ccn");
  std::string text(std::istreambuf_iterator<char>(file), {});
  PlanCompiler compiler;
  for (const char *schedule : {"", "fused", "halves"})
    for (const char *ranks : {"1", "2", "4", "8"}) {
      SCOPED_TRACE(ranks);
      check(emitFor(compiler, text,
                    {.mesh = {{"dp", ranks}}, .schedule = schedule}),
            schedule, GetParam(), 128);
    }
}

// Tiles that threads transpose in registers, of which they leave half to
// another block if bodies are short.
TEST_P(KernelsOfNorms, OfTransposesFitTheGpu) {
  struct Body {
    const char *arguments, *lines, *names;
    bool isShort;
  };
  constexpr const char *add = "  let t = transpose(x)\n  let y = t + z\n",
                       *rows = "  let t = transpose(x)\n"
                               "  let y = gelu(t + b) * z\n",
                       *cast = "  let t = transpose(x)\n"
                               "  let y = cast(t, f32) * s\n";
  PlanCompiler compiler;
  for (const Body &body : {
           Body{"x: bf16[N, N]", "  let y = transpose(x)\n", "", true},
           Body{"x: f32[N, N]", "  let y = transpose(x)\n", "", true},
           Body{"x: f64[N, N]", "  let y = transpose(x)\n", "", true},
           Body{"x: i8[N, N]", "  let y = transpose(x)\n", "", true},
           Body{"x: f8e4m3[N, N]", "  let y = transpose(x)\n", "", true},
           Body{"x: f16[N, N, 65]", "  let y = transpose(x, [2, 1, 0])\n", "",
                false},
           Body{"x: f16[64, N, 80]", "  let y = transpose(x, [0, 2, 1])\n", "",
                true},
           Body{"x: f32[N, N], z: f32[N, N]", add, "t, y", true},
           Body{"x: bf16[N, N], z: bf16[N, N]", add, "t, y", true},
           Body{"x: f64[N, N], z: f64[N, N]", add, "t, y", true},
           Body{"x: i64[N, N], z: i64[N, N]", add, "t, y", true},
           Body{"x: u8[N, N], z: u8[N, N]", add, "t, y", true},
           Body{"x: bf16[N, N], s: f32", cast, "t, y", true},
           Body{"x: f8e5m2[N, N], s: f32[N]", cast, "t, y", true},
           Body{"x: f64[N, N], s: f32[N]", cast, "t, y", true},
           Body{"x: bf16[N, N], z: bf16[N, N], b: bf16[N]", rows, "t, y",
                false},
           Body{"x: f32[N, N], z: f32[N, N], b: f32[N]", rows, "t, y", false},
           Body{"x: f64[N, N], z: f64[N, N], b: f64[N]", rows, "t, y", false},
           Body{"x: f32[N, N], z: f32[N, N]",
                "  let t = transpose(x)\n  let y = pow(t, z)\n", "t, y", false},
           Body{"x: i32[N, N], z: i32[N, N]",
                "  let t = transpose(x)\n  let y = z / (t * t + 1)\n", "t, y",
                false},
           Body{"x: i64[N, N], z: i64[N, N]",
                "  let t = transpose(x)\n  let y = z / (t * t + 1)\n", "t, y",
                false},
           Body{"x: bf16[N, N]",
                "  let t = transpose(x)\n  let y = dropout(t, 0.1, 7)\n",
                "t, y", false},
           Body{"x: f32[N, N], z: f32[N, N], b: f32[N, N]",
                "  let t = transpose(x)\n  let u = transpose(b)\n"
                "  let y = t * z + u * b + x\n",
                "t, u, y", true},
       }) {
    std::string text =
                    std::string("mesh m (d = 1)\nparam N = 4096\nprogram f(") +
                    body.arguments + ") {\n" + body.lines + "  return y\n}\n",
                schedule = *body.names ? "fused" : "";
    if (*body.names)
      text +=
          std::string("schedule fused for f {\n  fuse ") + body.names + "\n}\n";
    SCOPED_TRACE(text);
    std::string kernels =
        printedKernels(compiler, text, {.schedule = schedule});
    EXPECT_TRUE(has(kernels, " tile(")) << kernels;
    EXPECT_EQ(has(kernels, " blocks_of_multiprocessor(2)"), body.isShort)
        << kernels;
    check(emitFor(compiler, text, {.schedule = schedule}), schedule, GetParam(),
          body.isShort ? 64 : 128);
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelsOfNorms, testing::ValuesIn(gpuArchs),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace

} // namespace ccn::test
