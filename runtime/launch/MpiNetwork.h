//===- MpiNetwork.h - Messages by MPI ---------------------------*- C++ -*-===//
//
// MPI as the network of a team. What calls MPI is a module of its own,
// libccn-mpi.so, that is loaded when a launcher of MPI has started the process:
// so programs start where no MPI is installed, and need not load it where
// nobody uses it.
//
// Nothing here blocks but the start and the end of MPI itself, which end the
// process when they take too long, so that a rank that dies or never comes
// cannot make the others hang in MPI.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_MPINETWORK_H
#define CCN_RUNTIME_LAUNCH_MPINETWORK_H

#include "runtime/team/Network.h"

#include <memory>

namespace ccn::runtime {

/// MPI in this process, from its start to its end. One thread at a time may use
/// it and its network.
class MpiSession {
public:
  /// Starts MPI, unless the program has. An error if it cannot be loaded, or
  /// does not allow threads. If the ranks that the launcher started do not all
  /// come within `timeLimit` seconds the process ends with status 4 and says
  /// so.
  static Result<std::unique_ptr<MpiSession>> start(double timeLimit);

  virtual ~MpiSession() = default;

  /// The network of all ranks of MPI; it must not outlive the session.
  virtual std::unique_ptr<Network> network() = 0;

  /// Ends MPI, if start() started it. `inGoodOrder` says that all ranks do so;
  /// else, MPI's own end would wait for those that do not, and is left out. It
  /// is the last thing the process does with MPI.
  virtual void end(bool inGoodOrder) = 0;
};

} // namespace ccn::runtime

/// What the module exports: starts MPI as above. The session stays null if
/// `status` becomes a failure.
extern "C" void ccnStartMpi(double timeLimit,
                            std::unique_ptr<ccn::runtime::MpiSession> *session,
                            ccn::Status *status);

#endif // CCN_RUNTIME_LAUNCH_MPINETWORK_H
