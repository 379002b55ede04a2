//===- LowerReshard.cpp - Reshards as collectives -------------------------===//
//
// Searches the possible layouts of a tensor for the cheapest path from one to
// another, and joins steps along several axes into one collective. There are
// few layouts: each axis cuts one of the dimensions, or is replicated, partial
// or local.
//
//===----------------------------------------------------------------------===//

#include "lib/CostModel/CostModel.h"
#include "lib/Transforms/PartialSums.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Rewrites.h"

#include <map>
#include <queue>

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_LOWERRESHARD
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

/// The bytes that a rank receives and the number of collectives, compared in
/// this order.
struct Cost {
  double bytes = 0;
  unsigned steps = 0;

  auto operator<=>(const Cost &) const = default;
};

/// One step of a path between layouts.
struct Move {
  enum Kind { Slice, AllGather, AllToAll, AllReduce, ReduceScatter, Relabel };

  Kind kind = Slice;
  SmallVector<StringAttr, 2> axes;
  unsigned from = 0, to = 0;
  ReduceKind reduction = ReduceKind::sum;
};

using Moves = SmallVector<Move>;

/// Finds the cheapest path from one layout to another.
class Search {
public:
  Search(RankedTensorType type, MeshOp mesh, Layout from, Layout to)
      : type(type), mesh(mesh), from(std::move(from)), to(std::move(to)) {
    axes = this->from.getNamedAxes();
    llvm::append_range(axes, this->to.getNamedAxes());
  }

  /// The steps of the cheapest path, or of the direct path if there are too
  /// many layouts to search.
  Moves find();

private:
  /// The most layouts to visit: a mesh with many axes has too many. Three axes
  /// and four dimensions have some hundreds.
  static constexpr unsigned maxLayouts = 4096;

  struct Node {
    Layout layout;
    Cost cost;
    const Node *previous = nullptr;
    Move move;
  };
  using Reach = llvm::function_ref<void(Layout, double, Move)>;

  /// The direct path: reduces, gathers dimensions that are cut differently in
  /// the target, then slices.
  Moves findDirect();
  /// The bytes of one rank's part.
  double localBytes(const Layout &layout);
  void expand(const Layout &layout, Reach reach);
  void expandPartial(const Layout &layout, StringAttr axis, Reach reach);
  void expandPartials(const Layout &layout, Reach reach);

  RankedTensorType type;
  MeshOp mesh;
  Layout from, to;
  /// The axes that appear in one of the two layouts.
  SmallVector<StringAttr> axes;
};

AxisState slicedAt(unsigned dim) {
  return {AxisState::Sliced, dim, ReduceKind::sum};
}
constexpr AxisState localState = {AxisState::Local, 0, ReduceKind::sum};

double Search::localBytes(const Layout &layout) {
  return static_cast<double>(bytesOnRank(
      layout.getType(type.getShape(), type.getElementType()), mesh));
}

void Search::expand(const Layout &layout, Reach reach) {
  expandPartials(layout, reach);
  for (auto axis : mesh.getAxisNames().getAsRange<StringAttr>()) {
    AxisState state = layout.getState(axis);
    double ranks = mesh.getAxisSize(axis);
    switch (state.kind) {
    case AxisState::Replicated:
      // Using the links of an axis that takes no part in the change would
      // sometimes move fewer bytes, but in more steps, and on links that the
      // user does not expect.
      if (!llvm::is_contained(axes, axis))
        break;
      for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
        Layout next = layout;
        next.setState(axis, slicedAt(dim));
        reach(std::move(next), 0, {Move::Slice, {axis}, 0, dim, {}});
      }
      if (to.getState(axis).kind == AxisState::Local) {
        Layout next = layout;
        next.setState(axis, localState);
        reach(std::move(next), 0, {Move::Relabel, {axis}, 0, 0, {}});
      }
      break;
    case AxisState::Sliced: {
      if (layout.getAxes(state.dim).back() != axis)
        break;
      Layout whole = layout;
      whole.setState(axis, {});
      reach(std::move(whole), localBytes(layout) * (ranks - 1),
            {Move::AllGather, {axis}, state.dim, 0, {}});
      for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
        if (dim == state.dim)
          continue;
        Layout moved = layout;
        moved.setState(axis, slicedAt(dim));
        double bytes = localBytes(moved) * (ranks - 1) / ranks;
        reach(std::move(moved), bytes,
              {Move::AllToAll, {axis}, state.dim, dim, {}});
      }
      break;
    }
    case AxisState::Partial:
      expandPartial(layout, axis, reach);
      break;
    case AxisState::Local:
      break;
    }
  }
}

