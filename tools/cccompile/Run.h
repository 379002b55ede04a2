//===- Run.h - Running a program on CPU ranks -------------------*- C++ -*-===//
//
// `cccompile --run`: brings the user's arrays to the reference interpreter and
// its results back.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_RUN_H
#define CCN_TOOLS_CCCOMPILE_RUN_H

#include "lib/Frontend/Diagnostics.h"
#include "tools/cccompile/Options.h"

#include "mlir/IR/BuiltinOps.h"

namespace ccn {

/// Runs the program that the options name. Prints a line for each output to
/// `os` and writes the files asked for. Returns the exit code: 2 if an array
/// does not fit the program, 4 if the run failed.
int runProgram(mlir::ModuleOp module, const Options &options,
               llvm::raw_ostream &os, Diagnostics &diagnostics);

} // namespace ccn

#endif // CCN_TOOLS_CCCOMPILE_RUN_H
