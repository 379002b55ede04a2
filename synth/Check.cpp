//===- Check.cpp - Proving that a schedule is right -----------------------===//
//
// Executes a schedule on sets of contributions. Deliberately plain, and
// independent of the searches whose results it judges.
//
//===----------------------------------------------------------------------===//

#include "synth/Schedule.h"

#include <algorithm>

using namespace ccn::synth;

namespace {

/// A set of ranks.
class RankSet {
public:
  explicit RankSet(int ranks = 0) : words((ranks + 63) / 64) {}
  void insert(int rank) { words[rank / 64] |= uint64_t(1) << (rank % 64); }
  bool contains(int rank) const { return words[rank / 64] >> (rank % 64) & 1; }
  bool empty() const {
    return std::all_of(words.begin(), words.end(),
                       [](uint64_t w) { return w == 0; });
  }
  bool subsetOf(const RankSet &other) const {
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] & ~other.words[i])
        return false;
    return true;
  }
  /// A common rank, or -1.
  int overlap(const RankSet &other) const {
    for (size_t i = 0; i < words.size(); ++i)
      if (uint64_t both = words[i] & other.words[i])
        return static_cast<int>(i) * 64 + __builtin_ctzll(both);
    return -1;
  }
  int first() const { return overlap(*this); }
  void add(const RankSet &other) {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] |= other.words[i];
  }
  void remove(const RankSet &other) {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] &= ~other.words[i];
  }
  friend bool operator==(const RankSet &a, const RankSet &b) {
    return a.words == b.words;
  }
  std::string str() const {
    std::string text;
    for (size_t r = 0; r < words.size() * 64; ++r)
      if (contains(static_cast<int>(r)))
        text += (text.empty() ? "" : ",") + std::to_string(r);
    return "{" + text + "}";
  }

private:
  std::vector<uint64_t> words;
};

/// The contributions to a chunk that one host has.
struct Holding {
  RankSet own, running;
  std::vector<RankSet> stash;
};

/// Whether `target` is a disjoint union of some of `pieces`.
bool covers(RankSet target, const std::vector<const RankSet *> &pieces) {
  int need = target.first();
  if (need < 0)
    return true;
  for (const RankSet *piece : pieces)
    if (piece->contains(need) && piece->subsetOf(target)) {
      RankSet rest = target;
      rest.remove(*piece);
      if (covers(rest, pieces))
        return true;
    }
  return false;
}

bool canForm(const Holding &holding, const RankSet &target) {
  std::vector<const RankSet *> pieces = {&holding.running, &holding.own};
  for (const RankSet &piece : holding.stash)
    pieces.push_back(&piece);
  return covers(target, pieces);
}

class Checker {
public:
  Checker(const Schedule &schedule, const Fabric *fabric)
      : s(schedule), coll(schedule.collective), fabric(fabric) {}

  std::string run();

private:
  std::string checkShape();
  std::string checkCapacity(const Step &step);
  std::string copyStep(const Step &step);
  std::string combineStep(const Step &step);
  std::string finalState();
  std::string inStep(const std::string &text) const {
    return "step " + std::to_string(stepNumber) + ": " + text;
  }
  static std::string describe(const Send &send) {
    return "chunk " + std::to_string(send.chunk) + " from rank " +
           std::to_string(send.src) + " to rank " + std::to_string(send.dst);
  }
  size_t slot(int chunk, int host) const {
    return static_cast<size_t>(chunk) * s.hosts + host;
  }

  const Schedule &s;
  const Collective &coll;
  const Fabric *fabric;
  int stepNumber = 0;
  std::vector<bool> has;
  std::vector<Holding> holdings;
  /// The first write of the last step that has written to each place.
  struct Write {
    int step = 0;
    SendOp op = SendOp::Copy;
  };
  std::vector<Write> writes;
};

std::string Checker::checkShape() {
  if (s.hosts < coll.ranks)
    return "expected at least " + std::to_string(coll.ranks) +
           " hosts, found " + std::to_string(s.hosts);
  if (fabric && (fabric->ranks != coll.ranks || fabric->hosts < s.hosts))
    return "expected the topology's " + std::to_string(fabric->ranks) +
           " ranks, found " + std::to_string(coll.ranks);
  for (size_t i = 0; i < s.steps.size(); ++i) {
    stepNumber = static_cast<int>(i) + 1;
    if (s.steps[i].rounds < 1)
      return inStep("expected at least one round, found " +
                    std::to_string(s.steps[i].rounds));
    for (const Send &send : s.steps[i].sends) {
      if (send.chunk < 0 || send.chunk >= static_cast<int>(coll.chunks.size()))
        return inStep("expected a chunk from 0 to " +
                      std::to_string(coll.chunks.size() - 1) + ", found " +
                      std::to_string(send.chunk));
      if (send.src < 0 || send.src >= s.hosts || send.dst < 0 ||
          send.dst >= s.hosts || send.src == send.dst)
        return inStep(describe(send) + ": expected two different ranks below " +
                      std::to_string(s.hosts));
      if (!coll.combining && (send.op != SendOp::Copy || !send.sums.empty()))
        return inStep(describe(send) + ": " + coll.name +
                      " combines nothing, expected a copy, found a " +
                      std::string(opName(send.op)));
      for (int r : send.sums)
        if (r < 0 || r >= coll.ranks)
          return inStep(describe(send) + ": expected ranks below " +
                        std::to_string(coll.ranks) + " in its sum, found " +
                        std::to_string(r));
    }
  }
  return "";
}

