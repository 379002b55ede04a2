//===- PartChecker.h - Checks one part of a plan ----------------*- C++ -*-===//
//
// Private to the checks of parts: those of views and loops are in
// CheckParts.cpp, those of other parts in CheckOtherParts.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_PARTCHECKER_H
#define CCN_RUNTIME_PLAN_PARTCHECKER_H

#include "runtime/plan/CheckParts.h"

#include <initializer_list>
#include <map>

namespace ccn::runtime {

/// The first and the last element of a strided region that is not empty.
struct Extent {
  int64_t first, last;
};

Result<Extent> extentOf(int64_t offset, std::span<const int64_t> sizes,
                        std::span<const int64_t> strides);

/// The first failure of several checks, or success. All checks are evaluated,
/// so none may rely on an earlier one.
inline Status all(std::initializer_list<Status> statuses) {
  for (const Status &status : statuses)
    if (!status)
      return status;
  return Status();
}

class PartChecker {
public:
  PartChecker(const Plan &plan, int rank)
      : plan(plan), rankPlan(plan.ranks[static_cast<size_t>(rank)]),
        rank(rank) {}

  Status operator()(const RowsPart &part);
  Status operator()(const CopyPart &part);
  Status operator()(const BarrierPart &part);
  Status operator()(const SignalPart &part) {
    return flagOf(part.rank, part.flag);
  }
  Status operator()(const AwaitPart &part) {
    return flagOf(part.rank, part.flag);
  }
  Status operator()(const MatmulPart &part);
  Status operator()(const Conv2dPart &part);
  Status operator()(const GatherRowsPart &part);
  Status operator()(const ScatterRowsPart &part);
  Status operator()(const ExchangePart &part);
  Status operator()(const GatherPart &part);

private:
  /// Whether a view is read or written, and whether it may be in another rank's
  /// memory (Any).
  enum Use { Reads, ReadsAny, Writes, WritesAny };

  Status flagOf(int other, int64_t flag) const;
  Status groupOf(int group) const;
  Status buffer(const View &view, Use use) const;
  Status strided(const View &view, std::span<const int64_t> sizes,
                 Use use) const;
  Status rowMajor(const View &view, std::span<const int64_t> sizes,
                  Use use) const;
  Status sameType(const View &a, const View &b) const;
  Status numbers(const View &view) const;
  Status table(const View &table, const View &indices, const View &rows,
               const View &to, int64_t tableRows, int64_t rowSize,
               int64_t count) const;

  Status loop(const Loop &loop);
  Status operand(const Loop &loop, const LoopOperand &operand, bool isInput);
  Status scratch(const Loop &loop, const LoopOperand &operand, bool isInput);

  ElementType type(const View &view) const {
    return rankPlan.buffers[static_cast<size_t>(view.buffer)].type;
  }

  const Plan &plan;
  const RankPlan &rankPlan;
  int rank;
  /// The type and last element of each scratch array that earlier loops write.
  std::map<int, std::pair<ElementType, int64_t>> scratches;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PARTCHECKER_H
