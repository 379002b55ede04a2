//===- BuildPackage.h - From plans to a package -----------------*- C++ -*-===//
//
// The last phase: what the runtime executes, in one file, or of that only the
// kernels for GPUs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_PACKAGE_BUILDPACKAGE_H
#define CCN_CODEGEN_PACKAGE_BUILDPACKAGE_H

#include "codegen/cpu/CpuLoops.h"
#include "dialect/plan/Plan.h"
#include "lib/Target/Machine.h"
#include "runtime/plan/Package.h"

namespace ccn::codegen {

/// Another way to run the program (see runtime::PackageVariant).
struct VariantOptions {
  std::string name, schedule;
  mlir::ModuleOp plans;
};

/// The file that a program is in, whose lines stand above its kernels; empty if
/// they are not to.
struct ProgramText {
  std::string name;
  llvm::StringRef text;
};

struct PackageOptions {
  /// The program that it is for; the module has its plans for all ranks.
  std::string program;
  /// The schedule's name; empty is none.
  std::string schedule;
  /// The plans of the program without its schedule, to compare with; may be
  /// null.
  mlir::ModuleOp reference = {};
  /// The plans of the program that bounds the reference's errors, and of which
  /// arguments (see runtime::Package); may be null.
  mlir::ModuleOp bounds = {};
  std::vector<int> bounded = {};
  /// How the plans run, for people, if there are variants of them. Those whose
  /// plans are those of one before, that have no kernels for GPUs, or whose
  /// arguments ranks hold other parts of, are left out.
  std::string variant = {};
  std::vector<VariantOptions> variants = {};
  Target target = Target::host();
  /// The figures that kernels are chosen by; the target's own if there are
  /// none.
  Machine machine = {};
  ProgramText file = {};
  /// Gets a description of the kernels that the plans have by default, unless
  /// it is null.
  std::string *description = nullptr;
};

/// The kernels of a program for GPUs; `plans` has its plans for all ranks.
/// `description` gets what the kernels are to be, as printKernelPlans has it,
/// even if they cannot be written then; unless it is null. Fails as emitCuda
/// does.
Result<runtime::GpuProgram>
buildKernels(mlir::ModuleOp plans, const std::string &program,
             const Target &target, const Machine &machine,
             const ProgramText &file = {}, std::string *description = nullptr);

/// What the kernels are to be, as text: a line for each kernel, part and loop.
/// Fails as mapKernels does.
Result<std::string> printKernelPlans(mlir::ModuleOp plans,
                                     const std::string &program,
                                     const Target &target,
                                     const Machine &machine);

/// Compiles all loops. Fails only if the compiler's parts do, or a name is not
/// UTF-8.
Result<runtime::Package> buildPackage(mlir::ModuleOp plans,
                                      const PackageOptions &options);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_PACKAGE_BUILDPACKAGE_H
