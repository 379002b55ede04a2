//===- Evaluate.cpp - Evaluates expressions at a point --------------------===//
//
// Uses interval arithmetic: after every operation that may round, the ends are
// moved outwards by a few units in the last place.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Evaluate.h"

#include "lib/Interpreter/Elementwise.h"
#include "runtime/tensor/Random.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ccn::verify {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr Interval undefined = {nan, nan};
constexpr Interval unknownTruth = {0, 1};

Interval point(double value) { return {value, value}; }

/// The smallest interval that contains the exact values, if `values` are off by
/// at most `ulps` units in the last place.
Interval hull(std::initializer_list<double> values, int ulps = 1) {
  for (double value : values)
    if (std::isnan(value))
      return undefined;
  auto [low, high] = std::minmax(values);
  for (int i = 0; i < ulps; ++i) {
    low = std::nextafter(low, -infinite);
    high = std::nextafter(high, infinite);
  }
  return {low, high};
}

bool isExactInteger(double value) {
  return std::abs(value) < 0x1p52 && std::trunc(value) == value;
}

bool isExactInteger(const Interval &x) {
  return isExactInteger(x.low) && isExactInteger(x.high);
}

Interval operator+(const Interval &x, const Interval &y) {
  Interval sum = {x.low + y.low, x.high + y.high};
  if (isExactInteger(x) && isExactInteger(y) && isExactInteger(sum))
    return sum;
  if (!sum.isDefined())
    return undefined;
  return {std::nextafter(sum.low, -infinite),
          std::nextafter(sum.high, infinite)};
}

Interval operator*(const Interval &x, const Interval &y) {
  std::initializer_list<double> corners = {x.low * y.low, x.low * y.high,
                                           x.high * y.low, x.high * y.high};
  bool exact = isExactInteger(x) && isExactInteger(y) &&
               std::all_of(corners.begin(), corners.end(), [](double corner) {
                 return isExactInteger(corner);
               });
  return hull(corners, exact ? 0 : 1);
}

/// The interval of a monotone function that is computed to a few units in the
/// last place.
template <typename F> Interval monotone(const Interval &x, F function) {
  return hull({function(x.low), function(x.high)}, 4);
}

Interval remainder(const Interval &x, const Interval &y, bool isInteger) {
  if (y.low <= 0 && y.high >= 0)
    return undefined;
  if (x.isPoint() && y.isPoint())
    return point(std::fmod(x.low, y.low));
  // Nothing is known unless all corners have the same quotient.
  double q[] = {std::trunc(x.low / y.low), std::trunc(x.low / y.high),
                std::trunc(x.high / y.low), std::trunc(x.high / y.high)};
  if (isInteger || std::count(q, q + 4, q[0]) != 4)
    return undefined;
  Interval remainder = x + point(-q[0]) * y;
  return remainder;
}

Interval power(const Interval &x, const Interval &y) {
  bool integral = y.isPoint() && std::trunc(y.low) == y.low;
  if (!(x.low > 0 || (x.high < 0 && integral)))
    return undefined;
  return hull({std::pow(x.low, y.low), std::pow(x.low, y.high),
               std::pow(x.high, y.low), std::pow(x.high, y.high)},
              4);
}

/// Casts a value with the interpreter's cast.
double castPoint(double value, runtime::ElementType from,
                 runtime::ElementType to) {
  auto x = runtime::HostTensor::splat(from, {}, value);
  auto result = x ? interp::cast(*x, to) : x;
  return result ? result->doubleAt(0) : nan;
}

Interval keeps(const Interval &seed, const Interval &at, const Interval &rate) {
  if (!seed.isPoint() || !at.isPoint() || !rate.isPoint())
    return unknownTruth;
  auto index = static_cast<int64_t>(at.low);
  auto ones = runtime::HostTensor::splat(runtime::ElementType::F64, {1}, 1);
  auto bits = static_cast<uint64_t>(
      seed.low < 0x1p63 ? static_cast<int64_t>(seed.low)
                        : static_cast<int64_t>(seed.low - 0x1p64));
  auto dropped =
      ones ? runtime::dropout(*ones, rate.low, bits, {{index + 1}, {index}})
           : ones;
  if (!dropped)
    return unknownTruth;
  return point(dropped->doubleAt(0) != 0);
}

