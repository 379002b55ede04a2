//===- Number.h - Numbers as they are written -------------------*- C++ -*-===//
//
// Numbers and truth values on command lines, and their values in each element
// type.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_NUMBER_H
#define CCN_RUNTIME_TENSOR_NUMBER_H

#include "runtime/base/Status.h"
#include "runtime/tensor/ElementType.h"

#include <array>
#include <cstddef>
#include <variant>

namespace ccn::runtime {

/// A truth value; an integer; one above 2^63 - 1; a real.
using Number = std::variant<bool, int64_t, uint64_t, double>;

/// Parses `12`, `-3`, `0x10`, `1e-8`, `true`. As in a program: 010 is ten, and
/// there are no infinities, no NaN, and nothing that would be rounded to 0.
std::optional<Number> parseNumber(std::string_view text);

/// The bytes of an element, low bytes first; as many as its type has.
using ElementBytes = std::array<std::byte, 8>;

/// The number that is written, which parseNumber takes, as an element of
/// `type`. Reals are rounded once, from their digits. What the type does not
/// hold is an error.
Result<ElementBytes> parseElement(ElementType type, std::string_view text);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_NUMBER_H
