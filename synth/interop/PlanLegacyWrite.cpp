//===- PlanLegacyWrite.cpp - Plans for MSCCL++ up to 0.6 ------------------===//
//
// The older format names channels by the buffers at their two ends and reaches
// far buffers through channels only, all of an operation between the same
// buffers. Where a connection is used between one pair of buffers it keeps its
// place; where that does not do, connections of a gpu that signal get one pair,
// and what else data needs is added after them, so that the ends still pair in
// the same order.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/PlanJson.h"
#include "synth/interop/PlanKinds.h"

#include <algorithm>
#include <map>

using namespace ccn;
using namespace ccn::synth;
using json = nlohmann::ordered_json;

namespace {

/// The near and the far buffer.
using Ends = std::pair<char, char>;

struct Refused {
  std::string why;
};

const char *typeName(PlanChannelType type) {
  switch (type) {
  case PlanChannelType::None:
    return "none";
  case PlanChannelType::Memory:
    return "sm";
  case PlanChannelType::Port:
    return "proxy";
  case PlanChannelType::Switch:
    return "nvls";
  }
  return "";
}

std::string text(char buffer) { return std::string(1, buffer); }

json endsOf(Ends ends) {
  return {{"src", text(ends.first)}, {"dst", text(ends.second)}};
}

class GpuWriter {
public:
  GpuWriter(const PlanGpu &gpu, int id, bool oneEnds)
      : gpu(gpu), id(id), oneEnds(oneEnds) {}
  json run();

private:
  struct Connection {
    int peer = 0;
    /// Which of the gpu's channels it belongs to; past them: added here.
    size_t entry = 0;
    std::optional<Ends> ends;
  };
  /// What an operation reaches through a connection.
  struct Access {
    int peer = 0;
    Ends ends;
    /// Whether the near buffer matters: it is the channel that knows it.
    bool near = false;
    int connection = -1;
  };

  [[noreturn]] void refuse(const std::string &why) const {
    std::string at = "gpu " + std::to_string(id);
    if (block >= 0)
      at += ", tb " + std::to_string(block);
    if (op)
      at += ", op " + std::to_string(opIndex) + " (" + op->name + ")";
    throw Refused{at + ": " + why};
  }
  template <typename F> void forEachOp(F visit);
  std::vector<int> flatOf(const std::vector<PlanRefs> &refs,
                          PlanChannelType type) const;
  std::vector<int> named() const;
  std::vector<Access> accesses(bool sources) const;
  void giveEnds();
  int connectionFor(const Access &access);
  json cids(const std::vector<int> &connections,
            const std::vector<PlanBuffer> &buffers) const;
  json writeOp();
  void writeSwitch(json &out) const;
  json writeBlockChannels() const;
  json writeChannels() const;

