//===- MisuseTest.cpp - Calls of the C API that are wrong -----------------===//
//
// Each has a status and a text, and changes nothing: the right call works
// afterwards.
//
//===----------------------------------------------------------------------===//

#include "ApiUtil.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <thread>

using namespace ccn;
using namespace ccn::runtime;

/// Expects that a call was refused with a text.
static void expectWrong(ccn_status status, const std::string &text) {
  Outcome outcome(status);
  EXPECT_EQ(outcome.status, CCN_ERROR_ARGUMENT) << text;
  EXPECT_EQ(outcome.text, text);
}

TEST(ApiMisuse, NullHandles) {
  Program program = load(average(1, 5));
  Team team = makeTeam({program.get()});
  ccn_program *made = nullptr;
  ccn_team *madeTeam = nullptr;
  ccn_executor *executor = nullptr;
  ccn_program_info info;
  ccn_argument argument;
  ccn_part part;
  int number = 0;
  void *arguments[4] = {};
  ccn_program *programs[] = {program.get(), nullptr};
  expectWrong(ccn_program_load(nullptr, CCN_TARGET_CPU, &made),
              "the path is null");
  expectWrong(ccn_program_load("a", CCN_TARGET_CPU, nullptr),
              "the place for the program is null");
  expectWrong(ccn_program_load_memory(nullptr, 5, CCN_TARGET_CPU, &made),
              "the package is null");
  expectWrong(ccn_program_load_memory("a", 1, CCN_TARGET_CPU, nullptr),
              "the place for the program is null");
  expectWrong(ccn_program_describe(nullptr, &info), "the program is null");
  expectWrong(ccn_program_describe(program.get(), nullptr),
              "the place for the information is null");
  expectWrong(ccn_program_check(nullptr, ""), "the program is null");
  expectWrong(ccn_program_check(program.get(), nullptr),
              "the signature is null");
  expectWrong(ccn_program_argument(nullptr, 0, &argument),
              "the program is null");
  expectWrong(ccn_program_argument(program.get(), 0, nullptr),
              "the place for the argument is null");
  expectWrong(ccn_program_find(nullptr, "x", &number), "the program is null");
  expectWrong(ccn_program_find(program.get(), nullptr, &number),
              "the name is null");
  expectWrong(ccn_program_find(program.get(), "x", nullptr),
              "the place for the index is null");
  expectWrong(ccn_program_part(nullptr, 0, 0, &part), "the program is null");
  expectWrong(ccn_program_part(program.get(), 0, 0, nullptr),
              "the place for the part is null");
  for (auto *create : {ccn_team_create, ccn_team_join}) {
    expectWrong(create(programs, 1, 0, nullptr),
                "the place for the team is null");
    expectWrong(create(programs, 2, 0, &madeTeam), "program 1 is null");
    expectWrong(create(nullptr, 1, 0, &madeTeam),
                "expected the programs that the team will run, found none");
    expectWrong(create(programs, 0, 0, &madeTeam),
                "expected the programs that the team will run, found none");
  }
  expectWrong(ccn_team_describe(nullptr, &number, &number), "the team is null");
  EXPECT_EQ(ccn_team_describe(team.get(), nullptr, nullptr), CCN_OK);
  expectWrong(ccn_team_check(nullptr), "the team is null");
  expectWrong(ccn_team_set_runs_at_once(nullptr, 1), "the team is null");
  for (int runs : {0, -1, 33, INT_MAX})
    expectWrong(ccn_team_set_runs_at_once(team.get(), runs),
                "expected from 1 to 32 runs at once, found " +
                    std::to_string(runs));
  EXPECT_EQ(ccn_team_set_runs_at_once(team.get(), 32), CCN_OK);
  expectWrong(ccn_team_fail(nullptr, 0, "a"), "the team is null");
  expectWrong(ccn_team_fail(team.get(), 0, nullptr), "the cause is null");
  expectWrong(ccn_team_leave(nullptr, 0), "the team is null");
  expectWrong(ccn_team_meet(nullptr, 0), "the team is null");
  expectWrong(ccn_executor_create(nullptr, program.get(), 0, -1, &executor),
              "the team is null");
  expectWrong(ccn_executor_create(team.get(), nullptr, 0, -1, &executor),
              "the program is null");
  expectWrong(ccn_executor_create(team.get(), program.get(), 0, -1, nullptr),
              "the place for the executor is null");
  expectWrong(ccn_executor_run(nullptr, arguments, 4, nullptr),
              "the executor is null");
  expectWrong(ccn_executor_run_values(nullptr, arguments, 4, nullptr),
              "the executor is null");
  expectWrong(ccn_executor_bind(nullptr, arguments, 4), "the executor is null");
  expectWrong(ccn_executor_synchronize(nullptr, nullptr),
              "the executor is null");
  expectWrong(ccn_executor_device(nullptr, &number), "the executor is null");
  expectWrong(ccn_executor_copies(nullptr, 0, &number), "the executor is null");
  EXPECT_EQ(ccn_executor_release(nullptr), CCN_OK);
  ccn_program_release(nullptr);
  ccn_team_release(nullptr);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(madeTeam, nullptr);
  EXPECT_EQ(executor, nullptr);
}

