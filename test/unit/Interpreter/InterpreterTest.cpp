//===- InterpreterTest.cpp - Inputs, outputs and failures of runs ---------===//

#include "ProgramUtil.h"

#include "mlir/Parser/Parser.h"

using namespace ccn;
using namespace ccn::interp;

namespace {

using enum ElementType;

void expectContains(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos)
      << "message: " << text << "lacks: " << part;
}

TEST(Interpreter, ExternalForms) {
  TestProgram program("mesh m (a = 2, b = 3)\n"
                      "program p(x: i32[4, 5] sliced(0, a) local(b), y: i32 "
                      "local(a) local(b), inout z: i32[2] partial(sum, b)) {\n"
                      "let u = x * 2\nlet v = y + 1\nreturn u, v\n}\n");
  HostTensor x = iota(I32, {3, 4, 5}), y = iota(I32, {2, 3}),
             z = iota(I32, {3, 2});
  auto outputs = program.outputs({{"x", x}, {"y", y}, {"z", z}});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[0].name, "z");
  EXPECT_TRUE(same(outputs[0].tensor, z));
  EXPECT_EQ(outputs[1].name, "u");
  EXPECT_EQ(outputs[1].tensor.shape(), (Shape{3, 4, 5}));
  for (int64_t i = 0; i < 60; ++i)
    EXPECT_EQ(outputs[1].tensor.integerAt(i), 2 * i);
  EXPECT_EQ(integers(outputs[2].tensor),
            (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Interpreter, DrawsWhatIsNotGiven) {
  std::string text = "mesh m (a = 2)\nprogram p(x: f32[7] sliced(0)) {\n"
                     "let y = x * 1\nreturn y\n}\n";
  RunOptions one, two;
  one.seed = 1;
  two.seed = 2;
  auto on2 = TestProgram(text).outputs({}, one);
  auto on5 = TestProgram(text, {{"a", "5"}}).outputs({}, one);
  auto other = TestProgram(text).outputs({}, two);
  EXPECT_TRUE(same(on2[0].tensor, on5[0].tensor));
  EXPECT_FALSE(same(on2[0].tensor, other[0].tensor));
}

TEST(Interpreter, ArgumentsCanBeReturned) {
  auto outputs = TestProgram("mesh m (a = 3)\nprogram p(x: i32[4] sliced(0)) "
                             "{\nlet y = x\nreturn y\n}\n")
                     .outputs({{"x", iota(I32, {4})}});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(same(outputs[0].tensor, iota(I32, {4})));
}

TEST(Interpreter, SameBitsInEveryRun) {
  TestProgram program("mesh m (a = 8)\nprogram p(x: bf16[100] local) {\n"
                      "let y = all_reduce(sum, x)\nreturn y\n}\n");
  auto first = program.outputs();
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(same(program.outputs()[0].tensor, first[0].tensor));
}

TEST(Interpreter, NarrowSumsRoundOnceInRankOrder) {
  TestProgram program("mesh m (a = 3)\nprogram p(x: f16[1] local) {\n"
                      "let y = all_reduce(sum, x)\nreturn y\n}\n");
  auto outputs = program.outputs({{"x", floats(F16, {3, 1}, {2048, 1, 1})}});
  EXPECT_EQ(outputs[0].tensor.doubleAt(0), 2050);
}

TEST(Interpreter, WrongInputs) {
  TestProgram program("mesh m (a = 2)\nprogram p(x: f32[4] local) {\n"
                      "let y = x\nreturn y\n}\n");
  EXPECT_FALSE(program.run({{"z", HostTensor()}}));
  expectContains(program.messages, "program 'p' has no argument 'z'");
  EXPECT_FALSE(program.run({{"x", iota(F32, {4})}}));
  expectContains(program.messages,
                 "argument 'x' expects f32[2, 4], found f32[4]");
  expectContains(program.messages, "test.ccn");
  EXPECT_FALSE(program.run({{"x", iota(F16, {2, 4})}}));
  expectContains(program.messages, "found f16[2, 4]");
}

TEST(Interpreter, FailuresNameTheRankAndThePlace) {
  TestProgram program("mesh m (a = 2, b = 2)\n"
                      "program p(x: i32[4] sliced(0, b), y: i32[4]) {\n"
                      "let z = y / x\nlet w = all_gather(z, b)\nreturn w\n}\n");
  EXPECT_FALSE(program.run({{"x", ints(I32, {4}, {1, 1, 1, 0})}}));
  // Both ranks with b = 1 fail, at once.
  expectContains(program.messages, "b = 1): division by zero: element [1]");
  expectContains(program.messages, "\"test.ccn\":3:");

  TestProgram rows("mesh m (a = 2)\nprogram p(t: f32[4, 2], i: i32[3]) {\n"
                   "let y = gather_rows(t, i)\nreturn y\n}\n");
  EXPECT_FALSE(rows.run({{"i", ints(I32, {3}, {0, 4, 1})}}));
  expectContains(rows.messages,
                 "rank 0 (a = 0): row index 4 at position 1 is out of range");
}

TEST(Interpreter, MoreRanksThanThreads) {
  TestProgram program("mesh m (a = 3000)\nprogram p(x: i64[2] local) {\n"
                      "let y = all_reduce(sum, x)\nreturn y\n}\n");
  HostTensor x = get(HostTensor::splatInteger(I64, {3000, 2}, 7));
  auto outputs = program.run({{"x", x}});
  ASSERT_TRUE(outputs);
  EXPECT_EQ(outputs->front().tensor.integerAt(1), 21000);
}

TEST(Interpreter, TooLarge) {
  TestProgram program("mesh m (a = 2)\nprogram p(x: f32) {\n"
                      "let y = broadcast_to(x, [1000000000, 1000000000])\n"
                      "return y\n}\n");
  EXPECT_FALSE(program.run());
  expectContains(program.messages, "not enough memory");
}

/// Runs MLIR text that the front end cannot make.
std::string runText(const std::string &text) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
  std::string messages;
  llvm::raw_string_ostream os(messages);
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          os << diagnostic.str() << "\n";
                                          return mlir::success();
                                        });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return "not parsed: " + messages;
  ProgramOp program = *module->getOps<ProgramOp>().begin();
  auto outputs = run(program, program.getMesh(), {}, RunOptions());
  if (mlir::succeeded(outputs))
    return "ok " + (*outputs)[0].tensor.describe();
  return messages;
}

