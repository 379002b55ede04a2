//===- Symmetry.cpp - Automorphisms of a fabric ---------------------------===//
//
// See Symmetry.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Symmetry.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

using namespace ccn::synth;

Group ccn::synth::trivialGroup(const Fabric &fabric) {
  Automorphism identity;
  identity.hosts.resize(fabric.hosts);
  identity.edges.resize(fabric.edges.size());
  std::iota(identity.hosts.begin(), identity.hosts.end(), 0);
  std::iota(identity.edges.begin(), identity.edges.end(), 0);
  return {identity};
}

namespace {

/// The search over node permutations.
class Finder {
public:
  Finder(const Fabric &fabric, size_t limit) : fabric(fabric), limit(limit) {
    const Topology &t = fabric.topology;
    n = static_cast<int>(t.nodes.size());
    for (size_t l = 0; l < t.links.size(); ++l) {
      const Link &link = t.links[l];
      linkAt[{link.src, link.dst}] = l;
    }
    refineColors();
    order();
    for (size_t e = 0; e < fabric.edges.size(); ++e)
      edgeByPath[fabric.edges[e].path] = e;
    for (const FabricSet &set : fabric.sets)
      setCaps.insert({set.edges, set.cap});
  }

  std::vector<Automorphism> run() {
    image.assign(n, -1);
    used.assign(n, 0);
    extend(0);
    return std::move(found);
  }

private:
  /// Colours nodes by kind, then repeatedly by the colours around them.
  void refineColors() {
    const Topology &t = fabric.topology;
    color.resize(n);
    for (int i = 0; i < n; ++i)
      color[i] = static_cast<int>(t.nodes[i].kind);
    for (int round = 0; round < n; ++round) {
      using Around = std::vector<std::tuple<int, int, double, double>>;
      std::vector<std::pair<int, Around>> key(n);
      for (int i = 0; i < n; ++i)
        key[i].first = color[i];
      for (size_t l = 0; l < t.links.size(); ++l) {
        const Link &link = t.links[l];
        key[link.src].second.push_back(
            {0, color[link.dst], link.gbps, link.us});
        key[link.dst].second.push_back(
            {1, color[link.src], link.gbps, link.us});
      }
      std::map<std::pair<int, Around>, int> ids;
      for (auto &k : key) {
        std::sort(k.second.begin(), k.second.end());
        ids.emplace(k, 0);
      }
      int next = 0;
      for (auto &entry : ids)
        entry.second = next++;
      std::set<int> before(color.begin(), color.end());
      for (int i = 0; i < n; ++i)
        color[i] = ids[key[i]];
      if (before.size() == ids.size())
        break;
    }
  }

  /// Breadth-first, so that each node but a component's first is joined to an
  /// earlier one and its image is one of few.
  void order() {
    const Topology &t = fabric.topology;
    std::vector<std::vector<int>> neighbours(n);
    for (const Link &link : t.links) {
      neighbours[link.src].push_back(link.dst);
      neighbours[link.dst].push_back(link.src);
    }
    std::vector<char> seen(n);
    for (int start = 0; start < n; ++start) {
      if (seen[start])
        continue;
      seen[start] = 1;
      sequence.push_back(start);
      for (size_t i = sequence.size() - 1; i < sequence.size(); ++i)
        for (int v : neighbours[sequence[i]])
          if (!seen[v]) {
            seen[v] = 1;
            sequence.push_back(v);
          }
    }
    earlier.resize(n);
    for (int i = 0; i < n; ++i)
      for (int v : neighbours[sequence[i]])
        if (std::find(sequence.begin(), sequence.begin() + i, v) !=
            sequence.begin() + i)
          earlier[i].push_back(v);
    for (int i = 0; i < n; ++i) {
      std::sort(earlier[i].begin(), earlier[i].end());
      earlier[i].erase(std::unique(earlier[i].begin(), earlier[i].end()),
                       earlier[i].end());
    }
    adjacent = std::move(neighbours);
    for (auto &list : adjacent) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }

  bool sameLink(int a, int b, int fa, int fb) const {
    auto x = linkAt.find({a, b}), y = linkAt.find({fa, fb});
    if ((x == linkAt.end()) != (y == linkAt.end()))
      return false;
    if (x == linkAt.end())
      return true;
    const Link &p = fabric.topology.links[x->second];
    const Link &q = fabric.topology.links[y->second];
    return p.gbps == q.gbps && p.us == q.us;
  }

