//===- EmitPackage.h - Packages from the command line -----------*- C++ -*-===//
//
// Makes a package of a program's plans, or their kernels for GPUs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_EMITPACKAGE_H
#define CCN_TOOLS_CCCOMPILE_EMITPACKAGE_H

#include "lib/Driver/Phases.h"
#include "tools/cccompile/Options.h"

namespace ccn {

/// What --emit package writes of one of the programs in `plans`: the one that
/// `options` names, or the only one. `reference` has its plans without a
/// schedule, and `plain` the program that they are of; both are null if there
/// is none. If there is an error, it has been reported and `code` is the exit
/// code.
std::optional<std::string>
makePackage(mlir::ModuleOp plans, mlir::ModuleOp reference,
            mlir::ModuleOp plain, llvm::StringRef schedule,
            const Options &options, Diagnostics &diagnostics, int &code);

/// The same of --emit cuda, ptx or cubin: all kernels of the program, which are
/// one translation unit.
std::optional<std::string> makeKernels(mlir::ModuleOp plans,
                                       const Options &options,
                                       Diagnostics &diagnostics, int &code);

} // namespace ccn

#endif // CCN_TOOLS_CCCOMPILE_EMITPACKAGE_H