void Search::expandPartials(const Layout &layout, Reach reach) {
  // Reduces along several axes at once, which moves fewer bytes than one axis
  // after the other. All other steps move as many bytes either way.
  Move move;
  move.kind = Move::AllReduce;
  Layout whole = layout;
  double ranks = 1;
  for (PartialAxis partial : layout.getPartials()) {
    if (to.getState(partial.axis).kind != AxisState::Replicated)
      continue;
    move.axes.push_back(partial.axis);
    move.reduction = partial.kind;
    ranks *= mesh.getAxisSize(partial.axis);
    whole.setState(partial.axis, {});
  }
  if (move.axes.size() > 1)
    reach(std::move(whole), localBytes(layout) * 2 * (ranks - 1) / ranks,
          std::move(move));
}

void Search::expandPartial(const Layout &layout, StringAttr axis, Reach reach) {
  AxisState target = to.getState(axis);
  // A reduced value cannot become partial again.
  if (target.kind == AxisState::Partial)
    return;
  if (target.kind == AxisState::Local) {
    Layout local = layout;
    local.setState(axis, localState);
    reach(std::move(local), 0, {Move::Relabel, {axis}, 0, 0, {}});
    return;
  }
  ReduceKind reduction = layout.getState(axis).reduction;
  double ranks = mesh.getAxisSize(axis);
  double bytes = localBytes(layout) * (ranks - 1) / ranks;
  Layout whole = layout;
  whole.setState(axis, {});
  reach(std::move(whole), 2 * bytes,
        {Move::AllReduce, {axis}, 0, 0, reduction});
  for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
    Layout cut = layout;
    cut.setState(axis, slicedAt(dim));
    reach(std::move(cut), bytes,
          {Move::ReduceScatter, {axis}, 0, dim, reduction});
  }
}

Moves Search::findDirect() {
  Moves moves;
  Layout at = from;
  auto go = [&](Move move, AxisState state) {
    at.setState(move.axes.front(), state);
    moves.push_back(std::move(move));
  };
  for (PartialAxis partial : from.getPartials()) {
    AxisState target = to.getState(partial.axis);
    if (target.kind == AxisState::Local)
      go({Move::Relabel, {partial.axis}, 0, 0, {}}, localState);
    else if (target.kind != AxisState::Partial)
      go({Move::AllReduce, {partial.axis}, 0, 0, partial.kind}, {});
  }
  for (unsigned dim = 0; dim < at.getRank(); ++dim)
    while (!to.getAxes(dim)
                .take_front(at.getAxes(dim).size())
                .equals(at.getAxes(dim)))
      go({Move::AllGather, {at.getAxes(dim).back()}, dim, 0, {}}, {});
  for (unsigned dim = 0; dim < at.getRank(); ++dim)
    for (StringAttr axis : to.getAxes(dim).drop_front(at.getAxes(dim).size()))
      go({Move::Slice, {axis}, 0, dim, {}}, slicedAt(dim));
  for (StringAttr axis : to.getLocals())
    if (at.getState(axis) != localState)
      go({Move::Relabel, {axis}, 0, 0, {}}, localState);
  assert(at == to && "legal reshards have a direct way");
  return moves;
}

Moves Search::find() {
  // The key is a layout's text, since layouts have no order.
  std::map<std::string, Node> nodes;
  using Entry = std::pair<Cost, std::string>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  nodes[from.str()] = {from, {}, nullptr, {}};
  queue.push({Cost(), from.str()});
  while (!queue.empty() && nodes.size() <= maxLayouts) {
    auto [cost, key] = queue.top();
    queue.pop();
    const Node &node = nodes[key];
    if (node.cost < cost)
      continue;
    if (node.layout == to) {
      Moves moves;
      for (const Node *at = &node; at->previous; at = at->previous)
        moves.push_back(at->move);
      std::reverse(moves.begin(), moves.end());
      return moves;
    }
    expand(node.layout, [&](Layout next, double bytes, Move move) {
      Cost total = {node.cost.bytes + bytes, node.cost.steps + 1};
      std::string name = next.str();
      auto [it, inserted] = nodes.try_emplace(name);
      if (!inserted && it->second.cost <= total)
        return;
      it->second = {std::move(next), total, &node, std::move(move)};
      queue.push({total, std::move(name)});
    });
  }
  return findDirect();
}

