//===- ApiTest.cpp - Programs that run through the C API ------------------===//
//
// What the API says of programs, and that they run on the caller's buffers.
//
//===----------------------------------------------------------------------===//

#include "ApiUtil.h"

#include "runtime/plan/TunedVariant.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

using namespace ccn;
using namespace ccn::runtime;

extern "C" int plainCFailures(void);

TEST(Api, IsC) { EXPECT_EQ(plainCFailures(), 0); }

TEST(Api, ProgramsRunOnAnyRanksAndSizes) {
  for (int ranks : {1, 2, 3, 4, 8})
    for (int64_t count : {0, 1, 5, 1003}) {
      Program program = load(average(ranks, count));
      Team team = makeTeam({program.get()});
      AverageArrays arrays(ranks, count);
      onRanks(team.get(), ranks, [&](int rank) {
        Outcome outcome;
        Executor executor = make(team.get(), program.get(), rank, outcome);
        ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
        std::vector<void *> arguments = arrays.of(rank);
        // Parts without elements have no addresses.
        ccn_part part;
        for (int i = 0; i < 4; ++i) {
          ASSERT_EQ(ccn_program_part(program.get(), i, rank, &part), CCN_OK);
          if (part.count == 0)
            arguments[static_cast<size_t>(i)] = nullptr;
        }
        for (int run = 0; run < 3; ++run)
          ASSERT_EQ((run == 1 ? ccn_executor_run_values : ccn_executor_run)(
                        executor.get(), arguments.data(), 4, nullptr),
                    CCN_OK)
              << ccn_last_error();
        EXPECT_EQ(ccn_executor_synchronize(executor.get(), nullptr), CCN_OK);
        EXPECT_EQ(ccn_executor_bind(executor.get(), arguments.data(), 4),
                  CCN_OK)
            << ccn_last_error();
        int device = 0;
        EXPECT_EQ(ccn_executor_device(executor.get(), &device), CCN_OK);
        EXPECT_EQ(device, -1);
      });
      EXPECT_EQ(ccn_team_check(team.get()), CCN_OK);
      arrays.expectAfter(3, program.get());
    }
}

TEST(Api, ProgramsAreDescribed) {
  Package package = scatteredAverage(4, 1003);
  package.schedule = "fused";
  Program program = load(package);
  ccn_program_info info;
  ASSERT_EQ(ccn_program_describe(program.get(), &info), CCN_OK);
  EXPECT_STREQ(info.name, "average");
  EXPECT_STREQ(info.schedule, "fused");
  EXPECT_EQ(info.target, CCN_TARGET_CPU);
  EXPECT_EQ(info.ranks, 4);
  EXPECT_EQ(info.arguments, 4);
  ASSERT_EQ(info.mesh_axes, 1);
  EXPECT_STREQ(info.mesh[0].name, "dp");
  EXPECT_EQ(info.mesh[0].size, 4);
  EXPECT_EQ(std::string(info.hash).size(), 64u);
  const char *signature =
      "average (dp = 4): in x f32[1003] local(dp), inout y f32[1003] "
      "scattered, in scale f32, out s f32[1003] sliced(0, dp)";
  EXPECT_STREQ(info.signature, signature);
  EXPECT_EQ(ccn_program_check(program.get(), signature), CCN_OK);
  EXPECT_EQ(ccn_program_check(program.get(), "another"), CCN_ERROR_PACKAGE);
  EXPECT_EQ(std::string(ccn_last_error()),
            std::string("expected program 'another', found '") + signature +
                "'");

  ccn_argument argument;
  ASSERT_EQ(ccn_program_argument(program.get(), 0, &argument), CCN_OK);
  EXPECT_STREQ(argument.name, "x");
  EXPECT_STREQ(argument.type_name, "f32[1003] local(dp)");
  EXPECT_EQ(argument.kind, CCN_INPUT);
  EXPECT_EQ(argument.type, CCN_F32);
  ASSERT_EQ(argument.dims, 1);
  EXPECT_EQ(argument.shape[0], 1003);
  EXPECT_FALSE(argument.is_replicated);
  ASSERT_EQ(ccn_program_argument(program.get(), 1, &argument), CCN_OK);
  EXPECT_EQ(argument.kind, CCN_INOUT);
  EXPECT_TRUE(argument.is_replicated);
  EXPECT_TRUE(argument.is_scattered);
  ASSERT_EQ(ccn_program_argument(program.get(), 2, &argument), CCN_OK);
  EXPECT_EQ(argument.dims, 0);
  int index = -1;
  ASSERT_EQ(ccn_program_find(program.get(), "s", &index), CCN_OK);
  EXPECT_EQ(index, 3);
  ASSERT_EQ(ccn_program_argument(program.get(), index, &argument), CCN_OK);
  EXPECT_EQ(argument.kind, CCN_RESULT);

  // The local tensor's dimension for the axis is no one's business here.
  ccn_part part;
  ASSERT_EQ(ccn_program_part(program.get(), 0, 2, &part), CCN_OK);
  ASSERT_EQ(part.dims, 1);
  EXPECT_EQ(part.offset[0], 0);
  EXPECT_EQ(part.shape[0], 1003);
  ASSERT_EQ(ccn_program_part(program.get(), 3, 3, &part), CCN_OK);
  EXPECT_EQ(part.offset[0], 753);
  EXPECT_EQ(part.shape[0], 250);
  EXPECT_EQ(part.count, 250);
  EXPECT_EQ(part.bytes, 1000);
  ASSERT_EQ(ccn_program_part(program.get(), 2, 0, &part), CCN_OK);
  EXPECT_EQ(part.dims, 0);
  EXPECT_EQ(part.count, 1);
}

