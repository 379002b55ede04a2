//===- Schedule.cpp - Inverting, reading and writing schedules ------------===//
//
// See Schedule.h; the checker is in Check.cpp, timing in Simulate.cpp.
//
//===----------------------------------------------------------------------===//

#include "synth/Schedule.h"
#include "synth/Json.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

using namespace ccn;
using namespace ccn::synth;
using nlohmann::json;

std::string_view ccn::synth::opName(SendOp op) {
  switch (op) {
  case SendOp::Copy:
    return "copy";
  case SendOp::Reduce:
    return "reduce";
  case SendOp::Stash:
    return "stash";
  }
  return "";
}

int Schedule::totalRounds() const {
  int total = 0;
  for (const Step &step : steps)
    total += step.rounds;
  return total;
}

int Schedule::totalSends() const {
  int total = 0;
  for (const Step &step : steps)
    total += static_cast<int>(step.sends.size());
  return total;
}

void ccn::synth::fitRounds(Schedule &schedule, const Fabric &fabric) {
  for (Step &step : schedule.steps) {
    std::vector<int64_t> load(fabric.edges.size());
    for (const Send &send : step.sends)
      ++load[send.edge];
    for (const FabricSet &set : fabric.sets) {
      int64_t total = 0;
      for (int e : set.edges)
        total += load[e];
      step.rounds = std::max<int>(
          step.rounds, static_cast<int>((total + set.cap - 1) / set.cap));
    }
  }
}

Result<Schedule> ccn::synth::invert(const Schedule &schedule) {
  Result<Collective> collective = dual(schedule.collective);
  if (!collective)
    return collective.status();
  Schedule result;
  result.collective = *collective;
  result.topology = schedule.topology;
  result.hosts = schedule.hosts;
  for (size_t i = schedule.steps.size(); i-- > 0;) {
    Step step = schedule.steps[i];
    for (Send &send : step.sends) {
      if (!send.sums.empty() || send.op == SendOp::Stash)
        return error("a schedule with stashed partial sums cannot be inverted");
      std::swap(send.src, send.dst);
      send.op = collective->combining ? SendOp::Reduce : SendOp::Copy;
    }
    result.steps.push_back(std::move(step));
  }
  return result;
}

Schedule ccn::synth::concatenate(const Schedule &first, const Schedule &second,
                                 const Collective &collective) {
  Schedule result = first;
  result.collective = collective;
  result.steps.insert(result.steps.end(), second.steps.begin(),
                      second.steps.end());
  return result;
}

Schedule ccn::synth::ringSchedule(CollectiveKind kind, int ranks) {
  bool reduces = kind != CollectiveKind::AllGather;
  bool gathers = kind != CollectiveKind::ReduceScatter;
  Schedule ring;
  int chunks = kind == CollectiveKind::AllReduce ? ranks : 1;
  ring.collective = *makeCollective(kind, ranks, chunks);
  ring.topology = "ring";
  ring.hosts = ranks;
  auto add = [&](int first, SendOp op) {
    for (int step = 0; step + 1 < ranks; ++step) {
      Step sends;
      for (int chunk = 0; chunk < ranks; ++chunk) {
        int source = (chunk + first + step) % ranks;
        sends.sends.push_back(
            {chunk, source, (source + 1) % ranks, op, -1, {}});
      }
      ring.steps.push_back(sends);
    }
  };
  // Chunk c ends at rank c, and goes around from there.
  if (reduces)
    add(1, SendOp::Reduce);
  if (gathers)
    add(0, SendOp::Copy);
  return ring;
}

