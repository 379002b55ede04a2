//===- CopyEncoding.cpp - Copying collectives as a Boolean model ----------===//
//
// See CopyEncoding.h. Per orbit and step: snd(c, e, s), chunk c crosses edge e
// in step s; has(c, n, s), chunk c is at host n after step s.
//
//===----------------------------------------------------------------------===//

#include "synth/CopyEncoding.h"
#include "synth/EmptySchedule.h"

#include <algorithm>
#include <deque>
#include <set>

using namespace ccn::synth;

static constexpr int never = 1 << 20;

CopyEncoding::CopyEncoding(const Fabric &fabric, const Collective &collective,
                           const std::vector<int> &rounds, const Group &group,
                           const Forbidden &forbidden)
    : fabric(fabric), coll(collective), rounds(rounds), group(group),
      forbidden(forbidden), steps(static_cast<int>(rounds.size())) {
  makeOrbits();
  makeVariables();
  makeArrivals();
  makeCapacities();
}

void CopyEncoding::makeOrbits() {
  int chunks = static_cast<int>(coll.chunks.size());
  int edges = static_cast<int>(fabric.edges.size()), hosts = fabric.hosts;
  std::vector<std::vector<int>> action = chunkAction(group, coll);
  edgeOrbit.assign(chunks * edges, never * 1024);
  hostOrbit.assign(chunks * hosts, never * 1024);
  for (size_t g = 0; g < group.size(); ++g)
    for (int c = 0; c < chunks; ++c) {
      int image = action[g][c];
      for (int e = 0; e < edges; ++e)
        edgeOrbit[c * edges + e] = std::min(edgeOrbit[c * edges + e],
                                            image * edges + group[g].edges[e]);
      for (int h = 0; h < hosts; ++h)
        hostOrbit[c * hosts + h] = std::min(hostOrbit[c * hosts + h],
                                            image * hosts + group[g].hosts[h]);
    }
}

int CopyEncoding::sendVar(int orbit, int step) const {
  if (sendBase[orbit] < 0 || step < sendFrom[orbit] || step > sendTo[orbit])
    return 0;
  return sendBase[orbit] + step - sendFrom[orbit];
}

int CopyEncoding::hasVar(int orbit, int step) const {
  if (hasBase[orbit] < 0 || step < earliest[orbit])
    return 0;
  return hasBase[orbit] + step - earliest[orbit];
}

void CopyEncoding::makeVariables() {
  int chunks = static_cast<int>(coll.chunks.size());
  int edges = static_cast<int>(fabric.edges.size()), hosts = fabric.hosts;
  earliest.assign(chunks * hosts, never);
  remaining.assign(chunks * hosts, never);
  // Breadth-first from the sources, and backwards from the destinations.
  for (int c = 0; c < chunks; ++c)
    for (bool forward : {true, false}) {
      std::vector<int> &distance = forward ? earliest : remaining;
      std::deque<int> queue;
      for (int r : forward ? coll.chunks[c].pre : coll.chunks[c].post) {
        distance[c * hosts + r] = 0;
        queue.push_back(r);
      }
      while (!queue.empty()) {
        int u = queue.front();
        queue.pop_front();
        for (int e : forward ? fabric.out[u] : fabric.in[u]) {
          int v = forward ? fabric.edges[e].dst : fabric.edges[e].src;
          if (distance[c * hosts + v] != never)
            continue;
          distance[c * hosts + v] = distance[c * hosts + u] + 1;
          queue.push_back(v);
        }
      }
    }
  sendBase.assign(chunks * edges, -1);
  sendFrom.assign(chunks * edges, 0);
  sendTo.assign(chunks * edges, -1);
  hasBase.assign(chunks * hosts, -1);
  for (int c = 0; c < chunks; ++c) {
    for (int h = 0; h < hosts; ++h) {
      int at = c * hosts + h;
      if (hostOrbit[at] != at || earliest[at] == 0 || earliest[at] > steps)
        continue;
      for (int s = earliest[at]; s <= steps; ++s) {
        int v = m.newVar();
        if (s == earliest[at])
          hasBase[at] = v;
      }
    }
    for (int e = 0; e < edges; ++e) {
      int at = c * edges + e;
      int src = c * hosts + fabric.edges[e].src;
      int dst = c * hosts + fabric.edges[e].dst;
      int last = steps - remaining[dst];
      if (edgeOrbit[at] != at || earliest[dst] == 0 || earliest[src] >= last)
        continue;
      if (!forbidden.empty() && forbidden[coll.chunks[c].pre[0]][e])
        continue;
      sendFrom[at] = earliest[src] + 1;
      sendTo[at] = last;
      for (int s = sendFrom[at]; s <= last; ++s) {
        int v = m.newVar();
        if (s == sendFrom[at])
          sendBase[at] = v;
      }
    }
  }
}

