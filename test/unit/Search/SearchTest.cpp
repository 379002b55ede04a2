//===- SearchTest.cpp - The search for a schedule -------------------------===//
//
// Searches with prices that are made up, so that what is found is known.
//
//===----------------------------------------------------------------------===//

#include "lib/Search/Search.h"
#include "lib/CostModel/CostModel.h"
#include "lib/Driver/Phases.h"
#include "lib/Search/EqualMoves.h"

#include <gtest/gtest.h>

using namespace ccn;
using namespace ccn::search;

namespace {

constexpr const char *adam = R"(
mesh m (dp = 4)
program f(g: f32[4096] local, inout p: f32[4096], inout mom: f32[4096], lr: f32) {
  let avg = all_reduce(sum, g) / dp
  mom <- 0.9 * mom + avg
  p <- p - lr * mom
}
)";

constexpr const char *sums = R"(
mesh m (tp = 2)
program f(x: f32[64] local, y: f32[32] local, z: f16[8] local) {
  let a = all_reduce(sum, x)
  let b = all_reduce(sum, y)
  let c = all_reduce(sum, z)
  return a, b, c
}
)";

class SearchTest : public testing::Test {
protected:
  SearchTest()
      : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }

  /// The program of a text, ready for a schedule.
  mlir::OwningOpRef<mlir::ModuleOp> compileText(const char *text) {
    SourceFile source("test.ccn", text);
    Diagnostics diagnostics;
    CompileOptions options;
    options.unscheduled = true;
    mlir::OwningOpRef<mlir::ModuleOp> ready, unused;
    options.onScheduled = [&](mlir::ModuleOp module) {
      ready = module.clone();
    };
    EXPECT_EQ(compile(source, &context, options, diagnostics, unused),
              CompileStatus::Done);
    return ready;
  }

  /// The texts of all moves.
  std::vector<std::string> movesOf(mlir::ModuleOp module,
                                   const llvm::StringSet<> &taken = {},
                                   const llvm::StringSet<> &states = {}) {
    mlir::ScopedDiagnosticHandler silent(
        &context, [](mlir::Diagnostic &) { return mlir::success(); });
    MoveFinder finder(programOf(module), taken, states);
    std::vector<std::string> texts;
    for (const Move &move : finder.find())
      texts.push_back(textOf(move));
    return texts;
  }

  static ProgramOp programOf(mlir::ModuleOp module) {
    return *module.getOps<ProgramOp>().begin();
  }

  static std::string textOf(const Move &move) {
    std::string text;
    for (const Line &line : move)
      text += (text.empty() ? "" : "; ") + line.text();
    return text;
  }

  static std::string textOf(const SearchResult &result) {
    std::string text;
    for (const PricedMove &move : result.moves)
      text += textOf(move.lines) + "\n";
    return text;
  }

  /// The launches of a program, which estimates and prices are by default.
  static double launchesOf(ProgramOp program) {
    return static_cast<double>(trafficOf(program).launches);
  }

  static SearchOptions byLaunches() {
    SearchOptions options;
    options.price = [](mlir::ModuleOp module) {
      return launchesOf(programOf(module));
    };
    options.estimate = launchesOf;
    return options;
  }

  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
};

TEST_F(SearchTest, FindsMovesInTheProgram) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  std::vector<std::string> moves = movesOf(*module);
  auto has = [&](const char *move) { return llvm::is_contained(moves, move); };
  EXPECT_TRUE(has("let (rs, ag) = split avg"));
  EXPECT_TRUE(has("let (rs, ag) = split avg; "
                  "let (part, whole) = reorder ag after p"));
  EXPECT_TRUE(has("let kernel = fuse avg, mom, p"));
  EXPECT_TRUE(has("let kernel = fuse mom, p"));
  EXPECT_TRUE(has("let pipeline = overlap avg, mom chunks 4"));
}

TEST_F(SearchTest, EachMoveCanBeApplied) {
  for (const char *text : {adam, sums}) {
    mlir::OwningOpRef<mlir::ModuleOp> module = compileText(text);
    mlir::ScopedDiagnosticHandler silent(
        &context, [](mlir::Diagnostic &) { return mlir::success(); });
    llvm::StringSet<> none;
    MoveFinder finder(programOf(*module), none, none);
    for (const Move &move : finder.find()) {
      // What is proposed of pipelines may be refused.
      if (move.front().primitive == Line::Primitive::Overlap)
        continue;
      mlir::OwningOpRef<mlir::ModuleOp> copy = module->clone();
      ProgramOp program = programOf(*copy);
      for (const Line &line : move)
        EXPECT_TRUE(mlir::succeeded(search::apply(line, program, [&] {
          return program.emitError();
        }))) << line.text();
    }
  }
}

