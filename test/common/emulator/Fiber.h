//===- Fiber.h - Calls that pause and go on ---------------------*- C++ -*-===//
//
// A call with a stack of its own, which can pause and later go on from there.
// What ucontext.h has for this asks the kernel for the mask of signals at each
// switch, which took more than half of the time of the emulated kernels.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_EMULATOR_FIBER_H
#define CCN_TEST_COMMON_EMULATOR_FIBER_H

#include <cstddef>

// Sanitizers have to know of switches; they know those of ucontext.h.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) &&                    \
    !defined(__SANITIZE_ADDRESS__)
#define CCN_SWITCHES_STACKS 1
#else
#define CCN_SWITCHES_STACKS 0
#include <ucontext.h>
#endif

namespace ccn::emulator {

class Fiber {
public:
  /// Makes it begin with `main` when it is resumed, on a stack of `bytes`
  /// bytes. `main` must not return, but pause when it is done.
  void start(char *stack, size_t bytes, void (*main)());
  /// Lets it run until it pauses. It must always be the same thread that does
  /// so.
  void resume();
  /// To be called in it: goes on where it was resumed.
  void pause();

private:
#if CCN_SWITCHES_STACKS
  /// The top of its stack, and of that of whoever resumed it, while they do not
  /// run.
  void *own, *other;
#else
  ucontext_t own, other;
#endif
};

} // namespace ccn::emulator

#endif // CCN_TEST_COMMON_EMULATOR_FIBER_H
