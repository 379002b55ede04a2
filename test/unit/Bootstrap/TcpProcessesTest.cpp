//===- TcpProcessesTest.cpp - Processes over TCP, and their deaths --------===//
//
// Ranks that are processes find each other as threads do; one that is killed,
// at any time, is named by the others.
//
//===----------------------------------------------------------------------===//

#include "TcpUtil.h"
#include "runtime/team/MessageTransport.h"
#include "runtime/team/RankMemory.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

// A forked child of a program with threads may do little under ThreadSanitizer.
#if !__has_feature(thread_sanitizer)

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// Forks a process for each rank, which ends with the code that body returns.
std::vector<pid_t>
forkRanks(int ranks, const std::function<int(const TcpOptions &)> &body) {
  uint16_t port = freePort();
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    pid_t child = fork();
    if (child == 0)
      _exit(body(optionsFor(rank, ranks, port)));
    children.push_back(child);
  }
  return children;
}

void expectCode(pid_t child, int code) {
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == code) << state;
}

/// Kills one after a while; the others end with code 4 within 10 s.
void expectEndAfterKill(const std::vector<pid_t> &children, int killed) {
  sleepFor(0.7);
  Clock::time_point start = Clock::now();
  kill(children[static_cast<size_t>(killed)], SIGKILL);
  for (size_t rank = 0; rank < children.size(); ++rank)
    if (static_cast<int>(rank) != killed)
      expectCode(children[rank], 4);
  EXPECT_LT(secondsSince(start), 10);
  waitpid(children[static_cast<size_t>(killed)], nullptr, 0);
}

} // namespace

TEST(TcpProcesses, MeetAndExchange) {
  for (int ranks : {2, 3, 4, 8})
    for (pid_t child : forkRanks(ranks, [](const TcpOptions &options) {
           Result<std::unique_ptr<Network>> network = joinTcpNetwork(options);
           return network && exchangeNames(**network) &&
                          !testing::Test::HasFailure()
                      ? 0
                      : 1;
         }))
      expectCode(child, 0);
}

TEST(TcpProcesses, OneThatIsKilledWhileOthersReceiveIsNamed) {
  for (int killed : {0, 2})
    expectEndAfterKill(
        forkRanks(4,
                  [&](const TcpOptions &options) {
                    Result<std::unique_ptr<Network>> network =
                        joinTcpNetwork(options);
                    if (!network)
                      return 1;
                    if (options.rank == killed)
                      for (;;)
                        pause();
                    Status status = receiveSoon(**network, killed).status();
                    return status.message() ==
                                   "rank " + std::to_string(killed) +
                                       " has ended: its connection was closed"
                               ? 4
                               : 2;
                  }),
        killed);
}

TEST(TcpProcesses, OneThatIsKilledWhileOthersWaitForMoreRanksIsNamed) {
  // Three of four come.
  constexpr int killed = 2;
  expectEndAfterKill(
      forkRanks(3,
                [&](const TcpOptions &options) {
                  TcpOptions more = options;
                  more.ranks = 4;
                  Status status = joinTcpNetwork(more).status();
                  return status.message() ==
                                 "rank 2 has ended: its connection was closed"
                             ? 4
                             : 2;
                }),
      killed);
}

TEST(TcpProcesses, OneThatIsKilledFailsTheTeamWithItsName) {
  for (int killed : {0, 3})
    expectEndAfterKill(
        forkRanks(4,
                  [&](const TcpOptions &options) {
                    Result<std::unique_ptr<Network>> network =
                        joinTcpNetwork(options);
                    if (!network)
                      return 1;
                    Result<std::unique_ptr<MessageTransport>> transport =
                        MessageTransport::start(*std::move(network), 4096);
                    if (!transport)
                      return 2;
                    if (options.rank == killed)
                      for (;;)
                        pause();
                    RankMemory memory(**transport, options.rank, 60);
                    Status status = memory.awaitFlag(
                        0, killed, {"test", "flag", 1},
                        [](uint32_t seen) { return seen == 1; });
                    bool isNamed = status.message().find(
                                       "rank " + std::to_string(killed) +
                                       " has ended: its connection is gone") !=
                                   std::string::npos;
                    return isNamed ? 4 : 3;
                  }),
        killed);
}

#endif
