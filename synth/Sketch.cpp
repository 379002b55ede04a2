//===- Sketch.cpp - Solving within a sketch -------------------------------===//
//
// Links that a sketch leaves out are removed, chunks are kept from senders that
// do not serve their source, and the search is held to the group that the
// symmetries generate. If nothing is found, parts of the sketch are dropped one
// by one, as long as nothing is found without them either. The parts that
// remain are the reason.
//
//===----------------------------------------------------------------------===//

#include "synth/Sketch.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Groups larger than this are not listed.
constexpr size_t largestGroup = 4096;

/// A sketch's parts, each of which can be left out.
struct Part {
  enum Kind { Inside, Between, Senders, Shares, Symmetry };
  Kind kind = Inside;
  size_t index = 0;
  std::string name;
};

class Search {
public:
  Search(const Fabric &fabric, const Collective &collective, int steps,
         int rounds, const Sketch &sketch, const SolveOptions &options)
      : fabric(fabric), coll(collective), steps(steps), rounds(rounds),
        sketch(sketch), options(options), local(fabric.ranks / sketch.nodes) {}
  Result<SolveResult> run();

private:
  std::string validate() const;
  std::vector<Part> parts() const;
  bool isLocal(int rank) const { return rank >= 0 && rank < local; }
  bool allowed(const SketchLinks &links, int src, int dst, bool between,
               int peers) const;
  Result<SolveResult> solveWith(const std::vector<Part> &kept, int peers);
  /// The edges that are left, by their numbers in the fabric.
  std::vector<int> keptEdges(const std::vector<Part> &kept, int peers) const;
  /// Limits what each GPU sends to other nodes to its share of a NIC.
  Status shareNics(Fabric &narrow) const;
  /// For each source the edges that its chunks may not cross, since other GPUs
  /// send to other nodes for it.
  Forbidden forbiddenFor(const Fabric &narrow) const;
  /// The group that the symmetries generate; empty without any.
  Result<Group> groupOf(const std::vector<Part> &kept, const Fabric &narrow,
                        const Forbidden &forbidden) const;
  Result<SolveResult> solveParts(const std::vector<Part> &kept);
  /// Peers behind a switch to try, from the fewest; 0: any number.
  std::vector<int> peerCounts(const std::vector<Part> &kept) const;

  const Fabric &fabric;
  const Collective &coll;
  int steps, rounds;
  const Sketch &sketch;
  const SolveOptions &options;
  int local;
};

std::string Search::validate() const {
  if (fabric.ranks % sketch.nodes != 0)
    return "nnodes: expected a divisor of the topology's " +
           std::to_string(fabric.ranks) + " ranks, found " +
           std::to_string(sketch.nodes);
  auto checkLinks = [&](const SketchLinks &links, const std::string &name,
                        int limit) -> std::string {
    for (const std::vector<int> &group : links.switches)
      for (int gpu : group)
        if (gpu >= limit)
          return name + "/switches: expected GPUs below " +
                 std::to_string(limit) + ", found " + std::to_string(gpu);
    for (const auto &[from, list] : links.connections) {
      if (!isLocal(from))
        return name + ": expected GPUs below " + std::to_string(local) +
               ", found " + std::to_string(from);
      for (int to : list)
        if (!isLocal(to))
          return name + ": expected GPUs below " + std::to_string(local) +
                 ", found " + std::to_string(to);
    }
    return "";
  };
  std::string problem = checkLinks(sketch.inside, "intranode_sketch", local);
  if (problem.empty())
    problem = checkLinks(sketch.between, "internode_sketch", fabric.ranks);
  for (const auto &[sender, list] : sketch.sendersFor)
    for (int gpu : list)
      if (problem.empty() && (!isLocal(sender) || !isLocal(gpu)))
        problem = "gpus_to_sender_rev_map: expected GPUs below " +
                  std::to_string(local) + ", found " +
                  std::to_string(std::max(sender, gpu));
  for (auto [offset, size] : sketch.symmetries)
    if (problem.empty() && fabric.ranks % size != 0)
      problem = "symmetry_offsets: expected sizes that divide the " +
                std::to_string(fabric.ranks) + " ranks, found " +
                std::to_string(size);
  if (problem.empty() && !sketch.sendersFor.empty() && coll.combining)
    problem = "gpus_to_sender_rev_map: it restricts copies by their source, "
              "and " +
              coll.name + " adds";
  return problem;
}

