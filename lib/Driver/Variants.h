//===- Variants.h - Other ways to run scheduled programs --------*- C++ -*-===//
//
// The pass ccn-select decides by a table of sizes how collectives run. A
// measurement on the machine that runs the program may decide better. This
// makes the plans among which it can choose.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_DRIVER_VARIANTS_H
#define CCN_LIB_DRIVER_VARIANTS_H

#include "lib/Driver/Phases.h"

namespace ccn {

/// The plans of one way to run collectives.
struct PlanVariant {
  /// How collectives run, such as "avg one_shot ll, total two_shot".
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> plans;
};

/// Plans of all ranks of a scheduled module; the first one is the default. They
/// differ in how those all_reduces of `program` (of all programs if it is
/// empty) run to which no schedule gives an algorithm: in one shot by ll up to
/// some size, by lamport up to another, in two shots above; all_reduces in
/// kernels have their own limit. Returns at most `most` plans; if there are
/// more, those that differ most. Empty, with an error reported, if planning
/// fails.
std::vector<PlanVariant> planVariants(mlir::ModuleOp scheduled,
                                      llvm::StringRef program,
                                      const CompileOptions &options,
                                      size_t most);

} // namespace ccn

#endif // CCN_LIB_DRIVER_VARIANTS_H
