//===- ProtocolModelTest.cpp - Protocols in all interleavings -------------===//
//
// Each protocol is right for two and three ranks and successive calls whatever
// the interleaving, and each of its lines is needed: without a wait, a release,
// a fence, a clearing or a buffer, the checker finds a wrong value or a hang.
//
//===----------------------------------------------------------------------===//

#include "ModelChecker.h"
#include "runtime/team/Protocols.h"

#include <gtest/gtest.h>

#include <cstdio>

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::runtime::model;

namespace {

/// What member m has to give in a call; never 0, the sentinel or an epoch.
uint64_t valueOf(int member, Epoch epoch) {
  return 100 * epoch + static_cast<uint64_t>(member) + 10;
}

Members membersOf(const ModelMemory &memory, int ranks) {
  Members members;
  for (int rank = 0; rank < ranks; ++rank)
    members.ranks.push_back(rank);
  members.position = memory.rank();
  return members;
}

void expectValue(ModelMemory &memory, uint64_t found, int member, Epoch epoch) {
  memory.expect(found == valueOf(member, epoch),
                "call " + std::to_string(epoch) + ": expected " +
                    std::to_string(valueOf(member, epoch)) + ", found " +
                    std::to_string(found));
}

uint64_t readWord(ModelMemory &memory, int rank, int64_t offset) {
  uint64_t value;
  std::byte scratch[8];
  std::memcpy(&value, memory.view(rank, offset, 8, scratch), 8);
  return value;
}

void putWord(ModelMemory &memory, int rank, int64_t offset, uint64_t value) {
  memory.put(rank, offset, &value, 8);
}

using Memory = std::map<Place, uint64_t>;

/// What a protocol explored: its program and the memory it starts with.
struct Case {
  int ranks;
  Program program;
  Memory memory = {};
};

/// Every slot of every rank holds Lamport's sentinel, as after preparation.
template <typename Exchange> Memory prepared(int ranks) {
  Memory memory;
  if constexpr (requires { Exchange::sentinel; })
    for (int rank = 0; rank < ranks; ++rank)
      for (int64_t i = 0; i < Exchange::bytes(ranks, 1); i += 8)
        memory[{rank, i}] = Exchange::sentinel;
  return memory;
}

/// A one-shot exchange in which everybody checks everybody's data, from
/// prepared memory or, with `prepares`, from zeros.
template <typename Exchange>
Case exchangeCase(int ranks, Epoch calls, bool prepares = false) {
  auto program = [=](ModelMemory &memory) {
    Members members = membersOf(memory, ranks);
    Exchange exchange(0, ranks, 1);
    if (prepares) {
      Signals signals{"preparation", 4096};
      exchange.prepare(memory);
      (void)barrier(memory, members, signals, "test", 1);
    }
    for (Epoch epoch = 1; epoch <= calls; ++epoch) {
      auto own = static_cast<typename Exchange::Data>(
          valueOf(members.position, epoch));
      exchange.send(memory, members, &own, epoch);
      for (int member = 0; member < ranks; ++member) {
        if (member == members.position)
          continue;
        typename Exchange::Data data = 0;
        (void)exchange.receive(memory, members, member, 0, 1, &data, "test",
                               epoch);
        expectValue(memory, data, member, epoch);
      }
      exchange.finish(memory, members, epoch);
    }
  };
  return {ranks, program, prepares ? Memory() : prepared<Exchange>(ranks)};
}

/// What a plan says of a two-shot all_reduce: stage() puts the own input where
/// others can read it, reduce() combines the own slice of everybody's input and
/// stores the result to all, after which the results of all are there. Between
/// calls nothing else is needed: who is in the next call has heard from all
/// that they read its input, and from nobody that it may store results before
/// all have come.
template <typename Memory, typename Stage, typename Reduce>
Status twoShot(Memory &memory, const Members &members, const Signals &staged,
               const Signals &stored, const char *operation, Epoch epoch,
               Stage stage, Reduce reduce) {
  stage();
  if (Status status = barrier(memory, members, staged, operation, epoch);
      !status)
    return status;
  if (Status status = reduce(); !status)
    return status;
  return barrier(memory, members, stored, operation, epoch);
}

/// The two-shot all_reduce of one word a rank: rank r owns word r and gives all
/// what it found there, from one source after the other.
Case twoShotCase(int ranks, Epoch calls) {
  auto program = [=](ModelMemory &memory) {
    Members members = membersOf(memory, ranks);
    Signals staged{"input", 1024}, stored{"results", 2048};
    int own = members.position;
    // The result of an owner is its predecessor's contribution.
    auto source = [&](int owner) { return (owner + 1) % ranks; };
    for (Epoch epoch = 1; epoch <= calls; ++epoch) {
      (void)twoShot(
          memory, members, staged, stored, "test", epoch,
          [&] { putWord(memory, own, 0, valueOf(own, epoch)); },
          [&] {
            uint64_t value = readWord(memory, source(own), 0);
            for (int member = 0; member < ranks; ++member)
              putWord(memory, member, 8 + 8 * own, value);
            return Status();
          });
      for (int owner = 0; owner < ranks; ++owner)
        expectValue(memory, readWord(memory, own, 8 + 8 * owner), source(owner),
                    epoch);
    }
  };
  return {ranks, program};
}

/// Rank 0 sends to all others, which do not hear of each other.
template <uint32_t buffers> Case channelCase(int ranks, Epoch calls) {
  auto program = [=](ModelMemory &memory) {
    Channel<buffers> channel;
    channel.full.offset = 1024;
    channel.free.offset = 2048;
    for (Epoch epoch = 1; epoch <= calls; ++epoch) {
      int64_t place = 8 * Channel<buffers>::buffer(epoch);
      if (memory.rank() == 0) {
        for (int to = 1; to < ranks; ++to) {
          (void)channel.awaitFree(memory, to, to, "test", epoch);
          putWord(memory, to, place, valueOf(0, epoch));
          channel.signalFull(memory, to, 0, epoch);
        }
        continue;
      }
      (void)channel.awaitFull(memory, 0, 0, "test", epoch);
      expectValue(memory, readWord(memory, memory.rank(), place), 0, epoch);
      channel.signalFree(memory, 0, memory.rank(), epoch);
    }
  };
  return {ranks, program};
}

void expectRight(const Case &c, size_t leastStates) {
  Outcome byMessages =
      Checker(c.ranks, c.program, c.memory, {}, Order::Messages).run();
  EXPECT_EQ(byMessages.problem, "") << c.ranks << " ranks, by messages";
  EXPECT_GE(byMessages.states, 10u);
  Outcome outcome = Checker(c.ranks, c.program, c.memory, {}).run();
  EXPECT_EQ(outcome.problem, "") << c.ranks << " ranks";
  // That much was explored; else the model would be void.
  EXPECT_GE(outcome.states, leastStates);
  std::printf("%d ranks: %zu states, %zu by messages\n", c.ranks,
              outcome.states, byMessages.states);
}

void expectWrong(const Case &c, const std::string &problem,
                 const Mutation &mutation = {}) {
  Outcome outcome = Checker(c.ranks, c.program, c.memory, mutation).run();
  EXPECT_NE(outcome.problem.find(problem), std::string::npos)
      << "expected " << problem << ", found '" << outcome.problem << "' in "
      << outcome.states << " states";
}

Mutation withoutWait(const char *what) {
  Mutation mutation;
  mutation.droppedWait = what;
  return mutation;
}

/// The flag may come before the data.
Mutation flagFirst() {
  Mutation mutation;
  mutation.dropRelease = true;
  return mutation;
}

constexpr const char *wrongValue = ": expected ";

} // namespace

