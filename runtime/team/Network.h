//===- Network.h - Carries messages between processes -----------*- C++ -*-===//
//
// The interface through which the message transport uses MPI, TCP, or a
// substitute in tests. Messages from one rank to another arrive in the order in
// which they were sent. No function of a network blocks. Only one thread at a
// time may use a network.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TEAM_NETWORK_H
#define CCN_RUNTIME_TEAM_NETWORK_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ccn::runtime {

using Message = std::vector<std::byte>;

class Network {
public:
  static constexpr int anyRank = -1;

  virtual ~Network() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  /// Moves from the message and sends it to rank `to`; or returns false and
  /// leaves the message as it is while too much is on its way there. An error
  /// is one of the connection to `to`.
  virtual Result<bool> send(int to, Message &message) = 0;

  /// Receives the next message from rank `from`, or from any rank if `from` is
  /// anyRank, and sets `from` to the sender. Returns false if none has arrived.
  virtual Result<bool> receive(int &from, Message &message) = 0;

  /// Whether all messages that were sent have left this process.
  virtual Result<bool> allSent() = 0;

  /// Whether nothing more can come from a rank: its process, or the connection
  /// to it, is known to be gone, and everything that arrived was received.
  virtual bool isCut(int rank) {
    (void)rank;
    return false;
  }
};

/// Returns every rank's text, on every rank. All ranks call it at the same
/// point and receive nothing else meanwhile. An error names a rank whose text
/// has not arrived within `timeLimit` seconds.
Result<std::vector<std::string>>
exchange(Network &network, const std::string &own, double timeLimit);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_NETWORK_H
