//===- Topology.h - Machines: GPUs, switches and their links ----*- C++ -*-===//
//
// A machine as the synthesizer sees it: nodes (GPUs, CPUs, switches, NICs),
// directed links with capacity and latency, and edge sets, which cap several
// links together. GPUs are the ranks, in the order in which they are listed.
// The JSON format is described in synth/README.md.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_TOPOLOGY_H
#define CCN_SYNTH_TOPOLOGY_H

#include "synth/Support.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ccn::synth {

/// GPUs and CPUs store and reduce data; switches and NICs only pass it on.
enum class NodeKind { Gpu, Cpu, Switch, Nic };

std::string_view kindName(NodeKind kind);

struct Node {
  std::string name;
  NodeKind kind = NodeKind::Gpu;
  /// Whether the node can hold a chunk between steps.
  bool isHost() const { return kind == NodeKind::Gpu || kind == NodeKind::Cpu; }
};

/// A directed link: capacity in GB/s (1e9 bytes), latency in microseconds.
struct Link {
  int src = 0, dst = 0;
  double gbps = 0, us = 0;
};

/// Several links that share one capacity (GB/s), for example those that
/// leave through one NIC that is not modelled as a node.
struct EdgeSet {
  std::string name;
  std::vector<int> links;
  double gbps = 0;
};

struct Topology {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Link> links;
  std::vector<EdgeSet> edgeSets;
  /// What the reader of a machine's file did not know and so left out or
  /// guessed, a line each: for whoever reads the file to say. Not written.
  std::vector<std::string> notes;

  int addNode(std::string nodeName, NodeKind kind);
  void addLink(int src, int dst, double gbps, double us);
  /// One link each way.
  void addDuplex(int a, int b, double gbps, double us);
  int numRanks() const;
  /// The node of each rank.
  std::vector<int> rankNodes() const;
  /// The index of a node by its name, or -1.
  int findNode(std::string_view nodeName) const;
};

/// The most that a link's capacity (GB/s) and latency (us) can be: what is
/// counted in MB/s fits 32 bits.
constexpr double maxGBps = 1e6, maxUs = 1e9;

/// Checks names, indices, capacities, latencies, duplicate links and that there
/// is at least one GPU. Returns an empty text when all is well.
std::string validate(const Topology &topology);

/// Reads the JSON format; `where` names the source in errors, which also
/// carry line and column (syntax) or the JSON pointer (content).
Result<Topology> parseTopology(std::string_view text, std::string_view where);

/// Writes the JSON format; parseTopology(writeTopology(t)) equals t.
std::string writeTopology(const Topology &topology);

/// What hangs together by the links, given by their numbers, that `joins` is
/// true of: for each node one node of its part, the same for all of a part.
std::vector<int> findParts(const Topology &topology,
                           const std::function<bool(size_t)> &joins);

/// A named machine: "dgx1", "ndv2x2", "ring(5)", "torus(4,4)", ... as
/// `builtinTopologies()` lists them. Errors name the nearest rule broken.
Result<Topology> buildTopology(std::string_view spec);

/// A builtin's name or pattern, and one line of explanation.
struct BuiltinTopology {
  std::string pattern, example, summary;
};
const std::vector<BuiltinTopology> &builtinTopologies();

/// Reads a whole file, "-" being standard input.
Result<std::string> readFile(const std::string &path);

} // namespace ccn::synth

#endif // CCN_SYNTH_TOPOLOGY_H