TEST(ProtocolModel, TwoShotIsRight) {
  expectRight(twoShotCase(2, 3), 300);
  expectRight(twoShotCase(3, 2), 5000);
}

TEST(ProtocolModel, TwoShotMutationsAreCaught) {
  for (int ranks : {2, 3}) {
    expectWrong(twoShotCase(ranks, 2), wrongValue, withoutWait("input"));
    expectWrong(twoShotCase(ranks, 2), wrongValue, withoutWait("results"));
    expectWrong(twoShotCase(ranks, 1), wrongValue, flagFirst());
  }
}

TEST(ProtocolModel, ChannelIsRight) {
  expectRight(channelCase<1>(2, 3), 10);
  expectRight(channelCase<2>(2, 4), 100);
  expectRight(channelCase<1>(3, 3), 100);
  expectRight(channelCase<2>(3, 3), 5000);
}

TEST(ProtocolModel, ChannelMutationsAreCaught) {
  for (int ranks : {2, 3}) {
    expectWrong(channelCase<1>(ranks, 2), wrongValue,
                withoutWait("acknowledgement"));
    expectWrong(channelCase<2>(ranks, 3), wrongValue,
                withoutWait("acknowledgement"));
    expectWrong(channelCase<2>(ranks, 1), wrongValue, withoutWait("data"));
    expectWrong(channelCase<2>(ranks, 1), wrongValue, flagFirst());
  }
}

