//===- HeapTest.cpp - Symmetric memory, waits and lost ranks --------------===//
//
// Allocation, and that no wait is a hang: each ends with the name of the rank
// that is to blame.
//
//===----------------------------------------------------------------------===//

#include "TeamUtil.h"
#include "runtime/base/Environment.h"
#include "runtime/team/Protocols.h"

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace ccn;
using namespace ccn::runtime;

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

Members membersOf(const RankMemory &memory) {
  return {allRanks(memory.ranks()).ranks, memory.rank()};
}

Status barrierOnce(RankMemory &memory) {
  Signals signals{"arrival"};
  Result<int64_t> offset = memory.allocate(Signals::bytes(memory.ranks()));
  if (!offset)
    return offset.status();
  signals.offset = *offset;
  return barrier(memory, membersOf(memory), signals, "barrier", 1);
}

} // namespace

TEST(SymmetricHeap, AllocatesAlikeAndAligned) {
  expectTeam(3, 1 << 16, [](RankMemory &memory) {
    int64_t last = -1;
    for (int64_t bytes : {1, 64, 65, 0, 100}) {
      Result<int64_t> offset = memory.allocate(bytes);
      if (!offset)
        return offset.status();
      EXPECT_EQ(*offset % 64, 0);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.at(memory.rank(), *offset)) %
                    64,
                0u);
      EXPECT_GE(*offset, last);
      last = *offset;
      for (int64_t i = 0; i < bytes; ++i)
        EXPECT_EQ(memory.at(memory.rank(), *offset)[i], std::byte(0));
    }
    EXPECT_EQ(last, 64 + 64 + 128);
    return Status();
  });
}

TEST(SymmetricHeap, HasRoomForTheExchangesOfDeepModels) {
  // 100 layers of 4 in 16 chunks.
  constexpr int exchanges = 100 * 4 * 16;
  auto heap = SymmetricHeap::create(1, 2 * exchanges * 64);
  ASSERT_TRUE(heap.ok());
  for (int i = 0; i < 2 * exchanges; ++i)
    ASSERT_TRUE((*heap)->allocate(0, 64).ok()) << i;
}

TEST(SymmetricHeap, DifferingSizesFailTheTeam) {
  auto heap = SymmetricHeap::create(2, 1 << 12);
  ASSERT_TRUE(heap.ok());
  EXPECT_TRUE((*heap)->allocate(0, 128).ok());
  Result<int64_t> second = (*heap)->allocate(1, 64);
  EXPECT_EQ(second.message(), "rank 1: symmetric allocation 1 is of 64 bytes, "
                              "that of rank 0 of 128");
  EXPECT_FALSE((*heap)->allocate(0, 64).ok());
}

TEST(SymmetricHeap, RefusesWhatDoesNotFit) {
  auto heap = SymmetricHeap::create(1, 4096);
  ASSERT_TRUE(heap.ok());
  EXPECT_TRUE((*heap)->allocate(0, 4000).ok());
  EXPECT_EQ((*heap)->allocate(0, 65).message(),
            "rank 0: out of symmetric memory: 65 bytes do not fit the 64 that "
            "are left of 4096");
  EXPECT_FALSE(SymmetricHeap::create(0, 4096).ok());
  EXPECT_FALSE(SymmetricHeap::create(2, int64_t(1) << 62).ok());
  EXPECT_FALSE(SymmetricHeap::create(2, -1).ok());
}

TEST(Environment, ReadsAndChecksTheTimeLimit) {
  unsetenv("CCN_TIMEOUT");
  EXPECT_EQ(Environment::read()->timeLimit, 60);
  setenv("CCN_TIMEOUT", "2.5", 1);
  EXPECT_EQ(Environment::read()->timeLimit, 2.5);
  for (const char *bad : {"", "0", "-1", "nan", "inf", "5s", "1e7"}) {
    setenv("CCN_TIMEOUT", bad, 1);
    EXPECT_EQ(Environment::read().message(),
              std::string("CCN_TIMEOUT: expected seconds above 0 and at most "
                          "1e6, found '") +
                  bad + "'");
  }
  unsetenv("CCN_TIMEOUT");
}

TEST(Environment, ReadsAndChecksHowGpusReachEachOther) {
  for (GpuTransport transport :
       {GpuTransport::Auto, GpuTransport::Peer, GpuTransport::Nccl}) {
    setenv("CCN_GPU_TRANSPORT", std::string(name(transport)).c_str(), 1);
    EXPECT_EQ(Environment::read()->gpuTransport, transport);
  }
  setenv("CCN_GPU_TRANSPORT", "pigeons", 1);
  EXPECT_EQ(Environment::read().message(),
            "CCN_GPU_TRANSPORT: expected auto, peer or nccl, found 'pigeons'");
  unsetenv("CCN_GPU_TRANSPORT");
  EXPECT_EQ(Environment::read()->gpuTransport, GpuTransport::Auto);
}