TEST(Interpreter, UnknownOperations) {
  for (const char *results :
       {"tensor<f32>", "()", "(tensor<f32>, tensor<f32>)"})
    expectContains(
        runText(std::string("ccn.mesh @m [\"a\" = 2]\nccn.program @p() {\n"
                            "\"foo.bar\"() : () -> ") +
                results + "\nccn.return\n}"),
        "the reference interpreter does not know operation 'foo.bar'");
}

TEST(Interpreter, WithoutAMesh) {
  EXPECT_EQ(runText("ccn.program @p(%x: tensor<3x2xf8E4M3FN> {ccn.name = "
                    "\"x\"}) -> (tensor<2x3xf8E4M3FN> {ccn.name = \"y\"}) {\n"
                    "%y = ccn.transpose %x by [1, 0] : "
                    "(tensor<3x2xf8E4M3FN>) -> tensor<2x3xf8E4M3FN>\n"
                    "ccn.return %y : tensor<2x3xf8E4M3FN>\n}"),
            "ok f8e4m3[2, 3]");
}

TEST(Interpreter, ManyRanks) {
  TestProgram program("mesh m (a = 16, b = 16)\n"
                      "program p(x: i32[3] local(a) local(b)) {\n"
                      "let y = all_reduce(sum, x, b)\n"
                      "let z = all_reduce(sum, y, a)\nreturn z\n}\n");
  auto outputs = program.outputs({{"x", iota(I32, {16, 16, 3})}});
  EXPECT_EQ(integers(outputs[0].tensor),
            (std::vector<int64_t>{97920, 98176, 98432}));
}

} // namespace
