//===- Sat.cpp - CaDiCaL and Z3 behind one interface ----------------------===//
//
// Cardinality constraints reach CaDiCaL as sequential counters (Sinz 2005),
// which count upwards only where an upper bound is all there is, and both ways
// where a lower bound binds too. Z3's finite-domain solver takes them as
// pseudo-Boolean constraints.
//
//===----------------------------------------------------------------------===//

#include "synth/Sat.h"
#include "synth/Z3Watchdog.h"

#include <cadical.hpp>

using namespace ccn::synth;

void Model::cardinality(std::vector<int> literals, int lo, int hi) {
  int n = static_cast<int>(literals.size());
  lo = std::max(lo, 0);
  if (lo > n || hi < lo) {
    contradiction = true;
    return;
  }
  if (lo == 0 && hi >= n)
    return;
  if (hi == 0) {
    for (int literal : literals)
      clause({-literal});
    return;
  }
  if (lo == n) {
    for (int literal : literals)
      clause({literal});
    return;
  }
  if (lo == 1 && hi >= n) {
    clause(std::move(literals));
    return;
  }
  cards.push_back({std::move(literals), lo, std::min(hi, n)});
}

namespace {

class CadicalRun : public CaDiCaL::Terminator {
public:
  CadicalRun(const Model &model, const Limits &limits)
      : model(model), limits(limits), nextVar(model.numVars()) {}

  SatResult run(int64_t effort, uint64_t seed);
  bool terminate() override { return limits.expired(); }

private:
  void add(std::initializer_list<int> literals) {
    for (int literal : literals)
      solver.add(literal);
    solver.add(0);
  }
  void encode(const Model::Cardinality &card);
  void pairwise(const std::vector<int> &literals);

  const Model &model;
  const Limits &limits;
  CaDiCaL::Solver solver;
  int nextVar;
};

void CadicalRun::pairwise(const std::vector<int> &literals) {
  for (size_t i = 0; i < literals.size(); ++i)
    for (size_t j = i + 1; j < literals.size(); ++j)
      add({-literals[i], -literals[j]});
}

void CadicalRun::encode(const Model::Cardinality &card) {
  std::vector<int> x = card.literals;
  int n = static_cast<int>(x.size()), lo = card.lo, hi = card.hi;
  // More than half: count the false ones instead.
  if (lo > 0 && hi >= n) {
    for (int &literal : x)
      literal = -literal;
    hi = n - lo;
    lo = 0;
  } else if (hi > n / 2 && n - lo < hi) {
    for (int &literal : x)
      literal = -literal;
    int newHi = n - lo;
    lo = n - hi;
    hi = newHi;
  }
  if (hi == 1 && lo == 0 && n <= 6) {
    pairwise(x);
    return;
  }
  // count[j]: at least j + 1 of the literals so far are true; 0: cannot be.
  std::vector<int> count;
  for (int i = 0; i < n; ++i) {
    int width = std::min(i + 1, hi);
    std::vector<int> next(width);
    for (int &v : next)
      v = ++nextVar;
    for (int j = 0; j < width; ++j) {
      bool carried = j < static_cast<int>(count.size());
      if (carried)
        add({-count[j], next[j]});
      if (j == 0)
        add({-x[i], next[0]});
      else
        add({-x[i], -count[j - 1], next[j]});
      if (lo > 0) {
        // next[j] only if carried over, or x[i] on top of count[j - 1].
        if (carried)
          add({-next[j], count[j], x[i]});
        else
          add({-next[j], x[i]});
        if (j > 0) {
          if (carried)
            add({-next[j], count[j], count[j - 1]});
          else
            add({-next[j], count[j - 1]});
        }
      }
    }
    if (static_cast<int>(count.size()) == hi)
      add({-x[i], -count[hi - 1]});
    count = std::move(next);
  }
  if (lo > 0)
    add({count[lo - 1]});
}

SatResult CadicalRun::run(int64_t effort, uint64_t seed) {
  solver.set("quiet", 1);
  // Twice as fast on these models as with chronological backtracking.
  solver.set("chrono", 0);
  solver.set("seed", static_cast<int>(seed % 2000000000));
  for (const std::vector<int> &clause : model.clauses()) {
    for (int literal : clause)
      solver.add(literal);
    solver.add(0);
  }
  for (const Model::Cardinality &card : model.cardinalities())
    encode(card);
  if (effort > 0)
    solver.limit("conflicts",
                 static_cast<int>(std::min<int64_t>(effort, 2000000000)));
  solver.connect_terminator(this);
  int status = solver.solve();
  solver.disconnect_terminator();
  SatResult result;
  if (status == 20) {
    result.answer = Answer::No;
  } else if (status == 10) {
    result.answer = Answer::Yes;
    result.values.assign(model.numVars() + 1, 0);
    for (int v = 1; v <= model.numVars(); ++v)
      result.values[v] = v <= solver.vars() && solver.val(v) > 0;
  }
  return result;
}

SatResult runZ3(const Model &model, const Limits &limits, int64_t effort,
                uint64_t seed) {
  SatResult result;
  try {
    z3::context context;
    z3::solver solver(context, "QF_FD");
    z3::params params(context);
    params.set("random_seed", static_cast<unsigned>(seed % 2000000000));
    if (effort > 0)
      params.set("max_conflicts",
                 static_cast<unsigned>(std::min<int64_t>(effort, 2000000000)));
    solver.set(params);
    z3::expr_vector vars(context);
    for (int v = 1; v <= model.numVars(); ++v)
      vars.push_back(
          context.constant(context.int_symbol(v), context.bool_sort()));
    auto lit = [&](int literal) {
      z3::expr v = vars[std::abs(literal) - 1];
      return literal > 0 ? v : !v;
    };
    for (const std::vector<int> &clause : model.clauses()) {
      z3::expr_vector literals(context);
      for (int literal : clause)
        literals.push_back(lit(literal));
      solver.add(z3::mk_or(literals));
    }
    for (const Model::Cardinality &card : model.cardinalities()) {
      z3::expr_vector literals(context);
      for (int literal : card.literals)
        literals.push_back(lit(literal));
      std::vector<int> ones(card.literals.size(), 1);
      if (card.lo == card.hi) {
        solver.add(z3::pbeq(literals, ones.data(), card.lo));
        continue;
      }
      if (card.hi < static_cast<int>(ones.size()))
        solver.add(z3::pble(literals, ones.data(), card.hi));
      if (card.lo > 0)
        solver.add(z3::pbge(literals, ones.data(), card.lo));
    }
    z3::check_result status = z3::unknown;
    {
      Z3Watchdog watchdog(context, limits);
      status = solver.check();
    }
    if (status == z3::unsat) {
      result.answer = Answer::No;
    } else if (status == z3::sat) {
      result.answer = Answer::Yes;
      z3::model values = solver.get_model();
      result.values.assign(model.numVars() + 1, 0);
      for (int v = 1; v <= model.numVars(); ++v)
        result.values[v] = values.eval(vars[v - 1], false).is_true();
    }
  } catch (const z3::exception &) {
    // Z3 throws when it is interrupted at an unlucky moment.
    result.answer = Answer::Unknown;
  }
  return result;
}

} // namespace

SatResult ccn::synth::solveModel(const Model &model, SatSolver solver,
                                 const Limits &limits, int64_t effort,
                                 uint64_t seed) {
  if (model.contradiction)
    return {Answer::No, {}};
  if (limits.expired())
    return {};
  if (solver == SatSolver::Z3)
    return runZ3(model, limits, effort, seed);
  return CadicalRun(model, limits).run(effort, seed);
}
