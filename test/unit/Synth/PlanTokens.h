//===- PlanTokens.h - MSCCL++ plans by brute force --------------*- C++ -*-===//
//
// Runs a plan in random orders on bags of contributions and looks
// at what comes out. It knows nothing of clocks: every thread block is some
// threads, each with its own part of every chunk, which meet at nops and
// barriers only. Independent of the checker that it judges.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_SYNTH_PLANTOKENS_H
#define CCN_TEST_UNIT_SYNTH_PLANTOKENS_H

#include "synth/interop/Plan.h"

#include <map>
#include <numeric>
#include <random>

namespace ccn::synth {

/// One run. Switches, semaphores, pipelines and port channels are left out.
class PlanTokens {
public:
  PlanTokens(const Plan &plan, uint32_t seed) : p(plan), random(seed) {}
  bool right();

private:
  static constexpr int threads = 2;
  using Bag = std::map<int, int>;
  struct Cell {
    Bag bag;
    bool packet = false;
    /// Accesses that have begun and not ended.
    int reading = 0, writing = 0;
  };
  struct Thread {
    size_t next = 0;
    /// Elements of the next operation: begun (1) or done (2).
    std::vector<char> done;
  };
  struct Place {
    int rank, offset;
    char buffer;
  };

  bool inside(const Place &at) const;
  Cell &cell(const Place &at, int part);
  std::vector<Place> places(int g, int b, const PlanOp &op,
                            const PlanBuffer &buffer);
  std::pair<int, int> wire(int g, int b, PlanChannelType type, int id);
  bool canRun(int g, int b, int t);
  bool step(int g, int b, int t);
  bool begin(const PlanOp &op, size_t lane, int part,
             const std::vector<std::vector<Place>> &from,
             const std::vector<std::vector<Place>> &to);
  void end(int g, const PlanOp &op, size_t lane, int part,
           const std::vector<std::vector<Place>> &from,
           const std::vector<std::vector<Place>> &to);
  static bool sourcePacket(const std::string &n, size_t i) {
    return n == "rppkt" || n == "upkt" ||
           (i > 0 &&
            (n == "repkt" || n == "respkt" || n == "recpkt" || n == "recspkt"));
  }

  bool touches(int by, const Place &at, bool writes);
  size_t threadOf(int g, int b, size_t op, size_t lane, int part);

