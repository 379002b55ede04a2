//===- Shrink.h - Smaller programs that fail --------------------*- C++ -*-===//
//
// What fails is easier to understand when it is small.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_RANDOM_SHRINK_H
#define CCN_TEST_RANDOM_SHRINK_H

#include "Program.h"

#include <functional>

namespace ccn::random {

/// Leaves out lines of the schedule, results, statements and arguments as long
/// as `fails` holds, in at most `attempts` calls.
Program shrink(Program program,
               const std::function<bool(const Program &)> &fails,
               unsigned attempts);

} // namespace ccn::random

#endif // CCN_TEST_RANDOM_SHRINK_H
