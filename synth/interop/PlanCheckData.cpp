//===- PlanCheckData.cpp - What a plan's operations do to data ------------===//
//
// See PlanRun.h.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/PlanRun.h"

#include <algorithm>

using namespace ccn::synth;

std::string PlanRun::resolve(const Block &b, const PlanBuffer &buffer,
                             Range &range) {
  const FlatOp &flat = b.ops[b.next];
  const PlanGpu &gpu = p.gpus[b.gpu];
  const PlanBlock &block = gpu.blocks[b.index];
  range.ranks = {b.gpu};
  range.buffer = buffer.buffer;
  if (buffer.where == PlanBuffer::Remote) {
    int left = buffer.id;
    const PlanRemoteBuffer *remote = nullptr;
    for (const PlanRefs &refs : block.remoteBuffers)
      if (refs.type == flat.op->channelType && !remote) {
        if (left < static_cast<int>(refs.ids.size()) &&
            refs.ids[left] < static_cast<int>(gpu.remoteBuffers.size()))
          remote = &gpu.remoteBuffers[refs.ids[left]];
        left -= static_cast<int>(refs.ids.size());
      }
    if (!remote)
      return place(b) + ": remote buffer " + std::to_string(buffer.id) +
             " does not exist";
    range.ranks = {remote->rank};
    range.buffer = remote->buffer;
  } else if (buffer.where == PlanBuffer::Switch) {
    // Every group of every switch channel is a channel of its own.
    std::vector<std::pair<char, const PlanChannel::Group *>> groups;
    for (const PlanChannel &channel : gpu.channels)
      for (const PlanChannel::Group &group : channel.groups)
        groups.push_back({channel.buffer, &group});
    int left = buffer.id, index = -1;
    for (const PlanRefs &refs : block.channels)
      if (refs.type == PlanChannelType::Switch && index < 0) {
        if (left < static_cast<int>(refs.ids.size()))
          index = refs.ids[left];
        left -= static_cast<int>(refs.ids.size());
      }
    if (index < 0 || index >= static_cast<int>(groups.size()))
      return place(b) + ": switch channel " + std::to_string(buffer.id) +
             " does not exist";
    range.buffer = groups[index].first;
    range.ranks = groups[index].second->ranks;
  }
  range.size = buffer.size * slices;
  range.start = buffer.index * slices;
  if (int parts = flat.op->groupSize; parts > 0) {
    range.start += range.size / parts * flat.op->groupIndex;
    range.size /= parts;
  }
  if (flat.unit >= 0) {
    range.size /= pipelineUnits;
    range.start += range.size * flat.unit;
  }
  for (int rank : range.ranks)
    if (!memory.cell(rank, range.buffer, range.start) ||
        !memory.cell(rank, range.buffer, range.start + range.size - 1))
      return place(b) + ": " + std::string(1, range.buffer) + "[" +
             std::to_string(buffer.index) + ".." +
             std::to_string(buffer.index + buffer.size - 1) + "] of gpu " +
             std::to_string(rank) + " is outside the buffer";
  return "";
}

std::string PlanRun::conflictText(const Block &b, const TokenConflict &c,
                                  const std::string &where, bool writes) const {
  std::string at = place(b) + ": " + (writes ? "writes " : "reads ") + where;
  if (c.kind == TokenConflict::Unwritten)
    return at + ", which nothing has written";
  if (c.event.thread >= firstStart)
    return at + " before it knows that gpu " +
           std::to_string(c.event.thread - firstStart) + " has started";
  std::string other = threadName(c.event.thread);
  if (c.event.thread < firstPort)
    other += ", op " + blocks[c.event.thread].ops[c.event.step].name;
  return at + " without being ordered after " + other + ", which " +
         (c.kind == TokenConflict::WriteNotOrdered ? "writes" : "reads") +
         " it";
}

static std::string placeName(int rank, char buffer, int offset, int slices) {
  return std::string(1, buffer) + "[" + std::to_string(offset / slices) +
         "] of gpu " + std::to_string(rank);
}

