//===- ElementType.h - The element types of tensors -------------*- C++ -*-===//
//
// The runtime's element types under the interpreter's names.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_ELEMENTTYPE_H
#define CCN_INTERPRETER_ELEMENTTYPE_H

#include "runtime/tensor/ElementType.h"

namespace ccn::interp {

using runtime::allElementTypes;
using runtime::decodeFloat;
using runtime::ElementType;
using runtime::encodeFloat;
using runtime::isFloat;
using runtime::isInteger;
using runtime::isNarrowFloat;
using runtime::isSignedInteger;
using runtime::isUnsignedInteger;
using runtime::name;
using runtime::parseElementType;
using runtime::sizeInBytes;

} // namespace ccn::interp

#endif // CCN_INTERPRETER_ELEMENTTYPE_H
