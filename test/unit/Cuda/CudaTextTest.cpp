//===- CudaTextTest.cpp - Kernels that ranks and launches share -----------===//

#include "codegen/gpu/emit/CudaText.h"
#include "gtest/gtest.h"

#include <deque>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

/// A plan that lasts as long as the test.
KernelPlan &newPlan(int64_t threads = 128) {
  static const Plan none;
  static std::deque<KernelPlan> plans;
  KernelPlan &plan =
      plans.emplace_back(PartPlaces(none, {}, 0), KernelTransport::Peers);
  plan.properties.threads = threads;
  return plan;
}

/// f(number, number, ...);
CudaKernel call(llvm::StringRef function, llvm::ArrayRef<int64_t> numbers,
                const KernelPlan &plan = newPlan()) {
  CudaKernel kernel{&plan};
  kernel.body << (function + "(");
  for (int64_t number : numbers)
    kernel.body << " " << number << ";";
  kernel.body << ")\n";
  return kernel;
}

GpuProgram finish(CudaKernels &kernels) {
  GpuProgram program;
  kernels.finish(program);
  return program;
}

int count(const std::string &text, const std::string &part) {
  int found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; ++at)
    ++found;
  return found;
}

} // namespace

TEST(CudaText, OneUseHasLiteralsOnly) {
  CudaKernels kernels(3);
  kernels.add(0, call("f", {7, -2, INT64_MIN}));
  GpuProgram program = finish(kernels);
  EXPECT_NE(
      program.source.find("f( 7LL; (-2LL); (-9223372036854775807LL - 1);)\n"),
      std::string::npos)
      << program.source;
  EXPECT_NE(program.source.find("Pointers<3>"), std::string::npos);
  // The array of numbers is not empty.
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(program.kernels[0].numbers, 1);
  EXPECT_EQ(program.launches[0][0].numbers, std::vector<int64_t>{0});
}

TEST(CudaText, NumbersThatAgreeAreLiteralsAndOthersParameters) {
  CudaKernels kernels(1);
  // The second and the third differ, and the fourth differs as the second.
  kernels.add(0, call("f", {5, 10, 1, 10}));
  kernels.add(1, call("f", {5, 20, 1, 20}));
  kernels.add(2, call("f", {5, 30, 9, 30}));
  GpuProgram program = finish(kernels);
  EXPECT_NE(program.source.find("f( 5LL; n.at[0]; n.at[1]; n.at[0];)\n"),
            std::string::npos)
      << program.source;
  EXPECT_NE(program.source.find("Numbers<2>"), std::string::npos);
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(program.kernels[0].numbers, 2);
  ASSERT_EQ(program.launches.size(), 3u);
  EXPECT_EQ(program.launches[0][0].numbers, (std::vector<int64_t>{10, 1}));
  EXPECT_EQ(program.launches[1][0].numbers, (std::vector<int64_t>{20, 1}));
  EXPECT_EQ(program.launches[2][0].numbers, (std::vector<int64_t>{30, 9}));
}

TEST(CudaText, KernelsForMessagesHaveTheSameNamesAndNumbers) {
  CudaKernels kernels(1);
  for (size_t rank : {0, 1}) {
    auto number = static_cast<int64_t>(10 * rank);
    kernels.add(rank, call("f", {5, number}), call("g", {number + 1, number}));
    kernels.add(rank, call("h", {number}));
  }
  // Who has no other kernel for messages does not share one with who has.
  kernels.add(0, call("f", {5, 0}));
  GpuProgram program = finish(kernels);
  ASSERT_EQ(program.kernels.size(), 3u);
  EXPECT_EQ(program.kernels[0].numbers, 2);
  EXPECT_EQ(program.launches[1][0].numbers, (std::vector<int64_t>{10, 11}));
  auto has = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(program.peerSource, "f( 5LL; n.at[0];)\n"))
      << program.peerSource;
  EXPECT_TRUE(has(program.messageSource, "g( n.at[1]; n.at[0];)\n"))
      << program.messageSource;
  for (const std::string &text : {program.peerSource, program.messageSource}) {
    EXPECT_TRUE(has(text, " kernel0(")) << text;
    EXPECT_FALSE(has(text, "kernel1")) << text;
  }
  // What is the same for both is there once.
  EXPECT_TRUE(has(program.source, " kernel1(")) << program.source;
  EXPECT_FALSE(has(program.source, "kernel0")) << program.source;
}

