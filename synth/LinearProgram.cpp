//===- LinearProgram.cpp - Linear and integer programs --------------------===//
//
// See LinearProgram.h.
//
//===----------------------------------------------------------------------===//

#include "synth/LinearProgram.h"
#include "synth/ColumnProgram.h"
#include "synth/Z3Watchdog.h"

#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinError.hpp>
#include <CoinPackedMatrix.hpp>

#include <cmath>
#include <optional>

using namespace ccn::synth;

namespace ccn::synth {

/// Ends Clp's work when the limits expire.
class ClpWatch : public ClpEventHandler {
public:
  explicit ClpWatch(const Limits &limits) : limits(limits) {}
  ClpEventHandler *clone() const override { return new ClpWatch(*this); }
  int event(Event /*whichEvent*/) override {
    constexpr int goOn = -1, stop = 0;
    return limits.expired() ? stop : goOn;
  }

private:
  const Limits &limits;
};

/// A LinearProgram as Clp's own object, whose columns count from 0.
class ClpProgram {
public:
  ClpProgram(const LinearProgram &program, const Limits &limits,
             const LinearProgram::Terms &cost = {})
      : columns(static_cast<int>(program.lowerBounds.size())), limits(limits) {
    std::vector<int> rowOf, columnOf;
    std::vector<double> coefficients, least, most;
    for (size_t r = 0; r < program.rows.size(); ++r) {
      const LinearProgram::Row &row = program.rows[r];
      for (auto [column, c] : row.terms)
        if (c != 0) {
          rowOf.push_back(static_cast<int>(r));
          columnOf.push_back(column - 1);
          coefficients.push_back(static_cast<double>(c));
        }
      double bound = static_cast<double>(row.bound);
      bool below = row.relation == LinearProgram::Relation::AtMost ||
                   row.relation == LinearProgram::Relation::Below;
      bool above = row.relation == LinearProgram::Relation::AtLeast;
      least.push_back(below ? -COIN_DBL_MAX : bound);
      most.push_back(above ? COIN_DBL_MAX : bound);
    }
    CoinPackedMatrix matrix(/*colordered=*/true, rowOf.data(), columnOf.data(),
                            coefficients.data(),
                            static_cast<CoinBigIndex>(coefficients.size()));
    matrix.setDimensions(static_cast<int>(program.rows.size()), columns);
    std::vector<double> objective(columns),
        lower(program.lowerBounds.begin(), program.lowerBounds.end());
    for (auto [column, c] : cost)
      objective[column - 1] = static_cast<double>(c);
    simplex.setLogLevel(0);
    simplex.loadProblem(matrix, lower.data(), /*colub=*/nullptr,
                        objective.data(), least.data(), most.data());
    ClpWatch watch(limits);
    simplex.passInEventHandler(&watch);
  }

  /// Solves from where the last solution was. Yes means an optimal one.
  Answer solve() {
    if (limits.expired())
      return Answer::Unknown;
    try {
      simplex.dual();
    } catch (const CoinError &) {
      return Answer::Unknown;
    }
    constexpr int optimal = 0, infeasible = 1;
    return simplex.status() == optimal      ? Answer::Yes
           : simplex.status() == infeasible ? Answer::No
                                            : Answer::Unknown;
  }

  /// A solution in whole numbers after `solve` has found one in fractions.
  Answer branch(int64_t nodes);

