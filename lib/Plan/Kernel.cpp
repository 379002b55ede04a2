//===- Kernel.cpp - Makes one kernel from operations ----------------------===//
//
// Finds the pieces of values, and lowers operations that need no other rank.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Kernel.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

std::optional<unsigned> Kernel::chunkedDim(Value value) const {
  if (!chunk)
    return std::nullopt;
  auto it = chunk->chunking.dims.find(value);
  return it == chunk->chunking.dims.end() ? std::nullopt
                                          : std::optional(it->second);
}

bool Kernel::isSameForAllChunks(Operation *op) const {
  // Constants are computed again wherever they are used.
  return chunk && !isa<ConstantOp>(op) &&
         llvm::none_of(op->getResults(),
                       [&](Value result) { return chunkedDim(result); });
}

SmallVector<SliceBounds> Kernel::rangesOf(Value value) const {
  SmallVector<SliceBounds> ranges =
      clipRanges(chunk->ranges, chunk->chunking.offsets.lookup(value),
                 Planner::shapeOf(value)[*chunkedDim(value)]);
  // A rank that has no part of the chunk does the same with an empty range.
  if (ranges.empty())
    ranges.push_back({0, 0});
  return ranges;
}

size_t Kernel::countPieces(Value value) const {
  return chunkedDim(value) ? rangesOf(value).size() : 1;
}

Sizes Kernel::sizesOf(Value value, size_t index) const {
  Sizes sizes(Planner::shapeOf(value));
  if (std::optional<unsigned> dim = chunkedDim(value))
    sizes[*dim] = rangesOf(value)[index].size;
  return sizes;
}

Sizes Kernel::offsetsOf(Value value, size_t index) const {
  Sizes offsets(Planner::shapeOf(value).size());
  if (std::optional<unsigned> dim = chunkedDim(value))
    offsets[*dim] = rangesOf(value)[index].offset;
  return offsets;
}

Strided Kernel::pieceOf(const Strided &whole, Value value, size_t index) const {
  return subBox(whole, offsetsOf(value, index), sizesOf(value, index));
}

Kernel::Piece Kernel::getPiece(Value value, size_t index) {
  if (!chunkedDim(value))
    index = 0;
  if (auto it = pushed.find(value); it != pushed.end()) {
    auto [group, after] = it->second;
    pushed.erase(it);
    synchronize(group, after);
  }
  auto it = pieces.find(value);
  if (it != pieces.end())
    return it->second[index];
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    Node *node = addNode(constant, 0, {});
    return {{}, {}, {}, node};
  }
  const Strided *whole = planner.findStorage(value);
  assert(whole && "what a kernel takes has been made");
  Strided view = pieceOf(*whole, value, index);
  return {view.sizes, view, {}, nullptr};
}

/// The dimension of an operand that has the same index as dimension `dim` of
/// the result, if there is one.
static std::optional<unsigned> operandDim(OpOperand &operand, unsigned dim) {
  Operation *op = operand.getOwner();
  unsigned number = operand.getOperandNumber();
  auto rank = static_cast<unsigned>(Planner::shapeOf(op->getResult(0)).size());
  auto rankOf = [](Value value) {
    return static_cast<unsigned>(Planner::shapeOf(value).size());
  };
  auto if_ = [](bool runs, unsigned with) {
    return runs ? std::optional(with) : std::nullopt;
  };
  if (isElementwise(op) || isa<ConcatOp>(op))
    return if_(rankOf(operand.get()) == rank, dim);
  if (isa<MatmulOp>(op)) {
    if (number == 0)
      return if_(dim + 1 < rank, dim);
    if (dim + 1 == rank)
      return rankOf(operand.get()) - 1;
    return if_(rankOf(operand.get()) == rank && dim + 2 < rank, dim);
  }
  if (isa<Conv2dOp>(op))
    return if_(dim == number, 0);
  if (isa<GatherRowsOp>(op))
    return number == 0 ? if_(dim > 0, dim) : if_(dim == 0, 0);
  if (isa<ScatterRowsOp>(op))
    return if_(dim > 0 && number != 1, dim);
  return std::nullopt;
}

