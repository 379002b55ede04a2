//===- TcpMeetingTest.cpp - Who meets over TCP, and who does not ----------===//
//
// Ranks find each other at names and addresses, past other programs and other
// jobs; who does not fit is told so, who does not come is named.
//
//===----------------------------------------------------------------------===//

#include "TcpUtil.h"

#include <algorithm>
#include <atomic>
#include <list>

using namespace ccn;
using namespace ccn::runtime;

static std::vector<TcpOptions> allOptions(int ranks, uint16_t port,
                                          double timeLimit = 30) {
  std::vector<TcpOptions> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(optionsFor(rank, ranks, port, timeLimit));
  return all;
}

TEST(TcpMeeting, AnyNumberOfRanks) {
  for (int ranks : {1, 2, 3, 4, 8, 24})
    expectAllWell(runTcpRanks(allOptions(ranks, freePort()), exchangeNames));
}

TEST(TcpMeeting, ByNameAndByBothKindsOfAddress) {
  bool hasIPv6 = resolve("::1", 1).ok() && [] {
    SocketAddress address;
    address.bytes[15] = 1;
    return listenAt(address).ok();
  }();
  for (const char *host : {"127.0.0.1", "localhost", "127.0.0.7", "::1"})
    for (bool isOneHost : {true, false}) {
      if (std::string(host) == "::1" && !hasIPv6)
        continue;
      std::vector<TcpOptions> all = allOptions(3, freePort());
      for (TcpOptions &options : all) {
        options.place.host = host;
        options.place.isOneHost = isOneHost;
      }
      SCOPED_TRACE(host);
      expectAllWell(runTcpRanks(all, exchangeNames));
    }
}

TEST(TcpMeeting, RankZeroMayComeLast) {
  uint16_t port = freePort();
  std::vector<TcpOptions> all = allOptions(3, port);
  std::thread late([&] {
    sleepFor(0.7);
    expectAllWell(runTcpRanks({all[0]}, exchangeNames));
  });
  expectAllWell(runTcpRanks({all[1], all[2]}, exchangeNames));
  late.join();
}

TEST(TcpMeeting, MissingRanksAreNamed) {
  Clock::time_point start = Clock::now();
  uint16_t port = freePort();
  std::vector<Status> statuses = runTcpRanks(
      {optionsFor(0, 4, port, 1), optionsFor(2, 4, port, 1)}, exchangeNames);
  for (const Status &status : statuses)
    EXPECT_EQ(status.message(), "ranks 1 and 3 did not join within 1 s");
  EXPECT_LT(secondsSince(start), 8);
}

TEST(TcpMeeting, AMissingRankZeroIsNamed) {
  Clock::time_point start = Clock::now();
  std::string port = std::to_string(freePort());
  std::vector<Status> statuses = runTcpRanks(
      {optionsFor(1, 2, static_cast<uint16_t>(std::stoi(port)), 1.5)},
      exchangeNames);
  EXPECT_EQ(statuses[0].message(),
            "rank 0 was not found at 127.0.0.1, port " + port +
                " within 1.5 s; cannot connect to 127.0.0.1:" + port +
                ": Connection refused");
  EXPECT_LT(secondsSince(start), 5);
}

TEST(TcpMeeting, AHostThatIsNotKnownIsNamed) {
  TcpOptions options = optionsFor(1, 2, 1, 1.5);
  options.place.host = "no-such-host.invalid";
  Clock::time_point start = Clock::now();
  std::string said = runTcpRanks({options}, exchangeNames)[0].message();
  EXPECT_EQ(said.find("rank 0 was not found at no-such-host.invalid, port 1 "
                      "within 1.5 s; the host 'no-such-host.invalid' "),
            0u)
      << said;
  EXPECT_LT(secondsSince(start), 5);
}

