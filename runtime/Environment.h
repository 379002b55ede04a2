//===- Environment.h - What the environment sets ----------------*- C++ -*-===//
//
// Every environment variable that the runtime reads, in one place.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_ENVIRONMENT_H
#define CCN_RUNTIME_ENVIRONMENT_H

#include "runtime/Status.h"

namespace ccn::runtime {

struct Environment {
  /// CCN_TIMEOUT: seconds that a rank waits for another before the run fails;
  /// a number above 0, at most 1e6.
  double timeLimit = 60;

  /// Reads the variables that are set. An error names the variable, what it
  /// must be and what it is.
  static Result<Environment> read();
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_ENVIRONMENT_H
