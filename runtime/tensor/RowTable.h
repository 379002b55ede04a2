//===- RowTable.h - Kernels of gather_rows and scatter_rows -----*- C++ -*-===//
//
// The kernels of gather_rows and scatter_rows, for the reference interpreter
// and the executor of plans. All arrays are row-major.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_ROWTABLE_H
#define CCN_RUNTIME_TENSOR_ROWTABLE_H

#include "runtime/base/Status.h"
#include "runtime/tensor/ElementType.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ccn::runtime {

struct RowTableSizes {
  /// The table's rows, the elements of a row, and the number of indices.
  int64_t tableRows = 0, rowSize = 0, count = 0;
};

/// Sets to[i] = table[indices[i]] for each i. An error names the first index
/// outside of the table.
Status gatherRows(ElementType type, RowTableSizes sizes, const std::byte *table,
                  ElementType indexType, const std::byte *indices,
                  std::byte *to);

/// Adds rows[i] to row indices[i] of `table`, for i in increasing order. f64
/// and f32 add in f64, narrower floats in f32, with one rounding at the end;
/// integers wrap. Rows that no index names keep their bits. An error names the
/// first index outside of the table; the table is then unchanged. `order` is
/// scratch memory that later calls reuse.
Status addRows(ElementType type, RowTableSizes sizes, ElementType indexType,
               const std::byte *indices, const std::byte *rows,
               std::byte *table,
               std::vector<std::pair<int64_t, int64_t>> &order);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_ROWTABLE_H
