//===- ElementwiseOperations.cpp - Random elementwise operations ----------===//
//
// One operation of each kind that goes element by element, as Operations.cpp
// has the others.
//
//===----------------------------------------------------------------------===//

#include "ProgramGenerator.h"

#include "dialect/ccn/Ccn.h"

using namespace ccn;
using namespace ccn::random;

namespace {

/// The function at a number.
double evaluate(const ElementwiseFunction &function, double x) {
  const double *operands[] = {&x};
  double result = 0;
  function.ofDoubles(operands, &result, 1);
  return result;
}

/// What a function takes, made of any numbers.
std::string toDomain(const ElementwiseFunction &function,
                     const std::string &text) {
  switch (function.domain) {
  case Domain::All:
    // What overflows soon would leave nothing to compare.
    return function.numOperands == 1 && evaluate(function, 100) > 1e9
               ? "min(" + text + ", 1.0)"
               : text;
  case Domain::NotNegative:
    return "abs(" + text + ")";
  case Domain::Positive:
    return "abs(" + text + ") + 1";
  }
  return text;
}

/// All functions of the dialect of so many operands that take the type.
std::vector<const ElementwiseFunction *> functionsOf(unsigned numOperands,
                                                     bool ofFloats) {
  std::vector<const ElementwiseFunction *> found;
  for (const ElementwiseFunction *function : elementwiseFunctions())
    if (function->numOperands == numOperands && function->isCalled() &&
        (ofFloats || function->elements != ElementKinds::Float))
      found.push_back(function);
  return found;
}

} // namespace

ProgramGenerator::Maybe ProgramGenerator::unary(unsigned depth) {
  Maybe x = operand(depth);
  if (!x)
    return std::nullopt;
  bool isFloat = x->type.isFloat();
  if (!isFloat && random.chance(0.5))
    return Value{"(" + x->text + random.pick<std::string>({" / 2)", " % 3)"}),
                 x->type};
  const ElementwiseFunction &function = *random.pick(functionsOf(1, isFloat));
  std::string taken = isFloat ? toDomain(function, x->text) : x->text;
  return Value{std::string(function.name) + "(" + taken + ")", x->type};
}

ProgramGenerator::Maybe ProgramGenerator::binary(unsigned depth) {
  if (random.chance(0.15)) {
    Maybe x =
        find([](const Tensor &type) { return type.pending() == Held::Sum; });
    Maybe y = !x ? std::nullopt : find([&](const Tensor &type) {
      return combinePending(x->type, type).has_value();
    });
    if (y)
      return Value{"(" + x->text + random.pick<std::string>({" + ", " - "}) +
                       y->text + ")",
                   *combinePending(x->type, y->type)};
  }
  Maybe x = operand(depth);
  if (!x)
    return std::nullopt;
  Value y = partner(*x);
  std::optional<Tensor> type = combine(x->type, y.type);
  if (!type)
    return std::nullopt;
  std::string a = x->text, b = y.text;
  if (x->type.shape == y.type.shape && random.chance(0.3))
    std::swap(a, b);
  switch (random.below(9)) {
  case 2:
    return Value{"(" + a + " % max(abs(" + b + "), 1))", *type};
  case 0: {
    const ElementwiseFunction &function =
        *random.pick(functionsOf(2, type->isFloat()));
    if (function.domain != Domain::All)
      a = toDomain(function, a);
    // Of any exponent a power would leave nothing to compare.
    if (function.errorRule == ErrorRule::Power)
      b = random.pick<std::string>({"0.5", "2", "1.5"});
    return Value{std::string(function.name) + "(" + a + ", " + b + ")", *type};
  }
  case 1:
    if (type->isFloat())
      return Value{"(" + a + " / (abs(" + b + ") + 1))", *type};
    [[fallthrough]];
  default:
    return Value{"(" + a + random.pick<std::string>({" + ", " - ", " * "}) + b +
                     ")",
                 *type};
  }
}

/// Times a scalar, which may be done to pending sums.
ProgramGenerator::Maybe ProgramGenerator::scaled(unsigned depth) {
  Maybe x =
      random.chance(0.3)
          ? find([](const Tensor &type) { return type.pending() == Held::Sum; })
          : operand(depth);
  if (!x)
    return std::nullopt;
  switch (random.below(4)) {
  case 0:
    return Value{"(" + x->text + " * " +
                     input(replicated(x->type.element, {})).text + ")",
                 x->type};
  case 1:
    // A mesh axis is its size.
    return Value{"(" + x->text + random.pick<std::string>({" / ", " * "}) +
                     mesh.axes[drawAxis()].name + ")",
                 x->type};
  case 2:
    return Value{"neg(" + x->text + ")", x->type};
  default:
    return Value{"(" + literal(x->type) + " * " + x->text + ")", x->type};
  }
}

std::optional<ProgramGenerator::Pair> ProgramGenerator::findPair() {
  Maybe x = findReduced();
  if (!x)
    return std::nullopt;
  Value y = partner(*x);
  std::optional<Tensor> type = combine(x->type, y.type);
  if (!type)
    return std::nullopt;
  return Pair{x->text, y.text, *type};
}

ProgramGenerator::Maybe ProgramGenerator::compared() {
  std::optional<Pair> pair = findPair();
  if (!pair)
    return std::nullopt;
  auto &[x, y, type] = *pair;
  type.element = "bool";
  return Value{"(" + x + random.pick<std::string>({" > ", " <= "}) + y + ")",
               type};
}

ProgramGenerator::Maybe ProgramGenerator::selected() {
  std::optional<Pair> pair = findPair();
  if (!pair)
    return std::nullopt;
  const auto &[x, y, type] = *pair;
  if (random.chance(0.4)) {
    // By a condition that is there.
    auto suits = [type = type](Tensor condition) {
      if (condition.element != "bool")
        return false;
      condition.element = type.element;
      return combine(type, condition) == type;
    };
    if (Maybe c = find(suits))
      return Value{"select(" + c->text + ", " + x + ", " + y + ")", type};
  }
  std::string comparison =
      random.pick<std::string>({" > ", " < ", " >= ", " <= ", " == ", " != "});
  std::string other = random.chance(0.5) ? std::string("0") : y;
  return Value{"select(" + x + comparison + other + ", " + x + ", " + y + ")",
               type};
}

ProgramGenerator::Maybe ProgramGenerator::converted() {
  Maybe x = find([](const Tensor &type) { return !type.pending(); });
  if (!x)
    return std::nullopt;
  Tensor type = x->type;
  type.element = drawElement();
  return Value{"cast(" + x->text + ", " + type.element + ")", type};
}

ProgramGenerator::Maybe ProgramGenerator::dropout() {
  Maybe x = findReduced();
  if (!x || !x->type.isFloat())
    return std::nullopt;
  std::string seed =
      random.chance(0.5)
          ? std::to_string(random.below(100))
          : "cast(" + input(replicated("i32", {})).text + ", i64)";
  return Value{"dropout(" + x->text +
                   random.pick<std::string>({", 0.5, ", ", 0.1, "}) + seed +
                   ")",
               x->type};
}

/// Indices, cast to what is drawn.
ProgramGenerator::Maybe ProgramGenerator::indices() {
  Maybe x = findReduced();
  if (!x || x->type.shape.empty())
    return std::nullopt;
  Tensor type = x->type;
  type.element = drawElement();
  return Value{
      "cast(iota(" + x->text + ", " +
          std::to_string(random.below(static_cast<int64_t>(type.rank()))) +
          "), " + type.element + ")",
      type};
}
