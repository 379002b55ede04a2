//===- ReduceEncoding.cpp - all_reduce as a Boolean model -----------------===//
//
// See ReduceEncoding.h.
//
//===----------------------------------------------------------------------===//

#include "synth/ReduceEncoding.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ccn::synth;

ChunkAction ccn::synth::alikeAction(const Group &group, int chunks) {
  int order = static_cast<int>(group.size());
  // The multiplication table, by the elements' action on edges.
  std::map<std::vector<int>, int> index;
  for (int g = 0; g < order; ++g)
    index[group[g].edges] = g;
  std::vector<std::vector<int>> product(order, std::vector<int>(order));
  for (int g = 0; g < order; ++g)
    for (int h = 0; h < order; ++h) {
      std::vector<int> edges;
      for (int x : group[h].edges)
        edges.push_back(group[g].edges[x]);
      auto it = index.find(edges);
      if (it == index.end())
        return {};
      product[g][h] = it->second;
    }
  // Cosets of one cyclic subgroup for each orbit size.
  std::map<int, std::vector<int>, std::greater<>> cosetOf;
  for (int g = 0; g < order; ++g) {
    std::vector<int> coset(order, -1);
    int count = 0;
    for (int x = 0; x < order; ++x) {
      if (coset[x] >= 0)
        continue;
      for (int y = x; coset[y] < 0; y = product[y][g])
        coset[y] = count;
      ++count;
    }
    cosetOf.emplace(count, std::move(coset));
  }
  ChunkAction action(order, std::vector<int>(chunks));
  int base = 0;
  for (const auto &[size, coset] : cosetOf)
    for (; base + size <= chunks; base += size)
      for (int g = 0; g < order; ++g)
        for (int x = 0; x < order; ++x)
          action[g][base + coset[x]] = base + coset[product[g][x]];
  return base == chunks ? action : ChunkAction{};
}

ReduceEncoding::ReduceEncoding(const ReduceProblem &problem)
    : p(problem), chunks(static_cast<int>(p.collective.chunks.size())),
      edges(static_cast<int>(p.fabric.edges.size())), hosts(p.fabric.hosts),
      steps(static_cast<int>(p.rounds.size())), contributor(hosts) {
  for (int r : p.collective.chunks[0].pre)
    contributor[r] = 1;
  toFirst.assign(chunks, 0);
  first.resize(chunks);
  for (int c = 0; c < chunks; ++c) {
    first[c] = c;
    for (size_t g = 0; g < p.group.size(); ++g)
      if (p.action[g][c] < first[c]) {
        first[c] = p.action[g][c];
        toFirst[c] = static_cast<int>(g);
      }
  }
}

Schedule ReduceEncoding::emptySchedule() const {
  Schedule schedule;
  schedule.collective = p.collective;
  schedule.topology = p.fabric.topology.name;
  schedule.hosts = hosts;
  for (int r : p.rounds)
    schedule.steps.push_back({r, {}});
  return schedule;
}

template <typename F>
void ReduceEncoding::addCapacities(F literals, bool full) {
  std::set<std::vector<int>> done;
  for (const FabricSet &set : p.fabric.sets)
    for (int s = 0; s < steps; ++s) {
      std::vector<int> all;
      for (int c = 0; c < chunks; ++c)
        for (int e : set.edges)
          literals(c, e, s, all);
      std::sort(all.begin(), all.end());
      std::vector<int> key = all;
      int hi = set.cap * p.rounds[s];
      key.push_back(hi);
      if (done.insert(std::move(key)).second)
        m.cardinality(std::move(all), full ? hi : 0, hi);
    }
}

/// Whether every link must be busy in every round: each edge set is one edge,
/// and the 2(P-1) sends that each chunk needs fill all of them.
static bool fillsAllLinks(const ReduceProblem &p) {
  int64_t room = 0;
  for (const FabricSet &set : p.fabric.sets) {
    if (set.edges.size() != 1)
      return false;
    for (int r : p.rounds)
      room += static_cast<int64_t>(set.cap) * r;
  }
  return p.fabric.hosts == p.collective.ranks &&
         room == static_cast<int64_t>(p.collective.chunks.size()) * 2 *
                     (p.collective.ranks - 1);
}

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

