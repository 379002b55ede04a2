//===- RupCheck.cpp - Checks proofs that clauses cannot hold --------------===//
//
// See RupCheck.h. Each lemma's negation is assumed and propagated, by two
// watched literals a clause; the lemma follows if that leads to a conflict.
// What follows without assumptions stays assigned, even if a clause that it
// came from is deleted: it still follows from the clauses that there were.
//
//===----------------------------------------------------------------------===//

#include "synth/RupCheck.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <unordered_map>

using namespace ccn::synth;

namespace {

class Checker {
public:
  explicit Checker(int variables)
      : watches(2 * static_cast<size_t>(variables) + 2),
        values(static_cast<size_t>(variables) + 1) {}

  /// Whether the clauses so far contradict each other by propagation.
  bool isRefuted() const { return refuted; }
  void add(std::vector<int> literals);
  void remove(std::vector<int> literals);
  /// Whether a clause follows by propagation.
  bool follows(const std::vector<int> &literals);

private:
  struct Clause {
    std::vector<int> literals;
    bool isDeleted = false;
  };
  static size_t indexOf(int literal) {
    return 2 * static_cast<size_t>(std::abs(literal)) + (literal < 0);
  }
  /// 1: true, -1: false, 0: not known.
  int valueOf(int literal) const {
    int value = values[static_cast<size_t>(std::abs(literal))];
    return literal > 0 ? value : -value;
  }
  void assign(int literal) {
    values[static_cast<size_t>(std::abs(literal))] = literal > 0 ? 1 : -1;
    trail.push_back(literal);
  }
  /// False if it meets a conflict.
  bool propagate();
  bool visit(int falseLiteral);
  static void normalize(std::vector<int> &literals) {
    std::sort(literals.begin(), literals.end());
    literals.erase(std::unique(literals.begin(), literals.end()),
                   literals.end());
  }
  static uint64_t hashOf(const std::vector<int> &sorted) {
    uint64_t hash = 1469598103934665603ULL;
    for (int literal : sorted)
      hash = (hash ^ static_cast<uint32_t>(literal)) * 1099511628211ULL;
    return hash;
  }

  std::vector<Clause> clauses;
  std::vector<std::vector<size_t>> watches;
  std::vector<signed char> values;
  std::vector<int> trail;
  size_t propagated = 0;
  std::unordered_multimap<uint64_t, size_t> byHash;
  bool refuted = false;
};

/// Finds another literal to watch in each clause that watches one that has
/// become false.
bool Checker::visit(int falseLiteral) {
  std::vector<size_t> &list = watches[indexOf(falseLiteral)];
  size_t kept = 0, i = 0;
  bool isFine = true;
  for (; i < list.size() && isFine; ++i) {
    Clause &clause = clauses[list[i]];
    if (clause.isDeleted)
      continue;
    std::vector<int> &c = clause.literals;
    if (c[0] == falseLiteral)
      std::swap(c[0], c[1]);
    size_t next = 2;
    if (valueOf(c[0]) <= 0)
      while (next < c.size() && valueOf(c[next]) < 0)
        ++next;
    if (valueOf(c[0]) <= 0 && next < c.size()) {
      std::swap(c[1], c[next]);
      watches[indexOf(c[1])].push_back(list[i]);
      continue;
    }
    list[kept++] = list[i];
    if (valueOf(c[0]) == 0)
      assign(c[0]);
    else if (valueOf(c[0]) < 0)
      isFine = false;
  }
  for (; i < list.size(); ++i)
    list[kept++] = list[i];
  list.resize(kept);
  return isFine;
}

bool Checker::propagate() {
  while (propagated < trail.size())
    if (!visit(-trail[propagated++]))
      return false;
  return true;
}

void Checker::add(std::vector<int> literals) {
  normalize(literals);
  for (int literal : literals)
    if (std::binary_search(literals.begin(), literals.end(), -literal))
      return;
  if (refuted)
    return;
  uint64_t hash = hashOf(literals);
  // Those that are not false come first. What is assigned here stays so.
  std::stable_partition(literals.begin(), literals.end(),
                        [&](int literal) { return valueOf(literal) >= 0; });
  auto open = std::count_if(literals.begin(), literals.end(),
                            [&](int literal) { return valueOf(literal) >= 0; });
  if (open == 0) {
    refuted = true;
    return;
  }
  if (open == 1) {
    if (valueOf(literals[0]) == 0)
      assign(literals[0]);
    refuted = !propagate();
    return;
  }
  size_t id = clauses.size();
  watches[indexOf(literals[0])].push_back(id);
  watches[indexOf(literals[1])].push_back(id);
  byHash.emplace(hash, id);
  clauses.push_back({std::move(literals)});
}

void Checker::remove(std::vector<int> literals) {
  normalize(literals);
  auto [first, last] = byHash.equal_range(hashOf(literals));
  for (auto it = first; it != last; ++it) {
    Clause &clause = clauses[it->second];
    std::vector<int> sorted = clause.literals;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != literals)
      continue;
    clause.isDeleted = true;
    byHash.erase(it);
    return;
  }
}

bool Checker::follows(const std::vector<int> &literals) {
  if (refuted)
    return true;
  size_t before = trail.size();
  bool isFine = true;
  for (int literal : literals) {
    if (valueOf(literal) > 0)
      isFine = false;
    else if (valueOf(literal) == 0)
      assign(-literal);
  }
  bool result = !isFine || !propagate();
  while (trail.size() > before) {
    values[static_cast<size_t>(std::abs(trail.back()))] = 0;
    trail.pop_back();
  }
  propagated = trail.size();
  return result;
}

} // namespace

/// Reads literals up to the 0 that ends them. False if there is none.
static bool readClause(std::string_view &text, int variables,
                       std::vector<int> &literals) {
  literals.clear();
  while (true) {
    text.remove_prefix(
        std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    int literal = 0;
    auto [end, wrong] =
        std::from_chars(text.data(), text.data() + text.size(), literal);
    if (wrong != std::errc())
      return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (literal == 0)
      return true;
    if (literal > variables || literal < -variables)
      return false;
    literals.push_back(literal);
  }
}

std::string ccn::synth::checkRup(const Cnf &cnf, std::string_view proof,
                                 int64_t *lemmas) {
  Checker checker(cnf.variables);
  for (const std::vector<int> &clause : cnf.clauses)
    checker.add(clause);
  int64_t count = 0;
  std::vector<int> literals;
  while (!checker.isRefuted()) {
    proof.remove_prefix(
        std::min(proof.find_first_not_of(" \t\r\n"), proof.size()));
    if (proof.empty())
      return "the proof ends after " + std::to_string(count) +
             " lemmas without a contradiction";
    bool isDeletion = proof.front() == 'd';
    if (isDeletion)
      proof.remove_prefix(1);
    if (!readClause(proof, cnf.variables, literals))
      return "expected literals of " + std::to_string(cnf.variables) +
             " variables that end with 0 after lemma " + std::to_string(count);
    if (isDeletion) {
      checker.remove(literals);
      continue;
    }
    ++count;
    if (!checker.follows(literals))
      return "lemma " + std::to_string(count) +
             " does not follow by propagation";
    checker.add(literals);
  }
  if (lemmas)
    *lemmas = count;
  return "";
}