std::string Checker::checkCapacity(const Step &step) {
  std::vector<int64_t> load(fabric->edges.size());
  for (const Send &send : step.sends) {
    int edge = send.edge;
    if (edge < 0) {
      const std::vector<int> &out = fabric->out[send.src];
      auto it = std::find_if(out.begin(), out.end(), [&](int e) {
        return fabric->edges[e].dst == send.dst;
      });
      if (it == out.end())
        return inStep(describe(send) + ": the topology has no link for it");
      edge = *it;
    }
    if (edge >= static_cast<int>(fabric->edges.size()) ||
        fabric->edges[edge].src != send.src ||
        fabric->edges[edge].dst != send.dst)
      return inStep(describe(send) + ": its edge joins other ranks");
    ++load[edge];
  }
  for (const FabricSet &set : fabric->sets) {
    int64_t total = 0;
    for (int e : set.edges)
      total += load[e];
    if (total > static_cast<int64_t>(set.cap) * step.rounds)
      return inStep(
          "expected at most " + std::to_string(int64_t(set.cap) * step.rounds) +
          " chunks over " + set.name + " in " + std::to_string(step.rounds) +
          " rounds, found " + std::to_string(total));
  }
  return "";
}

std::string Checker::copyStep(const Step &step) {
  for (const Send &send : step.sends)
    if (!has[slot(send.chunk, send.src)])
      return inStep(describe(send) + ": the sender does not have it yet");
  for (const Send &send : step.sends) {
    size_t place = slot(send.chunk, send.dst);
    if (has[place])
      return inStep(describe(send) + ": the receiver has it already");
    has[place] = true;
  }
  return "";
}

std::string Checker::combineStep(const Step &step) {
  // All sends read the state before the step.
  std::vector<RankSet> values;
  values.reserve(step.sends.size());
  for (const Send &send : step.sends) {
    const Holding &from = holdings[slot(send.chunk, send.src)];
    RankSet value = from.running;
    if (!send.sums.empty()) {
      value = RankSet(coll.ranks);
      for (int r : send.sums)
        value.insert(r);
      if (!canForm(from, value))
        return inStep(describe(send) + ": the sender cannot form the sum of " +
                      value.str() + " from what it has");
    }
    if (value.empty())
      return inStep(describe(send) + ": the sender has nothing of it yet");
    values.push_back(std::move(value));
  }
  for (size_t i = 0; i < step.sends.size(); ++i) {
    const Send &send = step.sends[i];
    size_t place = slot(send.chunk, send.dst);
    Holding &to = holdings[place];
    const RankSet &value = values[i];
    if (send.op == SendOp::Stash) {
      to.stash.push_back(value);
      continue;
    }
    Write &before = writes[place];
    if (before.step == stepNumber &&
        (send.op == SendOp::Copy || before.op == SendOp::Copy))
      return inStep(describe(send) +
                    ": another write to the same place in the same step");
    if (before.step != stepNumber)
      before = {stepNumber, send.op};
    if (send.op == SendOp::Reduce) {
      int twice = to.running.overlap(value);
      if (twice >= 0)
        return inStep(describe(send) + ": the contribution of rank " +
                      std::to_string(twice) + " would be added twice");
      to.running.add(value);
    } else {
      if (to.running == value)
        return inStep(describe(send) + ": the receiver has it already");
      if (!to.running.subsetOf(value))
        return inStep(describe(send) + ": the copy of " + value.str() +
                      " would overwrite the sum of " + to.running.str());
      to.running = value;
    }
  }
  return "";
}

std::string Checker::finalState() {
  for (size_t c = 0; c < coll.chunks.size(); ++c)
    for (int rank : coll.chunks[c].post) {
      if (!coll.combining) {
        if (!has[slot(c, rank)])
          return "at the end: rank " + std::to_string(rank) +
                 " does not have chunk " + std::to_string(c);
        continue;
      }
      RankSet full(coll.ranks);
      for (int r : coll.chunks[c].pre)
        full.insert(r);
      const Holding &holding = holdings[slot(c, rank)];
      if (holding.running == full || canForm(holding, full))
        continue;
      RankSet missing = full;
      missing.remove(holding.running);
      for (const RankSet &piece : holding.stash)
        missing.remove(piece);
      return "at the end: rank " + std::to_string(rank) +
             " does not have the sum of chunk " + std::to_string(c) +
             (missing.empty()
                  ? ": its partial sums overlap"
                  : ", the contributions of " + missing.str() + " are missing");
    }
  return "";
}

std::string Checker::run() {
  std::string problem = checkShape();
  if (!problem.empty())
    return problem;
  size_t slots = coll.chunks.size() * s.hosts;
  if (coll.combining) {
    holdings.assign(slots, {RankSet(coll.ranks), RankSet(coll.ranks), {}});
    writes.resize(slots);
  } else {
    has.assign(slots, false);
  }
  for (size_t c = 0; c < coll.chunks.size(); ++c)
    for (int rank : coll.chunks[c].pre) {
      if (coll.combining) {
        holdings[slot(c, rank)].own.insert(rank);
        holdings[slot(c, rank)].running.insert(rank);
      } else {
        has[slot(c, rank)] = true;
      }
    }
  for (size_t i = 0; i < s.steps.size(); ++i) {
    stepNumber = static_cast<int>(i) + 1;
    const Step &step = s.steps[i];
    if (fabric)
      problem = checkCapacity(step);
    if (problem.empty())
      problem = coll.combining ? combineStep(step) : copyStep(step);
    if (!problem.empty())
      return problem;
  }
  return finalState();
}

} // namespace

std::string ccn::synth::check(const Schedule &schedule, const Fabric *fabric) {
  return Checker(schedule, fabric).run();
}
