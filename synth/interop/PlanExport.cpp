//===- PlanExport.cpp - Schedules as MSCCL++ execution plans --------------===//
//
// Chunks are cut into lanes, runs of neighbouring chunks; a rank has a thread
// block for each lane, which takes the lane's chunks through all steps: what a
// step sends is put into the receivers' buffers, they are told, the block waits
// for what it gets and adds it up. With packets nobody is told anything: a
// reader waits for the packet itself. What arrives has a place of its own in
// scratch memory, unless it is put where it belongs at once.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/Places.h"
#include "synth/interop/Plan.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ccn;
using namespace ccn::synth;

namespace {

constexpr int maxLanes = 64;

class Exporter {
public:
  Exporter(const Schedule &schedule, PlanProtocol protocol, int lanes,
           bool direct)
      : s(schedule), coll(schedule.collective), ranks(coll.ranks),
        packets(protocol == PlanProtocol::LL), lanes(lanes), direct(direct),
        places(schedule) {}
  Plan run(const std::string &name);

private:
  /// The block of a rank's lane while it is written.
  struct Writer {
    PlanBlock block;
    /// Local places read and written since the last nop.
    std::set<std::pair<char, int>> read, written;
    std::map<int, int> channels;
    std::map<std::pair<int, char>, int> remote;
    bool open = false;
  };
  struct Arrival {
    int chunk = 0;
    SendOp op = SendOp::Copy;
    Place place;
  };

  int laneOf(int chunk) const {
    return static_cast<int>(static_cast<int64_t>(chunk) * lanes /
                            static_cast<int64_t>(coll.chunks.size()));
  }
  Writer &writer(int rank, int chunk) {
    return writers[rank * lanes + laneOf(chunk)];
  }
  static PlanBuffer near(const Place &place) {
    PlanBuffer b;
    b.buffer = place.buffer;
    b.index = place.index;
    return b;
  }
  PlanBuffer far(Writer &w, int rank, const Place &place);
  int channel(Writer &w, int peer);
  void sync(Writer &w);
  void local(Writer &w, const char *op, const std::vector<Place> &from,
             const Place &to);
  void put(Writer &w, const char *op, const Place &from, int rank,
           const Place &to);
  static bool extend(PlanOp &op, const PlanOp &more);
  void tell(Writer &w, const char *op, const std::set<int> &peers);
  Place sumOf(Writer &w, int chunk, int rank, const std::vector<size_t> &parts);
  void addUp(Writer &w, const std::vector<Place> &parts, const Place &to);
  void begin();
  void finish();
  void doStep(const Step &step, size_t first);
  void arrive(int rank, const std::vector<Arrival> &arrivals);

