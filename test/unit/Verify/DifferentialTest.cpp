//===- DifferentialTest.cpp - Symbols against numbers ---------------------===//
//
// Every operation, in several layouts: what symbolic execution gives, evaluated
// at some inputs, is what the interpreter gives for these.
//
//===----------------------------------------------------------------------===//

#include "ProveUtil.h"

#include "lib/Interpreter/Interpreter.h"
#include "lib/Verify/Evaluate.h"
#include "lib/Verify/SymbolicExecutor.h"

#include <cmath>
#include <set>

namespace ccn::verify {

namespace {

using runtime::ElementType;
using runtime::HostTensor;

struct Case {
  std::string name, arguments, expression;
  /// Whether floats are more than 0.
  bool positive = false;
};

void PrintTo(const Case &test, std::ostream *os) { *os << test.expression; }

const std::vector<Case> specialCases = {
    // Elementwise.
    {"Neg", "x: f64[5]", "-x"},
    {"NegPartial", "x: f64[5] partial(sum, dp)", "all_reduce(sum, -x, dp)"},
    {"Abs", "x: f64[5], i: i32[3]", "abs(x)"},
    {"AbsInteger", "i: i32[5]", "abs(i - 2)"},
    {"AbsUnsigned", "i: u32[5]", "abs(i)"},
    {"ReluInteger", "i: i32[5]", "relu(1 - i)"},
    {"Add", "x: f64[5], y: f64[5] sliced(0, dp)", "x + y"},
    {"Sub", "x: f64[5], y: f64", "y - x"},
    {"Mul", "x: f64[5] local(dp), y: f64[5]", "x * y"},
    {"DivInteger", "i: i32[5], j: i32[5]", "(i - 3) / (j + 1)"},
    {"DivConstants", "i: i32[1]", "i - i + cast(-7, i32) / cast(2, i32)"},
    {"RemInteger", "i: i32[5], j: i32[5]", "(i - 3) % (j + 1)"},
    {"RemConstants", "i: i32[1]", "i - i + cast(-7, i32) % cast(2, i32)"},
    {"MinTruth", "x: bool[5], y: bool[5]", "min(x, y)"},
    {"MaxTruth", "x: bool[5], y: bool[5]", "max(x, y)"},
    {"MaxInteger", "i: u8[5], j: u8[5]", "max(i, j)"},
    {"Equal", "i: i32[9], j: i32[9]", "i == j"},
    {"NotEqual", "i: i32[9], j: i32[9]", "i != j"},
    {"Less", "i: i32[9], j: i32[9]", "i < j"},
    {"LessOrEqual", "i: i32[9], j: i32[9]", "i <= j"},
    {"Greater", "i: i32[9], j: i32[9]", "i > j"},
    {"GreaterOrEqual", "i: i32[9], j: i32[9]", "i >= j"},
    {"EqualTruths", "x: bool[9], y: bool[9]", "x == y"},
    {"LessTruth", "x: bool[9], y: bool[9]", "x < y"},
    {"GreaterOrEqualTruth", "x: bool[9], y: bool[9]", "x >= y"},
    {"Select", "c: bool[5], x: f64[5], y: f64[5] sliced(0, dp)",
     "select(c, x, y)"},
    {"SelectTruth", "c: bool[5], x: bool[5], y: bool[5]", "select(c, x, y)"},
    {"CastFloat", "x: f64[5]", "cast(x, f16)"},
    {"CastToInteger", "x: f64[5]", "cast(2.3 * x, i16)"},
    {"CastToUnsigned", "x: f64[5]", "cast(x, u8)"},
    {"CastToTruth", "i: i32[5]", "cast(i, bool)"},
    {"CastFromTruth", "x: bool[5]", "cast(x, f32)"},
    {"CastNarrow", "i: i32[5]", "cast(200 * i, i8)"},
    {"CastSign", "i: i32[5]", "cast(i - 2, u16)"},
    {"CastConstant", "i: u8[1]", "i - i + cast(cast(2.75, f32), u8)"},
    {"CastWide", "i: i8[5]", "cast(cast(i, i64), f64)"},
    {"Dropout", "x: f64[5, 3] sliced(0, dp), s: i64", "dropout(x, 0.3, s)"},
    {"DropoutConstantSeed", "x: f64[5, 3] sliced(1, tp)",
     "dropout(x, 0.5, -3)"},
    {"DropoutNever", "x: f64[5, 3] sliced(1, tp)", "dropout(x, 0.0, 1)"},
    {"Iota", "x: f32[5, 3] sliced(0, dp)", "iota(x, 0) * 10 + iota(x, 1)"},
    {"IotaOfSlices", "x: bool[5, 3]", "iota(slice(x, 1, 1, 3), 1)"},
    {"LargeUnsigned", "i: u64[2]", "i < cast(18446744073709551615, u64)"},
    // Products, reductions.
    {"Matmul", "x: f64[3, 4], y: f64[4, 2]", "matmul(x, y)"},
    {"MatmulBatched", "x: f64[2, 3, 4] sliced(0, tp), y: f64[2, 4, 2]",
     "matmul(x, y)"},
    {"MatmulSharedRight", "x: f64[2, 3, 4], y: f64[4, 2] sliced(1, dp)",
     "matmul(x, y)"},
    {"MatmulCutInside", "x: f64[3, 4] sliced(1, dp), y: f64[4, 2]",
     "all_reduce(sum, matmul(x, y), dp)"},
    {"MatmulOfNothing", "x: f64[3, 0], y: f64[0, 2]", "matmul(x, y)"},
    {"MatmulInteger", "x: i32[3, 4], y: i32[4, 2]", "matmul(x, y)"},
    {"Conv2d", "x: f64[2, 3, 4, 5], w: f64[2, 3, 2, 3]", "conv2d(x, w)"},
    {"Conv2dStrided", "x: f64[2, 3, 4, 5] sliced(0, tp), w: f64[4, 3, 2, 3]",
     "conv2d(x, w, 2, 1)"},
    {"Conv2dCutInside", "x: f64[1, 4, 3, 3] sliced(1, dp), w: f64[2, 4, 2, 2]",
     "all_reduce(sum, conv2d(x, w, 1, 1), dp)"},
    {"Sum", "x: f64[3, 4, 2]", "sum(x, [0, 2])"},
    {"SumOfAll", "x: f64[3, 4]", "sum(x)"},
    {"SumInner", "x: f64[3, 4, 2] sliced(0, dp)", "sum(x, 1)"},
    {"Prod", "x: f64[3, 4]", "prod(x, 0)"},
    {"Maximum", "x: f64[3, 4] sliced(1, dp)", "max(x, [0])"},
    {"MaximumOverSlices", "x: f64[4] sliced(0, dp)",
     "all_reduce(max, max(x), dp)"},
    {"Minimum", "x: f64[3, 4]", "min(x, [1])"},
    {"MaximumOfTruths", "x: bool[3, 4]", "max(x, [0])"},
    {"MinimumOfTruths", "x: bool[3, 4]", "min(x, [0])"},
    {"MaximumOfIntegers", "x: i8[3, 0]", "max(x, [1])"},
    {"MinimumOfNothing", "x: f8e4m3[3, 0]", "min(x, [1])"},
    {"Mean", "x: f64[3, 4] sliced(1, dp)", "all_reduce(sum, mean(x, 1), dp)"},
    {"Norm", "x: f64[3, 4] sliced(1, dp)", "norm(x)"},
    {"Softmax", "x: f64[3, 4]", "softmax(x, 1)"},
    {"LayerNorm", "x: f64[3, 4], g: f64[4], b: f64[4]",
     "layer_norm(x, g, b, 1e-5)"},
    {"RmsNorm", "x: f64[3, 4], g: f64[4]", "rms_norm(x, g, 1e-5)"},
    // Movement.
    {"Transpose", "x: f64[2, 3, 4] sliced(1, dp)", "transpose(x, [2, 0, 1])"},
    {"Reshape", "x: f64[4, 6] sliced(0, dp)", "reshape(x, [4, 2, 3])"},
    {"Extract", "x: f64[4, 6] sliced(0, dp)", "slice(x, 1, 2, 5)"},
    {"Concat", "x: f64[4, 6] sliced(0, dp), y: f64[4, 1]",
     "concat([x, y, x], 1)"},
    {"BroadcastTo", "x: f64[4, 1] sliced(0, dp)", "broadcast_to(x, [2, 4, 3])"},
    {"GatherRows", "x: f64[4, 3] sliced(1, dp), i: i32[5]",
     "gather_rows(x, i)"},
    {"GatherTruths", "x: bool[4, 3], i: u8[5]", "gather_rows(x, i)"},
    {"GatherNoRows", "x: f64[0, 3], i: u8[0]", "gather_rows(x, i)"},
    {"ScatterRows", "x: f64[4, 3] sliced(1, dp), i: i32[5], r: f64[5, 3]",
     "scatter_rows(x, i, r)"},
    // Collectives.
    {"AllReduceSum", "x: f64[5] local(dp)", "all_reduce(sum, x, dp)"},
    {"AllReduceProd", "x: f64[5] local(dp)", "all_reduce(prod, x, dp)"},
    {"AllReduceMax", "x: f64[5] local(dp)", "all_reduce(max, x, dp)"},
    {"AllReduceMin", "x: f64[5] local(dp)", "all_reduce(min, x, dp)"},
    {"AllReduceTruths", "x: bool[5] local(dp)", "all_reduce(max, x, dp)"},
    {"AllReduceTwoAxes", "x: f64[5] local(dp) local(tp)",
     "all_reduce(sum, x, dp, tp)"},
    {"ReduceScatter", "x: f64[4, 5] local(dp)",
     "reduce_scatter(sum, x, 1, dp)"},
    {"AllGather", "x: f64[5, 2] sliced(0, dp) local(tp)", "all_gather(x, dp)"},
    {"SliceOfTheMesh", "x: f64[5, 2] local(tp)", "slice(x, 0, dp)"},
    {"AllToAll", "x: f64[5, 4] sliced(0, dp)", "all_to_all(x, 0 -> 1, dp)"},
    {"Broadcast", "x: f64[5] local(dp)", "broadcast(x, 2, dp)"},
    {"Reduce", "x: f64[5] local(dp)", "reduce(sum, x, 1, dp)"},
    {"Gather", "x: f64[5] sliced(0, dp)", "gather(x, 1, dp)"},
    {"GatherTruthsOfRanks", "x: bool[5] sliced(0, dp)", "gather(x, 1, dp)"},
    {"Scatter", "x: f64[5] local(dp)", "scatter(x, 2, 0, dp)"},
    {"Send", "x: f64[5] local(dp)", "send(x, dp, +1)"},
    {"SendBack", "x: f64[5] local(dp)", "send(x, dp, -2)"},
    {"ReshardSlices", "x: f64[5, 4] sliced(0, dp)",
     "reshard(x, sliced(1, tp) sliced(0, dp))"},
    {"ReshardPartial", "x: f64[5, 4] partial(sum, dp) partial(sum, tp)",
     "reshard(x, sliced(0, tp) sliced(1, dp))"},
    {"ReshardCuts", "x: f64[7, 4] sliced(0, dp) sliced(0, tp)",
     "reshard(x, sliced(0, tp) sliced(1, dp))"},
};

/// Those, and every elementwise function of floats, on slices.
std::vector<Case> allCases() {
  std::vector<Case> cases = specialCases;
  for (const ElementwiseFunction *function : elementwiseFunctions()) {
    std::string spelling(function->spelling);
    bool isUnary = function->numOperands == 1;
    cases.push_back({"Function_" + std::string(function->name),
                     isUnary ? "x: f64[5] sliced(0, dp)"
                             : "x: f64[5] sliced(0, dp), y: f64[5]",
                     !function->isCalled()
                         ? "x " + spelling + " y"
                         : spelling + (isUnary ? "(x)" : "(x, y)"),
                     function->domain != Domain::All});
  }
  return cases;
}

class Differential : public testing::TestWithParam<Case> {
protected:
  /// Inputs for every argument: eighths, or integers below 4.
  HostTensor draw(ElementType type, const runtime::Shape &shape) {
    std::vector<double> values;
    int64_t count = *runtime::elementCount(shape);
    for (int64_t i = 0; i < count; ++i) {
      uint32_t bits = runtime::philox4x32({counter++, 0, 0, 0}, {1, 2})[0];
      double value = type == ElementType::Bool ? bits & 1 : bits & 3;
      if (runtime::isFloat(type)) {
        value = (1 + (bits & 15)) / 8.0;
        if (!GetParam().positive && (bits & 16))
          value = -value;
      }
      values.push_back(value);
    }
    return *HostTensor::fromDoubles(type, shape, values);
  }

