//===- Solver.cpp - Asks Z3 about expressions -----------------------------===//
//
// Translates every expression once. Symbols of integer types become integers in
// the range of their type, converted to reals; all other expressions are reals
// or truth values.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Solver.h"

#include "synth/Z3Watchdog.h"

#include <algorithm>
#include <map>
#include <optional>

namespace ccn::verify {

class Solver::Translation {
public:
  explicit Translation(const Expressions &exprs) : exprs(exprs) {}

  SolverAnswer compare(Expr a, Expr b, std::pair<Expr, Expr> shown,
                       double seconds, const synth::Limits &limits);

private:
  z3::expr translate(const ExprNode &node);
  z3::expr symbol(const ExprNode &node);
  z3::expr apply(const ExprNode &node);
  z3::expr fold(const ExprNode &node, bool isMax);
  z3::expr of(Expr expr) const { return translated.at(expr); }
  z3::expr number(const Rational &value) {
    return context.real_val(describe(value).c_str());
  }
  /// Adds the ranges of the symbols of integer types among the parts.
  void addRanges(z3::solver &solver, const std::vector<Expr> &parts);
  /// Adds simple facts about the functions that are applied in the parts.
  void addFacts(z3::solver &solver, const std::vector<Expr> &parts);
  void readModel(const z3::model &model, std::pair<Expr, Expr> shown,
                 SolverAnswer &answer);

