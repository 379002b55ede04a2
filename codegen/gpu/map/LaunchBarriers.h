//===- LaunchBarriers.h - Where the blocks of a kernel wait -----*- C++ -*-===//
//
// Between two parts of a kernel its blocks wait for each other only if one
// touches what the other writes; and if each block touches only what it writes
// itself, its threads wait for each other; so of clusters of blocks. A barrier
// of ranks before all other parts, or after them, needs no barrier of blocks.
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
/// Whether it only waits for other ranks, or lets them go on.
bool isFlagPart(const runtime::Part &part);

/// Whether the threads of a block leave each other something in its shared
/// memory, or may: all parts have it from its beginning on.
bool takesSharedMemory(const runtime::Part &part);

/// Whether all blocks share out the sums of part number `part` of a launch that
/// are along other than rows, and no team has a row: unless blocks have rows
/// that they exchange before.
bool isByColumns(llvm::ArrayRef<runtime::Part> parts, size_t part);

/// Who waits for whom: nobody, the threads of each block, those of each cluster
/// of blocks, or all blocks.
enum class Wait { None, Block, Cluster, Grid };

/// Where the kernels of a launch wait. What one rank needs all do, so that they
/// share kernels.
class LaunchBarriers {
public:
  /// Of launch number `launch` of all ranks; whether clusters may have the rows
  /// of one, nobody's if that is null.
  LaunchBarriers(const runtime::Plan &plan, size_t launch,
                 const Machine::Gpu &machine,
                 llvm::function_ref<bool(int rank, const runtime::RowsPart &)>
                     suitClusters = nullptr);

  /// Whether clusters of blocks take the rows that blocks would, on all ranks:
  /// where they can have all of them, and nothing waits for all blocks, which
  /// would take longer than what there is to win.
  bool hasClusters() const { return areClusters; }

  /// How a rank waits before part number `part` of `parts`.
  Wait before(size_t part, size_t parts) const {
    return blocks.at(parts)[part];
  }
  /// How many elements of part number `part` of a rank a block takes at a time,
  /// maybe more than there are, if it is an exchange, every element is for
  /// itself or all of them are summed; 0 if that is all the same.
  int64_t shareOf(size_t rank, size_t part) const { return shares[rank][part]; }
  /// Whether the launch's barrier of ranks number `barrier` is at an edge of
  /// the kernel: on all ranks before all other parts, or on all after them.
  /// What one block of a rank waits for, those of the others tell it, so one
  /// that is first on one rank and last on another is at no edge: all that the
  /// other did must be done.
  bool isAtEdge(size_t barrier) const {
    return edges[barrier].first || edges[barrier].last;
  }

private:
  /// Both if there are barriers only.
  struct Edge {
    bool first = true, last = true;
  };

  void addRanks(const runtime::Plan &plan, size_t launch,
                const Machine::Gpu &machine);
  void addRank(const runtime::Plan &plan, int rank,
               const runtime::Launch &launch, const Machine::Gpu &machine);

  bool areClusters = false;
  /// By the number of a rank's parts: ranks with as many wait at the same.
  std::map<size_t, std::vector<Wait>> blocks;
  /// By rank and part.
  std::vector<std::vector<int64_t>> shares;
  std::vector<Edge> edges;
};

/// Whether a rank's exchange writes elements that it reads.
bool isInPlace(const runtime::Plan &plan, int rank,
               const runtime::ExchangePart &exchange);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LAUNCHBARRIERS_H
