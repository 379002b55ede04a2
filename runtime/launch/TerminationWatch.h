//===- TerminationWatch.h - Why a launcher ends a rank ----------*- C++ -*-===//
//
// mpirun ends all ranks with SIGTERM when one has died. While a watch exists,
// this process finds out which rank that is before it ends, and says so.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_TERMINATIONWATCH_H
#define CCN_RUNTIME_LAUNCH_TERMINATIONWATCH_H

#include "runtime/team/Transport.h"

#include <functional>
#include <memory>
#include <thread>

namespace ccn::runtime {

class TerminationWatch {
public:
  /// At most one at a time. `hasEnded` tells whether a rank's process has
  /// ended, where that can be known, `mayTell` whether this rank should say why
  /// the team failed. Null if the program handles or ignores SIGTERM itself.
  static std::unique_ptr<TerminationWatch>
  start(Transport &transport, int rank, std::function<bool(int)> hasEnded,
        std::function<bool()> mayTell);
  ~TerminationWatch();

private:
  TerminationWatch(Transport &transport, int rank,
                   std::function<bool(int)> hasEnded,
                   std::function<bool()> mayTell);
  void watch();
  void explainAndEnd();
  /// Whether the watch ends within so many milliseconds.
  bool endsWithin(int milliseconds);

  Transport &transport;
  int rank;
  std::function<bool(int)> hasEnded;
  std::function<bool()> mayTell;
  std::thread thread;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_LAUNCH_TERMINATIONWATCH_H
