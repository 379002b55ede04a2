//===- Plan.cpp - Reading and writing MSCCL++ execution plans -------------===//
//
// See Plan.h; plans of versions up to 0.6 are read in PlanLegacy.cpp and
// written in PlanLegacyWrite.cpp, the checker is in PlanCheck.cpp, the export
// of schedules in PlanExport.cpp.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/PlanJson.h"

#include <algorithm>
#include <array>

using namespace ccn;
using namespace ccn::synth;
using json = nlohmann::ordered_json;

static constexpr std::array<std::string_view, 4> typeNames = {"none", "memory",
                                                              "port", "switch"};
static constexpr std::array<std::string_view, 31> opNames = {
    "nop",   "barrier",   "put",     "pws",      "pwsf",        "get",
    "copy",  "signal",    "wait",    "flush",    "re",          "res",
    "rre",   "rres",      "ppkt",    "rppkt",    "respkt",      "cpkt",
    "upkt",  "repkt",     "recpkt",  "recspkt",  "gstore",      "gstorepkt",
    "glres", "rlxsignal", "rlxwait", "pipeline", "sem_acquire", "sem_release"};

PlanChannelType ccn::synth::planChannelType(const JsonAt &at) {
  std::string text = at.string();
  for (size_t i = 0; i < typeNames.size(); ++i)
    if (text == typeNames[i])
      return static_cast<PlanChannelType>(i);
  at.fail("expected \"memory\", \"port\", \"switch\" or \"none\", found \"" +
          text + "\"");
}

char ccn::synth::planBufferName(const JsonAt &at) {
  std::string text = at.string();
  if (text != "i" && text != "o" && text != "s")
    at.fail("expected \"i\", \"o\" or \"s\", found \"" + text + "\"");
  return text[0];
}

std::vector<int> ccn::synth::planIntegers(const JsonAt &at, int64_t hi) {
  std::vector<int> result;
  for (size_t i = 0, e = at.arraySize(); i < e; ++i)
    result.push_back(static_cast<int>(at.at(i).integer(0, hi)));
  return result;
}

CollectiveKind ccn::synth::planCollective(const JsonAt &at) {
  std::string text = at.string();
  std::optional<CollectiveKind> kind = parseCollectiveKind(text);
  if (!kind ||
      (*kind != CollectiveKind::AllGather &&
       *kind != CollectiveKind::ReduceScatter &&
       *kind != CollectiveKind::AllReduce && *kind != CollectiveKind::AllToAll))
    at.fail("expected allgather, reducescatter, allreduce or alltoall, found "
            "\"" +
            text + "\"");
  return *kind;
}

uint64_t ccn::synth::planBytes(const JsonAt &at) {
  if (!at.json().is_number_unsigned())
    at.fail("expected a number of bytes, found " + shortJson(at.json()));
  return at.json().get<uint64_t>();
}

std::string ccn::synth::planCollectiveName(CollectiveKind kind) {
  std::string name(kindName(kind));
  std::erase(name, '_');
  return name;
}

