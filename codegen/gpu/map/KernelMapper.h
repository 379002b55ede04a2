//===- KernelMapper.h - From the parts of a launch to a kernel --*- C++ -*-===//
//
// Private to `map`: what the mapping of each kind of part shares.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_KERNELMAPPER_H
#define CCN_CODEGEN_GPU_MAP_KERNELMAPPER_H

#include "codegen/gpu/map/KernelPlan.h"

#include <algorithm>

namespace ccn::codegen {

/// A kernel while its parts are mapped, in their order.
struct KernelMapper {
  KernelPlan &kernel;
  const LoopKernels &bodies;
  /// Whether the first block has something to do when all blocks have come to
  /// the next barrier, before any goes on, and what that writes.
  bool isLeft = false;
  std::vector<runtime::View> lastWrites = {};
  /// How many parts take so few registers as leave those of another block.
  size_t partsOfFewRegisters = 0;

  /// Says that so many blocks have something to do.
  void needBlocks(int64_t blocks) {
    kernel.launch.blocks = std::max(kernel.launch.blocks, blocks);
  }
  /// Takes some of the launch's workspace and returns where it begins.
  int64_t takeWorkspace(int64_t bytes) {
    int64_t place = kernel.launch.workspaceBytes;
    kernel.launch.workspaceBytes += bytes;
    return place;
  }
  void needShared(int64_t bytes) {
    int64_t &most = kernel.properties.sharedBytes;
    most = std::max(most, bytes);
  }
  /// Nothing is left for a barrier any more.
  void endLast() {
    isLeft = false;
    lastWrites.clear();
  }
  /// All blocks wait for each other.
  void gridBarrier() {
    kernel.properties.waits = true;
    endLast();
  }
  /// Ends the choices of a loop.
  void settle(LoopPlan &loop) {
    loop.settle();
    kernel.takesRegisters |= loop.combinesFetched();
  }
};

/// Loops over rows; what is exchanged before, if who takes the rows does that.
std::unique_ptr<RowsPlan> mapRows(KernelMapper &mapper,
                                  const runtime::RowsPart &rows,
                                  const BlockShare &share = {},
                                  const RowExchange *exchange = nullptr);
std::unique_ptr<RowsPlan> mapCopy(KernelMapper &mapper,
                                  const runtime::CopyPart &copy,
                                  const BlockShare &share = {});
/// Sums that rows are not teams' of (ColumnSums.h).
ColumnsPlan mapColumns(KernelMapper &mapper, const runtime::RowsPart &rows);
/// A product, a convolution, or rows of a table.
ProductPlan mapProduct(KernelMapper &mapper, const runtime::Part &part);

/// The rows that teams are to take, which may come while ranks wait; but for
/// what lies in buffer `awaited`.
std::vector<Prefetch> prefetchesOf(const KernelPlan &kernel,
                                   const runtime::RowsPart &rows, int awaited);

/// Whether clusters of blocks may take rows that blocks would, as threads need
/// nothing that others made but sums of a row.
bool suitClusters(const PartPlaces &places, const LoopKernels &bodies,
                  const runtime::RowsPart &rows);
/// Whether the clusters that take rows may do an exchange that comes before, of
/// which they take the results from the packets.
bool suitExchange(const PartPlaces &places, const LoopKernels &bodies,
                  const runtime::RowsPart &rows,
                  const runtime::ExchangePart &exchange);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_KERNELMAPPER_H
