//===- DescriptorExchangeTest.cpp - Files that ranks pass to each other ---===//
//
// With threads as ranks: each has a socket of its own, as processes have.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/DescriptorExchange.h"
#include "runtime/team/SymmetricHeap.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int64_t recordBytes = 100;

/// A file that holds a number.
FileDescriptor fileOf(int number) {
  FileDescriptor file(memfd_create("test", MFD_CLOEXEC));
  EXPECT_TRUE(writeAll(file.get(), &number, sizeof number));
  return file;
}
int numberIn(const FileDescriptor &file) {
  int number = -1;
  EXPECT_EQ(readAt(file.get(), &number, sizeof number, 0),
            int64_t(sizeof number));
  return number;
}

class Ranks {
public:
  explicit Ranks(int ranks, double timeLimit = 20)
      : timeLimit(timeLimit),
        heap(*SymmetricHeap::create(ranks,
                                    HostExchange::bytes(ranks, recordBytes))) {}

  /// Each of the first `givers` ranks gives `count` files to all others; what
  /// each rank returned. `change` makes a rank do something else, and `leaver`
  /// leaves before the others have come to their end.
  std::vector<Status>
  pass(int givers, size_t count,
       const std::function<void(int, DescriptorTraffic &)> &change,
       int leaver = -1) {
    std::vector<Status> statuses(static_cast<size_t>(heap->ranks()));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < heap->ranks(); ++rank)
      threads.emplace_back([&, rank] {
        statuses[static_cast<size_t>(rank)] = one(rank, givers, count, change);
        if (rank == leaver)
          heap->leave(rank);
      });
    for (std::thread &thread : threads)
      thread.join();
    return statuses;
  }

  std::atomic<int> taken{0};

private:
  Status one(int rank, int givers, size_t count,
             const std::function<void(int, DescriptorTraffic &)> &change) {
    auto exchange =
        HostExchange::create(*heap, rank, timeLimit, recordBytes, "set-up");
    if (!exchange)
      return exchange.status();
    std::vector<int> next(static_cast<size_t>(heap->ranks()));
    DescriptorTraffic traffic;
    for (int other = 0; other < heap->ranks(); ++other) {
      bool isOther = other != rank;
      traffic.expected.push_back(isOther && other < givers ? count : 0);
      if (isOther && rank < givers)
        traffic.receivers.push_back(other);
    }
    traffic.given = rank < givers ? count : 0;
    traffic.give = [&](size_t index) -> Result<PassedDescriptor> {
      return PassedDescriptor{fileOf(1000 * rank + int(index)), index + 7};
    };
    traffic.take = [&](int from, PassedDescriptor passed) {
      int index = next[static_cast<size_t>(from)]++;
      EXPECT_EQ(numberIn(passed.file), 1000 * from + index);
      EXPECT_EQ(passed.about, static_cast<uint64_t>(index) + 7);
      ++taken;
      return Status();
    };
    if (change)
      change(rank, traffic);
    return passDescriptors(**exchange, traffic);
  }

  double timeLimit;
  std::unique_ptr<SymmetricHeap> heap;
};

} // namespace

TEST(DescriptorExchange, AllComeInOrder) {
  for (int ranks : {1, 2, 5})
    for (int givers : {1, ranks})
      for (size_t count : {0, 1, 300}) {
        Ranks team(ranks);
        for (const Status &status : team.pass(givers, count, nullptr))
          EXPECT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(team.taken, givers * (ranks - 1) * int(count));
      }
}

