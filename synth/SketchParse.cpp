//===- SketchParse.cpp - Reading sketches ---------------------------------===//
//
// The JSON format of TACCL's sketches; what it lists of other keys is refused.
//
//===----------------------------------------------------------------------===//

#include "synth/Json.h"
#include "synth/Sketch.h"

#include <charconv>

using namespace ccn;
using namespace ccn::synth;

namespace {

constexpr int manyRanks = 4096;

std::vector<int> readList(const JsonAt &at, int lo = 0) {
  std::vector<int> list;
  for (size_t i = 0, e = at.arraySize(); i < e; ++i)
    list.push_back(static_cast<int>(at.at(i).integer(lo, manyRanks)));
  return list;
}

/// A map whose keys are ranks written as text.
template <typename F> void readRankMap(const JsonAt &at, F take) {
  if (!at.json().is_object())
    at.fail("expected an object, found " + shortJson(at.json()));
  for (const auto &item : at.json().items()) {
    const std::string &key = item.key();
    int rank = -1;
    auto [end, ec] = std::from_chars(key.data(), key.data() + key.size(), rank);
    if (ec != std::errc() || end != key.data() + key.size() || rank < 0)
      at.fail("expected GPUs as keys, found \"" + key + "\"");
    take(rank, at.at(key.c_str()));
  }
}

void readSwitches(const JsonAt &at, SketchLinks &links) {
  links.strategy = LinkStrategy::Switch;
  JsonAt switches = at.at("switches");
  for (size_t i = 0, e = switches.arraySize(); i < e; ++i)
    links.switches.push_back(readList(switches.at(i)));
  JsonAt policies = at.at("switch_hyperedge_strategy");
  if (policies.arraySize() != links.switches.size())
    policies.fail("expected one strategy for each of " +
                  std::to_string(links.switches.size()) + " switches, found " +
                  std::to_string(policies.arraySize()));
  for (size_t i = 0; i < links.switches.size(); ++i) {
    std::string name = policies.at(i).string();
    if (name != "uc-min" && name != "uc-max" && name != "uc-free")
      policies.at(i).fail(
          "expected \"uc-min\", \"uc-max\" or \"uc-free\", found \"" + name +
          "\"");
    links.policies.push_back(name == "uc-min" ? SwitchPolicy::Min
                                              : SwitchPolicy::Any);
  }
}

/// internode_conn or intranode_conn: a map, or a word.
void readConnections(const JsonAt &at, SketchLinks &links, bool between) {
  links.strategy = LinkStrategy::Relay;
  if (at.json().is_string()) {
    std::string word = at.string();
    if (word == "fully-connected")
      links.strategy = LinkStrategy::All;
    else if (word == "direct-map" && between)
      links.strategy = LinkStrategy::DirectMap;
    else
      at.fail(std::string("expected a map of senders, \"fully-connected\"") +
              (between ? " or \"direct-map\"" : "") + ", found \"" + word +
              "\"");
    return;
  }
  readRankMap(at, [&](int rank, const JsonAt &list) {
    links.connections[rank] = readList(list);
  });
}

Sketch readSketch(const JsonAt &root) {
  root.onlyKeys({"nnodes", "intranode_sketch", "internode_sketch",
                 "symmetry_offsets", "hyperparameters"});
  Sketch sketch;
  sketch.nodes = static_cast<int>(root.at("nnodes").integer(1, manyRanks));
  JsonAt inside = root.at("intranode_sketch");
  inside.onlyKeys(
      {"strategy", "switches", "switch_hyperedge_strategy", "intranode_conn"});
  std::string strategy = inside.at("strategy").string();
  if (strategy == "switch")
    readSwitches(inside, sketch.inside);
  else if (strategy == "relay")
    readConnections(inside.at("intranode_conn"), sketch.inside, false);
  else if (strategy != "none")
    inside.at("strategy")
        .fail("expected \"none\", \"switch\" or \"relay\", found \"" +
              strategy + "\"");
  if (root.has("internode_sketch")) {
    JsonAt between = root.at("internode_sketch");
    between.onlyKeys({"strategy", "switches", "switch_hyperedge_strategy",
                      "internode_conn", "beta_split", "gpus_to_sender_rev_map",
                      "enforce_ordering"});
    strategy = between.at("strategy").string();
    if (strategy == "switch")
      readSwitches(between, sketch.between);
    else if (strategy == "relay")
      readConnections(between.at("internode_conn"), sketch.between, true);
    else if (strategy != "none")
      between.at("strategy")
          .fail("expected \"none\", \"switch\" or \"relay\", found \"" +
                strategy + "\"");
    if (between.has("gpus_to_sender_rev_map"))
      readRankMap(between.at("gpus_to_sender_rev_map"),
                  [&](int rank, const JsonAt &list) {
                    sketch.sendersFor[rank] = readList(list);
                  });
    if (between.has("beta_split"))
      readRankMap(between.at("beta_split"), [&](int rank, const JsonAt &share) {
        sketch.nicShares[rank] = static_cast<int>(share.integer(1, 64));
      });
    // Steps order sends anyway.
    if (between.has("enforce_ordering"))
      (void)between.at("enforce_ordering").boolean();
  }
  if (root.has("symmetry_offsets")) {
    JsonAt offsets = root.at("symmetry_offsets");
    for (size_t i = 0, e = offsets.arraySize(); i < e; ++i) {
      JsonAt pair = offsets.at(i);
      if (pair.arraySize() != 2)
        pair.fail("expected an offset and a size, found " +
                  std::to_string(pair.arraySize()) + " elements");
      std::vector<int> list = readList(pair, 1);
      if (list[0] >= list[1])
        pair.fail("expected an offset below the size, found " +
                  std::to_string(list[0]) + " and " + std::to_string(list[1]));
      sketch.symmetries.push_back({list[0], list[1]});
    }
  }
  if (root.has("hyperparameters")) {
    JsonAt parameters = root.at("hyperparameters");
    // TACCL's choice of a heuristic has no counterpart.
    parameters.onlyKeys({"input_chunkup", "heuristic"});
    if (parameters.has("input_chunkup"))
      sketch.chunks =
          static_cast<int>(parameters.at("input_chunkup").integer(1, 1024));
  }
  return sketch;
}

} // namespace

Result<Sketch> ccn::synth::parseSketch(std::string_view text,
                                       std::string_view where) {
  try {
    nlohmann::json document = parseJson(text, where);
    return readSketch(JsonAt(document, std::string(where), ""));
  } catch (const JsonError &e) {
    return error(e.what());
  }
}

int ccn::synth::sketchChunks(const Sketch &sketch,
                             const std::string &collective, int ranks) {
  std::optional<CollectiveKind> kind = parseCollectiveKind(collective);
  bool wholeBuffer =
      kind == CollectiveKind::AllToAll || kind == CollectiveKind::AllReduce;
  return wholeBuffer ? sketch.chunks * ranks : sketch.chunks;
}
