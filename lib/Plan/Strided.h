//===- Strided.h - Strided regions of buffers -------------------*- C++ -*-===//
//
// Describes where the elements of a tensor lie in a buffer. Most operations
// that only move elements change this description, and need no copy.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_STRIDED_H
#define CCN_LIB_PLAN_STRIDED_H

#include "runtime/tensor/Strided.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace ccn::plan {

using Sizes = llvm::SmallVector<int64_t, 4>;

/// The product of sizes.
int64_t countOf(llvm::ArrayRef<int64_t> sizes);
/// The strides of a row-major array of `sizes`.
Sizes rowMajorStrides(llvm::ArrayRef<int64_t> sizes);

/// A strided region of a buffer. Offset and strides are in elements; a stride
/// of 0 repeats the same elements.
struct Strided {
  /// The number of the buffer.
  int buffer = -1;
  int64_t offset = 0;
  Sizes sizes, strides;
  /// The rank whose memory holds the region; none for this rank.
  std::optional<int64_t> rank = std::nullopt;

  /// A whole buffer, as a row-major array of `sizes`.
  static Strided whole(int buffer, llvm::ArrayRef<int64_t> sizes);

  bool operator==(const Strided &) const = default;
  int64_t count() const { return countOf(sizes); }
  bool isRowMajor() const { return runtime::isRowMajor(sizes, strides); }
};

/// The box of `sizes` that starts at `offsets` in `view`.
Strided subBox(Strided view, llvm::ArrayRef<int64_t> offsets,
               llvm::ArrayRef<int64_t> sizes);
/// Dimension i of the result is dimension permutation[i] of `view`.
Strided permute(const Strided &view, llvm::ArrayRef<int64_t> permutation);
/// Repeats elements along missing dimensions, which are added at the left, and
/// along dimensions of size 1.
Strided broadcastTo(const Strided &view, llvm::ArrayRef<int64_t> sizes);
/// The same elements, in row-major order, with other sizes; none if no strides
/// describe that.
std::optional<Strided> reshape(const Strided &view,
                               llvm::ArrayRef<int64_t> sizes);

/// Joins neighbouring dimensions among [first, last) whose elements are
/// contiguous in all views, in the same way in all views. Returns how many of
/// these dimensions remain.
size_t collapse(llvm::MutableArrayRef<Strided *> views, size_t first,
                size_t last);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_STRIDED_H
