//===- Expression.cpp - Expressions over symbols --------------------------===//
//
// Interns expressions and brings them into normal form. A sum contains no sums,
// and no number except its constant; a product contains neither products nor
// coefficients. Arguments of commutative operations are sorted by id. A sum in
// a product has leading coefficient 1. Only `expand` multiplies products out:
// that is expensive, and comparing two executions of one program rarely needs
// it.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Expression.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

#include <cmath>

namespace ccn::verify {

using llvm::DynamicAPInt;

Rational rationalOf(double value) {
  assert(std::isfinite(value) && "only finite numbers are rational");
  int exponent = 0;
  // value = mantissa * 2^exponent, and 2^53 * mantissa is an integer.
  double mantissa = std::frexp(value, &exponent);
  auto integer = static_cast<int64_t>(std::ldexp(mantissa, 53));
  exponent -= 53;
  llvm::APInt power(std::abs(exponent) + 2, 1);
  power <<= static_cast<unsigned>(std::abs(exponent));
  if (exponent >= 0)
    return Rational(DynamicAPInt(integer) * DynamicAPInt(power));
  return reduce(Rational(DynamicAPInt(integer), DynamicAPInt(power)));
}

/// The decimal text of a number that may not fit 64 bits.
static std::string describe(const DynamicAPInt &value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << value;
  return text;
}

std::string describe(const Rational &value) {
  if (value.den == 1)
    return describe(value.num);
  return describe(value.num) + "/" + describe(value.den);
}

/// A DynamicAPInt of any size can only be converted through its decimal digits.
static llvm::APFloat floatOf(const DynamicAPInt &value) {
  llvm::APFloat result(llvm::APFloat::IEEEquad());
  llvm::cantFail(result.convertFromString(describe(value),
                                          llvm::APFloat::rmNearestTiesToEven));
  return result;
}

double doubleOf(const Rational &value) {
  if (value.den == 1 && abs(value.num) < (int64_t(1) << 53))
    return static_cast<double>(static_cast<int64_t>(value.num));
  // Quadruple precision has enough range for all numbers here.
  llvm::APFloat quotient = floatOf(value.num);
  quotient.divide(floatOf(value.den), llvm::APFloat::rmNearestTiesToEven);
  bool lossy;
  quotient.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &lossy);
  return quotient.convertToDouble();
}