TEST(TcpMeeting, StrangersAreLeftAlone) {
  uint16_t port = freePort();
  std::vector<Status> statuses;
  std::thread first(
      [&] { statuses = runTcpRanks({optionsFor(0, 3, port)}, exchangeNames); });
  std::list<FileDescriptor> strangers;
  auto stranger = [&](const std::string &text) -> FileDescriptor & {
    strangers.push_back(connectTo(port));
    sayTo(strangers.back(), text.data(), text.size());
    return strangers.back();
  };
  // Some say nothing, or not all, and stay.
  for (int i = 0; i < 100; ++i)
    stranger(i % 2 ? "" : "ccnhe");
  // Others are shown the door, as soon as they say what no rank does.
  EXPECT_EQ(hearFrom(stranger("GET / HTTP/1.1\r\n\r\n")), "");
  EXPECT_EQ(hearFrom(stranger("ccnhellO")), "");
  EXPECT_EQ(hearFrom(stranger(std::string(100000, '\0'))), "");
  std::string half(reinterpret_cast<const char *>(TcpGreeting::magic), 8);
  stranger(half + std::string("\1\0\0\0", 4));
  strangers.pop_back();
  // A connection that is closed at once.
  connectTo(port);
  TcpGreeting older = greetingOf(1, 3);
  older.preamble.version = 7;
  TcpAnswer answer = answerTo(connectTo(port), older);
  EXPECT_EQ(answer.verdict, TcpAnswer::OtherVersion);
  EXPECT_EQ(answer.preamble.version, TcpPreamble::currentVersion);
  EXPECT_EQ(std::memcmp(answer.preamble.magic, TcpAnswer::magic, 8), 0);
  TcpGreeting foreign = greetingOf(1, 3);
  setText(foreign.job, std::string(1000, 'x'));
  std::memset(foreign.job, 'x', sizeof foreign.job);
  answer = answerTo(connectTo(port), foreign);
  EXPECT_EQ(answer.verdict, TcpAnswer::OtherJob);
  EXPECT_STREQ(answer.text, "job");
  for (int rank : {7, -1, 1 << 30}) {
    answer = answerTo(connectTo(port), greetingOf(rank, 3));
    EXPECT_EQ(answer.verdict, TcpAnswer::Refused);
    EXPECT_EQ(std::string(answer.text),
              "rank 0 of 3 expected a rank after it, found rank " +
                  std::to_string(rank));
  }
  TcpGreeting odd = greetingOf(2, 3);
  odd.to = 1;
  answer = answerTo(connectTo(port), odd);
  EXPECT_EQ(answer.verdict, TcpAnswer::OtherRank);
  EXPECT_STREQ(answer.text, "0");
  expectAllWell(runTcpRanks({optionsFor(1, 3, port), optionsFor(2, 3, port)},
                            exchangeNames));
  first.join();
  expectAllWell(statuses);
}

TEST(TcpMeeting, TooManySilentStrangersAreShownTheDoor) {
  uint16_t port = freePort();
  std::vector<Status> first;
  std::atomic<bool> done = false;
  std::thread zero([&] {
    first = runTcpRanks({optionsFor(0, 2, port)}, exchangeNames);
    done = true;
  });
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 300; ++i)
    silent.push_back(connectTo(port));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(hearFrom(silent[static_cast<size_t>(i)]), "");
  EXPECT_FALSE(done);
  expectAllWell(runTcpRanks({optionsFor(1, 2, port)}, exchangeNames));
  zero.join();
  expectAllWell(first);
}

TEST(TcpMeeting, ARankThatIsTakenIsRefused) {
  uint16_t port = freePort();
  const std::string twice = "expected each rank once, found two processes that "
                            "are rank ";
  std::vector<Status> first;
  std::atomic<int> done = 0;
  std::thread two([&] {
    first = runTcpRanks({optionsFor(0, 3, port), optionsFor(1, 3, port)},
                        exchangeNames);
    ++done;
  });
  sleepFor(1);
  for (int rank : {0, 1})
    EXPECT_EQ(
        runTcpRanks({optionsFor(rank, 3, port)}, exchangeNames)[0].message(),
        twice + std::to_string(rank));
  EXPECT_EQ(done, 0);
  expectAllWell(runTcpRanks({optionsFor(2, 3, port)}, exchangeNames));
  two.join();
  expectAllWell(first);
}

TEST(TcpMeeting, WhoWasRefusedIsToldWithWhoIsMissing) {
  uint16_t port = freePort();
  std::vector<Status> statuses =
      runTcpRanks({optionsFor(0, 3, port, 2), optionsFor(1, 3, port, 2),
                   optionsFor(1, 3, port, 2)},
                  exchangeNames);
  const std::string twice =
      "expected each rank once, found two processes that are rank 1";
  const std::string missing = "rank 2 did not join within 2 s; " + twice;
  EXPECT_EQ(statuses[0].message(), missing);
  std::vector<std::string> others = {statuses[1].message(),
                                     statuses[2].message()};
  std::sort(others.begin(), others.end());
  EXPECT_EQ(others, std::vector<std::string>({twice, missing}));
}

