//===- ParallelTest.cpp - Work on all cores -------------------------------===//
//
// Each element once, in chunks of the given size, on several threads.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace ccn::runtime;

namespace {

TEST(Parallel, EachElementOnce) {
  for (int64_t count : {0, 1, 7, 8, 9, 1000})
    for (int64_t chunk : {1, 8, 2000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      forEachChunk(count, chunk, [&](int64_t first, int64_t n) {
        EXPECT_EQ(first % chunk, 0);
        EXPECT_EQ(n, std::min(chunk, count - first));
        for (int64_t i = first; i < first + n; ++i)
          ++seen[static_cast<size_t>(i)];
      });
      for (const std::atomic<int> &times : seen)
        EXPECT_EQ(times, 1);
    }
}

TEST(Parallel, OneChunkIsTheCallers) {
  forEachChunk(5, 5, [caller = std::this_thread::get_id()](int64_t, int64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
}

TEST(Parallel, ChunksAtOnce) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "one core";
  std::atomic<int> begun = 0;
  forEachChunk(2, 1, [&](int64_t, int64_t) {
    ++begun;
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (begun < 2 && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    EXPECT_EQ(begun, 2);
  });
}

} // namespace
