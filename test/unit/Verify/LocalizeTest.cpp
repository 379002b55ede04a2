//===- LocalizeTest.cpp - Localized programs compute the same -------------===//
//
// Every program of examples/ under each of its schedules, and under none, and
// programs that hold every operation, on many meshes and at odd and tiny sizes:
// run for all ranks together, what is localized leaves the bits of the program
// that it was made from, chunk by chunk too.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include "lib/Interpreter/Interpreter.h"
#include "lib/Transforms/Localize.h"
#include "lib/Verify/Localized.h"

#include "mlir/Parser/Parser.h"

namespace ccn::verify {

namespace {

using Outputs = mlir::FailureOr<std::vector<interp::Output>>;

/// What two runs of one program leave, as text if they differ.
std::string compare(const Outputs &expected, const Outputs &found) {
  if (mlir::failed(expected) || mlir::failed(found))
    return mlir::failed(expected) == mlir::failed(found) ? "" : "one run fails";
  if (expected->size() != found->size())
    return "other outputs";
  for (size_t i = 0; i < expected->size(); ++i) {
    const interp::Output &a = (*expected)[i], &b = (*found)[i];
    if (a.name != b.name || a.tensor.shape() != b.tensor.shape())
      return "other outputs than '" + a.name + "'";
    if (auto at = runtime::firstDifference(a.tensor, b.tensor))
      return "element " + std::to_string(*at) + " of '" + a.name + "' is " +
             b.tensor.textAt(*at) + ", expected " + a.tensor.textAt(*at);
  }
  return "";
}

/// Localizes a program for all ranks and compares what both leave. If the
/// program may fail, so must what is localized.
std::string compareLocalized(ProgramOp program, bool mayFail = false) {
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(program.getContext(),
                                        [&](mlir::Diagnostic &diagnostic) {
                                          messages += diagnostic.str() + "\n";
                                          return mlir::success();
                                        });
  auto localized = localizeForAllRanks(program);
  if (mlir::failed(localized))
    return messages;
  // All ranks do the same in the same order, so that they meet.
  auto namesOf = [](ProgramOp program) {
    std::vector<std::string> names;
    program.walk([&](mlir::Operation *op) {
      names.push_back(op->getName().getStringRef().str());
    });
    return names;
  };
  for (ProgramOp other : localized->programs)
    if (namesOf(other) != namesOf(localized->programs.front()))
      return "ranks have different operations";
  for (bool inChunks : {false, true}) {
    interp::RunOptions options;
    options.inChunks = inChunks;
    options.seed = 3;
    Outputs expected = interp::run(program, program.getMesh(), {}, options);
    if (mlir::failed(expected) && !mayFail)
      return "the program fails: " + messages;
    Outputs found =
        interp::run(localized->programs, program.getMesh(), {}, options);
    std::string difference = compare(expected, found);
    if (!difference.empty())
      return difference + "\n" + messages;
  }
  return "";
}

class LocalizedExamples : public testing::TestWithParam<std::filesystem::path> {
};

TEST_P(LocalizedExamples, LeaveTheSameBitsOnAllMeshes) {
  using Shapes = std::vector<std::vector<int64_t>>;
  Example example(GetParam());
  Shapes shapes = {{1}, {2}, {3}, {4}, {8}};
  if (example.axes.size() == 2)
    shapes = {{1, 1}, {1, 3}, {2, 2}, {3, 2}, {2, 4}, {4, 1}};
  for (const std::vector<int64_t> &shape : shapes)
    for (const char *size : {"", "1", "13"})
      for (const std::string &schedule : example.schedules) {
        Variant variant = example.variant(Phase::Schedule, shape, schedule);
        for (auto &[name, value] : variant.params)
          if (*size)
            value = size;
        Programs programs;
        ProgramOp program = programs.compile(example.text, variant);
        ASSERT_TRUE(program);
        EXPECT_EQ(compareLocalized(program), "")
            << "schedule '" << schedule << "', sizes '" << size << "', on "
            << program.getMesh().getNumRanks() << " ranks";
      }
}

INSTANTIATE_TEST_SUITE_P(All, LocalizedExamples,
                         testing::ValuesIn(findExamples()),
                         [](const auto &info) {
                           return info.param.stem().string();
                         });

/// Programs as IR.
class LocalizedIr : public testing::Test {
protected:
  LocalizedIr() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<CcnDialect>();
  }

