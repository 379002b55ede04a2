//===- WrongProgramsTest.cpp - What differs is not proved -----------------===//
//
// Pairs of programs that differ a little, and examples under their schedules
// with one operation changed: none may be proved.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include "mlir/IR/Verifier.h"

namespace ccn::verify {

namespace {

//===----------------------------------------------------------------------===//
// Pairs of texts
//===----------------------------------------------------------------------===//

/// Two programs of one head that return different expressions.
struct Pair {
  const char *name;
  const char *arguments;
  const char *right, *wrong;
};

void PrintTo(const Pair &pair, std::ostream *os) {
  *os << pair.right << " and " << pair.wrong;
}

std::string programOf(const Pair &pair, const char *expression) {
  return std::string("mesh m (dp = 3, tp = 2)\nprogram p(") + pair.arguments +
         ") {\n  let out = " + expression + "\n  return out\n}\n";
}

const Pair pairs[] = {
    {"MissingDivision", "g: f32[5] local(dp)", "all_reduce(sum, g, dp) / dp",
     "all_reduce(sum, g, dp)"},
    {"WrongSlice", "x: f32[5]", "slice(x, 0, 1, 3)", "slice(x, 0, 2, 4)"},
    {"OtherSliceOfTheMesh", "x: f32[5] local(dp)",
     "reduce_scatter(sum, x, 0, dp)",
     "reduce_scatter(sum, concat([slice(x, 0, 1, 5), slice(x, 0, 0, 1)], 0), "
     "0, dp)"},
    {"OtherSeed", "x: f32[5], seed: i64", "dropout(x, 0.5, seed)",
     "dropout(x, 0.5, seed + 1)"},
    {"OtherRate", "x: f32[5], seed: i64", "dropout(x, 0.5, seed)",
     "dropout(x, 0.25, seed)"},
    {"OtherIndex", "x: f32[6], seed: i64", "dropout(x, 0.5, seed)",
     "concat([dropout(slice(x, 0, 0, 3), 0.5, seed), "
     "dropout(slice(x, 0, 3, 6), 0.5, seed)], 0)"},
    {"TransposedIndex", "x: f32[3, 3], seed: i64", "dropout(x, 0.5, seed)",
     "transpose(dropout(transpose(x), 0.5, seed))"},
    {"WrongDimension", "x: f32[3, 3]", "sum(x, 0)", "sum(x, 1)"},
    {"WrongMeshAxis", "x: f32[4] local(dp) local(tp)",
     "all_reduce(sum, all_reduce(max, x, dp), tp)",
     "all_reduce(sum, all_reduce(max, x, tp), dp)"},
    {"MaximumForSum", "x: f32[4] local(dp)", "all_reduce(sum, x, dp)",
     "all_reduce(max, x, dp)"},
    {"ProductForSum", "x: f32[4] local(dp)", "all_reduce(sum, x, dp)",
     "all_reduce(prod, x, dp)"},
    {"MeanForSum", "x: f32[4, 3]", "sum(x, 1)", "mean(x, 1)"},
    {"SwappedDifference", "x: f32[4], y: f32[4]", "x - y", "y - x"},
    {"SwappedQuotient", "x: f32[4], y: f32[4]", "x / y", "y / x"},
    {"SwappedIntegerQuotient", "x: i32[4], y: i32[4]", "x / y", "y / x"},
    {"SwappedRemainder", "x: f32[4], y: f32[4]", "x % y", "y % x"},
    {"SwappedPower", "x: f32[4], y: f32[4]", "pow(x, y)", "pow(y, x)"},
    {"SwappedProduct", "x: f32[3, 3], y: f32[3, 3]", "matmul(x, y)",
     "matmul(y, x)"},
    {"SwappedChoice", "c: bool[4], x: f32[4], y: f32[4]", "select(c, x, y)",
     "select(c, y, x)"},
    {"WrongComparison", "x: f32[4], y: f32[4]", "x < y", "x <= y"},
    {"SendTooFar", "x: f32[4] local(dp)", "send(x, dp, +1)", "send(x, dp, +2)"},
    {"SendBackwards", "x: f32[4] local(dp)", "send(x, dp, +1)",
     "send(x, dp, -1)"},
    {"OtherRoot", "x: f32[4] local(dp)", "broadcast(x, 0, dp)",
     "broadcast(x, 1, dp)"},
    {"OtherReduceRoot", "x: f32[4] local(dp)", "reduce(sum, x, 0, dp)",
     "reduce(sum, x, 1, dp)"},
    {"OtherGatherRoot", "x: f32[4] sliced(0, dp)", "gather(x, 0, dp)",
     "gather(x, 2, dp)"},
    {"OtherConstant", "x: f32[4]", "0.9 * x", "0.90000004 * x"},
    {"ForgottenEpsilon", "x: f32[4]", "1 / (sqrt(x) + 1e-8)", "1 / sqrt(x)"},
    {"OtherFunction", "x: f32[4]", "gelu(x)", "silu(x)"},
    {"OtherRow", "x: f32[3, 2], i: i32[4]", "gather_rows(x, i)",
     "gather_rows(x, i + 1)"},
    {"RowsStoredNotAdded", "x: f32[3, 2], i: i32[2], r: f32[2, 2]",
     "scatter_rows(x, i, r)", "scatter_rows(x - x, i, r)"},
    {"WrongOrder", "x: f32[3, 2]", "reshape(x, [2, 3])", "transpose(x)"},
    {"WrongConcatenation", "x: f32[3], y: f32[3]", "concat([x, y], 0)",
     "concat([y, x], 0)"},
    {"NarrowInteger", "x: i32[3]", "x", "cast(cast(x, i8), i32)"},
    {"SignIsLost", "x: i32[3]", "x", "cast(cast(x, u32), i32)"},
    {"FractionIsLost", "x: f32[3]", "x", "cast(cast(x, i32), f32)"},
    {"Truth", "x: bool[3], y: bool[3]", "max(x, y)", "min(x, y)"},
    // Equal as real functions only where they are defined, or not at all
    // points.
    {"OnlyForPositive", "x: f32[3]", "x", "abs(x)"},
    {"DifferentAtOnePoint", "x: f32[3]", "select(x == 1000.5, 0, x)", "x"},
};

class WrongPairs : public testing::TestWithParam<Pair> {};

TEST_P(WrongPairs, AreNotProved) {
  for (bool normalize : {true, false}) {
    for (bool sample : {true, false}) {
      ProveOptions options;
      options.normalize = normalize;
      options.sample = sample;
      Programs programs;
      Proof proof =
          programs.prove(programOf(GetParam(), GetParam().right),
                         programOf(GetParam(), GetParam().wrong), options);
      EXPECT_TRUE(is(Proof::Different, proof))
          << "normalize " << normalize << ", sample " << sample;
      // The same pair with nothing wrong.
      EXPECT_TRUE(
          is(Proof::Proved,
             programs.prove(programOf(GetParam(), GetParam().right),
                            programOf(GetParam(), GetParam().right), options)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WrongPairs, testing::ValuesIn(pairs),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Mutations of scheduled programs
//===----------------------------------------------------------------------===//

/// By an operation on the same operands.
template <typename To> bool replaceBy(mlir::Operation *op) {
  mlir::OpBuilder builder(op);
  mlir::OperationState state(op->getLoc(), To::getOperationName());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  mlir::Operation *other = builder.create(state);
  op->replaceAllUsesWith(other);
  op->erase();
  return true;
}

bool swapOperands(mlir::Operation *op, unsigned first) {
  mlir::Value a = op->getOperand(first), b = op->getOperand(first + 1);
  if (a == b)
    return false;
  op->setOperand(first, b);
  op->setOperand(first + 1, a);
  return true;
}

/// Changes what an operation computes; false if nothing is known to change.
bool mutate(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, bool>(op)
      .Case<AllReduceOp, ReduceScatterOp>([](auto op) {
        op.setKind(op.getKind() == ReduceKind::sum ? ReduceKind::max
                                                   : ReduceKind::sum);
        return true;
      })
      .Case([](ReductionOp op) {
        op.setKind(op.getKind() == ReductionKind::sum ? ReductionKind::max
                                                      : ReductionKind::sum);
        return true;
      })
      .Case([](AddOp op) { return replaceBy<SubOp>(op); })
      .Case([](GeluOp op) { return replaceBy<ReluOp>(op); })
      .Case([](ReluOp op) { return replaceBy<GeluOp>(op); })
      .Case([](SqrtOp op) { return replaceBy<ExpOp>(op); })
      .Case([](MulOp op) { return replaceBy<AddOp>(op); })
      .Case<SubOp, DivOp, PowOp, RemOp, ::ccn::CompareOp, MatmulOp>(
          [](auto op) { return swapOperands(op, 0); })
      .Case([](SelectOp op) { return swapOperands(op, 1); })
      .Case([](SendOp op) {
        op.setShift(-op.getShift());
        return true;
      })
      .Case([](DropoutOp op) {
        op.setRateAttr(mlir::FloatAttr::get(
            mlir::Float64Type::get(op.getContext()), 0.75));
        return true;
      })
      .Case([](ConstantOp op) {
        auto number = llvm::dyn_cast<mlir::FloatAttr>(op.getValue());
        if (!number)
          return false;
        op.setValueAttr(mlir::FloatAttr::get(
            number.getType(), number.getValueAsDouble() * 1.5 + 0.25));
        return true;
      })
      .Default([](mlir::Operation *) { return false; });
}

class MutatedExamples : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(MutatedExamples, AreNotProved) {
  Example example(GetParam());
  ProveOptions options;
  options.timeLimit = 2;
  int64_t tried = 0, different = 0;
  for (const std::string &schedule : example.schedules) {
    Programs programs;
    ProgramOp before =
        programs.compile(example.text, example.variant(Phase::Parse, {3, 2}));
    ProgramOp after = programs.compile(
        example.text, example.variant(Phase::Schedule, {3, 2}, schedule));
    ASSERT_TRUE(before && after);
    std::vector<mlir::Operation *> ops;
    after.walk([&](mlir::Operation *op) { ops.push_back(op); });
    for (size_t i = 0; i < ops.size(); ++i) {
      mlir::OwningOpRef<mlir::ModuleOp> copy =
          llvm::cast<mlir::ModuleOp>(after->getParentOp()->clone());
      ProgramOp mutant = *copy->getOps<ProgramOp>().begin();
      ops.clear();
      mutant.walk([&](mlir::Operation *op) { ops.push_back(op); });
      std::string name = ops[i]->getName().getStringRef().str();
      mlir::ScopedDiagnosticHandler quiet(copy->getContext(),
                                          [](mlir::Diagnostic &) {});
      if (!mutate(ops[i]) || mlir::failed(mlir::verify(*copy)))
        continue;
      Proof proof = prove(before, mutant, options);
      EXPECT_NE(proof.kind, Proof::Proved)
          << name << ", operation " << i << " of schedule '" << schedule << "'";
      ++tried;
      different += proof.kind == Proof::Different;
    }
  }
  std::cout << tried << " mutants, " << different << " found different\n";
  EXPECT_GT(tried, 0);
  EXPECT_GE(different * 10, tried * 9);
}

INSTANTIATE_TEST_SUITE_P(All, MutatedExamples,
                         testing::ValuesIn(findExamples()),
                         [](const auto &info) {
                           return info.param.stem().string();
                         });

} // namespace

} // namespace ccn::verify
