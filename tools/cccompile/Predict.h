//===- Predict.h - Predicted times from the command line --------*- C++ -*-===//
//
// Predicts how long a program takes on a machine, without one.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_PREDICT_H
#define CCN_TOOLS_CCCOMPILE_PREDICT_H

#include "dialect/plan/Plan.h"
#include "lib/Frontend/Diagnostics.h"
#include "lib/Target/Machine.h"
#include "tools/cccompile/Options.h"

#include <functional>

namespace ccn {

/// Gives the microseconds that programs are predicted to take, by their plans;
/// none if no kernels can be planned. Fails, with an error reported, if the
/// machine has no figures for that.
std::function<std::optional<double>(mlir::ModuleOp, llvm::StringRef)>
makePrice(const Options &options, const Target &target, const Machine &machine,
          Diagnostics &diagnostics);

/// What --predict writes of the plans of a program: a table, JSON or a
/// timeline. Fails, with an error reported, if the machine has no figures for
/// that, or no kernels can be planned.
std::optional<std::string> predictProgram(mlir::ModuleOp plans,
                                          const std::string &program,
                                          const Options &options,
                                          const Machine &machine,
                                          Diagnostics &diagnostics);

} // namespace ccn

#endif // CCN_TOOLS_CCCOMPILE_PREDICT_H
