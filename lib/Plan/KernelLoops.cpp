//===- KernelLoops.cpp - Elementwise operations and reductions ------------===//
//
// Makes loops of the operations that wait. A loop computes all waiting
// operations of its domain, and stores the results that others need. A
// reduction also computes the operations that only it needs.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Kernel.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

//===----------------------------------------------------------------------===//
// Domains and nodes
//===----------------------------------------------------------------------===//

void Kernel::findDomains() {
  for (Operation *op : ops) {
    if (!isElementwise(op))
      continue;
    Value result = op->getResult(0);
    const void *domain = result.getAsOpaquePointer();
    domains.insert(domain);
    for (Value operand : op->getOperands())
      // Values that are made whole and values that are made in chunks have
      // different domains.
      if (!Planner::shapeOf(operand).empty() &&
          chunkedDim(operand).has_value() == chunkedDim(result).has_value())
        domains.unionSets(domain, operand.getAsOpaquePointer());
  }
}

const void *Kernel::domainOf(Value value) const {
  auto it = domains.findLeader(value.getAsOpaquePointer());
  return it == domains.member_end() ? value.getAsOpaquePointer() : *it;
}

Kernel::Node *Kernel::addNode(Operation *op, size_t index,
                              SmallVector<Piece, 3> operands) {
  Value value = op->getResult(0);
  nodes.push_back({op, value, index, offsetsOf(value, index),
                   sizesOf(value, index), std::move(operands)});
  Node *node = &nodes.back();
  addPiece(value, {node->sizes, {}, {}, node});
  pending.insert(node);
  return node;
}

bool Kernel::isNeeded(const Node &node, const NodeSet &loop) const {
  if (node.isRequired)
    return true;
  bool isScalar = node.sizes.empty();
  return llvm::any_of(node.value.getUsers(), [&](Operation *user) {
    if (!ops.contains(user))
      // Constants are computed again wherever they are used.
      return !isa<ConstantOp>(node.op);
    if (!isElementwise(user))
      // Users that are lowered have used the value, or marked it as required.
      return !lowered.contains(user) && !isScalar;
    if (isScalar || isa<IotaOp>(user))
      return false;
    auto it = pieces.find(user->getResult(0));
    if (it == pieces.end())
      return true;
    Node *next = it->second[node.index].node;
    return next && !next->isStored && !next->isDone && !loop.contains(next);
  });
}

LogicalResult Kernel::flush(const void *domain, const NodeSet &except) {
  // One loop for each piece.
  llvm::SmallMapVector<size_t, NodeSet, 2> loops;
  for (Node *node : pending)
    if (!node->sizes.empty() && domainOf(node->value) == domain &&
        (except.empty() ||
         (except.front()->index == node->index && !except.contains(node))))
      loops[node->index].insert(node);
  for (auto &[index, loop] : loops)
    if (failed(addLoop(loop)))
      return failure();
  return success();
}