TEST(ApiMisuse, NumbersOutOfRange) {
  Program program = load(average(2, 5));
  Team team = makeTeam({program.get()});
  ccn_argument argument;
  ccn_part part;
  int index = 0;
  for (int number : {-1, 4, INT32_MAX, INT32_MIN}) {
    std::string text =
        "expected an argument from 0 to 3, found " + std::to_string(number);
    expectWrong(ccn_program_argument(program.get(), number, &argument), text);
    expectWrong(ccn_program_part(program.get(), number, 0, &part), text);
  }
  for (int rank : {-1, 2, INT32_MAX, INT32_MIN}) {
    std::string text =
        "expected a rank from 0 to 1, found " + std::to_string(rank);
    expectWrong(ccn_program_part(program.get(), 0, rank, &part), text);
    expectWrong(ccn_team_fail(team.get(), rank, "a"), text);
    expectWrong(ccn_team_leave(team.get(), rank), text);
    expectWrong(ccn_team_meet(team.get(), rank), text);
    ccn_executor *executor = nullptr;
    expectWrong(
        ccn_executor_create(team.get(), program.get(), rank, -1, &executor),
        text);
  }
  expectWrong(ccn_program_find(program.get(), "z", &index),
              "program 'average' has no argument 'z'");
  ccn_executor *executor = nullptr;
  expectWrong(ccn_executor_create(team.get(), program.get(), 0, 0, &executor),
              "expected CCN_ANY_DEVICE for a program on the CPU, found 0");
  expectWrong(ccn_executor_create(team.get(), program.get(), 0, -2, &executor),
              "expected a device from 0, or CCN_ANY_DEVICE, found -2");
  ccn_program *programs[] = {program.get()};
  ccn_team *made = nullptr;
  for (double limit : {-1.0, 2e6, double(NAN), double(INFINITY)})
    EXPECT_EQ(ccn_team_create(programs, 1, limit, &made), CCN_ERROR_ARGUMENT);
}

TEST(ApiMisuse, ProgramsThatDoNotFitTogether) {
  Program two = load(average(2, 5)), three = load(average(3, 5)),
          other = load(average(2, 6));
  ccn_program *programs[] = {two.get(), three.get()};
  ccn_team *made = nullptr;
  expectWrong(ccn_team_create(programs, 2, 0, &made),
              "program 'average' has 3 ranks, 'average' has 2");
  Team team = makeTeam({two.get()});
  Outcome outcome;
  Executor executor = make(team.get(), other.get(), 0, outcome);
  EXPECT_EQ(outcome.status, CCN_ERROR_ARGUMENT);
  EXPECT_EQ(outcome.text,
            "the team has no memory for another executor of program 'average' "
            "on rank 0: expected it to be listed once more");
}