  const PlanGpu &gpu;
  const int id;
  const bool oneEnds;
  std::map<PlanChannelType, std::vector<Connection>> connections;
  /// By block and type, the connections it has.
  std::map<std::pair<int, PlanChannelType>, std::vector<int>> has;
  int block = -1;
  size_t opIndex = 0;
  const PlanOp *op = nullptr;
};

const std::map<std::string, std::string> &namesInLegacy() {
  static const std::map<std::string, std::string> names = [] {
    std::map<std::string, std::string> result;
    for (const auto &[legacy, name] : legacyPlanNames())
      result[name] = legacy;
    // A full signal is a relaxed one, too.
    result["rlxsignal"] = "signal";
    result["rlxwait"] = "wait";
    return result;
  }();
  return names;
}

bool synchronizes(const PlanOp &op) {
  return op.name.ends_with("signal") || op.name.ends_with("wait") ||
         op.name == "flush";
}

template <typename F> void GpuWriter::forEachOp(F visit) {
  for (size_t b = 0; b < gpu.blocks.size(); ++b)
    for (size_t i = 0; i < gpu.blocks[b].ops.size(); ++i) {
      block = static_cast<int>(b);
      opIndex = i;
      op = &gpu.blocks[b].ops[i];
      visit();
    }
  block = -1;
  op = nullptr;
}

std::vector<int> GpuWriter::flatOf(const std::vector<PlanRefs> &refs,
                                   PlanChannelType type) const {
  std::vector<int> flat;
  for (const PlanRefs &r : refs)
    if (r.type == type)
      flat.insert(flat.end(), r.ids.begin(), r.ids.end());
  return flat;
}

/// The connections that the operation names.
std::vector<int> GpuWriter::named() const {
  std::vector<int> flat = flatOf(gpu.blocks[block].channels, op->channelType);
  auto all = connections.find(op->channelType);
  std::vector<int> result;
  for (int channel : op->channels) {
    if (channel >= static_cast<int>(flat.size()) || all == connections.end() ||
        flat[channel] >= static_cast<int>(all->second.size()))
      refuse("channel " + std::to_string(channel) + " does not exist");
    result.push_back(flat[channel]);
  }
  return result;
}

/// What the operation reads, or writes, at other gpus.
std::vector<GpuWriter::Access> GpuWriter::accesses(bool sources) const {
  std::vector<Access> result;
  std::vector<int> flat =
      flatOf(gpu.blocks[block].remoteBuffers, op->channelType);
  const std::vector<PlanBuffer> &list = sources ? op->sources : op->targets;
  const std::vector<PlanBuffer> &other = sources ? op->targets : op->sources;
  std::vector<int> names = named();
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].where != PlanBuffer::Remote)
      continue;
    if (list[i].id >= static_cast<int>(flat.size()) ||
        flat[list[i].id] >= static_cast<int>(gpu.remoteBuffers.size()))
      refuse("remote buffer " + std::to_string(list[i].id) + " does not exist");
    const PlanRemoteBuffer &far = gpu.remoteBuffers[flat[list[i].id]];
    Access access;
    access.peer = far.rank;
    access.near = takesPairs(*op);
    if (access.near && other.size() != list.size())
      refuse("expected as many sources as targets, found " +
             std::to_string(op->sources.size()) + " and " +
             std::to_string(op->targets.size()));
    char near = other.empty() ? 'i' : other[access.near ? i : 0].buffer;
    access.ends = {near, far.buffer};
    if (!names.empty() && takesPairs(*op)) {
      if (names.size() != list.size())
        refuse("expected a channel for each of " + std::to_string(list.size()) +
               " far buffers, found " + std::to_string(names.size()));
      access.connection = names[i];
      if (connections.at(op->channelType)[names[i]].peer != far.rank)
        refuse("channel " + std::to_string(op->channels[i]) +
               " leads to another gpu than that of the buffer");
    }
    if (!result.empty() && result[0].ends != access.ends)
      refuse("expected one kind of near and one of far buffers, found several");
    result.push_back(access);
  }
  return result;
}

/// Decides between which buffers each connection is.
void GpuWriter::giveEnds() {
  std::map<PlanChannelType, Ends> usual;
  forEachOp([&] {
    for (bool sources : {true, false})
      for (const Access &access : accesses(sources)) {
        usual.emplace(op->channelType, access.ends);
        std::vector<Connection> &all = connections[op->channelType];
        for (int c : has[{block, op->channelType}]) {
          if (access.connection >= 0 ? access.connection != c
                                     : all[c].peer != access.peer)
            continue;
          if (!all[c].ends)
            all[c].ends = access.ends;
          if (all[c].ends == access.ends)
            break;
        }
      }
  });
  for (auto &[type, all] : connections) {
    Ends ends = usual.count(type) ? usual.at(type) : Ends{'i', 'i'};
    for (Connection &c : all) {
      // What only signals takes after the rest of its channel.
      auto mate = std::find_if(all.begin(), all.end(), [&](const auto &other) {
        return other.entry == c.entry && other.ends;
      });
      if (oneEnds)
        c.ends = ends;
      else if (!c.ends)
        c.ends = mate == all.end() ? ends : *mate->ends;
    }
  }
}

