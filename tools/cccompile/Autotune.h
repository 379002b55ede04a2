//===- Autotune.h - What measurement chooses from ---------------*- C++ -*-===//
//
// --autotune: the ways to run a program that a package has beside its default.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_AUTOTUNE_H
#define CCN_TOOLS_CCCOMPILE_AUTOTUNE_H

#include "lib/Driver/Variants.h"
#include "tools/cccompile/Options.h"

namespace ccn {

/// A way to run a program: under a schedule, whose name is empty if there is
/// none.
struct ScheduledVariant {
  std::string schedule;
  PlanVariant plan;
};

/// All ways to run the program of `source` that `options` names, or its only
/// one: first as `compileOptions` say, which are those of a schedule that was
/// found if `isFound`; then, unless `options` name a schedule by hand, with
/// each of the files `others`, which a search has found, without a schedule,
/// and with each other that applies to these sizes; each with what planVariants
/// makes of it.
std::vector<ScheduledVariant>
makeVariants(const SourceFile &source, mlir::MLIRContext *context,
             const Options &options, const CompileOptions &compileOptions,
             bool isFound, llvm::ArrayRef<const SourceFile *> others);

} // namespace ccn

#endif // CCN_TOOLS_CCCOMPILE_AUTOTUNE_H