LogicalResult Kernel::flushScalars() {
  NodeSet loop;
  for (Node *node : pending)
    if (node->sizes.empty() && !node->isStored && node->isRequired)
      loop.insert(node);
  return loop.empty() ? success() : addLoop(loop);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Collects the inputs, steps and results of a loop.
class Kernel::LoopBuilder {
public:
  LoopBuilder(Kernel &kernel, ArrayRef<int64_t> domain)
      : kernel(kernel), domain(domain) {}

  /// The operand of the body that is the element of `piece`.
  BodyOperand use(const Piece &piece) {
    if (Node *node = piece.node) {
      if (auto it = steps.find(node); it != steps.end())
        return it->second;
      if (!node->isStored)
        return addStep(*node);
      return load({*node->place});
    }
    return load({piece.view, piece.all});
  }

  void addResult(BodyOperand operand) { spec.results.push_back(operand); }

  /// The loop over the inputs, with dimensions in the order of `permutation`.
  /// If all dimensions are reduced, one more, of size 1, is added at the front.
  FailureOr<Loop> finish(ArrayRef<int64_t> permutation, size_t reduced,
                         Location loc) {
    Loop loop;
    for (Operand &input : inputs) {
      loop.inputs.push_back(
          {arrange(input.view, permutation, reduced), input.all});
      spec.arguments.push_back(
          kernel.planner.getBuilder().elementAt(input.view.buffer));
    }
    for (Strided &position : positions) {
      Strided arranged = arrange(position, permutation, reduced);
      Sizes index = {arranged.offset};
      llvm::append_range(index, arranged.strides);
      loop.indices.push_back(index);
    }
    loop.reduced = reduced;
    spec.positions = static_cast<unsigned>(positions.size());
    FailureOr<func::FuncOp> body = kernel.planner.getBodies().make(spec, loc);
    if (failed(body))
      return failure();
    loop.body = *body;
    return loop;
  }

  static Strided arrange(const Strided &view, ArrayRef<int64_t> permutation,
                         size_t reduced) {
    Strided result = permute(view, permutation);
    if (permutation.size() == reduced) {
      result.sizes.insert(result.sizes.begin(), 1);
      result.strides.insert(result.strides.begin(), 0);
    }
    return result;
  }

private:
  BodyOperand load(Operand operand) {
    // A scalar is the same at every index.
    if (operand.view.sizes.empty()) {
      operand.view.sizes = Sizes(domain);
      operand.view.strides.assign(domain.size(), 0);
    }
    assert(llvm::equal(operand.view.sizes, domain) &&
           "operands have the loop's sizes");
    for (auto [i, input] : llvm::enumerate(inputs))
      if (input.view == operand.view && input.all == operand.all)
        return {true, static_cast<unsigned>(i)};
    inputs.push_back(operand);
    return {true, static_cast<unsigned>(inputs.size() - 1)};
  }

  BodyOperand addStep(Node &node) {
    BodyStep step = {node.op, {}, -1};
    for (const Piece &operand : node.operands)
      step.operands.push_back(use(operand));
    if (auto iota = dyn_cast<IotaOp>(node.op))
      step.position = addPosition(iota, node);
    if (auto dropout = dyn_cast<DropoutOp>(node.op))
      step.position = addPosition(dropout, node);
    spec.steps.push_back(std::move(step));
    BodyOperand result = {false, static_cast<unsigned>(spec.steps.size() - 1)};
    steps[&node] = result;
    return result;
  }

  int addPosition(DropoutOp op, const Node &node) {
    ArrayRef<int64_t> shape = Planner::shapeOf(op.getResult());
    Sizes strides = rowMajorStrides(op.getGlobalShape().value_or(shape));
    Strided position = {-1, 0, node.sizes, strides};
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      int64_t offset = node.offsets[dim];
      if (op.getOffsets())
        offset += (*op.getOffsets())[dim];
      position.offset += offset * strides[dim];
    }
    return addPosition(std::move(position));
  }

  int addPosition(IotaOp op, const Node &node) {
    auto dim = static_cast<size_t>(op.getDim());
    Strided position = {-1, static_cast<int64_t>(op.getFrom()), node.sizes,
                        Sizes(node.sizes.size(), 0)};
    position.offset += node.offsets[dim];
    position.strides[dim] = 1;
    return addPosition(std::move(position));
  }

  int addPosition(Strided position) {
    if (position.sizes.empty()) {
      position.sizes = Sizes(domain);
      position.strides.assign(domain.size(), 0);
    }
    auto it = llvm::find(positions, position);
    if (it == positions.end())
      it = positions.insert(it, position);
    return static_cast<int>(it - positions.begin());
  }

  Kernel &kernel;
  Sizes domain;
  BodySpec spec;
  SmallVector<Operand> inputs;
  SmallVector<Strided> positions;
  llvm::DenseMap<Node *, BodyOperand> steps;
};

static SmallVector<int64_t> identityOf(size_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(rank)));
}

