//===- exchange.cuh - One-shot all_reduces, and schedules -----------------===//
//
// The exchanges of runtime/Protocols.h. Every thread has packets of its own, so
// nobody waits for a whole block: LL sends 8 bytes with two flags in 16, and
// Lamport 16 bytes whose words are not the sentinel, all ones.
//
//===----------------------------------------------------------------------===//

__device__ inline void storePacket(uint4 *to, uint4 value) {
  asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to),
               "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
               : "memory");
}
__device__ inline uint4 loadPacket(const uint4 *from) {
  uint4 value;
  asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from)
               : "memory");
  return value;
}

/// `count` elements from `index` on as one packet's payload; past the end 0.
template <class T, int count>
__device__ inline Vector<T, count> loadSome(const T *from, i64 index, i64 end) {
  if (index + count <= end && isAligned(from + index, sizeof(T) * count))
    return load<T, count>(from + index);
  Vector<T, count> result;
  memset(&result, 0, sizeof(result));
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (index + i < end)
      result.at[i] = from[index + i];
  return result;
}
template <class T, int count>
__device__ inline void storeSome(T *to, i64 index, i64 end,
                                 const Vector<T, count> &value) {
  if (index + count <= end && isAligned(to + index, sizeof(T) * count))
    return store<T, count>(to + index, value);
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (index + i < end)
      to[index + i] = value.at[i];
}

/// Combines what the members have, in their order.
template <Kind kind, class T, int count, int members>
__device__ inline Vector<T, count>
combineAll(const Vector<T, count> (&parts)[members]) {
  if constexpr (members == 1)
    return parts[0];
  Vector<T, count> result;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    auto sum = Compute<T>::load(parts[0].at[i]);
#pragma unroll
    for (int member = 1; member < members; ++member)
      sum = combine<kind>(sum, Compute<T>::load(parts[member].at[i]));
    result.at[i] = Compute<T>::store(sum);
  }
  return result;
}

/// LL: `slots` is where in symmetric memory the packets are, two buffers of
/// `packets` from each member.
template <class T, Kind kind, int members>
__device__ inline void
lowLatency(const CcnContext &c, const Group<members> &group, i64 slots,
           i64 packets, const T *from, T *to, i64 elements, u64 epoch) {
  constexpr int count = 8 / sizeof(T);
  u32 flag = u32(epoch);
  auto place = [&](int rank, int member, i64 packet) {
    return reinterpret_cast<uint4 *>(c.symmetric[rank] + slots) +
           (i64(epoch % 2) * members + member) * packets + packet;
  };
  for (i64 packet = threadInGrid(); packet * count < elements;
       packet += threadsInGrid()) {
    Vector<T, count> parts[members];
    Vector<T, count> own = loadSome<T, count>(from, packet * count, elements);
    uint2 words = *reinterpret_cast<const uint2 *>(&own);
#pragma unroll
    for (int i = 1; i < members; ++i) {
      int member = (group.position + i) % members;
      storePacket(place(group.ranks[member], group.position, packet),
                  make_uint4(words.x, flag, words.y, flag));
    }
#pragma unroll
    for (int member = 0; member < members; ++member) {
      if (member == group.position) {
        parts[member] = own;
        continue;
      }
      const uint4 *slot = place(c.rank, member, packet);
      Patience patience(c);
      uint4 value = loadPacket(slot);
      while (value.y != flag || value.w != flag) {
        patience.wait(group.ranks[member], 0, flag, value.y);
        value = loadPacket(slot);
      }
      uint2 data = make_uint2(value.x, value.z);
      parts[member] = *reinterpret_cast<const Vector<T, count> *>(&data);
    }
    storeSome<T, count>(to, packet * count, elements, combineAll<kind>(parts));
  }
}

/// Clears the sign of elements of all ones: of a float type, that makes one NaN
/// another, and no word is the sentinel.
template <class T, int count>
__device__ inline void scrub(Vector<T, count> &values) {
  if constexpr (sizeof(T) == 8) {
    u64 *bits = reinterpret_cast<u64 *>(&values);
    for (int i = 0; i < count; ++i)
      bits[i] = bits[i] == ~u64(0) ? ~u64(0) >> 1 : bits[i];
  } else if constexpr (sizeof(T) == 4) {
    u32 *bits = reinterpret_cast<u32 *>(&values);
    for (int i = 0; i < count; ++i)
      bits[i] = bits[i] == ~0u ? ~0u >> 1 : bits[i];
  } else if constexpr (sizeof(T) == 2) {
    unsigned short *bits = reinterpret_cast<unsigned short *>(&values);
    for (int i = 0; i < count; ++i)
      bits[i] = bits[i] == 0xffffu ? 0x7fffu : bits[i];
  } else {
    Byte *bits = reinterpret_cast<Byte *>(&values);
    for (int i = 0; i < count; ++i)
      bits[i] = bits[i] == 0xffu ? 0x7fu : bits[i];
  }
}

/// Whether all of a packet has come: elements of 8 bytes may have half a word
/// of all ones.
template <int size> __device__ inline bool hasCome(uint4 value) {
  if constexpr (size == 8)
    return (value.x & value.y) != ~0u && (value.z & value.w) != ~0u;
  return value.x != ~0u && value.y != ~0u && value.z != ~0u && value.w != ~0u;
}

