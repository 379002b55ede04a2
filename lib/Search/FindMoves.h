//===- FindMoves.h - What a schedule could do next --------------*- C++ -*-===//
//
// Finds, from a program's IR alone, lines of a schedule that can be applied to
// it and may make it faster.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_SEARCH_FINDMOVES_H
#define CCN_LIB_SEARCH_FINDMOVES_H

#include "lib/Search/Line.h"

namespace ccn::search {

/// Lines that are applied one after the other, and judged together.
using Move = std::vector<Line>;

/// Finds moves of a program that is the only one of its module. What it finds
/// depends on the program alone, and comes in a fixed order: what is likely to
/// save most first.
///
/// - `split` each all_reduce; with the same move, or alone, `reorder` each
///   all_gather after all that can run on slices, or after some of that;
/// - `slice_state` each of `states` of which slices are stored;
/// - `fuse` the largest sets of values that one kernel can compute, of any
///   operations, or without collectives, products or reductions;
/// - `recompute` what is computed element by element at one of the values that
///   use it, if one kernel can compute it with the others but not with all, and
///   `fuse` both;
/// - `overlap` chains of up to four values of which one communicates;
/// - `bucket` all collectives of one kind.
///
/// Refusals are diagnostics, which the caller is to drop.
class MoveFinder {
public:
  /// `taken` are names that lines may not give, `states` the arguments that may
  /// be stored in slices.
  MoveFinder(ProgramOp program, llvm::StringSet<> taken,
             const llvm::StringSet<> &states);

  std::vector<Move> find();

  // Moves that leave everything in its kernel.

  /// `order` of what communicates, if it has none yet.
  std::vector<Move> findOrders();
  /// `bucket` of collectives that follow each other, up to some sizes, and
  /// `order` of these buckets, if nothing is ordered yet.
  std::vector<Move> findOrderedBuckets();
  /// `algorithm` and `protocol` of what adds up and has none of these.
  std::vector<Move> findChoices();

private:
  /// What a name stands for.
  struct Named {
    std::string name;
    /// All of it; and without stores and constants.
    OpSet all, ops;
    /// Whether `ops` are in the program's own block, and none has a region.
    bool isOpen = false;
    /// Whether they are in that block, or are regions in it.
    bool isTop = false;
  };
  /// Which operations a kernel may have beside those that compute element by
  /// element.
  struct Filter {
    bool collectives, products, reductions;
    bool allows(mlir::Operation *op) const;
  };

  void findNames();
  void splits();
  void reorders();
  void reorder(const Named &named);
  void sliceStates();
  /// `tried` are the names that filters have left so far.
  void fuses(const Filter &filter, std::vector<std::vector<bool>> &tried);
  /// Adds values to a set as long as one kernel can compute it.
  void grow(const Filter &filter, std::vector<bool> &allowed, OpSet &set);
  bool addTo(OpSet &set, const Named &named, const std::vector<bool> &allowed);
  std::vector<std::string> namesOf(mlir::ArrayRef<mlir::Operation *> set,
                                   const std::vector<bool> &allowed) const;
  void recomputes();
  /// What uses a value; none if it is stored, returned or used in a region.
  llvm::SetVector<mlir::Operation *> usersOf(const Named &named);
  void overlaps();
  void buckets();
  /// The names without those whose operations come before those of others.
  std::vector<std::string>
  lastOf(llvm::ArrayRef<const Named *> list,
         const llvm::SetVector<mlir::Operation *> &below) const;
  /// The names of the only collectives of their values.
  std::vector<const Named *> communicating() const;
  bool canFuse(llvm::ArrayRef<mlir::Operation *> ops);
  mlir::InFlightDiagnostic emit();
  /// Gives a line's results names that nothing has.
  Line named(Line line, llvm::ArrayRef<llvm::StringRef> stems) const;
  void add(Line line) { moves.push_back({std::move(line)}); }

  ProgramOp program;
  llvm::StringSet<> taken;
  const llvm::StringSet<> &states;
  mlir::Block *block;
  std::vector<Named> names;
  std::vector<Move> moves;
};

} // namespace ccn::search

#endif // CCN_LIB_SEARCH_FINDMOVES_H