/// The block's connection through which the operation can reach its buffer; one
/// is added where there is none.
int GpuWriter::connectionFor(const Access &access) {
  std::vector<Connection> &all = connections[op->channelType];
  std::vector<int> &here = has[{block, op->channelType}];
  auto fits = [&](int c) {
    return all[c].peer == access.peer &&
           all[c].ends->second == access.ends.second &&
           (!access.near || all[c].ends->first == access.ends.first);
  };
  // In memory the buffers matter alone; a port's thread keeps the order of what
  // goes through it.
  if (access.connection >= 0 && fits(access.connection))
    return access.connection;
  if (access.connection >= 0 && op->channelType == PlanChannelType::Port)
    refuse("a port channel is needed between several pairs of buffers");
  // Those of an operation are all between the same buffers.
  auto same = [&](int c) {
    return all[c].peer == access.peer && all[c].ends == access.ends;
  };
  auto found = std::find_if(here.begin(), here.end(), same);
  if (found != here.end())
    return *found;
  if (!oneEnds)
    throw Refused{""};
  all.push_back({access.peer, gpu.channels.size() + all.size(), access.ends});
  here.push_back(static_cast<int>(all.size()) - 1);
  return here.back();
}

/// Channels as the block numbers those between the same buffers.
json GpuWriter::cids(const std::vector<int> &list,
                     const std::vector<PlanBuffer> &buffers) const {
  const std::vector<Connection> &all = connections.at(op->channelType);
  const std::vector<int> &here = has.at({block, op->channelType});
  json result = json::array();
  for (size_t i = 0; i < list.size(); ++i) {
    if (all[list[i]].ends != all[list[0]].ends)
      refuse("expected channels between the same buffers, found others");
    int number = 0;
    for (int c : here) {
      if (c == list[i])
        break;
      number += all[c].ends == all[list[i]].ends;
    }
    int offset = buffers.empty() ? 0 : buffers[i].index;
    result.push_back({{"id", number}, {"off", offset}});
  }
  return result;
}

void GpuWriter::writeSwitch(json &out) const {
  if (op->sources.size() != 1 || op->targets.size() != 1)
    refuse("expected one source and one target");
  for (auto [buffer, ids, kind, offset] :
       {std::tuple(&op->sources[0], "i_cids", "srcbuff", "srcoff"),
        std::tuple(&op->targets[0], "o_cids", "dstbuff", "dstoff")}) {
    std::string name = "i";
    for (const PlanChannel &channel : gpu.channels)
      if (channel.type == PlanChannelType::Switch)
        name = text(channel.buffer);
    out[ids] = {{{"id", buffer->id}, {"off", buffer->index}}};
    out[kind] = name;
    out[offset] = buffer->index;
  }
}

