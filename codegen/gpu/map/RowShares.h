//===- RowShares.h - How the threads of a team share a row ------*- C++ -*-===//
//
// A team takes a row through loops that leave each other scratch. Loops over
// the same elements give each thread the same ones, which then may have what is
// left between the loops in memory of its own, in registers; and a thread waits
// for the others only where it needs what they made.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_ROWSHARES_H
#define CCN_CODEGEN_GPU_MAP_ROWSHARES_H

#include "codegen/gpu/map/LoopPlan.h"
#include "codegen/gpu/map/RowTeams.h"

#include <set>

namespace ccn::codegen {

/// Whether the elements of a row of an operand, up to dimension `end` of its
/// loop, lie one after the other.
bool isRowMajor(const runtime::Loop &loop, const runtime::LoopOperand &operand,
                size_t end);

class RowShares {
public:
  /// Of `rows`, which `loops` are for; sets their widths, and adds to `scratch`
  /// what threads have themselves.
  RowShares(const PartPlaces &places, const runtime::RowsPart &rows, Team team,
            std::vector<LoopPlan> &loops, Scratch &scratch);

  /// Whether each thread computes the results of a loop for itself, which are
  /// scalars.
  bool isOfEvery(size_t loop) const { return every[loop]; }
  /// Whether what a loop takes of memory is what no loop changes.
  bool fetchesConstants(size_t loop) const;
  /// Whether the threads wait for each other before a loop, and after the last
  /// one of a row.
  bool waitsBefore(size_t loop) const { return waits[loop]; }
  bool waitsAfter() const { return waits.back(); }
  /// Whether threads need nothing that others made but sums of all elements of
  /// a row, and every loop has a vector for each thread of a cluster: then the
  /// blocks of one may have parts of a row.
  bool suitClusters() const;

private:
  /// Which threads touch an operand's elements: any; the first one alone; each
  /// thread all, of its own; or each its share of all, `width` of `count`
  /// elements at a time in turns.
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

  /// Whether a loop's sums are of all elements of a row, which threads make
  /// together, or of some, each of one thread.
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
  /// Of all arrays of scratch, the numbers.
  std::set<int> arrays;
  std::vector<bool> every, waits;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_ROWSHARES_H
