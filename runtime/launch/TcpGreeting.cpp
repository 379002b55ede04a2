//===- TcpGreeting.cpp - How a connection between ranks begins ------------===//
//
// Greetings and answers are so small that a new connection always takes them
// whole.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/TcpGreeting.h"

#include "runtime/team/RunIdentity.h"

#include <cerrno>
#include <poll.h>

namespace ccn::runtime {

static_assert(sizeof(TcpPreamble) == 16 && sizeof(TcpAnswer) == 528);

template <typename Message>
typename TcpFirstWords<Message>::State
TcpFirstWords<Message>::read(int socket) {
  auto *bytes = reinterpret_cast<char *>(&words);
  while (count < sizeof words) {
    ssize_t got = recv(socket, bytes + count, sizeof words - count, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
      break;
    if (got <= 0)
      return State::Stranger;
    count += static_cast<size_t>(got);
  }
  const TcpPreamble &preamble = words.preamble;
  if (std::memcmp(preamble.magic, Message::magic,
                  std::min(count, sizeof preamble.magic)) != 0)
    return State::Stranger;
  if (count >= sizeof preamble &&
      preamble.version != TcpPreamble::currentVersion)
    return State::OtherVersion;
  return count < sizeof words ? State::Incomplete : State::Complete;
}

template <typename Message> static bool say(int socket, Message &message) {
  std::memcpy(message.preamble.magic, Message::magic,
              sizeof message.preamble.magic);
  message.preamble.version = TcpPreamble::currentVersion;
  return send(socket, &message, sizeof message, MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof message);
}

//===----------------------------------------------------------------------===//
// The side that connects
//===----------------------------------------------------------------------===//

TcpKnock::TcpKnock(const SocketAddress &address, const TcpGreeting &greeting)
    : place(address), greeting(greeting) {
  Result<FileDescriptor> started = startConnecting(address);
  if (started)
    socket = *std::move(started);
  else
    end(State::NobodyThere, started.message());
}

TcpKnock::State TcpKnock::end(State ended, const std::string &text) {
  state = ended;
  why = text;
  if (state != State::Welcome)
    socket = FileDescriptor();
  return state;
}

short TcpKnock::events() const { return hasGreeted ? POLLIN : POLLOUT; }

TcpKnock::State TcpKnock::advance() {
  if (state != State::Waiting)
    return state;
  if (!hasGreeted) {
    if (Status status = connected(socket.get()); !status)
      return end(State::NobodyThere,
                 "cannot connect to " + place.text() + ": " + status.message());
    hasGreeted = true;
    if (!say(socket.get(), greeting))
      return end(State::NobodyThere,
                 "cannot connect to " + place.text() + ": " + systemError());
    return state;
  }
  switch (answer.read(socket.get())) {
  case TcpFirstWords<TcpAnswer>::State::Incomplete:
    return state;
  case TcpFirstWords<TcpAnswer>::State::Complete:
    return judge();
  case TcpFirstWords<TcpAnswer>::State::OtherVersion:
    return end(State::Stranger,
               "at " + place.text() + " is another version of ccn: expected " +
                   std::to_string(TcpPreamble::currentVersion) +
                   " as the version of its messages, found " +
                   std::to_string(answer.message().preamble.version));
  case TcpFirstWords<TcpAnswer>::State::Stranger:
    break;
  }
  return end(State::Stranger,
             "at " + place.text() + " is something other than ccn");
}

TcpKnock::State TcpKnock::judge() {
  const TcpAnswer &said = answer.message();
  std::string text(said.text, strnlen(said.text, sizeof said.text));
  switch (said.verdict) {
  case TcpAnswer::Welcome:
    return end(State::Welcome, "");
  case TcpAnswer::OtherJob:
    return end(State::Stranger,
               "at " + place.text() + " is another job: expected \"" +
                   greeting.job + "\", found \"" + text + "\"");
  case TcpAnswer::OtherRank:
    return end(State::Stranger,
               "at " + place.text() + " is another rank: expected rank " +
                   std::to_string(greeting.to) + ", found rank " + text);
  case TcpAnswer::Refused:
    return end(State::Refused, text);
  default:
    return end(State::Stranger,
               "at " + place.text() + " is another version of ccn");
  }
}

TcpKnock::State TcpKnock::await(double seconds) {
  auto start = std::chrono::steady_clock::now();
  while (state == State::Waiting) {
    double left = seconds - secondsSince(start);
    if (left <= 0)
      return end(State::Stranger, "at " + place.text() + " nobody answers");
    pollfd file{socket.get(), events(), 0};
    if (poll(&file, 1, static_cast<int>(left * 1000) + 1) > 0)
      advance();
  }
  return state;
}

//===----------------------------------------------------------------------===//
// The side that listens
//===----------------------------------------------------------------------===//

std::optional<TcpGreeting> TcpVisitor::advance() {
  switch (greeting.read(socket.get())) {
  case TcpFirstWords<TcpGreeting>::State::Complete:
    return greeting.message();
  case TcpFirstWords<TcpGreeting>::State::Incomplete:
    return std::nullopt;
  case TcpFirstWords<TcpGreeting>::State::OtherVersion:
    version = greeting.message().preamble.version;
    // Bytes that are not read would keep the answer from arriving.
    char rest[4096];
    (void)recv(socket.get(), rest, sizeof rest, 0);
    answer(TcpAnswer::OtherVersion, "");
    break;
  case TcpFirstWords<TcpGreeting>::State::Stranger:
    break;
  }
  socket = FileDescriptor();
  return std::nullopt;
}

void TcpVisitor::answer(TcpAnswer::Verdict verdict, const std::string &text) {
  TcpAnswer said;
  said.verdict = verdict;
  setText(said.text, text);
  if (!say(socket.get(), said) || verdict != TcpAnswer::Welcome)
    socket = FileDescriptor();
}

} // namespace ccn::runtime
