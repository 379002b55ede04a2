//===- StepProof.cpp - Proofs about schedules of some steps ---------------===//
//
// See StepProof.h.
//
//===----------------------------------------------------------------------===//

#include "synth/StepProof.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Sums of capacities end here, so that none overflows: more chunks than any
/// collective that fits in memory sends.
constexpr int64_t maxRoom = int64_t(1) << 50;

/// The chunks that something carries in a round.
int64_t unitsOf(double gbps, double unit) {
  return static_cast<int64_t>(
      std::min(gbps / unit + 1e-6, static_cast<double>(maxRoom)));
}

/// need > sum over the steps of room[s] * rounds[s]: too few rounds.
struct Row {
  int64_t need = 0;
  std::vector<int64_t> room;
};

class RowMaker {
public:
  explicit RowMaker(const StepProof &proof)
      : proof(proof), t(proof.topology), ranks(t.rankNodes()) {}

  Row make(const TimedCut &cut) const {
    return cut.countsSends ? bySends() : byCut(cut);
  }

private:
  /// What the links that `counts` names carry together in a round, where those
  /// of an edge set carry no more than the set; `maxRoom` if it is more.
  template <typename Counts> int64_t carried(const Counts &counts) const {
    int64_t total = 0;
    std::vector<char> done(t.links.size());
    for (const EdgeSet &set : t.edgeSets) {
      int64_t inSet = 0;
      for (int l : set.links)
        if (!done[l] && counts(t.links[l])) {
          inSet = std::min(inSet + unitsOf(t.links[l].gbps, proof.unitGBps),
                           maxRoom);
          done[l] = 1;
        }
      total = std::min(
          total + std::min(inSet, unitsOf(set.gbps, proof.unitGBps)), maxRoom);
    }
    for (size_t l = 0; l < t.links.size(); ++l)
      if (!done[l] && counts(t.links[l]))
        total =
            std::min(total + unitsOf(t.links[l].gbps, proof.unitGBps), maxRoom);
    return total;
  }

  Row byCut(const TimedCut &cut) const {
    Row row;
    auto begins = [&](int rank) { return cut.holdsFrom[ranks[rank]] == 0; };
    auto ends = [&](int rank) {
      return cut.holdsFrom[ranks[rank]] <= proof.steps;
    };
    for (const ChunkRelation &c : proof.collective.chunks) {
      bool within = proof.collective.combining
                        ? std::any_of(c.pre.begin(), c.pre.end(), begins)
                        : std::all_of(c.pre.begin(), c.pre.end(), begins);
      if (within && !std::all_of(c.post.begin(), c.post.end(), ends))
        ++row.need;
    }
    for (int s = 1; s <= proof.steps; ++s) {
      auto isIn = [&](int node, int after) {
        if (t.nodes[node].isHost())
          return cut.holdsFrom[node] <= after;
        const std::vector<int> &passes = cut.passes[node];
        return std::find(passes.begin(), passes.end(), s) != passes.end();
      };
      row.room.push_back(carried([&](const Link &link) {
        return isIn(link.src, s - 1) && !isIn(link.dst, s);
      }));
    }
    return row;
  }

  /// Of a sum all contributions but one must be sent to be added, and all who
  /// need it but one must receive it.
  Row bySends() const {
    Row row;
    if (proof.collective.combining)
      for (const ChunkRelation &c : proof.collective.chunks)
        if (!c.pre.empty() && !c.post.empty())
          row.need += static_cast<int64_t>(c.pre.size() + c.post.size()) - 2;
    int64_t into =
        carried([&](const Link &link) { return t.nodes[link.dst].isHost(); });
    int64_t outOf =
        carried([&](const Link &link) { return t.nodes[link.src].isHost(); });
    row.room.assign(static_cast<size_t>(proof.steps), std::min(into, outOf));
    return row;
  }

  const StepProof &proof;
  const Topology &t;
  const std::vector<int> ranks;
};

std::vector<Row> rowsOf(const StepProof &proof) {
  std::vector<Row> rows;
  RowMaker maker(proof);
  for (const TimedCut &cut : proof.cuts)
    rows.push_back(maker.make(cut));
  return rows;
}

/// Goes through all divisions of the rounds, but for those that begin in a way
/// that a cut excludes however they go on.
class Divisions {
public:
  explicit Divisions(const StepProof &proof)
      : proof(proof), rows(rowsOf(proof)), division(proof.steps, 1) {
    // A step that has room for all in a round excludes nothing with more room
    // either, and its multiples do not overflow.
    for (Row &row : rows)
      for (int64_t &room : row.room)
        room = std::min(room, row.need);
  }

  /// Whether there is one that nothing excludes: `division` then.
  bool find() { return extend(0, proof.rounds, std::vector<int64_t>()); }
  const std::vector<int> &found() const { return division; }
  bool tooMany() const { return visited > maxVisited; }

private:
  static constexpr int64_t maxVisited = 5000000;

