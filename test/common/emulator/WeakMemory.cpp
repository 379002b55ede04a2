//===- WeakMemory.cpp - Memory that is seen late and out of order ---------===//

#include "test/common/emulator/WeakMemory.h"

#include <algorithm>
#include <cstring>

using namespace ccn::emulator;

static bool overlap(const WeakStore &store, size_t offset, size_t size) {
  return store.offset < offset + size && offset < store.offset + store.size;
}

void WeakLevel::add(const WeakStore &store) {
  ++changes;
  ++version;
  if (!parent)
    return;
  pending.push_back(store);
  // No device keeps more for itself, and the first may always go on.
  constexpr size_t most = 256;
  if (pending.size() > most)
    goOn(0);
}
void WeakLevel::put(const WeakStore &store) {
  std::memcpy(memory + store.offset, store.bytes, store.size);
  add(store);
}

bool WeakLevel::mayGoOn(size_t number) const {
  const WeakStore &store = pending[number];
  return std::none_of(pending.begin(),
                      pending.begin() + static_cast<ptrdiff_t>(number),
                      [&](const WeakStore &before) {
                        return overlap(before, store.offset, store.size);
                      });
}

void WeakLevel::goOn(size_t number) {
  WeakStore store = pending[number];
  pending.erase(pending.begin() + static_cast<ptrdiff_t>(number));
  // Threads are a block's: above, all that has come so far is.
  parent->put(store);
}

void WeakLevel::drainOne(std::mt19937 &random) {
  size_t number = random() % pending.size();
  while (!mayGoOn(number))
    --number;
  goOn(number);
}

void WeakLevel::drainBefore(unsigned thread, unsigned barriers) {
  drain([&](const WeakStore &store) {
    return store.thread == thread || store.barriers < barriers;
  });
}
void WeakLevel::drainPlace(size_t offset, size_t size) {
  drain([&](const WeakStore &store) { return overlap(store, offset, size); });
}

/// Lets those go on that are wanted, and, before these, what has been stored
/// to the same places.
template <typename IsWanted> void WeakLevel::drain(const IsWanted &isWanted) {
  std::vector<bool> goes(pending.size());
  bool isAny = false;
  for (size_t i = pending.size(); i-- > 0;) {
    goes[i] = goes[i] || isWanted(pending[i]);
    isAny |= goes[i];
    for (size_t j = 0; goes[i] && j < i; ++j)
      if (overlap(pending[j], pending[i].offset, pending[i].size))
        goes[j] = true;
  }
  if (!isAny)
    return;
  std::vector<WeakStore> all = std::move(pending);
  pending.clear();
  for (size_t i = 0; i < all.size(); ++i)
    if (goes[i])
      parent->put(all[i]);
    else
      pending.push_back(all[i]);
}

void WeakLevel::drainAll() {
  for (const WeakStore &store : pending)
    parent->put(store);
  pending.clear();
}

void WeakLevel::refresh(size_t offset, size_t size) {
  if (!parent ||
      std::memcmp(memory + offset, parent->memory + offset, size) == 0)
    return;
  ++version;
  std::memcpy(memory + offset, parent->memory + offset, size);
  for (const WeakStore &store : pending)
    if (overlap(store, offset, size))
      std::memcpy(memory + store.offset, store.bytes, store.size);
}

bool WeakLevel::hasOther(size_t offset, size_t size, const void *seen) const {
  bool isOwn = !parent || std::any_of(pending.begin(), pending.end(),
                                      [&](const WeakStore &store) {
                                        return overlap(store, offset, size);
                                      });
  return isOwn ? std::memcmp(memory + offset, seen, size) != 0
               : parent->hasOther(offset, size, seen);
}

void WeakLevel::refreshAll() {
  if (!parent || parentVersion == parent->version)
    return;
  refresh(0, bytes);
  parentVersion = parent->version;
}
