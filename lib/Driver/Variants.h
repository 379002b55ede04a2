//===- Variants.h - Other ways to run scheduled programs --------*- C++ -*-===//
//
// What is decided by a table of sizes (see the pass ccn-select) may be decided
// better by measurement, on the machine that runs it. These are the plans among
// which that can choose.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_DRIVER_VARIANTS_H
#define CCN_LIB_DRIVER_VARIANTS_H

#include "lib/Driver/Phases.h"

namespace ccn {

struct PlanVariant {
  /// What runs how: "avg one_shot ll, total two_shot".
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> plans;
};

/// Plans of all ranks of a scheduled module, the default first, that differ in
/// how all_reduces of one program, or of all if its name is empty, run that no
/// schedule gives an algorithm: in one shot up to some size by ll, up to
/// another by lamport, in two above; those in kernels have a limit of their
/// own. At most `most`, of more those that differ most. Empty, with an error
/// reported, if planning fails.
std::vector<PlanVariant> planVariants(mlir::ModuleOp scheduled,
                                      llvm::StringRef program,
                                      const CompileOptions &options,
                                      size_t most);

} // namespace ccn

#endif // CCN_LIB_DRIVER_VARIANTS_H
