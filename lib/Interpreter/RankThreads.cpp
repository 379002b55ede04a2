//===- RankThreads.cpp - Runs a thread for each rank ----------------------===//
//
// Uses one thread per rank: ranks wait for each other, so a pool with fewer
// threads than ranks would deadlock.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/RankThreads.h"

#include <system_error>
#include <thread>
#include <vector>

namespace ccn::interp {

Status runOnRanks(int ranks, const std::function<void(int)> &body,
                  const std::function<void(const Status &)> &stop) {
  Status status;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(ranks));
  for (int rank = 0; rank < ranks && status.ok(); ++rank) {
    try {
      threads.emplace_back([&body, rank] { body(rank); });
    } catch (const std::system_error &failure) {
      status = error("cannot start a thread for rank ", rank, " of ", ranks,
                     ": ", failure.what());
      stop(status);
    }
  }
  for (std::thread &thread : threads)
    thread.join();
  return status;
}

} // namespace ccn::interp