TEST_F(SearchTest, GivesNamesThatNothingHas) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  llvm::StringSet<> taken;
  taken.insert("rs");
  taken.insert("kernel");
  std::vector<std::string> moves = movesOf(*module, taken);
  EXPECT_TRUE(llvm::is_contained(moves, "let (rs1, ag) = split avg"));
  EXPECT_TRUE(llvm::is_contained(moves, "let kernel1 = fuse mom, p"));
}

TEST_F(SearchTest, BucketsCollectivesOfOneKind) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(sums);
  // Of other elements than c.
  std::vector<std::string> moves = movesOf(*module);
  EXPECT_TRUE(llvm::is_contained(moves, "let bucket = bucket a, b size 384"));
}

TEST_F(SearchTest, OrdersBucketsOfWhatFollowsEachOther) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(R"(
mesh m (tp = 2)
program f(x: f32[65536] local, y: f32[32] local, z: f16[8] local, w: f32[4] local) {
  let a = all_reduce(sum, y)
  let b = all_reduce(sum, x)
  let c = all_reduce(sum, z)
  let d = all_reduce(sum, w)
  return a, b, c, d
}
)");
  MoveFinder finder(programOf(*module), {}, {});
  std::vector<std::string> texts;
  for (const Move &move : finder.findOrderedBuckets())
    texts.push_back(textOf(move));
  // The first two fill a bucket of 256 KiB, but no larger one. What is complete
  // first is sent first.
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_EQ(texts[0],
            "let bucket = bucket a, b size 262272; order bucket, c, d");
  EXPECT_EQ(texts[3],
            "let bucket = bucket a, b, d size 262288; order c, bucket");
  // What has an order keeps it.
  mlir::ScopedDiagnosticHandler silent(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  Move first = finder.findOrderedBuckets()[0];
  for (const Line &line : first)
    ASSERT_TRUE(mlir::succeeded(search::apply(line, programOf(*module), [&] {
      return mlir::emitError(module->getLoc());
    })));
  MoveFinder after(programOf(*module), {}, {});
  EXPECT_TRUE(after.findOrderedBuckets().empty());
}

TEST_F(SearchTest, ComputesAgainWhatKernelsWouldPassOn) {
  // What is sent on lies between the sum and what uses the same value again.
  constexpr const char *apart = R"(
mesh m (tp = 4)
program f(x: f32[64, 64] local, y: f32[64, 64]) {
  let h = tanh(x * y)
  let s = sum(h, 1)
  let g = send(s, tp, +1)
  let c = h * broadcast_to(reshape(g, [64, 1]), [64, 64])
  return c
}
)";
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(apart);
  ProgramOp program = programOf(*module);
  mlir::ScopedDiagnosticHandler silent(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  llvm::StringSet<> none;
  std::vector<Move> moves = MoveFinder(program, none, none).find();
  auto move = llvm::find_if(moves, [](const Move &move) {
    return textOf(move) == "let again = recompute h at c; "
                           "let kernel = fuse again, c";
  });
  ASSERT_NE(move, moves.end());
  for (const Line &line : *move)
    ASSERT_TRUE(mlir::succeeded(
        search::apply(line, program, [&] { return program.emitError(); })));
  int64_t computed = 0;
  program.walk([&](TanhOp) { ++computed; });
  EXPECT_EQ(computed, 2);
  // What is stored anyway is not computed again.
  for (const char *text : {adam, sums})
    for (const std::string &move : movesOf(*compileText(text)))
      EXPECT_EQ(move.find("recompute"), std::string::npos) << move;
}

TEST_F(SearchTest, SlicesOnlyTheStatesThatItMay) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  Line split{.primitive = Line::Primitive::Split,
             .targets = {"avg"},
             .results = {"rs", "ag"},
             .word = "rs_ag"};
  Line reorder{.primitive = Line::Primitive::Reorder,
               .targets = {"ag"},
               .names = {"p"},
               .results = {"part", "whole"}};
  ProgramOp program = programOf(*module);
  for (const Line &line : {split, reorder})
    ASSERT_TRUE(mlir::succeeded(
        search::apply(line, program, [&] { return program.emitError(); })));
  llvm::StringSet<> states;
  EXPECT_FALSE(llvm::is_contained(movesOf(*module), "slice_state mom"));
  states.insert("mom");
  std::vector<std::string> moves = movesOf(*module, {}, states);
  EXPECT_TRUE(llvm::is_contained(moves, "slice_state mom"));
  EXPECT_FALSE(llvm::is_contained(moves, "slice_state p"));
}

