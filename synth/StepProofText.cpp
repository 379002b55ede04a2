//===- StepProofText.cpp - Proofs about steps as JSON ---------------------===//
//
// The format is in README.md.
//
//===----------------------------------------------------------------------===//

#include "synth/Json.h"
#include "synth/StepProof.h"

using namespace ccn;
using namespace ccn::synth;
using json = nlohmann::ordered_json;

bool ccn::synth::isStepProof(std::string_view text) {
  return hasKey(text, "ccn_certificate") && hasKey(text, "in_steps");
}

static json cutJson(const StepProof &proof, const TimedCut &cut) {
  json out = json::object();
  if (proof.rounds < 0)
    out["weight"] = cut.weight;
  if (cut.countsSends) {
    out["sends"] = true;
    return out;
  }
  out["holds_from"] = json::object();
  for (size_t n = 0; n < proof.topology.nodes.size(); ++n) {
    const Node &node = proof.topology.nodes[n];
    if (node.isHost() && cut.holdsFrom[n] <= proof.steps)
      out["holds_from"][node.name] = cut.holdsFrom[n];
    else if (!node.isHost() && !cut.passes[n].empty())
      out["passes_in"][node.name] = cut.passes[n];
  }
  return out;
}

std::string ccn::synth::writeStepProof(const StepProof &proof) {
  json out;
  out["ccn_certificate"] = 1;
  out["in_steps"] = proof.steps;
  if (proof.rounds >= 0)
    out["none_in_rounds"] = proof.rounds;
  else
    out["least_rounds"] = {proof.least.num, proof.least.den};
  out["unit_GBps"] = proof.unitGBps;
  out["cuts"] = json::array();
  for (const TimedCut &cut : proof.cuts)
    out["cuts"].push_back(cutJson(proof, cut));
  for (const RoundsSearch &search : proof.searches)
    out["searches"].push_back(
        {{"rounds", search.rounds}, {"lemmas", search.lemmas}});
  out["topology"] = json::parse(writeTopology(proof.topology));
  out["collective"] = json::parse(writeCollective(proof.collective));
  return out.dump(1) + "\n";
}

/// The nodes that an object names: of hosts, or of what only passes data on.
template <typename Visit>
static void forNodes(const StepProof &proof, const JsonAt &at, bool hosts,
                     const Visit &visit) {
  if (!at.json().is_object())
    at.fail("expected an object");
  for (const auto &[name, value] : at.json().items()) {
    int node = proof.topology.findNode(name);
    if (node < 0 || proof.topology.nodes[node].isHost() != hosts)
      at.fail(std::string("the topology has no ") +
              (hosts ? "GPU or CPU" : "switch or NIC") + " \"" + name + "\"");
    visit(node, at.at(name.c_str()));
  }
}

static TimedCut parseCut(const StepProof &proof, const JsonAt &at) {
  at.onlyKeys({"weight", "sends", "holds_from", "passes_in"});
  TimedCut cut;
  if (proof.rounds < 0)
    cut.weight = at.at("weight").integer(0, int64_t(1) << 40);
  cut.countsSends = at.has("sends") && at.at("sends").boolean();
  if (cut.countsSends)
    return cut;
  size_t nodes = proof.topology.nodes.size();
  cut.holdsFrom.assign(nodes, proof.steps + 1);
  cut.passes.resize(nodes);
  forNodes(proof, at.at("holds_from"), true, [&](int node, const JsonAt &from) {
    cut.holdsFrom[node] = static_cast<int>(from.integer(0, proof.steps));
  });
  if (at.has("passes_in"))
    forNodes(proof, at.at("passes_in"), false,
             [&](int node, const JsonAt &steps) {
               for (size_t i = 0, n = steps.arraySize(); i < n; ++i)
                 cut.passes[node].push_back(
                     static_cast<int>(steps.at(i).integer(1, proof.steps)));
             });
  return cut;
}

static void parseBody(StepProof &proof, const JsonAt &root,
                      std::string_view where) {
  root.onlyKeys({"ccn_certificate", "in_steps", "none_in_rounds",
                 "least_rounds", "unit_GBps", "cuts", "searches", "topology",
                 "collective"});
  root.at("ccn_certificate").integer(1, 1);
  Result<Topology> topology =
      parseTopology(root.at("topology").json().dump(), where);
  if (!topology)
    throw JsonError(topology.message());
  proof.topology = *std::move(topology);
  Result<Collective> collective =
      parseCollective(root.at("collective").json().dump(), where);
  if (!collective)
    throw JsonError(collective.message());
  proof.collective = *std::move(collective);
  proof.unitGBps = root.at("unit_GBps").number();
  if (!(proof.unitGBps > 1e-9))
    root.at("unit_GBps").fail("expected GB/s above 0");
  proof.steps = static_cast<int>(root.at("in_steps").integer(1, 4096));
  if (root.has("none_in_rounds")) {
    proof.rounds =
        static_cast<int>(root.at("none_in_rounds").integer(0, 1 << 20));
  } else {
    JsonAt least = root.at("least_rounds");
    proof.least = Fraction(least.at(size_t(0)).integer(0, int64_t(1) << 40),
                           least.at(1).integer(1, int64_t(1) << 40));
  }
  JsonAt cuts = root.at("cuts");
  for (size_t i = 0, n = cuts.arraySize(); i < n; ++i)
    proof.cuts.push_back(parseCut(proof, cuts.at(i)));
  if (!root.has("searches"))
    return;
  JsonAt searches = root.at("searches");
  for (size_t i = 0, n = searches.arraySize(); i < n; ++i) {
    RoundsSearch &search = proof.searches.emplace_back();
    JsonAt rounds = searches.at(i).at("rounds");
    for (size_t s = 0, m = rounds.arraySize(); s < m; ++s)
      search.rounds.push_back(
          static_cast<int>(rounds.at(s).integer(1, 1 << 20)));
    search.lemmas = searches.at(i).at("lemmas").string();
  }
}

Result<StepProof> ccn::synth::parseStepProof(std::string_view text,
                                             std::string_view where) {
  try {
    nlohmann::json value = parseJson(text, where);
    StepProof proof;
    parseBody(proof, JsonAt(value, std::string(where), ""), where);
    return proof;
  } catch (const JsonError &wrong) {
    return error(wrong.what());
  }
}
