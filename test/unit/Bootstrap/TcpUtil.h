//===- TcpUtil.h - Ranks that meet over TCP, for tests ----------*- C++ -*-===//
//
// Ranks that are threads of this process, each with a network of its own, as
// processes have, and what connects to them without being a rank.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_BOOTSTRAP_TCPUTIL_H
#define CCN_TEST_UNIT_BOOTSTRAP_TCPUTIL_H

#include "runtime/launch/TcpGreeting.h"
#include "runtime/launch/TcpNetwork.h"
#include "runtime/team/RunIdentity.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <poll.h>
#include <random>
#include <thread>

namespace ccn::runtime {

using Clock = std::chrono::steady_clock;

inline void sleepFor(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// A listener of this host, and its port.
struct Occupied {
  FileDescriptor socket;
  uint16_t port = 0;

  explicit Occupied(uint16_t wanted = 0) {
    Result<FileDescriptor> made = listenAt(SocketAddress::loopback(wanted));
    EXPECT_TRUE(made.ok()) << made.message();
    if (!made)
      return;
    socket = *std::move(made);
    port = static_cast<uint16_t>(SocketAddress::own(socket.get()).port);
  }
};

/// A port that nobody uses now, and which the system gives nobody who does not
/// ask for it: its own begin at 32768.
inline uint16_t freePort() {
  static std::random_device random;
  std::uniform_int_distribution<int> ports(10000, 32767);
  for (;;) {
    auto port = static_cast<uint16_t>(ports(random));
    if (listenAt(SocketAddress::loopback(port)))
      return port;
  }
}

/// Of a rank of this host.
inline TcpOptions optionsFor(int rank, int ranks, uint16_t port,
                             double timeLimit = 30) {
  TcpOptions options;
  options.rank = rank;
  options.ranks = ranks;
  options.place.host = "127.0.0.1";
  options.place.ports = {port};
  options.place.job = "job";
  options.place.isOneHost = true;
  options.timeLimit = timeLimit;
  return options;
}

using NetworkBody = std::function<Status(Network &)>;

/// Runs a thread for each rank, which joins and calls body; what each says.
inline std::vector<Status> runTcpRanks(const std::vector<TcpOptions> &ranks,
                                       const NetworkBody &body) {
  std::vector<Status> statuses(ranks.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i] {
      Result<std::unique_ptr<Network>> network = joinTcpNetwork(ranks[i]);
      if (!network) {
        statuses[i] = network.status();
        return;
      }
      EXPECT_EQ((*network)->rank(), ranks[i].rank);
      EXPECT_EQ((*network)->ranks(), ranks[i].ranks);
      statuses[i] = body(**network);
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

inline void expectAllWell(const std::vector<Status> &statuses) {
  for (size_t i = 0; i < statuses.size(); ++i)
    EXPECT_TRUE(statuses[i].ok())
        << "rank " << i << ": " << statuses[i].message();
}

/// Tells everybody who one is.
inline Status exchangeNames(Network &network) {
  auto nameOf = [](int rank) { return "I am " + std::to_string(rank); };
  Result<std::vector<std::string>> names =
      exchange(network, nameOf(network.rank()), 30);
  if (!names)
    return names.status();
  for (int rank = 0; rank < network.ranks(); ++rank)
    EXPECT_EQ((*names)[static_cast<size_t>(rank)], nameOf(rank));
  return Status();
}

inline Message messageOf(const std::string &text) {
  const auto *bytes = reinterpret_cast<const std::byte *>(text.data());
  return Message(bytes, bytes + text.size());
}

/// Sends a message as soon as it is taken, receiving nothing meanwhile.
inline Status sendSoon(Network &network, int to, Message message) {
  for (;;) {
    Result<bool> taken = network.send(to, message);
    if (!taken || *taken)
      return taken.status();
    std::this_thread::yield();
  }
}

/// The next message from a rank, within some seconds.
inline Result<Message> receiveSoon(Network &network, int from) {
  constexpr double patience = 30;
  Clock::time_point start = Clock::now();
  while (secondsSince(start) < patience) {
    Message message;
    int sender = from;
    Result<bool> arrived = network.receive(sender, message);
    if (!arrived)
      return arrived.status();
    if (*arrived)
      return message;
    std::this_thread::yield();
  }
  return error("nothing came");
}

/// A connection to a port of this host, made by no rank.
inline FileDescriptor connectTo(uint16_t port) {
  constexpr double patience = 20;
  Clock::time_point start = Clock::now();
  while (secondsSince(start) < patience) {
    Result<FileDescriptor> socket =
        startConnecting(SocketAddress::loopback(port));
    if (socket) {
      pollfd file{socket->get(), POLLOUT, 0};
      if (poll(&file, 1, 1000) > 0 && connected(socket->get()))
        return *std::move(socket);
    }
    sleepFor(0.01);
  }
  ADD_FAILURE() << "nobody listens at port " << port;
  return FileDescriptor();
}

inline void sayTo(const FileDescriptor &socket, const void *data, size_t size) {
  EXPECT_EQ(send(socket.get(), data, size, MSG_NOSIGNAL),
            static_cast<ssize_t>(size));
}

/// What comes until the other closes the connection, or `most` bytes.
inline std::string hearFrom(const FileDescriptor &socket, size_t most = 4096) {
  constexpr int patience = 20000;
  std::string heard;
  while (heard.size() < most) {
    pollfd file{socket.get(), POLLIN, 0};
    EXPECT_GT(poll(&file, 1, patience), 0) << "the connection stays open";
    char buffer[4096];
    ssize_t count = recv(socket.get(), buffer,
                         std::min(most - heard.size(), sizeof buffer), 0);
    if (count <= 0)
      break;
    heard.append(buffer, static_cast<size_t>(count));
  }
  return heard;
}

/// What rank `rank` of `ranks` of the job above says to rank 0.
inline TcpGreeting greetingOf(int rank, int ranks) {
  TcpGreeting greeting;
  std::memcpy(greeting.preamble.magic, TcpGreeting::magic, 8);
  greeting.rank = rank;
  greeting.ranks = ranks;
  greeting.process = 12345;
  setText(greeting.job, "job");
  return greeting;
}

/// The answer to a greeting.
inline TcpAnswer answerTo(const FileDescriptor &socket,
                          const TcpGreeting &greeting) {
  sayTo(socket, &greeting, sizeof greeting);
  std::string heard = hearFrom(socket, sizeof(TcpAnswer));
  TcpAnswer answer;
  EXPECT_EQ(heard.size(), sizeof answer);
  std::memcpy(&answer, heard.data(), std::min(heard.size(), sizeof answer));
  return answer;
}

} // namespace ccn::runtime

#endif // CCN_TEST_UNIT_BOOTSTRAP_TCPUTIL_H