  const Schedule &s;
  const Collective &coll;
  int ranks;
  bool packets;
  int lanes;
  bool direct;
  Places places;
  Plan plan;
  std::vector<Writer> writers;
  /// By chunk and rank, where a copying collective's chunk came as packets.
  std::map<std::pair<int, int>, Place> arrived;
};

int Exporter::channel(Writer &w, int peer) {
  auto [it, isNew] =
      w.channels.emplace(peer, static_cast<int>(w.channels.size()));
  return it->second;
}

PlanBuffer Exporter::far(Writer &w, int rank, const Place &place) {
  auto it = w.remote.emplace(std::pair(rank, place.buffer),
                             static_cast<int>(w.remote.size()));
  PlanBuffer b;
  b.where = PlanBuffer::Remote;
  b.id = it.first->second;
  b.index = place.index;
  channel(w, rank);
  return b;
}

void Exporter::sync(Writer &w) {
  if (!w.block.ops.empty() && w.block.ops.back().name != "nop") {
    w.block.ops.emplace_back();
    w.block.ops.back().name = "nop";
  }
  w.read.clear();
  w.written.clear();
  w.open = false;
}

/// Makes one operation of two on neighbouring places, if they are.
bool Exporter::extend(PlanOp &op, const PlanOp &more) {
  auto follows = [](const PlanBuffer &a, const PlanBuffer &b) {
    return a.where == b.where && a.buffer == b.buffer && a.id == b.id &&
           a.index + a.size == b.index;
  };
  bool paired = op.name == "put" || op.name == "ppkt";
  if (op.name != more.name || op.channelType != more.channelType)
    return false;
  if (paired) {
    PlanBuffer &from = op.sources.back(), &to = op.targets.back();
    if (follows(from, more.sources[0]) && follows(to, more.targets[0])) {
      from.size += more.sources[0].size;
      to.size += more.targets[0].size;
      return true;
    }
    if (op.targets.size() >= planMaxRemote)
      return false;
    op.sources.push_back(more.sources[0]);
    op.targets.push_back(more.targets[0]);
    return true;
  }
  if (op.sources.size() != more.sources.size() ||
      op.targets.size() != more.targets.size())
    return false;
  for (size_t i = 0; i < op.sources.size(); ++i)
    if (!follows(op.sources[i], more.sources[i]))
      return false;
  for (size_t i = 0; i < op.targets.size(); ++i)
    if (!follows(op.targets[i], more.targets[i]))
      return false;
  for (auto *list : {&op.sources, &op.targets})
    for (PlanBuffer &b : *list)
      ++b.size;
  return true;
}

void Exporter::local(Writer &w, const char *op, const std::vector<Place> &from,
                     const Place &to) {
  auto key = [](const Place &p) { return std::pair(p.buffer, p.index); };
  bool conflict = w.read.count(key(to)) || w.written.count(key(to));
  for (const Place &p : from)
    conflict |= !p.isPacket && w.written.count(key(p));
  if (conflict)
    sync(w);
  PlanOp out;
  out.name = op;
  for (const Place &p : from) {
    out.sources.push_back(near(p));
    w.read.insert(key(p));
  }
  out.targets = {near(to)};
  w.written.insert(key(to));
  if (out.name == "re" || out.name == "repkt")
    out.reduceOp = "sum";
  if (!w.open || !extend(w.block.ops.back(), out))
    w.block.ops.push_back(std::move(out));
  w.open = true;
}

void Exporter::put(Writer &w, const char *op, const Place &from, int rank,
                   const Place &to) {
  if (w.written.count({from.buffer, from.index}) && !from.isPacket)
    sync(w);
  PlanOp out;
  out.name = op;
  out.channelType = PlanChannelType::Memory;
  out.sources = {near(from)};
  out.targets = {far(w, rank, to)};
  w.read.insert({from.buffer, from.index});
  if (!w.open || !extend(w.block.ops.back(), out))
    w.block.ops.push_back(std::move(out));
  w.open = true;
}

/// Signals to, or waits for, peers.
void Exporter::tell(Writer &w, const char *op, const std::set<int> &peers) {
  PlanOp out;
  out.name = op;
  out.channelType = PlanChannelType::Memory;
  for (int peer : peers) {
    out.channels.push_back(channel(w, peer));
    if (out.channels.size() == planMaxRemote) {
      w.block.ops.push_back(out);
      out.channels.clear();
    }
  }
  if (!out.channels.empty())
    w.block.ops.push_back(out);
  w.open = false;
}

/// Adds places up: at most one plain one first, then, packets.
void Exporter::addUp(Writer &w, const std::vector<Place> &parts,
                     const Place &to) {
  std::vector<Place> plain, packet;
  for (const Place &p : parts)
    (p.isPacket ? packet : plain).push_back(p);
  auto same = [&](const Place &p) {
    return p.buffer == to.buffer && p.index == to.index;
  };
  // The target, if it is a part, comes first: what is in it is kept.
  std::stable_partition(plain.begin(), plain.end(), same);
  if (plain.empty()) {
    local(w, "upkt", {packet[0]}, to);
    packet.erase(packet.begin());
    plain.push_back(to);
  }
  while (plain.size() > 1 || (packet.empty() && !same(plain[0]))) {
    size_t count = std::min(plain.size(), planMaxBuffers);
    local(w, count == 1 ? "copy" : "re",
          {plain.begin(), plain.begin() + static_cast<ptrdiff_t>(count)}, to);
    plain.erase(plain.begin(), plain.begin() + static_cast<ptrdiff_t>(count));
    plain.insert(plain.begin(), to);
  }
  while (!packet.empty()) {
    size_t count = std::min(packet.size(), planMaxBuffers - 1);
    std::vector<Place> from = {plain[0]};
    from.insert(from.end(), packet.begin(),
                packet.begin() + static_cast<ptrdiff_t>(count));
    local(w, "repkt", from, to);
    packet.erase(packet.begin(),
                 packet.begin() + static_cast<ptrdiff_t>(count));
    plain[0] = to;
  }
}

/// Where the sum of some of the sums that a rank has of a chunk is; makes it if
/// need be.
Place Exporter::sumOf(Writer &w, int chunk, int rank,
                      const std::vector<size_t> &parts) {
  std::vector<Place> terms;
  for (size_t p : parts)
    terms.push_back(places.sum(chunk, rank, p));
  if (terms.size() == 1)
    return terms[0];
  Place sum = places.newScratch(rank);
  addUp(w, terms, sum);
  return sum;
}

void Exporter::doStep(const Step &step, size_t first) {
  std::vector<size_t> order(step.sends.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  // Neighbouring chunks between two ranks follow each other.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Send &x = step.sends[a], &y = step.sends[b];
    return std::tuple(laneOf(x.chunk), x.dst, x.src, x.chunk) <
           std::tuple(laneOf(y.chunk), y.dst, y.src, y.chunk);
  });
  std::vector<Place> landing(step.sends.size());
  for (size_t i : order) {
    const Send &send = step.sends[i];
    bool home =
        send.op == SendOp::Copy && !packets && (direct || !coll.combining);
    landing[i] = home ? places.home(send.chunk, send.dst)
                      : places.newScratch(send.dst, packets);
  }
  std::map<std::pair<int, int>, std::set<int>> tells, waits;
  for (size_t i : order) {
    const Send &send = step.sends[i];
    Writer &w = writer(send.src, send.chunk);
    auto came = arrived.find({send.chunk, send.src});
    Place from = coll.combining ? sumOf(w, send.chunk, send.src,
                                        places.transfers()[first + i].terms)
                 : came != arrived.end() ? came->second
                                         : places.home(send.chunk, send.src);
    put(w,
        !packets        ? "put"
        : from.isPacket ? "rppkt"
                        : "ppkt",
        from, send.dst, landing[i]);
    tells[{send.src, laneOf(send.chunk)}].insert(send.dst);
    waits[{send.dst, laneOf(send.chunk)}].insert(send.src);
  }
  if (!packets) {
    for (const auto &[key, peers] : tells) {
      Writer &w = writers[key.first * lanes + key.second];
      sync(w);
      tell(w, "signal", peers);
    }
    for (const auto &[key, peers] : waits) {
      Writer &w = writers[key.first * lanes + key.second];
      // What the waiter read before must not be overtaken either.
      tell(w, "wait", peers);
      sync(w);
    }
  }
  std::map<int, std::vector<Arrival>> arrivals;
  for (size_t i : order)
    arrivals[step.sends[i].dst].push_back(
        {step.sends[i].chunk, step.sends[i].op, landing[i]});
  // Kept sums are numbered in the order of the sends.
  if (coll.combining)
    for (size_t i = 0; i < step.sends.size(); ++i)
      if (step.sends[i].op == SendOp::Stash) {
        const Send &send = step.sends[i];
        places.addSum(send.chunk, send.dst, landing[i]);
      }
  for (const auto &[rank, list] : arrivals)
    arrive(rank, list);
}

