//===- Convert.h - Elements from one type to another ------------*- C++ -*-===//
//
// What `cast` means in the language, on elements in memory.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_CONVERT_H
#define CCN_RUNTIME_TENSOR_CONVERT_H

#include "runtime/tensor/ElementType.h"

#include <cstddef>

namespace ccn::runtime {

/// Converts `count` elements between any two types. Float to float and integer
/// to float round once, to nearest even; float to integer truncates toward zero
/// and saturates, NaN gives 0; integer to integer wraps; anything to bool is
/// `!= 0` (so NaN is true); bool to anything is 0 or 1.
void convert(ElementType from, const std::byte *in, ElementType to,
             std::byte *out, int64_t count);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_CONVERT_H
