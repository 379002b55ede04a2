//===- ExpressionTest.cpp - Normal forms, values, and the solver ----------===//
//
// The normal form is checked against expressions that are left as they are
// built: at points, by interval arithmetic, and for all values, by Z3.
//
//===----------------------------------------------------------------------===//

#include "ProveUtil.h"

#include "lib/Verify/Expression.h"

#include "lib/Verify/Evaluate.h"
#include "lib/Verify/Solver.h"
#include "lib/Verify/SymbolicExecutor.h"
#include "runtime/tensor/Random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ccn::verify {

namespace {

using runtime::ElementType;

TEST(RationalTest, DoublesAreExact) {
  EXPECT_EQ(describe(rationalOf(0)), "0");
  EXPECT_EQ(describe(rationalOf(-0.75)), "-3/4");
  EXPECT_EQ(describe(rationalOf(0x1p70)), "1180591620717411303424");
  EXPECT_EQ(describe(rationalOf(0.1)), "3602879701896397/36028797018963968");
  for (double value : {0.1, -1e-300, 1e300, 5e-324, 123456789.0, -0x1.8p62})
    EXPECT_EQ(doubleOf(rationalOf(value)), value);
  EXPECT_NEAR(doubleOf(Rational(1, 3)), 1.0 / 3, 1e-16);
}

//===----------------------------------------------------------------------===//
// Random expressions
//===----------------------------------------------------------------------===//

/// The same expression, built with and without a normal form.
struct Twin {
  Expr normal, plain;
};

class Twins {
public:
  explicit Twins(uint32_t seed) : random(seed), normal(true), plain(false) {
    for (const char *name : {"x", "y", "z"})
      numbers.push_back(make(
          [&](Expressions &e) { return e.symbol({name, ElementType::F32}); }));
    for (const char *name : {"p", "q"})
      truths.push_back(make(
          [&](Expressions &e) { return e.symbol({name, ElementType::Bool}); }));
    for (int value : {0, 1, -1, 2})
      numbers.push_back(
          make([&](Expressions &e) { return e.number(Rational(value)); }));
    truths.push_back(make([&](Expressions &e) { return e.truth(true); }));
  }

  template <typename F> Twin make(F build) {
    return {build(normal), build(plain)};
  }

  Expr of(Expressions &exprs, const Twin &twin) const {
    return &exprs == &normal ? twin.normal : twin.plain;
  }

  const Twin &pick(const std::vector<Twin> &from) {
    return from[random() % from.size()];
  }

  void grow() {
    Twin a = pick(numbers), b = pick(numbers), c = pick(numbers);
    Twin p = pick(truths), q = pick(truths);
    auto n = static_cast<int64_t>(random() % 7) - 3;
    auto add = [&](std::vector<Twin> &to, auto build) {
      to.push_back(make(build));
    };
    auto number = [&](auto build) { add(numbers, build); };
    auto truth = [&](auto build) { add(truths, build); };
    switch (random() % 15) {
    case 0:
      return number([&](Expressions &e) {
        return e.sum({{Rational(n), of(e, a)}, {Rational(1, 2), of(e, b)}},
                     Rational(n, 3));
      });
    case 1:
      return number(
          [&](Expressions &e) { return e.subtract(of(e, a), of(e, b)); });
    case 2:
    case 3:
      return number([&](Expressions &e) {
        return e.product({of(e, a), of(e, b), of(e, c)});
      });
    case 4:
      return number([&](Expressions &e) { return e.inverse(of(e, a)); });
    case 5:
      return number([&](Expressions &e) {
        return e.maximum({of(e, a), of(e, b), of(e, c)});
      });
    case 6:
      return number(
          [&](Expressions &e) { return e.minimum({of(e, a), of(e, b)}); });
    case 7:
      return number([&](Expressions &e) {
        return e.choose(of(e, p), of(e, a), of(e, b));
      });
    case 8:
      return number(
          [&](Expressions &e) { return e.apply(Function::Tanh, {of(e, a)}); });
    case 9:
      return truth([&](Expressions &e) { return e.less(of(e, a), of(e, b)); });
    case 10:
      return truth([&](Expressions &e) { return e.equal(of(e, a), of(e, b)); });
    case 11:
      return truth([&](Expressions &e) {
        return e.logicalAnd({of(e, p), e.logicalNot(of(e, q))});
      });
    case 12:
      return truth(
          [&](Expressions &e) { return e.logicalOr({of(e, p), of(e, q)}); });
    case 13:
      return truth([&](Expressions &e) {
        return e.equal(e.logicalNot(of(e, p)), of(e, q));
      });
    case 14:
      return truth([&](Expressions &e) {
        return e.choose(of(e, p), of(e, q), e.logicalNot(of(e, p)));
      });
    }
  }

