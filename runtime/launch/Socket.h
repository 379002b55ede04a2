//===- Socket.h - Sockets of TCP --------------------------------*- C++ -*-===//
//
// The few calls of the system that TCP needs, over IPv4 and IPv6. No socket
// here blocks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_SOCKET_H
#define CCN_RUNTIME_LAUNCH_SOCKET_H

#include "runtime/base/File.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace ccn::runtime {

/// Plain bytes, so that it can travel in messages: an address of IPv6, or one
/// of IPv4 as IPv6 writes it, ::ffff:192.0.2.1, and a port.
struct SocketAddress {
  uint8_t bytes[16] = {};
  uint32_t port = 0;
  /// For an address that is valid on one link only: which of this host's links.
  uint32_t link = 0;

  /// Every address of this host.
  static SocketAddress any(uint16_t port);
  /// 127.0.0.1.
  static SocketAddress loopback(uint16_t port);
  /// The two ends of a connection.
  static SocketAddress own(int socket);
  static SocketAddress peer(int socket);

  bool isIPv4() const;
  /// Whether it leads to this host itself, on whichever host it is used.
  bool isLoopback() const;
  /// Whether it is the other, but for the port.
  bool hasSameHost(const SocketAddress &other) const;
  /// "192.0.2.1:29501", "[2001:db8::1]:29501".
  std::string text() const;
};

/// The addresses of a host that has this name, or is written as an address.
/// Their ports are 0. An error if there are none or the name's servers have not
/// answered within `timeLimit` seconds.
Result<std::vector<SocketAddress>> resolve(const std::string &host,
                                           double timeLimit);

/// A socket that others can connect to; with port 0 at a port that is free. At
/// SocketAddress::any() it takes both IPv4 and IPv6.
Result<FileDescriptor> listenAt(const SocketAddress &address);

/// A socket that is about to be connected, which is writable when it is or has
/// failed.
Result<FileDescriptor> startConnecting(const SocketAddress &address);
/// After startConnecting(): whether the socket is connected.
Status connected(int socket);

/// Listens at a port that the system chooses and that is none of `taken`, which
/// somebody else is going to use. Only where the system goes on giving these,
/// it is one of them.
Result<FileDescriptor> listenBeside(const SocketAddress &address,
                                    const std::vector<uint16_t> &taken);

/// The next connection that somebody has made; nothing if there is none, or if
/// it could not be taken.
FileDescriptor acceptFrom(int listener);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_LAUNCH_SOCKET_H