LogicalResult Kernel::addLoop(const NodeSet &loop) {
  SmallVector<Node *> outputs;
  for (Node *node : loop)
    if (isNeeded(*node, loop))
      outputs.push_back(node);
  Node *first = loop.front();
  LoopBuilder builder(*this, first->sizes);
  for (Node *node : outputs)
    builder.addResult(builder.use({node->sizes, {}, {}, node}));
  size_t rank = first->sizes.size();
  if (!outputs.empty()) {
    FailureOr<Loop> built =
        builder.finish(identityOf(rank), 0, outputs.front()->op->getLoc());
    if (failed(built))
      return failure();
    for (Node *node : outputs) {
      if (!node->place) {
        // Every kernel that needs a constant computes it.
        Strided whole =
            isa<ConstantOp>(node->op)
                ? Strided::whole(
                      planner.addBuffer(Memory::private_,
                                        Planner::elementOf(node->value), 1),
                      {})
                : planner.homeOf(node->value);
        node->place = pieceOf(whole, node->value, node->index);
      }
      built->outputs.push_back(
          {LoopBuilder::arrange(*node->place, identityOf(rank), 0),
           node->gives});
      node->isStored = true;
    }
    add(*std::move(built));
  }
  for (Node *node : loop) {
    node->isDone = true;
    // Scalars stay pending: any loop can compute them.
    if (!node->sizes.empty())
      pending.remove(node);
  }
  return success();
}

LogicalResult Kernel::addCopyLoop(const Operand &from, const Operand &to,
                                  Location loc) {
  LoopBuilder builder(*this, from.view.sizes);
  builder.addResult(
      builder.use({from.view.sizes, from.view, from.all, nullptr}));
  SmallVector<int64_t> identity = identityOf(from.view.sizes.size());
  FailureOr<Loop> built = builder.finish(identity, 0, loc);
  if (failed(built))
    return failure();
  built->outputs.push_back(
      {LoopBuilder::arrange(to.view, identity, 0), to.all});
  add(*std::move(built));
  return success();
}

