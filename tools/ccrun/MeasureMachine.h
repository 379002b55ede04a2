//===- MeasureMachine.h - Figures of this machine ---------------*- C++ -*-===//
//
// Measures the rates of a machine's file (lib/Target/README.md) on the CPU at
// hand.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCRUN_MEASUREMACHINE_H
#define CCN_TOOLS_CCRUN_MEASUREMACHINE_H

#include "runtime/base/Status.h"

#include <string>

namespace ccn {

/// The text of a machine's file: rates that are measured here, with one thread
/// on each core that this process may use, and the choices of the compiler's
/// machine `cpu`. `name` is the machine's. Takes some seconds.
Result<std::string> measureMachine(const std::string &name);

} // namespace ccn

#endif // CCN_TOOLS_CCRUN_MEASUREMACHINE_H
