//===- flags.cuh - Where ranks wait ---------------------------------------===//
//
// The protocols of runtime/Protocols.h for the blocks of a kernel: flags are
// 32-bit epochs, monotone and never reset; whoever waits counts, and past the
// time limit says whom it misses and ends.
//
// A kernel that waits has as many blocks on all ranks, all on the device at
// once. Each block has flags of its own.
//
//===----------------------------------------------------------------------===//

#ifdef __CUDA_ARCH__
__device__ inline u32 loadAcquire(const u32 *from) {
  u32 value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(from)
               : "memory");
  return value;
}
__device__ inline void storeRelease(u32 *to, u32 value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(to), "r"(value)
               : "memory");
}
#endif

/// Flag `flag` of block `block` in the memory of `rank`.
__device__ inline u32 *flagOf(const CcnContext &c, int rank, u32 flag,
                              u32 block) {
  return reinterpret_cast<u32 *>(c.symmetric[rank] + c.flags) +
         u64(flag) * CCN_MAX_BLOCKS + block;
}

/// Waits until an own flag, which `peer` sets, has reached an epoch.
__device__ inline void awaitFlag(const CcnContext &c, int peer, u32 flag,
                                 u32 block, u32 epoch) {
  const u32 *word = flagOf(c, c.rank, flag, block);
  Patience patience(c);
  for (u32 seen; !ccnReached(seen = loadAcquire(word), epoch);)
    patience.wait(peer, flag, epoch, seen);
}
