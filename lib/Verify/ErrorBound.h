//===- ErrorBound.h - How far rounding may lead a program -------*- C++ -*-===//
//
// A schedule may add in another order, so results may differ by rounding; a
// wrong schedule must not hide behind that. This makes, from a program, another
// one that computes beside each value a bound of its error, so the bound is as
// tight as the values at hand allow: it knows the terms that cancelled, not
// only their sum, and how far each later operation carries an error.
//
// For each value x the second program has v, the program's own value in f64,
// and e, so that |v - x| <= e for the exact x, and likewise for what any
// execution of the same reductions in any order computes in place of v (running
// error analysis: N. J. Higham, "Accuracy and Stability of Numerical
// Algorithms", 2nd ed., 2002, sections 3.3 and 4.2). With u the unit roundoff
// and t the smallest denormal of an element type, p what the operands' errors
// become:
//
// - a rounded operation: e = p + 2 u (|v| + p) + t, t only where the exact
//   result is not 0;
// - sums and products of L terms x_i (reductions, matmul, conv2d,
//   scatter_rows), which accumulate with u_a, are cut along R ranks, and are
//   rounded to the element type where a part is a value: with k = 2 L u_a +
//   (R + 2) u and gamma = k / (1 - k), p = p(terms) + gamma sum |x_i| + L t.
//   u_a is u, but that of f32 for 16- and 8-bit floats. In any order, as
//   gamma counts the roundings that a term meets at most;
// - those of collectives, by whatever algorithm, with u_a and the t of its type
//   in place of u and t: sums of some ranks' terms are not rounded to the
//   element type. So neither do they overflow where f32 does not;
// - a monotone function: p = max |f(v +- e) - v|; one whose slope has a bound:
//   p = slope e; products, quotients and powers as usual. Each elementwise
//   operation says which of these it is (dialect/ccn/ElementwiseFunction.h);
// - a comparison, a conversion to integers: exact where the errors do not
//   reach the other outcome, else unknown; `select` by an unknown condition
//   lies between its operands;
// - movement: e moves as the value does. A value that was only moved, or
//   reduced by max or min, is exact.
//
// e is an infinity or NaN where nothing is known: what some order may overflow,
// and what follows from an infinity or NaN. Such elements cannot be compared.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_ERRORBOUND_H
#define CCN_LIB_VERIFY_ERRORBOUND_H

#include "dialect/ccn/Ccn.h"

#include "mlir/IR/OwningOpRef.h"

namespace ccn::verify {

/// The arithmetic of which the bounds are.
enum class Arithmetic {
  /// Every float in f64.
  Wide,
  /// Each value in its own type.
  Native
};

/// A reduction of many terms.
struct Terms {
  int64_t count = 0;
  /// The element type of what is reduced; null if there is no reduction.
  mlir::Type element;
};

struct BoundProgram {
  /// A module with one program. It takes the arguments of the first in f64, in
  /// the same external form; its results are the bounds of what the first
  /// leaves, in that order, in the same external form, but for what is exact.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// For each value that the first leaves, whether it is exact in any order.
  std::vector<bool> exact;
};

/// Makes the program that computes bounds. The layouts of both verify by the
/// same inference; what is partial is local in the second. Fails, with an error
/// reported, at an operation that it does not know.
mlir::FailureOr<BoundProgram> makeBoundProgram(ProgramOp program,
                                               Arithmetic arithmetic);

/// The longest reduction of floats in a program.
Terms longestReduction(ProgramOp program);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_ERRORBOUND_H