  /// Of the one program of a text.
  std::string compareLocalized(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        text, mlir::ParserConfig(&context));
    if (!module)
      return "it does not verify";
    return verify::compareLocalized(*module->getOps<ProgramOp>().begin());
  }

  mlir::MLIRContext context;
};

bool movesByReshards(ProgramOp program) {
  return program.getBody()
      .walk([](ReshardOp op) {
        return isRelabelling(op) ? mlir::WalkResult::advance()
                                 : mlir::WalkResult::interrupt();
      })
      .wasInterrupted();
}

TEST_F(LocalizedIr, EveryOperationInEveryLayout) {
  // The programs of the dialect's tests show each operation in each layout.
  size_t compared = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(CCN_LIT_DIALECT_TESTS)) {
    llvm::StringRef path = entry.path().native();
    if (!path.ends_with(".mlir") || path.ends_with("-errors.mlir"))
      continue;
    auto module = mlir::parseSourceFile<mlir::ModuleOp>(
        path, mlir::ParserConfig(&context));
    ASSERT_TRUE(module) << path.str();
    for (ProgramOp program : module->getOps<ProgramOp>()) {
      if (program.getRank() || movesByReshards(program))
        continue;
      // As for indices that are not there, and divisions by zero.
      EXPECT_EQ(verify::compareLocalized(program, /*mayFail=*/true), "")
          << path.str() << ": " << program.getSymName().str();
      ++compared;
    }
  }
  EXPECT_GE(compared, 60U);
}

