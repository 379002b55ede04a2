//===- Groups.cpp - Collectives of several process groups -----------------===//
//
// See Groups.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace ccn;
using namespace ccn::synth;

std::string ccn::synth::wrongGroups(const Groups &groups, int ranks) {
  std::vector<char> seen(ranks);
  for (const std::vector<int> &group : groups) {
    if (group.empty())
      return "expected at least one rank in a group, found none";
    for (int rank : group) {
      if (rank < 0 || rank >= ranks)
        return "expected ranks 0 to " + std::to_string(ranks - 1) +
               " in groups, found " + std::to_string(rank);
      if (seen[rank])
        return "expected each rank in one group, found " +
               std::to_string(rank) + " twice";
      seen[rank] = 1;
    }
  }
  return "";
}

Result<Collective> ccn::synth::makeGrouped(CollectiveKind kind, int ranks,
                                           const Groups &groups,
                                           int chunksPerNode, int root) {
  if (std::string wrong = wrongGroups(groups, ranks); !wrong.empty())
    return error(wrong);
  Collective result;
  result.ranks = ranks;
  result.chunksPerNode = chunksPerNode;
  result.bufferChunks = 0;
  result.name = std::string(kindName(kind)) + " of " +
                std::to_string(groups.size()) +
                (groups.size() == 1 ? " group" : " groups");
  constexpr size_t maxChunks = 1 << 21;
  size_t chunks = 0;
  for (const std::vector<int> &group : groups)
    chunks += group.size() * static_cast<size_t>(std::max(chunksPerNode, 0));
  if (chunks > maxChunks)
    return error(result.name + ": expected at most " +
                 std::to_string(maxChunks) + " chunks, found " +
                 std::to_string(chunks));
  for (const std::vector<int> &group : groups) {
    Result<Collective> part = makeCollective(
        kind, static_cast<int>(group.size()), chunksPerNode, root);
    if (!part)
      return part;
    result.combining = part->combining;
    result.bufferChunks = std::max(result.bufferChunks, part->bufferChunks);
    for (ChunkRelation &chunk : part->chunks) {
      for (std::vector<int> *list : {&chunk.pre, &chunk.post}) {
        for (int &rank : *list)
          rank = group[rank];
        std::sort(list->begin(), list->end());
      }
      result.chunks.push_back(std::move(chunk));
    }
  }
  return result;
}

Groups ccn::synth::independentGroups(const Collective &collective) {
  std::vector<int> parent(collective.ranks), size(collective.ranks, 1);
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](int v) {
    while (parent[v] != v)
      v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const ChunkRelation &chunk : collective.chunks)
    for (const std::vector<int> *list : {&chunk.pre, &chunk.post})
      for (int rank : *list)
        parent[find(rank)] = find(chunk.pre[0]);
  std::map<int, std::vector<int>> members;
  for (int rank = 0; rank < collective.ranks; ++rank)
    members[find(rank)].push_back(rank);
  Groups result;
  for (auto &[root, group] : members)
    if (group.size() > 1)
      result.push_back(std::move(group));
  std::sort(result.begin(), result.end());
  return result;
}

Collective ccn::synth::partOf(const Collective &collective,
                              const std::vector<int> &group,
                              std::vector<int> &chunks) {
  std::vector<int> renamed(collective.ranks, -1);
  for (size_t i = 0; i < group.size(); ++i)
    renamed[group[i]] = static_cast<int>(i);
  Collective part = collective;
  part.kind = CollectiveKind::Custom;
  part.ranks = static_cast<int>(group.size());
  part.chunks.clear();
  chunks.clear();
  bool all = collective.combining;
  for (size_t c = 0; c < collective.chunks.size(); ++c) {
    ChunkRelation chunk = collective.chunks[c];
    if (renamed[chunk.pre[0]] < 0)
      continue;
    for (std::vector<int> *list : {&chunk.pre, &chunk.post}) {
      for (int &rank : *list)
        rank = renamed[rank];
      std::sort(list->begin(), list->end());
      all &= list->size() == group.size();
    }
    chunks.push_back(static_cast<int>(c));
    part.chunks.push_back(std::move(chunk));
  }
  if (all) {
    part.kind = CollectiveKind::AllReduce;
    part.chunksPerNode = part.bufferChunks =
        static_cast<int>(part.chunks.size());
  }
  return part;
}

