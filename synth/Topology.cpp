//===- Topology.cpp - Reading, writing and checking machines --------------===//
//
// The JSON format of topologies and their validation; the named machines are
// in Builders.cpp.
//
//===----------------------------------------------------------------------===//

#include "synth/Topology.h"
#include "synth/Json.h"

#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

using namespace ccn;
using namespace ccn::synth;
using nlohmann::json;
using nlohmann::ordered_json;

std::string_view ccn::synth::kindName(NodeKind kind) {
  switch (kind) {
  case NodeKind::Gpu:
    return "gpu";
  case NodeKind::Cpu:
    return "cpu";
  case NodeKind::Switch:
    return "switch";
  case NodeKind::Nic:
    return "nic";
  }
  return "";
}

int Topology::addNode(std::string nodeName, NodeKind kind) {
  nodes.push_back({std::move(nodeName), kind});
  return static_cast<int>(nodes.size()) - 1;
}

void Topology::addLink(int src, int dst, double gbps, double us) {
  links.push_back({src, dst, gbps, us});
}

void Topology::addDuplex(int a, int b, double gbps, double us) {
  addLink(a, b, gbps, us);
  addLink(b, a, gbps, us);
}

int Topology::numRanks() const { return static_cast<int>(rankNodes().size()); }

std::vector<int> Topology::rankNodes() const {
  std::vector<int> result;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].kind == NodeKind::Gpu)
      result.push_back(static_cast<int>(i));
  return result;
}

int Topology::findNode(std::string_view nodeName) const {
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].name == nodeName)
      return static_cast<int>(i);
  return -1;
}

/// What is wrong with a capacity; empty if it is possible.
static std::string wrongCapacity(double gbps) {
  if (gbps > 0 && gbps <= maxGBps)
    return "";
  std::ostringstream text;
  text << "expected a capacity above 0 GB/s and at most 1000000, found "
       << gbps;
  return text.str();
}

/// The same for a latency.
static std::string wrongLatency(double us) {
  if (us >= 0 && us <= maxUs)
    return "";
  std::ostringstream text;
  text << "expected a latency from 0 to 1000000000 us, found " << us;
  return text.str();
}

std::string ccn::synth::validate(const Topology &topology) {
  std::set<std::string> names;
  for (size_t i = 0; i < topology.nodes.size(); ++i) {
    const Node &node = topology.nodes[i];
    std::string at = "/nodes/" + std::to_string(i) + ": ";
    if (node.name.empty())
      return at + "expected a name, found an empty one";
    if (!names.insert(node.name).second)
      return at + "expected distinct node names, found \"" + node.name +
             "\" twice";
  }
  if (topology.numRanks() == 0)
    return "/nodes: expected at least one node of kind gpu, found none";
  int n = static_cast<int>(topology.nodes.size());
  std::set<std::pair<int, int>> seen;
  for (size_t i = 0; i < topology.links.size(); ++i) {
    const Link &link = topology.links[i];
    std::string at = "/links/" + std::to_string(i) + ": ";
    if (link.src < 0 || link.src >= n || link.dst < 0 || link.dst >= n)
      return at + "expected nodes 0 to " + std::to_string(n - 1) + ", found " +
             std::to_string(link.src) + " and " + std::to_string(link.dst);
    if (link.src == link.dst)
      return at + "expected two different nodes, found \"" +
             topology.nodes[link.src].name + "\" twice";
    for (const std::string &wrong :
         {wrongCapacity(link.gbps), wrongLatency(link.us)})
      if (!wrong.empty())
        return at + wrong;
    if (!seen.insert({link.src, link.dst}).second)
      return at + "expected one link from \"" + topology.nodes[link.src].name +
             "\" to \"" + topology.nodes[link.dst].name +
             "\" (add up the capacity of parallel ones), found a second";
  }
  for (size_t i = 0; i < topology.edgeSets.size(); ++i) {
    const EdgeSet &set = topology.edgeSets[i];
    std::string at = "/edge_sets/" + std::to_string(i) + ": ";
    if (std::string wrong = wrongCapacity(set.gbps); !wrong.empty())
      return at + wrong;
    if (set.links.empty())
      return at + "expected at least one link, found none";
    std::set<int> members;
    for (int l : set.links) {
      if (l < 0 || l >= static_cast<int>(topology.links.size()))
        return at + "expected links 0 to " +
               std::to_string(static_cast<int>(topology.links.size()) - 1) +
               ", found " + std::to_string(l);
      const Link &link = topology.links[l];
      if (!members.insert(l).second)
        return at + "expected each link once, found that from \"" +
               topology.nodes[link.src].name + "\" to \"" +
               topology.nodes[link.dst].name + "\" twice";
    }
  }
  return "";
}

