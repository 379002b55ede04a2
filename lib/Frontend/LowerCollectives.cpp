//===- LowerCollectives.cpp - Built-in functions along mesh axes ----------===//
//
// Builds calls of collectives, and has the table of these. Axes are the last
// arguments; they may be left out if the mesh has only one axis.
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

//===----------------------------------------------------------------------===//
// One function for each
//===----------------------------------------------------------------------===//

struct ProgramLowering::Collectives {
  static Operand allReduce(ProgramLowering &self, const ast::CallExpr &call) {
    std::optional<ReduceKind> kind = self.kindArgument(call, 0);
    if (!kind)
      return {};
    Operand input = self.tensorArgument(call, 1);
    AxesAttr axes = self.axesArguments(call, 2);
    if (input.isError() || !axes)
      return {};
    return self.make<AllReduceOp>(call.range, *kind, input.value, axes);
  }

  static Operand reduceScatter(ProgramLowering &self,
                               const ast::CallExpr &call) {
    std::optional<ReduceKind> kind = self.kindArgument(call, 0);
    if (!kind)
      return {};
    Operand input = self.tensorArgument(call, 1);
    std::optional<int64_t> dim = self.integerArgument(call, 2, "dimension");
    AxesAttr axes = self.axesArguments(call, 3);
    if (input.isError() || !dim || !axes)
      return {};
    return self.make<ReduceScatterOp>(call.range, *kind, input.value, *dim,
                                      axes);
  }

  static Operand allGather(ProgramLowering &self, const ast::CallExpr &call) {
    Operand input = self.tensorArgument(call, 0);
    AxesAttr axes = self.axesArguments(call, 1);
    if (input.isError() || !axes)
      return {};
    return self.make<AllGatherOp>(call.range, input.value, axes);
  }

  static Operand allToAll(ProgramLowering &self, const ast::CallExpr &call) {
    Operand input = self.tensorArgument(call, 0);
    auto *pair = dyn_cast<ast::PairArg>(call.args[1]);
    if (!pair) {
      self.wrongArgument(call.args[1],
                         "two dimensions, as in all_to_all(x, 0 -> 1)");
      return {};
    }
    std::optional<int64_t> from =
        self.getInteger(self.lower(pair->from), "dimension");
    std::optional<int64_t> to =
        self.getInteger(self.lower(pair->to), "dimension");
    AxesAttr axes = self.axesArguments(call, 2);
    if (input.isError() || !from || !to || !axes)
      return {};
    return self.make<AllToAllOp>(call.range, input.value, *from, *to, axes);
  }

  static Operand broadcast(ProgramLowering &self, const ast::CallExpr &call) {
    Operand input = self.tensorArgument(call, 0);
    std::optional<int64_t> root = self.integerArgument(call, 1, "root");
    AxesAttr axes = self.axesArguments(call, 2);
    if (input.isError() || !root || !axes)
      return {};
    return self.make<BroadcastOp>(call.range, input.value, *root, axes);
  }

  static Operand reduce(ProgramLowering &self, const ast::CallExpr &call) {
    std::optional<ReduceKind> kind = self.kindArgument(call, 0);
    if (!kind)
      return {};
    Operand input = self.tensorArgument(call, 1);
    std::optional<int64_t> root = self.integerArgument(call, 2, "root");
    AxesAttr axes = self.axesArguments(call, 3);
    if (input.isError() || !root || !axes)
      return {};
    return self.make<ReduceOp>(call.range, *kind, input.value, *root, axes);
  }

  static Operand gather(ProgramLowering &self, const ast::CallExpr &call) {
    Operand input = self.tensorArgument(call, 0);
    std::optional<int64_t> root = self.integerArgument(call, 1, "root");
    AxesAttr axes = self.axesArguments(call, 2);
    if (input.isError() || !root || !axes)
      return {};
    return self.make<GatherOp>(call.range, input.value, *root, axes);
  }