  /// Whether a cut lets too little through, whatever the later steps have.
  bool isExcluded(size_t at, int left, const std::vector<int64_t> &used) const {
    int64_t spare = left - static_cast<int64_t>(proof.steps - at);
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::vector<int64_t> &room = rows[i].room;
      int64_t most = used[i], widest = 0;
      for (size_t s = at; s < room.size(); ++s) {
        most += room[s];
        widest = std::max(widest, room[s]);
      }
      if (most + widest * spare < rows[i].need)
        return true;
    }
    return false;
  }

  bool extend(size_t at, int left, std::vector<int64_t> used) {
    used.resize(rows.size());
    if (++visited > maxVisited)
      return true;
    if (isExcluded(at, left, used))
      return false;
    size_t steps = division.size();
    if (at == steps)
      return std::none_of(proof.searches.begin(), proof.searches.end(),
                          [&](const RoundsSearch &search) {
                            return search.rounds == division;
                          });
    int rest = static_cast<int>(steps - at) - 1;
    int first = rest == 0 ? left : 1;
    for (int r = first; r <= left - rest; ++r) {
      division[at] = r;
      std::vector<int64_t> then = used;
      for (size_t i = 0; i < rows.size(); ++i)
        then[i] += rows[i].room[at] * r;
      if (extend(at + 1, left - r, std::move(then)))
        return true;
    }
    return false;
  }

  const StepProof &proof;
  std::vector<Row> rows;
  std::vector<int> division;
  int64_t visited = 0;
};

/// The clauses of a schedule that copies over links between hosts. Chunks are
/// not sent to where they are already, nor over two links at once to one host,
/// nor where they would come too late to be of use: a schedule without such
/// sends is one still.
class ScheduleClauses {
public:
  /// There are no more literals than this.
  static constexpr int64_t maxSends = 200000;
  /// Some 300 MB; a checker needs as much again.
  static constexpr size_t maxClauses = 4000000;

  ScheduleClauses(const StepProof &proof, std::vector<int> rounds);
  /// Whether more clauses are needed, which are left out then.
  bool tooMany() const { return cnf.clauses.size() > maxClauses; }
  Cnf take() { return std::move(cnf); }

private:
  static constexpr int far = 1 << 20;
  int has(size_t chunk, int node, int step) const {
    return hasBase + static_cast<int>((chunk * nodes + node) * steps) + step;
  }
  int sends(size_t chunk, size_t link, int step) const {
    return static_cast<int>((chunk * links.size() + link) * steps) + step;
  }
  static bool contains(const std::vector<int> &ranks, int rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }
  /// The chunks that something carries in a round; all, if it carries more.
  static int64_t roomOf(double gbps, double unit) {
    return std::min(unitsOf(gbps, unit), maxSends + 1);
  }
  /// In steps, from any of some nodes (or, backwards, to them).
  std::vector<int> distances(const std::vector<int> &from, bool backwards);
  void addChunk(size_t chunk, const ChunkRelation &relation);
  void addCapacities(const StepProof &proof);
  /// At most `most` of the literals, by a sequential counter.
  void atMost(const std::vector<int> &literals, int64_t most);
  void atLeast(std::vector<int> literals, int64_t least) {
    for (int &literal : literals)
      literal = -literal;
    atMost(literals, static_cast<int64_t>(literals.size()) - least);
  }

  size_t nodes;
  int steps;
  std::vector<int> rounds, ranks;
  std::vector<Link> links;
  std::vector<ChunkRelation> chunks;
  int hasBase = 0;
  Cnf cnf;
};

ScheduleClauses::ScheduleClauses(const StepProof &proof,
                                 std::vector<int> divided)
    : nodes(proof.topology.nodes.size()), steps(proof.steps),
      rounds(std::move(divided)), ranks(proof.topology.rankNodes()),
      links(proof.topology.links), chunks(proof.collective.chunks) {
  if (proof.collective.combining) {
    // A schedule of sums, backwards, copies them from where they are needed.
    for (Link &link : links)
      std::swap(link.src, link.dst);
    for (ChunkRelation &chunk : chunks)
      std::swap(chunk.pre, chunk.post);
    std::reverse(rounds.begin(), rounds.end());
  }
  hasBase = static_cast<int>(chunks.size() * links.size()) * steps;
  cnf.variables = hasBase + static_cast<int>(chunks.size() * nodes) * steps;
  for (size_t c = 0; c < chunks.size() && !tooMany(); ++c)
    addChunk(c, chunks[c]);
  addCapacities(proof);
}