namespace {

NodeKind parseKind(const JsonAt &at) {
  std::string text = at.string();
  for (NodeKind kind :
       {NodeKind::Gpu, NodeKind::Cpu, NodeKind::Switch, NodeKind::Nic})
    if (text == kindName(kind))
      return kind;
  at.fail("expected \"gpu\", \"cpu\", \"switch\" or \"nic\", found \"" + text +
          "\"");
}

Topology readTopology(const JsonAt &root) {
  root.onlyKeys({"ccn_topology", "name", "nodes", "links", "edge_sets"});
  root.at("ccn_topology").integer(1, 1);
  Topology topology;
  topology.name = root.at("name").string();
  std::map<std::string, int> index;
  JsonAt nodes = root.at("nodes");
  for (size_t i = 0, e = nodes.arraySize(); i < e; ++i) {
    JsonAt node = nodes.at(i);
    node.onlyKeys({"name", "kind"});
    std::string name = node.at("name").string();
    if (!index.emplace(name, i).second)
      node.fail("expected distinct node names, found \"" + name + "\" twice");
    topology.addNode(name, parseKind(node.at("kind")));
  }
  auto nodeAt = [&](const JsonAt &at) {
    std::string name = at.string();
    auto it = index.find(name);
    if (it == index.end())
      at.fail("expected the name of a node, found \"" + name + "\"");
    return it->second;
  };
  std::map<std::pair<int, int>, int> linkIndex;
  JsonAt links = root.at("links");
  for (size_t i = 0, e = links.arraySize(); i < e; ++i) {
    JsonAt link = links.at(i);
    link.onlyKeys({"from", "to", "GBps", "us", "duplex"});
    int src = nodeAt(link.at("from")), dst = nodeAt(link.at("to"));
    double gbps = link.at("GBps").number();
    double us = link.has("us") ? link.at("us").number() : 0;
    auto add = [&](int a, int b) {
      if (!linkIndex.emplace(std::pair(a, b), topology.links.size()).second)
        link.fail("expected one link from \"" + topology.nodes[a].name +
                  "\" to \"" + topology.nodes[b].name +
                  "\" (add up the capacity of parallel ones), found a second");
      if (std::string wrong = wrongCapacity(gbps); !wrong.empty())
        link.at("GBps").fail(wrong);
      if (std::string wrong = wrongLatency(us); !wrong.empty())
        link.at("us").fail(wrong);
      topology.addLink(a, b, gbps, us);
    };
    add(src, dst);
    if (link.has("duplex") && link.at("duplex").boolean())
      add(dst, src);
  }
  if (root.has("edge_sets")) {
    JsonAt sets = root.at("edge_sets");
    for (size_t i = 0, e = sets.arraySize(); i < e; ++i) {
      JsonAt set = sets.at(i);
      set.onlyKeys({"name", "GBps", "links"});
      EdgeSet edgeSet;
      edgeSet.name = set.at("name").string();
      edgeSet.gbps = set.at("GBps").number();
      JsonAt members = set.at("links");
      for (size_t j = 0, f = members.arraySize(); j < f; ++j) {
        JsonAt member = members.at(j);
        if (member.arraySize() != 2)
          member.fail("expected a pair of node names, found " +
                      std::to_string(member.arraySize()) + " elements");
        int src = nodeAt(member.at(size_t(0)));
        int dst = nodeAt(member.at(size_t(1)));
        auto it = linkIndex.find({src, dst});
        if (it == linkIndex.end())
          member.fail("expected a link of the topology, found none from \"" +
                      topology.nodes[src].name + "\" to \"" +
                      topology.nodes[dst].name + "\"");
        edgeSet.links.push_back(it->second);
      }
      topology.edgeSets.push_back(std::move(edgeSet));
    }
  }
  return topology;
}

} // namespace

