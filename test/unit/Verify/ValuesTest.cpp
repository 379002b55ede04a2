//===- ValuesTest.cpp - Values to run programs on -------------------------===//
//
// Each set of values holds what it is for, in every element type.
//
//===----------------------------------------------------------------------===//

#include "TestUtil.h"

using namespace ccn;
using namespace ccn::verify;
using runtime::HostTensor;

namespace {

class ValuesTest : public VerifyTest {
protected:
  HostTensor draw(const std::string &type, ValueSet set,
                  Integers integers = Integers::Any, uint64_t seed = 0) {
    ProgramOp program = parse("mesh m (r = 2)\nprogram p(x: " + type +
                              "[500] local) { let y = x\n return y }");
    mlir::FailureOr<interp::NamedTensors> inputs =
        drawInputs(program, set, integers, seed);
    EXPECT_TRUE(mlir::succeeded(inputs));
    EXPECT_EQ(inputs->at("x").shape(), (runtime::Shape{2, 500}));
    return inputs->at("x");
  }
  static int64_t count(const HostTensor &tensor,
                       llvm::function_ref<bool(double)> holds) {
    int64_t n = 0;
    for (int64_t i = 0; i < tensor.count(); ++i)
      n += holds(tensor.doubleAt(i));
    return n;
  }
};

const char *const floats[] = {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2"};

TEST_F(ValuesTest, Positive) {
  for (const char *type : floats) {
    HostTensor x = draw(type, ValueSet::Positive);
    EXPECT_EQ(count(x, [](double v) { return v >= 0 && v <= 1; }), x.count());
  }
}

TEST_F(ValuesTest, Signed) {
  for (const char *type : floats) {
    HostTensor x = draw(type, ValueSet::Signed);
    EXPECT_GT(count(x, [](double v) { return v < 0; }), x.count() / 3);
    EXPECT_GT(count(x, [](double v) { return v > 0; }), x.count() / 3);
    EXPECT_GT(count(x, [](double v) { return std::fabs(v) >= 4; }), 0);
    EXPECT_GT(count(x, [](double v) { return std::fabs(v) < 0.05; }), 0);
  }
}

TEST_F(ValuesTest, Ties) {
  for (const char *type : {"f64", "f8e4m3", "i8", "i64"}) {
    HostTensor x = draw(type, ValueSet::Ties);
    for (int v = -3; v <= 3; ++v)
      EXPECT_GT(count(x, [&](double found) { return found == v; }), 0);
    EXPECT_EQ(count(x, [](double v) { return v != std::trunc(v); }), 0);
  }
}

TEST_F(ValuesTest, WideHugeAndTinyStayFinite) {
  for (const char *type : floats)
    for (ValueSet set : {ValueSet::Wide, ValueSet::Huge, ValueSet::Tiny}) {
      HostTensor x = draw(type, set);
      EXPECT_EQ(count(x, [](double v) { return std::isfinite(v); }), x.count())
          << type << " " << name(set).str();
    }
}

TEST_F(ValuesTest, HugeIsNearTheLargest) {
  HostTensor x = draw("f32", ValueSet::Huge);
  EXPECT_EQ(count(x, [](double v) { return std::fabs(v) >= 0x1p127; }),
            x.count());
  x = draw("f16", ValueSet::Huge);
  EXPECT_EQ(count(x, [](double v) { return std::fabs(v) >= 0x1p15; }),
            x.count());
}

TEST_F(ValuesTest, TinyHasDenormals) {
  HostTensor x = draw("f32", ValueSet::Tiny);
  EXPECT_GT(
      count(x, [](double v) { return v != 0 && std::fabs(v) < 0x1p-126; }),
      x.count() / 2);
  EXPECT_EQ(count(x, [](double v) { return std::fabs(v) >= 0x1p-124; }), 0);
}

TEST_F(ValuesTest, Special) {
  for (const char *type : floats) {
    HostTensor x = draw(type, ValueSet::Special);
    EXPECT_GT(count(x, [](double v) { return std::isnan(v); }), 0);
    EXPECT_GT(count(x, [](double v) { return std::isfinite(v); }),
              x.count() / 2);
    EXPECT_GT(count(x, [](double v) { return v == 0 && std::signbit(v); }), 0);
    if (std::string(type) != "f8e4m3") // has no infinities
      EXPECT_GT(count(x, [](double v) { return std::isinf(v) && v < 0; }), 0);
  }
}

TEST_F(ValuesTest, Zeros) {
  HostTensor x = draw("f16", ValueSet::Zero);
  EXPECT_EQ(count(x, [](double v) { return v == 0; }), x.count());
  EXPECT_GT(count(x, [](double v) { return std::signbit(v); }), x.count() / 3);
  ProgramOp program = parse("program p(x: f32[9], y: f32[9]) { let z = x + y\n"
                            "return z }");
  for (unsigned zero : {0, 1}) {
    auto inputs =
        drawInputs(program, ValueSet::OneZero, Integers::Any, 0, zero);
    auto isZero = [](double v) { return v == 0; };
    EXPECT_EQ(count(inputs->at("x"), isZero), zero == 0 ? 9 : 0);
    EXPECT_EQ(count(inputs->at("y"), isZero), zero == 1 ? 9 : 0);
  }
}

TEST_F(ValuesTest, IntegerExtremes) {
  HostTensor x = draw("i16", ValueSet::Huge);
  for (double extreme : {-32768.0, 32767.0, -1.0, 0.0, 1.0})
    EXPECT_GT(count(x, [&](double v) { return v == extreme; }), 0) << extreme;
  x = draw("u8", ValueSet::Huge);
  EXPECT_GT(count(x, [](double v) { return v == 255; }), 0);
}

TEST_F(ValuesTest, MilderIntegers) {
  HostTensor x = draw("i64", ValueSet::Signed, Integers::OneToThree);
  EXPECT_EQ(count(x, [](double v) { return v >= 1 && v <= 3; }), x.count());
  x = draw("i64", ValueSet::Huge, Integers::One);
  EXPECT_EQ(count(x, [](double v) { return v == 1; }), x.count());
  x = draw("i64", ValueSet::Huge, Integers::Zero);
  EXPECT_EQ(count(x, [](double v) { return v == 0; }), x.count());
}

TEST_F(ValuesTest, SeedAndSetDecideAll) {
  auto same = [](const HostTensor &a, const HostTensor &b) {
    return !runtime::firstDifference(a, b);
  };
  EXPECT_TRUE(
      same(draw("f32", ValueSet::Signed), draw("f32", ValueSet::Signed)));
  EXPECT_FALSE(same(draw("f32", ValueSet::Signed),
                    draw("f32", ValueSet::Signed, Integers::Any, 1)));
  EXPECT_FALSE(
      same(draw("f32", ValueSet::Signed, Integers::Any, 1),
           draw("f32", ValueSet::Signed, Integers::Any, uint64_t(1) << 32)));
}

TEST_F(ValuesTest, IndicesThroughMovement) {
  ProgramOp program =
      parse("mesh m (r = 2)\n"
            "program p(t: f32[3, 2], u: f32[2, 2], i: i32[2, 20] sliced(0)) {\n"
            "  let all = reshape(all_gather(i), [40])\n"
            "  let y = gather_rows(t, all)\n"
            "  let z = scatter_rows(u, slice(all, 0, 0, 20),\n"
            "      slice(y, 0, 0, 20))\n  return y, z }");
  for (ValueSet set : allValueSets) {
    mlir::FailureOr<interp::NamedTensors> inputs =
        drawInputs(program, set, Integers::Any, 0);
    ASSERT_TRUE(mlir::succeeded(inputs));
    const HostTensor &x = inputs->at("i");
    EXPECT_EQ(count(x, [](double v) { return v == 0 || v == 1; }), x.count());
    EXPECT_GT(count(x, [](double v) { return v == 1; }), 0);
  }
}

} // namespace
