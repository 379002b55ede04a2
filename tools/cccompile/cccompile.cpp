//===- cccompile.cpp - The compiler's command line ------------------------===//
//
// Reads the command line and the program; writes files, and what went wrong.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Parser.h"
#include "tools/cccompile/Compilation.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

#include <cstdio>
#include <unistd.h>

using namespace ccn;

namespace {

/// Whether colours are allowed: the user has not asked for text without them
/// (no-color.org).
bool wantsColours() {
  const char *no = std::getenv("NO_COLOR");
  return !no || !*no;
}

/// Prints the collected diagnostics once, and returns the exit code that it was
/// given.
int finish(int code, const Options &options, const Diagnostics &diagnostics) {
  bool colour = llvm::errs().has_colors() && wantsColours();
  renderDiagnostics(options, diagnostics, llvm::errs(), colour);
  return code;
}

/// Reports a mistake in the command line, which is the tool's own; returns its
/// exit code.
int finishUsage(llvm::StringRef mistake, const Options &options) {
  if (!options.jsonDiagnostics) {
    llvm::errs() << "cccompile: error: " << mistake << "\n";
    return 2;
  }
  Diagnostics diagnostics;
  diagnostics.error(mistake);
  return finish(2, options, diagnostics);
}

/// Writes through an open file; what the system says if that fails.
std::error_code writeTo(int descriptor,
                        llvm::function_ref<void(llvm::raw_ostream &)> print) {
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/false);
  print(os);
  os.flush();
  std::error_code failure = os.error();
  os.clear_error();
  return failure;
}

/// Writes a file at once: if that fails, the old content stays. Devices and
/// pipes are written to rather than replaced; of a link, the file that it names
/// is replaced.
std::error_code writeFile(llvm::StringRef path,
                          llvm::function_ref<void(llvm::raw_ostream &)> print) {
  namespace fs = llvm::sys::fs;
  llvm::SmallString<128> target = path;
  fs::file_status status;
  if (!fs::status(path, status) && fs::exists(status)) {
    if (fs::is_directory(status))
      return std::make_error_code(std::errc::is_a_directory);
    if (!fs::is_regular_file(status)) {
      int descriptor;
      if (std::error_code failure = fs::openFileForWrite(
              path, descriptor, fs::CD_OpenExisting, fs::OF_None))
        return failure;
      std::error_code failure = writeTo(descriptor, print);
      fs::file_t file = fs::convertFDToNativeFile(descriptor);
      std::error_code closed = fs::closeFile(file);
      return failure ? failure : closed;
    }
    if (std::error_code failure = fs::real_path(path, target))
      return failure;
  }
  llvm::Expected<fs::TempFile> file = fs::TempFile::create(target + ".%%%%%%");
  if (!file)
    return llvm::errorToErrorCode(file.takeError());
  std::error_code failure = writeTo(file->FD, print);
  llvm::Error kept = failure ? file->discard() : file->keep(target);
  if (!failure)
    return llvm::errorToErrorCode(std::move(kept));
  llvm::consumeError(std::move(kept));
  return failure;
}

bool write(llvm::StringRef path, Diagnostics &diagnostics,
           llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (path == "-") {
    print(llvm::outs());
    llvm::outs().flush();
    return true;
  }
  std::error_code failure = writeFile(path, print);
  if (failure)
    diagnostics.error("cannot write '" + path + "': " + failure.message());
  return !failure;
}

/// Whether bytes that are no text would go to a terminal, which is reported as
/// a mistake.
bool isBinaryForTerminal(const Options &options, Diagnostics &diagnostics) {
  bool isBinary = options.emit == "package" || options.emit == "cubin";
  if (!isBinary || options.output != "-" || !llvm::outs().is_displayed())
    return false;
  diagnostics.error("-o: expected a file with --emit " + options.emit +
                    ", found a terminal");
  return true;
}

/// Reads the command line of options that MLIR has; if that fails, `mistake`
/// says why.
bool readMlirOptions(llvm::ArrayRef<const char *> args, std::string &mistake) {
  // What is wrong with a value, LLVM says on standard error itself.
  llvm::errs().flush();
  std::FILE *file = std::tmpfile();
  int old = file ? dup(STDERR_FILENO) : -1;
  if (old >= 0)
    dup2(fileno(file), STDERR_FILENO);
  bool done = llvm::cl::ParseCommandLineOptions(args.size(), args.data(), "",
                                                &llvm::errs());
  if (old >= 0) {
    dup2(old, STDERR_FILENO);
    close(old);
    std::rewind(file);
    for (int c; (c = std::fgetc(file)) != EOF;)
      mistake += static_cast<char>(c);
  }
  if (file)
    std::fclose(file);
  if (done) {
    llvm::errs() << mistake;
    return true;
  }
  llvm::StringRef text = llvm::StringRef(mistake).trim();
  text.consume_front("cccompile: ");
  mistake = text.str();
  return false;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  std::string mistake;
  if (std::optional<int> code = parseOptions(argc, argv, options, mistake))
    return mistake.empty() ? *code : finishUsage(mistake, options);

  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  std::vector<const char *> mlirArgs = {"cccompile"};
  for (const std::string &arg : options.mlirArgs) {
    llvm::StringRef name = llvm::StringRef(arg).split('=').first.ltrim('-');
    if (!llvm::cl::getRegisteredOptions().contains(name))
      return finishUsage("unknown argument '" + arg + "'; see --help", options);
    mlirArgs.push_back(arg.c_str());
  }
  if (!readMlirOptions(mlirArgs, mistake))
    return finishUsage(mistake, options);

  Diagnostics diagnostics;
  std::unique_ptr<SourceFile> source =
      frontend::readSource(options.file, diagnostics);
  if (!source)
    return finish(2, options, diagnostics);
  if (isBinaryForTerminal(options, diagnostics))
    return finish(2, options, diagnostics);
  CompilationHost host;
  host.write = [&](llvm::StringRef path, auto print) {
    return write(path, diagnostics, print);
  };
  host.configure = [](mlir::PassManager &passes) {
    mlir::applyDefaultTimingPassManagerCLOptions(passes);
    return mlir::applyPassManagerCLOptions(passes);
  };
  std::vector<std::unique_ptr<SourceFile>> scheduleFiles;
  int code = compileAndEmit(options, *source, host, scheduleFiles, diagnostics);
  return finish(code, options, diagnostics);
}
