//===- ErrorBound.h - Bounds of rounding errors -----------------*- C++ -*-===//
//
// A schedule may add in another order, so results may differ by rounding, but a
// wrong schedule must still be found. So this makes, from a program, another
// one that computes each value together with a bound of its error. The bound is
// as tight as the values allow: it depends on the terms that cancelled, not
// only on their sum, and on how each later operation carries errors on.
//
// For each exact value x, the second program has v, the first program's value
// in f64, and e, so that |v - x| <= e. The same holds for each value that an
// execution computes in place of v with the reductions in any order (running
// error analysis: N. J. Higham, "Accuracy and Stability of Numerical
// Algorithms", 2nd ed., 2002, sections 3.3 and 4.2). Let u be the unit roundoff
// and t the smallest denormal of an element type, and p the error of the result
// that comes from the operands' errors:
//
// - a rounded operation: e = p + 2 u (|v| + p) + t, with t only where the
//   exact result is not 0;
// - sums and products of L terms x_i (reductions, matmul, conv2d,
//   scatter_rows): ranks may compute parts of them, at most R parts for R
//   ranks. A part is accumulated with unit roundoff u_a, and rounded to the
//   element type if it is a value of the program. With k = 2 L u_a +
//   (R + 2) u and gamma = k / (1 - k), p = p(terms) + gamma sum |x_i| + L t.
//   u_a is that of f32 for 16- and 8-bit floats, and u for others. This holds
//   in any order, since gamma counts the most roundings that a term can meet;
// - sums and products of collectives, with any algorithm: likewise, with u_a
//   and the t of its type in place of u and t, since sums of some ranks' terms
//   are not rounded to the element type. So they do not overflow either where
//   f32 does not;
// - a monotone function: p = max |f(v +- e) - v|; a function with a bounded
//   slope: p = slope e; products, quotients and powers as usual. Each
//   elementwise operation says which of these it is
//   (dialect/ccn/ElementwiseFunction.h);
// - a comparison, or a conversion to integers: exact where the errors cannot
//   change the result, else unknown; a `select` by an unknown condition lies
//   between its operands;
// - movement: e moves like the value. A value that was only moved, or reduced
//   by max or min, is exact.
//
// e is an infinity or NaN where nothing is known: where some order may
// overflow, and where an operand is an infinity or NaN. Such elements cannot be
// compared.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_ERRORBOUND_H
#define CCN_LIB_VERIFY_ERRORBOUND_H

#include "dialect/ccn/Ccn.h"

#include "mlir/IR/OwningOpRef.h"

namespace ccn::verify {

/// The arithmetic whose errors are bounded.
enum class Arithmetic {
  /// Every float is computed in f64.
  Wide,
  /// Each value is computed in its own type.
  Native
};

/// A reduction of many terms.
struct Terms {
  int64_t count = 0;
  /// The element type of the reduced values; null if there is no reduction.
  mlir::Type element;
};

/// A program that computes error bounds.
struct BoundProgram {
  /// A module with one program. It takes the arguments of the first program,
  /// with floats in f64, in the same external form. Its results are the bounds
  /// of the first program's outputs that are not exact, in the same order and
  /// the same external form.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// For each output of the first program, whether it is exact in any order of
  /// additions.
  std::vector<bool> exact;
};

/// Makes the program that computes bounds. Its layouts are those of the first
/// program, except that partial axes become local. Fails, with an error
/// reported, at an operation without a known bound.
mlir::FailureOr<BoundProgram> makeBoundProgram(ProgramOp program,
                                               Arithmetic arithmetic);

/// The longest reduction of floats in a program.
Terms longestReduction(ProgramOp program);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_ERRORBOUND_H
