//===- CompileBench.cpp - How long text to MLIR takes ---------------------===//
//
// Compiles every example from its text to verified ccn IR in a fresh context,
// as a new process would. The target is 50 ms. The time of a whole process,
// which also loads MLIR's shared library, is what `time cccompile FILE` says.
//
//   build/bin/CompileBench            all examples
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Phases.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <benchmark/benchmark.h>

using namespace ccn;

static void compileExample(benchmark::State &state, const std::string &path,
                           Phase stopAfter) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    state.SkipWithError("cannot read the example");
    return;
  }
  std::string text = (*buffer)->getBuffer().str();
  for (auto _ : state) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.loadAllAvailableDialects();
    Diagnostics diagnostics;
    SourceFile source(path, text);
    CompileOptions options;
    options.stopAfter = stopAfter;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    if (compile(source, &context, options, diagnostics, module) !=
        CompileStatus::Done) {
      state.SkipWithError("the example does not compile");
      return;
    }
    benchmark::DoNotOptimize(module.get());
  }
}

int main(int argc, char **argv) {
  std::error_code failure;
  std::vector<std::string> paths;
  for (llvm::sys::fs::directory_iterator it(CCN_EXAMPLES_DIR, failure), end;
       it != end && !failure; it.increment(failure))
    if (llvm::sys::path::extension(it->path()) == ".ccn")
      paths.push_back(it->path());
  llvm::sort(paths);
  for (const std::string &path : paths)
    for (Phase phase : allPhases) {
      std::string name =
          llvm::sys::path::stem(path).str() + "/" + phaseName(phase).str();
      benchmark::RegisterBenchmark(name.c_str(), [path, phase](
                                                     benchmark::State &state) {
        compileExample(state, path, phase);
      })->Unit(benchmark::kMillisecond);
    }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
