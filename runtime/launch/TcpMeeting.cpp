//===- TcpMeeting.cpp - How ranks meet over TCP ---------------------------===//
//
// One loop waits for everything at once: those that connect, those that this
// rank connects to, and the connections that are there. All waits are limited.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/TcpMeeting.h"

#include "runtime/launch/TcpGreeting.h"
#include "runtime/team/RunIdentity.h"

#include <algorithm>
#include <cerrno>
#include <list>
#include <map>
#include <poll.h>
#include <random>
#include <sys/resource.h>
#include <thread>

namespace ccn::runtime {

namespace {

using Clock = std::chrono::steady_clock;

/// Connections, beside those to ranks, from which nothing has been heard yet.
constexpr size_t maxStrangers = 128;

class Meeting {
public:
  explicit Meeting(const TcpOptions &options);

  /// To be called once.
  Result<std::vector<TcpLink>> run();

private:
  struct Member {
    /// The process that is this rank, and where it listens.
    uint64_t process = 0;
    uint32_t port = 0;
    /// When its connection was found closed, or nobody to listen.
    std::optional<Clock::time_point> goneSince;
    /// Of those that this rank connects to.
    Clock::time_point knockedAt = {};
    bool isMet = false;
  };

  TcpLink &link(int rank) { return links[static_cast<size_t>(rank)]; }
  Member &member(int rank) { return members[static_cast<size_t>(rank)]; }
  /// Those that are not connected, from rank `first` on.
  std::vector<int> missing(int first);
  Result<std::vector<SocketAddress>> places(double limit) const;
  std::string placeText() const;
  Status timeOut(const std::string &what) const;

  Status listenAsFirst();
  Status listenFor(const SocketAddress &first);
  Status hold();
  Status join();
  Status awaitPlaces();
  Status knockAt(int rank);
  Status connect();

  /// Waits a little for something to happen, and deals with it.
  Status step();
  Status greet(TcpVisitor &visitor, const TcpGreeting &greeting);