/// Adds what is in a place (or the same place of several ranks) to `sum`.
std::string PlanRun::get(int id, const Range &range, int lane, bool packet,
                         TokenValue &sum) {
  Block &b = blocks[id];
  for (int rank : range.ranks) {
    int offset = range.start + lane;
    std::string where = placeName(rank, range.buffer, offset, slices);
    TokenCell &cell = *memory.cell(rank, range.buffer, offset);
    TokenEvent event{id, static_cast<int>(b.next), lane};
    TokenValue value;
    if (packet) {
      if (!cell.packet)
        return place(b) + ": reads " + where + " as packets, found plain data";
      cell.readers.push_back(event);
      value = cell.value;
    } else {
      if (cell.written && cell.packet)
        return place(b) + ": reads " + where + " as plain data, found packets";
      TokenConflict c = memory.read(cell, event, b.now.seen, value);
      if (c)
        return conflictText(b, c, where, false);
    }
    if (rank != b.gpu) {
      ++value.depth;
      transfers.push_back({rank, b.gpu, value});
    }
    int twice = addTokens(sum, value);
    if (twice >= 0)
      return place(b) + ": adds the contribution of gpu " +
             std::to_string(twice / memory.inputs) + " to chunk " +
             std::to_string(twice % memory.inputs / slices) + " twice";
  }
  return "";
}

std::string PlanRun::set(int id, const Range &range, int lane, bool packet,
                         const TokenValue &value) {
  Block &b = blocks[id];
  for (int rank : range.ranks) {
    int offset = range.start + lane;
    std::string where = placeName(rank, range.buffer, offset, slices);
    TokenCell &cell = *memory.cell(rank, range.buffer, offset);
    if (packet && cell.written)
      return place(b) + ": writes a packet to " + where +
             ", where one was written before: a reader could take either";
    TokenValue out = value;
    if (rank != b.gpu) {
      ++out.depth;
      transfers.push_back({b.gpu, rank, out});
    }
    TokenConflict c = memory.write(cell, {id, static_cast<int>(b.next), lane},
                                   b.now.seen, b.now.over, std::move(out));
    if (c)
      return conflictText(b, c, where, true);
    cell.packet = packet;
  }
  return "";
}

/// One element of an operation. `done` stays false if a packet is missing.
std::string PlanRun::element(int id, int lane, const std::vector<Range> &from,
                             const std::vector<Range> &to, bool &done) {
  Block &b = blocks[id];
  const PlanOp &op = *b.ops[b.next].op;
  // Which sources and targets are packets.
  bool firstPacket = op.name == "rppkt" || op.name == "upkt";
  bool restPackets = firstPacket || op.name == "respkt" || op.name == "repkt" ||
                     op.name == "recpkt" || op.name == "recspkt";
  bool firstOut = op.name == "rppkt" || op.name == "cpkt" || op.name == "ppkt";
  bool restOut = firstOut || (restPackets && !firstPacket);
  bool paired = op.name == "put" || op.name == "get" || op.name == "ppkt";
  // Packets are waited for before anything else is done.
  for (size_t i = 0; i < from.size(); ++i)
    if (i == 0 ? firstPacket : restPackets)
      for (int rank : from[i].ranks) {
        TokenCell *cell =
            memory.cell(rank, from[i].buffer, from[i].start + lane);
        if (!cell->written)
          return "";
      }
  std::string problem;
  TokenValue sum;
  for (size_t i = 0; i < from.size() && problem.empty(); ++i) {
    if (lane >= from[i].size)
      continue;
    if (paired)
      sum = {};
    problem = get(id, from[i], lane, i == 0 ? firstPacket : restPackets, sum);
    if (problem.empty() && paired)
      problem = set(id, to[i], lane, firstOut, sum);
  }
  if (!paired)
    for (size_t i = 0; i < to.size() && problem.empty(); ++i)
      problem = set(id, to[i], lane, i == 0 ? firstOut : restOut, sum);
  done = problem.empty();
  return problem;
}