namespace {

PlanBuffer readBuffer(const JsonAt &at, int rank) {
  at.onlyKeys(
      {"type", "buffer_id", "switch_channel_id", "index", "size", "rank"});
  PlanBuffer buffer;
  // What MSCCL++'s language says of a rank's own chunks.
  if (at.has("rank"))
    at.at("rank").integer(rank, rank);
  if (at.has("buffer_id")) {
    buffer.where = PlanBuffer::Remote;
    buffer.id = static_cast<int>(at.at("buffer_id").integer(0, planMany));
  } else if (at.has("switch_channel_id")) {
    buffer.where = PlanBuffer::Switch;
    buffer.id =
        static_cast<int>(at.at("switch_channel_id").integer(0, planMany));
  } else {
    buffer.buffer = planBufferName(at.at("type"));
  }
  buffer.index = static_cast<int>(at.at("index").integer(0, planMany));
  buffer.size = static_cast<int>(at.at("size").integer(1, planMany));
  return buffer;
}

PlanOp readOp(const JsonAt &at, int rank, bool nested) {
  at.onlyKeys({"name", "channel_type", "channel_ids", "src_buff", "dst_buff",
               "reduce_op", "tbg_info", "barrier_id", "num_threadblocks",
               "semaphore_ids", "iter_context", "ops", "deps"});
  PlanOp op;
  op.name = at.at("name").string();
  if (std::find(opNames.begin(), opNames.end(), op.name) == opNames.end())
    at.at("name").fail("expected the name of an operation, found \"" + op.name +
                       "\"");
  if (at.has("channel_type"))
    op.channelType = planChannelType(at.at("channel_type"));
  if (at.has("channel_ids"))
    op.channels = planIntegers(at.at("channel_ids"), planMany);
  for (auto [key, list] :
       {std::pair("src_buff", &op.sources), std::pair("dst_buff", &op.targets)})
    if (at.has(key))
      for (size_t i = 0, e = at.at(key).arraySize(); i < e; ++i)
        list->push_back(readBuffer(at.at(key).at(i), rank));
  if (at.has("reduce_op")) {
    op.reduceOp = at.at("reduce_op").string();
    if (op.reduceOp != "sum" && op.reduceOp != "min")
      at.at("reduce_op")
          .fail("expected \"sum\" or \"min\", found \"" + op.reduceOp + "\"");
  }
  if (at.has("tbg_info")) {
    JsonAt info = at.at("tbg_info");
    info.onlyKeys({"tb_id", "tbg_size"});
    op.groupSize = static_cast<int>(info.at("tbg_size").integer(1, 1024));
    op.groupIndex =
        static_cast<int>(info.at("tb_id").integer(0, op.groupSize - 1));
  }
  if (op.name == "barrier") {
    op.barrier = static_cast<int>(at.at("barrier_id").integer(0, planMany));
    op.barrierBlocks =
        static_cast<int>(at.at("num_threadblocks").integer(1, planMany));
  }
  if (op.name == "sem_acquire" || op.name == "sem_release")
    op.semaphores = planIntegers(at.at("semaphore_ids"), planMany);
  if (op.name == "pipeline") {
    if (nested)
      at.fail("expected no pipeline within a pipeline, found one");
    JsonAt context = at.at("iter_context");
    context.onlyKeys({"unit_size", "num_chunks"});
    op.unitBytes = context.at("unit_size").integer(1, INT64_MAX);
    op.pipelineChunks =
        static_cast<int>(context.at("num_chunks").integer(1, planMany));
    JsonAt ops = at.at("ops");
    for (size_t i = 0, e = ops.arraySize(); i < e; ++i)
      op.ops.push_back(readOp(ops.at(i), rank, true));
  }
  return op;
}

std::vector<PlanRefs> readRefs(const JsonAt &at, const char *type,
                               const char *ids) {
  std::vector<PlanRefs> result;
  for (size_t i = 0, e = at.arraySize(); i < e; ++i) {
    JsonAt item = at.at(i);
    item.onlyKeys({type, ids, "buff"});
    result.push_back(
        {planChannelType(item.at(type)), planIntegers(item.at(ids), planMany)});
  }
  return result;
}

/// Some versions say "type" and "buff" for "channel_type" and "buffer_type".
PlanChannel readChannel(const JsonAt &at, int ranks) {
  PlanChannel channel;
  channel.type =
      planChannelType(at.at(at.has("type") ? "type" : "channel_type"));
  if (channel.type != PlanChannelType::Switch) {
    at.onlyKeys({"type", "channel_type", "connected_to"});
    channel.peers = planIntegers(at.at("connected_to"), ranks - 1);
    return channel;
  }
  at.onlyKeys({"type", "channel_type", "buff", "buffer_type", "rank_groups"});
  channel.buffer =
      planBufferName(at.at(at.has("buff") ? "buff" : "buffer_type"));
  JsonAt groups = at.at("rank_groups");
  for (size_t i = 0, e = groups.arraySize(); i < e; ++i) {
    JsonAt group = groups.at(i);
    group.onlyKeys({"size", "ranks"});
    channel.groups.push_back(
        {static_cast<int>(group.at("size").integer(1, planMany)),
         planIntegers(group.at("ranks"), ranks - 1)});
  }
  return channel;
}

PlanGpu readGpu(const JsonAt &at, int rank, int ranks) {
  at.onlyKeys({"id", "input_chunks", "output_chunks", "scratch_chunks",
               "threadblocks", "channels", "remote_buffers", "semaphores"});
  PlanGpu gpu;
  gpu.inputChunks = static_cast<int>(at.at("input_chunks").integer(0, 1 << 20));
  gpu.outputChunks =
      static_cast<int>(at.at("output_chunks").integer(0, 1 << 20));
  gpu.scratchChunks =
      static_cast<int>(at.at("scratch_chunks").integer(0, 1 << 20));
  JsonAt channels = at.at("channels");
  for (size_t i = 0, e = channels.arraySize(); i < e; ++i)
    gpu.channels.push_back(readChannel(channels.at(i), ranks));
  JsonAt remote = at.at("remote_buffers");
  for (size_t i = 0, e = remote.arraySize(); i < e; ++i) {
    JsonAt item = remote.at(i);
    item.onlyKeys({"rank", "type", "access_channel_types"});
    PlanRemoteBuffer buffer;
    buffer.rank = static_cast<int>(item.at("rank").integer(0, ranks - 1));
    buffer.buffer = planBufferName(item.at("type"));
    JsonAt access = item.at("access_channel_types");
    for (size_t k = 0, f = access.arraySize(); k < f; ++k)
      buffer.access.push_back(planChannelType(access.at(k)));
    gpu.remoteBuffers.push_back(std::move(buffer));
  }
  if (at.has("semaphores"))
    for (size_t i = 0, e = at.at("semaphores").arraySize(); i < e; ++i)
      gpu.semaphores.push_back(static_cast<int>(
          at.at("semaphores").at(i).at("init_value").integer(0, planMany)));
  JsonAt blocks = at.at("threadblocks");
  for (size_t b = 0, e = blocks.arraySize(); b < e; ++b) {
    JsonAt item = blocks.at(b);
    item.onlyKeys({"id", "ops", "channels", "remote_buffer_refs"});
    item.at("id").integer(b, b);
    PlanBlock block;
    block.channels =
        readRefs(item.at("channels"), "channel_type", "channel_ids");
    if (item.has("remote_buffer_refs"))
      block.remoteBuffers =
          readRefs(item.at("remote_buffer_refs"), "access_channel_type",
                   "remote_buffer_ids");
    JsonAt ops = item.at("ops");
    for (size_t i = 0, f = ops.arraySize(); i < f; ++i)
      block.ops.push_back(readOp(ops.at(i), rank, false));
    gpu.blocks.push_back(std::move(block));
  }
  return gpu;
}

Plan readPlan(const JsonAt &root) {
  root.onlyKeys({"name", "collective", "protocol", "inplace", "reuse_resources",
                 "num_threads_per_block", "use_double_scratch_buffer",
                 "buffer_alignment", "min_message_size", "max_message_size",
                 "gpus"});
  Plan plan;
  plan.name = root.at("name").string();
  plan.kind = planCollective(root.at("collective"));
  plan.protocol = root.at("protocol").string();
  plan.inPlace = root.at("inplace").boolean();
  if (root.has("reuse_resources"))
    plan.reuseResources = root.at("reuse_resources").boolean();
  if (root.has("num_threads_per_block"))
    plan.threadsPerBlock =
        static_cast<int>(root.at("num_threads_per_block").integer(1, 1024));
  if (root.has("use_double_scratch_buffer"))
    plan.doubleScratch = root.at("use_double_scratch_buffer").boolean();
  if (root.has("buffer_alignment"))
    plan.bufferAlignment =
        static_cast<int>(root.at("buffer_alignment").integer(1, planMany));
  if (root.has("min_message_size"))
    plan.minBytes = planBytes(root.at("min_message_size"));
  if (root.has("max_message_size"))
    plan.maxBytes = planBytes(root.at("max_message_size"));
  JsonAt gpus = root.at("gpus");
  int ranks = static_cast<int>(gpus.arraySize());
  for (int g = 0; g < ranks; ++g) {
    gpus.at(g).at("id").integer(g, g);
    plan.gpus.push_back(readGpu(gpus.at(g), g, ranks));
  }
  return plan;
}

json writeBuffers(const std::vector<PlanBuffer> &buffers) {
  json list = json::array();
  for (const PlanBuffer &b : buffers) {
    json item;
    if (b.where == PlanBuffer::Local)
      item["type"] = std::string(1, b.buffer);
    else
      item[b.where == PlanBuffer::Remote ? "buffer_id" : "switch_channel_id"] =
          b.id;
    item["index"] = b.index;
    item["size"] = b.size;
    list.push_back(std::move(item));
  }
  return list;
}

json writeOp(const PlanOp &op) {
  json out;
  out["name"] = op.name;
  if (op.name == "pipeline") {
    out["iter_context"] = {{"unit_size", op.unitBytes},
                           {"num_chunks", op.pipelineChunks}};
    out["ops"] = json::array();
    for (const PlanOp &inner : op.ops)
      out["ops"].push_back(writeOp(inner));
  }
  if (op.name == "barrier") {
    out["barrier_id"] = op.barrier;
    out["num_threadblocks"] = op.barrierBlocks;
  }
  if (!op.semaphores.empty())
    out["semaphore_ids"] = op.semaphores;
  if (!op.sources.empty())
    out["src_buff"] = writeBuffers(op.sources);
  if (!op.targets.empty())
    out["dst_buff"] = writeBuffers(op.targets);
  if (!op.channels.empty())
    out["channel_ids"] = op.channels;
  if (op.channelType != PlanChannelType::None)
    out["channel_type"] = typeNames[static_cast<size_t>(op.channelType)];
  if (!op.reduceOp.empty())
    out["reduce_op"] = op.reduceOp;
  if (op.groupSize > 0)
    out["tbg_info"] = {{"tb_id", op.groupIndex}, {"tbg_size", op.groupSize}};
  return out;
}

json writeRefs(const std::vector<PlanRefs> &refs, const char *type,
               const char *ids) {
  json list = json::array();
  for (const PlanRefs &r : refs)
    list.push_back(
        {{type, typeNames[static_cast<size_t>(r.type)]}, {ids, r.ids}});
  return list;
}

json writeGpu(const PlanGpu &gpu, size_t id) {
  json out;
  out["id"] = id;
  out["input_chunks"] = gpu.inputChunks;
  out["output_chunks"] = gpu.outputChunks;
  out["scratch_chunks"] = gpu.scratchChunks;
  out["threadblocks"] = json::array();
  for (size_t b = 0; b < gpu.blocks.size(); ++b) {
    const PlanBlock &block = gpu.blocks[b];
    json item;
    item["id"] = b;
    item["ops"] = json::array();
    for (const PlanOp &op : block.ops)
      item["ops"].push_back(writeOp(op));
    item["channels"] = writeRefs(block.channels, "channel_type", "channel_ids");
    item["remote_buffer_refs"] = writeRefs(
        block.remoteBuffers, "access_channel_type", "remote_buffer_ids");
    out["threadblocks"].push_back(std::move(item));
  }
  out["channels"] = json::array();
  for (const PlanChannel &channel : gpu.channels) {
    json item;
    item["channel_type"] = typeNames[static_cast<size_t>(channel.type)];
    if (channel.type != PlanChannelType::Switch) {
      item["connected_to"] = channel.peers;
    } else {
      item["buffer_type"] = std::string(1, channel.buffer);
      item["rank_groups"] = json::array();
      for (const PlanChannel::Group &group : channel.groups)
        item["rank_groups"].push_back(
            {{"size", group.size}, {"ranks", group.ranks}});
    }
    out["channels"].push_back(std::move(item));
  }
  out["remote_buffers"] = json::array();
  for (const PlanRemoteBuffer &buffer : gpu.remoteBuffers) {
    json access = json::array();
    for (PlanChannelType type : buffer.access)
      access.push_back(typeNames[static_cast<size_t>(type)]);
    out["remote_buffers"].push_back({{"rank", buffer.rank},
                                     {"type", std::string(1, buffer.buffer)},
                                     {"access_channel_types", access}});
  }
  out["semaphores"] = json::array();
  for (int value : gpu.semaphores)
    out["semaphores"].push_back({{"init_value", value}});
  return out;
}

} // namespace

