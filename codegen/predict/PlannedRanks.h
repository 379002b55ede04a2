//===- PlannedRanks.h - Ranks that stand for others -------------*- C++ -*-===//
//
// A plan from which times are predicted may have some ranks only (see
// exportPlan): every other rank is taken to do the same at the same time as one
// of these.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_PREDICT_PLANNEDRANKS_H
#define CCN_CODEGEN_PREDICT_PLANNEDRANKS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ccn {
class MeshOp;
} // namespace ccn

namespace ccn::codegen {

/// Ranks by their numbers in a plan.
class PlannedRanks {
public:
  /// `exported` are the ranks by their numbers, of which the first `planned`
  /// ones have plans.
  PlannedRanks(std::vector<int64_t> exported, size_t planned, MeshOp mesh);

  bool areAllPlanned() const { return counts.size() == ranks.size(); }
  int64_t count() const { return static_cast<int64_t>(ranks.size()); }
  /// The rank itself.
  int64_t rankOf(int number) const { return ranks[index(number)]; }
  /// The planned rank that a rank is like.
  int like(int number) const { return likes[index(number)]; }
  /// How many ranks, itself among them, are like a planned one.
  double countOf(int planned) const { return counts[index(planned)]; }

private:
  static size_t index(int number) { return static_cast<size_t>(number); }

  std::vector<int64_t> ranks;
  std::vector<int> likes;
  std::vector<double> counts;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_PREDICT_PLANNEDRANKS_H
