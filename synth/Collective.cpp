//===- Collective.cpp - What a collective must achieve --------------------===//
//
// The named collectives, their duals, and custom ones from a file.
//
//===----------------------------------------------------------------------===//

#include "synth/Collective.h"
#include "synth/Json.h"
#include "synth/Topology.h"

#include <algorithm>
#include <sstream>

using namespace ccn;
using namespace ccn::synth;
using nlohmann::json;

std::string_view ccn::synth::kindName(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllGather:
    return "all_gather";
  case CollectiveKind::ReduceScatter:
    return "reduce_scatter";
  case CollectiveKind::AllReduce:
    return "all_reduce";
  case CollectiveKind::Broadcast:
    return "broadcast";
  case CollectiveKind::Reduce:
    return "reduce";
  case CollectiveKind::Gather:
    return "gather";
  case CollectiveKind::Scatter:
    return "scatter";
  case CollectiveKind::AllToAll:
    return "all_to_all";
  case CollectiveKind::AllToAllV:
    return "all_to_allv";
  case CollectiveKind::Custom:
    return "custom";
  }
  return "";
}

std::optional<CollectiveKind>
ccn::synth::parseCollectiveKind(std::string_view text) {
  auto plain = [](std::string_view s) {
    std::string result;
    for (char c : s)
      if (c != '_' && c != '-')
        result += c;
    return result;
  };
  for (int k = 0; k < static_cast<int>(CollectiveKind::Custom); ++k)
    if (plain(text) == plain(kindName(static_cast<CollectiveKind>(k))))
      return static_cast<CollectiveKind>(k);
  return std::nullopt;
}

Result<Collective> ccn::synth::makeCollective(CollectiveKind kind, int ranks,
                                              int chunksPerNode, int root) {
  std::string name(kindName(kind));
  if (ranks < 1)
    return error(name + ": expected at least one rank, found " +
                 std::to_string(ranks));
  if (chunksPerNode < 1)
    return error(name + ": expected at least one chunk, found " +
                 std::to_string(chunksPerNode));
  if (root < 0 || root >= ranks)
    return error(name + ": expected a root from 0 to " +
                 std::to_string(ranks - 1) + ", found " + std::to_string(root));
  Collective result;
  result.kind = kind;
  result.name = name;
  result.ranks = ranks;
  result.root = root;
  result.chunksPerNode = chunksPerNode;
  std::vector<int> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  int64_t perRank = static_cast<int64_t>(ranks) * chunksPerNode;
  if (perRank > (1 << 24))
    return error(name + ": too many chunks");
  auto &chunks = result.chunks;
  result.bufferChunks = chunksPerNode;
  switch (kind) {
  case CollectiveKind::AllGather:
    for (int64_t c = 0; c < perRank; ++c)
      chunks.push_back({{static_cast<int>(c / chunksPerNode)}, all});
    result.bufferChunks = perRank;
    break;
  case CollectiveKind::ReduceScatter:
    for (int64_t c = 0; c < perRank; ++c)
      chunks.push_back({all, {static_cast<int>(c / chunksPerNode)}});
    result.combining = true;
    result.bufferChunks = perRank;
    break;
  case CollectiveKind::AllReduce:
    chunks.assign(chunksPerNode, {all, all});
    result.combining = true;
    break;
  case CollectiveKind::Broadcast:
    chunks.assign(chunksPerNode, {{root}, all});
    break;
  case CollectiveKind::Reduce:
    chunks.assign(chunksPerNode, {all, {root}});
    result.combining = true;
    break;
  case CollectiveKind::Gather:
    for (int64_t c = 0; c < perRank; ++c)
      chunks.push_back({{static_cast<int>(c / chunksPerNode)}, {root}});
    result.bufferChunks = perRank;
    break;
  case CollectiveKind::Scatter:
    for (int64_t c = 0; c < perRank; ++c)
      chunks.push_back({{root}, {static_cast<int>(c / chunksPerNode)}});
    result.bufferChunks = perRank;
    break;
  case CollectiveKind::AllToAll:
    if (chunksPerNode % ranks != 0)
      return error(name + ": expected a multiple of the " +
                   std::to_string(ranks) + " ranks as chunks a node, found " +
                   std::to_string(chunksPerNode));
    for (int p = 0; p < ranks; ++p)
      for (int c = 0; c < chunksPerNode; ++c)
        chunks.push_back({{p}, {c / (chunksPerNode / ranks)}});
    break;
  case CollectiveKind::AllToAllV:
    return error("all_to_allv needs counts");
  case CollectiveKind::Custom:
    return error("a custom collective is read from a file");
  }
  return result;
}