void Exporter::arrive(int rank, const std::vector<Arrival> &arrivals) {
  std::map<int, std::vector<Place>> reduced;
  for (const Arrival &a : arrivals) {
    Writer &w = writer(rank, a.chunk);
    if (!coll.combining) {
      if (!a.place.isPacket)
        continue;
      const std::vector<int> &post = coll.chunks[a.chunk].post;
      if (std::binary_search(post.begin(), post.end(), rank))
        local(w, "upkt", {a.place}, places.home(a.chunk, rank));
      arrived[{a.chunk, rank}] = a.place;
      continue;
    }
    if (a.op == SendOp::Stash)
      continue;
    Place home = places.home(a.chunk, rank);
    if (places.takeOwnNeeded(a.chunk, rank)) {
      Place kept = places.newScratch(rank);
      local(w, "copy", {home}, kept);
      places.sum(a.chunk, rank, 1) = kept;
    }
    if (a.op == SendOp::Reduce)
      reduced[a.chunk].push_back(a.place);
    else if (a.place.isPacket || a.place.buffer == 's')
      local(w, a.place.isPacket ? "upkt" : "copy", {a.place}, home);
  }
  for (auto &[chunk, terms] : reduced) {
    Place home = places.home(chunk, rank);
    terms.insert(terms.begin(), home);
    addUp(writer(rank, chunk), terms, home);
  }
}

/// Buffers of a rank may be written from outside only when it has started.
void Exporter::begin() {
  if (coll.kind == CollectiveKind::AllToAll) {
    int share = coll.chunksPerNode / ranks;
    for (int r = 0; r < ranks; ++r)
      for (int i = 0; i < share; ++i)
        local(writer(r, r * coll.chunksPerNode + r * share + i), "copy",
              {{'i', r * share + i}}, {'o', r * share + i});
  }
  if (packets)
    return;
  std::map<std::pair<int, int>, std::set<int>> from, to;
  for (const Step &step : s.steps)
    for (const Send &send : step.sends)
      if (send.op == SendOp::Copy && (direct || !coll.combining)) {
        from[{send.dst, laneOf(send.chunk)}].insert(send.src);
        to[{send.src, laneOf(send.chunk)}].insert(send.dst);
      }
  for (const auto &[key, peers] : from)
    tell(writers[key.first * lanes + key.second], "rlxsignal", peers);
  for (const auto &[key, peers] : to) {
    Writer &w = writers[key.first * lanes + key.second];
    tell(w, "rlxwait", peers);
    sync(w);
  }
}