  void extend(int depth) {
    if (found.size() >= limit || ++visited > 2000000)
      return;
    if (depth == n) {
      finish();
      return;
    }
    int v = sequence[depth];
    auto tryImage = [&](int w) {
      if (used[w] || color[w] != color[v] ||
          adjacent[w].size() != adjacent[v].size())
        return;
      for (int u : earlier[depth])
        if (!sameLink(u, v, image[u], w) || !sameLink(v, u, w, image[u]))
          return;
      image[v] = w;
      used[w] = 1;
      extend(depth + 1);
      used[w] = 0;
      image[v] = -1;
    };
    if (earlier[depth].empty()) {
      // The node itself first, so that the identity is found first.
      tryImage(v);
      for (int w = 0; w < n; ++w)
        if (w != v)
          tryImage(w);
    } else {
      const std::vector<int> &near = adjacent[image[earlier[depth][0]]];
      if (std::binary_search(near.begin(), near.end(), v))
        tryImage(v);
      for (int w : near)
        if (w != v)
          tryImage(w);
    }
  }

  /// Turns the node images into an Automorphism, unless an edge set breaks.
  void finish() {
    const Topology &t = fabric.topology;
    Automorphism g;
    for (int node : fabric.hostNode)
      g.hosts.push_back(fabric.nodeHost[image[node]]);
    for (const FabricEdge &edge : fabric.edges) {
      std::vector<int> path;
      for (int l : edge.path)
        path.push_back(
            linkAt.at({image[t.links[l].src], image[t.links[l].dst]}));
      auto it = edgeByPath.find(path);
      if (it == edgeByPath.end())
        return;
      g.edges.push_back(it->second);
    }
    if (!t.edgeSets.empty())
      for (const FabricSet &set : fabric.sets) {
        std::vector<int> mapped;
        for (int e : set.edges)
          mapped.push_back(g.edges[e]);
        std::sort(mapped.begin(), mapped.end());
        if (!setCaps.count({mapped, set.cap}))
          return;
      }
    found.push_back(std::move(g));
  }

  const Fabric &fabric;
  size_t limit;
  int n = 0;
  int64_t visited = 0;
  std::map<std::pair<int, int>, int> linkAt;
  std::map<std::vector<int>, int> edgeByPath;
  std::set<std::pair<std::vector<int>, int>> setCaps;
  std::vector<int> color, sequence, image;
  std::vector<std::vector<int>> earlier, adjacent;
  std::vector<char> used;
  std::vector<Automorphism> found;
};

Automorphism compose(const Automorphism &g, const Automorphism &h) {
  Automorphism result;
  for (int x : h.hosts)
    result.hosts.push_back(g.hosts[x]);
  for (int x : h.edges)
    result.edges.push_back(g.edges[x]);
  return result;
}

} // namespace

Group ccn::synth::generatedGroup(const Fabric &fabric,
                                 const std::vector<Automorphism> &generators,
                                 size_t limit) {
  Group group = trivialGroup(fabric);
  std::set<std::vector<int>> seen = {group[0].edges};
  for (size_t i = 0; i < group.size(); ++i)
    for (const Automorphism &g : generators) {
      Automorphism next = compose(g, group[i]);
      if (!seen.insert(next.edges).second)
        continue;
      if (group.size() == limit)
        return {};
      group.push_back(std::move(next));
    }
  return group;
}

std::optional<Automorphism>
ccn::synth::automorphismOf(const Fabric &fabric, const std::vector<int> &hosts,
                           std::string &why) {
  Automorphism result;
  result.hosts = hosts;
  std::map<std::pair<int, int>, std::vector<int>> between;
  for (size_t e = 0; e < fabric.edges.size(); ++e)
    between[{fabric.edges[e].src, fabric.edges[e].dst}].push_back(
        static_cast<int>(e));
  std::map<std::pair<int, int>, size_t> next;
  for (const FabricEdge &edge : fabric.edges) {
    auto it = between.find({hosts[edge.src], hosts[edge.dst]});
    size_t &k = next[{edge.src, edge.dst}];
    if (it == between.end() || k >= it->second.size()) {
      why = "the way from " + fabric.hostName(edge.src) + " to " +
            fabric.hostName(edge.dst) + " has no counterpart from " +
            fabric.hostName(hosts[edge.src]) + " to " +
            fabric.hostName(hosts[edge.dst]);
      return std::nullopt;
    }
    result.edges.push_back(it->second[k++]);
  }
  std::set<std::pair<std::vector<int>, int>> sets;
  for (const FabricSet &set : fabric.sets)
    sets.insert({set.edges, set.cap});
  for (const FabricSet &set : fabric.sets) {
    std::vector<int> mapped;
    for (int e : set.edges)
      mapped.push_back(result.edges[e]);
    std::sort(mapped.begin(), mapped.end());
    if (!sets.count({mapped, set.cap})) {
      why = "the capacity of " + set.name + " has no counterpart";
      return std::nullopt;
    }
  }
  return result;
}

