//===- Number.h - Parses numbers and truth values ---------------*- C++ -*-===//
//
// Parses numbers and truth values on command lines, and converts them to an
// element type.
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

/// A truth value, an integer, an integer above 2^63 - 1, or a real number.
using Number = std::variant<bool, int64_t, uint64_t, double>;

/// Parses `12`, `-3`, `0x10`, `1e-8`, `true`. As in a program, 010 is ten.
/// Infinities, NaN, and numbers other than 0 that would round to 0 are refused.
std::optional<Number> parseNumber(std::string_view text);

/// The bytes of an element, low bytes first. A type of n bytes uses the first
/// n.
using ElementBytes = std::array<std::byte, 8>;

/// Converts a number that parseNumber accepts to an element of `type`. A real
/// number is rounded once, from its digits. An error if the type cannot hold
/// the number.
Result<ElementBytes> parseElement(ElementType type, std::string_view text);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_NUMBER_H
