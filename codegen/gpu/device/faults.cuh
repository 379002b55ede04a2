//===- faults.cuh - What is reported if a kernel fails --------------------===//
//
// Kernels that cannot go on, or that have waited for too long, tell the host.
//
//===----------------------------------------------------------------------===//

#ifdef __CUDA_ARCH__
__device__ inline u32 loadAcquireOwn(const u32 *from) {
  u32 value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(from)
               : "memory");
  return value;
}
__device__ inline u64 nanoseconds() {
  u64 value;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(value));
  return value;
}
/// A thread that goes no further.
__device__ inline void endThread() { asm volatile("exit;"); }
#endif

__device__ inline void report(const CcnContext &c, u32 kind, int peer, int code,
                              u32 flag, u32 expected, u32 seen) {
  if (atomicCAS(&c.control->faulted, 0u, kind) != 0)
    return;
  volatile CcnFault *fault = c.fault;
  fault->launch = c.launch;
  fault->peer = peer;
  fault->code = code;
  fault->flag = flag;
  fault->expected = expected;
  fault->seen = seen;
  __threadfence_system();
  fault->kind = kind;
  __threadfence_system();
}

/// Reports that something cannot be computed; the kernel goes on.
__device__ inline void fail(const CcnContext &c, int code) {
  report(c, CCN_FAILED, c.rank, code, 0, 0, 0);
}

/// Counts the turns of a loop that waits. Looking at the clock and at the
/// host's memory takes as long as many turns.
class Patience {
public:
  /// The time is up after so many time limits.
  __device__ explicit Patience(const CcnContext &c, u32 limits = 1)
      : c(c), limits(limits) {}
  /// Ends the thread when the time is up, for it or for another one, or the
  /// host asks for it.
  __device__ void wait(int peer, u32 flag, u32 expected, u32 seen) {
    if (!goesOn(peer, flag, expected, seen))
      endThread();
  }
  /// False when it would end.
  __device__ bool goesOn(int peer, u32 flag, u32 expected, u32 seen) {
    if (++turns & 1023)
      return true;
    u64 now = nanoseconds();
    if (begin == 0)
      begin = now;
    // A thread that misses one packet may miss all that come after it.
    bool late = now - begin > limits * c.timeLimit ||
                loadAcquireOwn(&c.control->faulted) == CCN_TIMED_OUT;
    if (!late && *c.stop == 0)
      return true;
    report(c, late ? CCN_TIMED_OUT : CCN_STOPPED, peer, 0, flag, expected,
           seen);
    return false;
  }

private:
  const CcnContext &c;
  u32 limits, turns = 0;
  u64 begin = 0;
};
