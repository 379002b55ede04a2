//===- ApiUtil.cpp - Ranks that use the C API -----------------------------===//
//
// Values are exact, so that sums are in any order.
//
//===----------------------------------------------------------------------===//

#include "ApiUtil.h"

#include <gtest/gtest.h>

#include <thread>

using namespace ccn;
using namespace ccn::runtime;

void ReleaseExecutor::operator()(ccn_executor *executor) const {
  EXPECT_EQ(ccn_executor_release(executor), CCN_OK) << ccn_last_error();
}

Program load(const Package &package, ccn_target target) {
  Result<std::string> bytes = encodePackage(package);
  EXPECT_TRUE(bytes.ok()) << bytes.message();
  ccn_program *program = nullptr;
  EXPECT_EQ(
      ccn_program_load_memory(bytes->data(), bytes->size(), target, &program),
      CCN_OK)
      << ccn_last_error();
  return Program(program);
}

Team makeTeam(const std::vector<ccn_program *> &programs, double timeLimit) {
  ccn_team *team = nullptr;
  EXPECT_EQ(ccn_team_create(programs.data(), programs.size(), timeLimit, &team),
            CCN_OK)
      << ccn_last_error();
  return Team(team);
}

Executor make(ccn_team *team, const ccn_program *program, int rank,
              Outcome &outcome) {
  ccn_executor *executor = nullptr;
  outcome = Outcome(
      ccn_executor_create(team, program, rank, CCN_ANY_DEVICE, &executor));
  return Executor(executor);
}

void onRanks(ccn_team *team, int ranks, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      body(rank);
      (void)ccn_team_leave(team, rank);
    });
  for (std::thread &thread : threads)
    thread.join();
}

AverageArrays::AverageArrays(int ranks, int64_t count) : count(count) {
  for (int rank = 0; rank < ranks; ++rank) {
    x.emplace_back();
    for (int64_t i = 0; i < count; ++i)
      x.back().push_back(static_cast<float>((i * 7 + rank * 13) % 101) / 8);
    y.emplace_back(count, 1.0f);
    s.emplace_back(count, -1.0f);
  }
}

std::vector<void *> AverageArrays::of(int rank) {
  auto at = static_cast<size_t>(rank);
  return {x[at].data(), y[at].data(), &scale, s[at].data()};
}

std::vector<float> AverageArrays::expected(int runs) const {
  std::vector<float> result;
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0, value = 1;
    for (const std::vector<float> &part : x)
      sum += part[static_cast<size_t>(i)];
    for (int run = 0; run < runs; ++run)
      value = value + scale * sum;
    result.push_back(value);
  }
  return result;
}

void AverageArrays::expectAfter(int runs, const ccn_program *program) const {
  std::vector<float> whole = expected(runs);
  for (size_t rank = 0; rank < y.size(); ++rank) {
    EXPECT_EQ(y[rank], whole) << "rank " << rank;
    ccn_part part;
    ASSERT_EQ(ccn_program_part(program, 3, static_cast<int>(rank), &part),
              CCN_OK);
    ASSERT_EQ(part.dims, 1);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(s[rank][size_t(i)],
                i < part.shape[0] ? whole[size_t(part.offset[0] + i)] : -1)
          << "rank " << rank << ", element " << i;
  }
}