/// Adds up what a host still keeps apart.
void Exporter::finish() {
  places.forEachFinalSum(
      [&](int chunk, int rank, const std::vector<size_t> &parts) {
        std::vector<Place> terms;
        for (size_t p : parts)
          terms.push_back(places.sum(chunk, rank, p));
        addUp(writer(rank, chunk), terms, places.home(chunk, rank));
      });
}

Plan Exporter::run(const std::string &name) {
  plan.name = name;
  plan.kind = coll.kind;
  plan.protocol = packets ? "LL" : "Simple";
  plan.inPlace = coll.kind != CollectiveKind::AllToAll;
  plan.doubleScratch = packets;
  PlanGpu empty;
  empty.inputChunks = places.inputChunks();
  empty.outputChunks = places.outputChunks();
  plan.gpus.assign(ranks, empty);
  writers.resize(static_cast<size_t>(ranks) * lanes);
  begin();
  size_t first = 0;
  for (const Step &step : s.steps) {
    doStep(step, first);
    first += step.sends.size();
  }
  finish();
  // Both ends of a connection list it for the same lane.
  for (int lane = 0; lane < lanes; ++lane)
    for (int r = 0; r < ranks; ++r)
      for (const auto &[peer, id] : writers[r * lanes + lane].channels)
        channel(writers[peer * lanes + lane], r);
  for (int r = 0; r < ranks; ++r) {
    PlanGpu &gpu = plan.gpus[r];
    gpu.scratchChunks = places.scratchChunks(r);
    PlanChannel connections;
    for (int lane = 0; lane < lanes; ++lane) {
      Writer &w = writers[r * lanes + lane];
      std::vector<int> byId(w.channels.size());
      for (const auto &[peer, id] : w.channels)
        byId[id] = peer;
      PlanRefs refs{PlanChannelType::Memory, {}};
      for (int peer : byId) {
        refs.ids.push_back(static_cast<int>(connections.peers.size()));
        connections.peers.push_back(peer);
      }
      PlanRefs remote{PlanChannelType::Memory, {}};
      remote.ids.resize(w.remote.size());
      for (const auto &[key, id] : w.remote) {
        PlanRemoteBuffer buffer{
            key.first, key.second, {PlanChannelType::Memory}};
        auto it = std::find(gpu.remoteBuffers.begin(), gpu.remoteBuffers.end(),
                            buffer);
        remote.ids[id] = static_cast<int>(it - gpu.remoteBuffers.begin());
        if (it == gpu.remoteBuffers.end())
          gpu.remoteBuffers.push_back(buffer);
      }
      if (!refs.ids.empty())
        w.block.channels.push_back(refs);
      if (!remote.ids.empty())
        w.block.remoteBuffers.push_back(remote);
      if (!w.block.ops.empty())
        gpu.blocks.push_back(std::move(w.block));
    }
    if (!connections.peers.empty())
      gpu.channels.push_back(std::move(connections));
  }
  return std::move(plan);
}

} // namespace

Result<Plan> ccn::synth::exportPlan(const Schedule &schedule,
                                    const std::string &name,
                                    PlanProtocol protocol) {
  if (!hasBuffers(schedule.collective))
    return error("no layout of the buffers is known for " +
                 schedule.collective.name + " in MSCCL++ plans");
  if (usesCpus(schedule))
    return error("MSCCL++ plans know only GPUs, and a CPU takes part in the "
                 "schedule");
  std::string reason = check(schedule);
  if (!reason.empty())
    return error(reason);
  // More lanes leave fewer operations for each block. Copies are put where
  // they belong if their receivers are known to have done with the place.
  int chunks = static_cast<int>(schedule.collective.chunks.size());
  for (int lanes = std::min(chunks, 8);; lanes = std::min(2 * lanes, chunks)) {
    for (bool direct : {true, false}) {
      Plan plan = Exporter(schedule, protocol, lanes, direct).run(name);
      reason = checkPlan(plan);
      if (reason.empty())
        return plan;
    }
    if (lanes >= std::min(chunks, maxLanes))
      break;
  }
  return error("the schedule does not fit MSCCL++'s executor: " + reason);
}