Result<Collective> ccn::synth::makeAllToAllV(const Counts &counts,
                                             int chunksPerCount) {
  size_t ranks = counts.size();
  if (ranks == 0)
    return error("all_to_allv: expected a row of counts for each rank, found "
                 "none");
  if (chunksPerCount < 1)
    return error("all_to_allv: expected at least one chunk, found " +
                 std::to_string(chunksPerCount));
  Collective result;
  result.kind = CollectiveKind::AllToAllV;
  result.name = kindName(result.kind);
  result.ranks = static_cast<int>(ranks);
  result.chunksPerNode = chunksPerCount;
  result.counts = counts;
  std::vector<int64_t> sends(ranks), receives(ranks);
  for (size_t p = 0; p < ranks; ++p) {
    if (counts[p].size() != ranks)
      return error("all_to_allv: expected " + std::to_string(ranks) +
                   " counts for rank " + std::to_string(p) + ", found " +
                   std::to_string(counts[p].size()));
    for (size_t q = 0; q < ranks; ++q) {
      if (counts[p][q] < 0)
        return error("all_to_allv: expected counts of at least 0, found " +
                     std::to_string(counts[p][q]));
      sends[p] += counts[p][q];
      receives[q] += counts[p][q];
      if (sends[p] * chunksPerCount > (1 << 20) ||
          receives[q] * chunksPerCount > (1 << 20))
        return error("all_to_allv: too many chunks");
    }
  }
  int64_t most = std::max(*std::max_element(sends.begin(), sends.end()),
                          *std::max_element(receives.begin(), receives.end()));
  if (most == 0)
    return error("all_to_allv: expected a count above 0, found none");
  result.bufferChunks = static_cast<int>(most) * chunksPerCount;
  for (int p = 0; p < result.ranks; ++p)
    for (int q = 0; q < result.ranks; ++q)
      result.chunks.insert(result.chunks.end(),
                           static_cast<size_t>(counts[p][q]) * chunksPerCount,
                           {{p}, {q}});
  return result;
}

Result<Counts> ccn::synth::parseCounts(std::string_view text,
                                       std::string_view where) {
  try {
    json document = parseJson(text, where);
    JsonAt rows(document, std::string(where), "");
    Counts counts;
    for (size_t p = 0, e = rows.arraySize(); p < e; ++p) {
      JsonAt row = rows.at(p);
      counts.emplace_back();
      for (size_t q = 0, f = row.arraySize(); q < f; ++q)
        counts.back().push_back(
            static_cast<int>(row.at(q).integer(0, 1 << 20)));
      if (counts.back().size() != e)
        row.fail("expected " + std::to_string(e) + " counts, found " +
                 std::to_string(counts.back().size()));
    }
    return counts;
  } catch (const JsonError &e) {
    return error(e.what());
  }
}

Result<Collective> ccn::synth::dual(const Collective &collective) {
  Collective result = collective;
  for (ChunkRelation &chunk : result.chunks) {
    if (collective.combining && chunk.post.size() != 1)
      return error(collective.name +
                   " has no dual: expected one destination "
                   "for each sum, found " +
                   std::to_string(chunk.post.size()));
    if (!collective.combining && chunk.pre.size() != 1)
      return error(collective.name +
                   " has no dual: expected one source for "
                   "each chunk, found " +
                   std::to_string(chunk.pre.size()));
    std::swap(chunk.pre, chunk.post);
  }
  // gather and scatter move, they combine nothing either way round.
  if (collective.combining)
    result.combining = false;
  else
    result.combining =
        std::any_of(result.chunks.begin(), result.chunks.end(),
                    [](const ChunkRelation &c) { return c.pre.size() > 1; });
  switch (collective.kind) {
  case CollectiveKind::AllGather:
    result.kind = CollectiveKind::ReduceScatter;
    break;
  case CollectiveKind::ReduceScatter:
    result.kind = CollectiveKind::AllGather;
    break;
  case CollectiveKind::Broadcast:
    result.kind = CollectiveKind::Reduce;
    break;
  case CollectiveKind::Reduce:
    result.kind = CollectiveKind::Broadcast;
    break;
  case CollectiveKind::Gather:
    result.kind = CollectiveKind::Scatter;
    break;
  case CollectiveKind::Scatter:
    result.kind = CollectiveKind::Gather;
    break;
  case CollectiveKind::AllToAllV:
    for (size_t p = 0; p < result.counts.size(); ++p)
      for (size_t q = 0; q < p; ++q)
        std::swap(result.counts[p][q], result.counts[q][p]);
    break;
  default:
    break;
  }
  if (result.kind != CollectiveKind::Custom)
    result.name = kindName(result.kind);
  return result;
}

Collective ccn::synth::repeated(const Collective &collective, int times) {
  Collective result = collective;
  result.bufferChunks *= times;
  result.chunksPerNode *= times;
  result.chunks.clear();
  for (const ChunkRelation &chunk : collective.chunks)
    result.chunks.insert(result.chunks.end(), static_cast<size_t>(times),
                         chunk);
  return result;
}