std::vector<int> ScheduleClauses::distances(const std::vector<int> &from,
                                            bool backwards) {
  std::vector<int> distance(nodes, far);
  for (int rank : from)
    distance[ranks[rank]] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Link &link : links) {
      int there = backwards ? link.dst : link.src;
      int here = backwards ? link.src : link.dst;
      if (distance[there] + 1 >= distance[here])
        continue;
      distance[here] = distance[there] + 1;
      changed = true;
    }
  }
  return distance;
}

void ScheduleClauses::addChunk(size_t c, const ChunkRelation &relation) {
  std::vector<int> after = distances(relation.pre, false);
  std::vector<int> before = distances(relation.post, true);
  for (int n = 0; n < static_cast<int>(nodes); ++n)
    for (int s = 1; s <= steps; ++s) {
      if (after[n] == 0) {
        cnf.clauses.push_back({has(c, n, s)});
        continue;
      }
      if (after[n] > s) {
        cnf.clauses.push_back({-has(c, n, s)});
        continue;
      }
      std::vector<int> reasons = {-has(c, n, s)}, arrivals;
      if (s > 1) {
        reasons.push_back(has(c, n, s - 1));
        cnf.clauses.push_back({-has(c, n, s - 1), has(c, n, s)});
      }
      for (size_t l = 0; l < links.size(); ++l)
        if (links[l].dst == n)
          arrivals.push_back(sends(c, l, s));
      reasons.insert(reasons.end(), arrivals.begin(), arrivals.end());
      cnf.clauses.push_back(std::move(reasons));
      for (size_t i = 0; i < arrivals.size() && !tooMany(); ++i) {
        cnf.clauses.push_back({-arrivals[i], has(c, n, s)});
        if (s > 1)
          cnf.clauses.push_back({-arrivals[i], -has(c, n, s - 1)});
        for (size_t j = 0; j < i; ++j)
          cnf.clauses.push_back({-arrivals[i], -arrivals[j]});
      }
    }
  for (size_t l = 0; l < links.size(); ++l)
    for (int s = 1; s <= steps; ++s)
      if (after[links[l].src] >= s || after[links[l].dst] == 0 ||
          before[links[l].dst] > steps - s)
        cnf.clauses.push_back({-sends(c, l, s)});
      else if (s > 1)
        cnf.clauses.push_back({-sends(c, l, s), has(c, links[l].src, s - 1)});
  for (int rank : relation.post)
    cnf.clauses.push_back({has(c, ranks[rank], steps)});
}

void ScheduleClauses::addCapacities(const StepProof &proof) {
  int64_t allRounds = 0;
  for (int r : rounds)
    allRounds += r;
  auto over = [&](const std::vector<int> &some, int step) {
    std::vector<int> literals;
    for (size_t c = 0; c < chunks.size(); ++c)
      for (int l : some)
        literals.push_back(sends(c, static_cast<size_t>(l), step));
    return literals;
  };
  std::vector<int64_t> room(nodes), need(nodes);
  for (const Link &link : links)
    room[link.dst] += roomOf(link.gbps, proof.unitGBps) * allRounds;
  for (const ChunkRelation &chunk : chunks)
    for (int rank : chunk.post)
      need[ranks[rank]] += !contains(chunk.pre, rank);
  for (size_t l = 0; l < links.size(); ++l)
    for (int s = 1; s <= steps; ++s) {
      int64_t most = roomOf(links[l].gbps, proof.unitGBps) * rounds[s - 1];
      std::vector<int> literals = over({static_cast<int>(l)}, s);
      atMost(literals, most);
      // What needs all that its links carry has all of them full.
      if (need[links[l].dst] == room[links[l].dst])
        atLeast(literals, most);
    }
  for (const EdgeSet &set : proof.topology.edgeSets)
    for (int s = 1; s <= steps; ++s)
      atMost(over(set.links, s),
             roomOf(set.gbps, proof.unitGBps) * rounds[s - 1]);
}

void ScheduleClauses::atMost(const std::vector<int> &literals, int64_t most) {
  if (most >= static_cast<int64_t>(literals.size()))
    return;
  if (most < 0) {
    cnf.clauses.push_back({});
    return;
  }
  // count[j]: more than j of the literals so far are true.
  std::vector<int> count;
  for (int literal : literals) {
    if (tooMany())
      return;
    if (most == 0) {
      cnf.clauses.push_back({-literal});
      continue;
    }
    size_t width = std::min(count.size() + 1, static_cast<size_t>(most));
    std::vector<int> next(width);
    for (size_t j = 0; j < width; ++j) {
      next[j] = ++cnf.variables;
      if (j < count.size())
        cnf.clauses.push_back({-count[j], next[j]});
      if (j == 0)
        cnf.clauses.push_back({-literal, next[0]});
      else
        cnf.clauses.push_back({-literal, -count[j - 1], next[j]});
    }
    if (count.size() == static_cast<size_t>(most))
      cnf.clauses.push_back({-literal, -count.back()});
    count = std::move(next);
  }
}

