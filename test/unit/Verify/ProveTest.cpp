//===- ProveTest.cpp - What proofs say ------------------------------------===//
//
// Programs that are equal although they are written differently, what is
// reported where they are not, and what is refused.
//
//===----------------------------------------------------------------------===//

#include "ProveUtil.h"

#include "lib/Verify/SymbolicExecutor.h"

#include <chrono>

namespace ccn::verify {

namespace {

std::string programOf(const std::string &arguments,
                      const std::string &expression) {
  return "mesh m (dp = 3, tp = 2)\nprogram p(" + arguments +
         ") {\n  let out = " + expression + "\n  return out\n}\n";
}

//===----------------------------------------------------------------------===//
// Equal programs
//===----------------------------------------------------------------------===//

struct Equal {
  const char *name, *arguments, *a, *b;
  /// Whether the normal form leaves it to the solver.
  bool needsSolver = false;
};

void PrintTo(const Equal &pair, std::ostream *os) {
  *os << pair.a << " and " << pair.b;
}

const Equal equals[] = {
    {"Distributes", "x: f32[3], y: f32[3], z: f32[3]", "x * (y + z)",
     "z * x + y * x"},
    {"Squares", "x: f32[3], y: f32[3]", "(x + y) * (x - y)", "x * x - y * y"},
    {"InsideAFunction", "x: f32[3], y: f32[3]", "exp((x + y) * (x + y))",
     "exp(x * x + 2 * x * y + y * y)"},
    {"Quotients", "x: f32[3], y: f32[3], z: f32[3]", "x / (2 * y) / z",
     "0.5 * x / (z * y)"},
    {"NegatedQuotient", "x: f32[3], y: f32[3]", "x / (1 - y)", "-x / (y - 1)"},
    {"ProductOfSums", "x: f32[2, 3] local(dp), w: f32[3, 2]",
     "matmul(all_reduce(sum, x, dp), w)", "all_reduce(sum, matmul(x, w), dp)"},
    {"SumOfRowsOfAProduct", "x: f32[2, 3], w: f32[3, 2]",
     "sum(matmul(x, w), 0)",
     "reshape(matmul(reshape(sum(x, 0), [1, 3]), w), [2])"},
    {"Slices", "x: f32[7] local(dp)", "all_reduce(sum, x, dp)",
     "all_gather(reduce_scatter(sum, x, 0, dp), dp)"},
    {"TwoAxes", "x: f32[7] local(dp) local(tp)", "all_reduce(sum, x, dp, tp)",
     "all_gather(all_reduce(sum, reduce_scatter(sum, x, 0, tp), dp), tp)"},
    {"MaximumOverSlices", "x: f32[4]", "max(x)",
     "all_reduce(max, max(slice(x, 0, dp)), dp)"},
    {"MaximumOfIntegersOverEmptySlices", "x: u8[4]", "max(x)",
     "all_reduce(max, max(slice(slice(x, 0, dp), 0, tp)), dp, tp)"},
    {"MinimumOverEmptySlices", "x: f8e4m3[4]", "min(x)",
     "all_reduce(min, min(slice(slice(x, 0, dp), 0, tp)), dp, tp)"},
    {"Dropout", "x: f32[2, 3], s: i64", "reshape(dropout(x, 0.5, s), [6])",
     "dropout(reshape(x, [6]), 0.5, s)"},
    {"DropoutOfSlices", "x: f32[5, 2], s: i64", "dropout(x, 0.5, s)",
     "all_gather(dropout(slice(x, 0, dp), 0.5, s), dp)"},
    {"IotaOfSlices", "x: f32[5, 2]", "cast(iota(x, 0) + iota(x, 1), f32) * x",
     "all_gather(cast(iota(slice(x, 0, dp), 0) + iota(slice(x, 0, dp), 1), "
     "f32) * slice(x, 0, dp), dp)"},
    {"IotaInAnotherPlace", "x: f32[3, 2]", "iota(transpose(x), 1)",
     "transpose(iota(x, 0))"},
    {"RowsOfSlices", "x: f32[3, 4], i: i32[2]", "gather_rows(x, i)",
     "all_gather(gather_rows(slice(x, 1, dp), i), dp)"},
    {"AddedRows", "x: f32[3, 4], i: i32[2], r: f32[2, 4]",
     "scatter_rows(x, i, r)", "x + scatter_rows(x - x, i, r)"},
    {"Comparison", "x: f32[3], y: f32[3]", "x < y", "2 * y - x > y"},
    {"Truth", "x: bool[3], y: bool[3]", "max(x, y) == true",
     "select(x, true, y)", true},
    {"ScaledMaximum", "x: f32[3], y: f32[3]", "max(2 * x, 2 * y)",
     "2 * max(x, y)", true},
    {"MaximumAndMinimum", "x: f32[3], y: f32[3]", "max(x, y) + min(x, y)",
     "x + y", true},
    {"Choice", "x: f32[3], k: f32", "k * select(x > 0, x, 0)",
     "select(x > 0, k * x, 0)", true},
    {"Relu", "x: f32[3]", "relu(x) - relu(-x)", "x", true},
    {"Absolute", "x: f32[3]", "select(x < 0, -x, x)", "abs(x)", true},
    {"UnsignedIsNotNegative", "x: u8[3]", "select(x < 0, 7, x)", "x", true},
    {"PositiveExponential", "x: f32[3]", "abs(exp(x))", "exp(x)", true},
    {"RoundTripOfIntegers", "x: i8[3]", "cast(cast(x, i32), f32)",
     "cast(x, f32)"},
};

class EqualPrograms : public testing::TestWithParam<Equal> {};

TEST_P(EqualPrograms, AreProved) {
  const Equal &pair = GetParam();
  Programs programs;
  Proof proof = programs.prove(programOf(pair.arguments, pair.a),
                               programOf(pair.arguments, pair.b));
  EXPECT_TRUE(is(Proof::Proved, proof));
  EXPECT_EQ(proof.outputs, 1);
  EXPECT_GT(proof.elements, 0);
  EXPECT_EQ(pair.needsSolver ? proof.bySolver : proof.byNormalization,
            proof.elements);
}

INSTANTIATE_TEST_SUITE_P(All, EqualPrograms, testing::ValuesIn(equals),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// What is reported
//===----------------------------------------------------------------------===//

TEST(ProveTest, ReportsACounterexample) {
  Programs programs;
  Proof proof = programs.prove(
      programOf("x: f32[5], k: f32, unused: f32", "k * x"),
      programOf("x: f32[5], k: f32, unused: f32",
                "concat([slice(k * x, 0, 0, 4), slice(x, 0, 4, 5)], 0)"));
  ASSERT_TRUE(is(Proof::Different, proof));
  const Counterexample &example = *proof.counterexample;
  EXPECT_EQ(example.output, "out");
  EXPECT_EQ(example.index, std::vector<int64_t>{4});
  EXPECT_EQ(example.rank, 0);
  EXPECT_TRUE(example.functions.empty());
  // The inputs that matter, and no others.
  ASSERT_EQ(example.inputs.size(), 2U);
  EXPECT_EQ(example.inputs[0].first, "x[4]");
  EXPECT_EQ(example.inputs[1].first, "k");
  // The values are what the programs give there.
  double x = std::stod(example.inputs[0].second);
  double k = std::stod(example.inputs[1].second);
  EXPECT_NEAR(std::stod(example.firstValue), k * x, 1e-9);
  EXPECT_NEAR(std::stod(example.secondValue), x, 1e-9);
  EXPECT_EQ(proof.describe(), "element [4] of 'out' is " + example.firstValue +
                                  " before on rank 0 (dp = 0, tp = 0), but " +
                                  example.secondValue +
                                  " after on rank 0 (dp = 0, tp = 0)\n  "
                                  "x[4] = " +
                                  example.inputs[0].second +
                                  "\n  k = " + example.inputs[1].second);
}

TEST(ProveTest, TheSolversCounterexampleIsOne) {
  Programs programs;
  ProveOptions options;
  options.sample = false;
  Proof proof =
      programs.prove(programOf("x: f32[1], y: f32[1]", "2 * x + y"),
                     programOf("x: f32[1], y: f32[1]", "2 * y + x"), options);
  ASSERT_TRUE(is(Proof::Different, proof));
  const Counterexample &example = *proof.counterexample;
  ASSERT_EQ(example.inputs.size(), 2U);
  EXPECT_NE(example.inputs[0].second, example.inputs[1].second);
  EXPECT_NE(example.firstValue, example.secondValue);
}

TEST(ProveTest, SaysOnWhichRank) {
  Programs programs;
  Proof proof =
      programs.prove(programOf("x: f32[1] local(dp)", "reduce(sum, x, 0, dp)"),
                     programOf("x: f32[1] local(dp)", "reduce(sum, x, 2, dp)"));
  ASSERT_TRUE(is(Proof::Different, proof));
  EXPECT_EQ(proof.counterexample->index, (std::vector<int64_t>{0, 0}));
  proof =
      programs.prove(programOf("x: f32[1] local(dp)", "reduce(sum, x, 1, dp)"),
                     programOf("x: f32[1] local(dp)", "reduce(max, x, 1, dp)"));
  ASSERT_TRUE(is(Proof::Different, proof));
  EXPECT_EQ(proof.counterexample->index, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(proof.counterexample->rank, 2);
  EXPECT_EQ(proof.counterexample->secondPlace,
            "after on rank 2 (dp = 1, tp = 0)");
}

TEST(ProveTest, SaysThatItDiffersInTheTheory) {
  // Equal, by a law of exp that the theory lacks.
  Programs programs;
  Proof proof = programs.prove(programOf("x: f32[1]", "exp(x) * exp(-x)"),
                               programOf("x: f32[1]", "x - x + 1"));
  ASSERT_NE(proof.kind, Proof::Proved);
  if (proof.kind == Proof::Different) {
    EXPECT_EQ(proof.counterexample->functions, std::vector<std::string>{"exp"});
    EXPECT_NE(proof.describe().find("in a theory"), std::string::npos);
  }
}

TEST(ProveTest, CountsOutputsAndElements) {
  Programs programs;
  std::string text =
      "mesh m (dp = 2)\n"
      "program p(inout a: f32[3], inout b: f32[5] sliced(0), x: f32) {\n"
      "  a <- a * x\n  b <- b + x\n  let c = a + x\n  return c\n}\n";
  Proof proof = programs.prove(text, text);
  EXPECT_TRUE(is(Proof::Proved, proof));
  EXPECT_EQ(proof.outputs, 3);
  EXPECT_EQ(proof.elements, 11);
  EXPECT_EQ(proof.byNormalization, 11);
  EXPECT_EQ(proof.describe(), "proved equal: 3 outputs, 11 elements, 11 by "
                              "normalization, 0 by the solver");
}

TEST(ProveTest, ProvesNothingOfNoElements) {
  Programs programs;
  std::string text = programOf("x: f32[0]", "x * 2");
  Proof proof = programs.prove(text, text);
  EXPECT_TRUE(is(Proof::Proved, proof));
  EXPECT_EQ(proof.elements, 0);
}

TEST(ProveTest, PairsArgumentsByNameAndAcrossLayouts) {
  Programs programs;
  EXPECT_TRUE(is(Proof::Proved,
                 programs.prove(programOf("x: f32[5], y: f32[5]", "x - y"),
                                programOf("y: f32[5] sliced(0, dp), x: f32[5]",
                                          "x - all_gather(y, dp)"))));
  EXPECT_TRUE(is(Proof::Different,
                 programs.prove(programOf("x: f32[5], y: f32[5]", "x - y"),
                                programOf("y: f32[5], x: f32[5]", "y - x"))));
}

TEST(ProveTest, ComparesReplicas) {
  Programs programs;
  std::string text = programOf("x: f32[2] local(dp)", "broadcast(x, 0, dp)");
  ProgramOp good = programs.compile(text), bad = programs.compile(text);
  ASSERT_TRUE(good && bad);
  // What a send leaves differs between ranks, whatever its type says.
  bad.walk([](BroadcastOp op) {
    mlir::OpBuilder builder(op);
    auto send =
        SendOp::create(builder, op.getLoc(), op.getInput(), 1, op.getAxes());
    send.getResult().setType(op.getType());
    op.replaceAllUsesWith(send.getResult());
    op.erase();
  });
  Proof proof = prove(good, bad, {});
  ASSERT_TRUE(is(Proof::Different, proof));
  // Ranks 0 and 2 hold what the root has.
  EXPECT_EQ(proof.counterexample->rank, 4);
  EXPECT_EQ(proof.counterexample->firstPlace,
            "before on rank 0 (dp = 0, tp = 0)");
  proof = prove(bad, good, {});
  ASSERT_TRUE(is(Proof::Different, proof));
  EXPECT_EQ(proof.counterexample->firstPlace,
            "before on rank 0 (dp = 0, tp = 0)");
  EXPECT_EQ(proof.counterexample->secondPlace,
            "before on rank 4 (dp = 2, tp = 0)");
}

//===----------------------------------------------------------------------===//
// Operations that are executed several times
//===----------------------------------------------------------------------===//

/// Executes a program on `whole` chunk by chunk of dimension 0, with what is
/// outside of each chunk unknown, and gives the result put together.
static runtime::HostTensor executeInChunks(ProgramOp program, int64_t chunks,
                                           const runtime::HostTensor &whole,
                                           SymbolicKernels &kernels) {
  SymbolicExecutor executor(interp::RankMesh(program.getMesh()), kernels);
  int64_t rows = whole.size(0);
  std::vector<runtime::HostTensor> pieces;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    int64_t begin = rows * chunk / chunks, end = rows * (chunk + 1) / chunks;
    executor.set(0, program.getArgument(0),
                 obscureOutside(kernels, whole,
                                {{begin, 0}, {end - begin, whole.size(1)}}));
    EXPECT_FALSE(executor.execute(program.getBody().front()));
    const runtime::HostTensor &result =
        executor.get(0, interp::outcomesOf(program)[0].value);
    pieces.push_back(*interp::extract(result, 0, begin, end));
  }
  return *interp::concat(0, pieces);
}

TEST(SymbolicExecutorTest, ChunksSeeNothingOutside) {
  Programs programs;
  Expressions exprs;
  SymbolicKernels kernels(exprs, {});
  auto x = kernels.symbols("x", runtime::ElementType::F32, {5, 2});
  ASSERT_TRUE(x);
  auto isIndependent = [&](const std::string &expression) {
    ProgramOp program = programs.compile(
        "mesh m (dp = 1)\nprogram p(x: f32[5, 2]) {\n  let out = " +
        expression + "\n  return out\n}\n");
    runtime::HostTensor once = executeInChunks(program, 1, *x, kernels);
    runtime::HostTensor chunked = executeInChunks(program, 3, *x, kernels);
    return !runtime::firstDifference(once, chunked);
  };
  EXPECT_TRUE(isIndependent("exp(x) * x + 1"));
  EXPECT_TRUE(isIndependent("softmax(x, 1)"));
  EXPECT_FALSE(isIndependent("softmax(x, 0)"));
  EXPECT_FALSE(isIndependent("x + sum(x)"));
  EXPECT_FALSE(
      isIndependent("concat([slice(x, 0, 1, 5), slice(x, 0, 0, 1)], 0)"));
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

struct Refused {
  const char *name;
  std::string before, after;
  const char *reason;
};

void PrintTo(const Refused &refused, std::ostream *os) {
  *os << refused.reason;
}

const Refused refusals[] = {
    {"OtherShape", programOf("x: f32[3]", "x + x"),
     programOf("x: f32[4]", "slice(x, 0, 0, 3)"),
     "'x' is f32[3] before, f32[4] after"},
    {"OtherForm", programOf("x: f32[3]", "x + x"),
     programOf("x: f32[3] local(dp)", "all_reduce(sum, x, dp)"),
     "'x' is f32[3] before, f32[3, 3] after"},
    {"OtherArgument", programOf("x: f32[3]", "x + x"),
     programOf("z: f32[3]", "z + z"), "argument 'z' is not there before"},
    {"MoreArguments", programOf("x: f32[3]", "x + x"),
     programOf("x: f32[3], z: f32", "x + x"),
     "the program has 1 arguments before, 2 after"},
    {"OtherMesh", programOf("x: f32[3]", "x + x"),
     "mesh m (dp = 3)\nprogram p(x: f32[3]) {\n  let out = x + x\n  return "
     "out\n}\n",
     "the mesh is dp = 3, tp = 2 before, dp = 3 after"},
    {"OtherOutput", programOf("x: f32[3]", "x + x"),
     "mesh m (dp = 3, tp = 2)\nprogram p(x: f32[3]) {\n  let o = x + x\n  "
     "return o\n}\n",
     "output 'o' is not there before"},
    {"QuotientByZero", programOf("x: f32[3]", "x / 0"),
     programOf("x: f32[3]", "x / 0"),
     "before, div at test.ccn:3:13 on rank 0 (dp = 0, tp = 0): a quotient or "
     "remainder by 0 has no value"},
    {"MeanOfNothing", programOf("x: f32[3, 0]", "mean(x, 1)"),
     programOf("x: f32[3, 0]", "mean(x, 1)"), "a mean of nothing has no value"},
    {"RowOutOfRange",
     programOf("x: f32[3]", "gather_rows(x, broadcast_to(cast(3, i32), [1]))"),
     programOf("x: f32[3]", "gather_rows(x, broadcast_to(cast(3, i32), [1]))"),
     "index 3 is not in 0 .. 2"},
};

class Refusals : public testing::TestWithParam<Refused> {};

TEST_P(Refusals, SayWhy) {
  Programs programs;
  Proof proof = programs.prove(GetParam().before, GetParam().after);
  ASSERT_TRUE(is(Proof::Unknown, proof));
  EXPECT_NE(proof.reason.find(GetParam().reason), std::string::npos)
      << proof.reason;
}

INSTANTIATE_TEST_SUITE_P(All, Refusals, testing::ValuesIn(refusals),
                         [](const auto &info) { return info.param.name; });

TEST(ProveTest, KeepsToTheSizeLimit) {
  Programs programs;
  ProveOptions options;
  options.sizeLimit = 1000;
  std::string text = programOf("x: f32[20, 20]", "matmul(x, x)");
  Proof proof = programs.prove(text, text, options);
  ASSERT_TRUE(is(Proof::Unknown, proof));
  EXPECT_NE(proof.reason.find("too large: more than 1000 terms"),
            std::string::npos)
      << proof.reason;
}

TEST(ProveTest, KeepsToTheTimeLimit) {
  Programs programs;
  ProveOptions options;
  options.timeLimit = 0.2;
  std::string text = programOf("x: f32[200, 200]", "matmul(x, matmul(x, x))");
  auto start = std::chrono::steady_clock::now();
  Proof proof = programs.prove(text, text, options);
  ASSERT_TRUE(is(Proof::Unknown, proof));
  EXPECT_NE(proof.reason.find("out of time"), std::string::npos)
      << proof.reason;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

} // namespace

} // namespace ccn::verify
