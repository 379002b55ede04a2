//===- steps.cuh - The steps of pipelines ---------------------------------===//

/// Tells the members that this block has done a step of a pipeline, `number` of
/// all steps of all runs.
template <int count>
__device__ inline void tellStep(const CcnContext &c, const Group<count> &group,
                                u32 flags, u32 number) {
  __syncthreads();
  tellMembers(c, group, flags, blockIdx.x, number);
}
/// Waits until their blocks of the same number have done it.
template <int count>
__device__ inline void awaitStep(const CcnContext &c, const Group<count> &group,
                                 u32 flags, u32 number) {
  awaitMembers(c, group, flags, blockIdx.x, number);
  __syncthreads();
}
