//===- Views.h - Views of the buffers of a plan -----------------*- C++ -*-===//
//
// Converts `Strided` to views in the IR, and back.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_VIEWS_H
#define CCN_LIB_PLAN_VIEWS_H

#include "dialect/plan/Plan.h"
#include "lib/Plan/Strided.h"

namespace ccn::plan {

/// The strided region that a view is, without the number of its buffer.
Strided stridedOf(mlir::Value view);

/// Makes a view at the builder's insertion point; returns the buffer itself if
/// the view is all of it. Strides that do not matter, those of dimensions of
/// size 1 and of empty views, get a canonical value. The last `reduced`
/// dimensions of a loop's output are reduced: the loop writes the output even
/// if these dimensions are empty.
mlir::Value makeView(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value buffer, const Strided &strided,
                     size_t reduced = 0);

/// Makes views of a plan's buffers, each once, after the buffer's definition.
class ViewMaker {
public:
  /// Reuses the views that `plan` already has.
  explicit ViewMaker(PlanOp plan);

  /// Like the function makeView, but chooses where the view is inserted.
  mlir::Value view(mlir::Location loc, mlir::Value buffer,
                   const Strided &strided, size_t reduced = 0);

private:
  /// The buffer, the view's type, and the rank whose memory it is in; -1 is
  /// this rank.
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