bool ccn::synth::keepsForbidden(const Group &group,
                                const Forbidden &forbidden) {
  for (const Automorphism &g : group)
    for (size_t u = 0; u < forbidden.size(); ++u)
      for (size_t e = 0; e < forbidden[u].size(); ++e)
        if (forbidden[u][e] != forbidden[g.hosts[u]][g.edges[e]])
          return false;
  return true;
}

static bool actsFreely(const Group &group) {
  for (size_t i = 1; i < group.size(); ++i)
    for (size_t h = 0; h < group[i].hosts.size(); ++h)
      if (group[i].hosts[h] == static_cast<int>(h))
        return false;
  return true;
}

std::vector<Automorphism> ccn::synth::automorphisms(const Fabric &fabric,
                                                    size_t limit) {
  return Finder(fabric, limit).run();
}

std::vector<std::vector<int>>
ccn::synth::chunkAction(const Group &group, const Collective &collective) {
  using Key = std::pair<std::vector<int>, std::vector<int>>;
  std::map<Key, std::vector<int>> classes;
  std::vector<int> indexInClass;
  for (size_t c = 0; c < collective.chunks.size(); ++c) {
    auto &list = classes[{collective.chunks[c].pre, collective.chunks[c].post}];
    indexInClass.push_back(list.size());
    list.push_back(c);
  }
  std::vector<std::vector<int>> action;
  for (const Automorphism &g : group) {
    auto mapped = [&](const std::vector<int> &ranks) {
      std::vector<int> result;
      for (int r : ranks)
        result.push_back(g.hosts[r]);
      std::sort(result.begin(), result.end());
      return result;
    };
    std::map<Key, const std::vector<int> *> images;
    for (const auto &[key, list] : classes) {
      auto it = classes.find({mapped(key.first), mapped(key.second)});
      if (it == classes.end() || it->second.size() != list.size())
        return {};
      images[key] = &it->second;
    }
    std::vector<int> permutation;
    for (size_t c = 0; c < collective.chunks.size(); ++c) {
      const ChunkRelation &chunk = collective.chunks[c];
      permutation.push_back(
          (*images[{chunk.pre, chunk.post}])[indexInClass[c]]);
    }
    action.push_back(std::move(permutation));
  }
  return action;
}

std::vector<Group> ccn::synth::candidateGroups(const Fabric &fabric,
                                               const Collective &collective,
                                               size_t perOrder) {
  std::vector<Automorphism> all = automorphisms(fabric, 600);
  bool free = !collective.rooted();
  // Elements that, with their powers, may be used at all.
  std::vector<std::pair<Group, Automorphism>> cyclic;
  for (size_t i = 1; i < all.size(); ++i) {
    Group group = generatedGroup(fabric, {all[i]}, 128);
    if (!group.empty() && (!free || actsFreely(group)) &&
        !chunkAction({all[i]}, collective).empty())
      cyclic.push_back({std::move(group), all[i]});
  }
  std::stable_sort(cyclic.begin(), cyclic.end(),
                   [](const auto &a, const auto &b) {
                     return a.first.size() > b.first.size();
                   });
  std::map<size_t, std::vector<Group>, std::greater<>> byOrder;
  std::set<std::set<std::vector<int>>> known;
  auto keep = [&](Group group) {
    std::set<std::vector<int>> key;
    for (const Automorphism &g : group)
      key.insert(g.hosts);
    if (!known.insert(std::move(key)).second)
      return;
    auto &list = byOrder[group.size()];
    if (list.size() < perOrder)
      list.push_back(std::move(group));
  };
  for (size_t i = 0; i < cyclic.size(); ++i)
    keep(cyclic[i].first);
  // Pairs of generators; a bounded number of them on very regular machines.
  size_t width = std::min<size_t>(cyclic.size(), 40);
  for (size_t i = 0; i < width; ++i)
    for (size_t j = i + 1; j < width; ++j) {
      Group group =
          generatedGroup(fabric, {cyclic[i].second, cyclic[j].second}, 128);
      if (!group.empty() && (!free || actsFreely(group)))
        keep(std::move(group));
    }
  std::vector<Group> result;
  for (auto &[order, groups] : byOrder)
    for (Group &group : groups)
      result.push_back(std::move(group));
  result.push_back(trivialGroup(fabric));
  return result;
}
