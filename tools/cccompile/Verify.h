//===- Verify.h - Verifying the schedule that is applied --------*- C++ -*-===//
//
// `cccompile --verify`, and the brief verification of every schedule in debug
// builds and tests.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_VERIFY_H
#define CCN_TOOLS_CCCOMPILE_VERIFY_H

#include "lib/Driver/Phases.h"
#include "tools/cccompile/Options.h"

namespace ccn {

/// Whether schedules are verified without being asked to: if the environment
/// variable CCN_VERIFY is 1, and in builds with assertions unless it is 0.
bool verifiesAlways();

/// Does what --verify asks for, or, without it, verifies briefly. `schedules`
/// is what compile() says was applied; null if there is none, which --verify
/// reports. `report` gets the lines to print. Returns the exit code: 1 if the
/// schedule fails at another size, 2 if there is no schedule or the program is
/// too large, 4 if it computes something else with the schedule.
int verifyFile(const SourceFile &source, mlir::MLIRContext *context,
               const CompileOptions &compileOptions, mlir::ModuleOp schedules,
               const Options &options, Diagnostics &diagnostics,
               std::vector<std::string> &report);

} // namespace ccn

#endif // CCN_TOOLS_CCCOMPILE_VERIFY_H
