//===- Shapes.h - Small sizes at which programs are verified ----*- C++ -*-===//
//
// A program is verified at small sizes instead of its own: a few elements per
// rank, sizes that no axis of the mesh divides, sizes smaller than the mesh.
// The sizes of a file are its integer params and the numbers that it uses as
// sizes. This finds values for them at which the program still compiles and its
// schedule still applies.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_SHAPES_H
#define CCN_LIB_VERIFY_SHAPES_H

#include "lib/Driver/Phases.h"

namespace ccn::verify {

/// Limits on the size and the number of programs.
struct Budget {
  /// The most elements of all values on all ranks.
  int64_t elements = 1 << 20;
  /// The most operations on elements, such as multiplications, on all ranks.
  int64_t work = 1 << 25;
  /// The largest value that a param may have after it is shrunk.
  int64_t largestParam = 64;
  /// How many programs of different sizes to find.
  unsigned sizes = 6;
  /// How many times to compile at most.
  unsigned attempts = 200;
};

/// A program at one size, before and after its schedule.
struct SizedProgram {
  /// The names and values of the integer params that can be set, and of numbers
  /// used as sizes, as `-D` names them (frontend::LowerOptions). Empty for a
  /// program that has neither.
  std::vector<std::pair<std::string, std::string>> params;
  mlir::OwningOpRef<mlir::ModuleOp> before, after;

  /// The params in words, such as `N = 5, M = 3`.
  std::string str() const;
};

/// Compiles a program at several sizes. First come small sizes of many kinds
/// (odd, 1, smaller than the mesh, not divisible by it, its multiples). If the
/// program needs relations between its params, its own sizes are then made
/// smaller, by dividing one or two params by common factors. The program's own
/// sizes are used too, if they are within the budget. If all of these are too
/// large, numbers used as sizes change like params, equal numbers together.
/// Sizes are skipped if the program is wrong there, if a numbered condition
/// refuses the schedule, or if an operation that the schedule names does not
/// exist there.
///
/// The schedule must have been accepted at the program's own sizes, compiled
/// with `options`. No phase is dumped. `before` holds the program after
/// Phase::Parse.
///
/// Fails, with errors reported, if the schedule fails in any other way at sizes
/// at which the program is right. The list is empty if no sizes within the
/// budget were found.
mlir::FailureOr<std::vector<SizedProgram>>
findSizes(const SourceFile &source, mlir::MLIRContext *context,
          const CompileOptions &options, const Budget &budget,
          Diagnostics &diagnostics);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_SHAPES_H
