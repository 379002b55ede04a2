//===- Search.h - The search for a schedule ---------------------*- C++ -*-===//
//
// Looks for the lines of a schedule that make a program fastest by prediction.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_SEARCH_SEARCH_H
#define CCN_LIB_SEARCH_SEARCH_H

#include "lib/Search/FindMoves.h"

#include <functional>
#include <limits>
#include <optional>

namespace ccn::search {

struct SearchOptions {
  /// Predicted microseconds of the program that is alone in a module, to which
  /// lines were applied; none if it cannot run so.
  std::function<std::optional<double>(mlir::ModuleOp)> price;
  /// About how long it takes, only to compare programs: those are priced first
  /// that are likely to be fast.
  std::function<double(ProgramOp)> estimate;
  /// Names that lines may not give.
  llvm::StringSet<> taken;
  /// The arguments that may be stored in slices, which whoever runs the program
  /// then passes so.
  llvm::StringSet<> states;
  /// How many programs are priced at most, but for a few in the end.
  int64_t maxPriced = 100;
  /// How much work it is to price a program, in any unit, and how much is done
  /// at most, but for a few programs that are priced in any case. Counted
  /// rather than measured, so that the result is the same in every run.
  std::function<double(ProgramOp)> workOf = [](ProgramOp) { return 1.0; };
  double maxWork = std::numeric_limits<double>::infinity();
  /// A move may cost so many times what the program took before it, or before
  /// any earlier move, for the sake of moves that come after it.
  double relaxed = 1.3;
  /// How many of the next best schedules are kept, as a measurement may find
  /// one of them faster.
  size_t maxOthers = 0;
};

struct PricedMove {
  Move lines;
  /// Predicted microseconds without it, but with those before it, and with it.
  double before = 0, after = 0;
};

/// A schedule beside the one that was found.
struct OtherSchedule {
  Move lines;
  /// Predicted microseconds.
  double us = 0;
};

struct SearchResult {
  /// Predicted microseconds of the program as it was, and with all moves.
  double plain = 0, found = 0;
  std::vector<PricedMove> moves;
  /// What could be done next, by time, of what was priced; none of these is
  /// faster.
  std::vector<PricedMove> left;
  /// The next best schedules, by time.
  std::vector<OtherSchedule> others;
  /// How many programs were priced, the how manieth of which is the one that
  /// was found; how many were equal to an earlier one, or their move was
  /// refused; whether some were not priced, as it would have been too many.
  int64_t priced = 0, bestAt = 0, equal = 0, refused = 0;
  bool isCut = false;
};

/// Searches for the only program of a module; the result is the same in every
/// run. Best first, with moves that cost at first (Jia et al., "Optimizing DNN
/// Computation with Relaxed Graph Substitutions", 2019): of all programs that
/// were reached, the next to be priced is the one that is likely to be fastest,
/// by the price of the program before its move and the ratio of their
/// estimates. In the end choices and numbers are tried, and moves that save
/// nothing are taken back. Fails if the program cannot be priced.
mlir::FailureOr<SearchResult> searchSchedule(mlir::ModuleOp module,
                                             const SearchOptions &options);

} // namespace ccn::search

#endif // CCN_LIB_SEARCH_SEARCH_H
