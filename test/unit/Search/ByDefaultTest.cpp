//===- ByDefaultTest.cpp - Searches that nobody asked for -----------------===//
//
// What is made for GPUs has a schedule that a search finds. If that fails, it
// is as written.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/Compilation.h"

#include <gtest/gtest.h>

using namespace ccn;

namespace {

constexpr const char *text = R"(
mesh m (dp = 4)
program f(g: f32[4096] local, inout p: f32[4096], inout mom: f32[4096], lr: f32) {
  let avg = all_reduce(sum, g) / dp
  mom <- 0.9 * mom + avg
  p <- p - lr * mom
}
)";

struct Compiled {
  int code = 0;
  std::string output, said;
};

/// Compiles the text. Pass managers cannot be set up for the first `refused`
/// phases that are compiled, but for those of a search.
Compiled compile(std::vector<std::string> words, int refused = 0) {
  words.insert(words.begin(), "cccompile");
  words.push_back("-");
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  Options options;
  std::string mistake;
  EXPECT_FALSE(parseOptions(static_cast<int>(argv.size()), argv.data(), options,
                            mistake))
      << mistake;
  Compiled compiled;
  CompilationHost host;
  host.write = [&](llvm::StringRef, auto print) {
    llvm::raw_string_ostream os(compiled.output);
    print(os);
    return true;
  };
  host.configure = [&](mlir::PassManager &) {
    return mlir::success(refused-- <= 0);
  };
  SourceFile source("f.ccn", text);
  Diagnostics diagnostics;
  std::vector<std::unique_ptr<SourceFile>> scheduleFiles;
  compiled.code =
      compileAndEmit(options, source, host, scheduleFiles, diagnostics);
  llvm::raw_string_ostream os(compiled.said);
  renderDiagnostics(options, diagnostics, os, /*colour=*/false);
  return compiled;
}

TEST(ByDefaultTest, IsAsWrittenIfWhatWasFoundFails) {
  Compiled found = compile({"--emit=kernels"}),
           written = compile({"--emit=kernels", "--schedule=none"}),
           refused = compile({"--emit=kernels"}, 1);
  EXPECT_EQ(found.code, 0) << found.said;
  EXPECT_EQ(found.said, "");
  EXPECT_NE(found.output, written.output);
  EXPECT_EQ(refused.code, 0) << refused.said;
  EXPECT_EQ(refused.output, written.output);
  EXPECT_EQ(refused.said, "warning: compiled as written, since the schedule "
                          "that was found fails: no reason is known\n");
}

TEST(ByDefaultTest, FailsIfTheProgramAsWrittenFailsToo) {
  EXPECT_EQ(compile({"--emit=kernels"}, 2).code, 2);
  EXPECT_EQ(compile({"--emit=kernels", "--schedule=auto"}, 1).code, 2);
}

} // namespace