TEST(Api, PackagesComeFromFilesToo) {
  std::string path = testing::TempDir() + "ccn-api-test.ccnpkg";
  ASSERT_TRUE(writePackage(path, average(1, 5)).ok());
  ccn_program *program = nullptr;
  ASSERT_EQ(ccn_program_load(path.c_str(), CCN_TARGET_DEFAULT, &program),
            CCN_OK)
      << ccn_last_error();
  Program held(program);
  std::filesystem::remove(path);
  ccn_program_info info;
  EXPECT_EQ(ccn_program_describe(program, &info), CCN_OK);
  EXPECT_STREQ(info.name, "average");
}

TEST(Api, PackagesThatCannotBeUsedAreRefused) {
  auto loaded = [](const Package &package, ccn_target target) {
    std::string bytes = *encodePackage(package);
    ccn_program *program = nullptr;
    Outcome outcome(
        ccn_program_load_memory(bytes.data(), bytes.size(), target, &program));
    EXPECT_EQ(program, nullptr);
    return outcome;
  };
  std::string bytes = *encodePackage(average(2, 5));
  bytes[bytes.size() / 2] ^= 1;
  ccn_program *program = nullptr;
  EXPECT_EQ(ccn_program_load_memory(bytes.data(), bytes.size(),
                                    CCN_TARGET_DEFAULT, &program),
            CCN_ERROR_PACKAGE);
  EXPECT_EQ(
      ccn_program_load_memory(bytes.data(), 10, CCN_TARGET_DEFAULT, &program),
      CCN_ERROR_PACKAGE);
  EXPECT_EQ(ccn_program_load_memory("", 0, CCN_TARGET_DEFAULT, &program),
            CCN_ERROR_PACKAGE);

  Package package = average(2, 5);
  package.target = "abacus";
  EXPECT_EQ(loaded(package, CCN_TARGET_CPU).status, CCN_ERROR_PACKAGE);
  package = average(2, 5);
  package.plan.ranks[1].launches.pop_back();
  EXPECT_EQ(loaded(package, CCN_TARGET_CPU).status, CCN_ERROR_PACKAGE);
  package = average(2, 5);
  package.cpuFeatures = {"warp_drive"};
  Outcome outcome = loaded(package, CCN_TARGET_DEFAULT);
  EXPECT_EQ(outcome.status, CCN_ERROR_MACHINE);
  EXPECT_EQ(outcome.text,
            "program 'average': expected a CPU with 'warp_drive', for which "
            "the package was compiled, found one without");
  package = average(2, 5);
  package.objectCode = "garbage";
  EXPECT_EQ(loaded(package, CCN_TARGET_CPU).status, CCN_ERROR_MACHINE);
  EXPECT_EQ(loaded(average(2, 5), CCN_TARGET_GPU).status, CCN_ERROR_ARGUMENT);
}