std::string_view name(Function function) {
  switch (function) {
  case Function::Inverse:
    return "1/x";
  case Function::Exp:
    return "exp";
  case Function::Log:
    return "log";
  case Function::Sqrt:
    return "sqrt";
  case Function::Tanh:
    return "tanh";
  case Function::Erfc:
    return "erfc";
  case Function::Pow:
    return "pow";
  case Function::FloatRemainder:
    return "remainder";
  case Function::IntegerQuotient:
    return "integer quotient";
  case Function::IntegerRemainder:
    return "integer remainder";
  case Function::Truncate:
    return "float to integer";
  case Function::Wrap:
    return "integer to integer";
  case Function::Keeps:
    return "dropout";
  case Function::OutOfRange:
    return "row out of range";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Interning
//===----------------------------------------------------------------------===//

size_t Expressions::Hash::operator()(Expr expr) const {
  const ExprNode &node = (*nodes)[expr];
  llvm::hash_code hash = llvm::hash_combine(
      node.kind, node.function, node.type, node.tag,
      llvm::hash_combine_range(node.args.begin(), node.args.end()));
  for (const Rational &c : node.coefficients)
    hash = llvm::hash_combine(hash, hash_value(c.num), hash_value(c.den));
  return hash;
}

bool Expressions::Equal::operator()(Expr a, Expr b) const {
  const ExprNode &x = (*nodes)[a], &y = (*nodes)[b];
  return x.kind == y.kind && x.function == y.function && x.type == y.type &&
         x.tag == y.tag && x.args == y.args &&
         llvm::equal(x.coefficients, y.coefficients,
                     [](const Rational &p, const Rational &q) {
                       return p.num == q.num && p.den == q.den;
                     });
}

Expressions::Expressions(bool normalize)
    : normalize(normalize), index(1024, Hash{&nodes}, Equal{&nodes}) {}

Expr Expressions::intern(ExprNode node) {
  auto id = static_cast<Expr>(nodes.size());
  nodes.push_back(std::move(node));
  auto [it, isNew] = index.insert(id);
  if (isNew)
    totalSize += 1 + static_cast<int64_t>(nodes.back().args.size());
  else
    nodes.pop_back();
  return *it;
}

Expr Expressions::number(const Rational &value) {
  return intern({.kind = ExprKind::Number, .coefficients = {value}});
}

Expr Expressions::truth(bool value) {
  return intern({.kind = ExprKind::Truth, .isTruth = true, .tag = value});
}

Expr Expressions::symbol(Symbol symbol) {
  bool isTruth = symbol.type == runtime::ElementType::Bool;
  symbols.push_back(std::move(symbol));
  return intern({.kind = ExprKind::Symbol,
                 .isTruth = isTruth,
                 .tag = static_cast<uint32_t>(symbols.size() - 1)});
}

Expr Expressions::infinity(bool negative) {
  return intern({.kind = ExprKind::Infinity, .tag = negative ? 0U : 1U});
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

Expr Expressions::sum(std::vector<Term> terms, Rational constant) {
  std::vector<Term> flat;
  if (normalize) {
    for (Term &term : terms) {
      const ExprNode &inner = node(term.value);
      if (inner.kind == ExprKind::Number) {
        constant += term.coefficient * inner.coefficients[0];
      } else if (inner.kind == ExprKind::Sum) {
        for (size_t i = 0; i < inner.args.size(); ++i)
          flat.push_back(
              {term.coefficient * inner.coefficients[i], inner.args[i]});
        constant += term.coefficient * inner.coefficients.back();
      } else {
        flat.push_back(std::move(term));
      }
    }
    llvm::sort(flat,
               [](const Term &a, const Term &b) { return a.value < b.value; });
    size_t kept = 0;
    for (size_t i = 0; i < flat.size();) {
      Term merged = flat[i++];
      for (; i < flat.size() && flat[i].value == merged.value; ++i)
        merged.coefficient += flat[i].coefficient;
      if (merged.coefficient.num != 0)
        flat[kept++] = std::move(merged);
    }
    flat.resize(kept);
    if (flat.empty())
      return number(constant);
    if (flat.size() == 1 && constant.num == 0 &&
        flat[0].coefficient == Rational(1))
      return flat[0].value;
  } else {
    flat = std::move(terms);
  }
  ExprNode result{.kind = ExprKind::Sum};
  for (Term &term : flat) {
    result.args.push_back(term.value);
    result.coefficients.push_back(std::move(term.coefficient));
  }
  result.coefficients.push_back(std::move(constant));
  return intern(std::move(result));
}

Rational Expressions::takeContent(Expr &expr) {
  const ExprNode &inner = node(expr);
  if (inner.kind != ExprKind::Sum)
    return Rational(1);
  Rational content = inner.coefficients[0];
  expr = scale(Rational(1) / content, expr);
  return content;
}

Expr Expressions::product(std::vector<Expr> factors) {
  if (!normalize)
    return intern({.kind = ExprKind::Product, .args = std::move(factors)});
  Rational coefficient(1);
  std::vector<Expr> flat;
  for (Expr factor : factors) {
    if (isNumber(factor)) {
      coefficient *= numberOf(factor);
      continue;
    }
    coefficient *= takeContent(factor);
    const ExprNode &inner = node(factor);
    if (inner.kind == ExprKind::Product)
      llvm::append_range(flat, inner.args);
    else
      flat.push_back(factor);
  }
  if (coefficient.num == 0 || flat.empty())
    return number(coefficient);
  llvm::sort(flat);
  Expr result =
      flat.size() == 1
          ? flat[0]
          : intern({.kind = ExprKind::Product, .args = std::move(flat)});
  return scale(coefficient, result);
}

Expr Expressions::inverse(Expr a) {
  if (normalize) {
    if (isNumber(a) && numberOf(a).num != 0)
      return number(Rational(1) / numberOf(a));
    Rational content = takeContent(a);
    std::vector<Expr> factors = {number(Rational(1) / content)};
    const ExprNode &inner = node(a);
    bool isProduct = inner.kind == ExprKind::Product;
    for (Expr factor : isProduct ? inner.args : std::vector<Expr>{a})
      factors.push_back(apply(Function::Inverse, {factor}));
    return product(std::move(factors));
  }
  return apply(Function::Inverse, {a});
}

//===----------------------------------------------------------------------===//
// Order and logic
//===----------------------------------------------------------------------===//

Expr Expressions::extremum(ExprKind kind, std::vector<Expr> args) {
  bool isMax = kind == ExprKind::Max;
  std::vector<Expr> flat;
  std::optional<Rational> constant;
  for (Expr arg : args) {
    // Neutral infinities are dropped even without `normalize`, since solvers
    // have no infinity.
    if (isInfinity(arg, isMax))
      continue;
    const ExprNode &inner = node(arg);
    if (normalize && inner.kind == kind) {
      for (Expr part : inner.args) {
        if (!isNumber(part))
          flat.push_back(part);
        else if (!constant || (numberOf(part) > *constant) == isMax)
          constant = numberOf(part);
      }
    } else if (normalize && inner.kind == ExprKind::Number) {
      if (!constant || (numberOf(arg) > *constant) == isMax)
        constant = numberOf(arg);
    } else {
      flat.push_back(arg);
    }
  }
  if (constant)
    flat.push_back(number(*constant));
  if (flat.empty())
    return infinity(isMax);
  if (normalize) {
    llvm::sort(flat);
    flat.erase(llvm::unique(flat), flat.end());
  }
  if (flat.size() == 1)
    return flat[0];
  return intern({.kind = kind, .args = std::move(flat)});
}

Expr Expressions::junction(ExprKind kind, std::vector<Expr> args) {
  if (normalize) {
    // A false decides `and`; a true decides `or`.
    bool decides = kind == ExprKind::Or;
    std::vector<Expr> flat;
    for (Expr arg : args) {
      const ExprNode &inner = node(arg);
      if (inner.kind == kind) {
        llvm::append_range(flat, inner.args);
      } else if (inner.kind == ExprKind::Truth) {
        if ((inner.tag != 0) == decides)
          return arg;
      } else {
        flat.push_back(arg);
      }
    }
    llvm::sort(flat);
    flat.erase(llvm::unique(flat), flat.end());
    if (flat.empty())
      return truth(!decides);
    args = std::move(flat);
  }
  if (args.size() == 1)
    return args[0];
  return intern({.kind = kind, .isTruth = true, .args = std::move(args)});
}

Expr Expressions::maximum(std::vector<Expr> args) {
  if (node(args[0]).isTruth)
    return junction(ExprKind::Or, std::move(args));
  return extremum(ExprKind::Max, std::move(args));
}

Expr Expressions::minimum(std::vector<Expr> args) {
  if (node(args[0]).isTruth)
    return junction(ExprKind::And, std::move(args));
  return extremum(ExprKind::Min, std::move(args));
}

Expr Expressions::logicalAnd(std::vector<Expr> args) {
  return junction(ExprKind::And, std::move(args));
}

Expr Expressions::logicalOr(std::vector<Expr> args) {
  return junction(ExprKind::Or, std::move(args));
}

Expr Expressions::logicalNot(Expr a) {
  const ExprNode &inner = node(a);
  if (normalize && inner.kind == ExprKind::Truth)
    return truth(inner.tag == 0);
  if (normalize && inner.kind == ExprKind::Not)
    return inner.args[0];
  return intern({.kind = ExprKind::Not, .isTruth = true, .args = {a}});
}

Expr Expressions::isZero(Expr a) {
  if (normalize) {
    if (isNumber(a))
      return truth(numberOf(a).num == 0);
    takeContent(a);
  }
  return intern({.kind = ExprKind::IsZero, .isTruth = true, .args = {a}});
}

Expr Expressions::isNegative(Expr a) {
  if (normalize) {
    if (isNumber(a))
      return truth(numberOf(a).num < 0);
    Rational content = takeContent(a);
    if (content.num < 0)
      a = scale(Rational(-1), a);
  }
  return intern({.kind = ExprKind::IsNegative, .isTruth = true, .args = {a}});
}

Expr Expressions::equal(Expr a, Expr b) {
  if (!node(a).isTruth)
    return isZero(subtract(a, b));
  if (normalize) {
    if (a == b)
      return truth(true);
    bool negated = false;
    for (Expr *side : {&a, &b})
      if (node(*side).kind == ExprKind::Not) {
        *side = node(*side).args[0];
        negated = !negated;
      }
    if (a > b)
      std::swap(a, b);
    for (auto [side, other] : {std::pair(a, b), std::pair(b, a)})
      if (node(side).kind == ExprKind::Truth)
        return (node(side).tag != 0) != negated ? other : logicalNot(other);
    Expr same =
        a == b
            ? truth(true)
            : intern({.kind = ExprKind::Same, .isTruth = true, .args = {a, b}});
    return negated ? logicalNot(same) : same;
  }
  return intern({.kind = ExprKind::Same, .isTruth = true, .args = {a, b}});
}

Expr Expressions::less(Expr a, Expr b) {
  if (node(a).isTruth)
    return logicalAnd({logicalNot(a), b});
  return isNegative(subtract(a, b));
}

Expr Expressions::choose(Expr condition, Expr a, Expr b) {
  if (normalize) {
    const ExprNode &inner = node(condition);
    if (inner.kind == ExprKind::Truth)
      return inner.tag ? a : b;
    if (a == b)
      return a;
    if (inner.kind == ExprKind::Not)
      return choose(inner.args[0], b, a);
  }
  return intern({.kind = ExprKind::Choice,
                 .isTruth = node(a).isTruth,
                 .args = {condition, a, b}});
}

Expr Expressions::apply(Function function, std::vector<Expr> args,
                        runtime::ElementType type) {
  return intern({.kind = ExprKind::Apply,
                 .isTruth = function == Function::Keeps,
                 .function = function,
                 .type = type,
                 .args = std::move(args)});
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

std::vector<Expr> Expressions::partsOf(std::vector<Expr> roots) const {
  std::unordered_set<Expr> seen(roots.begin(), roots.end());
  std::vector<Expr> work = std::move(roots), parts;
  while (!work.empty()) {
    Expr expr = work.back();
    work.pop_back();
    for (Expr arg : node(expr).args)
      if (seen.insert(arg).second)
        work.push_back(arg);
  }
  parts.assign(seen.begin(), seen.end());
  llvm::sort(parts);
  return parts;
}

/// The terms of an expression; its constant is one of them.
static std::vector<Term> termsOf(Expressions &exprs, Expr expr) {
  ExprNode node = exprs.node(expr);
  if (node.kind != ExprKind::Sum)
    return {{Rational(1), expr}};
  std::vector<Term> terms;
  for (size_t i = 0; i < node.args.size(); ++i)
    terms.push_back({node.coefficients[i], node.args[i]});
  if (node.coefficients.back().num != 0)
    terms.push_back({node.coefficients.back(), exprs.number(1)});
  return terms;
}

Expr Expressions::distribute(Expr a, Expr b) {
  std::vector<Term> left = termsOf(*this, a), right = termsOf(*this, b);
  if (left.size() == 1 && right.size() == 1)
    return product({a, b});
  auto size = static_cast<int64_t>(left.size() * right.size());
  if (size > expansionLimit || totalExpansion + size > expansionBudget)
    return product({a, b});
  totalExpansion += size;
  std::vector<Term> terms;
  for (const Term &x : left)
    for (const Term &y : right)
      terms.push_back(
          {x.coefficient * y.coefficient, product({x.value, y.value})});
  return sum(std::move(terms));
}

Expr Expressions::expandNode(Expr expr) {
  ExprNode old = node(expr);
  for (Expr &arg : old.args)
    arg = expanded.at(arg);
  switch (old.kind) {
  case ExprKind::Number:
  case ExprKind::Truth:
  case ExprKind::Symbol:
  case ExprKind::Infinity:
    return expr;
  case ExprKind::Sum: {
    std::vector<Term> terms;
    for (size_t i = 0; i < old.args.size(); ++i)
      terms.push_back({old.coefficients[i], old.args[i]});
    return sum(std::move(terms), old.coefficients.back());
  }
  case ExprKind::Product: {
    Expr result = number(1);
    for (Expr arg : old.args)
      result = distribute(result, arg);
    return result;
  }
  case ExprKind::Max:
    return maximum(old.args);
  case ExprKind::Min:
    return minimum(old.args);
  case ExprKind::IsZero:
    return isZero(old.args[0]);
  case ExprKind::IsNegative:
    return isNegative(old.args[0]);
  case ExprKind::Not:
    return logicalNot(old.args[0]);
  case ExprKind::And:
    return logicalAnd(old.args);
  case ExprKind::Or:
    return logicalOr(old.args);
  case ExprKind::Same:
    return equal(old.args[0], old.args[1]);
  case ExprKind::Choice:
    return choose(old.args[0], old.args[1], old.args[2]);
  case ExprKind::Apply:
    if (old.function == Function::Inverse)
      return inverse(old.args[0]);
    return apply(old.function, old.args, old.type);
  }
  return expr;
}

Expr Expressions::expand(Expr expr) {
  if (!normalize)
    return expr;
  for (Expr part : partsOf({expr}))
    if (!expanded.contains(part))
      expanded[part] = expandNode(part);
  return expanded.at(expr);
}

} // namespace ccn::verify