/// The first chunk of each orbit of chunks, and the first rank of each orbit of
/// ranks. No chunks if some element of the group fixes one.
static std::pair<std::vector<int>, std::vector<int>>
regularOrbits(const ReduceProblem &p) {
  std::vector<int> chunkFirst, rankFirst;
  int chunks = static_cast<int>(p.collective.chunks.size());
  for (int c = 0; c < chunks; ++c) {
    bool least = true;
    for (size_t g = 1; g < p.group.size(); ++g) {
      if (p.action[g][c] == c)
        return {};
      least &= p.action[g][c] > c;
    }
    if (least)
      chunkFirst.push_back(c);
  }
  for (int r = 0; r < p.fabric.ranks; ++r) {
    bool least = true;
    for (const Automorphism &g : p.group)
      least &= g.hosts[r] >= r;
    if (least)
      rankFirst.push_back(r);
  }
  return {chunkFirst, rankFirst};
}

bool TreeEncoding::canSpread(const ReduceProblem &problem) {
  auto [chunkFirst, rankFirst] = regularOrbits(problem);
  return !chunkFirst.empty() && chunkFirst.size() % rankFirst.size() == 0;
}

TreeEncoding::TreeEncoding(const ReduceProblem &problem, bool spreadRoots)
    : ReduceEncoding(problem), vars(chunks) {
  for (const FabricEdge &edge : p.fabric.edges) {
    int back = -1;
    for (int e : p.fabric.out[edge.dst])
      if (back < 0 && p.fabric.edges[e].dst == edge.src)
        back = e;
    reverseEdge.push_back(back);
  }
  for (int h = 0; h < hosts; ++h)
    distance.push_back(p.fabric.distancesFrom(h));
  auto [chunkFirst, rankFirst] = regularOrbits(p);
  size_t index = 0;
  for (int c = 0; c < chunks; ++c)
    if (first[c] == c)
      addChunk(c, spreadRoots ? rankFirst[index++ % rankFirst.size()] : -1);
  // A group element that fixes a chunk must fix its trees.
  for (size_t g = 1; g < p.group.size(); ++g)
    for (int c = 0; c < chunks; ++c)
      if (first[c] == c && p.action[g][c] == c)
        for (auto what : {&Vars::up, &Vars::down, &Vars::exchange})
          for (int e = 0; e < edges; ++e)
            for (int s = 0; s < steps; ++s) {
              int a = (vars[c].*what)[e][s];
              int b = (vars[c].*what)[p.group[g].edges[e]][s];
              if (a == b)
                continue;
              if (a && b) {
                m.clause({-a, b});
                m.clause({a, -b});
              } else {
                m.clause({-(a + b)});
              }
            }
  addCapacities(
      [&](int c, int e, int s, std::vector<int> &all) {
        for (auto what : {&Vars::up, &Vars::down, &Vars::exchange})
          if (int x = find(what, c, e, s))
            all.push_back(x);
      },
      fillsAllLinks(p));
}

int TreeEncoding::find(const std::vector<std::vector<int>> Vars::*what,
                       int chunk, int edge, int step) const {
  const Automorphism &g = p.group[toFirst[chunk]];
  return (vars[first[chunk]].*what)[g.edges[edge]][step];
}

std::vector<int> TreeEncoding::addEvents(Vars &v, int onlyRoot) {
  for (auto what : {&Vars::up, &Vars::down, &Vars::exchange})
    (v.*what).assign(edges, std::vector<int>(steps));
  // How far the contributors are from the root, and it from them.
  int inward = 0, outward = 0;
  for (int r = 0; onlyRoot >= 0 && r < hosts; ++r)
    if (isContributor(r)) {
      inward = std::max(inward, distance[r][onlyRoot]);
      outward = std::max(outward, distance[onlyRoot][r]);
    }
  std::vector<int> exchanges;
  for (int e = 0; e < edges; ++e)
    for (int s = 0; s < steps; ++s) {
      const FabricEdge &edge = p.fabric.edges[e];
      if (onlyRoot < 0) {
        v.up[e][s] = m.newVar();
        v.down[e][s] = m.newVar();
        // An exchange is one event on an edge and its reverse.
        int back = reverseEdge[e];
        if (back > e && reverseEdge[back] == e) {
          v.exchange[e][s] = v.exchange[back][s] = m.newVar();
          exchanges.push_back(v.exchange[e][s]);
        }
        continue;
      }
      int toRoot = distance[edge.dst][onlyRoot];
      int fromRoot = distance[onlyRoot][edge.src];
      if (edge.src != onlyRoot && toRoot >= 0 &&
          s + 1 + toRoot + outward <= steps)
        v.up[e][s] = m.newVar();
      if (edge.dst != onlyRoot && fromRoot >= 0 && s >= inward + fromRoot)
        v.down[e][s] = m.newVar();
    }
  return exchanges;
}