std::string ccn::synth::writeSchedule(const Schedule &schedule,
                                      const Fabric *fabric) {
  const Collective &coll = schedule.collective;
  std::ostringstream out;
  out << "{\n  \"ccn_schedule\": 1,\n  \"topology\": "
      << json(schedule.topology).dump() << ",\n  \"collective\": ";
  if (coll.kind == CollectiveKind::Custom) {
    std::string text = writeCollective(coll);
    text.pop_back();
    out << text;
  } else {
    out << "{\"name\": " << json(coll.name).dump()
        << ", \"ranks\": " << coll.ranks
        << ", \"chunks_per_node\": " << coll.chunksPerNode
        << ", \"root\": " << coll.root;
    if (coll.kind == CollectiveKind::AllToAllV)
      out << ", \"counts\": " << json(coll.counts).dump();
    out << "}";
  }
  out << ",\n  \"hosts\": " << schedule.hosts << ",\n  \"steps\": [";
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step &step = schedule.steps[i];
    out << (i ? ",\n" : "\n") << "    {\"rounds\": " << step.rounds
        << ", \"sends\": [";
    for (size_t j = 0; j < step.sends.size(); ++j) {
      const Send &send = step.sends[j];
      out << (j ? ",\n" : "\n") << "      {\"chunk\": " << send.chunk
          << ", \"from\": " << send.src << ", \"to\": " << send.dst;
      if (send.op != SendOp::Copy)
        out << ", \"op\": \"" << opName(send.op) << "\"";
      if (!send.sums.empty())
        out << ", \"sums\": " << json(send.sums).dump();
      if (fabric && send.edge >= 0 &&
          fabric->edges[send.edge].path.size() > 1) {
        json via = json::array();
        const std::vector<int> &path = fabric->edges[send.edge].path;
        for (size_t k = 1; k < path.size(); ++k)
          via.push_back(
              fabric->topology.nodes[fabric->topology.links[path[k]].src].name);
        out << ", \"via\": " << via.dump();
      }
      out << "}";
    }
    out << "]}";
  }
  out << "\n  ]\n}\n";
  return out.str();
}

namespace {

Collective readScheduleCollective(const JsonAt &at, std::string_view where) {
  if (at.has("ccn_collective")) {
    Result<Collective> custom = parseCollective(at.json().dump(), where);
    if (!custom)
      throw JsonError(custom.message());
    return *custom;
  }
  at.onlyKeys({"name", "ranks", "chunks_per_node", "root", "counts"});
  std::string name = at.at("name").string();
  std::optional<CollectiveKind> kind = parseCollectiveKind(name);
  if (!kind)
    at.at("name").fail("expected the name of a collective, found \"" + name +
                       "\"");
  int ranks = at.at("ranks").integer(1, 4096);
  int root = at.has("root") ? at.at("root").integer(0, ranks - 1) : 0;
  Counts counts;
  if (at.has("counts")) {
    Result<Counts> read = parseCounts(at.at("counts").json().dump(),
                                      std::string(where) + ": counts");
    if (!read)
      throw JsonError(read.message());
    counts = std::move(*read);
  }
  Result<Collective> result = loadCollective(
      std::string(kindName(*kind)), ranks,
      static_cast<int>(at.at("chunks_per_node").integer(1, 1 << 20)), root,
      counts);
  if (!result)
    at.fail(result.message());
  return *result;
}

/// Finds the edges that schedules name by the nodes they pass.
class ViaReader {
public:
  explicit ViaReader(Fabric &fabric) : fabric(fabric), ways(fabric) {
    const Topology &t = fabric.topology;
    for (size_t n = 0; n < t.nodes.size(); ++n)
      nodeOf[t.nodes[n].name] = static_cast<int>(n);
    for (size_t l = 0; l < t.links.size(); ++l)
      linkOf[{t.links[l].src, t.links[l].dst}] = static_cast<int>(l);
  }

