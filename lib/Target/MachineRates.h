//===- MachineRates.h - How fast a machine is -------------------*- C++ -*-===//
//
// The part of a machine's file that times are predicted by (README.md has the
// table of its fields). No choice of the compiler depends on it.
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
  /// What the figures were measured on, or that they are of a data sheet.
  std::string on;
  /// Whether all ranks share one memory and its cache, as on a CPU.
  bool isShared = false;
  int64_t cores = 1;

  /// Device memory. `coreGBps` is what one core loads or stores at most.
  double readGBps = 0, writeGBps = 0, memoryUs = 0, coreGBps = 0;
  /// The last cache before memory.
  double cacheBytes = 0, cacheGBps = 0;
  /// From a GPU to others, and the reverse, each in both ways at once: stores
  /// into others' memory, and loads from it. `coreLinkGBps` is what one core
  /// stores at most; it loads `loadGBps` / `linkGBps` of that.
  double linkGBps = 0, loadGBps = 0, linkUs = 0, coreLinkGBps = 0;
  /// What a run takes beside its launches, and a launch beside its work: in a
  /// graph, and on a stream.
  double runUs = 0, graphLaunchUs = 0, streamLaunchUs = 0;
  /// Waits: the flags of all ranks at an edge of a kernel or between its parts;
  /// all blocks of a kernel; a cluster of blocks; the threads of a block.
  double barrierUs = 0, gridUs = 0, clusterUs = 0, blockUs = 0;
  /// Another stream's launch that a launch waits for.
  double eventUs = 0;
  /// Scalar operations of all cores, of f64 and of others, and what one takes
  /// whose result the next one needs.
  double f64Gops = 0, otherGops = 0, operationUs = 0;
  /// Products of matrices by element type, of a library and of our kernels;
  /// types that are not there are as f32, which must be there. Convolutions of
  /// our kernels.
  std::map<std::string, double, std::less<>> libraryTflops, kernelTflops;
  double convolutionTflops = 0;
  /// At which a library's products of rows that are not aligned are copied.
  double paddedGBps = 0;
};

/// All that a machine's file says. Files need no rates.
struct MachineFile {
  Machine machine;
  std::optional<MachineRates> rates;
};

/// As loadMachine (Machine.h), which leaves the rates out.
Result<MachineFile> loadMachineFile(std::string_view nameOrFile);

} // namespace ccn

#endif // CCN_LIB_TARGET_MACHINERATES_H