void TreeEncoding::addChunk(int c, int onlyRoot) {
  Vars &v = vars[c];
  std::vector<int> ends = addEvents(v, onlyRoot);
  Sums sums;
  sums.left.assign(hosts, std::vector<int>(steps + 1));
  sums.full = sums.left;
  sums.root.resize(hosts);
  for (int n = 0; n < hosts; ++n) {
    int root = sums.root[n] = m.newVar();
    ends.push_back(root);
    for (int s = 0; s <= steps; ++s) {
      sums.left[n][s] = m.newVar();
      sums.full[n][s] = m.newVar();
    }
    m.clause({-sums.left[n][0]});
    m.clause({-sums.full[n][0]});
    if (onlyRoot >= 0)
      m.clause({n == onlyRoot ? root : -root});
  }
  m.cardinality(ends, 1, 1);
  for (int n = 0; n < hosts; ++n) {
    addFate(v, sums, n);
    addSteps(v, sums, n);
    if (isContributor(n))
      m.clause({sums.full[n][steps]});
    else
      addHelper(v, n);
  }
}

void TreeEncoding::addFate(const Vars &v, const Sums &sums, int n) {
  std::vector<int> fates = {sums.root[n]};
  for (int e : p.fabric.out[n])
    for (int s = 0; s < steps; ++s)
      for (auto what : {&Vars::up, &Vars::exchange})
        if (int x = (v.*what)[e][s])
          fates.push_back(x);
  m.cardinality(fates, isContributor(n) ? 1 : 0, 1);
  if (isContributor(n))
    return;
  // A helper that receives a contribution has a fate, too: it may not keep it.
  for (int e : p.fabric.in[n])
    for (int up : v.up[e])
      if (up) {
        std::vector<int> clause = fates;
        clause.push_back(-up);
        m.clause(std::move(clause));
      }
}

void TreeEncoding::addSteps(const Vars &v, const Sums &sums, int n) {
  auto add = [&](std::initializer_list<int> literals) { m.clause(literals); };
  const auto &[left, full, root] = sums;
  for (int s = 1; s <= steps; ++s) {
    add({-left[n][s - 1], left[n][s]});
    std::vector<int> why = {-left[n][s], left[n][s - 1]};
    for (int e : p.fabric.out[n])
      for (auto what : {&Vars::up, &Vars::exchange})
        if (int x = (v.*what)[e][s - 1]) {
          why.push_back(x);
          add({-x, left[n][s]});
          add({-x, -left[n][s - 1]});
        }
    m.clause(why);

    add({-full[n][s - 1], full[n][s]});
    std::vector<int> reason = {-full[n][s], full[n][s - 1], root[n]};
    std::vector<int> arrivals;
    for (int e : p.fabric.in[n]) {
      // Contributions arrive strictly before the own partial sum leaves,
      // and before the sum is whole.
      if (int up = v.up[e][s - 1]) {
        add({-up, -left[n][s]});
        add({-up, -full[n][s - 1]});
      }
      if (int down = v.down[e][s - 1]) {
        add({-down, full[p.fabric.edges[e].src][s - 1]});
        add({-down, -full[n][s - 1]});
        add({-down, full[n][s]});
        reason.push_back(down);
        arrivals.push_back(down);
      }
      if (int exchange = v.exchange[e][s - 1]) {
        add({-exchange, full[n][s]});
        reason.push_back(exchange);
      }
    }
    m.clause(reason);
    m.atMostOne(arrivals);
  }
}

