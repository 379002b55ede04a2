//===- StreamsModelTest.cpp - Ranks that share a device never hang --------===//
//
// Explores every way in which ranks whose plans run on one device can
// interleave: which rank's thread launches next, which queue goes on, for which
// block there is room. A queue does one thing after the other, in the order in
// which it was filled; blocks that wait keep their multiprocessor until their
// kernel is over, which those of a meeting are when all blocks of all ranks are
// there; other kernels need room for a block. A state in which nothing can
// happen, though not all is done, is a hang.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuGrid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace ccn::runtime;

namespace {

/// A launch of all ranks' plans.
struct Step {
  int stream;
  std::vector<int> waits;
  /// How many blocks all ranks have of a kernel in which they meet; 0 of one
  /// that does not wait.
  int blocks;
};

struct Model {
  int ranks, multiprocessors;
  std::vector<Step> plan;
  /// The queue of a rank's stream.
  std::vector<std::vector<int>> queues;
};

struct State {
  /// By rank: how many launches its thread has made.
  std::vector<int> launched;
  /// By rank and launch: the blocks that are there, and whether it is over.
  std::vector<std::vector<int>> blocks;
  std::vector<std::vector<bool>> done;
  /// What is in each queue: rank and launch.
  std::vector<std::vector<std::pair<int, int>>> queues;

  auto operator<=>(const State &) const = default;
};

/// Explores a model.
class Explorer {
public:
  explicit Explorer(const Model &model) : model(model) {}

  /// Whether no way ends in a hang.
  bool alwaysEnds() {
    auto ranks = static_cast<size_t>(model.ranks);
    size_t count = model.plan.size();
    int last = 0;
    for (const std::vector<int> &queues : model.queues)
      last = std::max(last, *std::max_element(queues.begin(), queues.end()));
    visit({std::vector<int>(ranks),
           {ranks, std::vector<int>(count)},
           {ranks, std::vector<bool>(count)},
           std::vector<std::vector<std::pair<int, int>>>(size_t(last) + 1)});
    while (!open.empty()) {
      State state = std::move(open.back());
      open.pop_back();
      if (!expand(state) && !isOver(state))
        return false;
    }
    return true;
  }

private:
  bool isOver(const State &state) const {
    for (const std::vector<bool> &done : state.done)
      if (std::find(done.begin(), done.end(), false) != done.end())
        return false;
    return true;
  }

  int room(const State &state) const {
    int taken = 0;
    for (size_t rank = 0; rank < state.blocks.size(); ++rank)
      for (size_t i = 0; i < model.plan.size(); ++i)
        taken += state.done[rank][i] ? 0 : state.blocks[rank][i];
    return model.multiprocessors - taken;
  }

  /// Whether all ranks' blocks of a launch are there.
  bool haveMet(const State &state, size_t launch) const {
    return std::all_of(state.blocks.begin(), state.blocks.end(),
                       [&](const std::vector<int> &blocks) {
                         return blocks[launch] == model.plan[launch].blocks;
                       });
  }

  bool expand(const State &state) {
    bool hasStep = false;
    auto step = [&](State next) {
      hasStep = true;
      visit(std::move(next));
    };
    for (size_t rank = 0; rank < state.launched.size(); ++rank) {
      int number = state.launched[rank];
      if (number == static_cast<int>(model.plan.size()))
        continue;
      State next = state;
      ++next.launched[rank];
      int stream = model.plan[size_t(number)].stream;
      next.queues[size_t(model.queues[rank][size_t(stream)])].emplace_back(
          rank, number);
      step(std::move(next));
    }
    for (size_t queue = 0; queue < state.queues.size(); ++queue) {
      if (state.queues[queue].empty())
        continue;
      auto rank = static_cast<size_t>(state.queues[queue].front().first);
      auto launch = static_cast<size_t>(state.queues[queue].front().second);
      const Step &planned = model.plan[launch];
      bool mayBegin = std::all_of(
          planned.waits.begin(), planned.waits.end(),
          [&](int other) { return bool(state.done[rank][size_t(other)]); });
      if (!mayBegin)
        continue;
      bool isThere = state.blocks[rank][launch] == planned.blocks;
      bool hasRoom = room(state) > 0;
      if (planned.blocks == 0 ? !hasRoom
                              : (isThere ? !haveMet(state, launch) : !hasRoom))
        continue;
      State next = state;
      if (planned.blocks > 0 && !isThere) {
        ++next.blocks[rank][launch];
      } else {
        next.done[rank][launch] = true;
        next.queues[queue].erase(next.queues[queue].begin());
      }
      step(std::move(next));
    }
    return hasStep;
  }

  void visit(State state) {
    auto [it, isNew] = seen.insert(std::move(state));
    if (isNew)
      open.push_back(*it);
  }

