//===- Regions.h - Moving operations into a region --------------*- C++ -*-===//
//
// What fusing and overlapping have in common: operations of a program that
// stand apart become one operation with a region, which is possible if no path
// leaves them and comes back.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_REGIONS_H
#define CCN_LIB_TRANSFORMS_REGIONS_H

#include "lib/Transforms/Rewrites.h"

namespace ccn {

/// Refuses a collective among operations of a kernel that NCCL is to run
/// (`choose_c3`).
mlir::LogicalResult checkInKernel(llvm::ArrayRef<mlir::Operation *> ops,
                                  EmitRefusal emit);

/// Operations of one block, in order, that are to become one.
class RegionBuilder {
public:
  explicit RegionBuilder(llvm::ArrayRef<mlir::Operation *> list);

  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  /// The last operation of a path that leaves the set and comes back; null if
  /// there is none.
  mlir::Operation *findPathBack();
  /// The values that are used outside.
  llvm::SmallVector<mlir::Value> findOutputs() const;
  /// Moves what depends on the set behind it and the set into the region of an
  /// operation that `create` makes with the outputs' types, in place of the
  /// last one. Requires that findPathBack() gave null.
  mlir::Operation *
  build(mlir::RewriterBase &rewriter,
        llvm::function_ref<mlir::Operation *(mlir::Location, mlir::TypeRange)>
            create);

private:
  /// The operation of the set's block that holds `op`, or is it.
  mlir::Operation *topLevel(mlir::Operation *op) const {
    return block->findAncestorOpInBlock(*op);
  }
  bool contains(mlir::Operation *op) const { return set.contains(op); }

  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Operation *> set;
  /// What depends on the set without being in it; of findPathBack().
  llvm::DenseSet<mlir::Operation *> left;
  mlir::Block *block;
};

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_REGIONS_H
