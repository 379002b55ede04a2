//===- ForestCapacities.cpp - What tree packing may use of each link ------===//
//
// Tree packing knows nothing of links that share a capacity, and needs as much
// capacity into every switch as out of it. A linear program gives every link a
// part of what it has so that both hold and all_gather loses nothing: by
// Edmonds' theorem trees reach what the cuts of the parts allow, and the parts
// that a best schedule uses are among those tried.
//
//===----------------------------------------------------------------------===//

#include "synth/Forest.h"
#include "synth/LinearProgram.h"

#include <cmath>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// The largest common denominator of the parts that is looked for.
constexpr int maxParts = 5040;

class Program {
public:
  Program(const Fabric &fabric, std::optional<int> root)
      : fabric(fabric), root(root), t(fabric.topology),
        links(static_cast<int>(t.links.size())) {
    build();
  }

  Result<LinkParts> solve(const Limits &limits) const;

private:
  using Relation = LinearProgram::Relation;
  void build();

  const Fabric &fabric;
  const std::optional<int> root;
  const Topology &t;
  int links;
  LinearProgram lp;
  int rounds = 0, firstPart = 0;
};

void Program::build() {
  std::vector<std::vector<int>> in(t.nodes.size()), out(t.nodes.size());
  for (int l = 0; l < links; ++l) {
    in[t.links[l].dst].push_back(l);
    out[t.links[l].src].push_back(l);
  }
  // Rounds for one chunk a rank, and what each link carries in them.
  rounds = lp.addColumn(0);
  for (int l = 0; l < links; ++l) {
    int part = lp.addColumn(0);
    if (l == 0)
      firstPart = part;
    lp.addRow(LinearProgram::TermList{{part, 1}, {rounds, -fabric.linkCap[l]}},
              Relation::AtMost, 0);
  }
  for (const EdgeSet &set : t.edgeSets) {
    auto cap = static_cast<int64_t>(set.gbps / fabric.unitGBps + 1e-6);
    LinearProgram::TermList terms = {{rounds, -cap}};
    for (int l : set.links)
      terms.push_back({firstPart + l, 1});
    lp.addRow(std::move(terms), Relation::AtMost, 0);
  }
  for (size_t v = 0; v < t.nodes.size(); ++v) {
    if (t.nodes[v].kind == NodeKind::Gpu)
      continue;
    LinearProgram::TermList terms;
    for (int l : in[v])
      terms.push_back({firstPart + l, 1});
    for (int l : out[v])
      terms.push_back({firstPart + l, -1});
    lp.addRow(std::move(terms), Relation::Equal, 0);
  }
  // Every rank can receive one chunk of each root at once.
  for (int sink = 0; sink < fabric.ranks; ++sink) {
    if (sink == root)
      continue;
    int first = 0;
    for (int l = 0; l < links; ++l) {
      int flow = lp.addColumn(0);
      if (l == 0)
        first = flow;
      lp.addRow(LinearProgram::TermList{{flow, 1}, {firstPart + l, -1}},
                Relation::AtMost, 0);
    }
    for (size_t v = 0; v < t.nodes.size(); ++v) {
      if (static_cast<int>(v) == fabric.hostNode[sink])
        continue;
      LinearProgram::TermList terms;
      for (int l : out[v])
        terms.push_back({first + l, 1});
      for (int l : in[v])
        terms.push_back({first + l, -1});
      lp.addRow(std::move(terms), Relation::Equal,
                t.nodes[v].kind == NodeKind::Gpu &&
                        (!root || fabric.nodeHost[v] == *root)
                    ? 1
                    : 0);
    }
  }
}

Result<LinkParts> Program::solve(const Limits &limits) const {
  // Few rounds first, then no more of the links than that takes.
  LinearProgram::Terms cost = {{rounds, int64_t(1) << 20}};
  for (int l = 0; l < links; ++l)
    cost[firstPart + l] = 1;
  std::vector<double> values, duals;
  Answer answer = lp.minimizeAlike(cost, limits, values, duals);
  if (answer == Answer::No)
    return error(t.name +
                 ": expected at least two ranks that reach each other");
  if (answer != Answer::Yes)
    return error(limits.expired() ? "out of time"
                                  : t.name + ": no solution was found for its "
                                             "shared capacities");
  LinkParts parts;
  parts.rounds = values[rounds];
  for (int scale = 1; scale <= maxParts; ++scale) {
    bool whole = true;
    parts.capacity.clear();
    for (int l = 0; l < links && whole; ++l) {
      double x = values[firstPart + l] / parts.rounds * scale;
      parts.capacity.push_back(static_cast<int>(std::lround(x)));
      whole = std::abs(x - std::round(x)) < 1e-7 * scale + 1e-9;
    }
    if (whole) {
      parts.scale = scale;
      return parts;
    }
  }
  return error(t.name + ": the parts of its shared capacities have no small "
                        "common measure; set a coarser unit");
}

} // namespace

Result<LinkParts> ccn::synth::linkParts(const Fabric &fabric,
                                        const Limits &limits,
                                        std::optional<int> root) {
  return Program(fabric, root).solve(limits);
}
