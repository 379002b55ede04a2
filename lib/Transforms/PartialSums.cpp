//===- PartialSums.cpp - Reductions in several steps ----------------------===//
//
// Computes the types of partial sums.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/PartialSums.h"

using namespace mlir;
using namespace ccn;

Type ccn::partialElement(ReduceKind kind, Type element) {
  bool rounds = kind == ReduceKind::sum || kind == ReduceKind::prod;
  return rounds && isFloat(element) && element.getIntOrFloatBitWidth() < 32
             ? Float32Type::get(element.getContext())
             : element;
}

bool ccn::hasPartials(Value value) {
  return Layout::of(cast<RankedTensorType>(value.getType())).hasPartial();
}

RankedTensorType ccn::asLocal(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Layout layout = Layout::of(type);
  SmallVector<PartialAxis> partials(layout.getPartials());
  for (PartialAxis partial : partials)
    layout.setState(partial.axis, {AxisState::Local});
  return layout.getType(type.getShape(), type.getElementType());
}