/// Lamport: three buffers. Each run clears the buffer of the run before, which
/// is that of the run after the next.
template <class T, Kind kind, int members>
__device__ inline void lamport(const CcnContext &c, const Group<members> &group,
                               i64 slots, i64 packets, const T *from, T *to,
                               i64 elements, u64 epoch) {
  constexpr int count = 16 / sizeof(T);
  auto place = [&](int rank, u64 run, int member, i64 packet) {
    return reinterpret_cast<uint4 *>(c.symmetric[rank] + slots) +
           (i64(run % 3) * members + member) * packets + packet;
  };
  for (i64 packet = threadInGrid(); packet * count < elements;
       packet += threadsInGrid()) {
    Vector<T, count> parts[members];
    Vector<T, count> own = loadSome<T, count>(from, packet * count, elements);
    scrub(own);
#pragma unroll
    for (int i = 1; i < members; ++i) {
      int member = (group.position + i) % members;
      storePacket(place(group.ranks[member], epoch, group.position, packet),
                  *reinterpret_cast<const uint4 *>(&own));
    }
#pragma unroll
    for (int member = 0; member < members; ++member) {
      if (member == group.position) {
        parts[member] = own;
        continue;
      }
      const uint4 *slot = place(c.rank, epoch, member, packet);
      Patience patience(c);
      uint4 value = loadPacket(slot);
      while (!hasCome<sizeof(T)>(value)) {
        patience.wait(group.ranks[member], 0, u32(epoch), 0);
        value = loadPacket(slot);
      }
      parts[member] = *reinterpret_cast<const Vector<T, count> *>(&value);
      store<u32, 4>(
          reinterpret_cast<u32 *>(place(c.rank, epoch + 2, member, packet)),
          Vector<u32, 4>{{~0u, ~0u, ~0u, ~0u}});
    }
    storeSome<T, count>(to, packet * count, elements, combineAll<kind>(parts));
  }
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The sum of an action's `count` parts (see executeSchedule).
template <class T, Kind kind>
__device__ inline Vector<T, 16 / sizeof(T)>
formSum(const CcnContext &c, const i64 *parts, i64 count, i64 bufferBytes,
        u64 epoch, const T *from, i64 index, i64 end) {
  constexpr int width = 16 / sizeof(T);
  auto part = [&](i64 i) {
    const T *data = parts[2 * i] == 0
                        ? from + parts[2 * i + 1]
                        : reinterpret_cast<const T *>(
                              c.symmetric[c.rank] + parts[2 * i + 1] +
                              i64(epoch % 2) * bufferBytes);
    return loadSome<T, width>(data, index, end);
  };
  Vector<T, width> first = part(0);
  if (count == 1)
    return first;
  typename Compute<T>::Type sums[width];
#pragma unroll
  for (int i = 0; i < width; ++i)
    sums[i] = Compute<T>::load(first.at[i]);
  for (i64 p = 1; p < count; ++p) {
    Vector<T, width> next = part(p);
#pragma unroll
    for (int i = 0; i < width; ++i)
      sums[i] = combine<kind>(sums[i], Compute<T>::load(next.at[i]));
  }
#pragma unroll
  for (int i = 0; i < width; ++i)
    first.at[i] = Compute<T>::store(sums[i]);
  return first;
}

/// Executes a schedule in chunks. Each block does all of it with a part of
/// every chunk, the same on all ranks, so blocks wait only for their like.
///
/// `table` is a list of actions of 6 numbers: a CcnScheduleAction, the peer's
/// rank, the flag, the first element of the chunk in the output or where in
/// symmetric memory the peer's slot is, the chunk's elements, and how many
/// parts follow. Each of these has 2: where it is, and the first element in the
/// input or the place in symmetric memory; of slots that of the first buffer.
template <class T, Kind kind>
__device__ inline void executeSchedule(const CcnContext &c, const i64 *table,
                                       i64 bufferBytes, const T *from, T *to,
                                       u64 epoch) {
  constexpr int width = 16 / sizeof(T);
  for (const i64 *action = table; action[0] != CCN_END_OF_SCHEDULE;
       action += 6 + 2 * action[5]) {
    int peer = int(action[1]);
    u32 flag = u32(action[2]);
    switch (action[0]) {
    case CCN_AWAIT_SLOT:
      if (threadIdx.x == 0)
        awaitFlag(c, peer, flag, blockIdx.x, u32(epoch));
      __syncthreads();
      continue;
    case CCN_AWAIT_FREE:
      if (threadIdx.x == 0 && epoch > 2)
        awaitFlag(c, peer, flag, blockIdx.x, u32(epoch - 2));
      __syncthreads();
      continue;
    case CCN_TELL_FREE:
      __syncthreads();
      if (threadIdx.x == 0)
        storeRelease(flagOf(c, peer, flag, blockIdx.x), u32(epoch));
      continue;
    }
    // The block's part, in whole vectors.
    i64 vectors = (action[4] + width - 1) / width;
    i64 begin = vectors * blockIdx.x / gridDim.x * width;
    i64 end = vectors * (blockIdx.x + 1) / gridDim.x * width;
    if (end > action[4])
      end = action[4];
    T *target = action[0] == CCN_STORE_SUM
                    ? to + action[3]
                    : reinterpret_cast<T *>(c.symmetric[peer] + action[3] +
                                            i64(epoch % 2) * bufferBytes);
    for (i64 i = begin + i64(threadIdx.x) * width; i < end;
         i += i64(blockDim.x) * width)
      storeSome<T, width>(target, i, end,
                          formSum<T, kind>(c, action + 6, action[5],
                                           bufferBytes, epoch, from, i, end));
    if (action[0] == CCN_SEND_SUM) {
      __syncthreads();
      if (threadIdx.x == 0)
        storeRelease(flagOf(c, peer, flag, blockIdx.x), u32(epoch));
    }
  }
}
