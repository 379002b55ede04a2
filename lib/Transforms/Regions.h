//===- Regions.h - Moving operations into a region --------------*- C++ -*-===//
//
// `fuse` and `overlap` both move several operations of a program into the
// region of one operation. That is possible if no path of uses leaves the
// operations and comes back.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_REGIONS_H
#define CCN_LIB_TRANSFORMS_REGIONS_H

#include "lib/Transforms/Rewrites.h"

namespace ccn {

/// Refuses operations for a kernel if NCCL is to run one of them (`choose_c3`).
mlir::LogicalResult checkInKernel(llvm::ArrayRef<mlir::Operation *> ops,
                                  EmitRefusal emit);

/// Moves operations of one block, given in order, into a region.
class RegionBuilder {
public:
  explicit RegionBuilder(llvm::ArrayRef<mlir::Operation *> list);

  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  /// The last operation of a path that leaves the set and comes back; null if
  /// there is none.
  mlir::Operation *findPathBack();
  /// The values that are used outside of the set.
  llvm::SmallVector<mlir::Value> findOutputs() const;
  /// Moves operations that depend on the set behind its last operation. Then
  /// moves the set into the region of an operation that `create` makes in that
  /// place, with the outputs' types as result types. findPathBack() must have
  /// returned null before.
  mlir::Operation *
  build(mlir::RewriterBase &rewriter,
        llvm::function_ref<mlir::Operation *(mlir::Location, mlir::TypeRange)>
            create);

private:
  /// The operation of the set's block that contains `op` or is `op`.
  mlir::Operation *topLevel(mlir::Operation *op) const {
    return block->findAncestorOpInBlock(*op);
  }
  bool contains(mlir::Operation *op) const { return set.contains(op); }

  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseSet<mlir::Operation *> set;
  /// The operations that depend on the set but are not in it; findPathBack()
  /// finds them.
  llvm::DenseSet<mlir::Operation *> left;
  mlir::Block *block;
};

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_REGIONS_H
