//===- RowTable.cpp - Kernels of gather_rows and scatter_rows -------------===//
//
// gatherRows copies whole rows. addRows adds all rows with the same target
// together, so that their sum is rounded once.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/RowTable.h"

#include "runtime/tensor/Blocks.h"

#include <cstring>
#include <span>

namespace ccn::runtime {

namespace {

/// Calls body(position, row) for each index; stops at the first that is out of
/// range.
template <typename Body>
Status forEachRow(RowTableSizes sizes, ElementType type,
                  const std::byte *indices, Body body) {
  int64_t values[blockSize];
  for (int64_t first = 0; first < sizes.count; first += blockSize) {
    int64_t n = std::min(blockSize, sizes.count - first);
    load(type, indices, first, n, values);
    for (int64_t i = 0; i < n; ++i) {
      // A u64 that is too large for int64_t was loaded as a negative number.
      if (values[i] >= 0 && values[i] < sizes.tableRows) {
        body(first + i, values[i]);
        continue;
      }
      std::string text = type == ElementType::U64
                             ? std::to_string(static_cast<uint64_t>(values[i]))
                             : std::to_string(values[i]);
      return error("row index ", text, " at position ", first + i,
                   " is out of range: there are ", sizes.tableRows,
                   sizes.tableRows == 1 ? " row" : " rows");
    }
  }
  return Status();
}

/// Adds rows to their common target row, in the order of the (target, row)
/// pairs.
template <typename T>
void addToRow(ElementType type, int64_t width, const std::byte *rows,
              std::byte *table,
              std::span<const std::pair<int64_t, int64_t>> pairs) {
  T sums[blockSize], values[blockSize];
  int64_t targetFirst = pairs.front().first * width;
  forEachBlock(width, [&](int64_t first, int64_t n) {
    load(type, table, targetFirst + first, n, sums);
    for (auto [target, row] : pairs) {
      load(type, rows, row * width + first, n, values);
      for (int64_t i = 0; i < n; ++i)
        sums[i] = addWrapping(sums[i], values[i]);
    }
    store(type, table, targetFirst + first, n, sums);
  });
}

} // namespace

Status gatherRows(ElementType type, RowTableSizes sizes, const std::byte *table,
                  ElementType indexType, const std::byte *indices,
                  std::byte *to) {
  return forEachRow(sizes, indexType, indices, [&](int64_t i, int64_t row) {
    // Not computed outside of the loop: rowSize may be any number if there are
    // no rows, and the product could overflow.
    int64_t rowBytes = sizes.rowSize * sizeInBytes(type);
    if (rowBytes > 0)
      std::memcpy(to + i * rowBytes, table + row * rowBytes,
                  static_cast<size_t>(rowBytes));
  });
}

Status addRows(ElementType type, RowTableSizes sizes, ElementType indexType,
               const std::byte *indices, const std::byte *rows,
               std::byte *table,
               std::vector<std::pair<int64_t, int64_t>> &order) {
  order.clear();
  Status status =
      forEachRow(sizes, indexType, indices,
                 [&](int64_t i, int64_t row) { order.emplace_back(row, i); });
  if (!status)
    return status;
  // After sorting, all rows with the same target are adjacent and in order.
  std::sort(order.begin(), order.end());
  withAccumulator(type, [&](auto zero) {
    for (auto begin = order.begin(); begin != order.end();) {
      auto end = std::find_if(begin, order.end(), [&](const auto &entry) {
        return entry.first != begin->first;
      });
      addToRow<decltype(zero)>(type, sizes.rowSize, rows, table, {begin, end});
      begin = end;
    }
  });
  return Status();
}

} // namespace ccn::runtime