  const Expressions &exprs;
  z3::context context;
  std::unordered_map<Expr, z3::expr> translated;
};

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

z3::expr Solver::Translation::symbol(const ExprNode &node) {
  std::string name = "s" + std::to_string(node.tag);
  runtime::ElementType type = exprs.symbolOf(node).type;
  if (type == runtime::ElementType::Bool)
    return context.bool_const(name.c_str());
  if (runtime::isInteger(type))
    return z3::to_real(context.int_const(name.c_str()));
  return context.real_const(name.c_str());
}

z3::expr Solver::Translation::apply(const ExprNode &node) {
  if (node.function == Function::Inverse && exprs.isNumber(node.args[0]) &&
      exprs.numberOf(node.args[0]).num != 0)
    return number(Rational(1) / exprs.numberOf(node.args[0]));
  z3::sort_vector sorts(context);
  z3::expr_vector args(context);
  for (Expr arg : node.args) {
    sorts.push_back(of(arg).get_sort());
    args.push_back(of(arg));
  }
  std::string text(name(node.function));
  if (node.function == Function::Truncate || node.function == Function::Wrap)
    text += " " + std::string(runtime::name(node.type));
  return context.function(text.c_str(), sorts,
                          node.isTruth ? context.bool_sort()
                                       : context.real_sort())(args);
}

z3::expr Solver::Translation::fold(const ExprNode &node, bool isMax) {
  z3::expr result = of(node.args[0]);
  for (size_t i = 1; i < node.args.size(); ++i) {
    z3::expr next = of(node.args[i]);
    result = z3::ite(isMax ? result >= next : result <= next, result, next);
  }
  return result;
}

z3::expr Solver::Translation::translate(const ExprNode &node) {
  z3::expr_vector args(context);
  for (Expr arg : node.args)
    args.push_back(of(arg));
  auto first = [&] { return of(node.args[0]); };
  switch (node.kind) {
  case ExprKind::Number:
    return number(node.coefficients[0]);
  case ExprKind::Truth:
    return context.bool_val(node.tag != 0);
  case ExprKind::Symbol:
    return symbol(node);
  case ExprKind::Infinity:
    return context.real_const(node.tag == 0 ? "-inf" : "inf");
  case ExprKind::Sum: {
    z3::expr_vector terms(context);
    for (unsigned i = 0; i < args.size(); ++i)
      terms.push_back(node.coefficients[i] == Rational(1)
                          ? args[i]
                          : number(node.coefficients[i]) * args[i]);
    terms.push_back(number(node.coefficients.back()));
    return z3::sum(terms);
  }
  case ExprKind::Product: {
    z3::expr result = number(Rational(1));
    for (z3::expr arg : args)
      result = result * arg;
    return result;
  }
  case ExprKind::Max:
    return fold(node, true);
  case ExprKind::Min:
    return fold(node, false);
  case ExprKind::IsZero:
    return first() == 0;
  case ExprKind::IsNegative:
    return first() < 0;
  case ExprKind::Not:
    return !first();
  case ExprKind::And:
    return z3::mk_and(args);
  case ExprKind::Or:
    return z3::mk_or(args);
  case ExprKind::Same:
    return first() == of(node.args[1]);
  case ExprKind::Choice:
    return z3::ite(first(), of(node.args[1]), of(node.args[2]));
  case ExprKind::Apply:
    return apply(node);
  }
  return number(Rational(0));
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

void Solver::Translation::addRanges(z3::solver &solver,
                                    const std::vector<Expr> &parts) {
  for (Expr part : parts) {
    const ExprNode &node = exprs.node(part);
    if (node.kind != ExprKind::Symbol)
      continue;
    runtime::ElementType type = exprs.symbolOf(node).type;
    if (!runtime::isInteger(type))
      continue;
    bool isSigned = runtime::isSignedInteger(type);
    int bits = 8 * runtime::sizeInBytes(type) - isSigned;
    z3::expr end = z3::pw(context.int_val(2), context.int_val(bits));
    z3::expr symbol = of(part);
    solver.add(symbol < z3::to_real(end).simplify());
    solver.add(symbol >=
               (isSigned ? -z3::to_real(end) : context.real_val(0)).simplify());
  }
}

void Solver::Translation::addFacts(z3::solver &solver,
                                   const std::vector<Expr> &parts) {
  for (Expr part : parts) {
    const ExprNode &node = exprs.node(part);
    if (node.kind != ExprKind::Apply)
      continue;
    z3::expr value = of(part), x = of(node.args[0]);
    switch (node.function) {
    case Function::Inverse:
      solver.add(z3::implies(x != 0, x * value == 1));
      break;
    case Function::Exp:
      solver.add(value > 0);
      break;
    case Function::Sqrt:
      solver.add(z3::implies(x >= 0, value >= 0 && value * value == x));
      break;
    case Function::Tanh:
      solver.add(value > -1 && value < 1);
      break;
    default:
      break;
    }
  }
}

void Solver::Translation::readModel(const z3::model &model,
                                    std::pair<Expr, Expr> shown,
                                    SolverAnswer &answer) {
  auto textOf = [&](z3::expr value) {
    value = model.eval(value, true);
    if (!value.is_numeral() && !value.is_algebraic())
      return value.to_string();
    return value.get_decimal_string(10);
  };
  auto doubleOf = [&](z3::expr value) -> double {
    value = model.eval(value, true);
    if (value.is_bool())
      return value.is_true();
    return value.is_numeral() || value.is_algebraic()
               ? std::strtod(value.get_decimal_string(20).c_str(), nullptr)
               : 0;
  };
  for (Expr part : exprs.partsOf({shown.first, shown.second}))
    if (exprs.node(part).kind == ExprKind::Symbol)
      answer.model[exprs.node(part).tag] = {doubleOf(of(part)),
                                            textOf(of(part))};
  answer.first = textOf(of(shown.first));
  answer.second = textOf(of(shown.second));
}

static std::string reasonOf(const z3::solver &solver) {
  return "the solver gave up: " + solver.reason_unknown();
}

SolverAnswer Solver::Translation::compare(Expr a, Expr b,
                                          std::pair<Expr, Expr> shown,
                                          double seconds,
                                          const synth::Limits &limits) {
  std::vector<Expr> parts = exprs.partsOf({a, b});
  try {
    for (Expr part : exprs.partsOf({a, b, shown.first, shown.second}))
      if (!translated.contains(part))
        translated.emplace(part, translate(exprs.node(part)));
    synth::Limits own = synth::Limits::seconds(
        std::max(0.001, std::min(seconds, limits.remaining())),
        limits.interrupt);
    SolverAnswer answer{.kind = SolverAnswer::Unknown};
    for (bool withFacts : {false, true}) {
      z3::solver solver(context, z3::solver::simple());
      // Z3's search for roots of polynomials neither ends in time nor can be
      // interrupted. Without it, the solver still reasons about products.
      solver.set("smt.arith.nl.nra", false);
      addRanges(solver, parts);
      if (withFacts)
        addFacts(solver, parts);
      solver.add(of(a) != of(b));
      z3::check_result result;
      {
        synth::Z3Watchdog watchdog(context, own);
        result = solver.check();
      }
      if (result == z3::unsat)
        return {.kind = SolverAnswer::Equal};
      if (result == z3::sat) {
        answer = {.kind = SolverAnswer::Different};
        readModel(solver.get_model(), shown, answer);
      } else if (withFacts && answer.kind == SolverAnswer::Different) {
        // The difference may come from functions that behave unlike the real
        // ones.
        answer = {.kind = SolverAnswer::Unknown, .reason = reasonOf(solver)};
      } else {
        answer.reason = reasonOf(solver);
      }
      if (own.expired()) {
        if (answer.kind == SolverAnswer::Unknown)
          answer.reason = "the solver ran out of time";
        break;
      }
    }
    return answer;
  } catch (const z3::exception &failure) {
    return {.kind = SolverAnswer::Unknown,
            .reason = std::string("the solver failed: ") + failure.msg()};
  }
}

Solver::Solver(const Expressions &exprs)
    : translation(std::make_unique<Translation>(exprs)) {}

Solver::~Solver() = default;

SolverAnswer Solver::compare(Expr a, Expr b, std::pair<Expr, Expr> shown,
                             double seconds, const synth::Limits &limits) {
  return translation->compare(a, b, shown, seconds, limits);
}

} // namespace ccn::verify