  const Plan &p;
  std::mt19937 random;
  uint32_t salt = random();
  int ranks = 0, inputs = 0, outputs = 0, slices = 1;
  bool wrong = false;
  std::map<std::tuple<int, char, int, int>, Cell> memory;
  /// Signals not yet waited for: by waiting gpu and its connection.
  std::map<std::tuple<int, PlanChannelType, int>, int> signals;
  std::map<std::pair<int, int>, std::vector<Thread>> blocks;
};

inline bool PlanTokens::inside(const Place &at) const {
  int size = at.buffer == 'i'   ? inputs
             : at.buffer == 'o' ? outputs
                                : p.gpus[at.rank].scratchChunks * slices;
  return at.offset >= 0 && at.offset < size;
}

/// Whether the place may be touched: only while the kernel of the gpu whose
/// input or output it is has started and, to write, has not ended.
inline bool PlanTokens::touches(int by, const Place &at, bool writes) {
  if (by == at.rank || at.buffer == 's')
    return true;
  bool started = false, ended = true;
  for (auto &[key, list] : blocks)
    if (key.first == at.rank)
      for (const Thread &t : list) {
        started |= t.next > 0 || !t.done.empty();
        ended &= t.next >= p.gpus[at.rank].blocks[key.second].ops.size();
      }
  return started && !(writes && ended);
}

/// Which thread has which part of a chunk depends on the operation and on sizes
/// that are known at run time only.
inline size_t PlanTokens::threadOf(int g, int b, size_t op, size_t lane,
                                   int part) {
  uint32_t mix = salt ^ (static_cast<uint32_t>(g) * 7919U +
                         static_cast<uint32_t>(b) * 104729U +
                         static_cast<uint32_t>(op) * 1299709U);
  mix ^= mix >> 13;
  mix *= 2654435761U;
  return (lane + static_cast<size_t>(part) + (mix >> 16)) % threads;
}

inline PlanTokens::Cell &PlanTokens::cell(const Place &at, int part) {
  char buffer = at.buffer;
  int offset = at.offset;
  if (p.inPlace && buffer != 's') {
    if (p.kind == CollectiveKind::AllGather && buffer == 'i') {
      buffer = 'o';
      offset += at.rank * inputs;
    } else if (p.kind == CollectiveKind::ReduceScatter && buffer == 'o') {
      buffer = 'i';
      offset += at.rank * outputs;
    } else if (p.kind != CollectiveKind::AllGather) {
      buffer = 'i';
    }
  }
  return memory[{at.rank, buffer, offset, part}];
}

/// The places of a buffer, or none if it does not exist.
inline std::vector<PlanTokens::Place>
PlanTokens::places(int g, int b, const PlanOp &op, const PlanBuffer &buffer) {
  Place at{g, 0, buffer.buffer};
  if (buffer.where != PlanBuffer::Local) {
    std::vector<int> flat;
    for (const PlanRefs &refs : p.gpus[g].blocks[b].remoteBuffers)
      if (refs.type == op.channelType)
        flat.insert(flat.end(), refs.ids.begin(), refs.ids.end());
    if (buffer.id >= static_cast<int>(flat.size()))
      return {};
    at.rank = p.gpus[g].remoteBuffers[flat[buffer.id]].rank;
    at.buffer = p.gpus[g].remoteBuffers[flat[buffer.id]].buffer;
  }
  int size = buffer.size * slices, parts = std::max(1, op.groupSize);
  std::vector<Place> result;
  for (int k = 0; k < size / parts; ++k) {
    at.offset = buffer.index * slices + size / parts * op.groupIndex + k;
    if (!inside(at))
      return {};
    result.push_back(at);
  }
  return result;
}

/// The index of a connection among the gpu's of the type, and its peer; or -1.
inline std::pair<int, int> PlanTokens::wire(int g, int b, PlanChannelType type,
                                            int id) {
  std::vector<int> flat, peers;
  for (const PlanRefs &refs : p.gpus[g].blocks[b].channels)
    if (refs.type == type)
      flat.insert(flat.end(), refs.ids.begin(), refs.ids.end());
  for (const PlanChannel &channel : p.gpus[g].channels)
    if (channel.type == type)
      peers.insert(peers.end(), channel.peers.begin(), channel.peers.end());
  if (id >= static_cast<int>(flat.size()) ||
      flat[id] >= static_cast<int>(peers.size()))
    return {-1, -1};
  return {flat[id], peers[flat[id]]};
}

inline bool PlanTokens::canRun(int g, int b, int t) {
  std::vector<Thread> &block = blocks[{g, b}];
  const std::vector<PlanOp> &ops = p.gpus[g].blocks[b].ops;
  if (block[t].next >= ops.size())
    return false;
  const PlanOp &op = ops[block[t].next];
  auto atLeast = [&](const std::vector<Thread> &list, size_t next) {
    for (const Thread &other : list)
      if (other.next < next)
        return false;
    return true;
  };
  if (op.name == "nop")
    return atLeast(block, block[t].next);
  if (op.name == "barrier") {
    // Enough blocks have come to this barrier as often.
    auto times = [&](int other, size_t end) {
      int n = 0;
      const std::vector<PlanOp> &list = p.gpus[g].blocks[other].ops;
      for (size_t i = 0; i < std::min(end, list.size()); ++i)
        n += list[i].name == "barrier" && list[i].barrier == op.barrier;
      return n;
    };
    int here = times(b, block[t].next), come = 0;
    for (size_t other = 0; other < p.gpus[g].blocks.size(); ++other) {
      size_t first = SIZE_MAX;
      for (const Thread &x : blocks[{g, static_cast<int>(other)}])
        first = std::min(first, x.next);
      const std::vector<PlanOp> &list = p.gpus[g].blocks[other].ops;
      int o = static_cast<int>(other);
      bool stands = first < list.size() && list[first].name == "barrier" &&
                    list[first].barrier == op.barrier &&
                    times(o, first) == here;
      come += stands || times(o, first) > here;
    }
    return come >= op.barrierBlocks;
  }
  bool waits = op.name == "wait" || op.name == "rlxwait";
  if (waits && t == 0)
    for (int id : op.channels) {
      auto [index, peer] = wire(g, b, op.channelType, id);
      if (index >= 0 && signals[{g, op.channelType, index}] == 0)
        return false;
    }
  // Elements wait for their packets in step().
  return true;
}

/// Accesses take time: one that overlaps a write of another is wrong, whatever
/// the values. False while a packet is missing.
inline bool PlanTokens::begin(const PlanOp &op, size_t lane, int part,
                              const std::vector<std::vector<Place>> &from,
                              const std::vector<std::vector<Place>> &to) {
  for (size_t i = 0; i < from.size(); ++i)
    if (lane < from[i].size() && sourcePacket(op.name, i) &&
        cell(from[i][lane], part).bag.empty())
      return false;
  for (const std::vector<Place> &places : from)
    if (lane < places.size())
      wrong |= cell(places[lane], part).writing > 0;
  for (const std::vector<Place> &places : to)
    if (lane < places.size()) {
      const Cell &c = cell(places[lane], part);
      wrong |= c.writing > 0 || c.reading > 0;
    }
  for (const std::vector<Place> &places : from)
    if (lane < places.size())
      ++cell(places[lane], part).reading;
  for (const std::vector<Place> &places : to)
    if (lane < places.size())
      ++cell(places[lane], part).writing;
  return true;
}

inline void PlanTokens::end(int g, const PlanOp &op, size_t lane, int part,
                            const std::vector<std::vector<Place>> &from,
                            const std::vector<std::vector<Place>> &to) {
  const std::string &n = op.name;
  auto targetPacket = [&](size_t i) {
    return n == "ppkt" || n == "rppkt" || n == "cpkt" ||
           (i > 0 && (n == "respkt" || n == "recpkt" || n == "recspkt"));
  };
  bool paired = n == "put" || n == "get" || n == "ppkt";
  for (const std::vector<Place> &places : from)
    if (lane < places.size())
      --cell(places[lane], part).reading;
  for (const std::vector<Place> &places : to)
    if (lane < places.size())
      --cell(places[lane], part).writing;
  auto load = [&](size_t i, Bag &sum) {
    wrong |= !touches(g, from[i][lane], false);
    const Cell &c = cell(from[i][lane], part);
    if (c.packet != sourcePacket(n, i) || c.bag.empty())
      ++sum[-1]; // what nobody wrote, or not in this form
    for (auto [token, count] : c.bag)
      sum[token] += count;
  };
  auto store = [&](size_t i, const Bag &sum) {
    for (auto [token, count] : sum)
      wrong |= count > 1;
    wrong |= !touches(g, to[i][lane], true);
    Cell &c = cell(to[i][lane], part);
    // A second packet cannot be told from the first.
    wrong |= targetPacket(i) && !c.bag.empty();
    c.bag = sum;
    c.packet = targetPacket(i);
  };
  Bag sum;
  for (size_t i = 0; i < from.size(); ++i) {
    if (lane >= from[i].size())
      continue;
    if (paired)
      sum.clear();
    load(i, sum);
    if (paired)
      store(i, sum);
  }
  if (!paired)
    for (size_t i = 0; i < to.size(); ++i)
      store(i, sum);
}

/// Returns whether anything was done.
inline bool PlanTokens::step(int g, int b, int t) {
  std::vector<Thread> &block = blocks[{g, b}];
  Thread &thread = block[t];
  const PlanOp &op = p.gpus[g].blocks[b].ops[thread.next];
  const std::string &n = op.name;
  bool meets = n == "nop" || n == "barrier";
  if (meets) {
    // All threads go on together.
    size_t next = thread.next;
    for (Thread &other : block)
      if (other.next == next)
        ++other.next;
    return true;
  }
  bool waits = n == "wait" || n == "rlxwait";
  if (waits || n == "signal" || n == "rlxsignal") {
    for (int id : op.channels) {
      auto [index, peer] = wire(g, b, op.channelType, id);
      if (index < 0) {
        wrong = true;
        return true;
      }
      if (t != 0)
        continue;
      if (waits) {
        --signals[{g, op.channelType, index}];
        continue;
      }
      // The k-th connection to the peer is its k-th connection to us.
      int k = 0, at = 0;
      for (const PlanChannel &c : p.gpus[g].channels)
        for (int x : c.peers)
          if (c.type == op.channelType && at++ < index)
            k += x == peer;
      int far = 0, found = -1;
      for (const PlanChannel &c : p.gpus[peer].channels)
        if (c.type == op.channelType)
          for (int x : c.peers) {
            if (x == g && k-- == 0)
              found = far;
            ++far;
          }
      wrong |= found < 0;
      ++signals[{peer, op.channelType, found}];
    }
    ++thread.next;
    return true;
  }
  std::vector<std::vector<Place>> from, to;
  for (const PlanBuffer &x : op.sources)
    from.push_back(places(g, b, op, x));
  for (const PlanBuffer &x : op.targets)
    to.push_back(places(g, b, op, x));
  size_t lanes = 0;
  bool paired = n == "put" || n == "get" || n == "ppkt";
  for (size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
    size_t want = paired ? to[std::min(i, to.size() - 1)].size() : to[0].size();
    if (want == 0 || (i < from.size() && from[i].size() != want) ||
        (i < to.size() && to[i].size() != want)) {
      wrong = true;
      return true;
    }
    lanes = std::max(lanes, want);
  }
  if (thread.done.empty())
    thread.done.assign(lanes * threads, 0);
  bool moved = false, all = true;
  for (size_t lane = 0; lane < lanes; ++lane)
    for (int part = 0; part < threads; ++part) {
      if (static_cast<int>(threadOf(g, b, thread.next, lane, part)) != t)
        continue;
      char &done = thread.done[lane * threads + part];
      if (done == 0 && begin(op, lane, part, from, to)) {
        done = 1;
        moved = true;
      } else if (done == 1 && random() % (salt / 2 % 2 ? 40 : 2) == 0) {
        end(g, op, lane, part, from, to);
        done = 2;
        moved = true;
      } else if (done == 1) {
        // It takes its time, in some runs long.
        moved = true;
      }
      all &= done == 2;
    }
  if (all) {
    thread.done.clear();
    ++thread.next;
    moved = true;
  }
  return moved;
}

inline bool PlanTokens::right() {
  ranks = static_cast<int>(p.gpus.size());
  for (const PlanGpu &gpu : p.gpus)
    for (const PlanBlock &block : gpu.blocks)
      for (const PlanOp &op : block.ops)
        slices = std::lcm(slices, std::max(1, op.groupSize));
  int i = p.gpus[0].inputChunks, o = p.gpus[0].outputChunks;
  inputs = p.kind == CollectiveKind::AllGather       ? (i ? i : o / ranks)
           : p.kind == CollectiveKind::ReduceScatter ? (i ? i : o * ranks)
                                                     : std::max(i, o);
  outputs = p.kind == CollectiveKind::AllGather       ? inputs * ranks
            : p.kind == CollectiveKind::ReduceScatter ? inputs / ranks
                                                      : inputs;
  inputs *= slices;
  outputs *= slices;
  std::map<std::tuple<int, int, int>, uint32_t> weight;
  for (int g = 0; g < ranks; ++g) {
    for (int c = 0; c < inputs; ++c)
      for (int part = 0; part < threads; ++part)
        cell({g, c, 'i'}, part).bag = {{g * inputs + c, 1}};
    for (size_t b = 0; b < p.gpus[g].blocks.size(); ++b) {
      blocks[{g, static_cast<int>(b)}].resize(threads);
      // In every other run all threads of a block are as fast.
      uint32_t together = random();
      for (int t = 0; t < threads; ++t)
        weight[{g, static_cast<int>(b), t}] = salt % 2 ? random() : together;
    }
  }
  // Some blocks are slow in this run, and in blocks some threads.
  while (!wrong) {
    std::vector<std::tuple<int, int, int>> can;
    for (auto &[key, list] : blocks)
      for (int t = 0; t < threads; ++t)
        if (canRun(key.first, key.second, t))
          can.push_back({key.first, key.second, t});
    bool moved = false;
    while (!can.empty() && !moved) {
      size_t pick = random() % can.size();
      if (random() % 8)
        for (size_t k = 0; k < can.size(); ++k)
          if (weight[can[k]] > weight[can[pick]])
            pick = k;
      auto [g, b, t] = can[pick];
      can.erase(can.begin() + static_cast<ptrdiff_t>(pick));
      moved = canRun(g, b, t) && step(g, b, t);
      while (moved && !wrong && random() % 4 && canRun(g, b, t) &&
             step(g, b, t))
        ;
    }
    if (!moved)
      break;
  }
  if (wrong)
    return false;
  for (auto &[key, list] : blocks)
    for (const Thread &t : list)
      if (t.next < p.gpus[key.first].blocks[key.second].ops.size())
        return false;
  for (auto &[key, count] : signals)
    if (count != 0)
      return false;
  for (int g = 0; g < ranks; ++g)
    for (int c = 0; c < outputs; ++c)
      for (int part = 0; part < threads; ++part) {
        Bag want;
        int share = inputs / ranks;
        if (p.kind == CollectiveKind::AllGather)
          want[c] = 1;
        else if (p.kind == CollectiveKind::AllToAll)
          want[c / share * inputs + g * share + c % share] = 1;
        else
          for (int r = 0; r < ranks; ++r)
            want[r * inputs +
                 (p.kind == CollectiveKind::AllReduce ? c : g * outputs + c)] =
                1;
        if (cell({g, c, 'o'}, part).bag != want)
          return false;
      }
  return true;
}

} // namespace ccn::synth

#endif // CCN_TEST_UNIT_SYNTH_PLANTOKENS_H