/// Joins steps of one kind along several axes into one step, which moves no
/// more bytes.
Moves join(ArrayRef<Move> moves) {
  Moves joined;
  auto append = [&](const Move &move) {
    // Steps of the same kind on different dimensions may change places.
    for (Move &other : llvm::reverse(joined)) {
      if (other.kind != move.kind || move.kind == Move::AllToAll)
        break;
      if (move.kind == Move::AllGather) {
        // Steps gather the innermost axis first, so axes of later steps are
        // outer ones.
        other.axes.insert(other.axes.begin(), move.axes.begin(),
                          move.axes.end());
        return;
      }
      if (other.to == move.to && other.reduction == move.reduction) {
        llvm::append_range(other.axes, move.axes);
        return;
      }
    }
    joined.push_back(move);
  };
  for (const Move &move : moves)
    append(move);
  return joined;
}

struct LowerReshardPass : ccn::impl::LowerReshardBase<LowerReshardPass> {
  void runOnOperation() override {
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp op) { reshards.push_back(op); });
    for (ReshardOp op : reshards)
      lower(op);
  }

  void lower(ReshardOp op);
  /// Makes the operation of one step.
  Value apply(OpBuilder &builder, ReshardOp op, const Move &move,
              FlatSymbolRefAttr mesh, Value value);
};

void LowerReshardPass::lower(ReshardOp op) {
  RankedTensorType type = op.getType();
  Value value = op.getInput();
  if (value.getType() != type) {
    MeshOp mesh = getOperation().getMesh();
    auto meshRef = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
    Layout from = Layout::of(op.getInput().getType()), to = Layout::of(type);
    // The layout of a replicated tensor has no mesh, but cut layouts need one.
    from.setMesh(meshRef);
    to.setMesh(meshRef);
    Moves moves = join(Search(type, mesh, from, to).find());
    if (llvm::all_of(moves,
                     [](const Move &m) { return m.kind == Move::Relabel; }))
      return;
    OpBuilder builder(op);
    auto change = [&](Operation *made) {
      copyNames(op, made);
      value = made->getResult(0);
    };
    auto cast = [&](Type element) {
      if (element != getElementTypeOrSelf(value.getType()))
        change(CastOp::create(builder, op.getLoc(), value,
                              TypeAttr::get(element)));
    };
    // Between several reductions, sums are not rounded; but if a reduction
    // stays pending, the value must keep its type.
    SmallVector<const Move *> reductions;
    Type element = type.getElementType(), partial = element;
    for (const Move &move : moves)
      if (move.kind == Move::AllReduce || move.kind == Move::ReduceScatter) {
        reductions.push_back(&move);
        if (partial == element)
          partial = partialElement(move.reduction, element);
      }
    bool isKept = reductions.size() > 1 && !to.hasPartial();
    for (const Move &move : moves) {
      if (isKept && &move == reductions.front() && partial != element) {
        if (hasPartials(value))
          change(
              ReshardOp::create(builder, op.getLoc(), asLocal(value), value));
        cast(partial);
      }
      value = apply(builder, op, move, meshRef, value);
      if (isKept && &move == reductions.back())
        cast(element);
    }
  }
  op.replaceAllUsesWith(value);
  op.erase();
}

Value LowerReshardPass::apply(OpBuilder &builder, ReshardOp op,
                              const Move &move, FlatSymbolRefAttr mesh,
                              Value value) {
  Location loc = op.getLoc();
  auto axes = AxesAttr::get(op.getContext(), mesh, move.axes);
  Operation *made = nullptr;
  switch (move.kind) {
  case Move::Slice:
    made = SliceOp::create(builder, loc, value, move.to, axes);
    break;
  case Move::AllGather:
    made = AllGatherOp::create(builder, loc, value, axes);
    break;
  case Move::AllToAll:
    made = AllToAllOp::create(builder, loc, value, move.from, move.to, axes);
    break;
  case Move::AllReduce:
    made = AllReduceOp::create(builder, loc, move.reduction, value, axes);
    break;
  case Move::ReduceScatter:
    made = ReduceScatterOp::create(builder, loc, move.reduction, value, move.to,
                                   axes);
    break;
  case Move::Relabel: {
    auto type = cast<RankedTensorType>(value.getType());
    Layout local = Layout::of(type);
    local.setMesh(mesh);
    for (StringAttr axis : move.axes)
      local.setState(axis, localState);
    made = ReshardOp::create(
        builder, loc, local.getType(type.getShape(), type.getElementType()),
        value);
    break;
  }
  }
  copyNames(op, made);
  return made->getResult(0);
}

} // namespace
