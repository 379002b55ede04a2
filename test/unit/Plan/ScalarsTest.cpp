//===- ScalarsTest.cpp - Bodies of loops, as they are executed ------------===//
//
// Every elementwise operation on every element type, on pairs of values that
// are hard (NaN, infinities, zeros of both signs, subnormals, extremes), from
// text to machine code, against the reference interpreter, bit for bit.
//
//===----------------------------------------------------------------------===//

#include "PlanUtil.h"
#include "runtime/tensor/Random.h"

#include <cstring>

using namespace ccn::test;
using ccn::runtime::ElementType;
using ccn::runtime::HostTensor;

namespace ccn {

namespace {

/// Bits of values, special ones first: all of an 8-bit type, else those about
/// which something is special, and some at random.
std::vector<uint64_t> bitsOf(ElementType type) {
  int bits = 8 * runtime::sizeInBytes(type);
  if (type == ElementType::Bool)
    return {0, 1};
  std::vector<uint64_t> values;
  if (bits == 8) {
    for (uint64_t value = 0; value < 256; ++value)
      values.push_back(value);
    return values;
  }
  uint64_t all = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  uint64_t sign = uint64_t(1) << (bits - 1);
  if (runtime::isFloat(type)) {
    int mantissa = type == ElementType::F64   ? 52
                   : type == ElementType::F32 ? 23
                   : type == ElementType::F16 ? 10
                                              : 7;
    uint64_t one = uint64_t(1) << mantissa;
    uint64_t infinity = (sign - 1) & ~(one - 1);
    uint64_t unit = (infinity >> 1) & ~(one - 1);
    for (uint64_t value :
         {uint64_t(0), uint64_t(1), one - 1, one, one + 1, unit - 1, unit,
          unit + 1, unit - one, unit + one, unit + one / 2, unit + 3 * one,
          unit + 5 * one + one / 4, infinity - 1, infinity, infinity + one / 2,
          infinity + 1, unit - 10 * (one / 2)})
      for (uint64_t signs : {uint64_t(0), sign})
        values.push_back(value | signs);
  } else {
    for (uint64_t value :
         {uint64_t(0), uint64_t(1), uint64_t(2), uint64_t(3), uint64_t(7), all,
          all - 1, sign, sign - 1, sign + 1, all / 3, sign / 2})
      values.push_back(value);
  }
  for (uint32_t i = 0; i < 16; ++i) {
    auto random = runtime::philox4x32({i, 0, 0, 0}, {1, 2});
    values.push_back((random[0] | uint64_t(random[1]) << 32) & all);
  }
  return values;
}

/// All pairs of values, as two tensors; without zeros in the second if asked.
void makePairs(ElementType type, bool withoutZeros, HostTensor &x,
               HostTensor &y) {
  std::vector<uint64_t> values = bitsOf(type);
  auto size = static_cast<size_t>(runtime::sizeInBytes(type));
  std::string first, second;
  for (uint64_t a : values)
    for (uint64_t b : values) {
      if (withoutZeros && b == 0)
        continue;
      // Little-endian: the low bytes come first.
      first.append(reinterpret_cast<const char *>(&a), size);
      second.append(reinterpret_cast<const char *>(&b), size);
    }
  auto count = static_cast<int64_t>(first.size() / size);
  x = *HostTensor::fromBytes(type, {count}, first.data(),
                             static_cast<int64_t>(first.size()));
  y = *HostTensor::fromBytes(type, {count}, second.data(),
                             static_cast<int64_t>(second.size()));
}

class Scalars : public testing::TestWithParam<ElementType> {
protected:
  static std::string textOf(ElementType type, int64_t count,
                            const std::vector<std::string> &expressions) {
    std::string element(runtime::name(type)), statements, results;
    for (size_t i = 0; i < expressions.size(); ++i) {
      std::string name = "r" + std::to_string(i);
      statements += "  let " + name + " = " + expressions[i] + "\n";
      results += (i ? ", " : "") + name;
    }
    std::string shape = element + "[" + std::to_string(count) + "] sliced(0)";
    return "mesh m (r = 2)\nprogram f(x: " + shape + ", y: " + shape +
           ", c: bool[" + std::to_string(count) +
           "] sliced(0), seed: i64) {\n" + statements + "  return " + results +
           "\n}\n";
  }

