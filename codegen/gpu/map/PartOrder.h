//===- PartOrder.h - The order of a plan's parts ----------------*- C++ -*-===//
//
// Barriers, signals, streams and events order the parts of different ranks and
// launches. Exchanges order nothing: each of their threads waits only for its
// own elements.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_PARTORDER_H
#define CCN_CODEGEN_GPU_MAP_PARTORDER_H

#include "runtime/plan/Plan.h"

#include <map>
#include <optional>
#include <tuple>

namespace ccn::codegen {

/// A part of a launch of a rank.
struct PartPlace {
  int rank = 0;
  size_t launch = 0, part = 0;

  auto operator<=>(const PartPlace &) const = default;
};

/// The order of the parts that `plan` has when this object is made.
///
/// A barrier within a kernel is one of all blocks (LaunchBarriers.h). At an
/// edge of a kernel, block i only synchronizes with block i of the other ranks.
/// Such a barrier still orders whole launches, since all other parts are on one
/// side of it: a block begins after earlier launches have ended, a launch ends
/// when all its blocks have, and kernels of ranks that meet have equally many
/// blocks. The same holds for a barrier within a pipeline and all parts outside
/// of it; in the phases of a pipeline, only the same blocks access the same
/// elements (LaunchPipelines.h).
class PartOrder {
public:
  explicit PartOrder(const runtime::Plan &plan);

  /// Whether all of `first` is done before any of `second` begins. Parts of one
  /// rank's launch follow each other; blocks wait if one accesses what the
  /// other does.
  bool isBefore(const PartPlace &first, const PartPlace &second);

private:
  /// By rank and launch: the first part that, with all parts after it, comes
  /// later than something.
  using Later = std::vector<std::vector<size_t>>;

  Later findLater(const PartPlace &place) const;

  const runtime::Plan &plan;
  /// By rank and launch: the part numbers of its barriers, and the launches
  /// that begin when it is done.
  std::vector<std::vector<std::vector<size_t>>> barriers, next;
  /// Waits for signals, by setter, waiter and flag.
  std::map<std::tuple<int, int, int64_t>, PartPlace> awaits;
  /// The part for which isBefore was last asked, and what comes after it.
  std::optional<PartPlace> last;
  Later later;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_PARTORDER_H
