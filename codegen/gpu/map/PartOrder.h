//===- PartOrder.h - What of a plan comes after what ------------*- C++ -*-===//
//
// Parts of different ranks and launches are ordered by barriers, signals,
// streams and events. Exchanges order nothing: their threads wait each for
// their own elements only.
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

/// Of the parts that `plan` has when this is made.
///
/// A barrier within a kernel is one of all blocks (LaunchBarriers.h). One at an
/// edge makes each block meet its like only, but has no other parts before it,
/// or none after it: it orders whole launches, as a block begins when the
/// launches before are over, a launch is over when all its blocks are, and
/// kernels that meet have as many blocks on all ranks. So does one within a
/// pipeline for all that is not in it; phases of a pipeline touch the same
/// elements only with the same blocks (LaunchPipelines.h).
class PartOrder {
public:
  explicit PartOrder(const runtime::Plan &plan);

  /// Whether all of `first` is done when any of `second` begins. Parts of one
  /// rank's launch follow each other; where one touches what the other does,
  /// blocks wait.
  bool isBefore(const PartPlace &first, const PartPlace &second);

private:
  /// By rank and launch, from which part on all comes after something.
  using Later = std::vector<std::vector<size_t>>;

  Later findLater(const PartPlace &place) const;

  const runtime::Plan &plan;
  /// By rank and launch: its barriers' numbers among its parts; the launches
  /// that begin when it is done.
  std::vector<std::vector<std::vector<size_t>>> barriers, next;
  /// Awaits, by giver, taker and flag.
  std::map<std::tuple<int, int, int64_t>, PartPlace> awaits;
  /// What comes after the part that was asked for last.
  std::optional<PartPlace> last;
  Later later;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_PARTORDER_H
