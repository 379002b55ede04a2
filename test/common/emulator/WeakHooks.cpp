//===- WeakHooks.cpp - What watched kernels call --------------------------===//
//
// Clang's thread sanitizer puts a call before each access to memory, and in the
// place of atomic operations and of memcpy and its like. Kernels that are
// compiled with it have these functions instead of its own.
//
//===----------------------------------------------------------------------===//

#include "test/common/emulator/WeakMachine.h"

#include <cstring>

using ccn::emulator::WeakMachine;

static void beforeLoad(const void *from, size_t size) {
  if (WeakMachine *machine = WeakMachine::current())
    machine->beforeLoad(from, size);
}
static void beforeStore(void *to, size_t size) {
  if (WeakMachine *machine = WeakMachine::current())
    machine->beforeStore(to, size);
}

/// Does change(word), of a word of the machine or another; returns what the
/// word was.
template <typename T, typename Change>
static T replace(volatile T *to, const Change &change) {
  T before = 0;
  auto doIt = [&](void *word) {
    T value;
    std::memcpy(&value, word, sizeof value);
    before = value;
    value = change(value);
    std::memcpy(word, &value, sizeof value);
  };
  auto *word = const_cast<T *>(to);
  WeakMachine *machine = WeakMachine::current();
  if (!machine || !machine->change(word, sizeof(T), doIt))
    doIt(word);
  return before;
}

extern "C" {

void __tsan_init() {}

#define CCN_HOOKS(size)                                                        \
  void __tsan_read##size(void *from) { beforeLoad(from, size); }               \
  void __tsan_write##size(void *to) { beforeStore(to, size); }                 \
  void __tsan_unaligned_read##size(void *from) { beforeLoad(from, size); }     \
  void __tsan_unaligned_write##size(void *to) { beforeStore(to, size); }
CCN_HOOKS(1)
CCN_HOOKS(2)
CCN_HOOKS(4)
CCN_HOOKS(8)
CCN_HOOKS(16)
#undef CCN_HOOKS

void *__tsan_memcpy(void *to, const void *from, size_t size) {
  beforeLoad(from, size);
  beforeStore(to, size);
  return std::memcpy(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, size_t size) {
  beforeLoad(from, size);
  beforeStore(to, size);
  return std::memmove(to, from, size);
}
void *__tsan_memset(void *to, int value, size_t size) {
  beforeStore(to, size);
  return std::memset(to, value, size);
}

#define CCN_HOOKS(bits, T)                                                     \
  T __tsan_atomic##bits##_fetch_add(volatile T *to, T value, int) {            \
    return replace(to, [&](T old) { return static_cast<T>(old + value); });    \
  }                                                                            \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T *to, T expected,     \
                                               T value, int, int) {            \
    return replace(to, [&](T old) { return old == expected ? value : old; });  \
  }
CCN_HOOKS(32, unsigned)
CCN_HOOKS(64, unsigned long)
#undef CCN_HOOKS

} // extern "C"
