//===- Placement.cpp - Which part of a tensor a rank holds ----------------===//
//
// Everything follows from a rank's coordinates and sliceBounds.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Placement.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ccn;

TensorPart ccn::partOf(ArrayRef<int64_t> shape, const Layout &layout,
                       MeshOp mesh, int64_t rank) {
  SmallVector<int64_t> position;
  if (mesh)
    position = mesh.getCoordinates(rank);
  TensorPart part;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    SmallVector<int64_t> sizes, coordinates;
    for (StringAttr axis : layout.getAxes(dim)) {
      sizes.push_back(mesh.getAxisSize(axis));
      coordinates.push_back(position[*mesh.getAxisIndex(axis)]);
    }
    part.push_back(sliceBounds(size, sizes, coordinates));
  }
  return part;
}

TensorPart ccn::partOf(RankedTensorType type, MeshOp mesh, int64_t rank) {
  return partOf(type.getShape(), Layout::of(type), mesh, rank);
}

RankedTensorType ccn::localType(RankedTensorType type, MeshOp mesh,
                                int64_t rank) {
  auto sizes = llvm::map_to_vector(partOf(type, mesh, rank),
                                   [](SliceBounds b) { return b.size; });
  return RankedTensorType::get(sizes, type.getElementType());
}

int64_t ccn::largestPart(RankedTensorType type, MeshOp mesh) {
  // Rank 0 has the first slice along each axis, and no later slice is larger.
  return localType(type, mesh, 0).getNumElements();
}

SmallVector<StringAttr> ccn::leadingAxes(RankedTensorType type, MeshOp mesh) {
  SmallVector<StringAttr> axes;
  if (!mesh)
    return axes;
  Layout layout = Layout::of(type);
  for (auto axis : mesh.getAxisNames().getAsRange<StringAttr>()) {
    AxisState::Kind kind = layout.getState(axis).kind;
    if (kind == AxisState::Partial || kind == AxisState::Local)
      axes.push_back(axis);
  }
  return axes;
}

SmallVector<int64_t> ccn::externalShape(RankedTensorType type, MeshOp mesh) {
  SmallVector<int64_t> shape;
  for (StringAttr axis : leadingAxes(type, mesh))
    shape.push_back(mesh.getAxisSize(axis));
  llvm::append_range(shape, type.getShape());
  return shape;
}

TensorPart ccn::externalPart(RankedTensorType type, MeshOp mesh, int64_t rank) {
  TensorPart part;
  for (StringAttr axis : leadingAxes(type, mesh))
    part.push_back({mesh.getCoordinates(rank)[*mesh.getAxisIndex(axis)], 1});
  llvm::append_range(part, partOf(type, mesh, rank));
  return part;
}

static Layout layoutOf(Value value) {
  return Layout::of(cast<RankedTensorType>(value.getType()));
}

/// Of the axes that cut two dimensions that run in one loop, the longer list;
/// inference has checked that it continues the other.
static void shareLoop(Layout &layout, unsigned dim, const Layout &other,
                      unsigned otherDim) {
  if (other.getAxes(otherDim).size() > layout.getAxes(dim).size())
    layout.setAxes(dim, other.getAxes(otherDim));
}

Layout ccn::slicedOperandLayout(OpOperand &operand) {
  Operation *op = operand.getOwner();
  Layout layout = layoutOf(operand.get());
  unsigned rank = layout.getRank();
  auto isOperand = [&](OpOperand &other) { return &operand == &other; };
  auto share = [&](unsigned dim, Value other, unsigned otherDim) {
    shareLoop(layout, dim, layoutOf(other), otherDim);
  };
  /// Dimensions from `first` on run with the result's of the same number.
  auto shareWithResult = [&](unsigned first) {
    for (unsigned dim = first; dim < rank; ++dim)
      share(dim, op->getResult(0), dim);
  };
  llvm::TypeSwitch<Operation *>(op)
      // Scalars have no dimension and go with any shape.
      .Case<ElementwiseOpInterface, ConcatOp>([&](auto) { shareWithResult(0); })
      .Case([&](MatmulOp op) {
        unsigned batches = op.getType().getRank() - 2;
        unsigned bBatches = op.getRhs().getType().getRank() - 2;
        if (isOperand(op.getLhsMutable())) {
          for (unsigned dim = 0; dim <= batches; ++dim)
            share(dim, op.getResult(), dim);
          share(batches + 1, op.getRhs(), bBatches);
        } else {
          for (unsigned dim = 0; dim < bBatches; ++dim)
            share(dim, op.getResult(), dim);
          share(bBatches, op.getLhs(), batches + 1);
          share(bBatches + 1, op.getResult(), batches + 1);
        }
      })
      .Case([&](Conv2dOp op) {
        bool isImage = isOperand(op.getInputMutable());
        share(0, op.getResult(), isImage ? 0 : 1);
        share(1, isImage ? op.getFilter() : op.getInput(), 1);
      })
      .Case([&](GatherRowsOp op) {
        if (isOperand(op.getTableMutable()))
          shareWithResult(1);
        else
          share(0, op.getResult(), 0);
      })
      .Case([&](ScatterRowsOp op) {
        if (!isOperand(op.getIndicesMutable()))
          shareWithResult(1);
      });
  return layout;
}
