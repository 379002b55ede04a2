//===- DescriptorExchange.cpp - Files that processes pass to each other ---===//
//
// Descriptors are sent in datagrams over Unix sockets, which needs no
// permission. Taking them from the other process instead (pidfd_getfd) would
// need that of a debugger. The sockets have abstract names rather than files,
// since containers that share a network need not share folders. Everybody on
// the host can see such a name, so every message contains a secret word that
// the ranks have told each other before.
//
// Few descriptors are under way at a time, and none is kept, since a process
// may not have many.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/DescriptorExchange.h"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

namespace ccn::runtime {

namespace {

/// The name of the socket at which a rank receives messages, and the word that
/// messages to it must contain.
struct Mailbox {
  uint64_t name = 0, secret = 0;
};

struct Message {
  uint64_t secret = 0, about = 0;
  int sender = 0;
  /// If not, there is none, and none will follow.
  int hasDescriptor = 0;
};

/// Control data with room for exactly one descriptor.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

uint64_t randomWord() {
  std::random_device random;
  return uint64_t(random()) << 32 | random();
}

FileDescriptor makeSocket() {
  return FileDescriptor(
      ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// Whether bind or connect has done it.
bool callWithName(int (*call)(int, const sockaddr *, socklen_t), int socket,
                  uint64_t name) {
  // What begins with a zero is no file's name.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string text = "ccn-" + std::to_string(name);
  std::memcpy(address.sun_path + 1, text.data(), text.size());
  auto size = offsetof(sockaddr_un, sun_path) + 1 + text.size();
  return call(socket, reinterpret_cast<const sockaddr *>(&address),
              static_cast<socklen_t>(size)) == 0;
}

/// What is on its way to one rank.
struct Outgoing {
  int rank;
  FileDescriptor socket;
  size_t done = 0;
  bool isOver = false;
  /// The next descriptor, if it could not be sent yet.
  std::optional<PassedDescriptor> next;
};

class Passing {
public:
  Passing(HostExchange &exchange, const DescriptorTraffic &traffic)
      : exchange(exchange), traffic(traffic), missing(traffic.expected) {}

  Status run();

private:
  /// Connects to all ranks to which this one gives descriptors.
  Status connect();
  /// Whether something could be done.
  bool send(Outgoing &outgoing);
  bool receive();
  void take(const Message &message, FileDescriptor file);
  bool isDone() const;
  void fail(const Status &why) {
    if (status)
      status = why;
  }

  HostExchange &exchange;
  const DescriptorTraffic &traffic;
  Mailbox own;
  FileDescriptor socket;
  std::vector<Mailbox> mailboxes;
  std::vector<Outgoing> outgoing;
  /// By rank.
  std::vector<size_t> missing;
  Status status;
};

} // namespace

Status Passing::connect() {
  socket = makeSocket();
  own = {randomWord(), randomWord()};
  // What cannot be made is no socket to these either.
  int isConnected = callWithName(::bind, socket.get(), own.name);
  Result<std::vector<Mailbox>> all = exchange.gather(own);
  if (!all)
    return all.status();
  mailboxes = *std::move(all);
  for (int rank : traffic.receivers) {
    outgoing.push_back({rank, makeSocket(), 0, traffic.given == 0, {}});
    isConnected &= callWithName(::connect, outgoing.back().socket.get(),
                                mailboxes[static_cast<size_t>(rank)].name);
  }
  Result<std::vector<int>> connected = exchange.gather(isConnected);
  if (!connected)
    return connected.status();
  for (size_t rank = 0; rank < connected->size(); ++rank)
    if (!(*connected)[rank])
      return error("rank ", rank, " cannot pass descriptors to all others");
  return Status();
}

bool Passing::send(Outgoing &to) {
  if (to.isOver)
    return false;
  if (!to.next) {
    Result<PassedDescriptor> made = traffic.give(to.done);
    if (!made)
      fail(made.status());
    to.next = made ? *std::move(made) : PassedDescriptor();
  }
  Message message{mailboxes[static_cast<size_t>(to.rank)].secret,
                  to.next->about, exchange.rank(), to.next->file.get() >= 0};
  iovec data{&message, sizeof message};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  Control control{};
  if (message.hasDescriptor) {
    header.msg_control = &control;
    header.msg_controllen = CMSG_LEN(sizeof(int));
    control.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    int file = to.next->file.get();
    std::memcpy(CMSG_DATA(&control.header), &file, sizeof file);
  }
  if (sendmsg(to.socket.get(), &header, MSG_NOSIGNAL) < 0) {
    // It has not taken the last ones yet, or others have not.
    if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS ||
        errno == ETOOMANYREFS)
      return false;
    fail(error("cannot pass a descriptor: ", systemError()));
    to.isOver = true;
  } else {
    to.isOver = !message.hasDescriptor || ++to.done == traffic.given;
  }
  to.next.reset();
  return true;
}

bool Passing::receive() {
  Message message;
  iovec data{&message, sizeof message};
  Control control{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = &control;
  header.msg_controllen = CMSG_LEN(sizeof(int));
  ssize_t size = recvmsg(socket.get(), &header, MSG_CMSG_CLOEXEC);
  if (size < 0)
    return false;
  FileDescriptor file;
  if (cmsghdr *first = CMSG_FIRSTHDR(&header);
      first && first->cmsg_level == SOL_SOCKET &&
      first->cmsg_type == SCM_RIGHTS &&
      first->cmsg_len == CMSG_LEN(sizeof(int))) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(first), sizeof number);
    file = FileDescriptor(number);
  }
  // A message that is not of the team is ignored.
  if (size == sizeof message && !(header.msg_flags & MSG_TRUNC) &&
      message.secret == own.secret && message.sender >= 0 &&
      static_cast<size_t>(message.sender) < missing.size())
    take(message, std::move(file));
  return true;
}

void Passing::take(const Message &message, FileDescriptor file) {
  size_t &left = missing[static_cast<size_t>(message.sender)];
  if (left == 0)
    return;
  left = message.hasDescriptor ? left - 1 : 0;
  if (file.get() < 0)
    fail(error("rank ", message.sender, " could not pass a descriptor"));
  // A rank that has failed still receives, as the senders wait for that.
  if (status)
    fail(traffic.take(message.sender, {std::move(file), message.about}));
}

bool Passing::isDone() const {
  for (size_t left : missing)
    if (left > 0)
      return false;
  for (const Outgoing &to : outgoing)
    if (!to.isOver)
      return false;
  return true;
}

Status Passing::run() {
  if (Status connected = connect(); !connected)
    return connected;
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  std::chrono::duration<double> limit(exchange.limit() / 2);
  while (!isDone()) {
    bool isProgress = receive();
    for (Outgoing &to : outgoing)
      isProgress |= send(to);
    if (Clock::now() - start > limit)
      return error("descriptors were not passed within ", limit.count(), " s");
    if (isProgress)
      continue;
    if (!exchange.isWhole())
      return error("another rank has failed or ended");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return status;
}

Status passDescriptors(HostExchange &exchange,
                       const DescriptorTraffic &traffic) {
  return Passing(exchange, traffic).run();
}

} // namespace ccn::runtime