TEST(TcpMeeting, AnotherNumberOfRanksEndsAll) {
  Clock::time_point start = Clock::now();
  uint16_t port = freePort();
  std::vector<Status> first;
  std::thread two([&] {
    first = runTcpRanks({optionsFor(0, 4, port), optionsFor(1, 4, port)},
                        exchangeNames);
  });
  sleepFor(1);
  std::vector<Status> second =
      runTcpRanks({optionsFor(2, 3, port)}, exchangeNames);
  two.join();
  const std::string text = "rank 0 was started as one of 4 ranks: expected the "
                           "same of rank 2, found that it is one of 3";
  EXPECT_EQ(first[0].message(), text);
  EXPECT_EQ(first[1].message(), text);
  EXPECT_EQ(second[0].message(), text);
  EXPECT_LT(secondsSince(start), 10);
}

TEST(TcpMeeting, PortsThatAreTakenAreSkipped) {
  // One that closes connections, one that says what no rank does, and one that
  // is silent.
  Occupied closing, talking, silent;
  std::atomic<bool> ends = false;
  std::thread others([&] {
    std::list<FileDescriptor> kept;
    while (!ends) {
      acceptFrom(closing.socket.get());
      FileDescriptor socket = acceptFrom(talking.socket.get());
      if (socket.get() >= 0) {
        sayTo(socket, "220 mail.example.org ESMTP\r\n", 28);
        kept.push_back(std::move(socket));
      }
      sleepFor(0.001);
    }
  });
  std::vector<TcpOptions> all = allOptions(3, 0);
  uint16_t port = freePort();
  for (TcpOptions &options : all)
    options.place.ports = {closing.port, talking.port, silent.port, port};
  expectAllWell(runTcpRanks(all, exchangeNames));
  // With rank 0 away, they say what they found.
  all[1].place.ports.resize(2);
  all[1].timeLimit = 1.5;
  EXPECT_EQ(runTcpRanks({all[1]}, exchangeNames)[0].message(),
            "rank 0 was not found at 127.0.0.1, port " +
                std::to_string(closing.port) + " to " +
                std::to_string(talking.port) + " within 1.5 s; at 127.0.0.1:" +
                std::to_string(talking.port) + " is something other than ccn");
  all[0].place.ports.resize(2);
  EXPECT_EQ(runTcpRanks({all[0]}, exchangeNames)[0].message(),
            "rank 0 found no port to listen at, of 127.0.0.1, port " +
                std::to_string(closing.port) + " to " +
                std::to_string(talking.port) + ": cannot listen at 127.0.0.1:" +
                std::to_string(talking.port) + ": Address already in use");
  ends = true;
  others.join();
}

TEST(TcpMeeting, APortThatIsSoonFreeIsWaitedFor) {
  auto taken = std::make_unique<Occupied>(freePort());
  std::vector<TcpOptions> all = allOptions(3, taken->port);
  std::thread soon([&] {
    sleepFor(0.2);
    taken.reset();
  });
  expectAllWell(runTcpRanks(all, exchangeNames));
  soon.join();
}

TEST(TcpMeeting, NobodyTakesThePortsOfRankZero) {
  // Half of those that the system gives; the port of rank 0 may be among them.
  std::vector<uint16_t> taken;
  for (int port = 32768; port < 61000; ++port)
    if (port % 4 < 2)
      taken.push_back(static_cast<uint16_t>(port));
  for (int i = 0; i < 50; ++i) {
    Result<FileDescriptor> made =
        listenBeside(SocketAddress::loopback(0), taken);
    ASSERT_TRUE(made.ok()) << made.message();
    uint32_t port = SocketAddress::own(made->get()).port;
    EXPECT_FALSE(std::binary_search(taken.begin(), taken.end(), port)) << port;
  }
}

TEST(TcpMeeting, JobsThatShareTheirPorts) {
  std::vector<uint16_t> ports;
  for (int i = 0; i < 4; ++i)
    ports.push_back(freePort());
  std::vector<std::thread> jobs;
  for (const char *job : {"a", "b", "c"})
    jobs.emplace_back([&ports, job] {
      std::vector<TcpOptions> all = allOptions(3, 0);
      for (TcpOptions &options : all) {
        options.place.ports = ports;
        options.place.job = job;
      }
      expectAllWell(runTcpRanks(all, [job](Network &network) {
        Result<std::vector<std::string>> names = exchange(network, job, 30);
        if (names)
          EXPECT_EQ(*names, std::vector<std::string>(3, job));
        return names.status();
      }));
    });
  for (std::thread &job : jobs)
    job.join();
}

