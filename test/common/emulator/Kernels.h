//===- Kernels.h - Generated kernels compiled for the CPU -------*- C++ -*-===//
//
// From the CUDA C++ of a program to kernels that run here, each block on a
// thread of its own. The compiler is the one that builds ccn.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_EMULATOR_KERNELS_H
#define CCN_TEST_COMMON_EMULATOR_KERNELS_H

#include "runtime/plan/ObjectCode.h"

#include <array>
#include <semaphore>

namespace ccn::emulator {

/// A shared object of CUDA C++, or what the compiler says against it. If
/// `isWatched`, it tells the machine that runs it of its accesses to memory
/// (WeakMachine.h).
Result<std::string> compile(const std::string &text, bool isWatched = false);

/// The same of a program's source, with what findKernel looks for.
Result<std::string> compileKernels(const std::string &source,
                                   bool isWatched = false);

/// What a device has for blocks: as many at once, those that begin first. All
/// that run there share it.
class Room {
public:
  explicit Room(int blocks) : blocks(blocks), left(blocks) {}

  /// A block's.
  class Place {
  public:
    explicit Place(Room &room) : room(room) { room.left.acquire(); }
    ~Place() { room.left.release(); }
    Place(const Place &) = delete;
    Place &operator=(const Place &) = delete;

  private:
    Room &room;
  };

  const int blocks;

private:
  std::counting_semaphore<> left;
};

struct Launch {
  int blocks, threads;
  /// Of a cluster.
  int clusterBlocks = 1;
  /// Null is room for all.
  Room *room = nullptr;
  /// What the order of threads is drawn from, and when asynchronous things
  /// happen; 0 is the same for all blocks.
  unsigned seed = 0;
};

struct Kernel {
  /// Of the context, the addresses, the numbers and the tensor maps, of which
  /// there may be none.
  std::array<size_t, 4> parameterBytes;
  /// A thread of it.
  void (*call)(const void *const *parameters);

  /// Returns when all blocks have ended. Their flagDelay is that of this
  /// thread.
  void run(const Launch &launch, const void *const *parameters) const;
};

/// Null if there is none of that name.
std::optional<Kernel> findKernel(const runtime::ObjectCode &code,
                                 const std::string &name);

} // namespace ccn::emulator

#endif // CCN_TEST_COMMON_EMULATOR_KERNELS_H