TEST_F(SearchTest, RefusesLinesOfNamesThatAreGone) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          said = diagnostic.str();
                                          return mlir::success();
                                        });
  ProgramOp program = programOf(*module);
  Line line{.primitive = Line::Primitive::Fuse, .targets = {"mom", "gone"}};
  EXPECT_TRUE(mlir::failed(
      search::apply(line, program, [&] { return program.emitError(); })));
  EXPECT_EQ(said, "expected names of operations");
}

constexpr const char *layers = R"(
mesh m (tp = 2)
program f(x: f32[8, 8], kernel1: f32[8, 8]) {
  let a0 = exp(x)
  let b0 = tanh(a0) + a0
  let s0 = matmul(b0, kernel1)
  let a1 = exp(s0)
  let b1 = tanh(a1) + a1
  let s1 = matmul(b1, kernel1)
  let a2 = exp(s1)
  let b2 = tanh(a2) + a2
  let s2 = matmul(b2, kernel1)
  return s2
}
)";

TEST_F(SearchTest, JoinsEqualMoves) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(layers);
  auto fuse = [](const char *a, const char *b) {
    return Move{{.primitive = Line::Primitive::Fuse,
                 .targets = {a, b},
                 .results = {"kernel"}}};
  };
  llvm::StringSet<> taken;
  taken.insert("kernel1");
  std::vector<Move> moves = {fuse("a0", "b0"), fuse("b0", "s0"),
                             fuse("a1", "b1"), fuse("a0", "b0"),
                             fuse("a2", "b2")};
  std::vector<std::string> texts;
  for (const JoinedMoves &joined :
       joinEqualMoves(moves, programOf(*module), taken)) {
    std::string &text = texts.emplace_back();
    for (const Move &move : joined)
      text += (text.empty() ? "" : "; ") + textOf(move);
  }
  EXPECT_EQ(texts,
            (std::vector<std::string>{
                "let kernel = fuse a0, b0; let kernel2 = fuse a1, b1; "
                "let kernel3 = fuse a2, b2",
                "let kernel = fuse a0, b0", "let kernel = fuse b0, s0"}));
}

TEST_F(SearchTest, FindsTheFewestLaunches) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  mlir::FailureOr<SearchResult> result = searchSchedule(*module, byLaunches());
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_EQ(result->found, 1);
  EXPECT_GT(result->plain, 1);
  EXPECT_EQ(textOf(*result), "let kernel = fuse avg, mom, p\n");
  EXPECT_GT(result->equal, 0);
}

TEST_F(SearchTest, IsTheSameEachTime) {
  for (const char *text : {adam, sums}) {
    mlir::OwningOpRef<mlir::ModuleOp> module = compileText(text);
    mlir::FailureOr<SearchResult> first = searchSchedule(*module, byLaunches());
    mlir::FailureOr<SearchResult> second =
        searchSchedule(*module, byLaunches());
    ASSERT_TRUE(mlir::succeeded(first) && mlir::succeeded(second));
    EXPECT_EQ(textOf(*first), textOf(*second));
    EXPECT_EQ(first->priced, second->priced);
  }
}

TEST_F(SearchTest, PricesNoProgramTwice) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  SearchOptions options = byLaunches();
  options.relaxed = 100;
  std::set<std::string> seen;
  bool isTwice = false;
  options.price = [&](mlir::ModuleOp changed) {
    // Names that schedules gave tell nothing apart.
    mlir::OwningOpRef<mlir::ModuleOp> copy = changed.clone();
    copy->walk([](mlir::Operation *op) { op->removeAttr(kTagsAttr); });
    std::string text;
    llvm::raw_string_ostream os(text);
    copy->print(os);
    isTwice |= !seen.insert(text).second;
    // What is tried in the end may have been there before: nothing is better.
    return std::optional(static_cast<double>(seen.size()));
  };
  mlir::FailureOr<SearchResult> result = searchSchedule(*module, options);
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_FALSE(isTwice);
  EXPECT_TRUE(result->moves.empty());
}

