//===- Random.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// The runtime's random numbers under the interpreter's names.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_RANDOM_H
#define CCN_INTERPRETER_RANDOM_H

#include "lib/Interpreter/HostTensor.h"
#include "runtime/tensor/Random.h"

namespace ccn::interp {

using runtime::drawScale;
using runtime::dropout;
using runtime::fnv1a;
using runtime::GlobalPosition;
using runtime::philox4x32;
using runtime::randomFill;

} // namespace ccn::interp

#endif // CCN_INTERPRETER_RANDOM_H