  static Operand scatter(ProgramLowering &self, const ast::CallExpr &call) {
    Operand input = self.tensorArgument(call, 0);
    std::optional<int64_t> root = self.integerArgument(call, 1, "root");
    std::optional<int64_t> dim = self.integerArgument(call, 2, "dimension");
    AxesAttr axes = self.axesArguments(call, 3);
    if (input.isError() || !root || !dim || !axes)
      return {};
    return self.make<ScatterOp>(call.range, input.value, *root, *dim, axes);
  }

  static Operand send(ProgramLowering &self, const ast::CallExpr &call) {
    Operand input = self.tensorArgument(call, 0);
    // The axis comes before the shift; without an axis, the shift is the second
    // argument.
    bool named = call.args.size() == 3;
    std::optional<int64_t> shift =
        self.integerArgument(call, named ? 2 : 1, "shift");
    std::optional<ast::Name> axisName;
    if (named) {
      auto *expr = dyn_cast<ast::ExprArg>(call.args[1]);
      auto *name = expr ? dyn_cast<ast::NameExpr>(expr->value) : nullptr;
      if (!name) {
        self.wrongArgument(call.args[1],
                           "the name of a mesh axis, as in send(x, axis, +1)");
        return {};
      }
      axisName = ast::Name{name->name, name->range};
    }
    std::optional<StringAttr> axis = self.lowerAxis(axisName, call.range);
    if (input.isError() || !shift || !axis)
      return {};
    return self.make<SendOp>(
        call.range, input.value, *shift,
        AxesAttr::get(self.file.context,
                      FlatSymbolRefAttr::get(self.file.mesh.getSymNameAttr()),
                      *axis));
  }

  static Operand reshard(ProgramLowering &self, const ast::CallExpr &call) {
    Operand input = self.tensorArgument(call, 0);
    auto *layoutArg = dyn_cast<ast::LayoutArg>(call.args[1]);
    if (!layoutArg)
      self.wrongArgument(call.args[1], "a layout, as in reshard(x, sliced(0))");
    if (!layoutArg || input.isError())
      return {};
    Layout layout(input.getType().getRank());
    if (!self.lowerStates(layoutArg->states, layout))
      return {};
    Layout from = Layout::of(input.getType());
    for (PartialAxis partial : from.getPartials())
      if (layout.getState(partial.axis).kind == AxisState::Local) {
        self.error(call.range,
                   pendingError(from, partial.axis, self.textOf(input.range)));
        return {};
      }
    RankedTensorType type = layout.getType(input.getType().getShape(),
                                           input.getType().getElementType());
    if (!self.count(self.file.numOperations, maxOperations, "operations",
                    call.range))
      return {};
    auto reshard = ReshardOp::create(
        self.builder, self.file.location(call.range), type, input.value);
    if (!self.letName.empty())
      reshard->setAttr(kLetAttr, self.builder.getStringAttr(self.letName));
    if (!self.check(call.range, reshard))
      return {};
    return Operand(reshard.getResult(), call.range);
  }
};

void ProgramLowering::addCollectives(llvm::StringMap<Builtin> &map) {
  using Self = Collectives;
  auto add = [&](StringRef name, Builtin::Build build, unsigned min,
                 unsigned max, StringRef usage) {
    map[name] = {std::move(build), min, max, usage.str()};
  };
  add("all_reduce", Self::allReduce, 2, Builtin::any,
      "all_reduce(sum, x, axis)");
  add("reduce_scatter", Self::reduceScatter, 3, Builtin::any,
      "reduce_scatter(sum, x, dim, axis)");
  add("all_gather", Self::allGather, 1, Builtin::any, "all_gather(x, axis)");
  add("all_to_all", Self::allToAll, 2, 3, "all_to_all(x, 0 -> 1, axis)");
  add("broadcast", Self::broadcast, 2, 3, "broadcast(x, root, axis)");
  add("reduce", Self::reduce, 3, 4, "reduce(sum, x, root, axis)");
  add("gather", Self::gather, 2, 3, "gather(x, root, axis)");
  add("scatter", Self::scatter, 3, 4, "scatter(x, root, dim, axis)");
  add("send", Self::send, 2, 3, "send(x, axis, +1)");
  add("reshard", Self::reshard, 2, 2, "reshard(x, sliced(0, axis))");
}