std::vector<Part> Search::parts() const {
  std::vector<Part> result;
  if (sketch.inside.strategy != LinkStrategy::All)
    result.push_back({Part::Inside, 0, "intranode_sketch"});
  if (sketch.between.strategy != LinkStrategy::All)
    result.push_back({Part::Between, 0, "internode_sketch/internode_conn"});
  if (!sketch.sendersFor.empty())
    result.push_back(
        {Part::Senders, 0, "internode_sketch/gpus_to_sender_rev_map"});
  if (!sketch.nicShares.empty())
    result.push_back({Part::Shares, 0, "internode_sketch/beta_split"});
  for (size_t i = 0; i < sketch.symmetries.size(); ++i)
    result.push_back(
        {Part::Symmetry, i, "symmetry_offsets/" + std::to_string(i)});
  return result;
}

bool Search::allowed(const SketchLinks &links, int src, int dst, bool between,
                     int peers) const {
  int from = between ? src : src % local, to = between ? dst : dst % local;
  switch (links.strategy) {
  case LinkStrategy::All:
    return true;
  case LinkStrategy::DirectMap:
    return src % local == dst % local;
  case LinkStrategy::Relay: {
    auto it = links.connections.find(src % local);
    return it != links.connections.end() &&
           std::find(it->second.begin(), it->second.end(), dst % local) !=
               it->second.end();
  }
  case LinkStrategy::Switch:
    for (size_t s = 0; s < links.switches.size(); ++s) {
      const std::vector<int> &group = links.switches[s];
      auto a = std::find(group.begin(), group.end(), from);
      auto b = std::find(group.begin(), group.end(), to);
      if (a == group.end() || b == group.end())
        continue;
      if (links.policies[s] == SwitchPolicy::Any || peers == 0)
        return true;
      // The next ones round the switch.
      int size = static_cast<int>(group.size());
      int ahead = (static_cast<int>(b - a) + size) % size;
      if (ahead <= peers)
        return true;
    }
    return false;
  }
  return true;
}

std::vector<int> Search::peerCounts(const std::vector<Part> &kept) const {
  size_t largest = 0;
  for (const Part &part : kept)
    for (const SketchLinks *links : {&sketch.inside, &sketch.between})
      if (part.kind == (links == &sketch.inside ? Part::Inside : Part::Between))
        for (size_t s = 0; s < links->switches.size(); ++s)
          if (links->policies[s] == SwitchPolicy::Min)
            largest = std::max(largest, links->switches[s].size());
  std::vector<int> counts;
  for (size_t peers = 1; peers + 1 < largest; peers *= 2)
    counts.push_back(static_cast<int>(peers));
  counts.push_back(0);
  return counts;
}

static bool has(const std::vector<Part> &kept, Part::Kind kind) {
  return std::any_of(kept.begin(), kept.end(),
                     [&](const Part &p) { return p.kind == kind; });
}

std::vector<int> Search::keptEdges(const std::vector<Part> &kept,
                                   int peers) const {
  bool inside = has(kept, Part::Inside), outside = has(kept, Part::Between);
  std::vector<int> edges;
  for (size_t e = 0; e < fabric.edges.size(); ++e) {
    const FabricEdge &edge = fabric.edges[e];
    bool keep = true;
    if (edge.src < fabric.ranks && edge.dst < fabric.ranks) {
      bool between = edge.src / local != edge.dst / local;
      if (between ? outside : inside)
        keep = allowed(between ? sketch.between : sketch.inside, edge.src,
                       edge.dst, between, peers);
    }
    if (keep)
      edges.push_back(static_cast<int>(e));
  }
  return edges;
}

Status Search::shareNics(Fabric &narrow) const {
  for (int r = 0; r < fabric.ranks; ++r)
    if (auto it = sketch.nicShares.find(r % local);
        it != sketch.nicShares.end()) {
      FabricSet share{{}, 1 << 30, "NIC share of " + fabric.hostName(r)};
      for (int e : narrow.out[r]) {
        const FabricEdge &edge = narrow.edges[e];
        if (edge.dst >= fabric.ranks || edge.dst / local == r / local)
          continue;
        share.edges.push_back(e);
        for (int l : edge.path)
          share.cap = std::min(share.cap, narrow.linkCap[l] / it->second);
      }
      if (share.edges.empty())
        continue;
      if (share.cap == 0)
        return error("beta_split: a share of " + std::to_string(it->second) +
                     " leaves less than a chunk a round; use a smaller "
                     "--unit");
      std::sort(share.edges.begin(), share.edges.end());
      narrow.sets.push_back(std::move(share));
    }
  return Status();
}

