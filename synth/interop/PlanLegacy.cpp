//===- PlanLegacy.cpp - MSCCL++ plans of versions up to 0.6 ---------------===//
//
// The older format names channels by the buffers at their two ends, and buffers
// at the far end by the channel. Channels of a type keep their order, which is
// what pairs the two ends in both formats; far buffers become remote buffers.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/PlanJson.h"

#include <algorithm>
#include <map>

using namespace ccn::synth;

const std::map<std::string, std::string> &ccn::synth::legacyPlanNames() {
  // The older executor's "cpkt" unpacks packets; "tpkt" makes them.
  static const std::map<std::string, std::string> names = {
      {"nop", "nop"},      {"barrier", "barrier"}, {"put", "put"},
      {"pws", "pws"},      {"pwsf", "pwsf"},       {"get", "get"},
      {"copy", "copy"},    {"signal", "signal"},   {"wait", "wait"},
      {"flush", "flush"},  {"re", "re"},           {"rs", "res"},
      {"rrc", "rre"},      {"rrcs", "rres"},       {"ppkt", "ppkt"},
      {"rspkt", "respkt"}, {"cpkt", "upkt"},       {"tpkt", "cpkt"},
      {"rpkt", "repkt"},   {"glres", "glres"},
  };
  return names;
}

namespace {

/// The buffers at the two ends, and the type.
using Key = std::tuple<char, char, PlanChannelType>;

PlanChannelType legacyType(const JsonAt &at) {
  std::string text = at.string();
  if (text == "sm")
    return PlanChannelType::Memory;
  if (text == "proxy")
    return PlanChannelType::Port;
  if (text == "nvls")
    return PlanChannelType::Switch;
  if (text == "none")
    return PlanChannelType::None;
  at.fail("expected \"sm\", \"proxy\", \"nvls\" or \"none\", found \"" + text +
          "\"");
}

class GpuReader {
public:
  GpuReader(const JsonAt &at, int ranks) : at(at), ranks(ranks) {}
  PlanGpu run();

private:
  void readChannels();
  PlanBlock readBlock(const JsonAt &block);
  PlanOp readOp(const JsonAt &op, PlanBlock &block);
  Key keyOf(const JsonAt &ends, PlanChannelType type) const {
    return {planBufferName(ends.at("src")), planBufferName(ends.at("dst")),
            type};
  }
  PlanBuffer farBuffer(const JsonAt &item, const Key &key, int count,
                       PlanBlock &block);
  int channelOf(const JsonAt &item, const Key &key) const;

