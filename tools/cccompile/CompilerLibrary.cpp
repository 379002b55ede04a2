//===- CompilerLibrary.cpp - The compiler in the caller's process ---------===//
//
// Each call has an MLIR context of its own, and a thread of its own: how deeply
// programs may be nested is measured against the stack of a main thread, which
// threads of the caller need not have.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/ccn_compiler.h"

#include "tools/cccompile/Compilation.h"

#include <pthread.h>

using namespace ccn;

struct ccn_compilation {
  int status = 0;
  std::string output, diagnostics;
};

namespace {

/// Runs the task in a thread with the stack of a main thread; in this one if
/// there can be no more threads.
void runOnLargeStack(const std::function<void()> &task) {
  constexpr size_t stackBytes = 8 << 20;
  auto start = [](void *argument) -> void * {
    (*static_cast<const std::function<void()> *>(argument))();
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  bool isStarted =
      pthread_attr_setstacksize(&attributes, stackBytes) == 0 &&
      pthread_create(&thread, &attributes, start,
                     const_cast<std::function<void()> *>(&task)) == 0;
  pthread_attr_destroy(&attributes);
  if (isStarted)
    pthread_join(thread, nullptr);
  else
    task();
}

/// Reads the options. If the compilation ends at once, its status is set.
bool readOptions(llvm::ArrayRef<const char *> words, Options &options,
                 Diagnostics &diagnostics, int &status) {
  // The program that a command line needs is the text.
  std::vector<std::string> line = {"cccompile"};
  line.insert(line.end(), words.begin(), words.end());
  line.push_back("-");
  std::vector<char *> argv;
  for (std::string &word : line)
    argv.push_back(word.data());
  std::string mistake;
  if (std::optional<int> code = parseOptions(static_cast<int>(argv.size()),
                                             argv.data(), options, mistake)) {
    status = *code;
    if (!mistake.empty())
      diagnostics.error(mistake);
    return false;
  }
  status = 2;
  if (options.output != "-" || !options.header.empty() ||
      !options.dumpFolder.empty())
    diagnostics.error(
        "expected no file to write, since the result is returned");
  else if (!options.mlirArgs.empty())
    diagnostics.error("expected no option of MLIR, found '" +
                      options.mlirArgs.front() + "'");
  else
    return true;
  return false;
}

void compileText(const SourceFile &source, llvm::ArrayRef<const char *> words,
                 ccn_compilation &compilation) {
  Options options;
  Diagnostics diagnostics;
  CompilationHost host;
  std::vector<std::unique_ptr<SourceFile>> scheduleFiles;
  host.write = [&](llvm::StringRef path, auto print) {
    if (path == "-") {
      llvm::raw_string_ostream os(compilation.output);
      print(os);
      return true;
    }
    diagnostics.error("expected no file to write, found '" + path + "'");
    return false;
  };
  if (readOptions(words, options, diagnostics, compilation.status))
    compilation.status =
        compileAndEmit(options, source, host, scheduleFiles, diagnostics);
  llvm::raw_string_ostream os(compilation.diagnostics);
  renderDiagnostics(options, diagnostics, os, /*colour=*/false);
}

} // namespace

const char *ccn_compiler_version(void) { return CCN_VERSION; }

ccn_compilation *ccn_compiler_run(const char *name, const char *text,
                                  size_t size, const char *const *options,
                                  size_t count) {
  auto *compilation = new ccn_compilation;
  runOnLargeStack([&] {
    SourceFile source(name, std::string(text, size));
    compileText(source, {options, count}, *compilation);
  });
  return compilation;
}

int ccn_compilation_status(const ccn_compilation *compilation) {
  return compilation->status;
}

const char *ccn_compilation_output(const ccn_compilation *compilation,
                                   size_t *size) {
  *size = compilation->output.size();
  return compilation->output.data();
}

const char *ccn_compilation_diagnostics(const ccn_compilation *compilation) {
  return compilation->diagnostics.c_str();
}

void ccn_compilation_release(ccn_compilation *compilation) {
  delete compilation;
}
