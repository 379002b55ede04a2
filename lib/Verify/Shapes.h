//===- Shapes.h - Small sizes of a program ----------------------*- C++ -*-===//
//
// What holds at the sizes of a real program is shown at small ones: a few
// elements a rank, sizes that no axis of the mesh divides, sizes smaller than
// the mesh. The sizes of a file are its integer params, and the numbers that
// stand in the place of sizes; this finds values of them at which the program
// still compiles and its schedule still applies.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_SHAPES_H
#define CCN_LIB_VERIFY_SHAPES_H

#include "lib/Driver/Phases.h"

namespace ccn::verify {

/// How large the programs may be.
struct Budget {
  /// The elements of all values of all ranks.
  int64_t elements = 1 << 20;
  /// The multiplications and other operations on elements, of all ranks.
  int64_t work = 1 << 25;
  /// The most that a param may be, when it is shrunk.
  int64_t largestParam = 64;
  /// How many sizes to find.
  unsigned sizes = 6;
  /// How many times to compile, at the most, while looking for them.
  unsigned attempts = 200;
};

/// A program at one size, before and after its schedule.
struct SizedProgram {
  /// The integer params that may be set, and numbers in the place of sizes as
  /// `-D` names them (frontend::LowerOptions), and what they are; empty for a
  /// program without.
  std::vector<std::pair<std::string, std::string>> params;
  mlir::OwningOpRef<mlir::ModuleOp> before, after;

  /// `N = 5, M = 3`.
  std::string str() const;
};

/// Compiles a program at several sizes: first small ones of many kinds (odd, 1,
/// smaller than the mesh, not divided by it, its multiples), then, where a
/// program needs relations between its params, values from the program's own by
/// dividing one param or two by common factors; also the program's own, if they
/// are within the budget. Where all of these are too large, sizes that are
/// numbers change like params, equal ones together. Sizes at which the program
/// is wrong are passed over, and those at which the schedule is refused by a
/// numbered condition, or finds that what it names has vanished.
///
/// At the program's own sizes the schedule must have been accepted. `options`
/// are those it was compiled with; no phase is dumped. What stands in the
/// modules' `before` is the program after Phase::Parse.
///
/// Fails, with errors reported, where a schedule fails in any other way at a
/// size at which the program is right. The list is empty if no size within the
/// budget was found.
mlir::FailureOr<std::vector<SizedProgram>>
findSizes(const SourceFile &source, mlir::MLIRContext *context,
          const CompileOptions &options, const Budget &budget,
          Diagnostics &diagnostics);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_SHAPES_H
