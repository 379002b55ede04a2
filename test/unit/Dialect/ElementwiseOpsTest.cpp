//===- ElementwiseOpsTest.cpp - Every elementwise operation ---------------===//
//
// The constraints of each operation that is a function of its elements, what it
// says of that function, and that the language's guide names it. Operations are
// taken from the dialect's own list, so one that is added is tested here.
//
//===----------------------------------------------------------------------===//

#include "TestUtil.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace mlir;
using namespace ccn;
using namespace ccn::test;

namespace {

/// Whether a message has a part; without one, whether there is no message.
testing::AssertionResult says(const std::string &message, StringRef part) {
  if (part.empty() ? message.empty() : StringRef(message).contains(part))
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "expected '" << part.str() << "', found '" << message << "'";
}

constexpr bool isBinary(const ElementwiseFunction &function) {
  return function.numOperands == 2;
}

class ElementwiseOpsTest
    : public DialectTest,
      public testing::WithParamInterface<const ElementwiseFunction *> {
protected:
  const ElementwiseFunction &function = *GetParam();

  /// What verification says of the operation on operands of the types, as a
  /// tensor is written without `tensor<>`; empty if nothing.
  std::string errorOf(const std::string &x, const std::string &y,
                      const std::string &result) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
      return success();
    });
    auto module = parseSourceString<ModuleOp>(programOf(function, x, y, result),
                                              ParserConfig(&context));
    EXPECT_EQ(bool(module), message.empty());
    if (module)
      EXPECT_EQ(
          functionOf(&*first<ProgramOp>(*module).getBody().front().begin()),
          &function);
    return message;
  }

  double evaluate(double x, double y = 0) {
    const double *operands[] = {&x, &y};
    double result = NAN;
    function.ofDoubles(operands, &result, 1);
    return result;
  }
};

TEST_P(ElementwiseOpsTest, TakesItsElementTypes) {
  const std::string types[] = {"f64",      "f32",    "f16", "bf16",
                               "f8E4M3FN", "f8E5M2", "i8",  "i64",
                               "ui8",      "ui64",   "i1"};
  for (const std::string &type : types) {
    // unary_c1, binary_c5
    std::string expected;
    bool isFloat = type.find('f') != std::string::npos;
    if (function.elements == ElementKinds::Float && !isFloat)
      expected = "expected a floating-point element type, found";
    else if (function.elements == ElementKinds::Number && type == "i1")
      expected = "expected a number element type, found 'bool'";
    EXPECT_TRUE(says(errorOf("8x" + type, type, "8x" + type), expected))
        << type;
  }
}

TEST_P(ElementwiseOpsTest, CombinesShapesAndLayouts) {
  const std::string rows = "8x4xf32, #rows", local = "8x4xf32, #local",
                    scalar = "f32, #scalar";
  EXPECT_EQ(errorOf("f32", "f32", "f32"), "");
  EXPECT_EQ(errorOf("3x0x5xf32", "f32", "3x0x5xf32"), "");
  for (const std::string &type : {rows, local, scalar})
    EXPECT_EQ(errorOf(type, "f32", type), "");
  if (!isBinary(function))
    return;
  EXPECT_EQ(errorOf(rows, "8x4xf32", rows), "");
  EXPECT_EQ(errorOf("f32", rows, rows), "");
  // binary_c1
  EXPECT_TRUE(says(errorOf("8xf32", "8xf64", "8xf32"),
                   "expected operands of one element type, found 'f32' and "
                   "'f64'"));
  // binary_c2
  EXPECT_TRUE(says(errorOf("8xf32", "4xf32", "8xf32"),
                   "expected operands of one shape"));
  // binary_c3
  EXPECT_NE(errorOf(rows, local, rows), "");
}

