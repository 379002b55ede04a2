//===- LowerFunctions.cpp - Norms and softmax -----------------------------===//
//
// Builds functions from several operations. Depending on the layout they
// communicate: the norm of a sliced tensor needs a sum over ranks. 16- and
// 8-bit floats are computed in f32 and rounded once at the end.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;

Operand ProgramLowering::widen(const Operand &operand) {
  if (operand.isError())
    return {};
  Type element = operand.getType().getElementType();
  if (!isFloat(element)) {
    error(operand.range, "expected a floating-point element type, found '" +
                             elementTypeName(element) + "'");
    return {};
  }
  if (element.getIntOrFloatBitWidth() >= 32)
    return operand;
  return make<CastOp>(operand.range, operand.value,
                      TypeAttr::get(builder.getF32Type()));
}

Operand ProgramLowering::narrow(const Operand &operand, Type elementType) {
  if (operand.isError() || operand.getType().getElementType() == elementType)
    return operand;
  return make<CastOp>(operand.range, operand.value, TypeAttr::get(elementType));
}

template <typename OpTy>
Operand ProgramLowering::apply(const Operand &a, const Operand &b) {
  if (a.isError() || b.isError())
    return {};
  Operand operands[] = {a, b};
  if (!unify(operands, a.range))
    return {};
  return make<OpTy>(a.range, operands[0].value, operands[1].value);
}

Operand ProgramLowering::reduceWhole(ReductionKind kind, const Operand &operand,
                                     ArrayRef<int64_t> dims) {
  if (operand.isError())
    return {};
  Operand reduced = make<ReductionOp>(operand.range, kind, operand.value, dims);
  if (reduced.isError())
    return {};
  // The operand had no pending reductions, so those of the result come from its
  // cut dimensions.
  Layout layout = Layout::of(reduced.getType());
  SmallVector<StringAttr> axes;
  for (PartialAxis partial : layout.getPartials())
    axes.push_back(partial.axis);
  if (axes.empty())
    return reduced;
  return make<AllReduceOp>(operand.range, layout.getPartials().front().kind,
                           reduced.value,
                           AxesAttr::get(file.context, layout.getMesh(), axes));
}

Operand ProgramLowering::repeat(const Operand &reduced, const Operand &like,
                                int64_t dim) {
  if (reduced.isError())
    return {};
  SmallVector<int64_t> shape(like.getType().getShape());
  // A dimension that is not the last is added at the front and transposed into
  // place: with a reshape it would be unclear which of several dimensions of
  // size 1 is the cut one.
  int64_t rank = shape.size();
  if (dim != rank - 1) {
    std::rotate(shape.begin(), shape.begin() + dim, shape.begin() + dim + 1);
    Operand repeated = make<BroadcastToOp>(like.range, reduced.value,
                                           ArrayRef<int64_t>(shape));
    if (repeated.isError() || dim == 0)
      return repeated;
    SmallVector<int64_t> permutation =
        llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::rotate(permutation.begin(), permutation.begin() + 1,
                permutation.begin() + dim + 1);
    return make<TransposeOp>(like.range, repeated.value,
                             ArrayRef<int64_t>(permutation));
  }
  shape[dim] = 1;
  Operand kept =
      make<ReshapeOp>(like.range, reduced.value, ArrayRef<int64_t>(shape));
  if (kept.isError())
    return {};
  return make<BroadcastToOp>(like.range, kept.value, like.getType().getShape());
}

bool ProgramLowering::refusePartial(const Operand &operand) {
  Layout layout = Layout::of(operand.getType());
  if (!layout.hasPartial())
    return false;
  error(operand.range, pendingError(layout, layout.getPartials().front().axis,
                                    textOf(operand.range)));
  return true;
}

