//===- LowerReshard.cpp - Reshards as collectives -------------------------===//
//
// Searches the layouts that a tensor can take for the cheapest way from one to
// another. There are few: an axis is cut at one of the dimensions, replicated,
// partial or local.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"

#include <map>
#include <queue>

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_LOWERRESHARD
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

/// Bytes that a rank receives, then collectives; compared in this order.
struct Cost {
  double bytes = 0;
  unsigned steps = 0;

  auto operator<=>(const Cost &) const = default;
};

/// One step of a way between layouts.
struct Move {
  enum Kind { Slice, AllGather, AllToAll, AllReduce, ReduceScatter, Relabel };

  Kind kind = Slice;
  StringAttr axis;
  unsigned from = 0, to = 0;
  ReduceKind reduction = ReduceKind::sum;
};

/// The cheapest ways from one layout, found as far as the target.
class Search {
public:
  Search(RankedTensorType type, MeshOp mesh) : type(type), mesh(mesh) {}

  /// The steps from one layout to another; none if there is no way.
  std::optional<SmallVector<Move>> find(const Layout &from, const Layout &to);

private:
  struct Node {
    Layout layout;
    Cost cost;
    const Node *previous = nullptr;
    Move move;
  };

  /// The bytes of the part that one rank holds.
  double localBytes(const Layout &layout);
  void expand(const Node &node, const Layout &target,
              llvm::function_ref<void(Layout, double, Move)> reach);

  RankedTensorType type;
  MeshOp mesh;
};

double Search::localBytes(const Layout &layout) {
  double bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    SmallVector<int64_t> sizes, first;
    for (StringAttr axis : layout.getAxes(dim)) {
      sizes.push_back(mesh.getAxisSize(axis));
      first.push_back(0);
    }
    bytes *= sliceBounds(size, sizes, first).size;
  }
  return bytes;
}

void Search::expand(const Node &node, const Layout &target,
                    llvm::function_ref<void(Layout, double, Move)> reach) {
  const Layout &layout = node.layout;
  auto sliced = [](unsigned dim) {
    return AxisState{AxisState::Sliced, dim, ReduceKind::sum};
  };
  for (Attribute name : mesh.getAxisNames()) {
    auto axis = cast<StringAttr>(name);
    AxisState state = layout.getState(axis);
    double ranks = mesh.getAxisSize(axis);
    double others = ranks - 1;
    switch (state.kind) {
    case AxisState::Replicated:
      for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
        Layout next = layout;
        next.setState(axis, sliced(dim));
        reach(next, 0, {Move::Slice, axis, 0, dim, {}});
      }
      if (target.getState(axis).kind == AxisState::Local) {
        Layout next = layout;
        next.setState(axis, {AxisState::Local, 0, ReduceKind::sum});
        reach(next, 0, {Move::Relabel, axis, 0, 0, {}});
      }
      break;
    case AxisState::Sliced: {
      if (layout.getAxes(state.dim).back() != axis)
        break;
      Layout next = layout;
      next.setState(axis, {});
      reach(next, localBytes(layout) * others,
            {Move::AllGather, axis, state.dim, 0, {}});
      for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
        if (dim == state.dim)
          continue;
        Layout moved = layout;
        moved.setState(axis, sliced(dim));
        reach(moved, localBytes(moved) * others / ranks,
              {Move::AllToAll, axis, state.dim, dim, {}});
      }
      break;
    }
    case AxisState::Partial: {
      Layout next = layout;
      next.setState(axis, {});
      reach(next, localBytes(layout) * 2 * others / ranks,
            {Move::AllReduce, axis, 0, 0, state.reduction});
      for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
        Layout cut = layout;
        cut.setState(axis, sliced(dim));
        reach(cut, localBytes(layout) * others / ranks,
              {Move::ReduceScatter, axis, 0, dim, state.reduction});
      }
      if (target.getState(axis).kind == AxisState::Local) {
        Layout local = layout;
        local.setState(axis, {AxisState::Local, 0, ReduceKind::sum});
        reach(local, 0, {Move::Relabel, axis, 0, 0, {}});
      }
      break;
    }
    case AxisState::Local:
      break;
    }
  }
}

