//===- Views.cpp - Views of the buffers of a plan -------------------------===//
//
// Gives views of the same elements the same type, so that they can be compared.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Views.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

Strided plan::stridedOf(Value view) {
  auto [offset, strides] = stridesOf(view);
  Strided result;
  result.offset = offset;
  result.sizes = Sizes(cast<MemRefType>(view.getType()).getShape());
  result.strides = Sizes(ArrayRef<int64_t>(strides));
  result.rank = rankOf(view);
  return result;
}

/// The type of a view of a buffer.
static MemRefType viewType(MemRefType whole, const Strided &strided,
                           size_t reduced) {
  ArrayRef<int64_t> kept = ArrayRef(strided.sizes).drop_back(reduced);
  // Strides of dimensions of size 1 do not matter; those of row-major order
  // make the printed type short.
  Sizes strides = strided.strides, natural = rowMajorStrides(strided.sizes);
  int64_t offset = strided.offset;
  bool isWritten = reduced && countOf(kept) > 0;
  if (strided.count() == 0 && !isWritten) {
    strides = natural;
    offset = 0;
  }
  for (size_t dim = 0; dim < strides.size(); ++dim)
    if (strided.sizes[dim] <= 1 && strided.count() > 0)
      strides[dim] = strided.isRowMajor() ? natural[dim] : 0;
  // A result that reduces no elements, or one, is written nevertheless.
  if (isWritten)
    std::fill(strides.end() - static_cast<long>(reduced), strides.end(), 0);
  MemRefLayoutAttrInterface layout;
  if (offset != 0 || strides != natural)
    layout = StridedLayoutAttr::get(whole.getContext(), offset, strides);
  return MemRefType::get(strided.sizes, whole.getElementType(), layout,
                         whole.getMemorySpace());
}

static Value makeView(OpBuilder &builder, Location loc, Value buffer,
                      MemRefType type, std::optional<int64_t> rank) {
  if (type == buffer.getType() && !rank)
    return buffer;
  return ViewOp::create(builder, loc, type, buffer,
                        rank ? builder.getI64IntegerAttr(*rank)
                             : IntegerAttr());
}

Value plan::makeView(OpBuilder &builder, Location loc, Value buffer,
                     const Strided &strided, size_t reduced) {
  return ::makeView(
      builder, loc, buffer,
      viewType(cast<MemRefType>(buffer.getType()), strided, reduced),
      strided.rank);
}

ViewMaker::ViewMaker(PlanOp plan) {
  for (auto view : plan.getBody().getOps<ViewOp>())
    views.try_emplace(keyOf(view.getBuffer(), view.getType(), rankOf(view)),
                      view.getView());
}

Value ViewMaker::view(Location loc, Value buffer, const Strided &strided,
                      size_t reduced) {
  MemRefType type =
      viewType(cast<MemRefType>(buffer.getType()), strided, reduced);
  Value &made = views[keyOf(buffer, type, strided.rank)];
  if (made)
    return made;
  OpBuilder builder(buffer.getContext());
  builder.setInsertionPointAfterValue(buffer);
  made = ::makeView(builder, loc, buffer, type, strided.rank);
  return made;
}

void plan::tidyViews(PlanOp plan) {
  llvm::SetVector<ViewOp> used;
  auto launches = plan.getBody().getOps<LaunchOp>();
  for (LaunchOp launch : launches)
    for (auto part : launch.getBody().getOps<PartOpInterface>())
      for (const Access &access : part.getAccesses())
        if (auto view = access.getView().getDefiningOp<ViewOp>();
            view && view->getParentOp() == plan.getOperation())
          used.insert(view);
  for (ViewOp view :
       llvm::make_early_inc_range(plan.getBody().getOps<ViewOp>()))
    if (view.use_empty())
      view.erase();
  for (ViewOp view : used)
    view->moveBefore(*launches.begin());
}
