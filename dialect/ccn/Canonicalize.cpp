//===- Canonicalize.cpp - Canonicalization patterns -----------------------===//
//
// The identities between collectives, and casts where they cost least. They
// keep every bit, but for the sum of two all_reduces, which adds in another
// order. An operation that takes the place of another takes over its
// discardable attributes too: schedules know values by them.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Ccn.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ccn;

/// What an inout argument holds after a store is what was stored: only the next
/// store has to go through the result.
LogicalResult UpdateOp::canonicalize(UpdateOp op, PatternRewriter &rewriter) {
  bool changed = false;
  rewriter.replaceUsesWithIf(op.getResult(), op.getValue(),
                             [&](OpOperand &use) {
                               bool replace = !isTarget(use);
                               changed |= replace;
                               return replace;
                             });
  return success(changed);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

OpFoldResult SliceOp::fold(FoldAdaptor) {
  // slice(all_gather(x)) is x if the pieces are the same.
  if (auto gather = getInput().getDefiningOp<AllGatherOp>())
    if (gather.getInput().getType() == getType() &&
        gather.getAxes() == getAxes())
      return gather.getInput();
  return {};
}

OpFoldResult AllGatherOp::fold(FoldAdaptor) {
  // all_gather(slice(x)) is x.
  if (auto slice = getInput().getDefiningOp<SliceOp>())
    if (slice.getInput().getType() == getType() && slice.getAxes() == getAxes())
      return slice.getInput();
  return {};
}

namespace {

/// Replaces an operation by a new one, which gets its attributes.
template <typename NewOp, typename... Args>
void replaceAs(PatternRewriter &rewriter, Operation *op, Args &&...args) {
  auto newOp =
      NewOp::create(rewriter, op->getLoc(), std::forward<Args>(args)...);
  newOp->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, newOp);
}

/// all_gather(reduce_scatter(x)) is all_reduce(x).
struct GatherOfReduceScatter : OpRewritePattern<AllGatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllGatherOp op,
                                PatternRewriter &rewriter) const override {
    auto scatter = op.getInput().getDefiningOp<ReduceScatterOp>();
    if (!scatter || !scatter->hasOneUse() || scatter.getAxes() != op.getAxes())
      return failure();
    replaceAs<AllReduceOp>(rewriter, op, scatter.getKind(), scatter.getInput(),
                           op.getAxes());
    return success();
  }
};

/// all_reduce(a) + all_reduce(b) is all_reduce(a + b), with half the traffic.
/// Not of 16- and 8-bit floats: the all_reduce accumulates them in f32, a + b
/// would be rounded, or overflow, before.
struct AddOfAllReduces : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    auto a = op.getLhs().getDefiningOp<AllReduceOp>();
    auto b = op.getRhs().getDefiningOp<AllReduceOp>();
    if (!a || !b || a == b || !a->hasOneUse() || !b->hasOneUse() ||
        a.getKind() != ReduceKind::sum || b.getKind() != ReduceKind::sum ||
        a.getAxes() != b.getAxes() ||
        a.getInput().getType() != b.getInput().getType())
      return failure();
    Type element = op.getType().getElementType();
    if (isFloat(element) && element.getIntOrFloatBitWidth() < 32)
      return failure();
    auto sum = AddOp::create(rewriter, op.getLoc(), a.getInput(), b.getInput());
    sum->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replaceAs<AllReduceOp>(rewriter, op, ReduceKind::sum, sum, a.getAxes());
    return success();
  }
};