TEST(Environment, ReadsAndChecksWhatMultiplies) {
  unsetenv("CCN_PRODUCTS");
  EXPECT_EQ(Environment::read()->products, ProductChoice::Auto);
  for (ProductChoice choice :
       {ProductChoice::CublasLt, ProductChoice::Kernels, ProductChoice::Auto}) {
    setenv("CCN_PRODUCTS", std::string(name(choice)).c_str(), 1);
    EXPECT_EQ(Environment::read()->products, choice);
  }
  setenv("CCN_PRODUCTS", "cublas", 1);
  EXPECT_EQ(Environment::read().message(),
            "CCN_PRODUCTS: expected auto, kernels or cublaslt, found 'cublas'");
  unsetenv("CCN_PRODUCTS");
}

TEST(Wait, TimeLimitNamesTheRank) {
  auto heap = SymmetricHeap::create(3, 1 << 16);
  ASSERT_TRUE(heap.ok());
  auto start = std::chrono::steady_clock::now();
  std::atomic<int> failures{0};
  std::vector<Status> statuses = runTeam(
      **heap,
      [&](RankMemory &memory) {
        if (memory.rank() == 2) {
          // Comes too late: works until the others have given up.
          while (failures < 2)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          return Status();
        }
        Status status = barrierOnce(memory);
        ++failures;
        return status;
      },
      0.3);
  EXPECT_LT(secondsSince(start), 5);
  for (int rank : {0, 1})
    EXPECT_NE(statuses[rank].message().find(
                  "the time limit of 0.3 s passed while waiting for rank 2: "
                  "'arrival' of call 1 of barrier"),
              std::string::npos)
        << statuses[rank].message();
}

TEST(Wait, ChainOfWaitsLeadsToTheCulprit) {
  auto heap = SymmetricHeap::create(3, 1 << 12);
  ASSERT_TRUE(heap.ok());
  (*heap)->setWaitingFor(1, 2);
  Waiter waiter(**heap, 0, 0.05);
  Status status = waiter.wait(1, {"send", "data", 7}, [] { return false; });
  EXPECT_EQ(status.message(),
            "rank 0: the time limit of 0.05 s passed while waiting for rank 1: "
            "'data' of call 7 of send; rank 1 waits for rank 2");
}

TEST(Wait, AbortEndsTheOthers) {
  auto heap = SymmetricHeap::create(4, 1 << 16);
  ASSERT_TRUE(heap.ok());
  auto start = std::chrono::steady_clock::now();
  std::atomic<int> ended{0};
  std::vector<Status> statuses = runTeam(**heap, [&](RankMemory &memory) {
    if (memory.rank() != 3) {
      Status status = barrierOnce(memory);
      ++ended;
      return status;
    }
    // It fails when they wait, and stays, so that nothing but its failure ends
    // them.
    while ((*heap)->waitingFor(0) != 3 && secondsSince(start) < 5)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Status status = memory.fail("no more memory");
    while (ended < 3 && secondsSince(start) < 10)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return status;
  });
  EXPECT_LT(secondsSince(start), 5);
  for (const Status &status : statuses)
    EXPECT_EQ(status.message(), "rank 3: no more memory");
}

TEST(Wait, ARankThatLeftIsNamed) {
  auto heap = SymmetricHeap::create(2, 1 << 16);
  ASSERT_TRUE(heap.ok());
  std::vector<Status> statuses = runTeam(**heap, [](RankMemory &memory) {
    return memory.rank() == 1 ? Status() : barrierOnce(memory);
  });
  EXPECT_EQ(statuses[0].message(),
            "rank 0: rank 1 has ended while waiting for rank 1: 'arrival' of "
            "call 1 of barrier");
}

// A forked child of a program with threads may do little under ThreadSanitizer.
#if !__has_feature(thread_sanitizer)

namespace {

/// Joins the heap in a file that this process or its parent has made.
Result<std::unique_ptr<SymmetricHeap>> joinHeap(const FileDescriptor &file,
                                                SymmetricHeap::Member member) {
  Result<FileDescriptor> own = SymmetricHeap::openFile(getpid(), file.get());
  if (!own)
    return own.status();
  return SymmetricHeap::join(*std::move(own), member);
}

SymmetricHeap::Member memberOf(int rank, int ranks, int64_t bytesPerRank,
                               double timeLimit) {
  SymmetricHeap::Member member;
  member.rank = rank;
  member.ranks = ranks;
  member.bytesPerRank = bytesPerRank;
  member.timeLimit = timeLimit;
  return member;
}

/// Forks `ranks` processes that join one heap and call body; returns their ids.
std::vector<pid_t> forkRanks(int ranks,
                             const std::function<int(RankMemory &)> &body) {
  std::vector<pid_t> children;
  FileDescriptor file = *SymmetricHeap::makeFile();
  for (int rank = 0; rank < ranks; ++rank) {
    pid_t child = fork();
    if (child == 0) {
      int code = 9;
      {
        auto heap = joinHeap(file, memberOf(rank, ranks, 1 << 16, 20));
        if (heap) {
          RankMemory memory(**heap, rank, 60);
          code = body(memory);
        }
      }
      _exit(code);
    }
    children.push_back(child);
  }
  return children;
}

} // namespace

