//===- LaunchBarriers.h - Where the blocks of a kernel wait -----*- C++ -*-===//
//
// Between two parts of a kernel, blocks wait for each other only if one part
// accesses what the other writes. If each block accesses only what it wrote
// itself, only the threads of each block wait for each other; likewise for
// clusters of blocks. A barrier of ranks before all other parts, or after all
// of them, needs no barrier of blocks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_LAUNCHBARRIERS_H
#define CCN_CODEGEN_GPU_MAP_LAUNCHBARRIERS_H

#include "lib/Target/Machine.h"
#include "runtime/plan/Plan.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace ccn::codegen {

/// Whether a part is a barrier of ranks.
bool isBarrier(const runtime::Part &part);
/// Whether a part only sets flags of other ranks or waits for flags.
bool isFlagPart(const runtime::Part &part);

/// Whether a part may use the block's shared memory. All parts use it from its
/// beginning on.
bool takesSharedMemory(const runtime::Part &part);

/// Whether part number `part` of a launch is divided by columns (ColumnSums.h),
/// not by rows. This is not so if an exchange by packets comes before, since
/// blocks then need the rows that they have exchanged.
bool isByColumns(llvm::ArrayRef<runtime::Part> parts, size_t part);

/// Who waits for each other: nobody, the threads of each block, those of each
/// cluster of blocks, or all blocks.
enum class Wait { None, Block, Cluster, Grid };

/// Where the kernels of a launch wait. If one rank must wait, all ranks do, so
/// that ranks can share kernels.
class LaunchBarriers {
public:
  /// For launch number `launch` of all ranks. suitClusters says whether
  /// clusters may execute a rank's rows; if it is null, they never may.
  LaunchBarriers(const runtime::Plan &plan, size_t launch,
                 const Machine::Gpu &machine,
                 llvm::function_ref<bool(int rank, const runtime::RowsPart &)>
                     suitClusters = nullptr);

  /// Whether clusters execute the rows that blocks would execute otherwise, on
  /// all ranks. This is so if clusters can execute all of them, and nothing
  /// waits for all blocks, which would cost more than clusters gain.
  bool hasClusters() const { return areClusters; }

  /// How a rank with `parts` parts waits before part number `part`.
  Wait before(size_t part, size_t parts) const {
    return blocks.at(parts)[part];
  }
  /// How many elements a block must take at a time of a rank's part number
  /// `part`; this may be more than there are. 0 if it does not matter. Only
  /// exchanges, parts with independent elements, and sums of all elements have
  /// such a number.
  int64_t shareOf(size_t rank, size_t part) const { return shares[rank][part]; }
  /// Whether the launch's barrier of ranks number `barrier` is at an edge of
  /// the kernel: on all ranks before all other parts, or on all ranks after all
  /// other parts. At an edge, block i only synchronizes with block i of the
  /// other ranks. That does not suffice for a barrier that is first on one rank
  /// and last on another, where all blocks of the other rank must be done.
  bool isAtEdge(size_t barrier) const {
    return edges[barrier].first || edges[barrier].last;
  }

private:
  /// Whether all other parts come after, or before. Both hold if there are only
  /// barriers.
  struct Edge {
    bool first = true, last = true;
  };

  void addRanks(const runtime::Plan &plan, size_t launch,
                const Machine::Gpu &machine);
  void addRank(const runtime::Plan &plan, int rank,
               const runtime::Launch &launch, const Machine::Gpu &machine);

  bool areClusters = false;
  /// By the number of a rank's parts: ranks with equally many parts wait alike.
  std::map<size_t, std::vector<Wait>> blocks;
  /// By rank and part.
  std::vector<std::vector<int64_t>> shares;
  std::vector<Edge> edges;
};

/// Whether a rank's exchange writes elements that it also reads.
bool isInPlace(const runtime::Plan &plan, int rank,
               const runtime::ExchangePart &exchange);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LAUNCHBARRIERS_H