Operand ProgramLowering::callNorm(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  if (input.isError() || refusePartial(input))
    return {};
  SmallVector<int64_t> dims;
  if (call.args.size() == 2) {
    std::optional<int64_t> dim = integerArgument(call, 1, "dimension");
    if (!dim)
      return {};
    dims.push_back(*dim);
  } else {
    dims = llvm::to_vector(llvm::seq<int64_t>(0, input.getType().getRank()));
  }
  input.range = call.range;
  Operand wide = widen(input);
  Operand sum = reduceWhole(ReductionKind::sum, apply<MulOp>(wide, wide), dims);
  if (sum.isError())
    return {};
  return narrow(make<SqrtOp>(call.range, sum.value),
                input.getType().getElementType());
}

Operand ProgramLowering::callSoftmax(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  std::optional<int64_t> dim = integerArgument(call, 1, "dimension");
  if (input.isError() || !dim || refusePartial(input))
    return {};
  input.range = call.range;
  Operand wide = widen(input);
  // Subtracts the maximum, so that no exponential overflows.
  Operand most =
      repeat(reduceWhole(ReductionKind::max, wide, *dim), wide, *dim);
  Operand shifted = apply<SubOp>(wide, most);
  if (shifted.isError())
    return {};
  Operand power = make<ExpOp>(call.range, shifted.value);
  Operand total =
      repeat(reduceWhole(ReductionKind::sum, power, *dim), power, *dim);
  return narrow(apply<DivOp>(power, total), input.getType().getElementType());
}

/// The last dimension, along which layer_norm and rms_norm reduce; none, with
/// an error reported, for a scalar.
static std::optional<int64_t> lastDim(const Operand &input,
                                      Diagnostics &diagnostics,
                                      const SourceFile &source) {
  if (input.getType().getRank() > 0)
    return input.getType().getRank() - 1;
  diagnostics.error(source, input.range,
                    "expected a tensor of rank 1 or more, found '" +
                        typeName(input.getType()) + "'");
  return std::nullopt;
}

Operand ProgramLowering::rootScale(const Operand &operand, const Operand &eps,
                                   int64_t dim) {
  Operand square =
      reduceWhole(ReductionKind::mean, apply<MulOp>(operand, operand), dim);
  Operand shifted = apply<AddOp>(square, eps.isTensor() ? widen(eps) : eps);
  if (shifted.isError())
    return {};
  return repeat(make<RsqrtOp>(operand.range, shifted.value), operand, dim);
}

Operand ProgramLowering::callLayerNorm(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0), gamma = tensorArgument(call, 1);
  Operand beta = tensorArgument(call, 2), eps = argument(call, 3);
  if (input.isError() || gamma.isError() || beta.isError() || eps.isError() ||
      refusePartial(input))
    return {};
  std::optional<int64_t> dim =
      lastDim(input, file.diagnostics, file.file.source);
  if (!dim)
    return {};
  Type element = input.getType().getElementType();
  input.range = call.range;
  Operand wide = widen(input);
  Operand mean =
      repeat(reduceWhole(ReductionKind::mean, wide, *dim), wide, *dim);
  Operand centred = apply<SubOp>(wide, mean);
  Operand scaled = apply<MulOp>(
      apply<MulOp>(centred, rootScale(centred, eps, *dim)), widen(gamma));
  return narrow(apply<AddOp>(scaled, widen(beta)), element);
}

Operand ProgramLowering::callRmsNorm(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0), gamma = tensorArgument(call, 1);
  Operand eps = argument(call, 2);
  if (input.isError() || gamma.isError() || eps.isError() ||
      refusePartial(input))
    return {};
  std::optional<int64_t> dim =
      lastDim(input, file.diagnostics, file.file.source);
  if (!dim)
    return {};
  Type element = input.getType().getElementType();
  input.range = call.range;
  Operand wide = widen(input);
  Operand scaled = apply<MulOp>(wide, rootScale(wide, eps, *dim));
  return narrow(apply<MulOp>(scaled, widen(gamma)), element);
}