  /// Compares all expressions that the type has; gives their number.
  size_t compareAll(const std::vector<std::string> &expressions,
                    bool withoutZeros);

  PlanCompiler compiler;
};

size_t Scalars::compareAll(const std::vector<std::string> &expressions,
                           bool withoutZeros) {
  std::vector<std::string> legal;
  std::string messages;
  for (const std::string &expression : expressions)
    if (compiler.compileTo(Phase::Parse, textOf(GetParam(), 4, {expression}),
                           {}, messages))
      legal.push_back(expression);
  if (legal.empty())
    return 0;
  HostTensor x, y;
  makePairs(GetParam(), withoutZeros, x, y);
  std::string text = textOf(GetParam(), x.count(), legal);
  messages.clear();
  auto scheduled = compiler.compileTo(Phase::Schedule, text, {}, messages);
  auto plans = compiler.compileTo(Phase::Plan, text, {}, messages);
  EXPECT_TRUE(scheduled && plans) << messages;
  if (!scheduled || !plans)
    return 0;
  auto team = PlanTeam::create(*plans, "f");
  EXPECT_TRUE(team) << team.message();
  if (!team)
    return 0;
  std::string truths;
  for (int64_t i = 0; i < x.count(); ++i)
    truths += static_cast<char>(i % 3 == 0);
  interp::NamedTensors inputs = {
      {"x", x},
      {"y", y},
      {"c", *HostTensor::fromBytes(ElementType::Bool, {x.count()},
                                   truths.data(), x.count())},
      {"seed", *HostTensor::splatInteger(ElementType::I64, {}, 5)}};
  ProgramOp program = *scheduled->getOps<ProgramOp>().begin();
  auto expected = interp::run(program, program.getMesh(), inputs, {});
  auto found = (*team)->run(inputs);
  EXPECT_TRUE(mlir::succeeded(expected));
  EXPECT_TRUE(found) << found.message();
  if (mlir::failed(expected) || !found)
    return 0;
  for (size_t i = 0; i < legal.size() && i < expected->size(); ++i) {
    const HostTensor &a = (*expected)[i].tensor, &b = (*found)[i].tensor;
    if (auto at = runtime::firstDifference(a, b))
      ADD_FAILURE() << legal[i] << " of " << x.textAt(*at) << " and "
                    << y.textAt(*at) << " is " << b.textAt(*at) << ", expected "
                    << a.textAt(*at);
  }
  return legal.size();
}

TEST_P(Scalars, ComputeAsTheInterpreter) {
  std::vector<std::string> expressions = {
      "x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y",
      "select(c, x, y)", "select(x < y, y, x)", "dropout(x, 0.3, seed)",
      // Several at once: rounded after each.
      "x * y + x", "(x - y) * (x + y)", "-(x * y) - x"};
  for (const ElementwiseFunction *function : elementwiseFunctions()) {
    std::string spelling(function->spelling);
    if (function->takes(GetParam()) && function->zeroDivisor.empty())
      expressions.push_back(!function->isCalled() ? "x " + spelling + " y"
                            : function->numOperands == 1 ? spelling + "(x)"
                                                         : spelling + "(x, y)");
  }
  for (ElementType type : runtime::allElementTypes)
    expressions.push_back("cast(x, " + std::string(runtime::name(type)) + ")");
  bool isFloat = runtime::isFloat(GetParam());
  if (isFloat) {
    expressions.push_back("x / y");
    expressions.push_back("x % y");
  }
  size_t compared = compareAll(expressions, false);
  // All casts, and most operations on numbers.
  EXPECT_GE(compared, isFloat                          ? 43U
                      : runtime::isInteger(GetParam()) ? 25U
                                                       : 15U);
  if (runtime::isInteger(GetParam()))
    EXPECT_EQ(compareAll({"x / y", "x % y", "x / y * y + x % y"}, true), 3U);
  std::cout << compared << " expressions\n";
}

INSTANTIATE_TEST_SUITE_P(All, Scalars,
                         testing::ValuesIn(runtime::allElementTypes),
                         [](const auto &info) {
                           return std::string(runtime::name(info.param));
                         });

} // namespace

} // namespace ccn
