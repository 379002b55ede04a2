//===- Msccl.cpp - Reading and writing MSCCL XML --------------------------===//
//
// See Msccl.h; the checker is in MscclCheck.cpp, the export of schedules in
// MscclExport.cpp.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/Msccl.h"
#include "synth/interop/Xml.h"

#include <algorithm>
#include <sstream>

using namespace ccn;
using namespace ccn::synth;

namespace {

class Reader : public XmlReader {
public:
  using XmlReader::XmlReader;
  MscclProgram run();

private:
  char buffer(pugi::xml_node node, const char *name) const {
    std::string value = attribute(node, name);
    if (value != "i" && value != "o" && value != "s")
      fail(node.offset_debug(), std::string("<step ") + name +
                                    ">: expected \"i\", \"o\" or \"s\", found "
                                    "\"" +
                                    value + "\"");
    return value[0];
  }
  MscclStep step(pugi::xml_node node, size_t index);
  void only(pugi::xml_node node,
            std::initializer_list<std::string_view> attributes,
            std::string_view element);

  MscclProgram program;
};

/// Refuses all children of a node except elements of one name (and <copy>), and
/// adds a note for each attribute that is not `known`.
void Reader::only(pugi::xml_node node,
                  std::initializer_list<std::string_view> attributes,
                  std::string_view element) {
  std::string name = std::string("<") + node.name() + ">";
  for (pugi::xml_attribute a : node.attributes())
    if (std::find(attributes.begin(), attributes.end(), a.name()) ==
        attributes.end())
      program.notes.push_back(
          at(node.offset_debug(), name + ": the attribute \"" + a.name() +
                                      "\" is not known and left out"));
  for (pugi::xml_node child : node.children())
    if (child.type() != pugi::node_element)
      fail(beginOf(child), name + ": expected elements, found text");
    else if (child.name() != element &&
             std::string_view(child.name()) != "copy")
      fail(child.offset_debug(),
           name + ": expected " +
               (element.empty() ? "nothing in it"
                                : "<" + std::string(element) + ">") +
               ", found <" + child.name() + ">");
}

MscclStep Reader::step(pugi::xml_node node, size_t index) {
  only(node,
       {"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid",
        "deps", "hasdep"},
       "");
  static const char *types[] = {"s",    "r",   "rcs", "rrs", "rrc",
                                "rrcs", "cpy", "re",  "nop"};
  constexpr int many = 1 << 24;
  if (number(node, "s", 0, many) != static_cast<int64_t>(index))
    fail(node.offset_debug(), "<step>: expected s=\"" + std::to_string(index) +
                                  "\", found \"" + attribute(node, "s") + "\"");
  MscclStep step;
  step.type = attribute(node, "type");
  if (std::find(std::begin(types), std::end(types), step.type) ==
      std::end(types))
    fail(node.offset_debug(),
         "<step>: expected a type among s, r, rcs, rrs, rrc, rrcs, cpy, re and "
         "nop, found \"" +
             step.type + "\"");
  step.srcBuffer = buffer(node, "srcbuf");
  step.dstBuffer = buffer(node, "dstbuf");
  step.srcOffset = static_cast<int>(number(node, "srcoff", -1, many));
  step.dstOffset = static_cast<int>(number(node, "dstoff", -1, many));
  step.count = static_cast<int>(number(node, "cnt", 0, many));
  step.dependBlock = static_cast<int>(number(node, "depid", -1, many));
  step.dependStep = static_cast<int>(number(node, "deps", -1, many));
  step.hasDependents = number(node, "hasdep", 0, 1) != 0;
  return step;
}

MscclProgram Reader::run() {
  pugi::xml_node algo = root("algo");
  only(algo,
       {"name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll",
        "inplace", "outofplace", "minBytes", "maxBytes", "redop"},
       "gpu");
  program.name = attribute(algo, "name");
  program.protocol = attribute(algo, "proto");
  program.channels = static_cast<int>(number(algo, "nchannels", 1, 1024));
  program.chunksPerLoop =
      static_cast<int>(number(algo, "nchunksperloop", 1, 1 << 24));
  std::string coll = attribute(algo, "coll");
  std::optional<CollectiveKind> kind = parseCollectiveKind(coll);
  if (!kind ||
      (*kind != CollectiveKind::AllGather &&
       *kind != CollectiveKind::ReduceScatter &&
       *kind != CollectiveKind::AllReduce && *kind != CollectiveKind::AllToAll))
    fail(algo.offset_debug(),
         "<algo coll>: expected allgather, reducescatter, reduce_scatter, "
         "allreduce or alltoall, found \"" +
             coll + "\"");
  program.kind = *kind;
  program.inPlace = number(algo, "inplace", 0, 1) != 0;
  program.outOfPlace = algo.attribute("outofplace")
                           ? number(algo, "outofplace", 0, 1) != 0
                           : !program.inPlace;
  if (algo.attribute("minBytes"))
    program.minBytes = number(algo, "minBytes", 0, INT64_MAX);
  if (algo.attribute("maxBytes"))
    program.maxBytes = number(algo, "maxBytes", 0, INT64_MAX);
  int64_t count = number(algo, "ngpus", 1, 4096);
  std::vector<char> seen(count);
  program.gpus.resize(count);
  for (pugi::xml_node node : algo.children("gpu")) {
    int64_t id = number(node, "id", 0, count - 1);
    if (seen[id])
      fail(node.offset_debug(), "<gpu>: expected distinct ids, found " +
                                    std::to_string(id) + " twice");
    seen[id] = 1;
    only(node, {"id", "i_chunks", "o_chunks", "s_chunks"}, "tb");
    MscclGpu &gpu = program.gpus[id];
    gpu.inputChunks = static_cast<int>(number(node, "i_chunks", 0, 1 << 20));
    gpu.outputChunks = static_cast<int>(number(node, "o_chunks", 0, 1 << 20));
    gpu.scratchChunks = static_cast<int>(number(node, "s_chunks", 0, 1 << 20));
    for (pugi::xml_node tb : node.children("tb")) {
      if (number(tb, "id", 0, 4096) != static_cast<int64_t>(gpu.blocks.size()))
        fail(tb.offset_debug(),
             "<tb>: expected id=\"" + std::to_string(gpu.blocks.size()) +
                 "\", found \"" + attribute(tb, "id") + "\"");
      only(tb, {"id", "send", "recv", "chan"}, "step");
      MscclBlock block;
      block.send = static_cast<int>(number(tb, "send", -1, count - 1));
      block.recv = static_cast<int>(number(tb, "recv", -1, count - 1));
      block.channel = static_cast<int>(number(tb, "chan", -1, 1023));
      for (pugi::xml_node s : tb.children("step"))
        block.steps.push_back(step(s, block.steps.size()));
      gpu.blocks.push_back(std::move(block));
    }
  }
  for (int64_t id = 0; id < count; ++id)
    if (!seen[id])
      fail(algo.offset_debug(), "<algo>: expected a <gpu> with id " +
                                    std::to_string(id) + ", found none");
  return std::move(program);
}

} // namespace

