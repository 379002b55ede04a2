//===- Compare.cpp - Are two expressions equal? ---------------------------===//
//
// Points are tried before the solver: they find what differs faster, and with
// functions as they really are.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Compare.h"

#include "lib/Interpreter/Random.h"

#include <set>

namespace ccn::verify {

namespace {

constexpr uint64_t numPoints = 6;

/// Values that are exact in every type. Those of even points are positive, for
/// functions that are not defined elsewhere.
double valueAt(uint64_t point, uint32_t symbol, interp::ElementType type) {
  uint32_t bits = interp::philox4x32({symbol, 0, 0, 0},
                                     {static_cast<uint32_t>(point), 0x5eed})[0];
  if (type == interp::ElementType::Bool)
    return bits & 1;
  if (interp::isInteger(type))
    return bits & 3;
  double magnitude = (1 + (bits & 15)) / 8.0;
  return point % 2 == 1 && (bits & 16) ? -magnitude : magnitude;
}

/// The shortest text that gives the number back; of a truth value, its name.
std::string describeValue(double value, bool isTruth) {
  if (isTruth)
    return value != 0 ? "true" : "false";
  auto scalar = interp::HostTensor::splat(interp::ElementType::F64, {}, value);
  return scalar ? scalar->textAt(0) : "";
}

std::string describeValue(const Interval &value, bool isTruth) {
  return describeValue(value.low + (value.high - value.low) / 2, isTruth);
}

} // namespace

std::optional<Judgement> Comparer::sample(Expr a, Expr b) {
  for (uint64_t at = 0; at < numPoints; ++at) {
    auto assignment = [&](uint32_t symbol) {
      return valueAt(at, symbol, exprs.symbolAt(symbol).type);
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

Judgement Comparer::decide(Expr a, Expr b) {
  Expr x = a, y = b;
  if (options.normalize) {
    if (a == b)
      return {.kind = Judgement::Identical};
    x = exprs.expand(a);
    y = exprs.expand(b);
    if (x == y)
      return {.kind = Judgement::Identical};
  }
  if (options.sample)
    if (std::optional<Judgement> difference = sample(a, b))
      return *difference;
  if (options.limits.expired())
    return {.kind = Judgement::Unknown, .reason = "out of time"};
  // What both have in common needs no proof.
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

const Judgement &Comparer::compare(Expr a, Expr b) {
  auto [it, isNew] = known.try_emplace({a, b});
  if (isNew)
    it->second = decide(a, b);
  return it->second;
}

} // namespace ccn::verify
