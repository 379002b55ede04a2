//===- CompileBench.cpp - How long text to MLIR takes ---------------------===//
//
// Compiles every example from its text to verified ccn IR in a fresh context,
// as a new process would, without a schedule and with each of its own. The
// targets are 50 ms, and 100 ms with a schedule. The time of a whole process,
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

#include <regex>

using namespace ccn;

static void compileExample(benchmark::State &state, const std::string &path,
                           Phase stopAfter, const std::string &schedule) {
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
    options.lower.schedule = schedule;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    if (compile(source, &context, options, diagnostics, module) !=
        CompileStatus::Done) {
      state.SkipWithError("the example does not compile");
      return;
    }
    benchmark::DoNotOptimize(module.get());
  }
}

/// The names of a file's schedules.
static std::vector<std::string> findSchedules(const std::string &path) {
  std::vector<std::string> names;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return names;
  std::string text = (*buffer)->getBuffer().str();
  static const std::regex heading("\nschedule (\\w+) for");
  for (std::sregex_iterator it(text.begin(), text.end(), heading), end;
       it != end; ++it)
    names.push_back((*it)[1]);
  return names;
}

int main(int argc, char **argv) {
  std::error_code failure;
  std::vector<std::string> paths;
  for (llvm::sys::fs::directory_iterator it(CCN_EXAMPLES_DIR, failure), end;
       it != end && !failure; it.increment(failure))
    if (llvm::sys::path::extension(it->path()) == ".ccn")
      paths.push_back(it->path());
  llvm::sort(paths);
  for (const std::string &path : paths) {
    auto add = [&](Phase phase, const std::string &schedule) {
      std::string name = (llvm::sys::path::stem(path) + "/" +
                          (schedule.empty() ? phaseName(phase) : schedule))
                             .str();
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State &state) {
        compileExample(state, path, phase, schedule);
      })->Unit(benchmark::kMillisecond);
    };
    for (Phase phase : allPhases)
      add(phase, "");
    for (const std::string &schedule : findSchedules(path))
      add(Phase::Schedule, schedule);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
