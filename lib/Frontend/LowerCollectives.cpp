//===- LowerCollectives.cpp - Built-in functions along mesh axes ----------===//
//
// The collectives. Their axes come last and may be left out if the mesh has
// one.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;

std::optional<ReduceKind>
ProgramLowering::kindArgument(const ast::CallExpr &call, unsigned index) {
  const ast::CallArg *arg = call.args[index];
  auto *expr = dyn_cast<ast::ExprArg>(arg);
  auto *name = expr ? dyn_cast<ast::NameExpr>(expr->value) : nullptr;
  if (name)
    if (std::optional<ReduceKind> kind = symbolizeReduceKind(name->name))
      return kind;
  wrongArgument(arg,
                "a reduction, 'sum', 'prod', 'max' or 'min', as argument " +
                    Twine(index + 1) + " of '" + call.callee.text + "'",
                name ? didYouMean(name->name, {"sum", "prod", "max", "min"})
                     : std::string());
  return std::nullopt;
}

AxesAttr ProgramLowering::axesArguments(const ast::CallExpr &call,
                                        unsigned first) {
  SmallVector<StringAttr> axes;
  if (call.args.size() <= first) {
    std::optional<StringAttr> axis = lowerAxis(std::nullopt, call.range);
    if (!axis)
      return {};
    axes.push_back(*axis);
  }
  for (const ast::CallArg *arg :
       call.args.drop_front(std::min<size_t>(first, call.args.size()))) {
    auto *expr = dyn_cast<ast::ExprArg>(arg);
    auto *name = expr ? dyn_cast<ast::NameExpr>(expr->value) : nullptr;
    if (!name) {
      wrongArgument(arg, "the name of a mesh axis");
      return {};
    }
    std::optional<StringAttr> axis =
        lowerAxis(ast::Name{name->name, name->range}, arg->range);
    if (!axis)
      return {};
    if (llvm::is_contained(axes, *axis)) {
      error(arg->range, "mesh axis '" + axis->getValue() + "' is named twice");
      return {};
    }
    axes.push_back(*axis);
  }
  if (!file.mesh)
    return {};
  return AxesAttr::get(
      file.context, FlatSymbolRefAttr::get(file.mesh.getSymNameAttr()), axes);
}

Operand ProgramLowering::callAllReduce(const ast::CallExpr &call) {
  std::optional<ReduceKind> kind = kindArgument(call, 0);
  if (!kind)
    return {};
  Operand input = tensorArgument(call, 1);
  AxesAttr axes = axesArguments(call, 2);
  if (input.isError() || !axes)
    return {};
  return make<AllReduceOp>(call.range, *kind, input.value, axes);
}

Operand ProgramLowering::callReduceScatter(const ast::CallExpr &call) {
  std::optional<ReduceKind> kind = kindArgument(call, 0);
  if (!kind)
    return {};
  Operand input = tensorArgument(call, 1);
  std::optional<int64_t> dim = integerArgument(call, 2, "dimension");
  AxesAttr axes = axesArguments(call, 3);
  if (input.isError() || !dim || !axes)
    return {};
  return make<ReduceScatterOp>(call.range, *kind, input.value, *dim, axes);
}

Operand ProgramLowering::callAllGather(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  AxesAttr axes = axesArguments(call, 1);
  if (input.isError() || !axes)
    return {};
  return make<AllGatherOp>(call.range, input.value, axes);
}

Operand ProgramLowering::callAllToAll(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  auto *pair = dyn_cast<ast::PairArg>(call.args[1]);
  if (!pair) {
    wrongArgument(call.args[1], "two dimensions, as in all_to_all(x, 0 -> 1)");
    return {};
  }
  std::optional<int64_t> from = getInteger(lower(pair->from), "dimension");
  std::optional<int64_t> to = getInteger(lower(pair->to), "dimension");
  AxesAttr axes = axesArguments(call, 2);
  if (input.isError() || !from || !to || !axes)
    return {};
  return make<AllToAllOp>(call.range, input.value, *from, *to, axes);
}

Operand ProgramLowering::callBroadcast(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  std::optional<int64_t> root = integerArgument(call, 1, "root");
  AxesAttr axes = axesArguments(call, 2);
  if (input.isError() || !root || !axes)
    return {};
  return make<BroadcastOp>(call.range, input.value, *root, axes);
}

Operand ProgramLowering::callReduce(const ast::CallExpr &call) {
  std::optional<ReduceKind> kind = kindArgument(call, 0);
  if (!kind)
    return {};
  Operand input = tensorArgument(call, 1);
  std::optional<int64_t> root = integerArgument(call, 2, "root");
  AxesAttr axes = axesArguments(call, 3);
  if (input.isError() || !root || !axes)
    return {};
  return make<ReduceOp>(call.range, *kind, input.value, *root, axes);
}

Operand ProgramLowering::callGather(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  std::optional<int64_t> root = integerArgument(call, 1, "root");
  AxesAttr axes = axesArguments(call, 2);
  if (input.isError() || !root || !axes)
    return {};
  return make<GatherOp>(call.range, input.value, *root, axes);
}

Operand ProgramLowering::callScatter(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  std::optional<int64_t> root = integerArgument(call, 1, "root");
  std::optional<int64_t> dim = integerArgument(call, 2, "dimension");
  AxesAttr axes = axesArguments(call, 3);
  if (input.isError() || !root || !dim || !axes)
    return {};
  return make<ScatterOp>(call.range, input.value, *root, *dim, axes);
}

Operand ProgramLowering::callSend(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  // The axis stands before the shift; without it the shift is second.
  bool named = call.args.size() == 3;
  std::optional<int64_t> shift = integerArgument(call, named ? 2 : 1, "shift");
  std::optional<ast::Name> axisName;
  if (named) {
    auto *expr = dyn_cast<ast::ExprArg>(call.args[1]);
    auto *name = expr ? dyn_cast<ast::NameExpr>(expr->value) : nullptr;
    if (!name) {
      wrongArgument(call.args[1],
                    "the name of a mesh axis, as in send(x, axis, +1)");
      return {};
    }
    axisName = ast::Name{name->name, name->range};
  }
  std::optional<StringAttr> axis = lowerAxis(axisName, call.range);
  if (input.isError() || !shift || !axis)
    return {};
  return make<SendOp>(
      call.range, input.value, *shift,
      AxesAttr::get(file.context,
                    FlatSymbolRefAttr::get(file.mesh.getSymNameAttr()), *axis));
}

Operand ProgramLowering::callReshard(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  auto *layoutArg = dyn_cast<ast::LayoutArg>(call.args[1]);
  if (!layoutArg)
    wrongArgument(call.args[1], "a layout, as in reshard(x, sliced(0))");
  if (!layoutArg || input.isError())
    return {};
  Layout layout(input.getType().getRank());
  if (!lowerStates(layoutArg->states, layout))
    return {};
  Layout from = Layout::of(input.getType());
  for (PartialAxis partial : from.getPartials())
    if (layout.getState(partial.axis).kind == AxisState::Local) {
      error(call.range, pendingError(from, partial.axis, textOf(input.range)));
      return {};
    }
  RankedTensorType type = layout.getType(input.getType().getShape(),
                                         input.getType().getElementType());
  if (!count(file.numOperations, maxOperations, "operations", call.range))
    return {};
  auto reshard =
      ReshardOp::create(builder, file.location(call.range), type, input.value);
  if (!letName.empty())
    reshard->setAttr(kLetAttr, builder.getStringAttr(letName));
  if (!check(call.range, reshard))
    return {};
  return Operand(reshard.getResult(), call.range);
}