TEST_F(LocalizedIr, ReshapesOfSmallParts) {
  // On four ranks each part has one row, which could become either of the
  // leading dimensions.
  EXPECT_EQ(compareLocalized(R"(
    #cut = #ccn.layout<@m, [{"a"}, {}]>
    #cut1 = #ccn.layout<@m, [{}, {"a"}, {}]>
    ccn.mesh @m ["a" = 4]
    ccn.program @p(%x: tensor<4x3xf32, #cut> {ccn.name = "x"}) -> (tensor<1x4x3xf32> {ccn.name = "y"}) {
      %y = ccn.overlapped chunks(3) dims [1] ring("a") {
        %0 = ccn.exp %x : (tensor<4x3xf32, #cut>) -> tensor<4x3xf32, #cut>
        %1 = ccn.reshape %0 to [1, 4, 3] : (tensor<4x3xf32, #cut>) -> tensor<1x4x3xf32, #cut1>
        %2 = ccn.all_gather %1 along <@m, ["a"]> : (tensor<1x4x3xf32, #cut1>) -> tensor<1x4x3xf32>
        ccn.yield %2 : tensor<1x4x3xf32>
      } : tensor<1x4x3xf32>
      ccn.return %y : tensor<1x4x3xf32>
    })"),
            "");
}

TEST_F(LocalizedIr, ChunksOfBlocksThatSeveralAxesCut) {
  EXPECT_EQ(compareLocalized(R"(
    #ab = #ccn.layout<@m, [{"a", "b"}]>
    #a = #ccn.layout<@m, [{"a"}]>
    ccn.mesh @m ["a" = 2, "b" = 3]
    ccn.program @p(%x: tensor<11xf32, #ab> {ccn.name = "x"}, %w: tensor<11xf32> {ccn.name = "w"})
        -> (tensor<11xf32, #a> {ccn.name = "half"}, tensor<11xf32> {ccn.name = "all"}) {
      %y:2 = ccn.overlapped chunks(2) dims [0, 0] {
        %0 = ccn.mul %x, %w : (tensor<11xf32, #ab>, tensor<11xf32>) -> tensor<11xf32, #ab>
        %1 = ccn.all_gather %0 along <@m, ["b"]> : (tensor<11xf32, #ab>) -> tensor<11xf32, #a>
        %2 = ccn.add %1, %w : (tensor<11xf32, #a>, tensor<11xf32>) -> tensor<11xf32, #a>
        %3 = ccn.all_gather %2 along <@m, ["a"]> : (tensor<11xf32, #a>) -> tensor<11xf32>
        ccn.yield %2, %3 : tensor<11xf32, #a>, tensor<11xf32>
      } : tensor<11xf32, #a>, tensor<11xf32>
      ccn.return %y#0, %y#1 : tensor<11xf32, #a>, tensor<11xf32>
    })"),
            "");
}

TEST_F(LocalizedIr, ChunksOfBlocksThatOtherAxesCut) {
  // What is scattered along b begins elsewhere than what is cut along a, though
  // it has the same size.
  EXPECT_EQ(compareLocalized(R"(
    #a = #ccn.layout<@m, [{"a"}], local = {"b"}>
    #local = #ccn.layout<@m, [{}], local = {"b"}>
    #b = #ccn.layout<@m, [{"b"}]>
    ccn.mesh @m ["a" = 2, "b" = 2]
    ccn.program @p(%x: tensor<7xf32, #a> {ccn.name = "x"}) -> (tensor<7xf32, #b> {ccn.name = "y"}) {
      %y = ccn.overlapped chunks(2) dims [0] {
        %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<7xf32, #a>) -> tensor<7xf32, #local>
        %1 = ccn.reduce_scatter sum %0 into 0 along <@m, ["b"]> : (tensor<7xf32, #local>) -> tensor<7xf32, #b>
        ccn.yield %1 : tensor<7xf32, #b>
      } : tensor<7xf32, #b>
      ccn.return %y : tensor<7xf32, #b>
    })"),
            "");
}

TEST_F(LocalizedIr, ChunksThatAreCutForFree) {
  // x comes in chunks whole; w cuts it. The second time it is used whole.
  EXPECT_EQ(compareLocalized(R"(
    #a = #ccn.layout<@m, [{"a"}, {}]>
    #dims = #ccn.layout<@m, [{}, {"b"}]>
    #both = #ccn.layout<@m, [{"a"}, {"b"}]>
    ccn.mesh @m ["a" = 3, "b" = 2]
    ccn.program @p(%x: tensor<7x3xf32> {ccn.name = "x"}, %w: tensor<7x3xf32, #a> {ccn.name = "w"}, %v: tensor<7x3xf32, #dims> {ccn.name = "v"})
        -> (tensor<7x3xf32> {ccn.name = "y"}, tensor<7x3xf32, #both> {ccn.name = "z"}) {
      %y:2 = ccn.overlapped chunks(3) dims [0, 0] {
        %0 = ccn.add %x, %w : (tensor<7x3xf32>, tensor<7x3xf32, #a>) -> tensor<7x3xf32, #a>
        %1 = ccn.mul %0, %v : (tensor<7x3xf32, #a>, tensor<7x3xf32, #dims>) -> tensor<7x3xf32, #both>
        %2 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<7x3xf32, #a>) -> tensor<7x3xf32>
        %3 = ccn.fused elementwise {
          %4 = ccn.sub %2, %x : (tensor<7x3xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
          %5 = ccn.exp %4 : (tensor<7x3xf32>) -> tensor<7x3xf32>
          ccn.yield %5 : tensor<7x3xf32>
        } : tensor<7x3xf32>
        ccn.yield %3, %1 : tensor<7x3xf32>, tensor<7x3xf32, #both>
      } : tensor<7x3xf32>, tensor<7x3xf32, #both>
      ccn.return %y#0, %y#1 : tensor<7x3xf32>, tensor<7x3xf32, #both>
    })"),
            "");
}

TEST_F(LocalizedIr, WhatDependsOnThePlaceInTheWhole) {
  // With parts of parts: a mean of a tensor that is said to be a part of more,
  // dropout likewise; stores; reshards that only say what is local.
  EXPECT_EQ(compareLocalized(R"(
    #a = #ccn.layout<@m, [{"a"}, {"b"}]>
    #sum = #ccn.layout<@m, [{}], partial<sum> = {"b"}>
    #rows = #ccn.layout<@m, [{"a"}], partial<sum> = {"b"}>
    #local = #ccn.layout<@m, [{"a"}], local = {"b"}>
    ccn.mesh @m ["a" = 2, "b" = 3]
    ccn.program @p(%x: tensor<5x7xf16, #a> {ccn.name = "x", ccn.inout}, %seed: tensor<i64> {ccn.name = "seed"})
        -> (tensor<5xf16, #rows> {ccn.name = "mean"}, tensor<5xf16, #local> {ccn.name = "sent"}) {
      %0 = ccn.dropout %x, %seed rate 0.3 : (tensor<5x7xf16, #a>, tensor<i64>) -> tensor<5x7xf16, #a>
      %1 = ccn.dropout %0, %seed rate 0.4 at [1, 2] of [9, 13] : (tensor<5x7xf16, #a>, tensor<i64>) -> tensor<5x7xf16, #a>
      %2 = ccn.update %x with %1 : tensor<5x7xf16, #a>
      %3 = ccn.reduction mean %0 over [1] : (tensor<5x7xf16, #a>) -> tensor<5xf16, #rows>
      %4 = ccn.reduction mean %1 over [1] of 40 : (tensor<5x7xf16, #a>) -> tensor<5xf16, #rows>
      %5 = ccn.reshard %4 : tensor<5xf16, #rows> to tensor<5xf16, #local>
      %6 = ccn.fused compute_move {
        %7 = ccn.reshard %3 : tensor<5xf16, #rows> to tensor<5xf16, #local>
        %8 = ccn.add %7, %5 : (tensor<5xf16, #local>, tensor<5xf16, #local>) -> tensor<5xf16, #local>
        %9 = ccn.send %8 by 1 along <@m, ["b"]> : (tensor<5xf16, #local>) -> tensor<5xf16, #local>
        ccn.yield %9 : tensor<5xf16, #local>
      } : tensor<5xf16, #local>
      ccn.return %3, %6 : tensor<5xf16, #rows>, tensor<5xf16, #local>
    })"),
            "");
}

TEST_F(LocalizedIr, IndicesAreThoseOfTheWhole) {
  // Of slices by one and two axes, of parts of more, and of cuts of what is
  // whole, which are made alone.
  for (const char *mesh : {"[\"a\" = 2, \"b\" = 3]", "[\"a\" = 4, \"b\" = 1]"})
    EXPECT_EQ(compareLocalized(std::string("ccn.mesh @m ") + mesh + R"(
    #a = #ccn.layout<@m, [{"a"}, {}]>
    #ab = #ccn.layout<@m, [{"a", "b"}, {}]>
    ccn.program @p(%x: tensor<7x5xf32, #ab> {ccn.name = "x"}, %y: tensor<7x5xi64, #a> {ccn.name = "y"}, %z: tensor<7x5xbf16> {ccn.name = "z"})
        -> (tensor<7x5xi64, #ab> {ccn.name = "r0"}, tensor<7x5xi64, #a> {ccn.name = "r1"}, tensor<3x5xi64> {ccn.name = "r2"},
            tensor<7x2xi64, #a> {ccn.name = "r3"}) {
      %0 = ccn.iota %x dim 0 : (tensor<7x5xf32, #ab>) -> tensor<7x5xi64, #ab>
      %1 = ccn.iota %x dim 1 from 6 : (tensor<7x5xf32, #ab>) -> tensor<7x5xi64, #ab>
      %2 = ccn.mul %0, %1 : (tensor<7x5xi64, #ab>, tensor<7x5xi64, #ab>) -> tensor<7x5xi64, #ab>
      %3 = ccn.iota %z dim 0 from 2 : (tensor<7x5xbf16>) -> tensor<7x5xi64>
      %4 = ccn.iota %z dim 1 : (tensor<7x5xbf16>) -> tensor<7x5xi64>
      %5 = ccn.mul %3, %4 : (tensor<7x5xi64>, tensor<7x5xi64>) -> tensor<7x5xi64>
      %6 = ccn.add %y, %5 : (tensor<7x5xi64, #a>, tensor<7x5xi64>) -> tensor<7x5xi64, #a>
      %7 = ccn.iota %z dim 0 from 9 : (tensor<7x5xbf16>) -> tensor<7x5xi64>
      %8 = ccn.extract %7 at 0 from 4 to 7 : (tensor<7x5xi64>) -> tensor<3x5xi64>
      %9 = ccn.iota %z dim 1 from 1 : (tensor<7x5xbf16>) -> tensor<7x5xi64>
      %10 = ccn.slice %9 into 0 along <@m, ["a"]> : (tensor<7x5xi64>) -> tensor<7x5xi64, #a>
      %11 = ccn.extract %10 at 1 from 3 to 5 : (tensor<7x5xi64, #a>) -> tensor<7x2xi64, #a>
      ccn.return %2, %6, %8, %11 : tensor<7x5xi64, #ab>, tensor<7x5xi64, #a>, tensor<3x5xi64>, tensor<7x2xi64, #a>
    })"),
              "");
}

TEST_F(LocalizedIr, PartsThatAreMadeAlone) {
  // Cuts by several axes and by ranges, one after the other, of what is made
  // from whole, cut, repeated and random values; some in chunks, of which one
  // is taken whole and cut inside.
  for (const char *mesh : {"[\"a\" = 2, \"b\" = 3]", "[\"a\" = 4, \"b\" = 1]",
                           "[\"a\" = 3, \"b\" = 4]"})
    EXPECT_EQ(compareLocalized(std::string("ccn.mesh @m ") + mesh + R"(
    #a = #ccn.layout<@m, [{"a"}, {}]>
    #b = #ccn.layout<@m, [{"b"}, {}]>
    #ab = #ccn.layout<@m, [{"a"}, {"b"}]>
    #aab = #ccn.layout<@m, [{"a", "b"}, {}]>
    ccn.program @p(%x: tensor<7x5xf32> {ccn.name = "x"}, %y: tensor<7x5xf32, #a> {ccn.name = "y"},
                   %z: tensor<7x5xf32, #b> {ccn.name = "z"}, %w: tensor<7x5xf32, #ab> {ccn.name = "w"},
                   %v: tensor<7x5xf32, #aab> {ccn.name = "v"}, %row: tensor<1x5xf16> {ccn.name = "row"}, %seed: tensor<i64> {ccn.name = "seed"})
        -> (tensor<7x5xf32, #a> {ccn.name = "r0"}, tensor<7x5xf32, #b> {ccn.name = "r1"}, tensor<7x5xf32, #ab> {ccn.name = "r2"},
            tensor<7x5xf32, #aab> {ccn.name = "r3"}, tensor<7x2xf32, #a> {ccn.name = "r4"}, tensor<7x5xf32> {ccn.name = "r5"}) {
      %c = ccn.constant 0.01 : f32
      %0 = ccn.broadcast_to %row to [7, 5] : (tensor<1x5xf16>) -> tensor<7x5xf16>
      %1 = ccn.cast %0 to f32 : (tensor<7x5xf16>) -> tensor<7x5xf32>
      %2 = ccn.mul %c, %x : (tensor<f32>, tensor<7x5xf32>) -> tensor<7x5xf32>
      %3 = ccn.dropout %2, %seed rate 0.3 at [1, 2] of [9, 13] : (tensor<7x5xf32>, tensor<i64>) -> tensor<7x5xf32>
      %4 = ccn.dropout %1, %seed rate 0.2 : (tensor<7x5xf32>, tensor<i64>) -> tensor<7x5xf32>
      %5 = ccn.add %3, %4 : (tensor<7x5xf32>, tensor<7x5xf32>) -> tensor<7x5xf32>
      %6 = ccn.add %y, %5 : (tensor<7x5xf32, #a>, tensor<7x5xf32>) -> tensor<7x5xf32, #a>
      %7 = ccn.sub %z, %5 : (tensor<7x5xf32, #b>, tensor<7x5xf32>) -> tensor<7x5xf32, #b>
      %8 = ccn.dropout %x, %seed rate 0.6 : (tensor<7x5xf32>, tensor<i64>) -> tensor<7x5xf32>
      %9 = ccn.mul %w, %8 : (tensor<7x5xf32, #ab>, tensor<7x5xf32>) -> tensor<7x5xf32, #ab>
      %10 = ccn.exp %y : (tensor<7x5xf32, #a>) -> tensor<7x5xf32, #a>
      %11 = ccn.mul %10, %v : (tensor<7x5xf32, #a>, tensor<7x5xf32, #aab>) -> tensor<7x5xf32, #aab>
      %12 = ccn.dropout %x, %seed rate 0.7 : (tensor<7x5xf32>, tensor<i64>) -> tensor<7x5xf32>
      %13 = ccn.slice %12 into 0 along <@m, ["a"]> : (tensor<7x5xf32>) -> tensor<7x5xf32, #a>
      %14 = ccn.neg %13 : (tensor<7x5xf32, #a>) -> tensor<7x5xf32, #a>
      %15 = ccn.extract %14 at 1 from 2 to 4 : (tensor<7x5xf32, #a>) -> tensor<7x2xf32, #a>
      %16 = ccn.overlapped chunks(2) dims [0] {
        %17 = ccn.mul %x, %c : (tensor<7x5xf32>, tensor<f32>) -> tensor<7x5xf32>
        %18 = ccn.fused elementwise {
          %21 = ccn.exp %17 : (tensor<7x5xf32>) -> tensor<7x5xf32>
          %22 = ccn.add %21, %y : (tensor<7x5xf32>, tensor<7x5xf32, #a>) -> tensor<7x5xf32, #a>
          ccn.yield %22 : tensor<7x5xf32, #a>
        } : tensor<7x5xf32, #a>
        %19 = ccn.add %18, %1 : (tensor<7x5xf32, #a>, tensor<7x5xf32>) -> tensor<7x5xf32, #a>
        %20 = ccn.all_gather %19 along <@m, ["a"]> : (tensor<7x5xf32, #a>) -> tensor<7x5xf32>
        ccn.yield %20 : tensor<7x5xf32>
      } : tensor<7x5xf32>
      ccn.return %6, %7, %9, %11, %15, %16 : tensor<7x5xf32, #a>, tensor<7x5xf32, #b>, tensor<7x5xf32, #ab>, tensor<7x5xf32, #aab>, tensor<7x2xf32, #a>, tensor<7x5xf32>
    })"),
              "")
        << mesh;
}

TEST_F(LocalizedIr, RunsOfTooFewOrWrongRanksFail) {
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(R"(
    ccn.mesh @m ["a" = 2]
    ccn.program @p(%x: tensor<5xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}) -> (tensor<5xf32> {ccn.name = "y"}) {
      %0 = ccn.all_reduce max %x along <@m, ["a"]> : (tensor<5xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<5xf32>
      ccn.return %0 : tensor<5xf32>
    })",
                                              mlir::ParserConfig(&context));
  ASSERT_TRUE(module);
  auto localized = localizeForAllRanks(*module->getOps<ProgramOp>().begin());
  ASSERT_TRUE(mlir::succeeded(localized));
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          messages = diagnostic.str();
                                          return mlir::success();
                                        });
  auto fails = [&](llvm::ArrayRef<ProgramOp> programs) {
    ProgramOp first = programs.front();
    return mlir::failed(interp::run(programs, first.getMesh(), {}, {}));
  };
  ProgramOp a = localized->programs[0], b = localized->programs[1];
  EXPECT_FALSE(fails({a, b}));
  EXPECT_TRUE(fails({a}));
  EXPECT_EQ(messages, "program 'p' is localized for rank 0; expected a program "
                      "for each of 2 ranks, found 1");
  EXPECT_TRUE(fails({b, a}));
  EXPECT_EQ(messages, "expected a program that is localized for rank 0");
  // Ranks meet by channel.
  a.getBody().walk([](CommunicateOp op) { op.setChannel(1); });
  EXPECT_TRUE(fails({a, b}));
  EXPECT_NE(messages.find("all_reduce"), std::string::npos) << messages;
}

} // namespace

} // namespace ccn::verify
