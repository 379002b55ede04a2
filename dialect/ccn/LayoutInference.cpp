//===- LayoutInference.cpp - How layouts combine --------------------------===//
//
// The one place that decides which layouts an operation may join and what comes
// out. An operation is seen as a nest of loops: an elementwise operation runs
// all dimensions together, a matrix product runs M, N and K. An axis that cuts
// a loop in one operand cuts it, for free, in those that are replicated along
// the axis.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Layout.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ccn;

namespace {

/// One run of the inference; the steps fill `loopAxes` and `loopOf`.
class Inference {
public:
  Inference(ArrayRef<LoopOperand> operands, unsigned numLoops,
            EmitError emitError)
      : operands(operands), emitError(emitError), loopAxes(numLoops),
        loopSource(numLoops, 0) {
    for (const LoopOperand &operand : operands)
      layouts.push_back(Layout::of(operand.type));
  }

  FailureOr<Layout> run(ArrayRef<int> resultLoops, PartialRule rule,
                        ReduceKind reduction);

private:
  LogicalResult joinMeshes();
  LogicalResult joinLoops();
  LogicalResult checkAxis(StringAttr axis, PartialRule rule, AxisState &state);
  LogicalResult checkPartial(StringAttr axis, PartialRule rule,
                             AxisState &state);
  /// How operand `index` gets a dimension cut by the axes that cut the loop in
  /// others: "; repair with 'reshard(operand #1, ...)' on the second".
  std::string repairCut(unsigned index, unsigned dim,
                        ArrayRef<StringAttr> axes);

  /// "layouts 'A' and 'B' do not combine along mesh axis 'x'"
  InferenceError conflict(unsigned a, unsigned b, StringAttr axis) {
    auto diagnostic = emitError();
    diagnostic << "layouts '" << layouts[a].str() << "' and '"
               << layouts[b].str() << "' do not combine along mesh axis '"
               << axis.getValue() << "'";
    return diagnostic;
  }

