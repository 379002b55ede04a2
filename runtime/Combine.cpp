//===- Combine.cpp - Elementwise reduction across ranks -------------------===//
//
// Block by block in the compute type, all parts of a block one after the other.
//
//===----------------------------------------------------------------------===//

#include "runtime/Combine.h"

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

void combine(ReduceKind kind, ElementType type,
             std::span<const std::byte *const> parts, int64_t count,
             std::byte *out) {
  withCompute(type, [&](auto zero) {
    using T = decltype(zero);
    withStep<T>(kind, [&](auto step) {
      T sums[blockSize], values[blockSize];
      forEachBlock(count, [&](int64_t first, int64_t n) {
        load(type, parts[0], first, n, sums);
        for (size_t part = 1; part < parts.size(); ++part) {
          load(type, parts[part], first, n, values);
          for (int64_t i = 0; i < n; ++i)
            sums[i] = step(sums[i], values[i]);
        }
        if (kind == ReduceKind::Mean)
          for (int64_t i = 0; i < n; ++i)
            sums[i] = sums[i] / static_cast<T>(parts.size());
        store(type, out, first, n, sums);
      });
    });
  });
}

} // namespace ccn::runtime