TEST(ApiMisuse, WrongArguments) {
  Program program = load(average(1, 5));
  Team team = makeTeam({program.get()});
  AverageArrays arrays(1, 5);
  Outcome outcome;
  Executor executor = make(team.get(), program.get(), 0, outcome);
  ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
  std::vector<void *> right = arrays.of(0);
  auto run = [&](std::vector<void *> arguments, void *stream = nullptr) {
    return ccn_executor_run(executor.get(), arguments.data(), arguments.size(),
                            stream);
  };
  auto with = [&](size_t index, void *address) {
    std::vector<void *> arguments = right;
    arguments[index] = address;
    return arguments;
  };
  expectWrong(run({right[0], right[1], right[2]}),
              "program 'average' has 4 arguments and results, found 3");
  expectWrong(ccn_executor_run(executor.get(), nullptr, 4, nullptr),
              "the arguments are null");
  expectWrong(run(with(1, nullptr)), "argument 'y' is null");
  expectWrong(run(with(2, nullptr)), "argument 'scale' is null");
  expectWrong(run(with(0, static_cast<char *>(right[0]) + 1)),
              "argument 'x' is not aligned to 4 bytes");
  expectWrong(run(with(0, reinterpret_cast<void *>(UINTPTR_MAX - 15))),
              "argument 'x' has 20 bytes, more than there are from its address "
              "on");
  // What is written is nobody else's; what is read may be.
  expectWrong(run(with(0, right[1])),
              "argument 'x' and argument 'y' overlap, and one of them is "
              "written");
  expectWrong(run(with(3, static_cast<float *>(right[0]) + 4)),
              "argument 'x' and argument 's' overlap, and one of them is "
              "written");
  expectWrong(run(with(2, arrays.y[0].data() + 2)),
              "argument 'y' and argument 'scale' overlap, and one of them is "
              "written");
  expectWrong(run(right, &arrays),
              "expected no stream for a program on the CPU");
  expectWrong(ccn_executor_synchronize(executor.get(), &arrays),
              "expected no stream for a program on the CPU");
  expectWrong(ccn_executor_bind(executor.get(), right.data(), 3),
              "program 'average' has 4 arguments and results, found 3");
  // Only what is passed by value need not be there.
  EXPECT_EQ(ccn_executor_bind(executor.get(), with(2, nullptr).data(), 4),
            CCN_OK)
      << ccn_last_error();
  expectWrong(ccn_executor_bind(executor.get(), with(1, nullptr).data(), 4),
              "argument 'y' is null");
  expectWrong(ccn_executor_device(executor.get(), nullptr),
              "the place for the device is null");
  expectWrong(ccn_executor_copies(executor.get(), 0, nullptr),
              "the place for the answer is null");
  int copies = 1;
  expectWrong(ccn_executor_copies(executor.get(), 4, &copies),
              "expected an argument from 0 to 3, found 4");
  EXPECT_EQ(ccn_executor_copies(executor.get(), 3, &copies), CCN_OK);
  EXPECT_EQ(copies, 0);
  // None of that has done anything.
  EXPECT_EQ(arrays.y[0], std::vector<float>(5, 1.0f));
  EXPECT_EQ(run(right), CCN_OK) << ccn_last_error();
  arrays.expectAfter(1, program.get());
  arrays.scale = arrays.x[0][2];
  EXPECT_EQ(run(with(2, arrays.x[0].data() + 2)), CCN_OK) << ccn_last_error();
}

TEST(ApiMisuse, WrongLists) {
  Program program = load(scatteredAverage(1, 5));
  Team team = makeTeam({program.get()});
  AverageArrays arrays(1, 5);
  Outcome outcome;
  Executor executor = make(team.get(), program.get(), 0, outcome);
  ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
  std::vector<void *> arguments = arrays.of(0);
  auto *y = static_cast<float *>(arguments[1]);
  auto run = [&](std::vector<ccn_buffer> buffers) {
    ccn_buffers list = {buffers.data(), buffers.size()};
    arguments[1] = &list;
    return ccn_executor_run(executor.get(), arguments.data(), 4, nullptr);
  };
  auto *odd = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(y) + 2);
  expectWrong(run({{y, 2}, {nullptr, 3}}), "argument 'y': buffer 1 is null");
  expectWrong(run({{y, 2}, {odd, 3}}),
              "argument 'y': buffer 1 is not aligned to 4 bytes");
  expectWrong(run({{y, 6}, {y, -1}}), "argument 'y': buffer 1 has -1 elements");
  for (std::vector<ccn_buffer> buffers :
       {std::vector<ccn_buffer>{{y, 2}, {y + 2, 2}}, {{y, 2}, {y + 2, 2}}})
    expectWrong(run(buffers),
                "argument 'y': expected 5 elements in all buffers "
                "together, found 4");
  expectWrong(run({}), "argument 'y': expected 5 elements in all buffers "
                       "together, found 0");
  expectWrong(run({{y, 3}, {y + 2, 2}}),
              "buffer 0 of argument 'y' and buffer 1 of argument 'y' overlap, "
              "and one of them is written");
  expectWrong(run({{y, 3}, {arrays.x[0].data(), 2}}),
              "argument 'x' and buffer 1 of argument 'y' overlap, and one of "
              "them is written");
  arguments[1] = nullptr;
  expectWrong(ccn_executor_run(executor.get(), arguments.data(), 4, nullptr),
              "argument 'y' is null, expected a list of buffers");
  ccn_buffers list = {nullptr, 3};
  arguments[1] = &list;
  expectWrong(ccn_executor_run(executor.get(), arguments.data(), 4, nullptr),
              "argument 'y': the list of its 3 buffers is null");
  EXPECT_EQ(arrays.y[0], std::vector<float>(5, 1.0f));
  // Empty buffers are anywhere, and of none.
  EXPECT_EQ(run({{nullptr, 0}, {y + 3, 2}, {odd, 0}, {y, 3}}), CCN_OK)
      << ccn_last_error();
}