Result<Topology> ccn::synth::parseTopology(std::string_view text,
                                           std::string_view where) {
  try {
    json document = parseJson(text, where);
    Topology topology = readTopology(JsonAt(document, std::string(where), ""));
    std::string problem = validate(topology);
    if (!problem.empty())
      return error(std::string(where) + ": " + problem);
    return topology;
  } catch (const JsonError &e) {
    return error(e.what());
  }
}

std::string ccn::synth::writeTopology(const Topology &topology) {
  std::ostringstream out;
  auto quoted = [](const std::string &s) { return json(s).dump(); };
  auto number = [](double x) { return json(x).dump(); };
  out << "{\n  \"ccn_topology\": 1,\n  \"name\": " << quoted(topology.name)
      << ",\n  \"nodes\": [";
  for (size_t i = 0; i < topology.nodes.size(); ++i)
    out << (i ? ",\n    " : "\n    ")
        << "{\"name\": " << quoted(topology.nodes[i].name) << ", \"kind\": \""
        << kindName(topology.nodes[i].kind) << "\"}";
  out << "\n  ],\n  \"links\": [";
  for (size_t i = 0; i < topology.links.size(); ++i) {
    const Link &link = topology.links[i];
    out << (i ? ",\n    " : "\n    ")
        << "{\"from\": " << quoted(topology.nodes[link.src].name)
        << ", \"to\": " << quoted(topology.nodes[link.dst].name)
        << ", \"GBps\": " << number(link.gbps)
        << ", \"us\": " << number(link.us) << "}";
  }
  out << "\n  ]";
  if (!topology.edgeSets.empty()) {
    out << ",\n  \"edge_sets\": [";
    for (size_t i = 0; i < topology.edgeSets.size(); ++i) {
      const EdgeSet &set = topology.edgeSets[i];
      out << (i ? ",\n    " : "\n    ") << "{\"name\": " << quoted(set.name)
          << ", \"GBps\": " << number(set.gbps) << ", \"links\": [";
      for (size_t j = 0; j < set.links.size(); ++j) {
        const Link &link = topology.links[set.links[j]];
        out << (j ? ", [" : "[") << quoted(topology.nodes[link.src].name)
            << ", " << quoted(topology.nodes[link.dst].name) << "]";
      }
      out << "]}";
    }
    out << "\n  ]";
  }
  out << "\n}\n";
  return out.str();
}

Result<std::string> ccn::synth::readFile(const std::string &path) {
  // Devices, pipes and files that are holes may give more than memory holds.
  constexpr size_t most = size_t(1) << 30;
  std::ifstream file;
  if (path != "-")
    file.open(path, std::ios::binary);
  std::istream &in = path == "-" ? std::cin : file;
  if (!in)
    return error(path + ": cannot open the file");
  std::string text, piece(size_t(1) << 20, '\0');
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())),
         in.gcount() > 0) {
    text.append(piece, 0, static_cast<size_t>(in.gcount()));
    if (text.size() > most)
      return error(path + ": the file is larger than 1 GiB");
  }
  if (in.bad())
    return error(path + ": cannot read the file");
  return text;
}

std::vector<int>
ccn::synth::findParts(const Topology &topology,
                      const std::function<bool(size_t)> &joins) {
  std::vector<int> parts(topology.nodes.size());
  std::iota(parts.begin(), parts.end(), 0);
  auto find = [&](int node) {
    while (parts[node] != node)
      node = parts[node] = parts[parts[node]];
    return node;
  };
  for (size_t l = 0; l < topology.links.size(); ++l)
    if (joins(l))
      parts[find(topology.links[l].src)] = find(topology.links[l].dst);
  for (int &part : parts)
    part = find(part);
  return parts;
}