namespace {

Collective readCollective(const JsonAt &root) {
  root.onlyKeys({"ccn_collective", "name", "ranks", "combining", "chunks",
                 "buffer_chunks"});
  root.at("ccn_collective").integer(1, 1);
  Collective result;
  result.name = root.at("name").string();
  result.ranks = root.at("ranks").integer(1, 4096);
  result.combining = root.has("combining") && root.at("combining").boolean();
  JsonAt chunks = root.at("chunks");
  size_t count = chunks.arraySize();
  if (count == 0)
    chunks.fail("expected at least one chunk, found none");
  for (size_t i = 0; i < count; ++i) {
    JsonAt chunk = chunks.at(i);
    chunk.onlyKeys({"pre", "post"});
    auto readRanks = [&](const char *key) {
      JsonAt list = chunk.at(key);
      std::vector<int> ranks;
      for (size_t j = 0, e = list.arraySize(); j < e; ++j)
        ranks.push_back(list.at(j).integer(0, result.ranks - 1));
      std::sort(ranks.begin(), ranks.end());
      if (std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end())
        list.fail("expected distinct ranks, found one twice");
      return ranks;
    };
    ChunkRelation relation{readRanks("pre"), readRanks("post")};
    if (relation.pre.empty())
      chunk.at("pre").fail("expected at least one rank, found none");
    result.chunks.push_back(std::move(relation));
  }
  // Unless told, the buffer is the largest number of chunks a rank holds.
  std::vector<int> held(result.ranks), needed(result.ranks);
  for (const ChunkRelation &chunk : result.chunks) {
    for (int r : chunk.pre)
      ++held[r];
    for (int r : chunk.post)
      ++needed[r];
  }
  result.bufferChunks =
      std::max(*std::max_element(held.begin(), held.end()),
               *std::max_element(needed.begin(), needed.end()));
  if (root.has("buffer_chunks"))
    result.bufferChunks = root.at("buffer_chunks").integer(1, 1 << 24);
  result.chunksPerNode = result.bufferChunks;
  return result;
}

} // namespace

Result<Collective> ccn::synth::parseCollective(std::string_view text,
                                               std::string_view where) {
  try {
    json document = parseJson(text, where);
    return readCollective(JsonAt(document, std::string(where), ""));
  } catch (const JsonError &e) {
    return error(e.what());
  }
}

std::string ccn::synth::writeCollective(const Collective &collective) {
  std::ostringstream out;
  out << "{\n  \"ccn_collective\": 1,\n  \"name\": "
      << json(collective.name).dump() << ",\n  \"ranks\": " << collective.ranks
      << ",\n  \"combining\": " << (collective.combining ? "true" : "false")
      << ",\n  \"buffer_chunks\": " << collective.bufferChunks
      << ",\n  \"chunks\": [";
  for (size_t i = 0; i < collective.chunks.size(); ++i)
    out << (i ? ",\n    " : "\n    ")
        << "{\"pre\": " << json(collective.chunks[i].pre).dump()
        << ", \"post\": " << json(collective.chunks[i].post).dump() << "}";
  out << "\n  ]\n}\n";
  return out.str();
}

Result<Collective> ccn::synth::loadCollective(const std::string &nameOrFile,
                                              int ranks, int chunksPerNode,
                                              int root, const Counts &counts) {
  std::optional<CollectiveKind> kind = parseCollectiveKind(nameOrFile);
  if (kind == CollectiveKind::AllToAllV) {
    if (static_cast<int>(counts.size()) != ranks)
      return error("all_to_allv: expected counts for the topology's " +
                   std::to_string(ranks) + " ranks (--counts), found " +
                   std::to_string(counts.size()));
    return makeAllToAllV(counts, chunksPerNode);
  }
  if (!counts.empty())
    return error(nameOrFile + " takes no counts, all_to_allv does");
  if (kind)
    return makeCollective(*kind, ranks, chunksPerNode, root);
  if (nameOrFile != "-" && nameOrFile.find('/') == std::string::npos &&
      !nameOrFile.ends_with(".json"))
    return error(
        "unknown collective \"" + nameOrFile +
        "\", expected all_gather, reduce_scatter, all_reduce, "
        "broadcast, reduce, gather, scatter, all_to_all, all_to_allv or "
        "a file "
        "ending in .json");
  Result<std::string> text = readFile(nameOrFile);
  if (!text)
    return text.status();
  Result<Collective> result =
      parseCollective(*text, nameOrFile == "-" ? "<stdin>" : nameOrFile);
  if (result && result->ranks != ranks)
    return error(nameOrFile + ": /ranks: expected the topology's " +
                 std::to_string(ranks) + " ranks, found " +
                 std::to_string(result->ranks));
  return result;
}