/// A widening cast before an all_gather moves behind it, a narrowing one behind
/// it moves before: fewer bytes travel, and a cast commutes with movement.
struct CastBeforeGather : OpRewritePattern<AllGatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllGatherOp op,
                                PatternRewriter &rewriter) const override {
    auto cast = op.getInput().getDefiningOp<CastOp>();
    if (!cast || !cast->hasOneUse() ||
        bits(cast.getInput()) >= bits(cast.getResult()))
      return failure();
    auto gather = AllGatherOp::create(rewriter, op.getLoc(), cast.getInput(),
                                      op.getAxes());
    gather->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    auto moved =
        CastOp::create(rewriter, cast.getLoc(), gather, cast.getElementType());
    moved->setDiscardableAttrs(cast->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, moved);
    return success();
  }

  static unsigned bits(Value value) {
    return cast<RankedTensorType>(value.getType()).getElementTypeBitWidth();
  }
};

struct CastAfterGather : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp op,
                                PatternRewriter &rewriter) const override {
    auto gather = op.getInput().getDefiningOp<AllGatherOp>();
    if (!gather || !gather->hasOneUse() ||
        CastBeforeGather::bits(op.getInput()) <=
            CastBeforeGather::bits(op.getResult()))
      return failure();
    auto cast = CastOp::create(rewriter, op.getLoc(), gather.getInput(),
                               op.getElementType());
    cast->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    auto moved =
        AllGatherOp::create(rewriter, gather.getLoc(), cast, gather.getAxes());
    moved->setDiscardableAttrs(gather->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, moved);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// Whether every value of `from` is one of `to`.
bool isExact(Type from, Type to) {
  auto a = dyn_cast<FloatType>(from), b = dyn_cast<FloatType>(to);
  if (a && b)
    return llvm::APFloat::isRepresentableBy(a.getFloatSemantics(),
                                            b.getFloatSemantics());
  return false;
}

/// cast(cast(x)) is cast(x) if the first is exact, all being floats.
struct CastOfCast : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<CastOp>();
    if (!inner)
      return failure();
    Value input = inner.getInput();
    if (!isExact(cast<RankedTensorType>(input.getType()).getElementType(),
                 inner.getElementType()) ||
        !isFloat(op.getElementType()))
      return failure();
    replaceAs<CastOp>(rewriter, op, input, op.getElementType());
    return success();
  }
};

/// transpose(transpose(x)) is one transpose.
struct TransposeOfTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    replaceAs<TransposeOp>(rewriter, op, inner.getInput(), permutation);
    return success();
  }
};

/// reshape(reshape(x)) is one reshape.
struct ReshapeOfReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshapeOp>();
    if (!inner)
      return failure();
    // The result keeps its type only if each cut finds the same counterpart
    // without the shape between, which holds where nothing is cut.
    Layout layout = Layout::of(op.getType());
    for (unsigned dim = 0; dim < layout.getRank(); ++dim)
      if (layout.isSliced(dim))
        return failure();
    replaceAs<ReshapeOp>(rewriter, op, inner.getInput(), op.getShape());
    return success();
  }
};

/// reshard(reshard(x)) is reshard(x) if that is legal and the value between
/// serves nothing else, from which the second may cost less.
struct ReshardOfReshard : OpRewritePattern<ReshardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshardOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshardOp>();
    if (!inner || !inner->hasOneUse())
      return failure();
    Layout from = Layout::of(inner.getInput().getType());
    Layout between = Layout::of(inner.getType()), to = Layout::of(op.getType());
    if (ReshardOp::findIllegalAxis(from, to))
      return failure();
    // What was reduced in between does not become the parts again.
    for (PartialAxis partial : from.getPartials())
      if (to.getState(partial.axis).kind == AxisState::Local &&
          between.getState(partial.axis).kind != AxisState::Local &&
          between.getState(partial.axis).kind != AxisState::Partial)
        return failure();
    replaceAs<ReshardOp>(rewriter, op, op.getType(), inner.getInput());
    return success();
  }
};

} // namespace

void AllGatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<GatherOfReduceScatter, CastBeforeGather>(context);
}
void AddOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<AddOfAllReduces>(context);
}
void CastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<CastOfCast, CastAfterGather>(context);
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<TransposeOfTranspose>(context);
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ReshapeOfReshape>(context);
}
void ReshardOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ReshardOfReshard>(context);
}