std::vector<int> ccn::synth::linkUsers(const Fabric &fabric,
                                       const Groups &groups) {
  const Topology &t = fabric.topology;
  std::vector<int> groupOf(fabric.hosts, -1);
  for (size_t g = 0; g < groups.size(); ++g)
    for (int rank : groups[g])
      groupOf[rank] = static_cast<int>(g);
  std::vector<std::set<int>> users(t.links.size() + t.edgeSets.size());
  for (const FabricEdge &edge : fabric.edges)
    if (int g = groupOf[edge.src]; g >= 0 && g == groupOf[edge.dst])
      for (int l : edge.path)
        users[l].insert(g);
  std::vector<int> result;
  for (size_t s = 0; s < t.edgeSets.size(); ++s)
    for (int l : t.edgeSets[s].links)
      users[t.links.size() + s].insert(users[l].begin(), users[l].end());
  for (const std::set<int> &some : users)
    result.push_back(static_cast<int>(some.size()));
  return result;
}

Result<Fabric> ccn::synth::fabricOfGroup(const Fabric &fabric,
                                         const std::vector<int> &group,
                                         const std::vector<int> &users,
                                         std::vector<int> &edges) {
  const Topology &t = fabric.topology;
  Topology part;
  part.name = t.name + " group";
  std::vector<int> node(t.nodes.size(), -1), link(t.links.size(), -1);
  std::vector<int> oldLink;
  std::vector<char> member(fabric.hosts);
  for (int rank : group) {
    int v = fabric.hostNode[rank];
    member[rank] = 1;
    node[v] = part.addNode(t.nodes[v].name, t.nodes[v].kind);
  }
  auto share = [&](int units, int among) {
    // In whole units.
    int whole = units / std::max(1, among);
    return whole * fabric.unitGBps;
  };
  auto tooSmall = [&](const std::string &what, int among) {
    return error(what + " carries less than one unit for each of " +
                 std::to_string(among) + " groups");
  };
  std::map<std::vector<int>, int> edgeAlong;
  for (size_t e = 0; e < fabric.edges.size(); ++e) {
    const FabricEdge &edge = fabric.edges[e];
    if (!member[edge.src] || !member[edge.dst])
      continue;
    edgeAlong.emplace(edge.path, static_cast<int>(e));
    for (int l : edge.path) {
      if (link[l] >= 0)
        continue;
      for (int v : {t.links[l].src, t.links[l].dst})
        if (node[v] < 0)
          node[v] = part.addNode(t.nodes[v].name, t.nodes[v].kind);
      double gbps = share(fabric.linkCap[l], users[l]);
      if (gbps == 0)
        return tooSmall("the link from " + t.nodes[t.links[l].src].name +
                            " to " + t.nodes[t.links[l].dst].name,
                        users[l]);
      link[l] = static_cast<int>(oldLink.size());
      oldLink.push_back(l);
      part.addLink(node[t.links[l].src], node[t.links[l].dst], gbps,
                   t.links[l].us);
    }
  }
  for (size_t s = 0; s < t.edgeSets.size(); ++s) {
    EdgeSet set{t.edgeSets[s].name, {}, 0};
    for (int l : t.edgeSets[s].links)
      if (link[l] >= 0)
        set.links.push_back(link[l]);
    if (set.links.empty())
      continue;
    set.gbps =
        share(static_cast<int>(t.edgeSets[s].gbps / fabric.unitGBps + 1e-6),
              users[t.links.size() + s]);
    if (set.gbps == 0)
      return tooSmall("the edge set " + set.name, users[t.links.size() + s]);
    part.edgeSets.push_back(std::move(set));
  }
  Result<Fabric> result = makeFabric(part, fabric.unitGBps);
  if (!result)
    return result;
  edges.clear();
  for (const FabricEdge &edge : result->edges) {
    std::vector<int> path;
    for (int l : edge.path)
      path.push_back(oldLink[l]);
    auto it = edgeAlong.find(path);
    if (it == edgeAlong.end())
      return error("the group has ways of its own, which the machine has not");
    edges.push_back(it->second);
  }
  return result;
}