TEST_F(SearchTest, KeepsTheNextBest) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  SearchOptions options = byLaunches();
  mlir::FailureOr<SearchResult> alone = searchSchedule(*module, options);
  ASSERT_TRUE(mlir::succeeded(alone));
  EXPECT_TRUE(alone->others.empty());
  options.maxOthers = 4;
  mlir::FailureOr<SearchResult> result = searchSchedule(*module, options);
  ASSERT_TRUE(mlir::succeeded(result));
  ASSERT_EQ(result->others.size(), 4u);
  mlir::ScopedDiagnosticHandler silent(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  std::set<std::string> texts = {textOf(*result)};
  double last = 0;
  for (const OtherSchedule &other : result->others) {
    EXPECT_TRUE(texts.insert(textOf(other.lines) + "\n").second);
    EXPECT_GE(other.us, last);
    last = other.us;
    // It takes what is said of it.
    mlir::OwningOpRef<mlir::ModuleOp> copy = module->clone();
    forwardStores(programOf(*copy));
    for (const Line &line : other.lines)
      ASSERT_TRUE(mlir::succeeded(search::apply(line, programOf(*copy), [&] {
        return mlir::emitError(copy->getLoc());
      })));
    EXPECT_EQ(launchesOf(programOf(*copy)), other.us);
  }
  EXPECT_EQ(result->found, alone->found);
}

TEST_F(SearchTest, KeepsToItsBudget) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  for (int64_t most : {1, 2, 5}) {
    SearchOptions options = byLaunches();
    // Nothing is tuned in the end: all is as slow.
    options.price = [](mlir::ModuleOp) { return 1.0; };
    options.maxPriced = most;
    mlir::FailureOr<SearchResult> result = searchSchedule(*module, options);
    ASSERT_TRUE(mlir::succeeded(result));
    EXPECT_TRUE(result->isCut);
    // Choices and orders of the one all_reduce.
    EXPECT_LE(result->priced, most + 6);
    EXPECT_TRUE(result->moves.empty());
  }
}

TEST_F(SearchTest, KeepsToItsWork) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  int64_t all = 0;
  for (double most : {1e9, 60.0, 20.0, 0.0}) {
    SearchOptions options = byLaunches();
    options.relaxed = 100;
    options.workOf = [](ProgramOp) { return 2.0; };
    options.maxWork = most;
    mlir::FailureOr<SearchResult> result = searchSchedule(*module, options);
    ASSERT_TRUE(mlir::succeeded(result));
    if (most == 1e9)
      all = result->priced;
    // Eight to find moves and four to tune them in any case; then lines are
    // taken back and accounted for.
    auto lines = static_cast<int64_t>(2 * result->moves.size());
    EXPECT_LE(result->priced, std::max(8.0, most / 2 + 1) +
                                  std::max(4.0, most / 6 + 1) +
                                  static_cast<double>(lines));
    if (most < 1e9)
      EXPECT_LT(result->priced, all);
    // What is worth most is found first.
    EXPECT_LT(result->found, result->plain);
  }
}

/// A program with a split takes longer, and less again once it is fused.
std::optional<double> costsAtFirst(ProgramOp program, double split) {
  bool isSplit = false, isFused = false;
  program.walk([&](mlir::Operation *op) {
    isSplit |= mlir::isa<ReduceScatterOp>(op);
    isFused |= mlir::isa<FusedOp>(op);
  });
  return isSplit ? (isFused ? 50 : split) : 100;
}

TEST_F(SearchTest, TakesMovesThatCostAtFirst) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  for (auto [split, expected] : {std::pair(125.0, 50.0), {150.0, 100.0}}) {
    SearchOptions options = byLaunches();
    double us = split;
    options.price = [=](mlir::ModuleOp changed) {
      return costsAtFirst(programOf(changed), us);
    };
    mlir::FailureOr<SearchResult> result = searchSchedule(*module, options);
    ASSERT_TRUE(mlir::succeeded(result));
    EXPECT_EQ(result->found, expected) << "with " << split;
  }
}

TEST_F(SearchTest, NeverEndsSlowerThanItBegan) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  SearchOptions options = byLaunches();
  bool isFirst = true;
  options.price = [&](mlir::ModuleOp) {
    return std::exchange(isFirst, false) ? 100.0 : 110.0;
  };
  mlir::FailureOr<SearchResult> result = searchSchedule(*module, options);
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_EQ(result->found, 100);
  EXPECT_TRUE(result->moves.empty());
  ASSERT_FALSE(result->left.empty());
  EXPECT_EQ(result->left.front().after, 110);
}

TEST_F(SearchTest, FailsWithoutAPrice) {
  mlir::OwningOpRef<mlir::ModuleOp> module = compileText(adam);
  SearchOptions options = byLaunches();
  options.price = [](mlir::ModuleOp) { return std::nullopt; };
  EXPECT_TRUE(mlir::failed(searchSchedule(*module, options)));
}

} // namespace
