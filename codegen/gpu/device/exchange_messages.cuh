//===- exchange_messages.cuh - One-shot all_reduces by messages -----------===//
//
// What exchange.cuh does, for ranks that send each other messages: in the
// exchange's first segment each member puts what it has where the others get it
// from, in the next one it combines what all have.
//
// Follows exchange_packets.cuh.
//
//===----------------------------------------------------------------------===//

/// What the members have of an exchange of `elements` elements, at `slots` in
/// symmetric memory.
template <class T, Kind kind, int members> class Messages {
public:
  __device__ Messages(const CcnContext &c, const Group<members> &group,
                      i64 slots, i64 elements)
      : c(c), group(group), slots(slots), elements(elements) {}

  /// Puts vector number `vector` of `from`.
  template <int width, class From>
  __device__ void put(const From &from, i64 vector) const {
    storeSome<T, width>(of(c.rank), vector * width, elements,
                        loadSome<T, width>(from, vector * width, elements));
  }
  /// That vector of all members, combined.
  template <int width>
  __device__ Vector<T, width> combineAll(i64 vector) const {
    Vector<T, width> parts[members];
    unrolled<0, members>([&](auto member) {
      parts[member.value] = loadSome<T, width>(of(group.ranks[member.value]),
                                               vector * width, elements);
    });
    return ::combineAll<kind>(parts);
  }

private:
  __device__ T *of(int rank) const {
    return reinterpret_cast<T *>(c.symmetric[rank] + slots);
  }

  const CcnContext &c;
  const Group<members> group;
  const i64 slots, elements;
};

/// An exchange whose first segment is `segment`. Clusters of blocks take
/// `share` of `packets` packets of `width` elements at a time, in turns.
template <int width, class T, Kind kind, int members, class From, class To>
__device__ inline void
exchangeByMessages(const CcnContext &c, const Group<members> &group, i64 slots,
                   i64 packets, i64 share, const From &from, const To &to,
                   i64 elements, i64 segment) {
  const Messages<T, kind, members> messages(c, group, slots, elements);
  if (c.segment == segment)
    forPackets<width>(c, packets, share, 1, [&](i64 packet, i64) {
      messages.template put<width>(from, packet);
    });
  if (c.segment == segment + 1)
    forPackets<width>(c, packets, share, 1, [&](i64 packet, i64) {
      storeSome<T, width>(to, packet * width, elements,
                          messages.template combineAll<width>(packet));
    });
}

/// The exchange of rows by threads of clusters (exchange.cuh), whose first
/// segment is `segment`.
template <class T, Kind kind, int members, int width> class MessagesOfRow {
public:
  __device__ MessagesOfRow(const CcnContext &c, const Group<members> &group,
                           i64 slots, i64 elements, i64 segment)
      : c(c), messages(c, group, slots, elements), segment(segment) {}

  /// Of vector number `vector` of all rows.
  template <int turn, class From>
  __device__ void send(const From &from, i64 vector) const {
    if (c.segment == segment)
      messages.template put<width>(from, vector);
  }
  template <int turn> __device__ Vector<T, width> receive(i64 vector) const {
    return messages.template combineAll<width>(vector);
  }

private:
  const CcnContext &c;
  const Messages<T, kind, members> messages;
  const i64 segment;
};
