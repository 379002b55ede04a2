//===- Attention.h - Attention whose warps have roles -----------*- C++ -*-===//
//
// The skeleton of launches that are a product of matrices, a softmax of what it
// gives, the product of that by another matrix, and loops that use each element
// of the result, on the tensor cores of sm_90a. Scores and weights stay in
// registers (device/hopper_attention.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_ATTENTION_H
#define CCN_CODEGEN_GPU_SKELETONS_ATTENTION_H

#include "codegen/gpu/skeletons/WholeProducts.h"

#include "mlir/IR/OwningOpRef.h"

namespace ccn::codegen {

/// A number that depends on where an element of the scores is: strides are of
/// the dimensions of AttentionDims.
struct ScorePlace {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;

  bool operator==(const ScorePlace &) const = default;
};

/// What the elements of scores are numbered by: dimensions of batches, then the
/// row, and the key.
struct AttentionDims {
  llvm::SmallVector<int64_t> sizes;

  int64_t rows() const { return sizes[sizes.size() - 2]; }
  int64_t keys() const { return sizes.back(); }
  llvm::ArrayRef<int64_t> batches() const {
    return llvm::ArrayRef(sizes).drop_back(2);
  }
  /// A place of an array that has these sizes and strides, the last ones of
  /// size 1 at will; none if its dimensions are others.
  std::optional<ScorePlace> placeOf(llvm::ArrayRef<int64_t> sizes,
                                    llvm::ArrayRef<int64_t> strides,
                                    int64_t offset) const;
};

/// constant + row * the row + key * the key is 0 or more.
struct ScoreCondition {
  int64_t constant = 0, row = 0, key = 0;
};

/// How scores are made of products.
struct Scores {
  /// What is computed of a product, not rounded, the elements of `loads`, and
  /// `positions`: f32.
  mlir::OwningOpRef<mlir::func::FuncOp> body;
  struct Load {
    runtime::LoopOperand operand;
    ScorePlace place;
  };
  std::vector<Load> loads;
  std::vector<ScorePlace> positions;
  /// Where all conditions hold, scores may be products times this positive
  /// number.
  std::optional<double> scale;
  std::vector<ScoreCondition> conditions;
  /// Where they do not all hold, scores are this, if there are conditions.
  double excluded = 0;
};

/// An operand whose rows are side by side in no more than one element's
/// distance.
struct AttentionOperand {
  runtime::View view;
  int64_t lines = 0, width = 0, lineStride = 0;
  /// Of AttentionPlan::batchDims.
  llvm::SmallVector<int64_t> strides;
};

/// AttentionTile of device/hopper_attention.cuh.
struct AttentionTile {
  int64_t head = 0, columns = 0, keys = 0;
  int stages = 0;

  static constexpr int64_t rows = 128, threads = 384;
  int64_t sharedBytes() const;
};

struct AttentionPlan : SkeletonPlan {
  explicit AttentionPlan(const KernelSkeleton &skeleton)
      : SkeletonPlan(skeleton), result(skeleton) {}

  /// The product of weights and values, and the loops after it; its operands
  /// and tile are not used.
  WholeProductPlan result;
  AttentionDims dims;
  /// The sizes that the number of a batch consists of, few enough for maps.
  llvm::SmallVector<int64_t> batchDims;
  AttentionOperand q, k, v;
  Scores scores;
  AttentionTile tile;
  /// How many matrices blocks take at the same time.
  int64_t group = 1;
  /// Of all tiles of scores, the part that is not known to be excluded.
  double notEmpty = 1;
  /// Buffers that no memory gets.
  std::vector<int> kept;

  std::optional<WholeWork> wholeWork() const override {
    return WholeWork{tile.rows, tile.keys, kept, /*keepsRows=*/true, notEmpty};
  }
};

/// Reads the loops between two products: what they make of `products`, the
/// first one's result, must be a softmax, in `weights`. Adds the buffers in
/// between to `kept`. False if it is something else.
bool readScores(const LaunchMapper &launch, llvm::ArrayRef<runtime::Part> parts,
                const runtime::View &products, const runtime::View &weights,
                llvm::ArrayRef<int64_t> batch, AttentionPlan &plan);

/// The plan of a launch; null if the skeleton does not take it.
std::unique_ptr<AttentionPlan> matchAttention(const LaunchMapper &launch,
                                              const KernelSkeleton &skeleton);
void mapAttention(LaunchMapper &launch, AttentionPlan &plan);

llvm::Error emitAttention(CudaPart &part, const AttentionPlan &plan);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_ATTENTION_H