TEST(ProtocolModel, LowLatencyIsRight) {
  expectRight(exchangeCase<LowLatencyExchange<>>(2, 4), 40);
  expectRight(exchangeCase<LowLatencyExchange<>>(3, 4), 2000);
}

TEST(ProtocolModel, LowLatencyMutationsAreCaught) {
  for (int ranks : {2, 3}) {
    expectWrong(exchangeCase<LowLatencyExchange<>>(ranks, 2), wrongValue,
                withoutWait("LL data"));
    // One buffer: data of the next call arrives before this one's is read, and
    // who waits for this epoch waits for ever.
    expectWrong(exchangeCase<LowLatencyExchange<1>>(ranks, 2), "hang");
  }
}

TEST(ProtocolModel, LamportIsRight) {
  expectRight(exchangeCase<LamportExchange<>>(2, 5), 100);
  expectRight(exchangeCase<LamportExchange<>>(2, 1, true), 1000);
  expectRight(exchangeCase<LamportExchange<>>(3, 2), 2000);
  expectRight(exchangeCase<LamportExchange<>>(3, 5), 9000);
}

TEST(ProtocolModel, LamportMutationsAreCaught) {
  for (int ranks : {2, 3}) {
    expectWrong(exchangeCase<LamportExchange<>>(ranks, 2), wrongValue,
                withoutWait("Lamport data"));
    // Two buffers: what is cleared is what others may be writing to.
    expectWrong(exchangeCase<LamportExchange<2>>(ranks, 2), "hang");
    // The fourth call finds the data of the first.
    Mutation noClearing;
    noClearing.droppedValue = LamportExchange<>::sentinel;
    expectWrong(exchangeCase<LamportExchange<>>(ranks, 4), wrongValue,
                noClearing);
    // What is cleared late has data in it.
    Mutation noFence;
    noFence.dropFence = true;
    expectWrong(exchangeCase<LamportExchange<>>(ranks, 3), "hang", noFence);
  }
  // Slots are filled with the sentinel after data has arrived.
  expectWrong(exchangeCase<LamportExchange<>>(2, 1, true), "hang",
              withoutWait("preparation"));
}

/// Rank 0 stores into rank 2's memory and tells rank 1, which tells rank 2.
TEST(ProtocolModel, MessagesHandNothingOnThroughAThirdRank) {
  Signals signals{"relay", 1024};
  auto relay = [=](ModelMemory &memory) {
    switch (memory.rank()) {
    case 0:
      putWord(memory, 2, 0, valueOf(0, 1));
      signals.set(memory, 1, 0, 1);
      break;
    case 1:
      (void)signals.await(memory, 0, 0, "test", 1);
      signals.set(memory, 2, 0, 1);
      break;
    default:
      (void)signals.await(memory, 1, 0, "test", 1);
      expectValue(memory, readWord(memory, 2, 0), 0, 1);
    }
  };
  EXPECT_EQ(Checker(3, relay, {}, {}).run().problem, "");
  Outcome byMessages = Checker(3, relay, {}, {}, Order::Messages).run();
  EXPECT_NE(byMessages.problem.find(wrongValue), std::string::npos)
      << byMessages.problem;
}

/// Without its waits no protocol is right over messages either.
TEST(ProtocolModel, MutationsAreCaughtByMessagesToo) {
  auto problem = [](const Case &c, const char *wait) {
    return Checker(c.ranks, c.program, c.memory, withoutWait(wait),
                   Order::Messages)
        .run()
        .problem;
  };
  for (int ranks : {2, 3}) {
    EXPECT_NE(problem(twoShotCase(ranks, 2), "input"), "");
    EXPECT_NE(problem(twoShotCase(ranks, 2), "results"), "");
    EXPECT_NE(problem(channelCase<1>(ranks, 2), "acknowledgement"), "");
    EXPECT_NE(problem(channelCase<2>(ranks, 3), "acknowledgement"), "");
    EXPECT_NE(problem(channelCase<2>(ranks, 1), "data"), "");
    EXPECT_NE(problem(exchangeCase<LowLatencyExchange<>>(ranks, 2), "LL data"),
              "");
    EXPECT_NE(
        problem(exchangeCase<LamportExchange<>>(ranks, 2), "Lamport data"), "");
  }
}
