//===- exchange_packets.cuh - Who takes which packets ---------------------===//
//
// What an exchange sends, and what it receives, is shared out in packets of a
// few elements.
//
//===----------------------------------------------------------------------===//

/// What a block has of the packets, of `elements` elements each, that its
/// cluster takes in turn `turn`, of which each has `share`.
template <int elements> struct PacketsOfBlock {
  i64 first, end;

  __device__ PacketsOfBlock(const CcnContext &c, i64 turn, i64 share,
                            i64 packets) {
    const i64 own = elementsOfBlock(c, share * elements) / elements;
    const i64 next =
        (turn + 1) * share < packets ? (turn + 1) * share : packets;
    first = turn * share + blockInCluster(c) * own;
    end = first + own < next ? first + own : next;
  }
};

/// Calls body(packet, end) for those of a thread: every `batch` times as many
/// as a block has threads, before `end`.
template <int elements, class Body>
__device__ inline void forPackets(const CcnContext &c, i64 packets, i64 share,
                                  int batch, const Body &body) {
  for (i64 turn = clusterInGrid(c); turn * share < packets;
       turn += clustersInGrid(c)) {
    const PacketsOfBlock<elements> own(c, turn, share, packets);
    for (i64 packet = own.first + threadIdx.x; packet < own.end;
         packet += i64(batch) * blockDim.x)
      body(packet, own.end);
  }
}