/// The channel's thread copies, some time later.
std::string PlanRun::runPortPut(int id, const std::vector<Range> &from,
                                const std::vector<Range> &to) {
  Block &b = blocks[id];
  const PlanOp &op = *b.ops[b.next].op;
  if (op.channels.size() != to.size())
    return place(b) + ": expected a channel for each of " +
           std::to_string(to.size()) + " targets, found " +
           std::to_string(op.channels.size());
  bool packets = op.name == "ppkt";
  for (size_t i = 0; i < to.size(); ++i) {
    const Connection *c = nullptr;
    std::string problem =
        connection(b, PlanChannelType::Port, op.channels[i], c);
    if (!problem.empty())
      return problem;
    if (c->peer != to[i].ranks[0])
      return place(b) + ": channel " + std::to_string(op.channels[i]) +
             " leads to gpu " + std::to_string(c->peer) +
             ", and the buffer is gpu " + std::to_string(to[i].ranks[0]) + "'s";
    auto &[known, count] = ports[c->thread];
    known.join(b.now);
    for (int lane = 0; lane < to[i].size; ++lane) {
      TokenEvent event{c->thread, count, lane};
      TokenCell &source =
          *memory.cell(b.gpu, from[i].buffer, from[i].start + lane);
      TokenCell &target =
          *memory.cell(c->peer, to[i].buffer, to[i].start + lane);
      std::string there = placeName(c->peer, to[i].buffer, to[i].start + lane,
                                    slices),
                  here = placeName(b.gpu, from[i].buffer, from[i].start + lane,
                                   slices);
      if (source.written && source.packet != packets)
        return place(b) + ": reads " + here +
               (packets ? " as packets, found plain data"
                        : " as plain data, found packets");
      if (packets && target.written)
        return place(b) + ": writes a packet to " + there +
               ", where one was written before: a reader could take either";
      TokenValue value;
      TokenConflict conflict = memory.read(source, event, known.seen, value);
      if (conflict)
        return conflictText(b, conflict, here, false);
      ++value.depth;
      transfers.push_back({b.gpu, c->peer, value});
      conflict =
          memory.write(target, event, known.seen, known.over, std::move(value));
      if (conflict)
        return conflictText(b, conflict, there, true);
      target.packet = packets;
    }
    ++count;
    known.seen[c->thread] = known.over[c->thread] = count;
    if (op.name == "pws" || op.name == "pwsf") {
      if (c->farWire < 0)
        return place(b) + ": gpu " + std::to_string(c->peer) +
               " has no channel for this one";
      wires[c->farWire].signals.push_back(known);
    }
    if (op.name == "pwsf")
      b.told.join(known);
  }
  return "";
}

/// Whether an operation has a target for each source.
static bool isPaired(const PlanOp &op) {
  return op.name == "put" || op.name == "get" || op.name == "ppkt" ||
         op.name == "pws" || op.name == "pwsf";
}