  /// What the parts of an outcome hold, as numbers, in external form.
  std::vector<Interval> evaluateOutcome(const Expressions &exprs,
                                        interp::RankMesh mesh,
                                        const interp::Outcome &outcome,
                                        llvm::ArrayRef<HostTensor> parts,
                                        const Assignment &assignment) {
    Result<HostTensor> whole = mesh.joinParts(outcome.type, parts);
    EXPECT_TRUE(whole) << whole.message();
    const Expr *ids = whole->dataAs<Expr>();
    return evaluate(exprs, {ids, ids + whole->count()}, assignment);
  }

  uint32_t counter = 0;
};

TEST_P(Differential, SymbolsGiveTheNumbers) {
  std::string text =
      "mesh m (dp = 3, tp = 2)\nprogram p(" + GetParam().arguments +
      ") {\n  let out = " + GetParam().expression + "\n  return out\n}\n";
  for (Phase phase : {Phase::Parse, Phase::Schedule}) {
    Programs programs;
    ProgramOp program = programs.compile(text, {.phase = phase});
    ASSERT_TRUE(program);
    interp::RankMesh mesh(program.getMesh());
    interp::NamedTensors inputs;
    // By number of the symbol: arguments and elements in order.
    std::vector<double> values;
    for (unsigned i = 0; i < program.getNumArguments(); ++i) {
      auto type =
          llvm::cast<mlir::RankedTensorType>(program.getArgument(i).getType());
      HostTensor tensor =
          draw(elementTypeOf(type.getElementType()), mesh.externalShape(type));
      for (int64_t j = 0; j < tensor.count(); ++j)
        values.push_back(tensor.doubleAt(j));
      inputs[program.getArgName(i).str()] = tensor;
    }
    auto numbers = interp::run(program, program.getMesh(), inputs, {});
    ASSERT_TRUE(mlir::succeeded(numbers));

    for (bool normalize : {true, false}) {
      Expressions exprs(normalize);
      SymbolicKernels kernels(exprs, {});
      auto symbols = makeSymbols(program, kernels);
      ASSERT_TRUE(symbols) << symbols.message();
      auto parts = executeProgram(program, *symbols, kernels);
      ASSERT_TRUE(parts) << parts.message();
      std::vector<interp::Outcome> outcomes = interp::outcomesOf(program);
      ASSERT_EQ(outcomes.size(), 1U);
      std::vector<Interval> found =
          evaluateOutcome(exprs, mesh, outcomes[0], (*parts)[0],
                          [&](uint32_t symbol) { return values.at(symbol); });
      const HostTensor &expected = numbers->front().tensor;
      ASSERT_EQ(static_cast<int64_t>(found.size()), expected.count());
      for (int64_t i = 0; i < expected.count(); ++i) {
        double value = expected.doubleAt(i);
        double slack = 1e-9 * std::max(1.0, std::abs(value));
        EXPECT_TRUE(found[i].isDefined()) << i;
        EXPECT_LE(found[i].high - found[i].low, slack) << i;
        EXPECT_NEAR(found[i].low, value, slack) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Differential, testing::ValuesIn(allCases()),
                         [](const auto &info) { return info.param.name; });

// An operation that is added to the dialect has to be added above.
TEST(DifferentialTest, CoversEveryOperation) {
  std::set<std::string> covered = {"ccn.mesh", "ccn.program", "ccn.return",
                                   // In the examples' schedules.
                                   "ccn.fused", "ccn.overlapped", "ccn.yield",
                                   "ccn.update",
                                   // Says how, not what.
                                   "ccn.algorithm",
                                   // Of one rank's program.
                                   "ccn.communicate"};
  Programs programs;
  mlir::MLIRContext *context = nullptr;
  for (const Case &test : allCases()) {
    ProgramOp program = programs.compile(
        "mesh m (dp = 3, tp = 2)\nprogram p(" + test.arguments +
        ") {\n  let out = " + test.expression + "\n  return out\n}\n");
    ASSERT_TRUE(program);
    context = program.getContext();
    program.walk([&](mlir::Operation *op) {
      covered.insert(op->getName().getStringRef().str());
    });
  }
  for (mlir::RegisteredOperationName name :
       context->getRegisteredOperationsByDialect("ccn"))
    EXPECT_TRUE(covered.contains(name.getStringRef().str()))
        << name.getStringRef().str();
}

} // namespace

} // namespace ccn::verify