FailureOr<Strided> Kernel::store(OpOperand &operand, size_t index) {
  Value value = operand.get(), result = operand.getOwner()->getResult(0);
  std::optional<unsigned> dim = chunkedDim(result);
  if (dim && !chunkedDim(value))
    dim = operandDim(operand, *dim);
  else
    dim = std::nullopt;
  FailureOr<Strided> view = store(value, index);
  if (failed(view) || !dim)
    return view;
  // If the whole operand is stored, the chunk of it is the one of its user.
  SliceBounds range = rangesOf(result)[index];
  Sizes offsets(view->sizes.size()), sizes = view->sizes;
  offsets[*dim] = range.offset;
  sizes[*dim] = range.size;
  return subBox(*view, offsets, sizes);
}

FailureOr<Strided> Kernel::store(Value value, size_t index) {
  if (!chunkedDim(value))
    index = 0;
  Piece piece = getPiece(value, index);
  if (Node *node = piece.node) {
    if (!node->isStored) {
      node->isRequired = true;
      if (failed(node->sizes.empty() ? flushScalars() : flush(domainOf(value))))
        return failure();
    }
    assert(node->isStored && "what is required is stored");
    return *node->place;
  }
  if (!piece.all)
    return piece.view;
  Strided home = pieceOf(planner.homeOf(value), value, index);
  if (failed(addCopyLoop({piece.view, piece.all}, {home}, value.getLoc())))
    return failure();
  pieces[value][index] = {home.sizes, home, {}, nullptr};
  return home;
}

Strided Kernel::copyOf(const Strided &view, Type element) {
  int64_t count = view.count();
  Strided copy = Strided::whole(
      planner.addBuffer(Memory::private_, element, count), view.sizes);
  parts.copy(view, copy);
  return copy;
}

FailureOr<Strided> Kernel::storeContiguous(OpOperand &operand, size_t index) {
  FailureOr<Strided> view = store(operand, index);
  if (failed(view) || view->isRowMajor())
    return view;
  return copyOf(*view, Planner::elementOf(operand.get()));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult Kernel::lowerElementwise(Operation *op) {
  Value result = op->getResult(0);
  MutableArrayRef<OpOperand> read = op->getOpOperands();
  // An iota takes only the shape of its operand.
  if (isa<IotaOp>(op))
    read = {};
  for (size_t i = 0; i < countPieces(result); ++i) {
    SmallVector<Piece, 3> operands;
    for (OpOperand &operand : read) {
      Value value = operand.get();
      if (Planner::shapeOf(value).empty() || chunkedDim(value) ||
          !chunkedDim(result)) {
        operands.push_back(getPiece(value, i));
        continue;
      }
      FailureOr<Strided> view = store(operand, i);
      if (failed(view))
        return failure();
      operands.push_back({view->sizes, *view, {}, nullptr});
    }
    addNode(op, i, std::move(operands));
  }
  return success();
}

std::pair<size_t, int64_t> Kernel::locate(Value input, Value result,
                                          size_t index) const {
  auto beginOf = [&](Value value, SliceBounds range) {
    return chunk->chunking.offsets.lookup(value) + range.offset;
  };
  SliceBounds wanted = rangesOf(result)[index];
  for (auto [i, range] : llvm::enumerate(rangesOf(input)))
    if (int64_t begin = beginOf(result, wanted) - beginOf(input, range);
        begin >= 0 && begin + wanted.size <= range.size && wanted.size > 0)
      return {i, begin};
  assert(wanted.size == 0 && "a part of what is cut is in one of its pieces");
  return {0, 0};
}

bool Kernel::isOnlyShape(Value value) const {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           if (!ops.contains(user))
             return false;
           return isa<IotaOp>(user) ||
                  (isa<TransposeOp, ReshapeOp, ExtractOp, BroadcastToOp>(
                       user) &&
                   isOnlyShape(user->getResult(0)));
         });
}

