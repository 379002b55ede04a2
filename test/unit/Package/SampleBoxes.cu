// The kernel of `boxes` (SamplePackages.h), by hand, behind the text of
// GpuAbi.h: for GPUs that copy boxes of tensors.

struct Arguments {
  void *at[4];
};
struct Numbers {
  long long at[3];
};
struct Maps {
  CcnTensorMap at[2];
};

__device__ unsigned sharedAddress(const void *shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// Copies a box from one tensor to another. Numbers: the box's column and row,
/// and its bytes.
extern "C" __global__ void box(const __grid_constant__ CcnContext c,
                               const __grid_constant__ Arguments arguments,
                               const __grid_constant__ Numbers numbers,
                               const __grid_constant__ Maps maps) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ unsigned long long barrier;
  if (threadIdx.x != 0)
    return;
  unsigned shared = sharedAddress(tile), counts = sharedAddress(&barrier);
  int column = numbers.at[0], row = numbers.at[1];
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(counts)
               : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(counts),
      "r"((unsigned)numbers.at[2])
      : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(shared),
               "l"(&maps.at[0]), "r"(counts), "r"(column), "r"(row)
               : "memory");
  unsigned isThere = 0;
  for (int turns = 0; !isThere && turns < 1 << 20; ++turns)
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(isThere)
                 : "r"(counts)
                 : "memory");
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, "
               "{%2, %3}], [%1];" ::"l"(&maps.at[1]),
               "r"(shared), "r"(column), "r"(row)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}
