//===- Socket.cpp - Sockets of TCP ----------------------------------------===//
//
// Addresses are of IPv6 throughout; where the host has none, and to others of
// IPv4, sockets are of IPv4.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/Socket.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <system_error>
#include <thread>

namespace ccn::runtime {

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

namespace {

constexpr uint8_t mappedPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

SocketAddress ofSystem(const sockaddr_storage &from) {
  SocketAddress address;
  if (from.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &from, sizeof in);
    std::memcpy(address.bytes, mappedPrefix, sizeof mappedPrefix);
    std::memcpy(address.bytes + sizeof mappedPrefix, &in.sin_addr, 4);
    address.port = ntohs(in.sin_port);
  } else if (from.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &from, sizeof in);
    std::memcpy(address.bytes, &in.sin6_addr, 16);
    address.port = ntohs(in.sin6_port);
    address.link = in.sin6_scope_id;
  }
  return address;
}

socklen_t toSystem(const SocketAddress &address, sockaddr_storage &to) {
  to = {};
  if (address.isIPv4()) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(static_cast<uint16_t>(address.port));
    std::memcpy(&in.sin_addr, address.bytes + sizeof mappedPrefix, 4);
    std::memcpy(&to, &in, sizeof in);
    return sizeof in;
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(static_cast<uint16_t>(address.port));
  in.sin6_scope_id = address.link;
  std::memcpy(&in.sin6_addr, address.bytes, 16);
  std::memcpy(&to, &in, sizeof in);
  return sizeof in;
}

bool isAny(const SocketAddress &address) {
  static const SocketAddress none;
  return std::memcmp(address.bytes, none.bytes, sizeof none.bytes) == 0;
}

} // namespace

SocketAddress SocketAddress::any(uint16_t port) {
  SocketAddress address;
  address.port = port;
  return address;
}

SocketAddress SocketAddress::loopback(uint16_t port) {
  SocketAddress address = any(port);
  std::memcpy(address.bytes, mappedPrefix, sizeof mappedPrefix);
  address.bytes[12] = 127;
  address.bytes[15] = 1;
  return address;
}

bool SocketAddress::hasSameHost(const SocketAddress &other) const {
  return std::memcmp(bytes, other.bytes, sizeof bytes) == 0 &&
         link == other.link;
}

SocketAddress SocketAddress::own(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  getsockname(socket, reinterpret_cast<sockaddr *>(&storage), &size);
  return ofSystem(storage);
}

SocketAddress SocketAddress::peer(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  getpeername(socket, reinterpret_cast<sockaddr *>(&storage), &size);
  return ofSystem(storage);
}

bool SocketAddress::isIPv4() const {
  return std::memcmp(bytes, mappedPrefix, sizeof mappedPrefix) == 0;
}

bool SocketAddress::isLoopback() const {
  if (isIPv4())
    return bytes[12] == 127;
  SocketAddress one;
  one.bytes[15] = 1;
  return std::memcmp(bytes, one.bytes, sizeof bytes) == 0;
}

std::string SocketAddress::text() const {
  char digits[INET6_ADDRSTRLEN] = {};
  std::string number = ":" + std::to_string(port);
  if (isIPv4()) {
    inet_ntop(AF_INET, bytes + sizeof mappedPrefix, digits, sizeof digits);
    return digits + number;
  }
  inet_ntop(AF_INET6, bytes, digits, sizeof digits);
  return "[" + std::string(digits) + "]" + number;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static Result<std::vector<SocketAddress>> lookUp(const std::string &host,
                                                 int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo *found = nullptr;
  int failed = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (failed)
    return error("the host '", host, "' is not known: ", gai_strerror(failed));
  std::vector<SocketAddress> addresses;
  for (const addrinfo *one = found; one; one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6)
      continue;
    sockaddr_storage storage{};
    std::memcpy(&storage, one->ai_addr, one->ai_addrlen);
    addresses.push_back(ofSystem(storage));
  }
  freeaddrinfo(found);
  if (addresses.empty())
    return error("the host '", host, "' has no address");
  return addresses;
}