  const JsonAt &at;
  int ranks;
  PlanGpu gpu;
  /// Index among the gpu's channels of the type, for each channel of a key.
  std::map<Key, std::vector<int>> channelsOf;
  std::map<PlanChannelType, std::vector<int>> peers;
  /// The same within the block that is being read.
  std::map<Key, std::vector<int>> blockChannels;
  std::map<PlanChannelType, std::vector<int>> blockFlat;
};

void GpuReader::readChannels() {
  JsonAt channels = at.at("channels");
  for (size_t i = 0, e = channels.arraySize(); i < e; ++i) {
    JsonAt item = channels.at(i);
    PlanChannel channel;
    channel.type = legacyType(item.at("type"));
    if (channel.type == PlanChannelType::Switch) {
      item.onlyKeys({"buff", "type", "rankGroups"});
      channel.buffer = planBufferName(item.at("buff"));
      JsonAt groups = item.at("rankGroups");
      for (size_t k = 0, f = groups.arraySize(); k < f; ++k)
        channel.groups.push_back(
            {static_cast<int>(groups.at(k).at("size").integer(1, planMany)),
             planIntegers(groups.at(k).at("ranks"), ranks - 1)});
    } else {
      item.onlyKeys({"srcbuff", "dstbuff", "type", "connectedTo"});
      channel.peers = planIntegers(item.at("connectedTo"), ranks - 1);
      Key key{planBufferName(item.at("srcbuff")),
              planBufferName(item.at("dstbuff")), channel.type};
      for (int peer : channel.peers) {
        channelsOf[key].push_back(static_cast<int>(peers[channel.type].size()));
        peers[channel.type].push_back(peer);
      }
    }
    gpu.channels.push_back(std::move(channel));
  }
}

/// The block's channel, as an index among its channels of the type.
int GpuReader::channelOf(const JsonAt &item, const Key &key) const {
  auto it = blockChannels.find(key);
  int64_t count =
      it == blockChannels.end() ? 0 : static_cast<int64_t>(it->second.size());
  if (count == 0)
    item.fail("the thread block has no channel between these buffers");
  return it->second[item.at("id").integer(0, count - 1)];
}

/// What is at the far end of a channel, as a remote buffer of the block.
PlanBuffer GpuReader::farBuffer(const JsonAt &item, const Key &key, int count,
                                PlanBlock &block) {
  PlanChannelType type = std::get<2>(key);
  int peer = peers[type][blockFlat[type][channelOf(item, key)]];
  char far = std::get<1>(key);
  auto same = [&](const PlanRemoteBuffer &b) {
    return b.rank == peer && b.buffer == far && b.access[0] == type;
  };
  auto remote =
      std::find_if(gpu.remoteBuffers.begin(), gpu.remoteBuffers.end(), same);
  int id = static_cast<int>(remote - gpu.remoteBuffers.begin());
  if (remote == gpu.remoteBuffers.end())
    gpu.remoteBuffers.push_back({peer, far, {type}});
  auto refs =
      std::find_if(block.remoteBuffers.begin(), block.remoteBuffers.end(),
                   [&](const PlanRefs &r) { return r.type == type; });
  if (refs == block.remoteBuffers.end())
    refs = block.remoteBuffers.insert(refs, PlanRefs{type, {}});
  auto ref = std::find(refs->ids.begin(), refs->ids.end(), id);
  PlanBuffer buffer;
  buffer.where = PlanBuffer::Remote;
  buffer.id = static_cast<int>(ref - refs->ids.begin());
  if (ref == refs->ids.end())
    refs->ids.push_back(id);
  buffer.index = static_cast<int>(item.at("off").integer(0, planMany));
  buffer.size = count;
  return buffer;
}

PlanOp GpuReader::readOp(const JsonAt &op, PlanBlock &block) {
  op.onlyKeys({"name", "i_buff", "i_cids", "o_buff", "o_cids", "src", "srcs",
               "srcbuff", "srcoff", "dst", "dsts", "dstbuff", "dstoff", "ctype",
               "cnt", "deps", "barrier_id", "nthread_blocks"});
  std::string name = op.at("name").string();
  auto known = legacyPlanNames().find(name);
  if (known == legacyPlanNames().end())
    op.at("name").fail("expected the name of an operation, found \"" + name +
                       "\"");
  PlanOp out;
  out.name = known->second;
  if (out.name == "nop")
    return out;
  if (out.name == "barrier") {
    out.barrier = static_cast<int>(op.at("barrier_id").integer(0, planMany));
    out.barrierBlocks =
        static_cast<int>(op.at("nthread_blocks").integer(1, planMany));
    return out;
  }
  PlanChannelType type = legacyType(op.at("ctype"));
  out.channelType = type;
  int count = static_cast<int>(op.at("cnt").integer(1, planMany));
  auto local = [&](const JsonAt &buffer, const JsonAt &offset) {
    PlanBuffer result;
    result.buffer = planBufferName(buffer);
    result.index = static_cast<int>(offset.integer(0, planMany));
    result.size = count;
    return result;
  };
  if (out.name == "glres") {
    for (auto [ids, off, list] :
         {std::tuple("i_cids", "srcoff", &out.sources),
          std::tuple("o_cids", "dstoff", &out.targets)}) {
      PlanBuffer buffer;
      buffer.where = PlanBuffer::Switch;
      buffer.id =
          static_cast<int>(op.at(ids).at(size_t(0)).at("id").integer(0, 15));
      buffer.index = static_cast<int>(op.at(off).integer(0, planMany));
      buffer.size = count;
      list->push_back(buffer);
    }
    return out;
  }
  bool sync = out.name == "signal" || out.name == "wait" || out.name == "flush";
  // A far buffer for each channel; synchronization names the channels alone.
  auto far = [&](const char *ids, const char *ends,
                 std::vector<PlanBuffer> &list) {
    if (!op.has(ids))
      return;
    Key key = keyOf(op.at(ends), type);
    for (size_t i = 0, e = op.at(ids).arraySize(); i < e; ++i) {
      JsonAt item = op.at(ids).at(i);
      out.channels.push_back(channelOf(item, key));
      if (!sync)
        list.push_back(farBuffer(item, key, count, block));
    }
  };
  auto near = [&](const char *key, std::vector<PlanBuffer> &list) {
    if (op.has(key))
      for (size_t i = 0, e = op.at(key).arraySize(); i < e; ++i) {
        JsonAt item = op.at(key).at(i);
        list.push_back(local(item.at("buff"), item.at("off")));
      }
  };
  if (!sync && op.has("srcbuff"))
    out.sources.push_back(local(op.at("srcbuff"), op.at("srcoff")));
  near("srcs", out.sources);
  far("i_cids", "i_buff", out.sources);
  if (!sync && op.has("dstbuff"))
    out.targets.push_back(local(op.at("dstbuff"), op.at("dstoff")));
  near("dsts", out.targets);
  far("o_cids", "o_buff", out.targets);
  // Only these name channels in the newer format.
  if (!sync && out.name != "put" && out.name != "pws" && out.name != "pwsf" &&
      out.name != "get")
    out.channels.clear();
  // The newer executor takes a source for each target.
  bool spreads = out.name == "put" || out.name == "ppkt" || out.name == "pws" ||
                 out.name == "pwsf";
  if (spreads && out.sources.size() == 1)
    out.sources.resize(out.targets.size(), out.sources[0]);
  return out;
}

PlanBlock GpuReader::readBlock(const JsonAt &at) {
  at.onlyKeys({"id", "ops", "channels"});
  PlanBlock block;
  blockChannels.clear();
  blockFlat.clear();
  JsonAt channels = at.at("channels");
  for (size_t i = 0, e = channels.arraySize(); i < e; ++i) {
    JsonAt item = channels.at(i);
    item.onlyKeys({"src", "dst", "ctype", "cids"});
    PlanChannelType type = legacyType(item.at("ctype"));
    PlanRefs refs{type, {}};
    if (type == PlanChannelType::Switch) {
      refs.ids = planIntegers(item.at("cids"), planMany);
    } else {
      Key key = keyOf(item, type);
      const std::vector<int> &all = channelsOf[key];
      if (all.empty())
        item.fail("the gpu has no channel between these buffers");
      for (int id : planIntegers(item.at("cids"),
                                 static_cast<int64_t>(all.size()) - 1)) {
        blockChannels[key].push_back(static_cast<int>(blockFlat[type].size()));
        blockFlat[type].push_back(all[id]);
        refs.ids.push_back(all[id]);
      }
    }
    auto same = std::find_if(block.channels.begin(), block.channels.end(),
                             [&](const PlanRefs &r) { return r.type == type; });
    if (same == block.channels.end())
      block.channels.push_back(std::move(refs));
    else
      same->ids.insert(same->ids.end(), refs.ids.begin(), refs.ids.end());
  }
  JsonAt ops = at.at("ops");
  for (size_t i = 0, e = ops.arraySize(); i < e; ++i)
    block.ops.push_back(readOp(ops.at(i), block));
  return block;
}

PlanGpu GpuReader::run() {
  at.onlyKeys({"id", "inputChunks", "outputChunks", "scratchChunks",
               "chunkGroups", "threadblocks", "channels"});
  gpu.inputChunks = static_cast<int>(at.at("inputChunks").integer(0, 1 << 20));
  gpu.outputChunks =
      static_cast<int>(at.at("outputChunks").integer(0, 1 << 20));
  gpu.scratchChunks =
      static_cast<int>(at.at("scratchChunks").integer(0, 1 << 20));
  readChannels();
  JsonAt blocks = at.at("threadblocks");
  for (size_t b = 0, e = blocks.arraySize(); b < e; ++b) {
    blocks.at(b).at("id").integer(b, b);
    gpu.blocks.push_back(readBlock(blocks.at(b)));
  }
  return gpu;
}

} // namespace