Forbidden Search::forbiddenFor(const Fabric &narrow) const {
  Forbidden forbidden(fabric.ranks, std::vector<char>(narrow.edges.size()));
  for (size_t e = 0; e < narrow.edges.size(); ++e) {
    const FabricEdge &edge = narrow.edges[e];
    if (edge.src >= fabric.ranks || edge.dst >= fabric.ranks ||
        edge.src / local == edge.dst / local)
      continue;
    auto it = sketch.sendersFor.find(edge.src % local);
    for (int source = 0; source < fabric.ranks; ++source)
      forbidden[source][e] = it == sketch.sendersFor.end() ||
                             std::find(it->second.begin(), it->second.end(),
                                       source % local) == it->second.end();
  }
  return forbidden;
}

Result<Group> Search::groupOf(const std::vector<Part> &kept,
                              const Fabric &narrow,
                              const Forbidden &forbidden) const {
  Group generators;
  for (const Part &part : kept) {
    if (part.kind != Part::Symmetry)
      continue;
    auto [offset, size] = sketch.symmetries[part.index];
    std::vector<int> hosts(fabric.hosts);
    for (int h = 0; h < fabric.hosts; ++h)
      hosts[h] =
          h < fabric.ranks ? h / size * size + (h % size + offset) % size : h;
    std::string why;
    std::optional<Automorphism> g = automorphismOf(narrow, hosts, why);
    if (!g)
      return error(part.name + ": " + why);
    if (chunkAction({*g}, coll).empty())
      return error(part.name + ": " + coll.name +
                   " does not have this symmetry");
    if (!keepsForbidden({*g}, forbidden))
      return error(part.name +
                   ": gpus_to_sender_rev_map does not have this symmetry");
    generators.push_back(std::move(*g));
  }
  if (generators.empty())
    return Group();
  Group group = generatedGroup(narrow, generators, largestGroup);
  if (group.empty())
    return error("symmetry_offsets: expected a group of at most " +
                 std::to_string(largestGroup) + " elements");
  return group;
}

Result<SolveResult> Search::solveWith(const std::vector<Part> &kept,
                                      int peers) {
  std::vector<int> original = keptEdges(kept, peers);
  std::vector<char> keep(fabric.edges.size());
  for (int e : original)
    keep[e] = 1;
  Fabric narrow = withEdges(fabric, keep);
  if (has(kept, Part::Shares))
    if (Status status = shareNics(narrow); !status)
      return status;
  Restriction restriction;
  if (has(kept, Part::Senders))
    restriction.forbidden = forbiddenFor(narrow);
  Result<Group> group = groupOf(kept, narrow, restriction.forbidden);
  if (!group)
    return group.status();
  restriction.symmetry = *std::move(group);
  SolveOptions within = options;
  within.restriction = &restriction;
  if (!restriction.symmetry.empty() && coll.combining)
    within.mode = ReduceMode::Composition;
  Result<SolveResult> result = solve(narrow, coll, steps, rounds, within);
  if (result && result->answer == Answer::Yes) {
    for (Step &step : result->schedule.steps)
      for (Send &send : step.sends)
        if (send.edge >= 0)
          send.edge = original[send.edge];
    std::string wrong = check(result->schedule, &fabric);
    if (!wrong.empty())
      return error("the schedule found does not pass its check (a bug): " +
                   wrong);
    if (peers > 0)
      result->method += ", " + std::to_string(peers) + " peers a switch";
  }
  return result;
}

Result<SolveResult> Search::solveParts(const std::vector<Part> &kept) {
  Result<SolveResult> result = Status::failure("");
  for (int peers : peerCounts(kept)) {
    result = solveWith(kept, peers);
    if (!result || result->answer == Answer::Yes || options.limits.expired())
      break;
  }
  return result;
}

Result<SolveResult> Search::run() {
  std::string problem = validate();
  if (!problem.empty())
    return error(problem);
  std::vector<Part> kept = parts();
  Result<SolveResult> result = solveParts(kept);
  if (!result || result->answer != Answer::No || kept.empty())
    return result;
  // A part can be dropped if there is no schedule without it either.
  for (size_t i = 0; i < kept.size();) {
    std::vector<Part> fewer = kept;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    Result<SolveResult> without = solveParts(fewer);
    if (without && without->answer == Answer::No)
      kept = std::move(fewer);
    else
      ++i;
  }
  std::string names;
  for (const Part &part : kept)
    names += (names.empty() ? "" : ", ") + part.name;
  result->certificate +=
      kept.empty() ? "\nno part of the sketch is to blame: without it there is "
                     "none either"
                   : "\nthe parts of the sketch that leave none: " + names;
  return result;
}

} // namespace

Result<SolveResult> ccn::synth::solveSketch(const Fabric &fabric,
                                            const Collective &collective,
                                            int steps, int rounds,
                                            const Sketch &sketch,
                                            const SolveOptions &options) {
  return Search(fabric, collective, steps, rounds, sketch, options).run();
}
