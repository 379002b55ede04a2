//===- TcpLink.h - A connection between two ranks ---------------*- C++ -*-===//
//
// Frames over a connection of TCP: each a header and a body, so that messages
// keep their bounds. Nothing here blocks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_TCPLINK_H
#define CCN_RUNTIME_LAUNCH_TCPLINK_H

#include "runtime/launch/Socket.h"
#include "runtime/team/Network.h"

#include <deque>
#include <span>

namespace ccn::runtime {

class TcpLink {
public:
  enum class Kind : uint32_t {
    Data,     ///< a message
    Places,   ///< of rank 0: where all ranks listen
    Farewell, ///< the sender ends, because of the text that the body is, if any
  };
  /// The most bytes of a body.
  static constexpr uint64_t maxBytes = uint64_t(1) << 24;

  /// A link without a connection, which counts as closed.
  TcpLink() = default;
  explicit TcpLink(FileDescriptor socket) : socket(std::move(socket)) {}

  int file() const { return socket.get(); }
  /// Whether nothing more can be sent or will arrive. Frames that have arrived
  /// before are still there.
  bool isClosed() const { return socket.get() < 0; }
  /// Why, as an error: the cause that rank `other` gave when it ended, or that
  /// it has ended.
  Status closure(int other) const;
  bool hasSaidFarewell() const { return saidFarewell; }
  /// Whether the other has ended without a cause.
  bool hasEndedWell() const { return saidFarewell && why.empty(); }

  /// Frames that have not left this process, or not in whole.
  size_t waiting() const { return outgoing.size(); }
  /// Adds a frame, whose body has at most maxBytes, to those that wait.
  void append(Kind kind, Message body);
  /// Sends as much as goes now.
  void send();

  /// Reads what is there, some hundred KB at most, into frames().
  void read();
  struct Frame {
    Kind kind;
    Message body;
  };
  /// What has arrived. The reader takes frames from its front.
  std::deque<Frame> &frames() { return arrived; }

  /// Closes the connection, as the other has sent what makes no sense.
  void refuse();
  /// Says farewell, after what waits, and that nothing follows; the other can
  /// still be read.
  void end(const std::string &cause);
  /// Reads and forgets until the other has closed the connection.
  void drain();

private:
  struct Header {
    uint32_t kind;
    uint32_t unused;
    uint64_t bytes;
  };
  struct Outgoing {
    Header header;
    Message body;
  };

  void close(const std::string &reason);
  bool take(std::span<const std::byte> bytes);
  bool beginBody();
  bool finishBody();

  FileDescriptor socket;
  /// What has become of the connection, or the other's farewell.
  std::string why;
  bool saidFarewell = false;
  /// Whether nothing is to follow what waits.
  bool isEnding = false;
  std::deque<Outgoing> outgoing;
  /// How much of the first of them has been sent.
  size_t sentBytes = 0;
  /// The header of the frame that is arriving.
  Header header{};
  size_t headerBytes = 0, bodyBytes = 0;
  Message body;
  std::deque<Frame> arrived;
};

/// Ends connections, saying why if there was a failure, and waits until the
/// others have closed theirs, at most a second: a connection that is closed
/// while something arrives may lose what was said last.
void endLinks(std::vector<TcpLink> &links, const std::string &cause);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_LAUNCH_TCPLINK_H
