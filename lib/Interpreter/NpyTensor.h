//===- NpyTensor.h - Host tensors in .npy files -----------------*- C++ -*-===//
//
// The runtime's readers and writers under the interpreter's names.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_NPYTENSOR_H
#define CCN_INTERPRETER_NPYTENSOR_H

#include "lib/Interpreter/HostTensor.h"
#include "runtime/tensor/NpyTensor.h"

namespace ccn::interp {

using runtime::loadNpy;
using runtime::npyType;
using runtime::saveNpy;

} // namespace ccn::interp

#endif // CCN_INTERPRETER_NPYTENSOR_H
