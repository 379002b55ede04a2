//===- MatrixProduct.h - The matrix product's kernel ------------*- C++ -*-===//
//
// The product of two matrices of any strides. The reference interpreter and the
// executor of plans both use this kernel, so they give the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_MATRIXPRODUCT_H
#define CCN_RUNTIME_TENSOR_MATRIXPRODUCT_H

#include "runtime/base/Workspace.h"
#include "runtime/tensor/ElementType.h"

#include <cstddef>
#include <cstdint>

namespace ccn::runtime {

/// A matrix in memory: the address of element (0, 0), and the strides of rows
/// and of columns, in elements.
struct MatrixView {
  const std::byte *data = nullptr;
  int64_t rowStride = 0, columnStride = 1;
};

struct MatrixSizes {
  int64_t m = 0, n = 0, k = 0;
};

/// c[i, j] = sum over k, in increasing order from 0, of a[i, k] * b[k, j]. All
/// three have the element type `type`, which must not be bool. f64 and f32
/// multiply and accumulate in f64, narrower floats in f32; each sum is rounded
/// once. Integers wrap. `c` must not overlap a or b. An error if there is no
/// memory for the workspace of some hundred kilobytes.
Status multiplyMatrices(ElementType type, MatrixSizes sizes, MatrixView a,
                        MatrixView b, std::byte *c, int64_t cRowStride,
                        int64_t cColumnStride, Workspace &workspace);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_MATRIXPRODUCT_H
