//===- HostTensor.h - A dense tensor in host memory -------------*- C++ -*-===//
//
// The runtime's tensors under the interpreter's names.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_HOSTTENSOR_H
#define CCN_INTERPRETER_HOSTTENSOR_H

#include "lib/Interpreter/ElementType.h"
#include "runtime/tensor/HostTensor.h"

namespace ccn::interp {

using runtime::describe;
using runtime::describeIndex;
using runtime::elementCount;
using runtime::firstDifference;
using runtime::HostTensor;
using runtime::rowMajorStrides;
using runtime::Shape;

} // namespace ccn::interp

#endif // CCN_INTERPRETER_HOSTTENSOR_H
