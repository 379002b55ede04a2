//===- Placement.h - Which part of a tensor a rank holds --------*- C++ -*-===//
//
// A layout and the coordinates of a rank say which part of a tensor the rank
// holds, and which part of it an operation takes there: operands that are less
// cut than the operation's loops are sliced for free.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_PLACEMENT_H
#define CCN_DIALECT_CCN_PLACEMENT_H

#include "dialect/ccn/Ccn.h"

namespace ccn {

/// The part of a tensor that a rank holds: bounds in the global tensor for each
/// dimension.
using TensorPart = llvm::SmallVector<SliceBounds, 4>;

/// The part of a tensor of the shape and layout that `rank` holds. `mesh` has
/// the layout's axes; it is null for a program on one rank.
TensorPart partOf(llvm::ArrayRef<int64_t> shape, const Layout &layout,
                  MeshOp mesh, int64_t rank);
TensorPart partOf(mlir::RankedTensorType type, MeshOp mesh, int64_t rank);

/// The type, without a layout, of the part that `rank` holds.
mlir::RankedTensorType localType(mlir::RankedTensorType type, MeshOp mesh,
                                 int64_t rank);

/// The most elements that any rank holds of a tensor.
int64_t largestPart(mlir::RankedTensorType type, MeshOp mesh);

/// The axes along which ranks hold different values of the whole: those that
/// are partial or local, in the mesh's order.
llvm::SmallVector<mlir::StringAttr> leadingAxes(mlir::RankedTensorType type,
                                                MeshOp mesh);

/// The shape of the external form, in which a tensor enters and leaves a
/// program: its global shape, after one dimension for each of its leading axes.
llvm::SmallVector<int64_t> externalShape(mlir::RankedTensorType type,
                                         MeshOp mesh);

/// The part of the external form that `rank` holds; 1 in each leading
/// dimension.
TensorPart externalPart(mlir::RankedTensorType type, MeshOp mesh, int64_t rank);

/// The layout that an operand of a verified operation has once it is sliced for
/// free: that of its type, but for the axes that cut the operation's loops in
/// other operands too.
Layout slicedOperandLayout(mlir::OpOperand &operand);

} // namespace ccn

#endif // CCN_DIALECT_CCN_PLACEMENT_H