json GpuWriter::writeOp() {
  json out;
  auto name = namesInLegacy().find(op->name);
  if (name == namesInLegacy().end())
    refuse("the format has no such operation");
  if (op->groupSize > 0)
    refuse("the format has no groups of thread blocks");
  if (!op->reduceOp.empty() && op->reduceOp != "sum")
    refuse("the format has only sums, found \"" + op->reduceOp + "\"");
  out["name"] = name->second;
  if (op->name == "nop")
    return out;
  if (op->name == "barrier") {
    out["barrier_id"] = op->barrier;
    out["nthread_blocks"] = op->barrierBlocks;
    return out;
  }
  out["ctype"] = typeName(op->channelType);
  const std::vector<PlanBuffer> &first =
      op->targets.empty() ? op->sources : op->targets;
  int size = first.empty() ? 1 : first[0].size;
  for (const auto *list : {&op->sources, &op->targets})
    for (const PlanBuffer &buffer : *list)
      if (buffer.size != size)
        refuse("expected buffers of one size, found others");
  if (synchronizes(*op)) {
    std::vector<int> list = named();
    if (list.empty())
      refuse("expected channels, found none");
    bool waits = op->name.ends_with("wait");
    out[waits ? "i_buff" : "o_buff"] =
        endsOf(*connections.at(op->channelType)[list[0]].ends);
    out[waits ? "i_cids" : "o_cids"] = cids(list, {});
    out["cnt"] = 1;
    return out;
  }
  if (op->name == "glres") {
    writeSwitch(out);
    out["cnt"] = size;
    return out;
  }
  for (bool sources : {true, false}) {
    const std::vector<PlanBuffer> &list = sources ? op->sources : op->targets;
    std::vector<PlanBuffer> far;
    json near = json::array();
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].where == PlanBuffer::Switch)
        refuse("expected no switch buffer, found one");
      if (list[i].where == PlanBuffer::Remote) {
        far.push_back(list[i]);
        continue;
      }
      // The first buffer has keys of its own, but where they go in pairs.
      if (i == 0 && !takesPairs(*op)) {
        out[sources ? "srcbuff" : "dstbuff"] = text(list[i].buffer);
        out[sources ? "srcoff" : "dstoff"] = list[i].index;
        continue;
      }
      if (!near.empty() && near[0]["buff"] != text(list[i].buffer))
        refuse("expected one kind of near buffers, found several");
      near.push_back({{"buff", text(list[i].buffer)}, {"off", list[i].index}});
    }
    if (!near.empty())
      out[sources ? "srcs" : "dsts"] = near;
    if (far.empty())
      continue;
    if (near.size() > 0)
      refuse("expected near or far buffers after the first, found both");
    std::vector<int> used;
    for (const Access &access : accesses(sources))
      used.push_back(connectionFor(access));
    out[sources ? "i_buff" : "o_buff"] =
        endsOf(*connections.at(op->channelType)[used[0]].ends);
    out[sources ? "i_cids" : "o_cids"] = cids(used, far);
  }
  out["cnt"] = size;
  return out;
}

json GpuWriter::writeBlockChannels() const {
  json list = json::array();
  for (PlanChannelType type :
       {PlanChannelType::Memory, PlanChannelType::Port}) {
    auto here = has.find({block, type});
    if (here == has.end())
      continue;
    const std::vector<Connection> &all = connections.at(type);
    std::optional<Ends> last;
    for (int c : here->second) {
      int number = 0;
      for (int before = 0; before < c; ++before)
        number += all[before].ends == all[c].ends;
      if (last != all[c].ends) {
        json item = endsOf(*all[c].ends);
        item["ctype"] = typeName(type);
        item["cids"] = json::array();
        list.push_back(std::move(item));
      }
      last = all[c].ends;
      list.back()["cids"].push_back(number);
    }
  }
  std::vector<int> switches =
      flatOf(gpu.blocks[block].channels, PlanChannelType::Switch);
  for (const PlanChannel &channel : gpu.channels)
    if (channel.type == PlanChannelType::Switch && !switches.empty()) {
      json item = endsOf({channel.buffer, channel.buffer});
      item["ctype"] = typeName(channel.type);
      item["cids"] = switches;
      list.push_back(std::move(item));
      break;
    }
  return list;
}

json GpuWriter::writeChannels() const {
  json list = json::array();
  auto add = [&](PlanChannelType type, const Connection &c, bool fresh) {
    json ends = endsOf(*c.ends);
    if (fresh || list.back()["srcbuff"] != ends["src"] ||
        list.back()["dstbuff"] != ends["dst"])
      list.push_back({{"srcbuff", ends["src"]},
                      {"dstbuff", ends["dst"]},
                      {"type", typeName(type)},
                      {"connectedTo", json::array()}});
    list.back()["connectedTo"].push_back(c.peer);
  };
  for (size_t entry = 0; entry < gpu.channels.size(); ++entry) {
    const PlanChannel &channel = gpu.channels[entry];
    if (channel.type == PlanChannelType::Switch) {
      json groups = json::array();
      for (const PlanChannel::Group &group : channel.groups)
        groups.push_back({{"size", group.size}, {"ranks", group.ranks}});
      list.push_back({{"buff", text(channel.buffer)},
                      {"type", typeName(channel.type)},
                      {"rankGroups", groups}});
      continue;
    }
    bool fresh = true;
    for (const Connection &c : connections.at(channel.type))
      if (c.entry == entry) {
        add(channel.type, c, fresh);
        fresh = false;
      }
  }
  for (const auto &[type, all] : connections)
    for (const Connection &c : all)
      if (c.entry >= gpu.channels.size())
        add(type, c, true);
  return list;
}