  std::mt19937 random;
  Expressions normal, plain;
  std::vector<Twin> numbers, truths;
};

TEST(ExpressionTest, TheNormalFormKeepsValues) {
  int64_t compared = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Twins twins(seed);
    for (int i = 0; i < 40; ++i)
      twins.grow();
    std::vector<Expr> normal, expanded, plain;
    for (const auto *list : {&twins.numbers, &twins.truths})
      for (const Twin &twin : *list) {
        normal.push_back(twin.normal);
        expanded.push_back(twins.normal.expand(twin.normal));
        plain.push_back(twin.plain);
      }
    for (int point = 0; point < 6; ++point) {
      auto assignment = [&](uint32_t symbol) -> double {
        uint32_t bits = runtime::philox4x32(
            {symbol, 0, 0, 0}, {seed, static_cast<uint32_t>(point)})[0];
        // Symbols 3 and 4 are truth values.
        return symbol >= 3 ? bits & 1 : static_cast<int>(bits % 9) - 4;
      };
      std::vector<Interval> a = evaluate(twins.normal, normal, assignment);
      std::vector<Interval> b = evaluate(twins.normal, expanded, assignment);
      std::vector<Interval> c = evaluate(twins.plain, plain, assignment);
      for (size_t i = 0; i < a.size(); ++i) {
        EXPECT_FALSE(a[i].isApart(c[i])) << "seed " << seed << ", " << i;
        EXPECT_FALSE(b[i].isApart(c[i])) << "seed " << seed << ", " << i;
        compared += a[i].isDefined() && c[i].isDefined();
      }
    }
  }
  EXPECT_GT(compared, 50'000);
}

TEST(ExpressionTest, TheSolverAgreesWithTheNormalForm) {
  // What the normal form finds equal, the solver does without it.
  int64_t solved = 0, unknown = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Twins twins(seed);
    for (int i = 0; i < 12; ++i)
      twins.grow();
    Solver solver(twins.plain);
    std::map<Expr, Expr> first;
    for (const auto *list : {&twins.numbers, &twins.truths})
      for (const Twin &twin : *list) {
        auto [it, isNew] = first.try_emplace(twin.normal, twin.plain);
        if (isNew || it->second == twin.plain)
          continue;
        SolverAnswer answer =
            solver.compare(it->second, twin.plain, {it->second, twin.plain}, 1,
                           synth::Limits());
        EXPECT_NE(answer.kind, SolverAnswer::Different)
            << "seed " << seed << ": " << answer.first << " and "
            << answer.second;
        solved += answer.kind == SolverAnswer::Equal;
        unknown += answer.kind == SolverAnswer::Unknown;
      }
  }
  EXPECT_GT(solved, 20);
  EXPECT_LE(unknown * 10, solved);
}

//===----------------------------------------------------------------------===//
// Particular laws
//===----------------------------------------------------------------------===//

class LawsTest : public testing::Test {
protected:
  Expressions exprs;
  Expr x = exprs.symbol({"x", ElementType::F32});
  Expr y = exprs.symbol({"y", ElementType::F32});
};

TEST_F(LawsTest, AQuotientIsNotCancelled) {
  // x / x is 1 only where x is not 0.
  Expr quotient = exprs.product({x, exprs.inverse(x)});
  EXPECT_NE(quotient, exprs.number(1));
  EXPECT_NE(exprs.expand(quotient), exprs.number(1));
}

TEST_F(LawsTest, ReciprocalsMultiply) {
  EXPECT_EQ(exprs.inverse(exprs.product({x, y})),
            exprs.product({exprs.inverse(y), exprs.inverse(x)}));
  EXPECT_EQ(exprs.inverse(exprs.scale(Rational(4), exprs.add(x, y))),
            exprs.scale(Rational(1, 4), exprs.inverse(exprs.add(y, x))));
  EXPECT_EQ(exprs.inverse(exprs.number(4)), exprs.number(Rational(1, 4)));
}