  ArrayRef<LoopOperand> operands;
  EmitError emitError;
  SmallVector<Layout> layouts;
  FlatSymbolRefAttr mesh;
  /// The axes that cut each loop, and an operand in which all of them do.
  SmallVector<SmallVector<StringAttr>> loopAxes;
  SmallVector<unsigned> loopSource;
  /// The loop that each axis cuts.
  llvm::MapVector<StringAttr, unsigned> loopOf;
};

LogicalResult Inference::joinMeshes() {
  for (const Layout &layout : layouts) {
    if (!layout.getMesh())
      continue;
    if (mesh && mesh != layout.getMesh())
      return emitError() << "operands live on different meshes, " << mesh
                         << " and " << layout.getMesh();
    mesh = layout.getMesh();
  }
  return success();
}

/// "all_gather(operand #0, dp, tp)"
static std::string gather(unsigned operand, ArrayRef<StringAttr> axes) {
  std::string text = "all_gather(" + operandName(operand);
  for (StringAttr axis : axes)
    text += (", " + axis.getValue()).str();
  return text + ")";
}

/// The gathering of a cut and of those inside it.
static std::string gatherFrom(unsigned operand, const Layout &layout,
                              StringAttr axis) {
  ArrayRef<StringAttr> axes = layout.getAxes(layout.getState(axis).dim);
  return gather(operand,
                axes.drop_front(llvm::find(axes, axis) - axes.begin()));
}

std::string Inference::repairCut(unsigned index, unsigned dim,
                                 ArrayRef<StringAttr> axes) {
  Layout layout = layouts[index];
  for (StringAttr axis : axes)
    if (layout.getState(axis).kind == AxisState::Local)
      return "; repair with '" + gather(index, layout.getAxes(dim)) +
             "' on the second";
  for (StringAttr axis : axes)
    layout.setState(axis, {});
  layout.setAxes(dim, axes);
  return "; repair with 'reshard(" + operandName(index) + ", " + layout.str() +
         ")' on the second";
}

/// The dimension of the operand that runs with the loop, or -1.
static int dimOf(const LoopOperand &operand, unsigned loop) {
  auto it = llvm::find(operand.loops, static_cast<int>(loop));
  return it == operand.loops.end() ? -1 : it - operand.loops.begin();
}

LogicalResult Inference::joinLoops() {
  for (auto [index, operand] : llvm::enumerate(operands)) {
    for (auto [dim, loop] : llvm::enumerate(operand.loops)) {
      ArrayRef<StringAttr> axes = layouts[index].getAxes(dim);
      if (axes.empty())
        continue;
      if (loop == LoopOperand::noLoop)
        return emitError() << "dimension " << dim
                           << " of an operand with layout '"
                           << layouts[index].str()
                           << "' must be whole here, expected it 'replicated'; "
                              "repair with '"
                           << gather(index, axes) << "'";
      SmallVector<StringAttr> &joined = loopAxes[loop];
      // One list must continue the other: only then is the longer cut a cut of
      // the pieces that the shorter one makes.
      for (auto [a, b] : llvm::zip(joined, axes))
        if (a != b)
          return conflict(loopSource[loop], index, b)
                 << ", as they cut dimension " << dim
                 << " of the second by other axes or in another order"
                 << repairCut(index, dim, joined);
      if (axes.size() > joined.size()) {
        joined.assign(axes.begin(), axes.end());
        loopSource[loop] = index;
      }
    }
  }
  for (auto [loop, axes] : llvm::enumerate(loopAxes)) {
    for (StringAttr axis : axes) {
      auto [it, inserted] = loopOf.insert({axis, loop});
      if (inserted)
        continue;
      unsigned a = loopSource[it->second], b = loopSource[loop];
      // Moving the cut of one of them to where the other has it costs less than
      // gathering; the innermost cut alone can move.
      auto diagnostic = conflict(a, b, axis);
      if (layouts[a] == layouts[b])
        diagnostic << ", which cuts another loop in each";
      for (auto [index, target, which] :
           {std::tuple(b, it->second, "second"),
            std::tuple(a, static_cast<unsigned>(loop), "first")}) {
        unsigned from = layouts[index].getState(axis).dim;
        int to = dimOf(operands[index], target);
        if (to >= 0 && layouts[index].getAxes(from).back() == axis)
          return diagnostic << "; repair with 'all_to_all("
                            << operandName(index) << ", " << from << " -> "
                            << to << ", " << axis.getValue() << ")' on the "
                            << which;
      }
      return diagnostic << "; repair with '" << gatherFrom(a, layouts[a], axis)
                        << "' on the first";
    }
  }
  return success();
}

LogicalResult Inference::checkPartial(StringAttr axis, PartialRule rule,
                                      AxisState &state) {
  unsigned first = 0;
  while (layouts[first].getState(axis).kind != AxisState::Partial)
    ++first;
  state = layouts[first].getState(axis);
  StringRef kind = stringifyReduceKind(state.reduction);
  auto reject = [&](unsigned other) -> LogicalResult {
    if (other == first)
      return emitError() << pendingError(layouts[first], axis,
                                         operandName(first));
    bool both = layouts[other].getState(axis).kind == AxisState::Partial;
    return conflict(first, other, axis)
           << "; repair with 'all_reduce(" << kind << ", " << operandName(first)
           << ", " << axis.getValue() << ")' on the "
           << (both ? "first" : "partial operand");
  };

  bool onlySum = rule == PartialRule::CommutesWithSum ||
                 rule == PartialRule::LinearInOne ||
                 rule == PartialRule::LinearInFirst;
  if (rule == PartialRule::None ||
      (onlySum && state.reduction != ReduceKind::sum))
    return reject(first);
  if (rule == PartialRule::LinearInFirst && first != 0)
    return reject(first);
  bool samePending =
      rule == PartialRule::Commutes || rule == PartialRule::CommutesWithSum;
  for (auto [index, layout] : llvm::enumerate(layouts)) {
    AxisState expected = samePending ? state : AxisState();
    if (index != first && layout.getState(axis) != expected)
      return reject(index);
  }
  return success();
}

LogicalResult Inference::checkAxis(StringAttr axis, PartialRule rule,
                                   AxisState &state) {
  auto cut = loopOf.find(axis);
  bool anyPartial = false, anyLocal = false;
  for (auto [index, layout] : llvm::enumerate(layouts)) {
    AxisState::Kind kind = layout.getState(axis).kind;
    anyPartial |= kind == AxisState::Partial;
    anyLocal |= kind == AxisState::Local;
    if (cut == loopOf.end())
      continue;
    unsigned source = loopSource[cut->second];
    if (kind == AxisState::Local)
      return conflict(source, index, axis)
             << "; repair with '" << gatherFrom(source, layouts[source], axis)
             << "' on the sliced operand";
    if (kind == AxisState::Partial)
      return conflict(source, index, axis)
             << "; repair with 'reduce_scatter("
             << stringifyReduceKind(layout.getState(axis).reduction) << ", "
             << operandName(index) << ", " << layouts[source].getState(axis).dim
             << ", " << axis.getValue() << ")' on the partial operand";
  }
  if (anyPartial)
    return checkPartial(axis, rule, state);
  if (anyLocal)
    state.kind = AxisState::Local;
  return success();
}

FailureOr<Layout> Inference::run(ArrayRef<int> resultLoops, PartialRule rule,
                                 ReduceKind reduction) {
  if (failed(joinMeshes()) || failed(joinLoops()))
    return failure();

  Layout result(resultLoops.size());
  result.setMesh(mesh);
  llvm::SmallVector<StringAttr> axes;
  for (const Layout &layout : layouts)
    for (StringAttr axis : layout.getNamedAxes())
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
  for (StringAttr axis : axes) {
    AxisState state;
    if (failed(checkAxis(axis, rule, state)))
      return failure();
    if (state.kind != AxisState::Replicated)
      result.setState(axis, state);
  }
  llvm::SmallVector<bool> inResult(loopAxes.size());
  for (auto [dim, loop] : llvm::enumerate(resultLoops)) {
    if (loop == LoopOperand::noLoop)
      continue;
    inResult[loop] = true;
    result.setAxes(dim, loopAxes[loop]);
  }
  for (auto [loop, list] : llvm::enumerate(loopAxes))
    if (!inResult[loop])
      for (StringAttr axis : list)
        result.setState(axis, {AxisState::Partial, 0, reduction});
  return result;
}

} // namespace

FailureOr<Layout>
ccn::inferOverLoops(ArrayRef<LoopOperand> operands, unsigned numLoops,
                    ArrayRef<int> resultLoops, PartialRule partialRule,
                    ReduceKind reduction, EmitError emitError) {
  return Inference(operands, numLoops, emitError)
      .run(resultLoops, partialRule, reduction);
}
