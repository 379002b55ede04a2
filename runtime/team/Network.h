//===- Network.h - What carries messages between processes ------*- C++ -*-===//
//
// What the message transport needs of MPI, of TCP, or of what tests put in
// their place. Messages from one rank to another arrive in the order in which
// they were sent. Nothing here blocks. Only one thread at a time may use a
// network.
//
// Nothing here blocks. Only one thread at a time may use a network.
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

  /// Takes the message and sends it to another rank, or leaves it and returns
  /// false while too much is on its way there. An error is that of the way to
  /// `to`.
  virtual Result<bool> send(int to, Message &message) = 0;

  /// The next message from `from`, which may be anyRank and is set to who sent
  /// it; false if none has arrived.
  virtual Result<bool> receive(int &from, Message &message) = 0;

  /// Whether all that was sent has left this process.
  virtual Result<bool> allSent() = 0;

  /// Whether it is known that nothing more will come from another rank: its
  /// process, or the connection to it, is gone, and everything that has arrived
  /// was received.
  virtual bool isCut(int rank) {
    (void)rank;
    return false;
  }
};

/// Gives every rank's text to all. All ranks call it at the same point, and
/// receive nothing else meanwhile. An error names the ranks that have not
/// answered within `timeLimit` seconds.
Result<std::vector<std::string>>
exchange(Network &network, const std::string &own, double timeLimit);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_NETWORK_H
