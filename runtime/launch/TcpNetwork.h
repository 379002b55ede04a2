//===- TcpNetwork.h - Messages over TCP -------------------------*- C++ -*-===//
//
// The network of ranks that MPI does not connect: a connection between every
// two, for some hundred ranks. It needs nothing but the system's sockets. If a
// process ends, its system closes its connections, so the others know at once.
// If a host is gone, they know by its silence, which MessageTransport watches
// for.
//
// The connection of a process that ends is closed by its system, so the others
// know at once; of a host that is gone they know by its silence, for which
// MessageTransport looks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_TCPNETWORK_H
#define CCN_RUNTIME_LAUNCH_TCPNETWORK_H

#include "runtime/launch/TcpMeeting.h"
#include "runtime/team/Network.h"

#include <memory>

namespace ccn::runtime {

/// The network of all ranks that meet as `options` say, each of which calls
/// this. Errors are those of meetOverTcp(). A message has at most 256 MiB.
///
/// When it goes it tells the others so, and why if something has failed, and
/// waits up to a second for what is on its way.
Result<std::unique_ptr<Network>> joinTcpNetwork(const TcpOptions &options);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_LAUNCH_TCPNETWORK_H
