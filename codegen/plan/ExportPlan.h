//===- ExportPlan.h - Plans for the runtime ---------------------*- C++ -*-===//
//
// From the plan dialect to the runtime's data, and to the loops that a target
// must compile.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_PLAN_EXPORTPLAN_H
#define CCN_CODEGEN_PLAN_EXPORTPLAN_H

#include "codegen/plan/LoopKernel.h"
#include "dialect/plan/Plan.h"
#include "runtime/plan/Plan.h"

#include <map>

namespace ccn::codegen {

/// The functions that the loops of plans need, each once, whichever module the
/// plans are in; and how those can fail.
struct LoopLibrary {
  std::vector<LoopKernel> kernels;
  std::vector<std::string> failures;
  /// The names of functions by what they compute, and the first failures of
  /// bodies.
  std::map<std::string, std::string> names;
  std::map<std::string, int64_t> firstFailures;
  /// The name of the program's file, of which launches keep their lines.
  std::string file;
  /// Whether the loops that are added now are rare ones (LoopKernel::isRare).
  bool addsRare = false;
};

/// The ranks of a program by their numbers in what exportPlan() returns. A
/// module may have the plans of some ranks only; these come first, then the
/// others, both in ascending order.
std::vector<int64_t> exportedRanks(mlir::ModuleOp module,
                                   llvm::StringRef program);

/// The plans of all ranks of a program, from a verified module that has them.
/// Its failures are those of the library when all plans are there. If the
/// module has the plans of some ranks only, Plan::ranks has only these, whose
/// groups and views name the others by the numbers that follow.
runtime::Plan exportPlan(mlir::ModuleOp module, llvm::StringRef program,
                         LoopLibrary &library);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_PLAN_EXPORTPLAN_H
