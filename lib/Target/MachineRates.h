//===- MachineRates.h - How fast a machine is -------------------*- C++ -*-===//
//
// The part of a machine's file from which times are predicted (README.md has a
// table of its fields). Only the search for schedules decides by them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TARGET_MACHINERATES_H
#define CCN_LIB_TARGET_MACHINERATES_H

#include "lib/Target/Machine.h"

#include <map>
#include <optional>
#include <string>

namespace ccn {

/// Times are in microseconds, speeds in GB/s (10^9 bytes), Gop/s or TFLOP/s.
/// A core is a multiprocessor of a GPU, or a core of a CPU.
struct MachineRates {
  /// On which machine the figures were measured, or that they come from a data
  /// sheet.
  std::string on;
  /// Whether all ranks share one memory and its cache, as on a CPU.
  bool isShared = false;
  int64_t cores = 1;

  /// Device memory; `memoryUs` is its latency. `coreGBps` is the most that one
  /// core loads or stores.
  double readGBps = 0, writeGBps = 0, memoryUs = 0, coreGBps = 0;
  /// The size and speed of the last cache before memory.
  double cacheBytes = 0, cacheGBps = 0;
  /// Stores into other GPUs' memory (`linkGBps`) and loads from it
  /// (`loadGBps`), while as much goes in the other direction; `linkUs` is the
  /// latency. `coreLinkGBps` is the most that one core stores; it loads
  /// `loadGBps` / `linkGBps` times that.
  double linkGBps = 0, loadGBps = 0, linkUs = 0, coreLinkGBps = 0;
  /// If only so many ranks, one after the other, are joined by links, a network
  /// joins them to others: how fast it is in each direction, its latency, and
  /// what a message takes if there are many.
  struct Node {
    int64_t ranks = 0;
    double networkGBps = 0, networkUs = 0, messageUs = 0;
  };
  std::optional<Node> node;
  /// Whether the network is between two ranks.
  bool isFar(int64_t one, int64_t other) const {
    return node && one / node->ranks != other / node->ranks;
  }
  /// The time of a run in addition to its launches, and of a launch in addition
  /// to its work, in a graph and on a stream.
  double runUs = 0, graphLaunchUs = 0, streamLaunchUs = 0;
  /// Waits: for the flags of all ranks, at the begin or end of a kernel or
  /// between its parts; for all blocks of a kernel; for a cluster of blocks;
  /// for the threads of a block.
  double barrierUs = 0, gridUs = 0, clusterUs = 0, blockUs = 0;
  /// The additional time of a launch that waits for another stream's launch.
  double eventUs = 0;
  /// Scalar operations of all cores, on f64 and on other types, and the latency
  /// of one whose result the next one needs.
  double f64Gops = 0, otherGops = 0, operationUs = 0;
  /// Matrix products by element type, of a library and of our kernels; f32 must
  /// be present, and types that are absent count as f32. Then convolutions of
  /// our kernels.
  std::map<std::string, double, std::less<>> libraryTflops, kernelTflops;
  double convolutionTflops = 0;
  /// How fast matrices whose rows are not aligned are copied for a library's
  /// products.
  double paddedGBps = 0;
};

/// The whole content of a machine's file, in which rates are optional.
struct MachineFile {
  Machine machine;
  std::optional<MachineRates> rates;
};

/// Like loadMachine (Machine.h), but with the rates.
Result<MachineFile> loadMachineFile(std::string_view nameOrFile);

} // namespace ccn

#endif // CCN_LIB_TARGET_MACHINERATES_H
