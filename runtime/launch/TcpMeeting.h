//===- TcpMeeting.h - How ranks meet over TCP -------------------*- C++ -*-===//
//
// Ranks that only know where rank 0 is become connected each with each. Rank 0
// listens at the first of some ports that is free; the others try these in
// turn, and know it by its answer. When all have come it tells them where each
// listens, and each connects to those before it.
//
// A connection begins with a greeting (who, of how many, of which job, of which
// version) and an answer to it. Whoever else connects, or answers, is left
// alone: other programs, other jobs whose ports are the same. A process that
// claims a rank that is taken, or another number of ranks, is told so. Ranks
// trust each other: nothing is encrypted, and a job's name is no secret.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_TCPMEETING_H
#define CCN_RUNTIME_LAUNCH_TCPMEETING_H

#include "runtime/launch/RankLaunch.h"
#include "runtime/launch/TcpLink.h"

namespace ccn::runtime {

struct TcpOptions {
  int rank = 0, ranks = 1;
  /// The same for all ranks, but that `host` may be another name of it.
  MeetingPlace place;
  /// How long rank 0 waits for the others, and they for it, in seconds.
  double timeLimit = 60;
};

/// The connection to every rank, and a closed one for the own. An error, by
/// which the others fail too, names who has not come in time, has ended, or
/// does not fit.
Result<std::vector<TcpLink>> meetOverTcp(const TcpOptions &options);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_LAUNCH_TCPMEETING_H
