//===- TcpNetwork.cpp - Messages over TCP ---------------------------------===//
//
// The system says which connections something has arrived on, so that looking
// for it costs one call, however many ranks there are.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/TcpNetwork.h"

#include <algorithm>
#include <sys/epoll.h>

namespace ccn::runtime {

namespace {

/// Messages that may be on their way to one rank, and that may have arrived
/// from one without having been received.
constexpr size_t maxToOne = 4, maxFromOne = 64;

class TcpNetwork : public Network {
public:
  TcpNetwork(int rank, std::vector<TcpLink> connected)
      : own(rank), links(std::move(connected)), events(links.size()) {}
  ~TcpNetwork() override { endLinks(links, failure.message()); }

  Status start() {
    watch = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
    if (watch.get() < 0)
      return error("cannot wait for messages: ", systemError());
    for (size_t rank = 0; rank < links.size(); ++rank) {
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = rank;
      if (!links[rank].isClosed() && epoll_ctl(watch.get(), EPOLL_CTL_ADD,
                                               links[rank].file(), &event) != 0)
        return error("cannot wait for messages: ", systemError());
    }
    return Status();
  }

  int rank() const override { return own; }
  int ranks() const override { return static_cast<int>(links.size()); }

  Result<bool> send(int to, Message &message) override {
    if (message.size() > TcpLink::maxBytes)
      return error("expected a message of at most ", TcpLink::maxBytes,
                   " bytes, found ", message.size());
    if (to == own) {
      toSelf.push_back(std::move(message));
      message.clear();
      return true;
    }
    TcpLink &link = linkTo(to);
    if (link.waiting() >= maxToOne)
      link.send();
    if (link.isClosed())
      return fail(to);
    if (link.waiting() >= maxToOne)
      return false;
    link.append(TcpLink::Kind::Data, std::move(message));
    message.clear();
    link.send();
    anyWaits = anyWaits || link.waiting() > 0;
    return true;
  }

  Result<bool> receive(int &from, Message &message) override {
    if (anyWaits)
      sendWaiting();
    if (!take(from, message)) {
      lookForArrivals();
      if (!take(from, message))
        return from != anyRank && from != own && linkTo(from).isClosed()
                   ? Result<bool>(fail(from))
                   : false;
    }
    return true;
  }

  Result<bool> allSent() override {
    sendWaiting();
    return !anyWaits;
  }

  bool isCut(int other) override {
    return other != own && linkTo(other).isClosed() &&
           linkTo(other).frames().empty();
  }

private:
  TcpLink &linkTo(int rank) { return links[static_cast<size_t>(rank)]; }

  /// The first is what the others are told.
  Status fail(int other) {
    Status status = linkTo(other).closure(other);
    if (failure)
      failure = status;
    return status;
  }

  void sendWaiting() {
    anyWaits = false;
    for (TcpLink &link : links) {
      if (link.waiting() > 0)
        link.send();
      anyWaits = anyWaits || link.waiting() > 0;
    }
  }

  void lookForArrivals() {
    int count = epoll_wait(watch.get(), events.data(),
                           static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
      TcpLink &link = links[events[static_cast<size_t>(i)].data.u64];
      // Who sends faster than is received has to wait.
      if (link.frames().size() < maxFromOne)
        link.read();
    }
  }

  /// The next message, of the ranks in turn.
  bool take(int &from, Message &message) {
    if ((from == anyRank || from == own) && !toSelf.empty()) {
      from = own;
      message = std::move(toSelf.front());
      toSelf.pop_front();
      return true;
    }
    int count = from == anyRank ? ranks() : 1;
    int first = from == anyRank ? next : from;
    for (int i = 0; i < count; ++i) {
      int other = (first + i) % ranks();
      std::deque<TcpLink::Frame> &frames = linkTo(other).frames();
      if (!frames.empty() && frames.front().kind != TcpLink::Kind::Data)
        linkTo(other).refuse();
      if (frames.empty())
        continue;
      from = other;
      next = (other + 1) % ranks();
      message = std::move(frames.front().body);
      frames.pop_front();
      return true;
    }
    return false;
  }

  int own;
  std::vector<TcpLink> links;
  FileDescriptor watch;
  std::vector<epoll_event> events;
  std::deque<Message> toSelf;
  /// Whether something of what was sent has perhaps not left.
  bool anyWaits = false;
  /// Whose messages are received next.
  int next = 0;
  Status failure;
};

} // namespace

Result<std::unique_ptr<Network>> joinTcpNetwork(const TcpOptions &options) {
  Result<std::vector<TcpLink>> links = meetOverTcp(options);
  if (!links)
    return links.status();
  auto network = std::make_unique<TcpNetwork>(options.rank, *std::move(links));
  if (Status status = network->start(); !status)
    return status;
  return std::unique_ptr<Network>(std::move(network));
}

} // namespace ccn::runtime