  const Model &model;
  std::set<State> seen;
  std::vector<State> open;
};

/// Of a region of so many stages and chunks.
std::vector<Step> pipeline(int stages, int chunks, int blocks) {
  std::vector<Step> plan;
  for (int number = 0; number < stages * chunks; ++number) {
    Step &step = plan.emplace_back(Step{number % stages, {}, blocks});
    if (number % stages > 0)
      step.waits.push_back(number - 1);
  }
  return plan;
}

RankPlan planOf(const std::vector<Step> &steps) {
  RankPlan plan;
  for (const Step &step : steps) {
    plan.launches.push_back({"", step.stream, step.waits, {}});
    plan.streams = std::max(plan.streams, step.stream + 1);
  }
  return plan;
}

/// What the executors of such ranks would run: streams and blocks.
Model runOn(std::vector<Step> steps, int ranks, int multiprocessors,
            int deviceQueues) {
  RankPlan plan = planOf(steps);
  shareStreams(plan, *streamsThatFit({multiprocessors, deviceQueues, ranks,
                                      ranks, /*runsAtOnce=*/1}));
  std::vector<int64_t> streams = streamsAtOnce(plan);
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].stream = plan.launches[i].stream;
    auto resident = static_cast<int>(
        residentBlocks({multiprocessors, 1, ranks, streams[i]}));
    steps[i].blocks = std::min(steps[i].blocks, resident);
  }
  // Each finds the next.
  Model model{ranks, multiprocessors, std::move(steps), {}};
  int next = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    model.queues.emplace_back(size_t(plan.streams));
    for (int &queue : model.queues.back())
      queue = next++ % deviceQueues;
  }
  return model;
}

std::vector<Step> drawPlan(std::mt19937 &random) {
  auto below = [&](size_t end) { return random() % end; };
  std::vector<Step> plan(1 + below(5));
  for (size_t i = 0; i < plan.size(); ++i) {
    plan[i].stream = static_cast<int>(below(4));
    plan[i].blocks = static_cast<int>(below(4));
    for (size_t j = 0; j < i; ++j)
      if (below(3) == 0)
        plan[i].waits.push_back(static_cast<int>(j));
  }
  return plan;
}

} // namespace

TEST(StreamsModel, PipelinesEnd) {
  for (auto [stages, chunks, ranks, multiprocessors, queues] :
       {std::tuple(4, 2, 2, 8, 16), std::tuple(4, 2, 2, 3, 16),
        std::tuple(5, 2, 2, 8, 4), std::tuple(2, 2, 3, 8, 32),
        std::tuple(3, 1, 3, 3, 4)}) {
    Model model =
        runOn(pipeline(stages, chunks, 2), ranks, multiprocessors, queues);
    EXPECT_TRUE(Explorer(model).alwaysEnds())
        << stages << " stages, " << chunks << " chunks, " << ranks << " ranks, "
        << multiprocessors << " multiprocessors, " << queues << " queues";
  }
}

TEST(StreamsModel, RandomPlansEnd) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    auto multiprocessors = static_cast<int>(2 + random() % 6);
    auto queues = static_cast<int>(2 + random() % 12);
    Model model = runOn(drawPlan(random), 2, multiprocessors, queues);
    EXPECT_TRUE(Explorer(model).alwaysEnds()) << "round " << round;
  }
}

TEST(StreamsModel, StreamsOfOneRankMayShareAQueue) {
  Model model = runOn(pipeline(4, 2, 1), 2, 8, 16);
  for (int rank = 0; rank < 2; ++rank)
    for (int &queue : model.queues[size_t(rank)])
      queue = rank;
  EXPECT_TRUE(Explorer(model).alwaysEnds());
}

TEST(StreamsModel, QueuesOfSeveralRanksHang) {
  // The checker finds what sharing streams is for: two streams each, and three
  // queues.
  Model model = runOn(pipeline(2, 1, 1), 2, 8, 32);
  ASSERT_TRUE(Explorer(model).alwaysEnds());
  model.queues = {{0, 1}, {1, 2}};
  EXPECT_FALSE(Explorer(model).alwaysEnds());
}

TEST(StreamsModel, TooManyBlocksHang) {
  // Two ranks, of which each has two kernels at once.
  Model model = runOn({{0, {}, 4}, {1, {}, 4}}, 2, 4, 32);
  EXPECT_EQ(model.plan[0].blocks, 1);
  ASSERT_TRUE(Explorer(model).alwaysEnds());
  model.plan[0].blocks = 2;
  EXPECT_FALSE(Explorer(model).alwaysEnds());
}

TEST(StreamsModel, BlocksLeaveRoomForKernelsThatDoNotWait) {
  // What ranks meet after is not kept out by those that meet already.
  Model model = runOn({{0, {}, 0}, {1, {}, 4}, {0, {1}, 4}}, 2, 4, 32);
  EXPECT_TRUE(Explorer(model).alwaysEnds());
  model.multiprocessors = 2;
  EXPECT_FALSE(Explorer(model).alwaysEnds());
}
