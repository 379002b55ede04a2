//===- Combine.h - Elementwise reduction across ranks -----------*- C++ -*-===//
//
// The one definition of what combining the contributions of ranks means: the
// reference interpreter, the CPU's collectives and their tests all use it, so
// their results agree bit for bit.
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

/// Refuses what a kind of reduction is not defined for: of bool all but max
/// (or) and min (and), and the mean of what is no float. `what` is what would
/// be reduced, for the message.
Status checkReduction(ReduceKind kind, ElementType type,
                      const std::string &what);

/// Calls body with the binary function of `kind` on the compute type T. Of mean
/// that is the sum.
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

/// The type in which sums of some of the ranks' contributions travel and wait,
/// so that what they become is rounded once: f32 for sums and products of 16-
/// and 8-bit floats, else `type` itself.
ElementType partialType(ReduceKind kind, ElementType type);

/// Combines `count` elements of each of `parts` (at least one) elementwise, in
/// the order given: the first with the second, the result with the third, and
/// so on. f64 in f64; f32 in f32, rounding at each step; narrower floats in f32
/// with one rounding at the end; integers wrap; bool takes max (or) and min
/// (and). Mean is the sum divided by the number of parts, before the rounding.
/// `out` may be one of the parts.
void combine(ReduceKind kind, ElementType type,
             std::span<const std::byte *const> parts, int64_t count,
             std::byte *out);

/// Elements of contributions, or of sums of some, each of their own type.
struct TypedElements {
  ElementType type;
  const std::byte *data;
};

/// The same of parts that are of `type` or of its partialType(), to elements of
/// either. Without Mean, which counts contributions.
void combine(ReduceKind kind, ElementType type,
             std::span<const TypedElements> parts, int64_t count,
             ElementType outType, std::byte *out);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_COMBINE_H