  int columns;
  const Limits &limits;
  ClpSimplex simplex;

private:
  /// Bounds that a column had before it was rounded, down to `floor` or up.
  struct Choice {
    int column;
    double lower, upper, floor;
    bool up, isSecond = false;
  };
  std::optional<Choice> choose() const;
  void apply(const Choice &choice) {
    simplex.setColumnBounds(choice.column,
                            choice.up ? choice.floor + 1 : choice.lower,
                            choice.up ? choice.upper : choice.floor);
  }
};

/// The column with the smallest fraction, to be rounded up first; none where
/// all are whole. Rounding by this rule gathers flows on few ways, so that they
/// soon are whole. We also tried to round the column nearest to a whole number,
/// the farthest from one, and the largest fraction; none of these rules solved
/// all of our integer programs.
std::optional<ClpProgram::Choice> ClpProgram::choose() const {
  constexpr double tiny = 1e-6;
  std::optional<Choice> best;
  double least = 1;
  for (int c = 0; c < columns; ++c) {
    double x = simplex.primalColumnSolution()[c];
    double fraction = x - std::floor(x);
    if (fraction < tiny || fraction > 1 - tiny || fraction >= least)
      continue;
    least = fraction;
    best = Choice{c, simplex.columnLower()[c], simplex.columnUpper()[c],
                  std::floor(x), /*up=*/true};
  }
  return best;
}

Answer ClpProgram::branch(int64_t nodes) {
  // Depth first: the way from the root to the present node.
  std::vector<Choice> way;
  Answer here = Answer::Yes;
  bool sure = true;
  for (;;) {
    if (here == Answer::Yes) {
      std::optional<Choice> next = choose();
      if (!next)
        return Answer::Yes;
      if (--nodes < 0)
        return Answer::Unknown;
      way.push_back(*next);
    } else {
      if (limits.expired())
        return Answer::Unknown;
      sure &= here == Answer::No;
      for (; !way.empty() && way.back().isSecond; way.pop_back())
        simplex.setColumnBounds(way.back().column, way.back().lower,
                                way.back().upper);
      if (way.empty())
        return sure ? Answer::No : Answer::Unknown;
      way.back().up = !way.back().up;
      way.back().isSecond = true;
    }
    apply(way.back());
    here = solve();
  }
}

} // namespace ccn::synth

Answer LinearProgram::relax(LpSolver solver, const Limits &limits) const {
  if (solver == LpSolver::Clp) {
    Answer answer = ClpProgram(*this, limits).solve();
    if (answer != Answer::No)
      return answer;
  }
  return solveZ3(false, limits, nullptr);
}

bool LinearProgram::holds(const std::vector<int64_t> &values) const {
  for (size_t c = 0; c < lowerBounds.size(); ++c)
    if (values[c + 1] < lowerBounds[c])
      return false;
  for (const Row &row : rows) {
    __int128 sum = 0;
    for (auto [column, c] : row.terms)
      sum += static_cast<__int128>(c) * values[column];
    if (row.relation == Relation::Equal    ? sum != row.bound
        : row.relation == Relation::AtMost ? sum > row.bound
        : row.relation == Relation::Below  ? sum >= row.bound
                                           : sum < row.bound)
      return false;
  }
  return true;
}

Answer LinearProgram::solveIntegers(LpSolver solver, const Limits &limits,
                                    int64_t effort,
                                    std::vector<int64_t> &values) const {
  if (solver == LpSolver::Z3)
    return solveZ3(true, limits, &values);
  ClpProgram program(*this, limits);
  Answer answer = program.solve();
  if (answer == Answer::Yes)
    answer = program.branch(effort);
  if (answer != Answer::Yes)
    return answer;
  values.assign(lowerBounds.size() + 1, 0);
  for (int c = 0; c < program.columns; ++c)
    values[c + 1] = std::llround(program.simplex.primalColumnSolution()[c]);
  return holds(values) ? Answer::Yes : Answer::Unknown;
}

Answer LinearProgram::minimize(const Terms &cost, const Limits &limits,
                               std::vector<double> &values,
                               std::vector<double> &duals) const {
  ClpProgram program(*this, limits, cost);
  Answer answer = program.solve();
  if (answer != Answer::Yes)
    return answer;
  const double *x = program.simplex.primalColumnSolution();
  const double *y = program.simplex.dualRowSolution();
  values.assign(1, 0);
  values.insert(values.end(), x, x + program.columns);
  duals.assign(y, y + rows.size());
  return Answer::Yes;
}