  const TcpOptions &options;
  const int own;
  TcpGreeting greeting;
  FileDescriptor listener;
  /// The one address at which the listener listens, if it is only one.
  std::optional<SocketAddress> listensAt;
  std::vector<TcpLink> links;
  std::vector<Member> members;
  std::list<TcpVisitor> visitors;
  /// By the rank that should answer.
  std::map<int, TcpKnock> knocks;
  /// Where the ranks listen.
  std::vector<SocketAddress> listeners;
  /// What was said last to a side that was turned away, or by one that answered
  /// instead of rank 0.
  std::string note;
};

Meeting::Meeting(const TcpOptions &options)
    : options(options), own(options.rank),
      links(static_cast<size_t>(options.ranks)),
      members(static_cast<size_t>(options.ranks)) {
  greeting.rank = own;
  greeting.ranks = options.ranks;
  std::random_device random;
  greeting.process = (uint64_t(random()) << 32) | random();
  setText(greeting.job, options.place.job);
}

std::vector<int> Meeting::missing(int first) {
  std::vector<int> ranks;
  for (int rank = first; rank < options.ranks; ++rank)
    if (rank != own && link(rank).isClosed())
      ranks.push_back(rank);
  return ranks;
}

/// The addresses of rank 0's host.
Result<std::vector<SocketAddress>> Meeting::places(double limit) const {
  return resolve(options.place.host, limit);
}

std::string Meeting::placeText() const {
  const std::vector<uint16_t> &ports = options.place.ports;
  std::string text =
      options.place.host + ", port " + std::to_string(ports.front());
  return ports.size() == 1 ? text
                           : text + " to " + std::to_string(ports.back());
}

Status Meeting::timeOut(const std::string &what) const {
  return error(what, " within ", options.timeLimit, " s",
               note.empty() ? "" : "; ", note);
}

//===----------------------------------------------------------------------===//
// Everybody
//===----------------------------------------------------------------------===//

Status Meeting::step() {
  constexpr int pause = 50;
  std::vector<pollfd> files;
  files.push_back({listener.get(), POLLIN, 0});
  for (const TcpVisitor &visitor : visitors)
    files.push_back({visitor.file(), POLLIN, 0});
  // Links that are closed have no file, and nothing happens to them.
  size_t firstLink = files.size();
  for (TcpLink &link : links)
    files.push_back(
        {link.file(),
         static_cast<short>(POLLIN | (link.waiting() > 0 ? POLLOUT : 0)), 0});
  size_t firstKnock = files.size();
  for (const auto &[rank, knock] : knocks)
    files.push_back({knock.file(), knock.events(), 0});
  if (poll(files.data(), files.size(), pause) <= 0)
    for (pollfd &file : files)
      file.revents = 0;

  for (size_t i = 0; i < links.size(); ++i) {
    if (!files[firstLink + i].revents)
      continue;
    links[i].read();
    links[i].send();
  }
  size_t i = firstKnock;
  for (auto &[rank, knock] : knocks)
    if (files[i++].revents)
      knock.advance();
  for (auto visitor = visitors.begin(); visitor != visitors.end();) {
    std::optional<TcpGreeting> said = visitor->advance();
    if (visitor->otherVersion())
      note = "another version of ccn was turned away";
    Status status = said ? greet(*visitor, *said) : Status();
    if (!status)
      return status;
    visitor = said || visitor->file() < 0 ? visitors.erase(visitor)
                                          : std::next(visitor);
  }
  while (files[0].revents) {
    FileDescriptor socket = acceptFrom(listener.get());
    // Visitors that say nothing must not keep ranks out.
    bool isFull = socket.get() < 0 && (errno == EMFILE || errno == ENFILE);
    if (!visitors.empty() &&
        (isFull || visitors.size() == links.size() + maxStrangers))
      visitors.pop_front();
    if (socket.get() < 0)
      break;
    visitors.emplace_back(std::move(socket));
  }
  return Status();
}

/// Answers a greeting. A failure is one of the whole job.
Status Meeting::greet(TcpVisitor &visitor, const TcpGreeting &said) {
  std::string job(said.job, strnlen(said.job, sizeof said.job));
  if (job != greeting.job) {
    visitor.answer(TcpAnswer::OtherJob, greeting.job);
    note = "a rank of another job was turned away: expected \"" +
           std::string(greeting.job) + "\", found \"" + job + "\"";
    return Status();
  }
  // It tries ports that rank 0 may have; others may have them.
  if (said.to != own) {
    visitor.answer(TcpAnswer::OtherRank, std::to_string(own));
    return Status();
  }
  auto refuse = [&](const Status &why) {
    visitor.answer(TcpAnswer::Refused, why.message());
    note = why.message();
    return why;
  };
  if (said.ranks != options.ranks)
    return refuse(error("rank ", own, " was started as one of ", options.ranks,
                        " ranks: expected the same of rank ", said.rank,
                        ", found that it is one of ", said.ranks));
  bool isAfter = said.rank > own && said.rank < options.ranks;
  if (said.rank != own && !isAfter) {
    (void)refuse(error("rank ", own, " of ", options.ranks,
                       " expected a rank after it, found rank ", said.rank));
    return Status();
  }
  // The process that was here may have gone just now.
  if (isAfter)
    link(said.rank).read();
  if (!isAfter || (!link(said.rank).isClosed() &&
                   member(said.rank).process != said.process)) {
    (void)refuse(error("expected each rank once, found two processes that are "
                       "rank ",
                       said.rank));
    return Status();
  }
  visitor.answer(TcpAnswer::Welcome, "");
  if (visitor.file() < 0)
    return Status();
  link(said.rank) = TcpLink(visitor.takeSocket());
  member(said.rank) = Member();
  member(said.rank).process = said.process;
  member(said.rank).port = said.port;
  return Status();
}

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

/// Listens at the first port that is free. If none is, it tries them again for
/// a while: a connection that has come to nothing holds a port only shortly.
Status Meeting::listenAsFirst() {
  constexpr double patience = 1;
  Clock::time_point start = Clock::now();
  std::vector<SocketAddress> addresses = {SocketAddress::any(0)};
  if (options.place.isOneHost) {
    Result<std::vector<SocketAddress>> found = places(options.timeLimit);
    if (!found)
      return found.status();
    addresses = *std::move(found);
  }
  for (;;) {
    Status status;
    for (uint16_t port : options.place.ports)
      for (SocketAddress address : addresses) {
        address.port = port;
        Result<FileDescriptor> made = listenAt(address);
        if (made) {
          listener = *std::move(made);
          return Status();
        }
        status = made.status();
        // Is it this job's rank 0 that listens there?
        if (!options.place.isOneHost)
          address = SocketAddress::loopback(port);
        TcpKnock knock(address, greeting);
        if (knock.await(patience / 2) == TcpKnock::State::Refused)
          return error(knock.text());
      }
    if (secondsSince(start) > patience)
      return error("rank 0 found no port to listen at, of ", placeText(), ": ",
                   status.message());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Waits for all others, and tells them where each listens.
Status Meeting::hold() {
  constexpr double patience = 5;
  if (Status status = listenAsFirst(); !status)
    return status;
  Clock::time_point start = Clock::now();
  for (std::vector<int> absent; !(absent = missing(1)).empty();) {
    if (secondsSince(start) > options.timeLimit)
      return timeOut(rankList(absent) + " did not join");
    for (int rank : absent) {
      Member &gone = member(rank);
      if (!gone.process)
        continue;
      // It may come again if it has missed the answer; else it has ended.
      if (!gone.goneSince)
        gone.goneSince = Clock::now();
      if (link(rank).hasSaidFarewell() ||
          secondsSince(*gone.goneSince) > patience)
        return link(rank).closure(rank);
    }
    if (Status status = step(); !status)
      return status;
  }
  listeners.resize(links.size());
  for (int rank = 1; rank < options.ranks; ++rank) {
    SocketAddress &address = listeners[static_cast<size_t>(rank)];
    address = SocketAddress::peer(link(rank).file());
    address.port = member(rank).port;
  }
  const auto *bytes = reinterpret_cast<const std::byte *>(listeners.data());
  for (int rank = 1; rank < options.ranks; ++rank) {
    link(rank).append(
        TcpLink::Kind::Places,
        Message(bytes, bytes + listeners.size() * sizeof(SocketAddress)));
    link(rank).send();
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

/// Listens to the ranks after this one, where they can be expected to come if
/// this one reaches rank 0 at `first`.
Status Meeting::listenFor(const SocketAddress &first) {
  SocketAddress address = SocketAddress::any(0);
  if (options.place.isOneHost) {
    address = first;
    address.port = 0;
  }
  if (listensAt && listensAt->hasSameHost(address))
    return Status();
  Result<FileDescriptor> made = listenBeside(address, options.place.ports);
  if (!made)
    return made.status();
  listener = *std::move(made);
  listensAt = address;
  greeting.port = SocketAddress::own(listener.get()).port;
  return Status();
}

/// Connects to rank 0.
Status Meeting::join() {
  constexpr double patience = 3;
  using std::chrono::milliseconds;
  constexpr milliseconds longest(250);
  Clock::time_point start = Clock::now();
  auto left = [&] { return options.timeLimit - secondsSince(start); };
  greeting.to = 0;
  for (milliseconds pause(10);; pause = std::min(2 * pause, longest)) {
    Result<std::vector<SocketAddress>> found = places(std::max(left(), 0.));
    if (!found)
      note = found.message();
    std::string refused, stranger;
    for (uint16_t port : options.place.ports)
      for (size_t i = 0; found && i < found->size() && left() > 0; ++i) {
        SocketAddress address = (*found)[i];
        address.port = port;
        // Names may have addresses that this host cannot use.
        if (Status status = listenFor(address); !status) {
          refused = status.message();
          continue;
        }
        TcpKnock knock(address, greeting);
        switch (knock.await(std::min(patience, left()))) {
        case TcpKnock::State::Welcome:
          link(0) = TcpLink(knock.takeSocket());
          note.clear();
          return Status();
        case TcpKnock::State::Refused:
          return error(knock.text());
        case TcpKnock::State::Stranger:
          stranger = knock.text();
          break;
        default:
          refused = knock.text();
        }
      }
    // A stranger says more than that nobody is there.
    if (!stranger.empty() || !refused.empty())
      note = stranger.empty() ? refused : stranger;
    if (left() <= 0)
      return timeOut("rank 0 was not found at " + placeText());
    std::this_thread::sleep_for(pause);
  }
}

/// Learns from rank 0 where all listen, when all have come.
Status Meeting::awaitPlaces() {
  // Rank 0's own limit ends before, so that it is it who says who is missing.
  constexpr double extra = 2;
  Clock::time_point start = Clock::now();
  while (link(0).frames().empty()) {
    if (link(0).isClosed())
      return link(0).closure(0);
    if (secondsSince(start) > options.timeLimit + extra)
      return timeOut("rank 0 did not say that all ranks have joined");
    if (Status status = step(); !status)
      return status;
  }
  TcpLink::Frame frame = std::move(link(0).frames().front());
  link(0).frames().pop_front();
  listeners.resize(links.size());
  if (frame.kind != TcpLink::Kind::Places ||
      frame.body.size() != listeners.size() * sizeof(SocketAddress))
    return error("rank 0 sent what makes no sense");
  std::memcpy(listeners.data(), frame.body.data(), frame.body.size());
  return Status();
}

/// Goes on connecting to a rank that listens.
Status Meeting::knockAt(int rank) {
  constexpr double pause = 0.1, patience = 5;
  auto it = knocks.find(rank);
  Member &other = member(rank);
  if (it == knocks.end()) {
    // Those that are connected have been knocked at.
    if (other.isMet || secondsSince(other.knockedAt) < pause)
      return Status();
    other.knockedAt = Clock::now();
    greeting.to = rank;
    it =
        knocks.try_emplace(rank, listeners[static_cast<size_t>(rank)], greeting)
            .first;
  }
  TcpKnock &knock = it->second;
  Status status;
  switch (knock.current()) {
  case TcpKnock::State::Waiting:
    return status;
  case TcpKnock::State::Welcome:
    link(rank) = TcpLink(knock.takeSocket());
    other.isMet = true;
    break;
  case TcpKnock::State::Refused:
    status = error(knock.text());
    break;
  default:
    // Who has ended does not listen again; who has too much to do may have
    // closed a connection.
    if (!other.goneSince)
      other.goneSince = Clock::now();
    if (secondsSince(*other.goneSince) > patience)
      status = error("rank ", rank, " has ended: ", knock.text());
  }
  knocks.erase(it);
  return status;
}

/// Connects to the ranks before this one, and waits for those after it.
Status Meeting::connect() {
  SocketAddress first = SocketAddress::peer(link(0).file());
  for (int rank = 1; rank < own; ++rank) {
    SocketAddress address = listeners[static_cast<size_t>(rank)];
    // A rank that has reached rank 0 on its own host is on that host too.
    if (options.place.isOneHost || address.isLoopback()) {
      uint32_t port = address.port;
      address = first;
      address.port = port;
    }
    listeners[static_cast<size_t>(rank)] = address;
  }
  std::vector<bool> wasOpen(links.size());
  Clock::time_point start = Clock::now();
  for (;;) {
    for (int rank = 1; rank < own; ++rank)
      if (Status status = knockAt(rank); !status)
        return status;
    std::vector<int> absent;
    for (int rank = 0; rank < options.ranks; ++rank) {
      auto index = static_cast<size_t>(rank);
      if (rank == own)
        continue;
      wasOpen[index] = wasOpen[index] || !link(rank).isClosed();
      if (!wasOpen[index])
        absent.push_back(rank);
      // One that needs nobody any more has met all.
      else if (link(rank).isClosed() && !link(rank).hasEndedWell())
        return link(rank).closure(rank);
    }
    if (absent.empty())
      return Status();
    if (secondsSince(start) > options.timeLimit)
      return timeOut(rankList(absent) + " did not connect to rank " +
                     std::to_string(own));
    if (Status status = step(); !status)
      return status;
  }
}

Result<std::vector<TcpLink>> Meeting::run() {
  Status status = own == 0 ? hold() : join();
  if (status && own != 0)
    status = awaitPlaces();
  if (status && own != 0)
    status = connect();
  if (status)
    return std::move(links);
  visitors.clear();
  knocks.clear();
  endLinks(links, status.message());
  return status;
}

/// Lets this process have a connection to each rank, as far as it may.
void allowFiles(int ranks) {
  rlimit limit{};
  constexpr rlim_t others = 256;
  rlim_t wanted = 2 * static_cast<rlim_t>(ranks) + maxStrangers + others;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
    return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace

Result<std::vector<TcpLink>> meetOverTcp(const TcpOptions &options) {
  if (options.ranks < 1 || options.rank < 0 || options.rank >= options.ranks)
    return error("expected a rank below the number of ranks, found ",
                 options.rank, " of ", options.ranks);
  if (options.ranks > 1 && options.place.ports.empty())
    return error("expected a port at which ranks meet, found none");
  allowFiles(options.ranks);
  return Meeting(options).run();
}

} // namespace ccn::runtime