/// What is pending, by the rule in the operation's definition.
TEST_P(ElementwiseOpsTest, RefusesWhatIsPending) {
  const std::string sum = "8xf32, #sum", max = "8xf32, #max";
  // unary_c2, binary_c4
  std::string pending = "has a reduction pending along mesh axis 'a'";
  EXPECT_TRUE(says(errorOf(max, "f32", max), pending));
  // Linear functions; of two operands in the first one.
  bool isLinear = function.name == "neg" || function.name == "mul" ||
                  function.name == "div";
  EXPECT_TRUE(says(errorOf(sum, "f32", sum),
                   isLinear ? "" : "repair with 'all_reduce(sum, operand #0"));
  if (!isBinary(function))
    return;
  bool adds = function.errorRule == ErrorRule::Sum;
  EXPECT_EQ(errorOf(sum, sum, sum) == "", adds);
  // A factor that is not the same for all elements.
  EXPECT_NE(errorOf(sum, "8xf32", sum), "");
  EXPECT_NE(errorOf("f32", sum, sum) == "", function.name != "mul");
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

TEST_P(ElementwiseOpsTest, HasItsDomain) {
  double second = isBinary(function) ? 1.5 : 0;
  EXPECT_TRUE(std::isfinite(evaluate(0.5, second)));
  EXPECT_EQ(std::isnan(evaluate(-0.5, second)), function.domain != Domain::All);
  // A power of 0 is finite, but not differentiable.
  if (!isBinary(function))
    EXPECT_EQ(std::isinf(evaluate(0)), function.domain == Domain::Positive);
}

/// Errors, of one operand, as the rule says; the others have tests of their
/// own.
TEST_P(ElementwiseOpsTest, KeepsItsErrorRule) {
  if (isBinary(function))
    return;
  double last = NAN, direction = 0, slope = 0;
  for (int i = -2000; i <= 2000; ++i) {
    double x = i / 100.0, y = evaluate(x);
    if (function.underflow == Underflow::Anywhere && !std::isnan(y))
      EXPECT_GT(std::abs(y), 0) << x;
    if (std::isfinite(last) && std::isfinite(y) && y != last) {
      slope = std::max(slope, std::abs(y - last) * 100);
      double now = y > last ? 1 : -1;
      if (function.errorRule == ErrorRule::Monotone)
        EXPECT_TRUE(direction == 0 || direction == now) << x;
      direction = now;
    }
    last = y;
  }
  if (function.errorRule == ErrorRule::Nonexpansive)
    EXPECT_LE(slope, 1 + 1e-9);
  else if (function.underflow == Underflow::Nowhere)
    EXPECT_TRUE(evaluate(-800) != 0 && evaluate(800) != 0);
  else if (function.underflow == Underflow::UnlessZero)
    EXPECT_EQ(evaluate(0), 0);
  if (function.errorRule == ErrorRule::Lipschitz)
    EXPECT_LE(slope, function.slope);
}

TEST_P(ElementwiseOpsTest, RefusesZeroDivisorsThatItHas) {
  if (function.elements == ElementKinds::Float || !isBinary(function))
    return;
  EXPECT_EQ(function.zeroDivisor.empty(),
            function.name != "div" && function.name != "rem");
}

TEST_P(ElementwiseOpsTest, IsInTheGuide) {
  auto guide = llvm::MemoryBuffer::getFile(CCN_LANGUAGE_GUIDE);
  ASSERT_TRUE(guide);
  StringRef text = (*guide)->getBuffer();
  auto [before, functions] = text.split("### Functions");
  std::string name(function.spelling);
  bool isNamed = false;
  if (!function.isCalled())
    isNamed =
        text.contains("`" + name + "`") || text.contains(" " + name + " ");
  // In code, as a word of its own or called.
  SmallVector<StringRef> parts;
  functions.split("### Schedules").first.split(parts, '`');
  for (size_t i = 1; i < parts.size(); i += 2) {
    SmallVector<StringRef> words;
    parts[i].split(words, ' ');
    for (StringRef word : words)
      isNamed |= word == name || word.starts_with(name + "(");
  }
  EXPECT_TRUE(isNamed) << name << " is not in lib/Frontend/LANGUAGE.md";
}

INSTANTIATE_TEST_SUITE_P(All, ElementwiseOpsTest,
                         testing::ValuesIn(elementwiseFunctions().begin(),
                                           elementwiseFunctions().end()),
                         [](const auto &info) {
                           return std::string(info.param->name);
                         });

} // namespace
