//===- Z3Watchdog.h - Interrupting Z3 in time -------------------*- C++ -*-===//
//
// Z3 has no callback for limits: a thread watches them beside it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_Z3WATCHDOG_H
#define CCN_SYNTH_Z3WATCHDOG_H

#include "synth/Support.h"

#include <z3++.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace ccn::synth {

/// Raises Z3's interrupt when the limits expire while it works.
class Z3Watchdog {
public:
  Z3Watchdog(z3::context &context, const Limits &limits)
      : thread([this, &context, &limits] {
          std::unique_lock lock(mutex);
          while (!done) {
            wake.wait_for(lock, std::chrono::milliseconds(20));
            if (!done && limits.expired())
              context.interrupt();
          }
        }) {}
  ~Z3Watchdog() {
    {
      std::lock_guard lock(mutex);
      done = true;
    }
    wake.notify_one();
    thread.join();
  }
  Z3Watchdog(const Z3Watchdog &) = delete;
  Z3Watchdog &operator=(const Z3Watchdog &) = delete;

private:
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::thread thread;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_Z3WATCHDOG_H
