//===- SymbolicKernels.h - Kernels on symbols -------------------*- C++ -*-===//
//
// The interpreter's kernels on expressions instead of numbers. Tensors have
// element type i64 and hold the ids of expressions, so all code that only moves
// elements works unchanged.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_SYMBOLICKERNELS_H
#define CCN_VERIFY_SYMBOLICKERNELS_H

#include "lib/Interpreter/Kernels.h"
#include "lib/Interpreter/Movement.h"
#include "lib/Verify/Expression.h"
#include "synth/Support.h"

namespace ccn::verify {

/// Limits on the cost of symbolic execution.
struct SymbolicBudget {
  synth::Limits limits;
  /// The most arguments of all expressions together.
  int64_t size = 20'000'000;
};

/// Floats and integers are reals without rounding; a bool is a truth value.
///
/// - Casts between floats, from integers, and to wider integers change nothing.
///   Casts to bool compare with 0. Other casts, remainders, integer quotients
///   and the functions of C's library are functions of which only the name is
///   known; all other functions are defined by these
///   (dialect/ccn/ScalarFunctions.h).
/// - dropout keeps an element if a predicate of the seed, the global index and
///   the rate is true.
/// - Lookups of rows choose among all rows of the table.
/// - The maximum of no elements, -inf, changes no maximum (likewise +inf for
///   minima); in other operations it is a number of which nothing is known.
///
/// NaN, a quotient by the constant 0, a mean of no elements, a constant index
/// out of range, and exceeding the budget are errors.
class SymbolicKernels : public interp::Kernels {
public:
  using ElementType = runtime::ElementType;
  using HostTensor = runtime::HostTensor;
  using Tensor = Result<HostTensor>;

  SymbolicKernels(Expressions &exprs, SymbolicBudget budget)
      : exprs(exprs), budget(budget) {}

  /// A tensor of new symbols, named like "x[1, 0]".
  Tensor symbols(std::string_view name, ElementType type,
                 const runtime::Shape &shape);

  /// Fails if the budget is used up.
  Status checkBudget();

  ElementType storageOf(ElementType) override { return ElementType::I64; }
  Tensor real(ElementType type, double value) override;
  Tensor integer(ElementType type, int64_t value) override;
  Tensor zeros(ElementType type, const runtime::Shape &shape) override;
  /// New symbols, about which nothing is known. So an output that is proved
  /// equal does not depend on them.
  Tensor spoiled(ElementType type, const HostTensor &row,
                 const runtime::Shape &shape) override;
  Tensor elementwise(const ElementwiseFunction &function, ElementType type,
                     std::span<const HostTensor> operands) override;
  Tensor compare(interp::CompareOp op, ElementType type, const HostTensor &a,
                 const HostTensor &b) override;
  Tensor select(const HostTensor &condition, const HostTensor &a,
                const HostTensor &b) override;
  Tensor cast(ElementType from, ElementType to, const HostTensor &x) override;
  Tensor dropout(const HostTensor &x, double rate, const HostTensor &seed,
                 const runtime::GlobalPosition &position) override;
  Tensor iota(const runtime::Shape &shape, size_t dim, int64_t first) override;
  Tensor matmul(const HostTensor &a, const HostTensor &b) override;
  Tensor conv2d(const HostTensor &x, const HostTensor &w,
                const interp::Conv2dOptions &options) override;
  Tensor reduce(interp::ReduceKind kind, ElementType type, const HostTensor &x,
                const std::vector<int64_t> &dims, double meanDivisor) override;
  Tensor combine(interp::ReduceKind kind, ElementType type,
                 const std::vector<HostTensor> &tensors) override;
  Tensor gatherRows(const HostTensor &table,
                    const HostTensor &indices) override;
  Tensor scatterRows(const HostTensor &x, const HostTensor &indices,
                     const HostTensor &rows) override;

private:
  /// A tensor whose elements are element(0), element(1), ..., each an
  /// expression or an error.
  template <typename F> Tensor generate(runtime::Shape shape, F element);
  Expr compareOf(interp::CompareOp op, Expr a, Expr b);
  Expr castOf(ElementType from, ElementType to, Expr x);
  Result<Expr> reductionOf(interp::ReduceKind kind, ElementType type,
                           std::vector<Expr> args, double meanDivisor);
  Status checkIndices(const HostTensor &indices, int64_t rows);

  Expressions &exprs;
  SymbolicBudget budget;
  int64_t numSpoiled = 0;
};

} // namespace ccn::verify

#endif // CCN_VERIFY_SYMBOLICKERNELS_H