LogicalResult Kernel::lowerMovement(Operation *op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  if (isOnlyShape(result))
    return success();
  for (size_t i = 0; i < countPieces(result); ++i) {
    size_t from = i;
    int64_t begin = 0;
    if (auto extract = dyn_cast<ExtractOp>(op)) {
      begin = static_cast<int64_t>(extract.getBegin());
      if (auto dim = chunkedDim(input); dim && *dim == extract.getDim())
        std::tie(from, begin) = locate(input, result, i);
    }
    FailureOr<Strided> view = store(input, from);
    if (failed(view))
      return failure();
    Sizes sizes = sizesOf(result, i);
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      addView(result, permute(*view, transpose.getPermutation()));
    } else if (auto extract = dyn_cast<ExtractOp>(op)) {
      Sizes offsets(sizes.size());
      offsets[extract.getDim()] = begin;
      addView(result, subBox(*view, offsets, sizes));
    } else if (isa<BroadcastToOp>(op)) {
      addView(result, broadcastTo(*view, sizes));
    } else {
      std::optional<Strided> reshaped = reshape(*view, sizes);
      if (!reshaped)
        reshaped = reshape(copyOf(*view, Planner::elementOf(input)), sizes);
      addView(result, *reshaped);
    }
  }
  return success();
}

LogicalResult Kernel::lowerConcat(ConcatOp op) {
  Value result = op.getResult();
  for (size_t i = 0; i < countPieces(result); ++i) {
    Strided home = pieceOf(planner.homeOf(result), result, i);
    Sizes offsets(home.sizes.size());
    for (OpOperand &operand : op->getOpOperands()) {
      Value input = operand.get();
      Sizes sizes = home.sizes;
      sizes[op.getDim()] = Planner::shapeOf(input)[op.getDim()];
      Strided target = subBox(home, offsets, sizes);
      // An operand that only this concatenation needs is computed in place.
      Piece piece = getPiece(input, i);
      if (piece.sizes == sizes && piece.node && !piece.node->isStored &&
          input.hasOneUse() && !piece.node->sizes.empty())
        piece.node->place = target;
      FailureOr<Strided> view = store(operand, i);
      if (failed(view))
        return failure();
      if (*view != target)
        parts.copy(*view, target);
      offsets[op.getDim()] += sizes[op.getDim()];
    }
    addView(result, home);
  }
  return success();
}

void Kernel::addContiguous(Value result, size_t index,
                           llvm::function_ref<void(const Strided &)> make) {
  Strided home = pieceOf(planner.homeOf(result), result, index), made = home;
  if (!home.isRowMajor())
    made = Strided::whole(planner.addBuffer(Memory::private_,
                                            Planner::elementOf(result),
                                            home.count()),
                          home.sizes);
  make(made);
  if (made != home)
    parts.copy(made, home);
  addView(result, home);
}

/// With filters of one pixel, each image is a matrix of channels and pixels
/// that is multiplied by the matrix of filters and channels.
static bool isProduct(Conv2dOp op) {
  ArrayRef<int64_t> filter = Planner::shapeOf(op.getFilter());
  return filter[2] == 1 && filter[3] == 1 && op.getStride() == 1 &&
         op.getPadding() == 0;
}

/// Images in contiguous memory as matrices of channels and pixels.
static Strided asMatrices(const Strided &images) {
  ArrayRef<int64_t> sizes = images.sizes;
  return *reshape(images, {sizes[0], sizes[1], sizes[2] * sizes[3]});
}

LogicalResult Kernel::lowerConv2d(Conv2dOp op) {
  Value result = op.getResult();
  for (size_t i = 0; i < countPieces(result); ++i) {
    FailureOr<Strided> x = storeContiguous(op.getInputMutable(), i),
                       w = storeContiguous(op.getFilterMutable(), i);
    if (failed(x) || failed(w))
      return failure();
    addContiguous(result, i, [&](const Strided &y) {
      if (isProduct(op)) {
        Strided filters = *reshape(*w, {w->sizes[0], w->sizes[1]});
        parts.matmul(
            broadcastTo(filters, {x->sizes[0], w->sizes[0], w->sizes[1]}),
            asMatrices(*x), asMatrices(y));
        return;
      }
      parts.conv2d(*x, *w, y, static_cast<int64_t>(op.getStride()),
                   static_cast<int64_t>(op.getPadding()));
    });
  }
  return success();
}

