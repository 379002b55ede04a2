//===- Combine.h - Elementwise reduction across ranks -----------*- C++ -*-===//
//
// Combines the contributions of ranks. The reference interpreter, the CPU's
// collectives and their tests all use this code, so their results agree bit for
// bit.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_COMBINE_H
#define CCN_RUNTIME_TENSOR_COMBINE_H

#include "runtime/base/Status.h"
#include "runtime/tensor/Blocks.h"

#include <span>
#include <string>
#include <string_view>

namespace ccn::runtime {

enum class ReduceKind : uint8_t { Sum, Prod, Max, Min, Mean };

/// "sum", "prod", ...
std::string_view name(ReduceKind kind);

/// An error if a reduction is not defined for a type: bool has only max (or)
/// and min (and), and only floats have a mean. `what` names, in the error, what
/// would be reduced.
Status checkReduction(ReduceKind kind, ElementType type,
                      const std::string &what);

/// Calls body with the binary function of `kind` on the compute type T. For a
/// mean this is addition.
template <typename T, typename Body> auto withStep(ReduceKind kind, Body body) {
  switch (kind) {
  case ReduceKind::Prod:
    return body([](T a, T b) { return multiplyWrapping(a, b); });
  case ReduceKind::Max:
    return body([](T a, T b) { return maximum(a, b); });
  case ReduceKind::Min:
    return body([](T a, T b) { return minimum(a, b); });
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    break;
  }
  return body([](T a, T b) { return addWrapping(a, b); });
}

/// The type of partial sums, so that a whole sum is rounded only once: f32 for
/// sums and products of 16- and 8-bit floats, else `type` itself.
ElementType partialType(ReduceKind kind, ElementType type);

/// Combines `count` elements of each of `parts` (at least one) elementwise, in
/// the order given: the first with the second, the result with the third, and
/// so on. f64 is combined in f64; f32 in f32, with rounding after each
/// addition; narrower floats in f32, with one rounding at the end. Integers
/// wrap. The mean is the sum divided by the number of parts, before rounding.
/// `out` may be one of the parts.
void combine(ReduceKind kind, ElementType type,
             std::span<const std::byte *const> parts, int64_t count,
             std::byte *out);

/// The elements of a part: a contribution or a partial sum, in its own type.
struct TypedElements {
  ElementType type;
  const std::byte *data;
};

/// The same for parts whose types are `type` or its partialType(); `outType` is
/// also one of these. `kind` must not be Mean, as parts may hold several
/// contributions.
void combine(ReduceKind kind, ElementType type,
             std::span<const TypedElements> parts, int64_t count,
             ElementType outType, std::byte *out);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_COMBINE_H