std::string PlanRun::checkBuffers(const Block &b,
                                  const std::vector<Range> &from,
                                  const std::vector<Range> &to) const {
  const PlanOp &op = *b.ops[b.next].op;
  bool paired = isPaired(op);
  auto bad = [&](const std::string &what) {
    return place(b) + ": expected " + what;
  };
  // Which buffers are near and far; the rest of a list is as its last.
  using W = PlanBuffer::Where;
  static const std::map<std::string, std::pair<std::vector<W>, std::vector<W>>>
      shapes = {
          {"put", {{W::Local}, {W::Remote}}},
          {"pws", {{W::Local}, {W::Remote}}},
          {"pwsf", {{W::Local}, {W::Remote}}},
          {"ppkt", {{W::Local}, {W::Remote}}},
          {"get", {{W::Remote}, {W::Local}}},
          {"copy", {{W::Local}, {W::Local}}},
          {"cpkt", {{W::Local}, {W::Local}}},
          {"upkt", {{W::Local}, {W::Local}}},
          {"re", {{W::Local}, {W::Local}}},
          {"res", {{W::Local}, {W::Local, W::Remote}}},
          {"rre", {{W::Local, W::Remote}, {W::Local}}},
          {"rres", {{W::Local, W::Remote}, {W::Local, W::Remote}}},
          {"rppkt", {{W::Local}, {W::Remote}}},
          {"repkt", {{W::Local}, {W::Local}}},
          {"respkt", {{W::Local}, {W::Local, W::Remote}}},
          {"recpkt", {{W::Local}, {W::Local, W::Local}}},
          {"recspkt", {{W::Local}, {W::Local, W::Local, W::Remote}}},
          {"glres", {{W::Switch}, {W::Switch}}},
          {"gstore", {{W::Local}, {W::Switch}}},
      };
  auto shape = shapes.find(op.name);
  if (shape == shapes.end())
    return place(b) + ": this operation is not supported";
  if (from.empty() || to.empty())
    return bad("sources and targets, found none");
  for (auto [buffers, wanted] : {std::pair(&op.sources, &shape->second.first),
                                 std::pair(&op.targets, &shape->second.second)})
    for (size_t i = 0; i < buffers->size(); ++i)
      if ((*buffers)[i].where != (*wanted)[std::min(i, wanted->size() - 1)])
        return bad("local, remote and switch buffers in the order of this "
                   "operation, found another");
  bool single = op.name == "copy" || op.name == "cpkt" || op.name == "upkt" ||
                op.name == "rppkt" || op.name == "glres" || op.name == "gstore";
  if (paired ? from.size() != to.size() : single && from.size() != 1)
    return bad(paired ? "as many sources as targets, found " +
                            std::to_string(from.size()) + " and " +
                            std::to_string(to.size())
                      : "one source, found " + std::to_string(from.size()));
  bool writesOne = op.name == "copy" || op.name == "cpkt" ||
                   op.name == "upkt" || op.name == "re" || op.name == "rre" ||
                   op.name == "repkt" || op.name == "glres" ||
                   op.name == "gstore";
  if (writesOne && to.size() != 1)
    return bad("one target, found " + std::to_string(to.size()));
  if (op.name.starts_with("rec") && to.size() < 2)
    return bad("two targets, found one");
  for (size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
    int size = paired ? to[i].size : to[0].size;
    if ((i < from.size() && from[i].size != size) ||
        (i < to.size() && to[i].size != size))
      return bad("buffers of one size, found others");
  }
  if (!op.reduceOp.empty() && op.reduceOp != "sum")
    return bad("\"sum\", found \"" + op.reduceOp + "\"");
  return "";
}

std::string PlanRun::advanceElements(int id, const std::vector<Range> &from,
                                     const std::vector<Range> &to,
                                     bool &moved) {
  Block &b = blocks[id];
  // Elements go on by themselves: each waits for its own packets.
  int count = 0;
  for (const Range &range : to)
    count = std::max(count, range.size);
  if (b.lanes.empty())
    b.lanes.assign(count, 0);
  bool all = true;
  for (int lane = 0; lane < count; ++lane) {
    if (b.lanes[lane])
      continue;
    bool done = false;
    std::string problem = element(id, lane, from, to, done);
    if (!problem.empty())
      return problem;
    b.lanes[lane] = done;
    moved |= done;
    all &= done;
  }
  if (all) {
    b.lanes.clear();
    ++b.next;
    moved = true;
  }
  return "";
}

std::string PlanRun::data(int id, bool &moved) {
  Block &b = blocks[id];
  const PlanOp &op = *b.ops[b.next].op;
  std::vector<Range> from, to;
  for (auto [buffers, ranges] :
       {std::pair(&op.sources, &from), std::pair(&op.targets, &to)})
    for (const PlanBuffer &buffer : *buffers) {
      Range range;
      std::string problem = resolve(b, buffer, range);
      if (!problem.empty())
        return problem;
      ranges->push_back(std::move(range));
    }
  std::string wrong = checkBuffers(b, from, to);
  if (!wrong.empty())
    return wrong;
  if (op.channelType == PlanChannelType::Port && isPaired(op) &&
      op.name != "get") {
    std::string problem = runPortPut(id, from, to);
    if (!problem.empty())
      return problem;
    moved = true;
    ++b.next;
    return "";
  }
  if (op.name == "pws" || op.name == "pwsf")
    return place(b) + ": expected a port channel";
  return advanceElements(id, from, to, moved);
}
