//===- EmitPackage.h - Packages from the command line -----------*- C++ -*-===//
//
// Makes a package of a program's plans, or their kernels for GPUs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_EMITPACKAGE_H
#define CCN_TOOLS_CCCOMPILE_EMITPACKAGE_H

#include "codegen/package/BuildPackage.h"
#include "lib/Driver/Phases.h"
#include "tools/cccompile/Options.h"

namespace ccn {

/// What is written of a program.
struct EmittedProgram {
  std::string bytes;
  /// What --emit-header asks for.
  std::string header;
};

/// What a package is made of.
struct PackageParts {
  mlir::ModuleOp plans;
  codegen::ProgramText file;
  /// The schedule's name; empty is none.
  std::string schedule;
  /// The plans without a schedule, and the program that they are of; null if
  /// there is none.
  mlir::OwningOpRef<mlir::ModuleOp> reference, plain;
  /// How the plans run, and others (see codegen::PackageOptions).
  std::string variant;
  std::vector<codegen::VariantOptions> variants;
};

/// The program to write: the one that `options` name, or the only one. It has
/// finished plans. None, after an error was reported, if there is no such
/// program.
std::optional<std::string> chooseProgram(mlir::ModuleOp plans,
                                         const Options &options,
                                         Diagnostics &diagnostics);

/// What --emit package, lib or header writes of one of the programs in
/// `parts.plans`: the one that `options` names, or the only one. Kernels are
/// chosen by the figures of `machine`, or of the target if it has none; what
/// they are to be goes to `description`, unless that is null, even if something
/// fails afterwards. If there is an error, it has been reported and `code` is
/// the exit code.
std::optional<EmittedProgram>
makePackage(PackageParts &parts, const Options &options, const Machine &machine,
            std::string *description, Diagnostics &diagnostics, int &code);

/// Likewise of --emit kernels, which describes them, cuda, ptx or cubin: all
/// kernels of the program, which are one translation unit.
std::optional<std::string>
makeKernels(mlir::ModuleOp plans, const codegen::ProgramText &file,
            const Options &options, const Machine &machine,
            std::string *description, Diagnostics &diagnostics, int &code);

} // namespace ccn

#endif // CCN_TOOLS_CCCOMPILE_EMITPACKAGE_H
