//===- ExportPlan.h - Plans for the runtime ---------------------*- C++ -*-===//
//
// From the plan dialect to the runtime's data, and to the loops that a target
// must compile.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_EXPORTPLAN_H
#define CCN_CODEGEN_EXPORTPLAN_H

#include "codegen/CpuLoops.h"
#include "dialect/Plan.h"
#include "runtime/Plan.h"

namespace ccn::codegen {

struct ExportedPlan {
  runtime::Plan plan;
  /// The functions that its loops name, each once.
  std::vector<LoopKernel> kernels;
};

/// The plans of all ranks of a program, from a verified module that has them.
/// Functions are named `prefix` and a number.
ExportedPlan exportPlan(mlir::ModuleOp module, llvm::StringRef program,
                        llvm::StringRef prefix);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_EXPORTPLAN_H