TEST(TcpMeeting, OtherRanksAtThePortsAreSkipped) {
  // Rank 1 of another meeting of the same job listens at the first port.
  uint16_t port = freePort();
  std::vector<Status> statuses;
  TcpOptions second = optionsFor(1, 3, port);
  std::thread one([&] { statuses = runTcpRanks({second}, exchangeNames); });
  Occupied zero(port);
  FileDescriptor socket;
  while (socket.get() < 0)
    socket = acceptFrom(zero.socket.get());
  std::string heard = hearFrom(socket, sizeof(TcpGreeting));
  TcpGreeting greeting;
  ASSERT_EQ(heard.size(), sizeof greeting);
  std::memcpy(&greeting, heard.data(), sizeof greeting);
  TcpAnswer welcome;
  std::memcpy(welcome.preamble.magic, TcpAnswer::magic, 8);
  sayTo(socket, &welcome, sizeof welcome);
  uint16_t otherPort = freePort();
  std::vector<TcpOptions> all = allOptions(2, otherPort);
  for (TcpOptions &options : all)
    options.place.ports = {static_cast<uint16_t>(greeting.port), otherPort};
  expectAllWell(runTcpRanks(all, exchangeNames));
  // Alone, it says whom it found.
  all[1].place.ports.pop_back();
  all[1].timeLimit = 1.5;
  std::string at = std::to_string(greeting.port);
  EXPECT_EQ(runTcpRanks({all[1]}, exchangeNames)[0].message(),
            "rank 0 was not found at 127.0.0.1, port " + at +
                " within 1.5 s; at 127.0.0.1:" + at +
                " is another rank: expected rank 0, found rank 1");
  socket = FileDescriptor();
  one.join();
  EXPECT_EQ(statuses[0].message(),
            "rank 0 has ended: its connection was closed");
}

TEST(TcpMeeting, AnotherJobAtThePortIsNamed) {
  uint16_t port = freePort();
  TcpOptions other = optionsFor(1, 2, port, 1.5);
  other.place.job = "another";
  std::vector<Status> statuses =
      runTcpRanks({optionsFor(0, 2, port, 3), other}, exchangeNames);
  EXPECT_EQ(statuses[0].message(),
            "rank 1 did not join within 3 s; a rank of another job was "
            "turned away: expected \"job\", found \"another\"");
  EXPECT_EQ(statuses[1].message(),
            "rank 0 was not found at 127.0.0.1, port " + std::to_string(port) +
                " within 1.5 s; at 127.0.0.1:" + std::to_string(port) +
                " is another job: expected \"another\", found \"job\"");
}

TEST(TcpMeeting, ARankMayComeAgainButNotStayAway) {
  uint16_t port = freePort();
  std::vector<Status> first;
  std::thread zero(
      [&] { first = runTcpRanks({optionsFor(0, 3, port)}, exchangeNames); });
  // One that did not wait for its answer.
  EXPECT_EQ(answerTo(connectTo(port), greetingOf(1, 3)).verdict,
            TcpAnswer::Welcome);
  sleepFor(0.3);
  expectAllWell(runTcpRanks({optionsFor(1, 3, port), optionsFor(2, 3, port)},
                            exchangeNames));
  zero.join();
  expectAllWell(first);

  port = freePort();
  Clock::time_point start = Clock::now();
  std::thread again(
      [&] { first = runTcpRanks({optionsFor(0, 3, port)}, exchangeNames); });
  EXPECT_EQ(answerTo(connectTo(port), greetingOf(1, 3)).verdict,
            TcpAnswer::Welcome);
  again.join();
  EXPECT_EQ(first[0].message(), "rank 1 has ended: its connection was closed");
  EXPECT_LT(secondsSince(start), 10);
}

TEST(TcpMeeting, WhoTalksNonsenseAfterItsWelcomeIsNamed) {
  for (const std::string &nonsense :
       {std::string(16, '\xff'),
        std::string("\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0x", 17) +
            std::string(16, 'x'),
        std::string("\0\0\0\0\0\0\0\0\1\0\0\20\0\0\0\0", 16)}) {
    uint16_t port = freePort();
    std::vector<Status> first;
    std::thread zero(
        [&] { first = runTcpRanks({optionsFor(0, 2, port)}, exchangeNames); });
    FileDescriptor socket = connectTo(port);
    EXPECT_EQ(answerTo(socket, greetingOf(1, 2)).verdict, TcpAnswer::Welcome);
    sayTo(socket, nonsense.data(), nonsense.size());
    zero.join();
    EXPECT_EQ(first[0].message(), "rank 1 has ended: it sent what makes no "
                                  "sense");
  }
}
