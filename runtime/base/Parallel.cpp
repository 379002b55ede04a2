//===- Parallel.cpp - Work on all cores -----------------------------------===//
//
// Each call starts new threads. That takes microseconds, while work worth
// several threads takes milliseconds.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace ccn::runtime {

void forEachChunk(int64_t count, int64_t chunk,
                  const std::function<void(int64_t, int64_t)> &body) {
  int64_t chunks = count / chunk + (count % chunk != 0);
  std::atomic<int64_t> next = 0;
  auto work = [&] {
    for (int64_t i = next++; i < chunks; i = next++)
      body(i * chunk, std::min(chunk, count - i * chunk));
  };
  std::vector<std::jthread> others;
  int64_t wanted =
      std::min<int64_t>(chunks, std::thread::hardware_concurrency());
  for (int64_t i = 1; i < wanted; ++i) {
    try {
      others.emplace_back(work);
    } catch (const std::system_error &) {
      // If no more threads can be started, the existing ones do all the work.
      break;
    }
  }
  work();
}

} // namespace ccn::runtime
