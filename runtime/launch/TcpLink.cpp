//===- TcpLink.cpp - A connection between two ranks -----------------------===//
//
// Small frames are cut out of what one call reads; the body of a large one is
// read into its place.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/TcpLink.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/uio.h>

namespace ccn::runtime {

static bool isForLater(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

void TcpLink::close(const std::string &reason) {
  if (isClosed())
    return;
  socket = FileDescriptor();
  outgoing.clear();
  sentBytes = 0;
  if (!saidFarewell)
    why = reason;
}

Status TcpLink::closure(int other) const {
  if (saidFarewell && !why.empty())
    return Status::failure(why);
  return error("rank ", other, " has ended", saidFarewell ? "" : ": ", why);
}

void TcpLink::append(Kind kind, Message added) {
  if (isClosed())
    return;
  outgoing.push_back(
      {{static_cast<uint32_t>(kind), 0, added.size()}, std::move(added)});
}

void TcpLink::send() {
  while (!isClosed() && !outgoing.empty()) {
    Outgoing &first = outgoing.front();
    size_t inHeader = std::min(sentBytes, sizeof first.header);
    size_t inBody = sentBytes - inHeader;
    iovec parts[2] = {{reinterpret_cast<char *>(&first.header) + inHeader,
                       sizeof first.header - inHeader},
                      {first.body.data() + inBody, first.body.size() - inBody}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    // A connection that the other has closed is no reason to end by SIGPIPE.
    ssize_t sent = sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (isForLater(errno))
        return;
      // What it said before it closed comes first.
      std::string reason = systemError();
      for (size_t before = arrived.size() + 1;
           !isClosed() && arrived.size() != before;) {
        before = arrived.size();
        read();
      }
      close("its connection was closed: " + reason);
      return;
    }
    sentBytes += static_cast<size_t>(sent);
    if (sentBytes < sizeof first.header + first.body.size())
      continue;
    outgoing.pop_front();
    sentBytes = 0;
  }
  if (!isClosed() && isEnding)
    shutdown(socket.get(), SHUT_WR);
}

/// False if the header makes no sense.
bool TcpLink::beginBody() {
  if (header.kind > static_cast<uint32_t>(Kind::Farewell) ||
      header.bytes > maxBytes)
    return false;
  body = Message(header.bytes);
  bodyBytes = 0;
  return header.bytes > 0 || finishBody();
}

bool TcpLink::finishBody() {
  headerBytes = 0;
  auto kind = static_cast<Kind>(header.kind);
  if (kind == Kind::Farewell) {
    saidFarewell = true;
    why.assign(reinterpret_cast<const char *>(body.data()), body.size());
    body.clear();
    return true;
  }
  arrived.push_back({kind, std::move(body)});
  body = Message();
  return true;
}

/// Takes bytes as they arrive. False if they make no sense.
bool TcpLink::take(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    bool inHeader = headerBytes < sizeof header;
    std::byte *to = inHeader
                        ? reinterpret_cast<std::byte *>(&header) + headerBytes
                        : body.data() + bodyBytes;
    size_t room =
        inHeader ? sizeof header - headerBytes : body.size() - bodyBytes;
    size_t count = std::min(room, bytes.size());
    std::memcpy(to, bytes.data(), count);
    bytes = bytes.subspan(count);
    (inHeader ? headerBytes : bodyBytes) += count;
    if (count == room && !(inHeader ? beginBody() : finishBody()))
      return false;
  }
  return true;
}

void TcpLink::read() {
  constexpr size_t most = size_t(1) << 16;
  constexpr int maxCalls = 8;
  std::byte buffer[most];
  for (int i = 0; i < maxCalls && !isClosed(); ++i) {
    bool inBody = headerBytes == sizeof header;
    size_t room = inBody ? body.size() - bodyBytes : 0;
    bool isLarge = room >= most;
    ssize_t count = isLarge
                        ? recv(socket.get(), body.data() + bodyBytes, room, 0)
                        : recv(socket.get(), buffer, most, 0);
    if (count < 0 && isForLater(errno))
      return;
    if (count < 0)
      return close("its connection was lost: " + systemError());
    if (count == 0)
      return close("its connection was closed");
    auto size = static_cast<size_t>(count);
    bool makesSense = true;
    if (isLarge) {
      bodyBytes += size;
      if (size == room)
        makesSense = finishBody();
    } else {
      makesSense = take({buffer, size});
    }
    if (!makesSense)
      return refuse();
    if (size < most)
      return;
  }
}

void TcpLink::refuse() {
  arrived.clear();
  close("it sent what makes no sense");
}

void TcpLink::end(const std::string &cause) {
  const auto *bytes = reinterpret_cast<const std::byte *>(cause.data());
  append(Kind::Farewell, Message(bytes, bytes + cause.size()));
  isEnding = true;
  send();
}

void TcpLink::drain() {
  read();
  arrived.clear();
}

void endLinks(std::vector<TcpLink> &links, const std::string &cause) {
  constexpr int patience = 1000;
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  for (TcpLink &link : links)
    link.end(cause);
  for (;;) {
    std::vector<pollfd> files;
    for (TcpLink &link : links) {
      link.drain();
      if (link.waiting() > 0)
        link.send();
      auto events = static_cast<short>(POLLIN | (link.waiting() ? POLLOUT : 0));
      if (!link.isClosed())
        files.push_back({link.file(), events, 0});
    }
    auto left =
        patience - std::chrono::duration_cast<std::chrono::milliseconds>(
                       Clock::now() - start)
                       .count();
    if (files.empty() || left <= 0)
      return;
    poll(files.data(), files.size(), static_cast<int>(left));
  }
}

} // namespace ccn::runtime