TEST(Processes, ReduceOverSharedMemory) {
  std::vector<pid_t> children = forkRanks(4, [](RankMemory &memory) {
    auto reduce = makeAllReduce(memory, allRanks(4), ElementType::F32,
                                ReduceKind::Sum, 100, Protocol::LL);
    if (!reduce)
      return 1;
    std::vector<float> values(100, static_cast<float>(memory.rank() + 1));
    for (int call = 0; call < 50; ++call)
      if (!(*reduce)->run(values.data(), values.data()).ok())
        return 2;
      else
        for (float &value : values) {
          float expected = 10;
          if (value != expected)
            return 3;
          value = static_cast<float>(memory.rank() + 1);
        }
    return 0;
  });
  for (pid_t child : children) {
    int state = 0;
    waitpid(child, &state, 0);
    EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << state;
  }
}

TEST(Processes, AKilledRankEndsTheOthersWithItsName) {
  int killed = 2;
  std::vector<pid_t> children = forkRanks(4, [&](RankMemory &memory) {
    if (memory.rank() == killed)
      for (;;)
        pause();
    Status status = barrierOnce(memory);
    bool named = status.message().find("rank 2 has ended") != std::string::npos;
    return !status.ok() && named ? 4 : 1;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  auto start = std::chrono::steady_clock::now();
  kill(children[killed], SIGKILL);
  // Nobody waits for the killed process yet, so that it stays a zombie.
  for (int rank = 0; rank < 4; ++rank) {
    if (rank == killed)
      continue;
    int state = 0;
    waitpid(children[rank], &state, 0);
    EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 4) << state;
  }
  EXPECT_LT(secondsSince(start), 10);
  waitpid(children[killed], nullptr, 0);
}

TEST(Processes, AMissingRankIsNamed) {
  FileDescriptor file = *SymmetricHeap::makeFile();
  EXPECT_EQ(joinHeap(file, memberOf(1, 2, 4096, 0.2)).message(),
            "shared memory: rank 0 did not make it within 0.2 s");
  EXPECT_EQ(joinHeap(file, memberOf(0, 2, 4096, 0.2)).message(),
            "shared memory: rank 1 did not join within 0.2 s");
}

TEST(Processes, ARankThatEndsBeforeAllHaveJoinedIsNoticed) {
  auto start = std::chrono::steady_clock::now();
  // One that has joined: its lock is gone.
  FileDescriptor file = *SymmetricHeap::makeFile();
  pid_t child = fork();
  if (child == 0) {
    alarm(1);
    (void)joinHeap(file, memberOf(1, 3, 4096, 20));
    _exit(0);
  }
  EXPECT_EQ(joinHeap(file, memberOf(0, 3, 4096, 20)).message(),
            "shared memory: rank 1 has ended before all ranks had joined");
  waitpid(child, nullptr, 0);
  // Ones that have not: who started them says so.
  FileDescriptor other = *SymmetricHeap::makeFile();
  SymmetricHeap::Member member = memberOf(2, 3, 4096, 20);
  member.hasEnded = [](int rank) { return rank == 0; };
  EXPECT_EQ(joinHeap(other, member).message(),
            "shared memory: rank 0 has ended");
  member = memberOf(0, 3, 4096, 20);
  member.hasEnded = [](int rank) { return rank == 2; };
  EXPECT_EQ(joinHeap(other, member).message(),
            "shared memory: rank 2 has ended before all ranks had joined");
  EXPECT_LT(secondsSince(start), 10);
}

TEST(Processes, TheOthersLearnThatThereIsNoMemory) {
  FileDescriptor file = *SymmetricHeap::makeFile();
  constexpr int64_t bytes = int64_t(1) << 45;
  pid_t child = fork();
  if (child == 0) {
    std::string why = joinHeap(file, memberOf(1, 2, bytes, 20)).message();
    bool isSaid = why.find("shared memory: rank 0: there is not enough "
                           "memory: expected 703687") == 0;
    _exit(isSaid ? 4 : 1);
  }
  std::string why = joinHeap(file, memberOf(0, 2, bytes, 20)).message();
  EXPECT_NE(why.find("bytes for symmetric memory of 2 ranks; found "), why.npos)
      << why;
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 4) << state;
}

#endif