Result<Plan> ccn::synth::parsePlan(std::string_view text,
                                   std::string_view where) {
  try {
    nlohmann::json document = parseJson(text, where);
    JsonAt root(document, std::string(where), "");
    if (root.at("gpus").arraySize() == 0)
      root.at("gpus").fail("expected at least one gpu, found none");
    return root.at("gpus").at(size_t(0)).has("inputChunks")
               ? readLegacyPlan(root)
               : readPlan(root);
  } catch (const JsonError &e) {
    return error(e.what());
  }
}

std::string ccn::synth::writePlan(const Plan &plan) {
  json out;
  out["name"] = plan.name;
  out["collective"] = planCollectiveName(plan.kind);
  out["protocol"] = plan.protocol;
  out["inplace"] = plan.inPlace;
  out["reuse_resources"] = plan.reuseResources;
  out["gpus"] = json::array();
  for (size_t g = 0; g < plan.gpus.size(); ++g)
    out["gpus"].push_back(writeGpu(plan.gpus[g], g));
  out["num_threads_per_block"] = plan.threadsPerBlock;
  out["use_double_scratch_buffer"] = plan.doubleScratch;
  out["buffer_alignment"] = plan.bufferAlignment;
  out["min_message_size"] = plan.minBytes;
  out["max_message_size"] = plan.maxBytes;
  return out.dump(1) + "\n";
}

bool ccn::synth::isPlan(std::string_view text) {
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  return document.is_object() && document.contains("gpus");
}