TEST(CudaText, DeclarationsCountTheirNumbersFirst) {
  CudaKernels kernels(1);
  for (int64_t i : {0, 1}) {
    CudaKernel kernel = call("f", {100 + i});
    (kernel.declarations << "int in_").kernelName()
        << "[" << (40 + i) << "];\n";
    kernels.add(0, std::move(kernel));
  }
  GpuProgram program = finish(kernels);
  EXPECT_NE(program.source.find("int in_kernel0[n.at[0]];"), std::string::npos)
      << program.source;
  EXPECT_NE(program.source.find("f( n.at[1];)"), std::string::npos)
      << program.source;
  // Both are launches of rank 0.
  ASSERT_EQ(program.launches.size(), 1u);
  EXPECT_EQ(program.launches[0][1].numbers, (std::vector<int64_t>{41, 101}));
}

TEST(CudaText, OnlyEqualTextsAndPropertiesShareAKernel) {
  CudaKernels kernels(1);
  kernels.add(0, call("f", {1}));
  kernels.add(0, call("g", {1}));
  kernels.add(0, call("f", {2}, newPlan(256)));
  KernelPlan &waits = newPlan(), &shared = newPlan(), &blocks = newPlan(),
             &registers = newPlan();
  waits.properties.waits = true;
  kernels.add(0, call("f", {3}, waits));
  shared.properties.sharedBytes = 64;
  kernels.add(0, call("f", {4}, shared));
  blocks.properties.blockBytes = 64;
  kernels.add(0, call("f", {5}, blocks));
  CudaKernel declares = call("f", {5});
  declares.declarations << "struct S {};\n";
  kernels.add(0, declares);
  registers.takesRegisters = true;
  kernels.add(0, call("f", {6}, registers));
  kernels.add(0, call("f", {6}));
  GpuProgram program = finish(kernels);
  ASSERT_EQ(program.kernels.size(), 8u);
  std::vector<int> found;
  for (const GpuLaunch &launch : program.launches[0])
    found.push_back(launch.kernel);
  EXPECT_EQ(found, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 0}));
  EXPECT_EQ(count(program.source, "__global__"), 8);
  EXPECT_EQ(count(program.source, "__launch_bounds__(128, 1) kernel7("), 1);
  EXPECT_TRUE(program.kernels[3].waits);
  EXPECT_EQ(program.kernels[4].sharedBytes, 64);
  EXPECT_EQ(program.kernels[5].blockBytes, 64);
  EXPECT_NE(program.source.find("__launch_bounds__(256) kernel2("),
            std::string::npos);
}

TEST(CudaText, BlocksAndWorkspaceMayDiffer) {
  CudaKernels kernels(1);
  for (int64_t i : {1, 2}) {
    KernelPlan &plan = newPlan();
    plan.launch.blocks = i;
    plan.launch.workspaceBytes = 64 * i;
    kernels.add(static_cast<size_t>(i - 1), call("f", {8}, plan));
  }
  GpuProgram program = finish(kernels);
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(program.launches[1][0].kernel, 0);
  EXPECT_EQ(program.launches[1][0].blocks, 2);
  EXPECT_EQ(program.launches[1][0].workspaceBytes, 128);
}

TEST(CudaText, NothingToDoIsNoKernel) {
  CudaKernels kernels(1);
  kernels.add(0, CudaKernel{&newPlan()});
  kernels.add(1, call("f", {}));
  GpuProgram program = finish(kernels);
  ASSERT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(program.launches[0][0].kernel, -1);
  EXPECT_EQ(program.launches[1][0].kernel, 0);
}

TEST(CudaText, TheProgramsLinesStandAboveTheirKernels) {
  // A line that would go on with the next, one that would begin another, one
  // that is not UTF-8.
  CudaKernels kernels(1, "first\n  let a = b // \\\nthird\rline\n\xff\nlast");
  KernelPlan &one = newPlan(), &other = newPlan(), &third = newPlan(256);
  one.lines = {1, 3};
  other.lines = {2, 4};
  third.lines = {0, 5, 6};
  kernels.add(0, call("f", {1}, one));
  kernels.add(0, call("f", {2}, other));
  kernels.add(0, call("g", {}, third));
  std::string source = finish(kernels).source;
  EXPECT_NE(source.find("// launches 0-1 of ranks 0\n"
                        "//     1: first\n"
                        "//     2: let a = b //\n"
                        "//     3: third line\n"
                        "//     4: \xEF\xBF\xBD\n"
                        "// \"\":"),
            std::string::npos)
      << source;
  EXPECT_NE(source.find("// launch 2 of ranks 0\n"
                        "//     5: last\n"
                        "// \"\":"),
            std::string::npos)
      << source;
}

TEST(CudaText, OfManyLinesTheFirstStandAboveTheirKernel) {
  CudaKernels kernels(1, std::string(100, '\n'));
  for (int line = 1; line <= 100; ++line) {
    KernelPlan &plan = newPlan();
    plan.lines = {line};
    kernels.add(0, call("f", {}, plan));
  }
  std::string source = finish(kernels).source;
  EXPECT_EQ(count(source, "//     24:\n//     ...\n// \"\":"), 1) << source;
}