TEST(Api, TheVariantThatWasTunedRuns) {
  std::string folder = testing::TempDir() + "ccn-api-test-cache";
  ASSERT_EQ(setenv("CCN_CACHE_DIR", folder.c_str(), 1), 0);
  Package package = average(1, 5);
  package.variants = {
      {"another", "other", average(1, 5, "add_scaled_wrongly").plan, {}}};
  // Which is 1 off, so that it is known by that.
  auto run = [&](const char *schedule) {
    Program program = load(package);
    ccn_program_info info;
    EXPECT_EQ(ccn_program_describe(program.get(), &info), CCN_OK);
    EXPECT_STREQ(info.schedule, schedule);
    Team team = makeTeam({program.get()});
    AverageArrays arrays(1, 5);
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), 0, outcome);
    EXPECT_EQ(ccn_executor_run(executor.get(), arrays.of(0).data(), 4, nullptr),
              CCN_OK)
        << ccn_last_error();
    return arrays.y[0][2] - arrays.expected(1)[2];
  };
  EXPECT_EQ(run(""), 0);
  Result<Package> read = decodePackage(*encodePackage(package));
  ASSERT_TRUE(read.ok()) << read.message();
  ASSERT_TRUE(keepTuned(*read, cpuMachine(), 1, {2, 1}).ok());
  EXPECT_EQ(run("other"), 1);
  unsetenv("CCN_CACHE_DIR");
  std::filesystem::remove_all(folder);
}

TEST(Api, TypesAreTheLanguages) {
  for (ElementType type : allElementTypes) {
    auto c = static_cast<ccn_type>(type);
    EXPECT_EQ(ccn_type_size(c), static_cast<size_t>(sizeInBytes(type)));
    EXPECT_EQ(ccn_type_name(c), name(type));
  }
}

TEST(Api, ScatteredArgumentsAreListsOfBuffers) {
  constexpr int ranks = 2;
  Program program = load(scatteredAverage(ranks, 103));
  Team team = makeTeam({program.get()});
  AverageArrays arrays(ranks, 103);
  onRanks(team.get(), ranks, [&](int rank) {
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    // Each rank has other ones, in another order in memory.
    float *y = arrays.y[static_cast<size_t>(rank)].data();
    std::vector<std::vector<float>> parts(4);
    std::vector<ccn_buffer> buffers;
    int64_t left = 103;
    for (size_t i = 0; i < parts.size(); ++i) {
      int64_t count = i == 3 ? left : static_cast<int64_t>(7 * i) + rank;
      parts[i].assign(y + (103 - left), y + (103 - left) + count);
      buffers.push_back({parts[i].data(), count});
      left -= count;
    }
    ccn_buffers list = {buffers.data(), buffers.size()};
    std::vector<void *> arguments = arrays.of(rank);
    arguments[1] = &list;
    EXPECT_EQ(ccn_executor_bind(executor.get(), arguments.data(), 4), CCN_OK)
        << ccn_last_error();
    for (int run = 0; run < 2; ++run)
      EXPECT_EQ(ccn_executor_run(executor.get(), arguments.data(), 4, nullptr),
                CCN_OK)
          << ccn_last_error();
    // One that is a whole is used where it is.
    std::vector<float> whole;
    for (const std::vector<float> &part : parts)
      whole.insert(whole.end(), part.begin(), part.end());
    ccn_buffer halves[] = {{whole.data(), 50}, {whole.data() + 50, 53}};
    list = {halves, 2};
    EXPECT_EQ(ccn_executor_run(executor.get(), arguments.data(), 4, nullptr),
              CCN_OK)
        << ccn_last_error();
    std::copy(whole.begin(), whole.end(), y);
  });
  arrays.expectAfter(3, program.get());
}
