// The kernels of `average` (SamplePackages.h), by hand, behind the text of
// GpuAbi.h. Blocks of the same number meet across ranks: they hold the same
// elements, as all ranks have equally many blocks.

struct Arguments {
  void *at[4];
};
struct Numbers {
  long long at[3];
};

__device__ unsigned long long nanoseconds() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__device__ void report(const CcnContext &c, unsigned kind, int peer, int code,
                       unsigned flag, unsigned expected, unsigned seen) {
  if (*(volatile unsigned *)&c.fault->kind != CCN_NO_FAULT)
    return;
  c.fault->launch = c.launch;
  c.fault->peer = peer;
  c.fault->code = code;
  c.fault->flag = flag;
  c.fault->expected = expected;
  c.fault->seen = seen;
  __threadfence_system();
  *(volatile unsigned *)&c.fault->kind = kind;
  __threadfence_system();
}

__device__ unsigned *flagOf(const CcnContext &c, int rank, unsigned flag) {
  return (unsigned *)(c.symmetric[rank] + c.flags) + flag * CCN_MAX_BLOCKS +
         blockIdx.x;
}

__device__ void await(const CcnContext &c, int peer, unsigned flag,
                      unsigned epoch) {
  const unsigned *word = flagOf(c, c.rank, flag);
  unsigned long long start = nanoseconds();
  for (unsigned i = 1;; ++i) {
    unsigned seen;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                 : "=r"(seen)
                 : "l"(word)
                 : "memory");
    if ((int)(seen - epoch) >= 0)
      return;
    if (i % 64 != 0)
      continue;
    if (*c.stop)
      return report(c, CCN_STOPPED, peer, 0, flag, epoch, seen);
    if (nanoseconds() - start > c.timeLimit)
      return report(c, CCN_TIMED_OUT, peer, 0, flag, epoch, seen);
  }
}

/// Blocks of this number on the `ranks` ranks of a group meet; a group's first
/// rank is a multiple of that. Flags [first, first + all ranks).
__device__ void meet(const CcnContext &c, int ranks, unsigned first,
                     unsigned epoch) {
  if (c.segment >= 0)
    return;
  __syncthreads();
  int peer = c.rank / ranks * ranks + threadIdx.x;
  if (threadIdx.x < ranks) {
    __threadfence_system();
    asm volatile("st.release.sys.global.u32 [%0], %1;"
                 :
                 : "l"(flagOf(c, peer, first + c.rank)), "r"(epoch)
                 : "memory");
    await(c, peer, first + peer, epoch);
  }
  __syncthreads();
}

__device__ unsigned nextEpoch(const CcnContext &c) {
  __shared__ unsigned long long epoch;
  if (threadIdx.x == 0)
    epoch = ++c.control->epochs[blockIdx.x];
  __syncthreads();
  return (unsigned)epoch;
}

__device__ long long firstIndex() {
  return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ long long step() { return (long long)gridDim.x * blockDim.x; }

/// Numbers: the elements, the ranks, what is wrong: 1 never tells the others, 2
/// fails.
extern "C" __global__ void publish(CcnContext c, Arguments arguments,
                                   Numbers numbers) {
  unsigned epoch = nextEpoch(c);
  const float *x = (const float *)arguments.at[0];
  float *own = (float *)c.symmetric[c.rank];
  for (long long i = firstIndex(); i < numbers.at[0]; i += step())
    own[i] = x[i];
  if (numbers.at[2] == 1)
    return;
  if (numbers.at[2] == 2 && firstIndex() == 0)
    report(c, CCN_FAILED, 0, 1, 0, 0, 0);
  meet(c, numbers.at[1], 0, epoch);
}

/// Numbers as of publish.
extern "C" __global__ void update(CcnContext c, Arguments arguments,
                                  Numbers numbers) {
  // What others have left is not to be used after a fault.
  if (__syncthreads_or(numbers.at[2] == 1 ||
                       *(volatile unsigned *)&c.fault->kind != CCN_NO_FAULT))
    return;
  unsigned epoch = nextEpoch(c);
  float *y = (float *)arguments.at[1];
  float scale = *(const float *)arguments.at[2];
  for (long long i = firstIndex(); i < numbers.at[0]; i += step()) {
    float sum = 0;
    for (int rank = 0; rank < numbers.at[1]; ++rank)
      sum += ((const float *)c.symmetric[rank])[i];
    y[i] = y[i] + scale * sum;
  }
  meet(c, numbers.at[1], numbers.at[1], epoch);
}

/// Numbers: the first element, how many.
extern "C" __global__ void slice(CcnContext c, Arguments arguments,
                                 Numbers numbers) {
  const float *y = (const float *)arguments.at[1];
  float *s = (float *)arguments.at[3];
  for (long long i = firstIndex(); i < numbers.at[1]; i += step())
    s[i] = y[numbers.at[0] + i];
}

/// y[i] = x[i] of the next rank, of an argument that ranks access of each
/// other. Numbers: the elements, the ranks.
extern "C" __global__ void neighbour(CcnContext c, Arguments arguments,
                                     Numbers numbers) {
  unsigned epoch = nextEpoch(c);
  meet(c, numbers.at[1], 0, epoch);
  long long next = (c.rank + 1) % numbers.at[1];
  const float *x = (const float *)arguments.at[2 + next];
  float *y = (float *)arguments.at[1];
  for (long long i = firstIndex(); i < numbers.at[0]; i += step())
    y[i] = x[i];
  meet(c, numbers.at[1], numbers.at[1], epoch);
}

/// Counts a launch that the ranks of a group run together. Numbers: the element
/// of y that counts it, the ranks of a group, its flags.
extern "C" __global__ void count(CcnContext c, Arguments arguments,
                                 Numbers numbers) {
  meet(c, numbers.at[1], numbers.at[2], nextEpoch(c));
  if (firstIndex() == 0)
    ((float *)arguments.at[1])[numbers.at[0]] += 1;
}
