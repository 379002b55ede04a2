//===- Compare.cpp - Compares two expressions -----------------------------===//
//
// Tries points before the solver: they find differences faster, and with the
// real functions.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Compare.h"

#include "runtime/base/Hash.h"
#include "runtime/tensor/Random.h"

namespace ccn::verify {

namespace {

constexpr uint32_t numPoints = 16;

/// The value of a symbol at a point; it is exact in every type. At the first
/// point all values are positive and near 1. At other points, the elements of
/// one argument have the same order of magnitude, and in two of three cases the
/// same sign. So functions that are not everywhere defined are defined at some
/// points, and expressions that differ only near 0, or only far from 0, differ
/// at some points.
double valueAt(uint32_t point, uint32_t number, const Symbol &symbol) {
  constexpr uint32_t key = 0x5eed;
  uint32_t bits = runtime::philox4x32({number, 0, 0, 0}, {point, key})[0];
  if (symbol.type == runtime::ElementType::Bool)
    return bits & 1;
  if (runtime::isInteger(symbol.type))
    return bits & 3;
  std::string_view argument(symbol.name);
  uint64_t hash = runtime::fnv1a(argument.substr(0, argument.find('[')));
  std::array<uint32_t, 4> style = runtime::philox4x32(
      {static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32), 1, 0},
      {point, key});
  double magnitude = (1 + (bits & 15)) / 8.0;
  if (point == 0)
    return magnitude;
  constexpr double scales[] = {1, 1, 0x1p-8, 16};
  magnitude *= scales[style[0] & 3];
  bool isNegative = style[1] % 3 == 0 || (style[1] % 3 == 1 && (bits & 16));
  return isNegative ? -magnitude : magnitude;
}

/// The shortest text that is read back as the same number; "true" or "false"
/// for a truth value.
std::string describeValue(double value, bool isTruth) {
  if (isTruth)
    return value != 0 ? "true" : "false";
  auto scalar =
      runtime::HostTensor::splat(runtime::ElementType::F64, {}, value);
  return scalar ? scalar->textAt(0) : "";
}

std::string describeValue(const Interval &value, bool isTruth) {
  return describeValue(value.low + (value.high - value.low) / 2, isTruth);
}

} // namespace

std::optional<Judgement> Comparer::sample(Expr a, Expr b) {
  for (uint32_t at = 0; at < numPoints; ++at) {
    auto assignment = [&](uint32_t symbol) {
      return valueAt(at, symbol, exprs.symbolAt(symbol));
    };
    std::vector<Interval> values = evaluate(exprs, {a, b}, assignment);
    if (!values[0].isApart(values[1]))
      continue;
    Judgement result{.kind = Judgement::Different};
    for (Expr part : exprs.partsOf({a, b})) {
      const ExprNode &node = exprs.node(part);
      if (node.kind == ExprKind::Symbol)
        result.inputs.emplace_back(
            exprs.symbolOf(node).name,
            describeValue(assignment(node.tag), node.isTruth));
    }
    bool isTruth = exprs.node(a).isTruth;
    result.first = describeValue(values[0], isTruth);
    result.second = describeValue(values[1], isTruth);
    return result;
  }
  return std::nullopt;
}

Judgement Comparer::describeDifference(Expr a, Expr b,
                                       const SolverAnswer &answer) {
  Judgement result{.kind = Judgement::Different};
  bool isTruth = exprs.node(a).isTruth;
  std::vector<Interval> values = evaluate(exprs, {a, b}, [&](uint32_t symbol) {
    auto it = answer.model.find(symbol);
    return it == answer.model.end() ? 0 : it->second.number;
  });
  bool isReal = values[0].isApart(values[1]);
  result.first = isReal ? describeValue(values[0], isTruth) : answer.first;
  result.second = isReal ? describeValue(values[1], isTruth) : answer.second;
  std::set<std::string> functions;
  for (Expr part : exprs.partsOf({a, b})) {
    const ExprNode &node = exprs.node(part);
    if (node.kind == ExprKind::Apply)
      functions.insert(std::string(name(node.function)));
    if (node.kind != ExprKind::Symbol)
      continue;
    auto it = answer.model.find(node.tag);
    if (it != answer.model.end())
      result.inputs.emplace_back(exprs.symbolOf(node).name, it->second.text);
  }
  if (!isReal)
    result.functions.assign(functions.begin(), functions.end());
  return result;
}

std::optional<Judgement> Comparer::compareQuickly(Expr a, Expr b) {
  if (options.normalize && (a == b || exprs.expand(a) == exprs.expand(b)))
    return Judgement{.kind = Judgement::Identical};
  if (!options.sample || open.contains({a, b}))
    return std::nullopt;
  std::optional<Judgement> difference = sample(a, b);
  if (!difference)
    open.insert({a, b});
  return difference;
}

Judgement Comparer::ask(Expr a, Expr b) {
  if (options.limits.expired())
    return {.kind = Judgement::Unknown, .reason = "out of time"};
  Expr x = exprs.expand(a), y = exprs.expand(b);
  // Terms that both expressions have in common need no proof.
  if (options.normalize && !exprs.node(x).isTruth) {
    x = exprs.subtract(x, y);
    y = exprs.number(0);
  }
  SolverAnswer answer =
      solver.compare(x, y, {a, b}, options.elementTimeLimit, options.limits);
  switch (answer.kind) {
  case SolverAnswer::Equal:
    return {.kind = Judgement::Solved};
  case SolverAnswer::Unknown:
    return {.kind = Judgement::Unknown, .reason = answer.reason};
  case SolverAnswer::Different:
    return describeDifference(a, b, answer);
  }
  return {.kind = Judgement::Unknown};
}

const Judgement &Comparer::solve(Expr a, Expr b) {
  auto [it, isNew] = solved.try_emplace({a, b});
  if (isNew)
    it->second = ask(a, b);
  return it->second;
}

} // namespace ccn::verify