Plan ccn::synth::readLegacyPlan(const JsonAt &root) {
  // Some versions misspell the key.
  root.onlyKeys({"name", "collective", "colletive", "protocol", "inplace",
                 "num_threads_per_block", "use_double_scratch_buffer",
                 "min_message_size", "max_message_size", "gpus"});
  Plan plan;
  plan.name = root.at("name").string();
  plan.kind = planCollective(
      root.at(root.has("colletive") ? "colletive" : "collective"));
  plan.protocol = root.at("protocol").string();
  if (root.has("inplace"))
    plan.inPlace = root.at("inplace").boolean();
  if (root.has("num_threads_per_block"))
    plan.threadsPerBlock =
        static_cast<int>(root.at("num_threads_per_block").integer(1, 1024));
  plan.doubleScratch = plan.protocol == "LL";
  if (root.has("use_double_scratch_buffer"))
    plan.doubleScratch = root.at("use_double_scratch_buffer").boolean();
  if (root.has("min_message_size"))
    plan.minBytes = planBytes(root.at("min_message_size"));
  if (root.has("max_message_size"))
    plan.maxBytes = planBytes(root.at("max_message_size"));
  JsonAt gpus = root.at("gpus");
  int ranks = static_cast<int>(gpus.arraySize());
  for (int g = 0; g < ranks; ++g) {
    JsonAt gpu = gpus.at(g);
    gpu.at("id").integer(g, g);
    plan.gpus.push_back(GpuReader(gpu, ranks).run());
  }
  return plan;
}
