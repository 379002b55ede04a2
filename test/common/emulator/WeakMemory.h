//===- WeakMemory.h - Memory that is seen late and out of order -*- C++ -*-===//
//
// What a block, a device and all devices have of memory. A store of a block is
// seen by the block at once, by the others of its device when it has got there,
// and by other devices later still: each in any order with the others, but for
// those to the same place and those that something orders. What a block or a
// device has may be old; it is brought up to date whole or in parts.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_EMULATOR_WEAKMEMORY_H
#define CCN_TEST_COMMON_EMULATOR_WEAKMEMORY_H

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace ccn::emulator {

/// A store that is seen as one.
struct WeakStore {
  size_t offset = 0;
  uint8_t size = 0;
  unsigned char bytes[16] = {};
  /// The block's thread, and how often the block's threads had waited for each
  /// other: what was stored before is ordered before what a thread then does.
  unsigned thread = 0, barriers = 0;
};

class WeakLevel {
public:
  /// `parent` is null of what all see. `changes` counts what gets anywhere.
  WeakLevel(std::byte *memory, size_t bytes, WeakLevel *parent,
            uint64_t &changes)
      : memory(memory), bytes(bytes), parent(parent), changes(changes) {}

  /// A store that is here already, or that now gets here.
  void add(const WeakStore &store);
  void put(const WeakStore &store);

  bool isPending() const { return !pending.empty(); }
  /// Lets one of the stores that may go on do so.
  void drainOne(std::mt19937 &random);
  /// Lets all go on that are ordered before what `thread` does next; those to a
  /// place; all.
  void drainBefore(unsigned thread, unsigned barriers);
  void drainPlace(size_t offset, size_t size);
  void drainAll();

  /// Brings up to date what is here, but for what has not gone on.
  void refresh(size_t offset, size_t size);
  void refreshAll();

  /// Whether it would change what is in `seen` to refresh it.
  bool hasOther(size_t offset, size_t size, const void *seen) const;

  std::byte *const memory;

private:
  void goOn(size_t number);
  bool mayGoOn(size_t number) const;
  template <typename IsWanted> void drain(const IsWanted &isWanted);

  const size_t bytes;
  WeakLevel *const parent;
  uint64_t &changes;
  /// How often this has changed, and the parent had when all was brought up to
  /// date.
  uint64_t version = 0, parentVersion = ~uint64_t(0);
  std::vector<WeakStore> pending;
};

} // namespace ccn::emulator

#endif // CCN_TEST_COMMON_EMULATOR_WEAKMEMORY_H
