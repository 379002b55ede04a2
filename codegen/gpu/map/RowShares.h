//===- RowShares.h - How the threads of a team share a row ------*- C++ -*-===//
//
// A team executes several loops on a row, which pass values through scratch
// arrays. In loops over the same elements, a thread gets the same elements each
// time, so it can keep its share of a scratch array in memory of its own, that
// is, in registers. Threads wait for each other only if one needs what another
// has computed.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_ROWSHARES_H
#define CCN_CODEGEN_GPU_MAP_ROWSHARES_H

#include "codegen/gpu/map/LoopPlan.h"
#include "codegen/gpu/map/RowTeams.h"

#include <set>

namespace ccn::codegen {

/// Whether a row of an operand, up to dimension `end` of its loop, is
/// contiguous.
bool isRowMajor(const runtime::Loop &loop, const runtime::LoopOperand &operand,
                size_t end);

class RowShares {
public:
  /// Decides for `rows` and their `loops`: sets the widths of the loops, and
  /// adds to `scratch` the arrays that threads have themselves.
  RowShares(const PartPlaces &places, const runtime::RowsPart &rows, Team team,
            std::vector<LoopPlan> &loops, Scratch &scratch);

  /// Whether every thread computes the results of a loop, which are scalars,
  /// for itself.
  bool isOfEvery(size_t loop) const { return every[loop]; }
  /// Whether no loop of the part changes the memory that a loop loads.
  bool fetchesConstants(size_t loop) const;
  /// Whether the threads of a team wait for each other before a loop, and after
  /// the last loop of a row.
  bool waitsBefore(size_t loop) const { return waits[loop]; }
  bool waitsAfter() const { return waits.back(); }
  /// Whether the blocks of a cluster may divide a row: threads need nothing
  /// from others except sums of all elements of a row, and every loop has a
  /// vector for each thread of a cluster.
  bool suitClusters() const;

private:
  /// Which threads access an operand's elements. Any: any thread. First: the
  /// first thread alone. Every: every thread, in memory of its own. Shared:
  /// each thread its share of `count` elements, `width` elements in each turn.
  struct Takers {
    enum Kind { Any, First, Every, Shared } kind = Any;
    int64_t count = 0, width = 0;

    bool operator==(const Takers &) const = default;
  };
  struct Use {
    const runtime::LoopOperand *operand;
    bool writes;
    Takers by;
  };

  /// Whether each sum of a loop is of all elements of a row, which all threads
  /// compute together, or of some elements, which one thread computes.
  bool sumsRow(size_t loop) const;
  bool sumsParts(size_t loop) const;
  Takers takersOf(size_t loop, const runtime::LoopOperand &operand,
                  bool writes) const;
  std::vector<Use> usesOf(size_t loop) const;
  void widenLoops();
  bool isConstant(const runtime::LoopOperand &input) const;
  bool isOwn(const runtime::LoopOperand &operand) const;
  bool mayBeOfEvery(size_t loop) const;
  bool isScalar(int array) const;
  int64_t partOf(int array) const;
  std::pair<size_t, size_t> usedIn(int array) const;
  void placeOwn();
  bool mustWait(const std::vector<Use> &before,
                const std::vector<Use> &after) const;
  void findWaits();

  const PartPlaces &places;
  const runtime::RowsPart &rows;
  Team team;
  std::vector<LoopPlan> &loops;
  Scratch &scratch;
  /// The numbers of all scratch arrays.
  std::set<int> arrays;
  std::vector<bool> every, waits;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_ROWSHARES_H
