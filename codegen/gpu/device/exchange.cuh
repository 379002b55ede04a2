//===- exchange.cuh - One-shot all_reduces --------------------------------===//
//
// The exchanges of runtime/Protocols.h. Every thread has packets of its own, so
// nobody waits for a whole block: LL sends 8 bytes with two flags in 16, and
// Lamport 16 bytes whose words are not the sentinel, all ones. LL has two
// buffers that runs take in turns, Lamport three.
//
// Follows exchange_packets.cuh.
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

/// LL: 8 bytes with the number of the run beside each word.
template <class T> struct LowLatency {
  static constexpr int count = 8 / sizeof(T), buffers = CCN_LL_BUFFERS;
  static constexpr bool clears = false;
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
  static constexpr int count = 16 / sizeof(T), buffers = CCN_LAMPORT_BUFFERS;
  static constexpr bool clears = true;
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

/// The packets of an exchange, each of which goes to all other members for
/// itself. `slots` is where in symmetric memory they are, in each buffer
/// `count` from each member. `ofClusters` says whether the kernel's blocks may
/// be in clusters.
template <template <class> class Protocol, class T, Kind kind, int members,
          bool ofClusters>
class Packets {
public:
  using P = Protocol<T>;
  using Payload = typename P::Payload;

  __device__ Packets(const CcnContext &c, const Group<members> &group,
                     i64 slots, i64 count, i64 elements, u64 epoch)
      : c(c), group(group), slots(slots), count(count), elements(elements),
        protocol(epoch), epoch(u32(epoch)),
        buffer(int(ccnBufferOf(epoch, P::buffers))) {}

  template <class From>
  __device__ Payload take(const From &from, i64 packet) const {
    Payload own = loadSome<T, P::count>(from, packet * P::count, elements);
    protocol.prepare(own);
    return own;
  }
  __device__ void send(const Payload &own, i64 packet) const {
    unrolled<1, members>([&](auto i) {
      storePacket(
          place(rankAfter(group, i.value), buffer, group.position, packet),
          protocol.pack(own));
    });
  }
  /// Loads what has come of a packet.
  __device__ void look(uint4 (&come)[members], i64 packet) const {
    unrolled<0, members>([&](auto member) {
      if (member.value != group.position)
        come[member.value] =
            loadPacket(place(c.rank, buffer, member.value, packet));
    });
  }
  /// Waits for what has not come, and combines it.
  __device__ Payload combineAll(const Payload &own, uint4 (&come)[members],
                                i64 packet) const {
    typename Compute<T>::Type sums[P::count];
    Payload result;
    unrolled<0, members>([&](auto member) {
      Payload part = own;
      if (member.value != group.position) {
        uint4 &value = come[member.value];
        Patience patience(c);
        while (!protocol.hasCome(value)) {
          // Blocks of a cluster must be there as long as others write to them,
          // so there it goes on with what it has. A loop that need not be left
          // in two ways is up to 14 % faster.
          if constexpr (!ofClusters)
            patience.wait(group.ranks[member.value], 0, epoch, value.y);
          else if (!patience.goesOn(group.ranks[member.value], 0, epoch,
                                    value.y))
            break;
          value = loadPacket(place(c.rank, buffer, member.value, packet));
        }
        if (ofClusters && !protocol.hasCome(value) && c.clusterBits == 0)
          endThread();
        part = protocol.unpack(value);
        if constexpr (P::clears)
          *place(c.rank, int(ccnBufferBefore(buffer, P::buffers)), member.value,
                 packet) = make_uint4(~0u, ~0u, ~0u, ~0u);
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
    return result;
  }

private:
  __device__ uint4 *place(int rank, int buffer, int member, i64 packet) const {
    return reinterpret_cast<uint4 *>(c.symmetric[rank] + slots) +
           (buffer * members + member) * count + packet;
  }

  const CcnContext &c;
  const Group<members> group;
  const i64 slots, count, elements;
  const P protocol;
  const u32 epoch;
  const int buffer;
};

/// All that a member has goes to the others at once.
///
/// Clusters of blocks take `share` of `packets` packets at a time, in turns; of
/// these a thread has up to `batch` on their way at once, since each takes as
/// long as a way to another GPU.
template <template <class> class Protocol, int batch, bool ofClusters, class T,
          Kind kind, int members, class From, class To>
__device__ inline void exchange(const CcnContext &c,
                                const Group<members> &group, i64 slots,
                                i64 packets, i64 share, const From &from,
                                const To &to, i64 elements, u64 epoch) {
  using P = Protocol<T>;
  const Packets<Protocol, T, kind, members, ofClusters> own(
      c, group, slots, packets, elements, epoch);
  // How many a thread looks for at once, as far as there are registers.
  constexpr int awaited = members > 2 ? 1 : batch < 4 ? batch : 4;
  forPackets<P::count>(c, packets, share, batch, [&](i64 first, i64 end) {
    typename P::Payload sent[batch];
    unrolled<0, batch>([&](auto b) {
      i64 packet = first + i64(b.value) * blockDim.x;
      if (packet >= end)
        return;
      sent[b.value] = own.take(from, packet);
      own.send(sent[b.value], packet);
    });
    unrolled<0, batch / awaited>([&](auto turn) {
      constexpr int b = turn.value * awaited;
      uint4 come[awaited][members];
      unrolled<0, awaited>([&](auto a) {
        i64 packet = first + i64(b + a.value) * blockDim.x;
        if (packet < end)
          own.look(come[a.value], packet);
      });
      unrolled<0, awaited>([&](auto a) {
        i64 packet = first + i64(b + a.value) * blockDim.x;
        if (packet < end)
          storeSome<T, P::count>(
              to, packet * P::count, elements,
              own.combineAll(sent[b + a.value], come[a.value], packet));
      });
    });
  });
}

/// The exchange of rows by threads of clusters: of each a thread exchanges the
/// vectors of `width` elements that it needs itself, up to `turns`, and has
/// them in registers.
template <template <class> class Protocol, class T, Kind kind, int members,
          int width, int turns>
class ExchangedRow {
public:
  using P = Protocol<T>;
  static constexpr int packetsEach = width / P::count;
  static_assert(packetsEach * P::count == width, "of whole packets");

  __device__ ExchangedRow(const CcnContext &c, const Group<members> &group,
                          i64 slots, i64 packets, i64 elements, u64 epoch)
      : packets(c, group, slots, packets, elements, epoch) {}

  /// Of vector number `vector` of all rows.
  template <int turn, class From>
  __device__ void send(const From &from, i64 vector) {
    unrolled<0, packetsEach>([&](auto p) {
      const i64 packet = vector * packetsEach + p.value;
      typename P::Payload &own = sent[turn * packetsEach + p.value];
      own = packets.take(from, packet);
      packets.send(own, packet);
    });
  }
  template <int turn> __device__ Vector<T, width> receive(i64 vector) {
    typename P::Payload parts[packetsEach];
    // All are looked for at once, as far as there are registers.
    constexpr int awaited = members > 2 ? 1 : packetsEach;
    unrolled<0, packetsEach / awaited>([&](auto first) {
      constexpr int p = first.value * awaited;
      uint4 come[awaited][members];
      unrolled<0, awaited>([&](auto a) {
        packets.look(come[a.value], vector * packetsEach + p + a.value);
      });
      unrolled<0, awaited>([&](auto a) {
        parts[p + a.value] = packets.combineAll(
            sent[turn * packetsEach + p + a.value], come[a.value],
            vector * packetsEach + p + a.value);
      });
    });
    Vector<T, width> values;
#pragma unroll
    for (int i = 0; i < width; ++i)
      values.at[i] = parts[i / P::count].at[i % P::count];
    return values;
  }

private:
  const Packets<Protocol, T, kind, members, true> packets;
  typename P::Payload sent[turns * packetsEach];
};
