//===- Predict.h - Predicted times from the command line --------*- C++ -*-===//
//
// Predicts how long a program takes on a machine, without one.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_PREDICT_H
#define CCN_TOOLS_CCCOMPILE_PREDICT_H

#include "dialect/plan/Plan.h"
#include "lib/Driver/FindSchedule.h"
#include "lib/Frontend/Diagnostics.h"
#include "lib/Target/Machine.h"
#include "tools/cccompile/Options.h"

namespace ccn {

/// How ways to run a program are compared by a search: by predicted times.
/// None, with an error reported, if the machine has no figures for that.
std::optional<FindOptions> predictingSearch(const Options &options,
                                            const Target &target,
                                            const Machine &machine,
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
