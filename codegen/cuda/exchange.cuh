//===- exchange.cuh - One-shot all_reduces, and schedules -----------------===//
//
// The exchanges of runtime/Protocols.h. Every thread has packets of its own, so
// nobody waits for a whole block: LL sends 8 bytes with two flags in 16, and
// Lamport 16 bytes whose words are not the sentinel, all ones. LL has two
// buffers that runs take in turns, Lamport three.
//
//===----------------------------------------------------------------------===//

#ifdef __CUDA_ARCH__
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
#endif

/// `count` elements from `index` on as one packet's payload; past the end 0.
/// Here and in what follows `from` and `to` are pointers to T, or what stands
/// for them (pieces.cuh).
template <class T, int count, class From>
__device__ inline Vector<T, count> loadSome(const From &from, i64 index,
                                            i64 end) {
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
template <class T, int count, class To>
__device__ inline void storeSome(const To &to, i64 index, i64 end,
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
  if constexpr (members == 1) {
    return parts[0];
  } else {
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
}

/// LL: 8 bytes with the number of the run beside each word.
template <class T> struct LowLatency {
  static constexpr int count = 8 / sizeof(T), buffers = 2;
  using Payload = Vector<T, count>;
  u32 flag;

  __device__ explicit LowLatency(u64 epoch) : flag(u32(epoch)) {}
  __device__ void prepare(Payload &) const {}
  __device__ uint4 pack(const Payload &payload) const {
    uint2 words = *reinterpret_cast<const uint2 *>(&payload);
    return make_uint4(words.x, flag, words.y, flag);
  }
  __device__ bool hasCome(uint4 packet) const {
    return packet.y == flag && packet.w == flag;
  }
  __device__ Payload unpack(uint4 packet) const {
    uint2 words = make_uint2(packet.x, packet.z);
    return *reinterpret_cast<const Payload *>(&words);
  }
};

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

/// Lamport: each run clears the buffer of the run before, which is that of the
/// run after the next.
template <class T> struct Lamport {
  static constexpr int count = 16 / sizeof(T), buffers = 3;
  using Payload = Vector<T, count>;

  __device__ explicit Lamport(u64) {}
  __device__ void prepare(Payload &payload) const { scrub(payload); }
  __device__ uint4 pack(const Payload &payload) const {
    return *reinterpret_cast<const uint4 *>(&payload);
  }
  /// Elements of 8 bytes may have half a word of all ones.
  __device__ bool hasCome(uint4 packet) const {
    if constexpr (sizeof(T) == 8)
      return (packet.x & packet.y) != ~0u && (packet.z & packet.w) != ~0u;
    return packet.x != ~0u && packet.y != ~0u && packet.z != ~0u &&
           packet.w != ~0u;
  }
  __device__ Payload unpack(uint4 packet) const {
    return *reinterpret_cast<const Payload *>(&packet);
  }
};

/// The rank of the member that comes `i` after this one.
template <int members>
__device__ inline int rankAfter(const Group<members> &group, int i) {
  int wanted = (group.position + i) % members, rank = 0;
  unrolled<0, members>([&](auto member) {
    if (member.value == wanted)
      rank = group.ranks[member.value];
  });
  return rank;
}

/// The exchange by messages: in `segment` each member puts what it has where
/// the others get it from, at `slots` in symmetric memory, in the next one each
/// combines what all have.
template <class P, class T, Kind kind, int members, class From, class To>
__device__ inline void
combineMessages(const CcnContext &c, const Group<members> &group, i64 slots,
                i64 packets, i64 share, const From &from, const To &to,
                i64 elements, i64 segment) {
  if (c.segment != segment && c.segment != segment + 1)
    return;
  auto place = [&](int rank) {
    return reinterpret_cast<T *>(c.symmetric[rank] + slots);
  };
  for (i64 first = blockIdx.x * share; first < packets;
       first += gridDim.x * share) {
    const i64 end = first + share < packets ? first + share : packets;
    for (i64 packet = first + threadIdx.x; packet < end; packet += blockDim.x) {
      const i64 at = packet * P::count;
      if (c.segment == segment) {
        typename P::Payload own = loadSome<T, P::count>(from, at, elements);
        P(0).prepare(own);
        storeSome<T, P::count>(place(c.rank), at, elements, own);
        continue;
      }
      typename P::Payload parts[members];
      unrolled<0, members>([&](auto member) {
        parts[member.value] = loadSome<T, P::count>(
            place(group.ranks[member.value]), at, elements);
      });
      storeSome<T, P::count>(to, at, elements, combineAll<kind>(parts));
    }
  }
}

/// All that a member has goes to the others at once, each packet for itself.
///
/// `slots` is where in symmetric memory the packets are, in each buffer
/// `packets` from each member. Blocks take `share` packets at a time, in turns;
/// of these a thread has up to `batch` on their way at once, since each takes
/// as long as a way to another GPU. The exchange's first segment is `segment`.
template <template <class> class Protocol, int batch, class T, Kind kind,
          int members, class From, class To>
__device__ inline void
exchange(const CcnContext &c, const Group<members> &group, i64 slots,
         i64 packets, i64 share, const From &from, const To &to, i64 elements,
         u64 epoch, i64 segment) {
  using P = Protocol<T>;
  if (c.segment >= 0)
    return combineMessages<P, T, kind>(c, group, slots, packets, share, from,
                                       to, elements, segment);
  // How many a thread looks for at once, as far as there are registers.
  constexpr int awaited = members > 2 ? 1 : batch < 4 ? batch : 4;
  const P protocol(epoch);
  const int buffer = int(epoch % P::buffers);
  auto place = [&](int rank, int buffer, int member, i64 packet) {
    return reinterpret_cast<uint4 *>(c.symmetric[rank] + slots) +
           (buffer * members + member) * packets + packet;
  };
  for (i64 first = blockIdx.x * share; first < packets;
       first += gridDim.x * share) {
    const i64 end = first + share < packets ? first + share : packets;
    for (i64 next = first + threadIdx.x; next < end;
         next += i64(batch) * blockDim.x) {
      typename P::Payload own[batch];
      unrolled<0, batch>([&](auto b) {
        i64 packet = next + i64(b.value) * blockDim.x;
        if (packet >= end)
          return;
        own[b.value] = loadSome<T, P::count>(from, packet * P::count, elements);
        protocol.prepare(own[b.value]);
        unrolled<1, members>([&](auto i) {
          storePacket(
              place(rankAfter(group, i.value), buffer, group.position, packet),
              protocol.pack(own[b.value]));
        });
      });
      unrolled<0, batch / awaited>([&](auto turn) {
        constexpr int b = turn.value * awaited;
        uint4 come[awaited][members];
        unrolled<0, awaited>([&](auto a) {
          i64 packet = next + i64(b + a.value) * blockDim.x;
          unrolled<0, members>([&](auto member) {
            if (packet < end && member.value != group.position)
              come[a.value][member.value] =
                  loadPacket(place(c.rank, buffer, member.value, packet));
          });
        });
        unrolled<0, awaited>([&](auto a) {
          i64 packet = next + i64(b + a.value) * blockDim.x;
          if (packet >= end)
            return;
          typename Compute<T>::Type sums[P::count];
          typename P::Payload result;
          unrolled<0, members>([&](auto member) {
            typename P::Payload part = own[b + a.value];
            if (member.value != group.position) {
              uint4 &value = come[a.value][member.value];
              Patience patience(c);
              while (!protocol.hasCome(value)) {
                patience.wait(group.ranks[member.value], 0, u32(epoch),
                              value.y);
                value = loadPacket(place(c.rank, buffer, member.value, packet));
              }
              part = protocol.unpack(value);
              if constexpr (P::buffers == 3)
                *place(c.rank, (buffer + 2) % 3, member.value, packet) =
                    make_uint4(~0u, ~0u, ~0u, ~0u);
            }
            if constexpr (members == 1)
              result = part;
            // In the order of the members.
#pragma unroll
            for (int i = 0; i < P::count; ++i) {
              auto next = Compute<T>::load(part.at[i]);
              sums[i] = member.value == 0 ? next : combine<kind>(sums[i], next);
              if (members > 1 && member.value == members - 1)
                result.at[i] = Compute<T>::store(sums[i]);
            }
          });
          storeSome<T, P::count>(to, packet * P::count, elements, result);
        });
      });
    }
  }
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The sum of an action's `count` parts (see executeSchedule).
template <class T, Kind kind, class From>
__device__ inline Vector<T, 16 / sizeof(T)>
formSum(const CcnContext &c, const i64 *parts, i64 count, i64 bufferBytes,
        u64 epoch, const From &from, i64 index, i64 end) {
  constexpr int width = 16 / sizeof(T);
  auto part = [&](i64 i) {
    i64 place = parts[2 * i + 1];
    if (parts[2 * i] == 0)
      return loadSome<T, width>(from, place + index, place + end);
    const T *slot = reinterpret_cast<const T *>(c.symmetric[c.rank] + place +
                                                i64(epoch % 2) * bufferBytes);
    return loadSome<T, width>(slot, index, end);
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
/// `table` is a list of actions of 7 numbers: a CcnScheduleAction, the peer's
/// rank, the flag, the first element of the chunk in the output or where in
/// symmetric memory the peer's slot is, the chunk's elements, how many parts
/// follow, and in which segment it is. Each of these parts has 2: where it is,
/// and the first element in the input or the place in symmetric memory; of
/// slots that of the first buffer.
template <class T, Kind kind, class From, class To>
__device__ inline void executeSchedule(const CcnContext &c, const i64 *table,
                                       i64 bufferBytes, const From &from,
                                       const To &to, u64 epoch) {
  constexpr int width = 16 / sizeof(T);
  // Messages need one buffer, and nobody waits.
  if (c.segment >= 0)
    epoch = 0;
  for (const i64 *action = table; action[0] != CCN_END_OF_SCHEDULE;
       action += 7 + 2 * action[5]) {
    int peer = int(action[1]);
    u32 flag = u32(action[2]);
    bool sums = action[0] == CCN_SEND_SUM || action[0] == CCN_STORE_SUM;
    if (c.segment >= 0 && !(sums && action[6] == c.segment))
      continue;
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
    T *slot = reinterpret_cast<T *>(c.symmetric[peer] + action[3] +
                                    i64(epoch % 2) * bufferBytes);
    for (i64 i = begin + i64(threadIdx.x) * width; i < end;
         i += i64(blockDim.x) * width) {
      Vector<T, width> sum = formSum<T, kind>(c, action + 7, action[5],
                                              bufferBytes, epoch, from, i, end);
      if (action[0] == CCN_STORE_SUM)
        storeSome<T, width>(to, action[3] + i, action[3] + end, sum);
      else
        storeSome<T, width>(slot, i, end, sum);
    }
    if (action[0] == CCN_SEND_SUM && c.segment < 0) {
      __syncthreads();
      if (threadIdx.x == 0)
        storeRelease(flagOf(c, peer, flag, blockIdx.x), u32(epoch));
    }
  }
}
