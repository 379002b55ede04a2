//===- SumOrder.h - In which order a schedule adds --------------*- C++ -*-===//
//
// Addition of floats commutes but is not associative. Where several ranks form
// a chunk's sum themselves, they may form it by different trees, and then what
// should be the same everywhere differs in its last bits. This says whether.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_SUMORDER_H
#define CCN_SYNTH_SUMORDER_H

#include "synth/Schedule.h"

#include <string>
#include <vector>

namespace ccn::synth {

/// Where a sum of several parts rounds.
enum class Rounding {
  /// After each addition, as f32 and f64.
  EachStep,
  /// Once, when all parts are added, as floats that are added in wider ones.
  AtEnd,
};

/// By which tree each rank that needs a chunk's sum has it formed, as text:
/// the numbers of ranks for their contributions, in parentheses what is added.
/// [c][i] is chunk c at the i-th of its `post`. Texts are equal where the sums
/// are equal in all bits.
///
/// Ranks add as the runtime does: what is sent is formed of the parts that the
/// sender has (its own contribution and what arrived), small parts first and of
/// equally large ones that with the lowest rank; what cannot be a part in one
/// piece is searched for in the running sum, the own contribution and what was
/// kept apart, in the order in which it came. The schedule is a right one.
std::vector<std::vector<std::string>> sumOrders(const Schedule &schedule,
                                                Rounding rounding);

/// Whether all ranks that need a chunk's sum have it formed by the same tree:
/// an empty text, or the first chunk and two ranks where it is not so. The
/// schedule is a right one.
std::string differingSums(const Schedule &schedule, Rounding rounding);

} // namespace ccn::synth

#endif // CCN_SYNTH_SUMORDER_H