Result<MscclProgram> ccn::synth::parseMsccl(std::string_view text,
                                            std::string_view where) {
  try {
    return Reader(text, where).run();
  } catch (const XmlError &e) {
    return error(e.what());
  }
}

std::string ccn::synth::writeMsccl(const MscclProgram &program,
                                   MscclDialect dialect) {
  pugi::xml_document document;
  pugi::xml_node algo = document.append_child("algo");
  auto set = [](pugi::xml_node node, const char *name, auto value) {
    node.append_attribute(name).set_value(value);
  };
  set(algo, "name", program.name.c_str());
  set(algo, "proto", program.protocol.c_str());
  set(algo, "nchannels", program.channels);
  set(algo, "nchunksperloop", program.chunksPerLoop);
  set(algo, "ngpus", static_cast<int>(program.gpus.size()));
  const char *coll = "";
  switch (program.kind) {
  case CollectiveKind::AllGather:
    coll = "allgather";
    break;
  case CollectiveKind::AllReduce:
    coll = "allreduce";
    break;
  case CollectiveKind::AllToAll:
    coll = "alltoall";
    break;
  default:
    coll =
        dialect == MscclDialect::Microsoft ? "reduce_scatter" : "reducescatter";
    break;
  }
  set(algo, "coll", coll);
  set(algo, "inplace", program.inPlace ? 1 : 0);
  set(algo, "outofplace", program.outOfPlace ? 1 : 0);
  bool required = dialect != MscclDialect::Microsoft;
  // 0 means "no limit" to Azure and RCCL, and "never" to the first runtime.
  if (program.minBytes || required)
    set(algo, "minBytes", static_cast<long long>(program.minBytes.value_or(0)));
  if (program.maxBytes || required) {
    int64_t most = program.maxBytes.value_or(0);
    if (most == 0 && !required)
      most = INT64_MAX;
    set(algo, "maxBytes", static_cast<long long>(most));
  }
  for (size_t id = 0; id < program.gpus.size(); ++id) {
    const MscclGpu &gpu = program.gpus[id];
    pugi::xml_node node = algo.append_child("gpu");
    set(node, "id", static_cast<int>(id));
    set(node, "i_chunks", gpu.inputChunks);
    set(node, "o_chunks", gpu.outputChunks);
    set(node, "s_chunks", gpu.scratchChunks);
    for (size_t b = 0; b < gpu.blocks.size(); ++b) {
      const MscclBlock &block = gpu.blocks[b];
      pugi::xml_node tb = node.append_child("tb");
      set(tb, "id", static_cast<int>(b));
      set(tb, "send", block.send);
      set(tb, "recv", block.recv);
      set(tb, "chan", block.channel);
      for (size_t s = 0; s < block.steps.size(); ++s) {
        const MscclStep &step = block.steps[s];
        pugi::xml_node out = tb.append_child("step");
        char source[2] = {step.srcBuffer, 0}, target[2] = {step.dstBuffer, 0};
        set(out, "s", static_cast<int>(s));
        set(out, "type", step.type.c_str());
        set(out, "srcbuf", static_cast<const char *>(source));
        set(out, "srcoff", step.srcOffset);
        set(out, "dstbuf", static_cast<const char *>(target));
        set(out, "dstoff", step.dstOffset);
        set(out, "cnt", step.count);
        set(out, "depid", step.dependBlock);
        set(out, "deps", step.dependStep);
        set(out, "hasdep", step.hasDependents ? 1 : 0);
      }
    }
  }
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default | pugi::format_no_declaration);
  return out.str();
}