void CopyEncoding::makeArrivals() {
  int chunks = static_cast<int>(coll.chunks.size());
  int edges = static_cast<int>(fabric.edges.size()), hosts = fabric.hosts;
  for (int c = 0; c < chunks; ++c)
    for (int h = 0; h < hosts; ++h) {
      int at = c * hosts + h;
      bool needed = std::binary_search(coll.chunks[c].post.begin(),
                                       coll.chunks[c].post.end(), h);
      if (hostOrbit[at] != at || earliest[at] == 0)
        continue;
      if (earliest[at] > steps) {
        m.contradiction |= needed;
        continue;
      }
      for (int s = 1; s <= steps; ++s) {
        int has = hasVar(at, s), before = hasVar(at, s - 1);
        std::vector<int> arrivals;
        for (int e : fabric.in[h]) {
          int orbit = edgeOrbit[c * edges + e];
          int snd = sendVar(orbit, s);
          if (!snd)
            continue;
          arrivals.push_back(snd);
          m.clause({-snd, has});
          if (before)
            m.clause({-snd, -before});
          // The sender has it, unless it is a source.
          int from = c * hosts + fabric.edges[e].src;
          if (earliest[from] > 0)
            m.clause({-snd, hasVar(hostOrbit[from], s - 1)});
        }
        if (!has)
          continue;
        std::vector<int> reason = arrivals;
        reason.push_back(-has);
        if (before) {
          m.clause({-before, has});
          reason.push_back(before);
        }
        m.clause(std::move(reason));
        if (arrivals.size() > 1)
          m.atMostOne(std::move(arrivals));
      }
      if (needed)
        m.clause({hasVar(at, steps)});
    }
}

void CopyEncoding::makeCapacities() {
  int chunks = static_cast<int>(coll.chunks.size());
  int edges = static_cast<int>(fabric.edges.size());
  int totalRounds = std::accumulate(rounds.begin(), rounds.end(), 0);
  // A host that needs as much as its links can carry needs all of them full.
  std::vector<char> tight(fabric.hosts);
  std::vector<int> setsInto(edges);
  for (const FabricSet &set : fabric.sets)
    for (int e : set.edges)
      ++setsInto[e];
  for (int h = 0; h < fabric.hosts; ++h) {
    int64_t need = 0, room = 0;
    bool single = true;
    for (const ChunkRelation &chunk : coll.chunks)
      need += std::binary_search(chunk.post.begin(), chunk.post.end(), h) &&
              !std::binary_search(chunk.pre.begin(), chunk.pre.end(), h);
    for (int e : fabric.in[h])
      single &= setsInto[e] == 1;
    for (const FabricSet &set : fabric.sets)
      if (fabric.edges[set.edges[0]].dst == h) {
        single &= set.edges.size() == 1;
        room += static_cast<int64_t>(set.cap) * totalRounds;
      }
    tight[h] = single && need == room;
    m.contradiction |= single && need > room;
  }
  std::set<std::vector<int>> done;
  for (const FabricSet &set : fabric.sets) {
    std::vector<int> orbits;
    for (int c = 0; c < chunks; ++c)
      for (int e : set.edges)
        if (sendBase[edgeOrbit[c * edges + e]] >= 0)
          orbits.push_back(edgeOrbit[c * edges + e]);
    std::sort(orbits.begin(), orbits.end());
    bool exact = set.edges.size() == 1 && tight[fabric.edges[set.edges[0]].dst];
    std::vector<int> key = orbits;
    key.push_back(set.cap);
    if (!done.insert(std::move(key)).second)
      continue;
    for (int s = 1; s <= steps; ++s) {
      std::vector<int> literals;
      for (int orbit : orbits)
        if (int snd = sendVar(orbit, s))
          literals.push_back(snd);
      int hi = set.cap * rounds[s - 1];
      m.cardinality(std::move(literals), exact ? hi : 0, hi);
    }
  }
}

Schedule CopyEncoding::decode(const std::vector<char> &values) const {
  Schedule schedule = emptySchedule(coll, fabric);
  int edges = static_cast<int>(fabric.edges.size());
  for (int s = 1; s <= steps; ++s) {
    Step step;
    step.rounds = rounds[s - 1];
    for (size_t c = 0; c < coll.chunks.size(); ++c)
      for (int e = 0; e < edges; ++e) {
        int snd = sendVar(edgeOrbit[c * edges + e], s);
        if (snd && values[snd])
          step.sends.push_back({static_cast<int>(c),
                                fabric.edges[e].src,
                                fabric.edges[e].dst,
                                SendOp::Copy,
                                e,
                                {}});
      }
    schedule.steps.push_back(std::move(step));
  }
  dropUselessSends(schedule);
  return schedule;
}

void ccn::synth::dropUselessSends(Schedule &schedule) {
  const Collective &coll = schedule.collective;
  std::vector<char> wanted(coll.chunks.size() * schedule.hosts);
  for (size_t c = 0; c < coll.chunks.size(); ++c)
    for (int r : coll.chunks[c].post)
      wanted[c * schedule.hosts + r] = 1;
  for (size_t i = schedule.steps.size(); i-- > 0;) {
    std::vector<Send> &sends = schedule.steps[i].sends;
    std::erase_if(sends, [&](const Send &send) {
      return !wanted[size_t(send.chunk) * schedule.hosts + send.dst];
    });
    for (const Send &send : sends)
      wanted[size_t(send.chunk) * schedule.hosts + send.src] = 1;
  }
}
