//===- Compilation.h - What is asked of one program -------------*- C++ -*-===//
//
// A program is compiled, verified, and written in some form or run: what the
// command line and the library have in common.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_COMPILATION_H
#define CCN_TOOLS_CCCOMPILE_COMPILATION_H

#include "lib/Frontend/Diagnostics.h"
#include "tools/cccompile/Options.h"

#include "mlir/Pass/PassManager.h"

#include <functional>
#include <memory>

namespace ccn {

/// What a compilation needs of whoever asks for it.
struct CompilationHost {
  /// Writes what `print` prints to a file; `-` is where the result goes. False
  /// if that fails, which has been reported.
  std::function<bool(llvm::StringRef path,
                     llvm::function_ref<void(llvm::raw_ostream &)> print)>
      write;
  /// Sets up pass managers; may be empty.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configure;
};

/// Does what the options ask for; the exit code. `scheduleFiles` will hold the
/// files of schedules that are read or found: like the source they outlive the
/// diagnostics that show their lines.
int compileAndEmit(const Options &options, const SourceFile &source,
                   const CompilationHost &host,
                   std::vector<std::unique_ptr<SourceFile>> &scheduleFiles,
                   Diagnostics &diagnostics);

/// Writes what was reported in the form that the options ask for.
void renderDiagnostics(const Options &options, const Diagnostics &diagnostics,
                       llvm::raw_ostream &os, bool colour);

} // namespace ccn

#endif // CCN_TOOLS_CCCOMPILE_COMPILATION_H