json GpuWriter::run() {
  if (!gpu.semaphores.empty())
    refuse("the format has no semaphores");
  std::optional<char> switched;
  for (size_t entry = 0; entry < gpu.channels.size(); ++entry) {
    const PlanChannel &channel = gpu.channels[entry];
    if (channel.type == PlanChannelType::Switch) {
      if (switched.value_or(channel.buffer) != channel.buffer)
        refuse("expected switch channels of one buffer, found several");
      switched = channel.buffer;
      continue;
    }
    std::vector<Connection> &all = connections[channel.type];
    for (int peer : channel.peers)
      all.push_back({peer, entry, {}});
  }
  for (size_t b = 0; b < gpu.blocks.size(); ++b)
    for (PlanChannelType type :
         {PlanChannelType::Memory, PlanChannelType::Port})
      for (int c : flatOf(gpu.blocks[b].channels, type)) {
        if (c >= static_cast<int>(connections[type].size()))
          refuse("channel " + std::to_string(c) + " does not exist");
        has[{static_cast<int>(b), type}].push_back(c);
      }
  giveEnds();
  std::vector<json> ops(gpu.blocks.size(), json::array());
  forEachOp([&] { ops[block].push_back(writeOp()); });
  json out;
  out["id"] = id;
  out["inputChunks"] = gpu.inputChunks;
  out["outputChunks"] = gpu.outputChunks;
  out["scratchChunks"] = gpu.scratchChunks;
  out["chunkGroups"] = 1;
  out["threadblocks"] = json::array();
  for (size_t b = 0; b < gpu.blocks.size(); ++b) {
    block = static_cast<int>(b);
    out["threadblocks"].push_back(
        {{"id", b}, {"ops", ops[b]}, {"channels", writeBlockChannels()}});
  }
  out["channels"] = writeChannels();
  return out;
}

} // namespace

Result<std::string> ccn::synth::writeLegacyPlan(const Plan &plan) {
  if (plan.reuseResources)
    return error("plans of version 0.6 cannot reuse resources");
  if (plan.bufferAlignment != Plan().bufferAlignment)
    return error("plans of version 0.6 align buffers to " +
                 std::to_string(Plan().bufferAlignment) + " bytes, found " +
                 std::to_string(plan.bufferAlignment));
  json out;
  out["name"] = plan.name;
  out["collective"] = planCollectiveName(plan.kind);
  out["protocol"] = plan.protocol;
  out["inplace"] = plan.inPlace;
  out["num_threads_per_block"] = plan.threadsPerBlock;
  if (plan.doubleScratch != (plan.protocol == "LL"))
    out["use_double_scratch_buffer"] = plan.doubleScratch;
  if (plan.minBytes != Plan().minBytes)
    out["min_message_size"] = plan.minBytes;
  if (plan.maxBytes != Plan().maxBytes)
    out["max_message_size"] = plan.maxBytes;
  out["gpus"] = json::array();
  for (size_t g = 0; g < plan.gpus.size(); ++g) {
    std::string why;
    const PlanGpu gpu = withOneKindEach(plan.gpus[g]);
    // Connections as they are, if that does.
    for (bool oneEnds : {false, true}) {
      why.clear();
      try {
        out["gpus"].push_back(
            GpuWriter(gpu, static_cast<int>(g), oneEnds).run());
        break;
      } catch (const Refused &refused) {
        why = "in the format of version 0.6: " + refused.why;
      }
    }
    if (!why.empty())
      return error(why);
  }
  std::string written = out.dump(1) + "\n";
  // More channels may be more than the executor has.
  Result<Plan> again = parsePlan(written, plan.name);
  if (!again)
    return again.status();
  if (checkPlan(plan).empty())
    if (std::string wrong = checkPlan(*again); !wrong.empty())
      return error("in the format of version 0.6: " + wrong);
  return written;
}