TEST_F(LawsTest, InfinitiesAreNeutral) {
  EXPECT_EQ(exprs.maximum({exprs.infinity(true), x}), x);
  EXPECT_EQ(exprs.minimum({x, exprs.infinity(false)}), x);
  EXPECT_NE(exprs.maximum({exprs.infinity(false), x}), x);
  EXPECT_NE(exprs.minimum({exprs.infinity(true), x}), x);
}

TEST_F(LawsTest, SymbolsOfOneNameDiffer) {
  EXPECT_NE(exprs.symbol({"x", ElementType::F32}), x);
}

TEST_F(LawsTest, FunctionsDifferByNameTypeAndArguments) {
  EXPECT_EQ(exprs.apply(Function::Exp, {x}), exprs.apply(Function::Exp, {x}));
  EXPECT_NE(exprs.apply(Function::Exp, {x}), exprs.apply(Function::Log, {x}));
  EXPECT_NE(exprs.apply(Function::Pow, {x, y}),
            exprs.apply(Function::Pow, {y, x}));
  EXPECT_NE(exprs.apply(Function::Wrap, {x}, ElementType::I8),
            exprs.apply(Function::Wrap, {x}, ElementType::U8));
}

TEST_F(LawsTest, ExpansionIsBounded) {
  // (x + y + 1)^40 stays a product of parts that are multiplied out.
  Expr base = exprs.sum({{Rational(1), x}, {Rational(1), y}}, Rational(1));
  Expr power = exprs.product(std::vector<Expr>(40, base));
  Expr expanded = exprs.expand(power);
  EXPECT_LE(exprs.node(expanded).args.size(),
            static_cast<size_t>(Expressions::expansionLimit));
}

TEST_F(LawsTest, FunctionsAreUninterpretedInTheSolver) {
  Solver solver(exprs);
  auto compare = [&](Expr a, Expr b) {
    return solver.compare(a, b, {a, b}, 5, synth::Limits()).kind;
  };
  Expr ex = exprs.apply(Function::Exp, {x}),
       ey = exprs.apply(Function::Exp, {y});
  EXPECT_EQ(compare(ex, ey), SolverAnswer::Different);
  // Equal arguments give equal values.
  Expr same = exprs.choose(exprs.equal(x, y), ey, ex);
  EXPECT_EQ(compare(same, ex), SolverAnswer::Equal);
  // Nothing is known about wrapping, except that it is a function.
  EXPECT_EQ(compare(exprs.apply(Function::Wrap, {x}, ElementType::I8),
                    exprs.apply(Function::Wrap, {x}, ElementType::U8)),
            SolverAnswer::Different);
}

TEST_F(LawsTest, TheSolverStopsInTime) {
  // (x^2 + 1)(y^2 + 1) ... against itself in another order of operations, too
  // large to expand.
  std::vector<Expr> factors;
  for (int i = 0; i < 12; ++i) {
    Expr z = exprs.symbol({"z" + std::to_string(i), ElementType::F32});
    factors.push_back(exprs.sum({{Rational(1), exprs.product({z, z})},
                                 {Rational(1), exprs.product({x, z})}},
                                Rational(1)));
  }
  Expr a = exprs.product(factors);
  Expr b = exprs.add(a, exprs.inverse(exprs.sum({{Rational(1), a}})));
  Solver solver(exprs);
  auto start = std::chrono::steady_clock::now();
  solver.compare(a, b, {a, b}, 1, synth::Limits());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

TEST(SymbolicKernelsTest, WhatIsObscuredShowsWhereItIsRead) {
  Expressions exprs;
  SymbolicKernels kernels(exprs, {});
  auto x = kernels.symbols("x", ElementType::F32, {4, 2});
  ASSERT_TRUE(x);
  runtime::HostTensor part = obscureOutside(kernels, *x, {{1, 0}, {2, 2}});
  const ElementwiseFunction &exp = *findElementwise("exp");
  auto whole = kernels.elementwise(exp, ElementType::F32, {&*x, 1});
  auto chunk = kernels.elementwise(exp, ElementType::F32, {&part, 1});
  ASSERT_TRUE(whole && chunk);
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(whole->dataAs<Expr>()[i] == chunk->dataAs<Expr>()[i],
              i >= 2 && i < 6);
  // Obscured twice, it is unknown twice.
  runtime::HostTensor again = obscureOutside(kernels, *x, {{1, 0}, {2, 2}});
  EXPECT_NE(part.dataAs<Expr>()[0], again.dataAs<Expr>()[0]);
}

} // namespace

} // namespace ccn::verify
