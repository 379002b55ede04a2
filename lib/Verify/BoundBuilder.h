//===- BoundBuilder.h - Builds programs of error bounds ---------*- C++ -*-===//
//
// Private to the error bounds: builds arithmetic on bounds from operations of
// ccn. A null bound stands for 0 everywhere, so exact values cost nothing.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_BOUNDBUILDER_H
#define CCN_LIB_VERIFY_BOUNDBUILDER_H

#include "lib/Verify/ErrorBound.h"

#include "mlir/IR/Builders.h"

namespace ccn::verify {

/// A value of the first program, in the program of bounds.
struct Bounded {
  /// The value itself; in f64 if it is a float.
  mlir::Value value;
  /// The bound of its error, in f64; null if the value is exact. May be a
  /// scalar that stands for all elements. For integers and bools, 0, or an
  /// infinity where the value is unknown.
  mlir::Value error;
};

/// Makes operations with inferred types, in which partial axes become local.
class BoundBuilder {
public:
  BoundBuilder(mlir::OpBuilder &builder, Arithmetic arithmetic,
               int64_t numRanks)
      : builder(builder), arithmetic(arithmetic), numRanks(numRanks) {}

  void setLocation(mlir::Location location) { loc = location; }
  /// Whether an operation could not be made; the error has been reported.
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

  /// Makes the operation, which has LayoutOpInterface, again on other operands.
  mlir::Value remake(mlir::Operation *op, mlir::ValueRange operands);
  /// Makes partial axes local: a bound or magnitude of a rank's part of a sum
  /// is not itself a part of that sum.
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
  /// |v| + e: the largest magnitude that an operand can have.
  mlir::Value most(const Bounded &x);
  /// The sum and the maximum of two bounds, which may be null.
  mlir::Value plus(mlir::Value a, mlir::Value b);
  mlir::Value larger(mlir::Value a, mlir::Value b);
  /// 0 in f64, with the shape and layout of v.
  mlir::Value zeroLike(mlir::Value v);
  /// A bound, which may be null or a scalar, with the shape and layout of v.
  mlir::Value fit(mlir::Value error, mlir::Value v);
  /// `p`, but unknown where `error` is: a function may map an infinity to a
  /// finite value.
  mlir::Value unknownWith(mlir::Value p, mlir::Value error);
  /// Unknown where `error` is not 0, else 0.
  mlir::Value unknownUnlessExact(mlir::Value error);

  /// The bound of v after an operation that rounds to `element`. `p`, which may
  /// be null, is the bound without the rounding. `nonzero` must be nonzero
  /// wherever the exact result is, even where v underflows to 0; null if v
  /// cannot underflow in f64.
  mlir::Value round(mlir::Value v, mlir::Value p, mlir::Type element,
                    mlir::Value nonzero = {});
  /// p + gamma `sum` + L t, where `sum` is a sum of L = `terms` magnitudes: the
  /// bound of a sum in any order. Unknown where the sum may overflow.
  mlir::Value accumulate(mlir::Value sum, mlir::Value p, int64_t terms,
                         mlir::Type element);
  /// The type in which ranks add elements: f32 for 16- and 8-bit floats.
  mlir::Type accumulatorOf(mlir::Type element);
  /// gamma (ErrorBound.h) for a number of terms; infinite if that is too large
  /// for a bound.
  double gamma(int64_t terms, mlir::Type element) const;
  /// The largest finite value; a sum must not exceed it in any order.
  double largest(mlir::Type element) const;
  double smallestNormal(mlir::Type element) const;

private:
  /// `number` where `nonzero` is not 0; else 0.
  mlir::Value constantWhere(mlir::Value nonzero, double number);
  /// The float semantics in which values of an element type are computed.
  const llvm::fltSemantics &semantics(mlir::Type element) const;

  mlir::OpBuilder &builder;
  mlir::Location loc = builder.getUnknownLoc();
  Arithmetic arithmetic;
  int64_t numRanks;
  bool failed = false;
};

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_BOUNDBUILDER_H
