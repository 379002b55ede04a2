//===- Nccl.h - Files that NCCL reads ---------------------------*- C++ -*-===//
//
// NCCL's channels (NCCL_GRAPH_FILE), and the table of algorithms by size that
// NVIDIA's example of a tuner plugin reads (NCCL_TUNER_CONFIG_FILE).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_NCCL_H
#define CCN_SYNTH_INTEROP_NCCL_H

#include "synth/Rings.h"

#include <string>

namespace ccn::synth {

/// How NCCL is to run rings: each as so many channels, which share its speed.
struct NcclChannels {
  Rings rings;
  int copies = 1;
};

/// Channels of at most about 25 GB/s each, as one thread block copies no more;
/// and no more than `most` of them.
NcclChannels channelsOf(const Rings &rings, const Fabric &fabric, int most);

/// The channels, for rings (graph 0) and for trees (graph 1), which NCCL makes
/// chains of within a machine. Devices are the ranks; with several machines
/// each has a file of its own, this one the `machine`-th, in which devices are
/// counted within the machine, as are the NICs by which rings come and go.
std::string writeNcclGraphs(const NcclChannels &channels, const Fabric &fabric,
                            int machine);

/// Rows for all sizes, by what is predicted from 1 KB to 1 GB: for all_reduce
/// whether rings or chains take less (chains, if that is 2 %), for the others
/// rings, which are all that NCCL has for them within a machine but for NVLink
/// SHARP; by the protocol LL where twice the bytes take at most a tenth longer:
/// it sends a flag with every word, for which the receiver waits, and so needs
/// no synchronization besides.
Result<std::string> writeNcclTuner(const NcclChannels &channels,
                                   const Fabric &fabric);

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_NCCL_H
