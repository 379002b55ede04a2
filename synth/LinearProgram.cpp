//===- LinearProgram.cpp - Linear and integer programs --------------------===//
//
// See LinearProgram.h.
//
//===----------------------------------------------------------------------===//

#include "synth/LinearProgram.h"
#include "synth/Z3Watchdog.h"

#include <glpk.h>

#include <algorithm>
#include <cmath>

using namespace ccn::synth;

namespace ccn::synth {

/// A LinearProgram as GLPK's own object.
class GlpkProgram {
public:
  explicit GlpkProgram(const LinearProgram &program) : lp(glp_create_prob()) {
    glp_term_out(GLP_OFF);
    if (!program.lowerBounds.empty())
      glp_add_cols(lp, static_cast<int>(program.lowerBounds.size()));
    for (size_t c = 0; c < program.lowerBounds.size(); ++c)
      glp_set_col_bnds(lp, static_cast<int>(c) + 1, GLP_LO,
                       static_cast<double>(program.lowerBounds[c]), 0);
    if (!program.rows.empty())
      glp_add_rows(lp, static_cast<int>(program.rows.size()));
    for (size_t r = 0; r < program.rows.size(); ++r) {
      const LinearProgram::Row &row = program.rows[r];
      std::vector<int> index = {0};
      std::vector<double> coefficient = {0};
      for (auto [column, c] : row.terms)
        if (c != 0) {
          index.push_back(column);
          coefficient.push_back(static_cast<double>(c));
        }
      int type = row.relation == LinearProgram::Relation::Equal     ? GLP_FX
                 : row.relation == LinearProgram::Relation::AtLeast ? GLP_LO
                                                                    : GLP_UP;
      double bound = static_cast<double>(row.bound);
      glp_set_row_bnds(lp, static_cast<int>(r) + 1, type, bound, bound);
      glp_set_mat_row(lp, static_cast<int>(r) + 1,
                      static_cast<int>(index.size()) - 1, index.data(),
                      coefficient.data());
    }
  }
  ~GlpkProgram() { glp_delete_prob(lp); }
  GlpkProgram(const GlpkProgram &) = delete;
  GlpkProgram &operator=(const GlpkProgram &) = delete;

  Answer simplex(const Limits &limits) {
    glp_smcp options;
    glp_init_smcp(&options);
    options.msg_lev = GLP_MSG_OFF;
    options.tm_lim = milliseconds(limits);
    options.meth = GLP_DUALP;
    glp_scale_prob(lp, GLP_SF_AUTO);
    glp_adv_basis(lp, 0);
    if (glp_simplex(lp, &options) != 0)
      return Answer::Unknown;
    int status = glp_get_status(lp);
    if (status == GLP_OPT || status == GLP_FEAS)
      return Answer::Yes;
    return status == GLP_NOFEAS ? Answer::No : Answer::Unknown;
  }

  static int milliseconds(const Limits &limits) {
    return static_cast<int>(std::clamp(limits.remaining() * 1000, 1.0, 1e8));
  }

  glp_prob *lp;
};

} // namespace ccn::synth

Answer LinearProgram::relax(LpSolver solver, const Limits &limits) const {
  if (solver == LpSolver::Glpk) {
    Answer answer = GlpkProgram(*this).simplex(limits);
    if (answer != Answer::No)
      return answer;
  }
  return solveZ3(false, limits, nullptr);
}

namespace {

struct Watch {
  const Limits *limits;
  int64_t nodesLeft;
};

void onNode(glp_tree *tree, void *info) {
  Watch *watch = static_cast<Watch *>(info);
  bool outOfNodes =
      glp_ios_reason(tree) == GLP_ISELECT && --watch->nodesLeft < 0;
  // Any solution will do: stop at the first.
  if (outOfNodes || glp_ios_reason(tree) == GLP_IBINGO ||
      watch->limits->expired())
    glp_ios_terminate(tree);
}

} // namespace

Answer LinearProgram::solveIntegers(LpSolver solver, const Limits &limits,
                                    int64_t effort,
                                    std::vector<int64_t> &values) const {
  if (solver == LpSolver::Z3)
    return solveZ3(true, limits, &values);
  GlpkProgram program(*this);
  for (size_t c = 1; c <= lowerBounds.size(); ++c)
    glp_set_col_kind(program.lp, static_cast<int>(c), GLP_IV);
  Answer relaxed = program.simplex(limits);
  if (relaxed != Answer::Yes)
    return relaxed;
  glp_iocp options;
  glp_init_iocp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.tm_lim = GlpkProgram::milliseconds(limits);
  options.br_tech = GLP_BR_DTH;
  options.bt_tech = GLP_BT_DFS;
  options.fp_heur = GLP_ON;
  Watch watch{&limits, effort};
  options.cb_func = onNode;
  options.cb_info = &watch;
  int code = glp_intopt(program.lp, &options);
  int status = glp_mip_status(program.lp);
  if (status == GLP_OPT || status == GLP_FEAS) {
    values.assign(lowerBounds.size() + 1, 0);
    for (size_t c = 1; c <= lowerBounds.size(); ++c)
      values[c] =
          std::llround(glp_mip_col_val(program.lp, static_cast<int>(c)));
    return Answer::Yes;
  }
  return code == 0 && status == GLP_NOFEAS ? Answer::No : Answer::Unknown;
}

Answer LinearProgram::minimize(const Terms &cost, const Limits &limits,
                               std::vector<double> &values,
                               std::vector<double> &duals) const {
  GlpkProgram program(*this);
  glp_set_obj_dir(program.lp, GLP_MIN);
  for (auto [column, c] : cost)
    glp_set_obj_coef(program.lp, column, static_cast<double>(c));
  Answer answer = program.simplex(limits);
  if (answer != Answer::Yes || glp_get_status(program.lp) != GLP_OPT)
    return answer == Answer::Yes ? Answer::Unknown : answer;
  values.assign(lowerBounds.size() + 1, 0);
  for (size_t c = 1; c <= lowerBounds.size(); ++c)
    values[c] = glp_get_col_prim(program.lp, static_cast<int>(c));
  duals.assign(rows.size(), 0);
  for (size_t r = 0; r < rows.size(); ++r)
    duals[r] = glp_get_row_dual(program.lp, static_cast<int>(r) + 1);
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