TEST(ApiMisuse, TwoThreadsForOneRank) {
  Program program = load(average(2, 5));
  Team team = makeTeam({program.get(), program.get()});
  // Rank 1 never comes, so one of both waits, and the other is refused, and
  // then ends that.
  std::mutex mutex;
  int refused = 0, failed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      Outcome outcome;
      Executor executor = make(team.get(), program.get(), 0, outcome);
      std::lock_guard lock(mutex);
      if (outcome.status == CCN_ERROR_ARGUMENT) {
        ++refused;
        EXPECT_EQ(outcome.text, "another call for rank 0 is in progress");
        EXPECT_EQ(ccn_team_fail(team.get(), 1, "enough"), CCN_OK);
      }
      failed += outcome.status == CCN_ERROR_TEAM;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(failed, 1);
}

TEST(ApiMisuse, NobodyHasLaunchedThis) {
  Program program = load(average(2, 5));
  ccn_program *programs[] = {program.get()};
  ccn_team *team = nullptr;
  ASSERT_EQ(setenv("CCN_LAUNCHER", "none", 1), 0);
  expectWrong(ccn_team_join(programs, 1, 0, &team),
              "no launcher has started this process as one of several ranks; "
              "expected mpirun, torchrun or Slurm");
  // Of one rank it can be.
  Program alone = load(average(1, 5));
  programs[0] = alone.get();
  ASSERT_EQ(ccn_team_join(programs, 1, 0, &team), CCN_OK);
  int ranks = 0, own = -1;
  EXPECT_EQ(ccn_team_describe(team, &ranks, &own), CCN_OK);
  EXPECT_EQ(ranks, 1);
  EXPECT_EQ(own, 0);
  AverageArrays arrays(1, 5);
  ccn_executor *executor = nullptr;
  EXPECT_EQ(
      ccn_executor_create(team, alone.get(), 0, CCN_ANY_DEVICE, &executor),
      CCN_OK);
  EXPECT_EQ(ccn_executor_run(executor, arrays.of(0).data(), 4, nullptr),
            CCN_OK);
  EXPECT_EQ(ccn_executor_release(executor), CCN_OK);
  EXPECT_EQ(ccn_team_leave(team, 0), CCN_OK);
  ccn_team_release(team);
  arrays.expectAfter(1, alone.get());

  programs[0] = program.get();
  ASSERT_EQ(setenv("CCN_LAUNCHER", "nobody", 1), 0);
  EXPECT_EQ(ccn_team_join(programs, 1, 0, &team), CCN_ERROR_ARGUMENT);
  unsetenv("CCN_LAUNCHER");
}

TEST(ApiMisuse, EnvironmentVariables) {
  Program program = load(average(1, 5));
  ccn_program *programs[] = {program.get()};
  ccn_team *team = nullptr;
  ASSERT_EQ(setenv("CCN_TIMEOUT", "soon", 1), 0);
  expectWrong(ccn_team_create(programs, 1, 0, &team),
              "CCN_TIMEOUT: expected seconds above 0 and at most 1e6, found "
              "'soon'");
  unsetenv("CCN_TIMEOUT");
}