TEST(DescriptorExchange, FewAreOpenAtOnce) {
  rlimit old, few;
  getrlimit(RLIMIT_NOFILE, &old);
  few = old;
  few.rlim_cur = 64;
  setrlimit(RLIMIT_NOFILE, &few);
  Ranks team(4);
  std::vector<Status> statuses = team.pass(4, 200, nullptr);
  setrlimit(RLIMIT_NOFILE, &old);
  for (const Status &status : statuses)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(DescriptorExchange, WhatIsNotGivenIsNotAwaited) {
  Ranks team(3);
  auto start = std::chrono::steady_clock::now();
  std::vector<Status> statuses =
      team.pass(3, 50, [](int rank, DescriptorTraffic &traffic) {
        if (rank != 1)
          return;
        auto give = traffic.give;
        traffic.give = [give](size_t index) {
          return index < 20 ? give(index) : error("no more");
        };
      });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(statuses[0].message(), "rank 1 could not pass a descriptor");
  EXPECT_EQ(statuses[1].message(), "no more");
  EXPECT_EQ(statuses[2].message(), "rank 1 could not pass a descriptor");
}

TEST(DescriptorExchange, WhoCannotTakeHoldsUpNobody) {
  Ranks team(3);
  auto start = std::chrono::steady_clock::now();
  std::vector<Status> statuses =
      team.pass(3, 50, [](int rank, DescriptorTraffic &traffic) {
        if (rank == 1)
          traffic.take = [](int, PassedDescriptor) { return error("full"); };
      });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].message();
  EXPECT_EQ(statuses[1].message(), "full");
  EXPECT_TRUE(statuses[2].ok()) << statuses[2].message();
}

TEST(DescriptorExchange, WhoEndsIsNotAwaited) {
  Ranks team(3);
  auto start = std::chrono::steady_clock::now();
  // Rank 2 expects fewer, and goes.
  std::vector<Status> statuses = team.pass(
      3, 50,
      [](int rank, DescriptorTraffic &traffic) {
        if (rank != 2)
          return;
        traffic.given = 0;
        traffic.expected.assign(3, 0);
      },
      /*leaver=*/2);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_FALSE(statuses[0].ok());
  EXPECT_FALSE(statuses[1].ok());
}

TEST(DescriptorExchange, WaitsEnd) {
  Ranks team(2, 0.4);
  // Rank 0 waits for what rank 1 does not know of, which stays meanwhile.
  std::vector<Status> statuses =
      team.pass(1, 1, [](int rank, DescriptorTraffic &traffic) {
        if (rank == 0)
          traffic.expected = {0, 1};
        else
          traffic.take = [](int, PassedDescriptor) {
            std::this_thread::sleep_for(std::chrono::milliseconds(600));
            return Status();
          };
      });
  EXPECT_EQ(statuses[0].message(), "descriptors were not passed within 0.2 s");
}

/// Sends messages of all sizes with a descriptor to all whose names look so.
static void sendToMailboxes() {
  std::ifstream sockets("/proc/net/unix");
  FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
  FileDescriptor file = fileOf(-1);
  int number = file.get();
  for (std::string line; std::getline(sockets, line);) {
    size_t at = line.find("@ccn-");
    if (at == std::string::npos)
      continue;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string name = line.substr(at + 1);
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    for (size_t size = 0; size <= 40; size += 8) {
      char bytes[40] = {};
      iovec data{bytes, size};
      alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
      msghdr header{};
      header.msg_name = &address;
      header.msg_namelen = static_cast<socklen_t>(
          offsetof(sockaddr_un, sun_path) + 1 + name.size());
      header.msg_iov = &data;
      header.msg_iovlen = 1;
      header.msg_control = control;
      header.msg_controllen = CMSG_LEN(sizeof(int));
      cmsghdr *first = CMSG_FIRSTHDR(&header);
      *first = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
      std::memcpy(CMSG_DATA(first), &number, sizeof number);
      (void)sendmsg(socket.get(), &header, MSG_NOSIGNAL);
    }
  }
}

TEST(DescriptorExchange, WhatOthersSendIsNotTaken) {
  Ranks team(2);
  std::vector<Status> statuses =
      team.pass(2, 20, [](int, DescriptorTraffic &traffic) {
        auto give = traffic.give;
        traffic.give = [give](size_t index) {
          sendToMailboxes();
          return give(index);
        };
      });
  for (const Status &status : statuses)
    EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(team.taken, 40);
}

TEST(DescriptorExchange, WhoSeesNoSocketsIsNamed) {
  Ranks team(3);
  std::atomic<bool> isApart{false};
  std::vector<Status> statuses =
      team.pass(3, 20, [&](int rank, DescriptorTraffic &) {
        // As a container with a network of its own.
        if (rank == 1)
          isApart = unshare(CLONE_NEWNET) == 0;
      });
  if (!isApart)
    GTEST_SKIP() << "a network of its own needs permission";
  for (const Status &status : statuses)
    EXPECT_EQ(status.message(), "rank 0 cannot pass descriptors to all others");
  EXPECT_EQ(team.taken, 0);
}
