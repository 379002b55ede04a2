//===- Combine.cpp - Elementwise reduction across ranks -------------------===//
//
// Combines block by block in the compute type, and within a block one part
// after the other.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Combine.h"

namespace ccn::runtime {

std::string_view name(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return "sum";
  case ReduceKind::Prod:
    return "prod";
  case ReduceKind::Max:
    return "max";
  case ReduceKind::Min:
    return "min";
  case ReduceKind::Mean:
    return "mean";
  }
  return "";
}

Status checkReduction(ReduceKind kind, ElementType type,
                      const std::string &what) {
  if (type == ElementType::Bool && kind != ReduceKind::Max &&
      kind != ReduceKind::Min)
    return error("the ", name(kind), " of ", what,
                 " is not defined; bool takes max (or) and min (and)");
  if (kind == ReduceKind::Mean && !isFloat(type))
    return error("the mean of ", what, " is not defined; cast it to a float");
  return Status();
}

ElementType partialType(ReduceKind kind, ElementType type) {
  bool rounds = kind != ReduceKind::Max && kind != ReduceKind::Min;
  return rounds && isNarrowFloat(type) ? ElementType::F32 : type;
}

/// Combines `parts` parts; partAt(i) returns part i with its type.
template <typename PartAt>
static void combineParts(ReduceKind kind, ElementType type, size_t parts,
                         PartAt partAt, int64_t count, ElementType outType,
                         std::byte *out) {
  withCompute(type, [&](auto zero) {
    using T = decltype(zero);
    withStep<T>(kind, [&](auto step) {
      T sums[blockSize], values[blockSize];
      auto loadPart = [&](size_t part, int64_t first, int64_t n, T *to) {
        TypedElements from = partAt(part);
        load(from.type, from.data, first, n, to);
      };
      forEachBlock(count, [&](int64_t first, int64_t n) {
        loadPart(0, first, n, sums);
        for (size_t part = 1; part < parts; ++part) {
          loadPart(part, first, n, values);
          for (int64_t i = 0; i < n; ++i)
            sums[i] = step(sums[i], values[i]);
        }
        if (kind == ReduceKind::Mean)
          for (int64_t i = 0; i < n; ++i)
            sums[i] = sums[i] / static_cast<T>(parts);
        store(outType, out, first, n, sums);
      });
    });
  });
}

void combine(ReduceKind kind, ElementType type,
             std::span<const std::byte *const> parts, int64_t count,
             std::byte *out) {
  combineParts(
      kind, type, parts.size(),
      [&](size_t part) { return TypedElements{type, parts[part]}; }, count,
      type, out);
}

void combine(ReduceKind kind, ElementType type,
             std::span<const TypedElements> parts, int64_t count,
             ElementType outType, std::byte *out) {
  assert(kind != ReduceKind::Mean && "parts may hold several contributions");
  combineParts(
      kind, type, parts.size(), [&](size_t part) { return parts[part]; }, count,
      outType, out);
}

} // namespace ccn::runtime