void TreeEncoding::addHelper(const Vars &v, int n) {
  for (int e : p.fabric.out[n])
    for (int s = 0; s < steps; ++s) {
      std::vector<int> some;
      for (int i : p.fabric.in[n])
        for (int q = 0; q < s; ++q)
          if (v.up[i][q])
            some.push_back(v.up[i][q]);
      for (int x : {v.up[e][s], v.exchange[e][s]}) {
        if (!x)
          continue;
        std::vector<int> clause = some;
        clause.push_back(-x);
        m.clause(std::move(clause));
      }
    }
}

void TreeEncoding::forbidSum(int chunk, const std::vector<char> &values) {
  std::vector<int> other;
  const Vars &v = vars[first[chunk]];
  for (auto what : {&Vars::up, &Vars::exchange})
    for (const std::vector<int> &steps : v.*what)
      for (int x : steps)
        if (x && values[x])
          other.push_back(-x);
  m.clause(std::move(other));
}

Schedule TreeEncoding::decode(const std::vector<char> &values) const {
  Schedule schedule = emptySchedule();
  for (int s = 0; s < steps; ++s)
    for (int c = 0; c < chunks; ++c)
      for (int e = 0; e < edges; ++e) {
        Send send{
            c, p.fabric.edges[e].src, p.fabric.edges[e].dst, SendOp::Copy, e,
            {}};
        auto happens = [&](auto what) {
          int x = find(what, c, e, s);
          return x && values[x];
        };
        if (happens(&Vars::down)) {
          schedule.steps[s].sends.push_back(send);
        } else if (happens(&Vars::up) || happens(&Vars::exchange)) {
          send.op = SendOp::Reduce;
          schedule.steps[s].sends.push_back(send);
        }
      }
  // A helper may be given a sum that it passes to nobody.
  std::vector<char> wanted(static_cast<size_t>(chunks) * hosts);
  for (int c = 0; c < chunks; ++c)
    for (int r : p.collective.chunks[c].post)
      wanted[static_cast<size_t>(c) * hosts + r] = 1;
  for (size_t i = schedule.steps.size(); i-- > 0;) {
    std::erase_if(schedule.steps[i].sends, [&](const Send &send) {
      return !wanted[static_cast<size_t>(send.chunk) * hosts + send.dst];
    });
    for (const Send &send : schedule.steps[i].sends)
      wanted[static_cast<size_t>(send.chunk) * hosts + send.src] = 1;
  }
  return schedule;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

PartsEncoding::PartsEncoding(const ReduceProblem &problem, bool everySlot)
    : ReduceEncoding(problem), everySlot(everySlot), edgeCap(edges, 1 << 20),
      vars(chunks) {
  for (const FabricSet &set : p.fabric.sets)
    for (int e : set.edges)
      edgeCap[e] = std::min(edgeCap[e], set.cap);
  for (int c = 0; c < chunks; ++c)
    if (first[c] == c)
      addChunk(c);
  for (size_t g = 1; g < p.group.size(); ++g)
    for (int c = 0; c < chunks; ++c) {
      if (first[c] != c || p.action[g][c] != c)
        continue;
      auto same = [&](int a, int b) {
        if (a == b)
          return;
        if (a && b) {
          m.clause({-a, b});
          m.clause({a, -b});
        } else {
          m.clause({-(a + b)});
        }
      };
      for (int e = 0; e < edges; ++e)
        for (int s = 0; s < steps; ++s)
          for (size_t i = 0; i < vars[c].sent[e][s].size(); ++i) {
            const Part &part = vars[c].sent[e][s][i];
            const Part &image = vars[c].sent[p.group[g].edges[e]][s][i];
            same(part.present, image.present);
            for (int k = 0; k < p.fabric.ranks; ++k)
              same(part.holds[k], image.holds[p.group[g].hosts[k]]);
          }
    }
  addCapacities(
      [&](int c, int e, int s, std::vector<int> &all) {
        const Automorphism &g = p.group[toFirst[c]];
        for (const Part &part : vars[first[c]].sent[g.edges[e]][s])
          all.push_back(part.present);
      },
      fillsAllLinks(p));
}

/// Demands a sum of some of `parts` in which no contribution counts twice. With
/// `needAll`, every contribution counts once, and `present` is ignored.
PartsEncoding::Part PartsEncoding::combine(const std::vector<Part> &parts,
                                           int present, bool needAll) {
  int ranks = p.fabric.ranks;
  Part sum;
  sum.present = present;
  sum.holds.assign(ranks, 0);
  std::vector<std::vector<int>> sources(ranks);
  std::vector<int> anyUsed;
  for (const Part &part : parts) {
    int used = m.newVar();
    anyUsed.push_back(used);
    if (part.present)
      m.clause({-used, part.present});
    if (!needAll)
      m.clause({-used, present});
    for (int k = 0; k < ranks; ++k) {
      if (!part.holds[k])
        continue;
      // taken <=> used and the part holds k.
      int taken = m.newVar();
      m.clause({-taken, used});
      m.clause({-taken, part.holds[k]});
      m.clause({taken, -used, -part.holds[k]});
      sources[k].push_back(taken);
    }
  }
  for (int k = 0; k < ranks; ++k) {
    if (!contributor[k])
      continue;
    if (needAll) {
      if (sources[k].empty())
        m.contradiction = true;
      else
        m.cardinality(sources[k], 1, 1);
      continue;
    }
    if (sources[k].empty())
      continue;
    int holds = sum.holds[k] = m.newVar();
    std::vector<int> why = {-holds};
    for (int taken : sources[k]) {
      m.clause({-taken, holds});
      why.push_back(taken);
    }
    m.clause(why);
    m.atMostOne(sources[k]);
  }
  if (!needAll) {
    anyUsed.push_back(-present);
    m.clause(anyUsed);
  }
  return sum;
}

void PartsEncoding::addChunk(int c) {
  int ranks = p.fabric.ranks;
  std::vector<std::vector<std::vector<Part>>> &sent = vars[c].sent;
  sent.assign(edges, std::vector<std::vector<Part>>(steps));
  int yes = m.newVar();
  m.clause({yes});
  // What each host can add up; its own contribution first.
  std::vector<std::vector<Part>> has(hosts);
  for (int n = 0; n < hosts; ++n)
    if (isContributor(n)) {
      Part own;
      own.holds.assign(ranks, 0);
      own.holds[n] = yes;
      has[n].push_back(own);
    }
  for (int s = 0; s < steps; ++s) {
    for (int e = 0; e < edges; ++e) {
      // No more distinct sums than parts are worth sending.
      int slots = !everySlot ? 1
                             : std::min<int>(edgeCap[e] * p.rounds[s],
                                             has[p.fabric.edges[e].src].size());
      for (int i = 0; i < slots; ++i) {
        int present = m.newVar();
        if (i > 0)
          m.clause({-present, sent[e][s][i - 1].present});
        sent[e][s].push_back(
            combine(has[p.fabric.edges[e].src], present, false));
      }
    }
    for (int e = 0; e < edges; ++e)
      for (const Part &part : sent[e][s])
        has[p.fabric.edges[e].dst].push_back(part);
  }
  for (int n : p.collective.chunks[c].post)
    combine(has[n], 0, true);
}

void PartsEncoding::limitSends(int most) {
  std::vector<int> all;
  for (int e = 0; e < edges; ++e)
    for (int s = 0; s < steps; ++s)
      for (const Part &part : vars[0].sent[e][s])
        all.push_back(part.present);
  m.cardinality(std::move(all), 0, most);
}

Schedule PartsEncoding::decode(const std::vector<char> &values) const {
  Schedule schedule = emptySchedule();
  for (int s = 0; s < steps; ++s)
    for (int c = 0; c < chunks; ++c)
      for (int e = 0; e < edges; ++e) {
        const Automorphism &g = p.group[toFirst[c]];
        for (const Part &part : vars[first[c]].sent[g.edges[e]][s]) {
          if (!values[part.present])
            continue;
          Send send{
              c, p.fabric.edges[e].src, p.fabric.edges[e].dst, SendOp::Stash, e,
              {}};
          for (int k = 0; k < p.fabric.ranks; ++k) {
            int holds = part.holds[g.hosts[k]];
            if (holds && values[holds])
              send.sums.push_back(k);
          }
          schedule.steps[s].sends.push_back(std::move(send));
        }
      }
  return schedule;
}
