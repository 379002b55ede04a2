//===- Sketch.h - What a user wants of a schedule ---------------*- C++ -*-===//
//
// Communication sketches with the keys of TACCL (NSDI'23): which links of the
// machine to use, how many peers behind a switch, which GPUs relay to other
// nodes and for whom, symmetry, chunks. A sketch narrows the search; where that
// leaves nothing, it says which parts of the sketch are to blame.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_SKETCH_H
#define CCN_SYNTH_SKETCH_H

#include "synth/Solve.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ccn::synth {

/// Which links a part of the machine may use.
enum class LinkStrategy {
  All,       ///< "none", "fully-connected": every link there is
  Switch,    ///< only between GPUs of one of the switches
  Relay,     ///< only those listed
  DirectMap, ///< between nodes: from each GPU to its counterparts
};

/// How many peers a GPU has behind a switch.
enum class SwitchPolicy {
  Any, ///< "uc-free", "uc-max": as many as there are
  Min, ///< "uc-min": as few as let a schedule exist
};

struct SketchLinks {
  LinkStrategy strategy = LinkStrategy::All;
  /// Switch: GPUs, local in a node or, between nodes, of the whole machine.
  std::vector<std::vector<int>> switches;
  std::vector<SwitchPolicy> policies;
  /// Relay: local sender to local receivers.
  std::map<int, std::vector<int>> connections;
};

struct Sketch {
  int nodes = 1;
  SketchLinks inside, between;
  /// Local sender to the local GPUs whose chunks it passes to other nodes;
  /// empty: everybody's.
  std::map<int, std::vector<int>> sendersFor;
  /// Local sender to how many share its NIC.
  std::map<int, int> nicShares;
  /// (offset, size): rank r of a group of `size` moves on by `offset`.
  std::vector<std::pair<int, int>> symmetries;
  /// Chunks a rank (a pair for all_to_all); 0: not said.
  int chunks = 0;
};

Result<Sketch> parseSketch(std::string_view text, std::string_view where);

/// The C that a sketch asks for, of a collective by its name; 0: not said.
int sketchChunks(const Sketch &sketch, const std::string &collective,
                 int ranks);

/// As solve(), within the sketch. all_reduce is composed where the sketch asks
/// for a symmetry. When there is no schedule but there would be without the
/// sketch, `certificate` ends with the parts of the sketch that together leave
/// none, no one of which could be dropped. Fails where the sketch does not fit
/// the machine or the collective.
Result<SolveResult> solveSketch(const Fabric &fabric,
                                const Collective &collective, int steps,
                                int rounds, const Sketch &sketch,
                                const SolveOptions &options);

} // namespace ccn::synth

#endif // CCN_SYNTH_SKETCH_H
