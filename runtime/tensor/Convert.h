//===- Convert.h - Converts elements to another type ------------*- C++ -*-===//
//
// Implements the language's `cast` for elements in memory.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_CONVERT_H
#define CCN_RUNTIME_TENSOR_CONVERT_H

#include "runtime/tensor/ElementType.h"

#include <cstddef>

namespace ccn::runtime {

/// Converts `count` elements between any two types. Conversions to a float
/// round once, to nearest even. Float to integer truncates toward zero and
/// saturates; NaN gives 0. Integer to integer wraps. Any type to bool is `!= 0`
/// (so NaN is true); bool to any type is 0 or 1.
void convert(ElementType from, const std::byte *in, ElementType to,
             std::byte *out, int64_t count);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_CONVERT_H
