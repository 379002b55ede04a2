//===- SumOrder.h - In which order a schedule adds --------------*- C++ -*-===//
//
// Addition of floats commutes but is not associative. Where several ranks form
// a chunk's sum themselves, they may form it by different trees, and then what
// should be the same everywhere differs in its last bits. This says whether.
// Each addition rounds; floats that are added in wider ones are rounded to
// their own type when all are added, which equal sums are alike.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_SUMORDER_H
#define CCN_SYNTH_SUMORDER_H

#include "synth/Schedule.h"

#include <string>
#include <vector>

namespace ccn::synth {

/// The sums of a chunk: each adds two operands, rank r's contribution as
/// -(r + 1), or a sum before it in the list.
struct ChunkSums {
  std::vector<std::pair<int, int>> sums;
  /// What each rank of the chunk's `post` has, as an operand.
  std::vector<int> results;
};

/// By which tree each rank that needs a chunk's sum has it formed. Operands are
/// equal where the sums are equal in all bits.
///
/// Ranks add as the runtime does: what is sent is formed of the parts that the
/// sender has (its own contribution and what arrived), small parts first and of
/// equally large ones that with the lowest rank; what cannot be a part in one
/// piece is searched for in the running sum, the own contribution and what was
/// kept apart, in the order in which it came. The schedule is a right one.
ChunkSums sumsOf(const Schedule &schedule, int chunk);

/// The same of all chunks as text: the numbers of ranks for their
/// contributions, in parentheses what is added. [c][i] is chunk c at the i-th
/// of its `post`.
std::vector<std::vector<std::string>> sumOrders(const Schedule &schedule);

/// Whether all ranks that need a chunk's sum have it formed by the same tree:
/// an empty text, or the first chunk and two ranks where it is not so. The
/// schedule is a right one.
std::string differingSums(const Schedule &schedule);

/// By step and send, whether it carries the sum of several contributions but
/// not of all. The schedule is a right one.
std::vector<std::vector<bool>> partialSends(const Schedule &schedule);

} // namespace ccn::synth

#endif // CCN_SYNTH_SUMORDER_H
