//===- Strided.h - Strided parts of buffers ---------------------*- C++ -*-===//
//
// Where the elements of a tensor lie in a buffer, and what movement does to
// that: most operations that only move elements need no copy.
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
/// The strides of row-major elements.
Sizes rowMajorStrides(llvm::ArrayRef<int64_t> sizes);

/// A strided part of a buffer, in elements; a stride of 0 repeats.
struct Strided {
  /// The number of the buffer.
  int buffer = -1;
  int64_t offset = 0;
  Sizes sizes, strides;
  /// The rank in whose memory it lies, if not in the own.
  std::optional<int64_t> rank = std::nullopt;

  /// A whole buffer, row-major.
  static Strided whole(int buffer, llvm::ArrayRef<int64_t> sizes);

  bool operator==(const Strided &) const = default;
  int64_t count() const { return countOf(sizes); }
  bool isRowMajor() const { return runtime::isRowMajor(sizes, strides); }
};

/// The box that starts at `offsets`.
Strided subBox(Strided view, llvm::ArrayRef<int64_t> offsets,
               llvm::ArrayRef<int64_t> sizes);
/// Dimension i is dimension permutation[i].
Strided permute(const Strided &view, llvm::ArrayRef<int64_t> permutation);
/// Missing dimensions, at the left, and those of size 1 repeat.
Strided broadcastTo(const Strided &view, llvm::ArrayRef<int64_t> sizes);
/// The same elements in row-major order in other sizes; none if they do not lie
/// so that strides can say it.
std::optional<Strided> reshape(const Strided &view,
                               llvm::ArrayRef<int64_t> sizes);

/// Joins, in all views alike, dimensions [first, last) that follow each other
/// in memory in all of them; returns how many are left of them.
size_t collapse(llvm::MutableArrayRef<Strided *> views, size_t first,
                size_t last);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_STRIDED_H
