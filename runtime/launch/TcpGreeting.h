//===- TcpGreeting.h - How a connection between ranks begins ----*- C++ -*-===//
//
// The side that connects greets, the side that listens answers. Either may turn
// out not to be a rank at all.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_TCPGREETING_H
#define CCN_RUNTIME_LAUNCH_TCPGREETING_H

#include "runtime/launch/Socket.h"

#include <chrono>
#include <optional>

namespace ccn::runtime {

/// What greetings and answers begin with, in every version.
struct TcpPreamble {
  static constexpr uint32_t currentVersion = 1;

  char magic[8] = {};
  uint32_t version = currentVersion;
  uint32_t unused = 0;
};

/// What the side that connects says first. Plain bytes.
struct TcpGreeting {
  static constexpr const char *magic = "ccnhello";

  TcpPreamble preamble;
  int32_t rank = 0, ranks = 0;
  /// The rank for which it takes the other side.
  int32_t to = 0;
  /// Where it listens to the ranks after it.
  uint32_t port = 0;
  /// Drawn at random: tells the processes that claim a rank apart.
  uint64_t process = 0;
  char job[256] = {};
};

/// What the side that listens answers. It is the same in older and newer
/// versions.
struct TcpAnswer {
  static constexpr const char *magic = "ccnreply";
  enum Verdict : uint32_t {
    Welcome,
    OtherVersion, ///< found another than the own, which the preamble says
    OtherJob,     ///< the text is the own job
    OtherRank,    ///< the text is the own rank
    Refused,      ///< the text says why
  };

  TcpPreamble preamble;
  uint32_t verdict = Welcome;
  char text[508] = {};
};

inline double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Collects a greeting or an answer as it arrives.
template <typename Message> class TcpFirstWords {
public:
  enum class State { Incomplete, Complete, OtherVersion, Stranger };

  /// Reads what is there and not more than belongs to it.
  State read(int socket);
  const Message &message() const { return words; }

private:
  Message words;
  size_t count = 0;
};

/// A connection that this process makes, until it is answered.
class TcpKnock {
public:
  enum class State {
    Waiting,
    Welcome,
    Refused,     ///< by a rank of this job: text() says why
    NobodyThere, ///< no connection: text() says why
    Stranger,    ///< not the rank that is looked for: text() says who
  };

  TcpKnock(const SocketAddress &address, const TcpGreeting &greeting);

  /// -1 when it is no longer waiting.
  int file() const { return socket.get(); }
  /// The events to poll for.
  short events() const;
  /// To be called when one of them has happened.
  State advance();
  State current() const { return state; }
  /// Waits until it is answered, at most some seconds; a side that has not
  /// answered then is a stranger.
  State await(double seconds);

  const SocketAddress &address() const { return place; }
  const std::string &text() const { return why; }
  /// The socket of a connection that is welcome.
  FileDescriptor takeSocket() { return std::move(socket); }

private:
  State end(State state, const std::string &text);
  State judge();

  SocketAddress place;
  TcpGreeting greeting;
  FileDescriptor socket;
  State state = State::Waiting;
  bool hasGreeted = false;
  TcpFirstWords<TcpAnswer> answer;
  std::string why;
};

/// A connection that somebody has made, until it is answered.
class TcpVisitor {
public:
  explicit TcpVisitor(FileDescriptor socket) : socket(std::move(socket)) {}

  int file() const { return socket.get(); }
  /// The greeting, once it has come. Closes the connection if the other side is
  /// no rank.
  std::optional<TcpGreeting> advance();
  /// Answers, and closes the connection unless it is welcome.
  void answer(TcpAnswer::Verdict verdict, const std::string &text);
  FileDescriptor takeSocket() { return std::move(socket); }
  /// The other side's version of ccn, if it is another one.
  std::optional<uint32_t> otherVersion() const { return version; }

private:
  FileDescriptor socket;
  TcpFirstWords<TcpGreeting> greeting;
  std::optional<uint32_t> version;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_LAUNCH_TCPGREETING_H