Interval applyFunction(const ExprNode &node, const std::vector<Interval> &x) {
  for (const Interval &arg : x)
    if (!arg.isDefined())
      return undefined;
  switch (node.function) {
  case Function::Inverse:
    if (x[0].low <= 0 && x[0].high >= 0)
      return undefined;
    return hull({1 / x[0].low, 1 / x[0].high});
  case Function::Exp:
    return monotone(x[0], [](double v) { return std::exp(v); });
  case Function::Log:
    return x[0].low > 0 ? monotone(x[0], [](double v) { return std::log(v); })
                        : undefined;
  case Function::Sqrt:
    return x[0].low >= 0 ? monotone(x[0], [](double v) { return std::sqrt(v); })
                         : undefined;
  case Function::Tanh:
    return monotone(x[0], [](double v) { return std::tanh(v); });
  case Function::Erfc:
    return monotone(x[0], [](double v) { return std::erfc(v); });
  case Function::Pow:
    return power(x[0], x[1]);
  case Function::FloatRemainder:
    return remainder(x[0], x[1], false);
  case Function::IntegerRemainder:
    return remainder(x[0], x[1], true);
  case Function::IntegerQuotient:
    if (!x[0].isPoint() || !x[1].isPoint() || x[1].low == 0)
      return undefined;
    return point(std::trunc(x[0].low / x[1].low));
  case Function::Truncate: {
    auto to = [&](double v) {
      return castPoint(v, runtime::ElementType::F64, node.type);
    };
    return {to(x[0].low), to(x[0].high)};
  }
  case Function::Wrap:
    if (!x[0].isPoint() || std::abs(x[0].low) >= 0x1p53)
      return undefined;
    return point(castPoint(x[0].low, runtime::ElementType::I64, node.type));
  case Function::Keeps:
    return keeps(x[0], x[1], x[2]);
  case Function::OutOfRange:
    return undefined;
  }
  return undefined;
}

Interval hullOf(const Interval &a, const Interval &b) {
  if (!a.isDefined() || !b.isDefined())
    return undefined;
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval logicalNot(const Interval &x) { return {1 - x.high, 1 - x.low}; }

Interval evaluateNode(const ExprNode &node, const std::vector<Interval> &x,
                      const Assignment &assignment) {
  auto fold = [&](Interval start, auto combine) {
    for (const Interval &arg : x) {
      if (!arg.isDefined())
        return undefined;
      start = combine(start, arg);
    }
    return start;
  };
  auto larger = [](const Interval &a, const Interval &b) {
    return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
  };
  auto smaller = [](const Interval &a, const Interval &b) {
    return Interval{std::min(a.low, b.low), std::min(a.high, b.high)};
  };
  auto constant = [&](size_t i) {
    double value = doubleOf(node.coefficients[i]);
    return Rational(node.coefficients[i]).den == 1 && isExactInteger(value)
               ? point(value)
               : hull({value}, 1);
  };
  switch (node.kind) {
  case ExprKind::Number: {
    // Numbers in programs are doubles and exact; only computed numbers may need
    // rounding.
    double value = doubleOf(node.coefficients[0]);
    if (std::isfinite(value) && rationalOf(value) == node.coefficients[0])
      return point(value);
    return hull({value}, 1);
  }
  case ExprKind::Truth:
    return point(node.tag);
  case ExprKind::Symbol:
    return point(assignment(node.tag));
  case ExprKind::Infinity:
    return point(node.tag == 0 ? -infinite : infinite);
  case ExprKind::Sum: {
    Interval sum = constant(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      sum = x[i].isDefined() ? sum + constant(i) * x[i] : undefined;
    return sum;
  }
  case ExprKind::Product:
    return fold(point(1),
                [](const Interval &a, const Interval &b) { return a * b; });
  case ExprKind::Max:
  case ExprKind::Or:
    return fold(x[0], larger);
  case ExprKind::Min:
  case ExprKind::And:
    return fold(x[0], smaller);
  case ExprKind::IsZero:
    if (!x[0].isDefined() || (x[0].low <= 0 && x[0].high >= 0))
      return x[0].isPoint() ? point(1) : unknownTruth;
    return point(0);
  case ExprKind::IsNegative:
    if (!x[0].isDefined() || (x[0].low < 0 && x[0].high >= 0))
      return unknownTruth;
    return point(x[0].high < 0);
  case ExprKind::Not:
    return logicalNot(x[0]);
  case ExprKind::Same:
    if (!x[0].isPoint() || !x[1].isPoint())
      return unknownTruth;
    return point(x[0].low == x[1].low);
  case ExprKind::Choice:
    if (x[0].isPoint())
      return x[0].low != 0 ? x[1] : x[2];
    return hullOf(x[1], x[2]);
  case ExprKind::Apply:
    return applyFunction(node, x);
  }
  return undefined;
}

} // namespace

std::vector<Interval> evaluate(const Expressions &exprs,
                               const std::vector<Expr> &roots,
                               const Assignment &assignment) {
  std::unordered_map<Expr, Interval> values;
  for (Expr part : exprs.partsOf(roots)) {
    const ExprNode &node = exprs.node(part);
    std::vector<Interval> args;
    for (Expr arg : node.args)
      args.push_back(values.at(arg));
    values[part] = evaluateNode(node, args, assignment);
  }
  std::vector<Interval> results;
  for (Expr root : roots)
    results.push_back(values.at(root));
  return results;
}

} // namespace ccn::verify
