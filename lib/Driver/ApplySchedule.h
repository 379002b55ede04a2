//===- ApplySchedule.h - Schedules on programs ------------------*- C++ -*-===//
//
// Finds the programs that schedules are for and applies them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_DRIVER_APPLYSCHEDULE_H
#define CCN_LIB_DRIVER_APPLYSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"

namespace ccn {

/// Applies every named sequence of `schedules` to its program: the one that
/// `ccn.for` names, or the only one of `module`. Errors are reported at the
/// schedule's lines, with notes at the program's.
mlir::LogicalResult applySchedules(mlir::ModuleOp module,
                                   mlir::ModuleOp schedules);

} // namespace ccn

#endif // CCN_LIB_DRIVER_APPLYSCHEDULE_H