Result<std::vector<SocketAddress>> resolve(const std::string &host,
                                           double timeLimit) {
  using Addresses = Result<std::vector<SocketAddress>>;
  if (Addresses addresses = lookUp(host, AI_NUMERICHOST))
    return addresses;
  // Asking servers can take long, and cannot be interrupted: a thread of its
  // own does that, and goes on alone if they do not answer in time.
  struct Question {
    std::mutex mutex;
    std::condition_variable answered;
    std::optional<Addresses> answer;
  };
  auto question = std::make_shared<Question>();
  try {
    std::thread([question, host] {
      Addresses answer = lookUp(host, AI_ADDRCONFIG);
      std::lock_guard<std::mutex> lock(question->mutex);
      question->answer = std::move(answer);
      question->answered.notify_one();
    }).detach();
  } catch (const std::system_error &failure) {
    return error("cannot start a thread: ", failure.what());
  }
  std::unique_lock<std::mutex> lock(question->mutex);
  if (!question->answered.wait_for(
          lock, std::chrono::duration<double>(timeLimit),
          [&] { return question->answer.has_value(); }))
    return error("the host '", host, "' was not found within ", timeLimit,
                 " s");
  return *std::move(question->answer);
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

static FileDescriptor makeSocket(int family) {
  return FileDescriptor(
      ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

static void set(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof value);
}

/// Small messages are sent at once.
static void sendAtOnce(int socket) { set(socket, IPPROTO_TCP, TCP_NODELAY, 1); }

Result<FileDescriptor> listenAt(const SocketAddress &address) {
  // One is of IPv4 where the system has no IPv6.
  bool tryBoth = isAny(address);
  for (int family : {AF_INET6, AF_INET}) {
    if (!tryBoth && (family == AF_INET) != address.isIPv4())
      continue;
    FileDescriptor socket = makeSocket(family);
    if (socket.get() < 0 && family == AF_INET6 && tryBoth)
      continue;
    if (socket.get() < 0)
      return error("cannot make a socket: ", systemError());
    // Connections of earlier runs that have ended keep a port from being used
    // for a minute otherwise.
    set(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    sockaddr_storage storage{};
    socklen_t size = toSystem(address, storage);
    if (family == AF_INET6) {
      set(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, tryBoth ? 0 : 1);
    } else if (tryBoth) {
      sockaddr_in in{};
      in.sin_family = AF_INET;
      in.sin_port = htons(static_cast<uint16_t>(address.port));
      std::memcpy(&storage, &in, sizeof in);
      size = sizeof in;
    }
    if (bind(socket.get(), reinterpret_cast<sockaddr *>(&storage), size) != 0) {
      if (errno == EADDRNOTAVAIL && family == AF_INET6 && tryBoth)
        continue;
      return error("cannot listen at ", address.text(), ": ", systemError());
    }
    if (listen(socket.get(), SOMAXCONN) != 0)
      return error("cannot listen at ", address.text(), ": ", systemError());
    return socket;
  }
  return error("cannot listen at ", address.text(), ": ", systemError());
}

Result<FileDescriptor> listenBeside(const SocketAddress &address,
                                    const std::vector<uint16_t> &taken) {
  constexpr int maxTries = 64;
  // Sockets that are kept meanwhile make the system give another port.
  std::vector<FileDescriptor> unwanted;
  for (;;) {
    Result<FileDescriptor> made = listenAt(address);
    if (!made || static_cast<int>(unwanted.size()) == maxTries)
      return made;
    uint32_t port = SocketAddress::own(made->get()).port;
    if (std::find(taken.begin(), taken.end(), port) == taken.end())
      return made;
    unwanted.push_back(*std::move(made));
  }
}

Result<FileDescriptor> startConnecting(const SocketAddress &address) {
  FileDescriptor socket = makeSocket(address.isIPv4() ? AF_INET : AF_INET6);
  if (socket.get() < 0)
    return error("cannot make a socket: ", systemError());
  sendAtOnce(socket.get());
  sockaddr_storage storage{};
  socklen_t size = toSystem(address, storage);
  if (connect(socket.get(), reinterpret_cast<sockaddr *>(&storage), size) !=
          0 &&
      errno != EINPROGRESS)
    return error("cannot connect to ", address.text(), ": ", systemError());
  return socket;
}

Status connected(int socket) {
  int failed = 0;
  socklen_t size = sizeof failed;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &failed, &size) != 0)
    failed = errno;
  if (!failed)
    return Status();
  return Status::failure(std::strerror(failed));
}

FileDescriptor acceptFrom(int listener) {
  FileDescriptor socket(
      accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.get() >= 0)
    sendAtOnce(socket.get());
  return socket;
}

} // namespace ccn::runtime
