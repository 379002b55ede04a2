//===- TeamsTest.cpp - Teams of the C API ---------------------------------===//
//
// Several programs on a team, and teams that fail.
//
//===----------------------------------------------------------------------===//

#include "ApiUtil.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

using namespace ccn;
using namespace ccn::runtime;

TEST(ApiTeams, RunSeveralPrograms) {
  constexpr int ranks = 3;
  Program small = load(average(ranks, 5)), large = load(average(ranks, 1003));
  // Threads may load it for themselves.
  Program again = load(average(ranks, 5));
  Team team = makeTeam({small.get(), large.get(), small.get()});
  int count = 0, own = 0;
  ASSERT_EQ(ccn_team_describe(team.get(), &count, &own), CCN_OK);
  EXPECT_EQ(count, ranks);
  EXPECT_EQ(own, -1);
  AverageArrays first(ranks, 5), second(ranks, 1003), third(ranks, 5);
  onRanks(team.get(), ranks, [&](int rank) {
    Outcome outcome;
    Executor a = make(team.get(), small.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    Executor b = make(team.get(), large.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(ccn_executor_run(a.get(), first.of(rank).data(), 4, nullptr),
                CCN_OK);
      EXPECT_EQ(ccn_executor_run(b.get(), second.of(rank).data(), 4, nullptr),
                CCN_OK);
    }
    // What is released leaves no room for another.
    a.reset();
    Executor c = make(team.get(), again.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    EXPECT_EQ(ccn_executor_run(c.get(), third.of(rank).data(), 4, nullptr),
              CCN_OK);
    Executor none = make(team.get(), small.get(), rank, outcome);
    EXPECT_EQ(outcome.status, CCN_ERROR_ARGUMENT);
    EXPECT_EQ(outcome.text,
              "the team has no memory for another executor of program "
              "'average' on rank " +
                  std::to_string(rank) +
                  ": expected it to be listed once more");
  });
  first.expectAfter(2, small.get());
  second.expectAfter(2, large.get());
  third.expectAfter(1, small.get());
}

TEST(ApiTeams, HandlesAreReleasedInAnyOrder) {
  constexpr int ranks = 2;
  Program program = load(average(ranks, 7));
  Team team = makeTeam({program.get()});
  AverageArrays arrays(ranks, 7);
  std::vector<Executor> executors(ranks);
  onRanks(team.get(), ranks, [&](int rank) {
    Outcome outcome;
    executors[size_t(rank)] = make(team.get(), program.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    // A rank that has executors does not leave.
    EXPECT_EQ(ccn_team_leave(team.get(), rank), CCN_ERROR_ARGUMENT);
    EXPECT_EQ(std::string(ccn_last_error()),
              "rank " + std::to_string(rank) +
                  " has 1 executors that are not released");
  });
  program.reset();
  team.reset();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      EXPECT_EQ(ccn_executor_run(executors[size_t(rank)].get(),
                                 arrays.of(rank).data(), 4, nullptr),
                CCN_OK)
          << ccn_last_error();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(arrays.y[0], arrays.expected(1));
}

TEST(ApiTeams, MemoryThatIsNotThereIsRefused) {
  constexpr int64_t count = 1'000'000'000'000;
  Program program = load(average(4, count));
  ccn_program *programs[] = {program.get()};
  ccn_team *team = nullptr;
  Outcome made(ccn_team_create(programs, 1, 0, &team));
  EXPECT_EQ(made.status, CCN_ERROR_MACHINE);
  EXPECT_EQ(team, nullptr);
  EXPECT_EQ(made.text.find("there is not enough memory: expected 1600000000"),
            0u)
      << made.text;
}

TEST(ApiTeams, OnCpusNothingIsSaidOfGpus) {
  Program program = load(average(2, 5));
  Team team = makeTeam({program.get()});
  onRanks(team.get(), 2, [&](int rank) {
    if (rank == 1)
      return;
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), rank, outcome);
    EXPECT_EQ(outcome.status, CCN_ERROR_TEAM);
    EXPECT_EQ(outcome.text,
              "rank 0: rank 1 has ended while waiting for rank 1: 'meeting' of "
              "call 1 of making executors");
  });
}

TEST(ApiTeams, AFailureIsAllRanks) {
  constexpr int ranks = 3;
  Program program = load(failing(ranks, 1));
  Team team = makeTeam({program.get()});
  // Else one may fail while another has not quite made its executor.
  std::barrier made(ranks);
  onRanks(team.get(), ranks, [&](int rank) {
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    made.arrive_and_wait();
    float seconds = 0;
    void *argument = &seconds;
    // So it is for every later call.
    for (int run = 0; run < 2; ++run) {
      Outcome ran(ccn_executor_run(executor.get(), &argument, 1, nullptr));
      EXPECT_EQ(ran.status, CCN_ERROR_TEAM);
      EXPECT_EQ(ran.text, "rank 1: division by zero at sample.ccn:7:3");
    }
    EXPECT_EQ(ccn_executor_synchronize(executor.get(), nullptr),
              CCN_ERROR_TEAM);
    EXPECT_EQ(ccn_executor_bind(executor.get(), &argument, 1), CCN_ERROR_TEAM);
    executor.reset();
    EXPECT_EQ(ccn_team_leave(team.get(), rank), CCN_ERROR_TEAM);
  });
  EXPECT_EQ(ccn_team_check(team.get()), CCN_ERROR_TEAM);
}

TEST(ApiTeams, NobodyWaitsForARankThatIsLate) {
  Program program = load(average(2, 5));
  Team team = makeTeam({program.get()}, 0.2);
  Outcome outcome;
  Executor executor = make(team.get(), program.get(), 0, outcome);
  EXPECT_EQ(outcome.status, CCN_ERROR_TEAM);
  EXPECT_NE(outcome.text.find("rank 1"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("time limit of 0.2 s"), std::string::npos)
      << outcome.text;
  // The late one is told.
  executor = make(team.get(), program.get(), 1, outcome);
  EXPECT_EQ(outcome.status, CCN_ERROR_TEAM);
}

TEST(ApiTeams, NobodyWaitsForARankThatHasLeft) {
  Program program = load(average(2, 5));
  Team team = makeTeam({program.get()});
  AverageArrays arrays(2, 5);
  onRanks(team.get(), 2, [&](int rank) {
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    if (rank == 1)
      return;
    Outcome ran(
        ccn_executor_run(executor.get(), arrays.of(0).data(), 4, nullptr));
    EXPECT_EQ(ran.status, CCN_ERROR_TEAM);
    EXPECT_NE(ran.text.find("rank 1"), std::string::npos) << ran.text;
  });
  Outcome outcome;
  Executor executor = make(team.get(), program.get(), 0, outcome);
  EXPECT_EQ(outcome.status, CCN_ERROR_ARGUMENT);
  EXPECT_EQ(outcome.text, "rank 0 has left its team");
}

TEST(ApiTeams, CallersCanFailThem) {
  Program program = load(average(2, 5));
  Team team = makeTeam({program.get()});
  AverageArrays arrays(2, 5);
  std::barrier made(2);
  onRanks(team.get(), 2, [&](int rank) {
    Outcome outcome;
    Executor executor = make(team.get(), program.get(), rank, outcome);
    ASSERT_EQ(outcome.status, CCN_OK) << outcome.text;
    made.arrive_and_wait();
    if (rank == 1) {
      EXPECT_EQ(ccn_team_fail(team.get(), 1, "the data are over"), CCN_OK);
      return;
    }
    Outcome ran(
        ccn_executor_run(executor.get(), arrays.of(0).data(), 4, nullptr));
    EXPECT_EQ(ran.status, CCN_ERROR_TEAM);
    EXPECT_EQ(ran.text, "rank 1: the data are over");
  });
}

TEST(ApiTeams, RanksMeet) {
  for (int ranks : {1, 2, 3, 8}) {
    Program program = load(average(ranks, 5));
    Team team = makeTeam({program.get()});
    std::atomic<int> come = 0;
    onRanks(team.get(), ranks, [&](int rank) {
      for (int round = 1; round <= 100; ++round) {
        ++come;
        ASSERT_EQ(ccn_team_meet(team.get(), rank), CCN_OK) << ccn_last_error();
        EXPECT_GE(come, round * ranks);
        // An executor may be made in between.
        Outcome outcome;
        Executor executor;
        if (round == 50)
          executor = make(team.get(), program.get(), rank, outcome);
        EXPECT_EQ(outcome.status, CCN_OK) << outcome.text;
      }
    });
    EXPECT_EQ(ccn_team_meet(team.get(), 0), CCN_ERROR_ARGUMENT);
    EXPECT_EQ(ccn_last_error(), std::string("rank 0 has left its team"));
  }
}

TEST(ApiTeams, NobodyMeetsARankThatHasLeft) {
  Program program = load(average(2, 5));
  Team team = makeTeam({program.get()});
  ASSERT_EQ(ccn_team_leave(team.get(), 1), CCN_OK);
  Outcome met(ccn_team_meet(team.get(), 0));
  EXPECT_EQ(met.status, CCN_ERROR_TEAM);
  EXPECT_NE(met.text.find("rank 1"), std::string::npos) << met.text;
}

TEST(ApiTeams, RanksMakeTheSamePrograms) {
  // Of equal sizes, so that their memory does not tell them apart.
  Program a = load(average(2, 5)),
          b = load(average(2, 5, "add_scaled_wrongly"));
  Team team = makeTeam({a.get(), b.get()});
  onRanks(team.get(), 2, [&](int rank) {
    Outcome outcome;
    Executor executor = make(team.get(), (rank ? b : a).get(), rank, outcome);
    EXPECT_EQ(outcome.status, CCN_ERROR_TEAM);
    EXPECT_EQ(outcome.text,
              "rank 1: makes an executor of 'average' (program 1 of the team), "
              "rank 0 of 'average' (program 0 of the team)");
  });
}

TEST(ApiTeams, ErrorsAreEachThreads) {
  ccn_program *program = nullptr;
  EXPECT_EQ(ccn_program_load(nullptr, CCN_TARGET_CPU, &program),
            CCN_ERROR_ARGUMENT);
  std::string text = ccn_last_error();
  EXPECT_EQ(text, "the path is null");
  std::thread([] { EXPECT_STREQ(ccn_last_error(), ""); }).join();
  // Success changes nothing.
  Program loaded = load(average(1, 5));
  EXPECT_EQ(ccn_last_error(), text);
}