void Kernel::fillZero(const Strided &view) {
  Loop built;
  built.body =
      planner.getBodies().makeZero(planner.getBuilder().elementAt(view.buffer));
  built.outputs.push_back(
      {LoopBuilder::arrange(view, identityOf(view.sizes.size()), 0)});
  add(built);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Kernel::NodeSet Kernel::findInlined(Node *root, ReductionOp op) {
  NodeSet inlined;
  auto isOnlyUsedHere = [&](Node *node) {
    return !node->isRequired &&
           llvm::all_of(node->value.getUsers(), [&](Operation *user) {
             return user == op || llvm::any_of(inlined, [&](Node *other) {
                      return other->op == user;
                    });
           });
  };
  if (!isOnlyUsedHere(root))
    return inlined;
  inlined.insert(root);
  // Nodes are in the order of operations, so this visits all users of a node
  // before the node.
  for (Node *node : llvm::reverse(pending.getArrayRef()))
    if (!node->sizes.empty() && node->index == root->index && !node->isStored &&
        domainOf(node->value) == domainOf(root->value) && isOnlyUsedHere(node))
      inlined.insert(node);
  return inlined;
}

/// Whether a value is the result of a collective, or a view of one.
static bool isCommunicated(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<TransposeOp, ReshapeOp, ExtractOp, BroadcastToOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<CommunicateOp>(op);
}

bool Kernel::isRepeated(Node *root, ReductionOp op) {
  auto bytesOf = [](Value value) {
    return llvm::divideCeil(Planner::elementOf(value).getIntOrFloatBitWidth(),
                            8);
  };
  auto shape = Planner::shapeOf(op.getInput());
  auto row = static_cast<int64_t>(bytesOf(op.getInput()));
  for (int64_t dim : op.getDims())
    row *= shape[static_cast<size_t>(dim)];
  auto last = static_cast<int64_t>(shape.size()) - 1;
  // Bytes; about the shared memory of a block on any GPU, since plans do not
  // depend on the target.
  constexpr int64_t longest = 96 << 10;
  if (op.getDims().empty() ||
      (llvm::is_contained(op.getDims(), last) && row <= longest))
    return false;
  constexpr size_t maxSteps = 16, maxExpensive = 1;
  size_t expensive = 0;
  uint64_t loaded = 0;
  NodeSet steps;
  steps.insert(root);
  for (size_t i = 0; i < steps.size() && i < maxSteps; ++i) {
    Node *node = steps[i];
    if (isa<DropoutOp>(node->op))
      return false;
    const ElementwiseFunction *function = functionOf(node->op);
    expensive += function && function->isExpensive;
    // It has no operands: it does not read its elements.
    if (isa<IotaOp>(node->op))
      continue;
    for (auto [operand, value] :
         llvm::zip_equal(node->operands, node->op->getOperands())) {
      if (Planner::shapeOf(value).empty())
        continue;
      // Other ranks' memory should be read only once.
      if (isCommunicated(value))
        return false;
      if (operand.node && !operand.node->isStored)
        steps.insert(operand.node);
      else
        loaded += bytesOf(value);
    }
  }
  return steps.size() <= maxSteps && expensive <= maxExpensive &&
         loaded <= 2 * bytesOf(root->value);
}

LogicalResult Kernel::reducePiece(ReductionOp op, size_t index) {
  Value input = op.getInput(), result = op.getResult();
  Piece piece = getPiece(input, index);
  if (piece.node && !piece.node->isStored) {
    NodeSet inlined = findInlined(piece.node, op);
    bool repeats = isRepeated(piece.node, op);
    if (inlined.empty()) {
      if (!repeats && failed(store(input, index)))
        return failure();
    } else {
      // Operands that other loops need too are computed and stored first.
      bool isShared = false;
      for (Node *node : inlined)
        for (Piece &operand : node->operands)
          if (!repeats && operand.node && !operand.node->isStored &&
              !operand.node->sizes.empty() && !inlined.contains(operand.node))
            isShared = operand.node->isRequired = true;
      if (isShared && failed(flush(domainOf(input), inlined)))
        return failure();
      for (Node *node : inlined) {
        pending.remove(node);
        node->isDone = true;
      }
    }
  }
  LoopBuilder builder(*this, piece.sizes);
  builder.addResult(builder.use(piece));
  SmallVector<int64_t> permutation;
  ArrayRef<int64_t> dims = op.getDims();
  for (int64_t dim : identityOf(piece.sizes.size()))
    if (!llvm::is_contained(dims, dim))
      permutation.push_back(dim);
  llvm::append_range(permutation, dims);
  FailureOr<Loop> loop = builder.finish(permutation, dims.size(), op.getLoc());
  if (failed(loop))
    return failure();
  int64_t divisor = 1;
  if (op.getDivisor())
    divisor = static_cast<int64_t>(*op.getDivisor());
  else
    for (int64_t dim : dims)
      divisor *= Planner::shapeOf(input)[dim];
  if (!dims.empty()) {
    loop->reductions.push_back(op.getKind());
    loop->divisors.push_back(static_cast<double>(divisor));
  }
  // The result's dimensions come first, then those that are reduced.
  Strided home = pieceOf(planner.homeOf(result), result, index);
  addView(result, home);
  Strided target = home;
  if (target.sizes.empty()) {
    target.sizes.push_back(1);
    target.strides.push_back(0);
  }
  for (int64_t dim : dims) {
    target.sizes.push_back(piece.sizes[dim]);
    target.strides.push_back(0);
  }
  loop->outputs.push_back({target});
  add(*std::move(loop));
  return success();
}

LogicalResult Kernel::lowerReduction(ReductionOp op) {
  for (size_t i = 0; i < countPieces(op.getResult()); ++i)
    if (failed(reducePiece(op, i)))
      return failure();
  return success();
}