  /// The edge from send.src to send.dst that passes the nodes `via` names.
  int edge(const JsonAt &via, const Send &send) {
    std::vector<int> path;
    int from = nodeOfHost(via, send, send.src);
    size_t count = via.arraySize();
    for (size_t i = 0; i <= count; ++i) {
      int to = i == count ? nodeOfHost(via, send, send.dst)
                          : switchAt(via.at(i), via, send);
      auto link = linkOf.find({from, to});
      if (link == linkOf.end())
        fail(via, send);
      path.push_back(link->second);
      from = to;
    }
    return ways.edgeAlong(path);
  }

private:
  [[noreturn]] static void fail(const JsonAt &via, const Send &send) {
    via.fail("the topology has no such way from " + std::to_string(send.src) +
             " to " + std::to_string(send.dst));
  }
  int nodeOfHost(const JsonAt &via, const Send &send, int host) const {
    if (host >= fabric.hosts)
      fail(via, send);
    return fabric.hostNode[host];
  }
  int switchAt(const JsonAt &name, const JsonAt &via, const Send &send) const {
    auto it = nodeOf.find(name.string());
    if (it == nodeOf.end() || fabric.topology.nodes[it->second].isHost())
      fail(via, send);
    return it->second;
  }

  Fabric &fabric;
  FabricWays ways;
  std::map<std::string, int> nodeOf;
  std::map<std::pair<int, int>, int> linkOf;
};

Schedule readSchedule(const JsonAt &root, std::string_view where,
                      Fabric *fabric) {
  root.onlyKeys({"ccn_schedule", "topology", "collective", "hosts", "steps"});
  root.at("ccn_schedule").integer(1, 1);
  Schedule schedule;
  schedule.topology = root.at("topology").string();
  schedule.collective = readScheduleCollective(root.at("collective"), where);
  const Collective &coll = schedule.collective;
  schedule.hosts = root.has("hosts")
                       ? root.at("hosts").integer(coll.ranks, 8192)
                       : coll.ranks;
  std::optional<ViaReader> vias;
  JsonAt steps = root.at("steps");
  for (size_t i = 0, e = steps.arraySize(); i < e; ++i) {
    JsonAt at = steps.at(i);
    at.onlyKeys({"rounds", "sends"});
    Step step;
    step.rounds = at.at("rounds").integer(1, 1 << 20);
    JsonAt sends = at.at("sends");
    for (size_t j = 0, f = sends.arraySize(); j < f; ++j) {
      JsonAt item = sends.at(j);
      item.onlyKeys({"chunk", "from", "to", "op", "sums", "via"});
      Send send;
      send.chunk = item.at("chunk").integer(0, coll.chunks.size() - 1);
      send.src = item.at("from").integer(0, schedule.hosts - 1);
      send.dst = item.at("to").integer(0, schedule.hosts - 1);
      if (item.has("op")) {
        std::string op = item.at("op").string();
        if (op == "reduce")
          send.op = SendOp::Reduce;
        else if (op == "stash")
          send.op = SendOp::Stash;
        else if (op != "copy")
          item.at("op").fail("expected \"copy\", \"reduce\" or \"stash\", "
                             "found \"" +
                             op + "\"");
      }
      if (item.has("sums")) {
        JsonAt sums = item.at("sums");
        for (size_t k = 0, g = sums.arraySize(); k < g; ++k)
          send.sums.push_back(sums.at(k).integer(0, coll.ranks - 1));
        std::sort(send.sums.begin(), send.sums.end());
      }
      if (fabric && item.has("via") && !vias)
        vias.emplace(*fabric);
      if (vias && item.has("via"))
        send.edge = vias->edge(item.at("via"), send);
      step.sends.push_back(std::move(send));
    }
    schedule.steps.push_back(std::move(step));
  }
  return schedule;
}

} // namespace

Result<Schedule> ccn::synth::parseSchedule(std::string_view text,
                                           std::string_view where,
                                           Fabric *fabric) {
  try {
    json document = parseJson(text, where);
    return readSchedule(JsonAt(document, std::string(where), ""), where,
                        fabric);
  } catch (const JsonError &e) {
    return error(e.what());
  }
}
