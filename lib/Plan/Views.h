//===- Views.h - Views of the buffers of a plan -----------------*- C++ -*-===//
//
// From strided parts to views in the IR, and back.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_VIEWS_H
#define CCN_LIB_PLAN_VIEWS_H

#include "dialect/plan/Plan.h"
#include "lib/Plan/Strided.h"

namespace ccn::plan {

/// The strided part that a view is; not the number of its buffer.
Strided stridedOf(mlir::Value view);

/// Makes a view where the builder stands; the buffer itself if that is all of
/// it. Strides that do not matter, of dimensions of one element and of views of
/// nothing, are made alike. The last `reduced` dimensions, of what a loop
/// writes, are reduced: it is written even if these have no elements.
mlir::Value makeView(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value buffer, const Strided &strided,
                     size_t reduced = 0);

/// Makes views of the buffers of a plan, each once, behind the buffers.
class ViewMaker {
public:
  /// Knows the views that the plan has.
  explicit ViewMaker(PlanOp plan);

  /// As the function makeView, but for where the view stands.
  mlir::Value view(mlir::Location loc, mlir::Value buffer,
                   const Strided &strided, size_t reduced = 0);

private:
  /// The buffer, the view's type, and the rank; -1 is the own.
  using Key = std::pair<std::pair<mlir::Value, mlir::Type>, int64_t>;
  static Key keyOf(mlir::Value buffer, mlir::Type type,
                   std::optional<int64_t> rank) {
    return {{buffer, type}, rank.value_or(-1)};
  }

  llvm::DenseMap<Key, mlir::Value> views;
};

/// Removes views of a plan's buffers that nothing uses, and puts the others in
/// the order in which the launches use them.
void tidyViews(PlanOp plan);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_VIEWS_H
