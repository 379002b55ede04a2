//===- Strided.cpp - Copies of strided elements ---------------------------===//
//
// Neighbouring dimensions are merged; elements that are contiguous on both
// sides are copied by one memmove.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Strided.h"

#include <cstring>

namespace ccn::runtime {

CopyDims mergeDims(std::span<const CopyDim> dims) {
  CopyDims merged;
  for (const CopyDim &dim : dims) {
    if (dim.size == 1)
      continue;
    if (!merged.empty() &&
        merged.back().outStride == dim.size * dim.outStride &&
        merged.back().inStride == dim.size * dim.inStride)
      merged.back() = {merged.back().size * dim.size, dim.outStride,
                       dim.inStride};
    else
      merged.push_back(dim);
  }
  return merged;
}

bool isEmpty(std::span<const CopyDim> dims) {
  for (const CopyDim &dim : dims)
    if (dim.size == 0)
      return true;
  return false;
}

namespace {

template <typename Bits>
void copyAs(std::span<const CopyDim> dims, const std::byte *inBytes,
            std::byte *outBytes) {
  CopyDims merged = mergeDims(dims);
  if (merged.empty())
    merged.push_back({1, 1, 1});
  const CopyDim inner = merged.back();
  merged.pop_back();
  auto *out = reinterpret_cast<Bits *>(outBytes);
  auto *in = reinterpret_cast<const Bits *>(inBytes);
  forEachIndex(merged, [&](int64_t outFirst, int64_t inFirst) {
    if (inner.outStride == 1 && inner.inStride == 1) {
      std::memmove(out + outFirst, in + inFirst,
                   static_cast<size_t>(inner.size) * sizeof(Bits));
      return;
    }
    for (int64_t i = 0; i < inner.size; ++i)
      out[outFirst + i * inner.outStride] = in[inFirst + i * inner.inStride];
  });
}

} // namespace

void copyStrided(int elementSize, std::span<const CopyDim> dims,
                 const std::byte *in, std::byte *out) {
  if (isEmpty(dims))
    return;
  switch (elementSize) {
  case 1:
    return copyAs<uint8_t>(dims, in, out);
  case 2:
    return copyAs<uint16_t>(dims, in, out);
  case 4:
    return copyAs<uint32_t>(dims, in, out);
  default:
    return copyAs<uint64_t>(dims, in, out);
  }
}

} // namespace ccn::runtime
