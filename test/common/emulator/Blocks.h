//===- Blocks.h - Blocks of CUDA threads on the CPU -------------*- C++ -*-===//
//
// Runs kernels on the CPU: the blocks one after the other, or each on a thread
// of the caller's. The threads of a block are contexts of their own that take
// turns wherever they wait for each other, as far out of order as the barriers
// allow. Instructions of a warp are done as their documentation says;
// asynchronous copies at once or as late as may be.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_EMULATOR_BLOCKS_H
#define CCN_TEST_COMMON_EMULATOR_BLOCKS_H

#include <functional>
#include <mutex>
#include <vector>

namespace ccn::emulator {

/// What the blocks of a cluster share, each of which runs on a thread of its
/// own.
class Cluster {
public:
  /// Of so many threads in each block.
  Cluster(int blocks, int threads)
      : anchors(static_cast<size_t>(blocks)),
        running(anchors.size(), static_cast<unsigned>(threads)),
        expected(static_cast<unsigned>(blocks * threads)) {}

  /// A thread of a block, which has shared memory at that distance from the
  /// anchor, comes to the next barrier, whose number this is.
  unsigned arrive(unsigned block, char *anchor);
  bool isOver(unsigned barrier);
  /// A thread of a block is not waited for any more; how many of its threads
  /// are left.
  unsigned leave(unsigned block);
  /// Null before one of the block's threads has come to a barrier, and when all
  /// have ended.
  char *anchor(unsigned block);

private:
  std::mutex mutex;
  std::vector<char *> anchors;
  /// The threads of each block that have not ended, and all.
  std::vector<unsigned> running;
  unsigned expected, arrived = 0, barriers = 0;
};

/// Runs `blocks` blocks of `threads` threads, a multiple of 32; ends the
/// program if threads wait for ones that do not come. Where `mayEnd`, threads
/// that have ended are not waited for, as GPUs do it.
void runBlocks(int blocks, int threads, const std::function<void()> &kernel,
               bool mayEnd = false);

/// Runs block `block` of as many, maybe of a cluster.
void runBlock(int block, int blocks, int threads,
              const std::function<void()> &kernel, bool mayEnd = false,
              Cluster *cluster = nullptr);

/// How long the blocks that this thread runs take for each access to a flag, in
/// microseconds.
extern thread_local int flagDelay;

} // namespace ccn::emulator

#endif // CCN_TEST_COMMON_EMULATOR_BLOCKS_H
