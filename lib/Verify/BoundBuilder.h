//===- BoundBuilder.h - Building programs of error bounds -------*- C++ -*-===//
//
// Private to the error bounds: the arithmetic of bounds in terms of ccn's
// operations. A bound that is null stands for 0 everywhere, so what is exact
// costs nothing.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_BOUNDBUILDER_H
#define CCN_LIB_VERIFY_BOUNDBUILDER_H

#include "lib/Verify/ErrorBound.h"

#include "mlir/IR/Builders.h"

namespace ccn::verify {

/// What a value of the program is in the program of bounds.
struct Bounded {
  /// In f64 if it is a float.
  mlir::Value value;
  /// f64; null if exact. May be a scalar that stands for all elements. For
  /// integers and bools 0, or an infinity where the value is unknown.
  mlir::Value error;
};

/// Makes operations with inferred types, in which local takes the place of
/// partial.
class BoundBuilder {
public:
  BoundBuilder(mlir::OpBuilder &builder, Arithmetic arithmetic,
               int64_t numRanks)
      : builder(builder), arithmetic(arithmetic), numRanks(numRanks) {}

  void setLocation(mlir::Location location) { loc = location; }
  /// Whether an operation could not be made, which was reported.
  bool hasFailed() const { return failed; }

  template <typename OpTy, typename... Args> mlir::Value make(Args &&...args) {
    mlir::OperationState state(loc, OpTy::getOperationName());
    // The result type is inferred below, where it may fail.
    OpTy::build(builder, state, builder.getNoneType(),
                std::forward<Args>(args)...);
    state.types.clear();
    if (mlir::failed(OpTy::inferReturnTypes(
            builder.getContext(), loc, state.operands,
            state.attributes.getDictionary(builder.getContext()),
            state.getRawProperties(), {}, state.types))) {
      failed = true;
      return constant(0);
    }
    return localize(builder.create(state)->getResult(0));
  }

  /// The operation, of a LayoutOpInterface, on other operands.
  mlir::Value remake(mlir::Operation *op, mlir::ValueRange operands);
  /// Partial becomes local: a bound or magnitude of what is pending on each
  /// rank is not itself a part of a sum.
  mlir::Value localize(mlir::Value value);

  mlir::Value constant(double number);
  mlir::Value add(mlir::Value a, mlir::Value b) { return make<AddOp>(a, b); }
  mlir::Value subtract(mlir::Value a, mlir::Value b) {
    return make<SubOp>(a, b);
  }
  mlir::Value multiply(mlir::Value a, mlir::Value b) {
    return make<MulOp>(a, b);
  }
  mlir::Value scale(double factor, mlir::Value a) {
    return multiply(a, constant(factor));
  }
  mlir::Value maximum(mlir::Value a, mlir::Value b) {
    return make<MaxOp>(a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return make<SelectOp>(condition, a, b);
  }
  mlir::Value compare(ComparePredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return make<CompareOp>(predicate, a, b);
  }
  mlir::Value infinity();

  /// |v| in f64, of any element type.
  mlir::Value magnitude(mlir::Value v);
  /// |v| + e, the most that an operand can be.
  mlir::Value most(const Bounded &x);
  /// Sum and maximum of bounds that may be null.
  mlir::Value plus(mlir::Value a, mlir::Value b);
  mlir::Value larger(mlir::Value a, mlir::Value b);
  /// 0 in f64, of the shape and layout of v.
  mlir::Value zeroLike(mlir::Value v);
  /// The bound, null or a scalar included, in the shape and layout of v.
  mlir::Value fit(mlir::Value error, mlir::Value v);
  /// `p`, unknown where `error` is: a function may make an infinity finite.
  mlir::Value unknownWith(mlir::Value p, mlir::Value error);
  /// Unknown where the error is not 0, else 0.
  mlir::Value unknownUnlessExact(mlir::Value error);

  /// The bound of v after an operation that rounds to `element`; `p`, which may
  /// be null, is its bound without. `nonzero` is 0 only where the exact result
  /// is: elsewhere v may be 0 by underflow; if null, it cannot in f64.
  mlir::Value round(mlir::Value v, mlir::Value p, mlir::Type element,
                    mlir::Value nonzero = {});
  /// p + gamma `sum` + L t for a sum of `terms` magnitudes, in any order;
  /// unknown where that may overflow.
  mlir::Value accumulate(mlir::Value sum, mlir::Value p, int64_t terms,
                         mlir::Type element);
  /// The type in which ranks add elements: f32 for 16- and 8-bit floats.
  mlir::Type accumulatorOf(mlir::Type element);
  /// gamma of so many terms; infinite if so many say nothing.
  double gamma(int64_t terms, mlir::Type element) const;
  /// The largest finite value that no order may pass.
  double largest(mlir::Type element) const;
  double smallestNormal(mlir::Type element) const;

private:
  /// `number` where `nonzero` is not 0, else 0.
  mlir::Value constantWhere(mlir::Value nonzero, double number);
  /// The semantics in which an element type is computed on.
  const llvm::fltSemantics &semantics(mlir::Type element) const;

  mlir::OpBuilder &builder;
  mlir::Location loc = builder.getUnknownLoc();
  Arithmetic arithmetic;
  int64_t numRanks;
  bool failed = false;
};

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_BOUNDBUILDER_H