LogicalResult Kernel::lowerGatherRows(GatherRowsOp op) {
  Value result = op.getResult();
  for (size_t i = 0; i < countPieces(result); ++i) {
    FailureOr<Strided> table = storeContiguous(op.getTableMutable(), i),
                       indices = storeContiguous(op.getIndicesMutable(), i);
    if (failed(table) || failed(indices))
      return failure();
    addContiguous(result, i, [&](const Strided &to) {
      parts.gatherRows(*table, *indices, to);
    });
  }
  return success();
}

LogicalResult Kernel::lowerScatterRows(ScatterRowsOp op) {
  Value result = op.getResult();
  for (size_t i = 0; i < countPieces(result); ++i) {
    FailureOr<Strided> table = storeContiguous(op.getTableMutable(), i),
                       indices = storeContiguous(op.getIndicesMutable(), i),
                       rows = storeContiguous(op.getRowsMutable(), i);
    if (failed(table) || failed(indices) || failed(rows))
      return failure();
    addContiguous(result, i, [&](const Strided &to) {
      parts.scatterRows(*table, *indices, *rows, to);
    });
  }
  return success();
}

LogicalResult Kernel::lowerOp(Operation *op) {
  if (isElementwise(op))
    return lowerElementwise(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<TransposeOp, ReshapeOp, ExtractOp, BroadcastToOp>(
          [&](auto op) { return lowerMovement(op); })
      .Case([&](ConcatOp op) { return lowerConcat(op); })
      .Case([&](ReductionOp op) { return lowerReduction(op); })
      .Case([&](MatmulOp op) { return lowerMatmul(op); })
      .Case([&](Conv2dOp op) { return lowerConv2d(op); })
      .Case([&](GatherRowsOp op) { return lowerGatherRows(op); })
      .Case([&](ScatterRowsOp op) { return lowerScatterRows(op); })
      .Case([&](CommunicateOp op) { return lowerCommunicate(op); })
      .Default([](Operation *op) {
        return op->emitOpError()
               << "expected an operation that kernels are made from";
      });
}

LogicalResult Kernel::makeOutputs(ArrayRef<Operation *> list) {
  SmallVector<Value> outputs;
  for (Operation *op : list)
    for (Value value : op->getResults())
      if (llvm::any_of(value.getUsers(), [&](Operation *user) {
            return !ops.contains(user) ||
                   (isSameForAllChunks(op) && !isSameForAllChunks(user));
          }))
        outputs.push_back(value);
  for (Value value : outputs) {
    size_t count = countPieces(value);
    SmallVector<Strided> made;
    for (size_t i = 0; i < count; ++i) {
      FailureOr<Strided> view = store(value, i);
      if (failed(view))
        return failure();
      made.push_back(*view);
    }
    if (!chunkedDim(value)) {
      planner.setStorage(value, made.front());
      continue;
    }
    // Puts the chunks together in the value's home.
    Strided home = planner.homeOf(value);
    for (size_t i = 0; i < count; ++i)
      if (Strided place = pieceOf(home, value, i); made[i] != place)
        parts.copy(made[i], place);
    planner.setStorage(value, home);
  }
  return success();
}

LogicalResult Kernel::lower(ArrayRef<Operation *> all) {
  SmallVector<Operation *> list(all);
  if (chunk && !chunk->isFirst)
    llvm::erase_if(list, [&](Operation *op) { return isSameForAllChunks(op); });
  ops.insert_range(list);
  findDomains();
  // Inputs of collectives that come from outside of the kernel are stored in
  // symmetric memory before the first barrier.
  for (Operation *op : list)
    if (auto communicate = dyn_cast<CommunicateOp>(op))
      if (Operation *definer = communicate.getInput().getDefiningOp();
          !exchangeOf(communicate) && !isPushed(communicate) &&
          (!definer || !ops.contains(definer)))
        if (failed(stage(communicate)))
          return failure();
  for (Operation *op : list) {
    if (failed(lowerOp(op)))
      return failure();
    lowered.insert(op);
  }
  if (failed(makeOutputs(list)))
    return failure();
  finish();
  return success();
}
