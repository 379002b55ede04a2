//===- TopologyImport.h - Machines as their tools show them -----*- C++ -*-===//
//
// Topologies from the text of `nvidia-smi topo -m` and from the XML that NCCL
// writes (NCCL_TOPO_DUMP_FILE). What these do not say is assumed; the
// assumptions are listed in synth/README.md.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_TOPOLOGYIMPORT_H
#define CCN_SYNTH_INTEROP_TOPOLOGYIMPORT_H

#include "synth/Topology.h"

namespace ccn::synth {

/// GB/s in one direction; 0: as the machine's generation suggests.
struct ImportOptions {
  double nvlinkGBps = 0, pcieGBps = 0, nicGBps = 0, smpGBps = 0;
  /// Only GPUs, NVLinks and NVSwitches.
  bool nvlinkOnly = false;
};

/// From `nvidia-smi topo -m`: the matrix and its header, among other lines.
Result<Topology> parseNvidiaSmi(std::string_view text, std::string_view where,
                                const ImportOptions &options = {});

/// From NCCL's <system>. GPUs are the ranks in the order of their `rank`, or
/// of `dev` where no GPU has one.
Result<Topology> parseNcclTopology(std::string_view text,
                                   std::string_view where,
                                   const ImportOptions &options = {});

/// Ours (JSON), NCCL's (XML) or nvidia-smi's, told by the first character.
Result<Topology> parseAnyTopology(std::string_view text, std::string_view where,
                                  const ImportOptions &options = {});

/// A builtin by name, or else a file in any of these formats ("-": standard
/// input).
Result<Topology> loadTopology(const std::string &nameOrFile,
                              const ImportOptions &options = {});

/// Adds the CPU of a NUMA node, which reaches its memory as fast as all that is
/// linked with `root` so far together.
void addCpu(Topology &topology, int root, std::string name);

/// GB/s of one NVLink of a GPU of compute capability `sm` (70: V100).
double nvlinkGBpsOf(int sm);

/// Latencies in microseconds: of an NVLink, of a side of an NVSwitch, of a
/// PCIe hop. The last two are assumptions.
constexpr double nvlinkUs = 0.7, nvswitchUs = 0.35, pcieUs = 0.3;

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_TOPOLOGYIMPORT_H
