//===- CompilerTest.cpp - Compiles kernels without a GPU ------------------===//
//
// Where CUDA's compiler is missing there is nothing to test but that it says
// so.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Compiler.h"
#include "test/unit/Package/SamplePackages.h"

#include <gtest/gtest.h>

using namespace ccn;
using namespace ccn::runtime;

namespace {

class Compiler : public testing::Test {
protected:
  void SetUp() override {
    if (Result<std::string> version = compilerVersion(); !version)
      GTEST_SKIP() << version.message();
  }
};

} // namespace

TEST_F(Compiler, SamplesCompile) {
  std::string source = averageOnGpus(4, 1000).gpu->source;
  for (const char *architecture : {"sm_80", "sm_90a"}) {
    Result<CompiledKernels> kernels = compileKernels(source, architecture);
    ASSERT_TRUE(kernels.ok()) << kernels.message();
    EXPECT_EQ(kernels->cubin.substr(1, 3), "ELF");
    std::vector<KernelResources> resources = kernelResources(*kernels);
    ASSERT_EQ(resources.size(), 5u) << kernels->log;
    for (const KernelResources &kernel : resources) {
      EXPECT_GT(kernel.registers, 0) << kernel.name;
      EXPECT_EQ(kernel.spillStores, 0) << kernel.name;
      EXPECT_EQ(kernel.sharedBytes, kernel.name == "slice" ? 0 : 8);
    }
  }
}

TEST_F(Compiler, SamplesCompileToPtx) {
  std::string source = averageOnGpus(4, 1000).gpu->source;
  for (const char *architecture : {"sm_80", "sm_90a"}) {
    Result<std::string> ptx = compileToPtx(source, architecture);
    ASSERT_TRUE(ptx.ok()) << ptx.message();
    EXPECT_NE(ptx->find(std::string(".target ") + architecture + "\n"),
              ptx->npos);
    EXPECT_NE(ptx->find(".entry slice("), ptx->npos);
    EXPECT_EQ(ptx->find('\0'), ptx->npos);
  }
}

TEST_F(Compiler, SpillsAreCounted) {
  const char *source = R"(
    extern "C" __global__ void __launch_bounds__(1024) spills(float *p, int n) {
      float x[64];
      for (int i = 0; i < 64; i++) x[i] = p[i * n];
      for (int j = 0; j < n; j++)
        for (int i = 0; i < 64; i++)
          for (int k = 0; k < 64; k++) x[i] = x[i] * x[k] + j;
      for (int i = 0; i < 64; i++) p[i * n] = x[i];
    })";
  Result<CompiledKernels> kernels = compileKernels(source, "sm_90a");
  ASSERT_TRUE(kernels.ok()) << kernels.message();
  std::vector<KernelResources> resources = kernelResources(*kernels);
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0].name, "spills");
  EXPECT_GT(resources[0].spillStores, 0);
  EXPECT_GT(resources[0].spillLoads, 0);
  EXPECT_GT(resources[0].stackBytes, 0);
}

TEST_F(Compiler, MistakesComeWithTheLog) {
  std::string why =
      compileKernels("extern \"C\" __global__ void f() { x; }", "sm_80")
          .message();
  EXPECT_EQ(why.find("the kernels do not compile:\n"), 0u) << why;
  EXPECT_NE(why.find("identifier \"x\" is undefined"), why.npos) << why;
  EXPECT_EQ(compileToPtx("x", "sm_80").message().find("the kernels do not "),
            0u);
  why = compileToPtx("", "sm_1").message();
  EXPECT_NE(why.find("invalid value for --gpu-architecture"), why.npos) << why;
  why = compileKernels("", "sm_1").message();
  EXPECT_NE(why.find("invalid value for --gpu-architecture"), why.npos) << why;
}

TEST(CompilerText, Architectures) {
  EXPECT_EQ(architectureOf(9, 0), "sm_90a");
  EXPECT_EQ(architectureOf(8, 0), "sm_80");
  EXPECT_EQ(architectureOf(10, 3), "sm_103");
}

TEST(CompilerText, CommentsAreLeftOut) {
  auto expect = [](const char *source, const char *code) {
    EXPECT_EQ(withoutComments(source), code) << source;
  };
  expect("", "");
  expect("// a\n\n  int x; // b\n/* c\n d */ int y;\t\n\n",
         "  int x;\n  int y;\n");
  expect("int x/**/y; /* open", "int x y;  ");
  expect("// a\\\nb\nc", "c");
  expect("/ /x", "/ /x");
  // No comments.
  for (const char *source :
       {"f(\"//\");\n", "f(\"\\\"//\");\n", "f('\"', \"/*\");\n",
        "f(1'000, '/', \"//\");\n", "f('\\'', \"//\");\n", "R\"(//)\"\n",
        "#define a \\\n\nb\n", "\"//", "'\\"})
    expect(source, source);
  expect("f(1'000); // '\ng('//');\n", "f(1'000);\ng('//');\n");
}

TEST(CompilerText, ResourcesAreReadFromTheLog) {
  CompiledKernels kernels;
  kernels.log =
      "a.cu(4): warning: Used nothing\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
      "ptxas info    : Function properties for a\n"
      "ptxas         .     1152 bytes stack frame, 1472 bytes spill stores, "
      "1672 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 1152 bytes "
      "cumulative stack size, 400 bytes smem\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_90a'\n"
      "ptxas info    : Function properties for b\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes "
      "spill loads\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes "
      "spill loads\n"
      "ptxas info    : Used 255 registers, used 0 barriers\n";
  std::vector<KernelResources> all = kernelResources(kernels);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[0].registers, 32);
  EXPECT_EQ(all[0].stackBytes, 1152);
  EXPECT_EQ(all[0].spillStores, 1472);
  EXPECT_EQ(all[0].spillLoads, 1672);
  EXPECT_EQ(all[0].sharedBytes, 400);
  EXPECT_EQ(all[1].registers, 255);
  EXPECT_EQ(all[1].sharedBytes, 0);
  EXPECT_EQ(all[1].spillLoads, 12);
  EXPECT_TRUE(kernelResources({}).empty());
}
