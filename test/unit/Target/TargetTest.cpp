//===- TargetTest.cpp - The names of targets ------------------------------===//

#include "lib/Target/Target.h"
#include "gtest/gtest.h"

using namespace ccn;

TEST(Target, IsTheCpuOrGpusOfAnArchitecture) {
  Result<Target> cpu = parseTarget("cpu");
  ASSERT_TRUE(cpu) << cpu.message();
  EXPECT_FALSE(cpu->isGpu());
  EXPECT_EQ(cpu->name(), "cpu");
  for (const GpuArch &arch : gpuArchs) {
    Result<Target> gpu = parseTarget(arch.name);
    ASSERT_TRUE(gpu) << gpu.message();
    EXPECT_EQ(gpu->gpu, &arch);
    EXPECT_EQ(gpu->name(), arch.name);
    EXPECT_EQ(gpu->cpu, CpuLevel::X86_64);
  }
  EXPECT_EQ(Target::anyGpu().name(), "sm_90a");
}

TEST(Target, OfAnotherNameIsRefused) {
  for (const char *name :
       {"", "gpu", "cuda", "CPU", "sm_", "sm_8", "sm_80 ", " sm_80", "sm_80a",
        "SM_80", "sm_90", "sm_90A", "sm_90aa", "sm_070", "compute_80", "80"}) {
    Result<Target> target = parseTarget(name);
    ASSERT_FALSE(target) << name;
    EXPECT_TRUE(target.message().starts_with(
        "expected 'cpu', 'sm_80' or 'sm_90a', found '" + std::string(name) +
        "'"))
        << target.message();
  }
  EXPECT_EQ(parseTarget("CPU").message(),
            "expected 'cpu', 'sm_80' or 'sm_90a', found 'CPU'; did you mean "
            "'cpu'");
  // Another number is no slip.
  EXPECT_EQ(parseTarget("sm_90").message(),
            "expected 'cpu', 'sm_80' or 'sm_90a', found 'sm_90'");
  // The whole text counts, not what a C string would end with.
  EXPECT_FALSE(parseTarget(std::string_view("sm_80\0", 6)));
}

TEST(Target, HasACpuOfALevel) {
  for (CpuLevel level :
       {CpuLevel::X86_64, CpuLevel::X86_64_V3, CpuLevel::X86_64_V4}) {
    Result<CpuLevel> parsed = parseCpu(cpuName(level));
    ASSERT_TRUE(parsed) << parsed.message();
    EXPECT_EQ(*parsed, level);
  }
  Result<CpuLevel> native = parseCpu("native");
  ASSERT_TRUE(native) << native.message();
  EXPECT_EQ(*native, Target::host().cpu);
  EXPECT_FALSE(Target::host().isGpu());
  EXPECT_EQ(parseCpu("x86-64-v2").message(),
            "expected 'native', 'x86-64', 'x86-64-v3' or 'x86-64-v4', found "
            "'x86-64-v2'");
  EXPECT_TRUE(requiredFeatures(CpuLevel::X86_64).empty());
  EXPECT_LT(requiredFeatures(CpuLevel::X86_64_V3).size(),
            requiredFeatures(CpuLevel::X86_64_V4).size());
}
