//===- MachineTest.cpp - Figures that were measured on a machine ----------===//

#include "lib/Target/Machine.h"
#include "lib/Target/MachineRates.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace ccn;

namespace {

/// The text of one of the compiler's machines.
std::string textOf(const std::string &name) {
  std::ifstream file(CCN_MACHINES "/" + name + ".json");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// With `after` in place of `before`, which is there once.
std::string changed(std::string text, const std::string &before,
                    const std::string &after) {
  size_t at = text.find(before);
  EXPECT_NE(at, text.npos) << before;
  EXPECT_EQ(text.find(before, at + 1), text.npos) << before;
  return at == text.npos ? text : text.replace(at, before.size(), after);
}

/// What is wrong with the machine h200 so changed.
std::string errorOf(const std::string &before, const std::string &after) {
  Result<Machine> machine =
      parseMachine(changed(textOf("h200"), before, after), "x.json");
  return machine ? "no error" : machine.message();
}

} // namespace

TEST(Machine, OfATargetIsInTheCompiler) {
  const Machine &cpu = Machine::of(Target::host()),
                &gpu = Machine::of(Target::anyGpu());
  EXPECT_EQ(cpu.name, "cpu");
  EXPECT_FALSE(cpu.gpu);
  EXPECT_EQ(cpu.pair.ll, 1048576);
  EXPECT_EQ(cpu.pair.lamport, Machine::never);
  EXPECT_EQ(cpu.push, Machine::always);
  EXPECT_EQ(gpu.name, "h200");
  EXPECT_NE(gpu.measuredOn.find("H200"), std::string::npos);
  EXPECT_EQ(gpu.pairInKernel.simple, Machine::always);
  EXPECT_EQ(gpu.push, 33554432);
  ASSERT_TRUE(gpu.gpu);
  EXPECT_EQ(gpu.gpu->multiprocessors, 128);
  EXPECT_EQ(gpu.gpu->bytesOfLaunch(), 1048576);
  // The embedded text is that of the file.
  EXPECT_EQ(loadMachine(CCN_MACHINES "/h200.json")->measuredOn, gpu.measuredOn);
  EXPECT_EQ(Machine().orOf(Target::anyGpu()).name, "h200");
  EXPECT_EQ(cpu.orOf(Target::anyGpu()).name, "cpu");
}

TEST(Machine, HasFiguresOfGpusOrNot) {
  EXPECT_TRUE(checkMachine(Machine::of(Target::host()), Target::host()).ok());
  EXPECT_EQ(
      checkMachine(Machine::of(Target::host()), *parseTarget("sm_80"))
          .message(),
      "expected figures of GPUs for target 'sm_80', found 'cpu', which has "
      "none");
  EXPECT_EQ(
      checkMachine(Machine::of(Target::anyGpu()), Target::host()).message(),
      "expected figures without GPUs for target 'cpu', found 'h200', which has "
      "some");
}

TEST(Machine, IsFoundByNameOrFile) {
  EXPECT_EQ(loadMachine("cpu")->name, "cpu");
  EXPECT_EQ(loadMachine("h300").message(),
            "expected 'cpu', 'h200', 'h100', 'a100' or a file that ends in "
            ".json, found 'h300'");
  EXPECT_EQ(loadMachine("").message(),
            "expected 'cpu', 'h200', 'h100', 'a100' or a file that ends in "
            ".json, found ''");
  EXPECT_EQ(loadMachine("no/such.json").message(),
            "cannot read 'no/such.json': No such file or directory");
  std::string folder = testing::TempDir() + "machine.json";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(loadMachine(folder).message(),
            "cannot read '" + folder + "': Is a directory");
  std::string large = testing::TempDir() + "large.json";
  std::ofstream(large) << std::string((1 << 20) + 1, ' ');
  EXPECT_EQ(loadMachine(large).message(),
            "expected at most 1048576 bytes, found more in '" + large + "'");
}

TEST(Machine, WithAWrongFieldIsRefused) {
  EXPECT_EQ(errorOf("\"h200\"", "\"my-h200.2\""), "no error");
  EXPECT_EQ(errorOf("\"h200\"", "\"a b\""),
            "x.json: /name: expected a name of letters, digits, '_', '-' and "
            "'.', found \"a b\"");
  EXPECT_EQ(errorOf("\"h200\"", "200"),
            "x.json: /name: expected a string, found 200");
  EXPECT_EQ(errorOf("\"2026-11-28\"", "\"\""),
            "x.json: /measured/date: expected a text, found \"\"");
  EXPECT_EQ(errorOf("\"launch_us\"", "\"launch_ms\""),
            "x.json: /gpu: unknown key \"launch_ms\", expected one of "
            "\"multiprocessors\", \"launch_us\", \"link_gbps\", "
            "\"pipeline_bytes\", \"columns\"");
  EXPECT_EQ(errorOf("\"launch_us\": 2.8,", ""),
            "x.json: /gpu: expected the key \"launch_us\", found none");
  EXPECT_EQ(
      errorOf("\"busy_tiles\": 192,", ""),
      "x.json: /gpu/columns: expected the key \"busy_tiles\", found none");
  // Alone, nothing is done in one shot by simple.
  EXPECT_EQ(errorOf("\"lamport\": 33554432", "\"simple\": 4096"),
            "x.json: /all_reduce/pair: unknown key \"simple\", expected one of "
            "\"ll\", \"lamport\"");
  EXPECT_EQ(errorOf("128", "\"many\""),
            "x.json: /gpu/multiprocessors: expected an integer from 1 to "
            "65536, found \"many\"");
  EXPECT_EQ(errorOf("128", "0"), "x.json: /gpu/multiprocessors: expected an "
                                 "integer from 1 to 65536, found 0");
  EXPECT_EQ(errorOf("128", "1.5"), "x.json: /gpu/multiprocessors: expected an "
                                   "integer from 1 to 65536, found 1.5");
  EXPECT_EQ(errorOf("\"link_gbps\": 365", "\"link_gbps\": -365"),
            "x.json: /gpu/link_gbps: expected a number from 0.001 to 1000000, "
            "found -365");
  EXPECT_EQ(errorOf("\"link_gbps\": 365", "\"link_gbps\": \"fast\""),
            "x.json: /gpu/link_gbps: expected a number, found \"fast\"");
}

TEST(Machine, HasLimitsInBytesOrNone) {
  for (const char *limit : {"0", "1099511627776", "\"never\"", "\"always\""})
    EXPECT_EQ(errorOf("\"push\": 33554432", "\"push\": " + std::string(limit)),
              "no error");
  EXPECT_EQ(errorOf("\"push\": 33554432", "\"push\": -1"),
            "x.json: /push: expected an integer from 0 to 1099511627776, found "
            "-1");
  EXPECT_EQ(errorOf("\"push\": 33554432", "\"push\": 1099511627777"),
            "x.json: /push: expected an integer from 0 to 1099511627776, found "
            "1099511627777");
  EXPECT_EQ(errorOf("\"always\"", "\"sometimes\""),
            "x.json: /all_reduce/pair_in_kernel/simple: expected a number of "
            "bytes, \"never\" or \"always\", found \"sometimes\"");
  EXPECT_EQ(errorOf("\"push\": 33554432", "\"push\": null"),
            "x.json: /push: expected a number of bytes, \"never\" or "
            "\"always\", found null");
  auto pushOf = [](const std::string &limit) {
    return parseMachine(changed(textOf("h200"), "\"push\": 33554432",
                                "\"push\": " + limit),
                        "x.json")
        ->push;
  };
  EXPECT_EQ(pushOf("\"never\""), Machine::always);
  EXPECT_EQ(pushOf("\"always\""), 0);
}

TEST(Machine, HasRatesByWhichTimesArePredicted) {
  for (const char *name : {"cpu", "h200", "h100", "a100"}) {
    Result<MachineFile> file = loadMachineFile(name);
    ASSERT_TRUE(file) << file.message();
    EXPECT_EQ(file->machine.name, name);
    ASSERT_TRUE(file->rates) << name;
    EXPECT_EQ(file->rates->isShared, std::string(name) == "cpu");
    EXPECT_TRUE(file->rates->libraryTflops.contains("f32"));
  }
  EXPECT_EQ(loadMachineFile("h200")->rates->cores, 132);
  EXPECT_EQ(errorOf("\"cluster_us\": 0.92", "\"cluster_us\": 0"),
            "x.json: /rates/cluster_us: expected a number from 0.001 to "
            "1000000, found 0");
  EXPECT_EQ(
      errorOf("\"kernel_tflops\": {\"bf16\"", "\"kernel_tflops\": {\"bf61\""),
      "x.json: /rates/kernel_tflops: expected names of element types, "
      "found 'bf61'");
  EXPECT_EQ(errorOf("\"f16\": 165, \"f32\": 28", "\"f16\": 165"),
            "x.json: /rates/kernel_tflops: expected a field 'f32', found none");
}

TEST(Machine, ThatIsNoJsonSaysWhere) {
  EXPECT_EQ(errorOf("\"push\": 33554432,", "\"push\" 33554432,").substr(0, 32),
            "x.json:14:17: not valid JSON: sy");
  EXPECT_EQ(errorOf("\"link_gbps\": 365", "\"launch_us\": 365"),
            "x.json: expected distinct keys in an object, found \"launch_us\" "
            "twice");
  for (const char *text : {"", "{", "nul"})
    EXPECT_NE(parseMachine(text, "x.json").message().find("not valid JSON"),
              std::string::npos)
        << text;
  EXPECT_EQ(parseMachine("[]", "x.json").message(),
            "x.json: /: expected an object, found an array");
  EXPECT_EQ(parseMachine("{}", "x.json").message(),
            "x.json: /: expected the key \"name\", found none");
}

TEST(Machine, TellsFromWhereOnACollectiveIsWorthItsLaunch) {
  Machine::Gpu gpu;
  gpu.launchUs = 4;
  gpu.linkGBps = 16.384;
  EXPECT_EQ(gpu.bytesOfLaunch(), 65536);
  gpu.launchUs = gpu.linkGBps = 1e-3;
  EXPECT_EQ(gpu.bytesOfLaunch(), 1);
  gpu.launchUs = gpu.linkGBps = 1e6;
  EXPECT_EQ(gpu.bytesOfLaunch(), int64_t(1) << 50);
}