Answer LinearProgram::solveZ3(bool integers, const Limits &limits,
                              std::vector<int64_t> *values) const {
  try {
    z3::context context;
    z3::solver solver(context, integers ? "QF_LIA" : "QF_LRA");
    z3::expr_vector columns(context);
    auto number = [&](int64_t n) {
      return integers ? context.int_val(n) : context.real_val(n);
    };
    for (size_t c = 0; c < lowerBounds.size(); ++c) {
      z3::symbol name = context.int_symbol(static_cast<int>(c));
      columns.push_back(context.constant(name, integers ? context.int_sort()
                                                        : context.real_sort()));
      solver.add(columns[static_cast<unsigned>(c)] >= number(lowerBounds[c]));
    }
    for (const Row &row : rows) {
      z3::expr_vector terms(context);
      for (auto [column, c] : row.terms) {
        z3::expr x = columns[column - 1];
        if (c != 0)
          terms.push_back(c == 1 ? x : number(c) * x);
      }
      z3::expr sum = terms.empty() ? number(0) : z3::sum(terms);
      z3::expr bound = number(row.bound);
      solver.add(row.relation == Relation::Equal    ? sum == bound
                 : row.relation == Relation::AtMost ? sum <= bound
                 : row.relation == Relation::Below  ? sum < bound
                                                    : sum >= bound);
    }
    z3::check_result status = z3::unknown;
    {
      Z3Watchdog watchdog(context, limits);
      status = solver.check();
    }
    if (status == z3::unsat)
      return Answer::No;
    if (status != z3::sat)
      return Answer::Unknown;
    if (values) {
      z3::model model = solver.get_model();
      values->assign(lowerBounds.size() + 1, 0);
      for (size_t c = 0; c < lowerBounds.size(); ++c)
        (*values)[c + 1] = model.eval(columns[static_cast<unsigned>(c)], true)
                               .get_numeral_int64();
    }
    return Answer::Yes;
  } catch (const z3::exception &) {
    // Z3 throws when it is interrupted at an unlucky moment.
    return Answer::Unknown;
  }
}

ColumnProgram::ColumnProgram(const std::vector<double> &atMost,
                             const std::vector<char> &equal)
    : simplex(std::make_unique<ClpSimplex>()) {
  simplex->setLogLevel(0);
  simplex->setPerturbation(50);
  simplex->resize(static_cast<int>(atMost.size()), 0);
  for (size_t row = 0; row < atMost.size(); ++row)
    simplex->setRowBounds(static_cast<int>(row),
                          equal[row] ? atMost[row] : -COIN_DBL_MAX,
                          atMost[row]);
}

ColumnProgram::~ColumnProgram() = default;

int ColumnProgram::addColumn(double cost,
                             const std::vector<std::pair<int, double>> &terms) {
  std::vector<int> rows;
  std::vector<double> coefficients;
  for (auto [row, coefficient] : terms) {
    rows.push_back(row);
    coefficients.push_back(coefficient);
  }
  simplex->addColumn(static_cast<int>(rows.size()), rows.data(),
                     coefficients.data(), 0, COIN_DBL_MAX, cost);
  return simplex->numberColumns() - 1;
}

Answer ColumnProgram::minimize(const Limits &limits,
                               std::vector<double> &values,
                               std::vector<double> &duals) {
  if (limits.expired())
    return Answer::Unknown;
  try {
    // With Clp's own copy of the watch.
    ClpWatch watch(limits);
    simplex->passInEventHandler(&watch);
    simplex->primal();
  } catch (const CoinError &) {
    return Answer::Unknown;
  }
  constexpr int optimal = 0, infeasible = 1;
  if (simplex->status() != optimal)
    return simplex->status() == infeasible ? Answer::No : Answer::Unknown;
  const double *x = simplex->primalColumnSolution();
  const double *y = simplex->dualRowSolution();
  values.assign(x, x + simplex->numberColumns());
  duals.assign(y, y + simplex->numberRows());
  return Answer::Yes;
}
