//===- Sat.h - Boolean models and the solvers behind them -------*- C++ -*-===//
//
// A Boolean model of clauses and cardinality constraints, and two solvers for
// it: CaDiCaL (constraints become counters) and Z3 (which knows them).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_SAT_H
#define CCN_SYNTH_SAT_H

#include "synth/Support.h"

#include <cstdint>
#include <vector>

namespace ccn::synth {

/// Variables count from 1; a literal is a variable or its negative.
class Model {
public:
  /// `lo` <= true literals <= `hi`; a literal listed twice counts twice.
  struct Cardinality {
    std::vector<int> literals;
    int lo, hi;
  };

  int newVar() { return ++variables; }
  int numVars() const { return variables; }
  void clause(std::vector<int> literals) {
    clauseList.push_back(std::move(literals));
  }
  /// Constraints that cannot fail are left out.
  void cardinality(std::vector<int> literals, int lo, int hi);
  void atMostOne(std::vector<int> literals) {
    cardinality(std::move(literals), 0, 1);
  }
  const std::vector<std::vector<int>> &clauses() const { return clauseList; }
  const std::vector<Cardinality> &cardinalities() const { return cards; }
  /// Set by construction when a constraint can never hold.
  bool contradiction = false;

private:
  int variables = 0;
  std::vector<std::vector<int>> clauseList;
  std::vector<Cardinality> cards;
};

enum class Answer { Yes, No, Unknown };
enum class SatSolver { Cadical, Z3 };

struct SatResult {
  Answer answer = Answer::Unknown;
  /// values[v]: whether variable v is true (answer Yes only).
  std::vector<char> values;
};

/// Solves `model`. `effort` bounds the work (conflicts; 0: no bound), so that
/// results depend on `seed` alone and not on the clock; `limits` stops it.
SatResult solveModel(const Model &model, SatSolver solver, const Limits &limits,
                     int64_t effort, uint64_t seed);

} // namespace ccn::synth

#endif // CCN_SYNTH_SAT_H
