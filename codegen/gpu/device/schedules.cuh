//===- schedules.cuh - Synthesized collectives ----------------------------===//
//
// Follows schedule_sums.cuh, which says what the tables of
// actions are.
//
//===----------------------------------------------------------------------===//

/// Executes a schedule in chunks. Each block does all of it with a part of
/// every chunk, the same on all ranks, so blocks wait only for their like.
template <class T, Kind kind, class From, class To>
__device__ inline void executeSchedule(const CcnContext &c, const i64 *table,
                                       i64 bufferBytes, const From &from,
                                       const To &to, u64 epoch) {
  const i64 buffer = ccnBufferOf(epoch, CCN_SCHEDULE_BUFFERS) * bufferBytes;
  for (const i64 *action = table; action[0] != CCN_END_OF_SCHEDULE;
       action = nextAction(action)) {
    int peer = int(action[1]);
    u32 flag = u32(action[2]);
    bool sends = isSend(action);
    switch (action[0]) {
    case CCN_AWAIT_SLOT:
      if (threadIdx.x == 0)
        awaitFlag(c, peer, flag, blockIdx.x, u32(epoch));
      __syncthreads();
      continue;
    case CCN_AWAIT_FREE:
      if (threadIdx.x == 0)
        awaitFlag(c, peer, flag, blockIdx.x,
                  ccnEpochBefore(epoch, CCN_SCHEDULE_BUFFERS));
      __syncthreads();
      continue;
    case CCN_TELL_FREE:
      __syncthreads();
      if (threadIdx.x == 0)
        storeRelease(flagOf(c, peer, flag, blockIdx.x), u32(epoch));
      continue;
    }
    formSum<T, kind>(c, action, buffer, from, to);
    if (sends) {
      __syncthreads();
      if (threadIdx.x == 0)
        storeRelease(flagOf(c, peer, flag, blockIdx.x), u32(epoch));
    }
  }
}