/// Empty if the claim can be of the machine at all.
std::string wrongClaim(const StepProof &proof) {
  if (proof.topology.numRanks() != proof.collective.ranks)
    return "expected a collective of the topology's " +
           std::to_string(proof.topology.numRanks()) + " ranks, found " +
           std::to_string(proof.collective.ranks);
  for (const TimedCut &cut : proof.cuts)
    if (!cut.countsSends &&
        (cut.holdsFrom.size() != proof.topology.nodes.size() ||
         cut.passes.size() != proof.topology.nodes.size()))
      return "expected cuts of the topology's nodes";
  return "";
}

/// Whether weighted cuts show that there are at least so many rounds.
std::string wrongRate(const StepProof &proof) {
  // A sum of weighted rows has at most 120 bits: 40 of a weight, 50 of a room,
  // and 30 of the number of cuts. What is multiplied has no more than 86, as
  // the claim's fraction has 40.
  constexpr __int128 maxSum = static_cast<__int128>(1) << 86;
  std::vector<Row> rows = rowsOf(proof);
  __int128 need = 0, most = 0;
  std::vector<__int128> room(static_cast<size_t>(proof.steps));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (proof.cuts[i].weight < 0)
      return "expected weights of at least 0";
    need += static_cast<__int128>(proof.cuts[i].weight) * rows[i].need;
    for (size_t s = 0; s < room.size(); ++s)
      if (rows[i].room[s] == maxRoom)
        return "expected a larger unit: too many fit into a round to be "
               "counted";
      else
        room[s] +=
            static_cast<__int128>(proof.cuts[i].weight) * rows[i].room[s];
  }
  for (__int128 r : room)
    most = std::max(most, r);
  if (need > maxSum || most > maxSum)
    return "expected smaller weights or a larger unit: the sums are too large";
  if (proof.least.den <= 0 || most <= 0 ||
      need * proof.least.den < most * proof.least.num)
    return "the cuts do not prove " + proof.least.str() + " rounds";
  return "";
}

} // namespace

std::optional<std::vector<int>> ccn::synth::uncovered(const StepProof &proof,
                                                      bool &tooMany) {
  Divisions divisions(proof);
  bool found = divisions.find();
  tooMany = divisions.tooMany();
  if (!found || tooMany)
    return std::nullopt;
  return divisions.found();
}

Result<Cnf> ccn::synth::clausesOf(const StepProof &proof,
                                  const std::vector<int> &rounds) {
  constexpr size_t maxSends = ScheduleClauses::maxSends;
  const Topology &t = proof.topology;
  const std::vector<ChunkRelation> &chunks = proof.collective.chunks;
  if (!std::all_of(t.nodes.begin(), t.nodes.end(),
                   [](const Node &node) { return node.isHost(); }))
    return error("a search is proved on machines without switches and NICs "
                 "only");
  if (proof.collective.combining &&
      !std::all_of(chunks.begin(), chunks.end(),
                   [](const ChunkRelation &c) { return c.post.size() == 1; }))
    return error("a search is proved for sums that one rank needs only");
  if (rounds.size() != static_cast<size_t>(proof.steps) ||
      chunks.size() * (t.links.size() + t.nodes.size()) * rounds.size() >
          maxSends)
    return error("a search is proved for up to " + std::to_string(maxSends) +
                 " sends that could be only");
  ScheduleClauses clauses(proof, rounds);
  if (clauses.tooMany())
    return error("a search is proved of up to " +
                 std::to_string(ScheduleClauses::maxClauses) + " clauses only");
  return clauses.take();
}

std::string ccn::synth::verify(const StepProof &proof, int64_t *lemmas) {
  if (std::string wrong = wrongClaim(proof); !wrong.empty())
    return wrong;
  if (proof.rounds < 0)
    return wrongRate(proof);
  if (proof.rounds < proof.steps || proof.steps == 0)
    return "expected at least a step, and a round for each";
  bool tooMany = false;
  std::optional<std::vector<int>> open = uncovered(proof, tooMany);
  if (tooMany)
    return "the cuts leave too many divisions of the rounds to look at";
  if (open) {
    std::string text;
    for (int r : *open)
      text += " " + std::to_string(r);
    return "nothing excludes steps of" + text + " rounds";
  }
  int64_t total = 0;
  for (const RoundsSearch &search : proof.searches) {
    Result<Cnf> cnf = clausesOf(proof, search.rounds);
    if (!cnf)
      return cnf.message();
    int64_t count = 0;
    std::string wrong = checkRup(*cnf, search.lemmas, &count);
    if (!wrong.empty())
      return "a search: " + wrong;
    total += count;
  }
  if (lemmas)
    *lemmas = total;
  return "";
}