std::optional<SmallVector<Move>> Search::find(const Layout &from,
                                              const Layout &to) {
  // Layouts have no order; their text names them.
  std::map<std::string, Node> nodes;
  using Entry = std::pair<Cost, std::string>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  nodes[from.str()] = {from, {}, nullptr, {}};
  queue.push({Cost(), from.str()});
  while (!queue.empty()) {
    auto [cost, key] = queue.top();
    queue.pop();
    const Node &node = nodes[key];
    if (node.cost < cost)
      continue;
    if (node.layout == to) {
      SmallVector<Move> moves;
      for (const Node *at = &node; at->previous; at = at->previous)
        moves.push_back(at->move);
      std::reverse(moves.begin(), moves.end());
      return moves;
    }
    expand(node, to, [&](Layout next, double bytes, Move move) {
      Cost total = {node.cost.bytes + bytes, node.cost.steps + 1};
      std::string name = next.str();
      auto [it, inserted] = nodes.try_emplace(name);
      if (!inserted && it->second.cost <= total)
        return;
      it->second = {std::move(next), total, &node, move};
      queue.push({total, name});
    });
  }
  return std::nullopt;
}

struct LowerReshardPass : ccn::impl::LowerReshardBase<LowerReshardPass> {
  void runOnOperation() override {
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp op) { reshards.push_back(op); });
    for (ReshardOp op : reshards)
      if (failed(lower(op)))
        return signalPassFailure();
  }

  LogicalResult lower(ReshardOp op);
};

LogicalResult LowerReshardPass::lower(ReshardOp op) {
  RankedTensorType type = op.getType();
  MeshOp mesh = getOperation().getMesh();
  Layout from = Layout::of(op.getInput().getType()), to = Layout::of(type);
  auto meshRef = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
  // A replicated tensor names no mesh, but what it is cut into does.
  from.setMesh(meshRef);
  to.setMesh(meshRef);
  std::optional<SmallVector<Move>> moves = Search(type, mesh).find(from, to);
  if (!moves)
    return op.emitOpError("found no way to bring layout '")
           << from.str() << "' to '" << to.str() << "'";
  if (llvm::all_of(*moves,
                   [](Move move) { return move.kind == Move::Relabel; }))
    return success();

  OpBuilder builder(op);
  Value value = op.getInput();
  for (const Move &move : *moves) {
    Location loc = op.getLoc();
    auto axes = AxesAttr::get(op.getContext(), meshRef, move.axis);
    switch (move.kind) {
    case Move::Slice:
      value = SliceOp::create(builder, loc, value, move.to, axes);
      break;
    case Move::AllGather:
      value = AllGatherOp::create(builder, loc, value, axes);
      break;
    case Move::AllToAll:
      value = AllToAllOp::create(builder, loc, value, move.from, move.to, axes);
      break;
    case Move::AllReduce:
      value = AllReduceOp::create(builder, loc, move.reduction, value, axes);
      break;
    case Move::ReduceScatter:
      value = ReduceScatterOp::create(builder, loc, move.reduction, value,
                                      move.to, axes);
      break;
    case Move::Relabel: {
      Layout local = Layout::of(cast<RankedTensorType>(value.getType()));
      local.setMesh(meshRef);
      local.setState(move.axis, {AxisState::Local, 0, ReduceKind::sum});
      value = ReshardOp::create(
          builder, loc, local.getType(type.getShape(), type.getElementType()),
          value);
      break;
    }
    }
    value.getDefiningOp()->setDiscardableAttrs(
        op->getDiscardableAttrDictionary());
    ++numCollectives;
  }
  ++numLowered;
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

} // namespace
