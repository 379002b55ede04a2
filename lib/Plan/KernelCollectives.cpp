//===- KernelCollectives.cpp - Operations along axes of the mesh ----------===//
//
// A rank's input is in symmetric memory if other ranks read it. Between
// barriers, a rank reads the elements that it needs from other ranks (or
// combines those of all ranks), or stores its result in the memory of all
// ranks.
//
// All ranks make the same barriers, exchanges and symmetric buffers, even where
// one of them has nothing to give or take.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Kernel.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

/// A slice of this many elements of any type ends at the end of a vector.
constexpr int64_t alignedElements = 64;

Sizes plan::boxSizes(const TensorPart &part) {
  Sizes sizes;
  for (SliceBounds bounds : part)
    sizes.push_back(bounds.size);
  return sizes;
}

Strided plan::boxIn(const Strided &view, const TensorPart &part,
                    const TensorPart &box) {
  Sizes offsets;
  for (auto [whole, own] : llvm::zip_equal(part, box))
    offsets.push_back(own.offset - whole.offset);
  return subBox(view, offsets, boxSizes(box));
}

std::optional<TensorPart> plan::intersect(const TensorPart &a,
                                          const TensorPart &b) {
  TensorPart common;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    int64_t begin = std::max(x.offset, y.offset);
    int64_t end = std::min(x.offset + x.size, y.offset + y.size);
    if (begin >= end)
      return std::nullopt;
    common.push_back({begin, end - begin});
  }
  return common;
}

int64_t plan::countBoxes(ArrayRef<TensorPart> boxes) {
  int64_t count = 0;
  for (const TensorPart &box : boxes)
    count += countOf(boxSizes(box));
  return count;
}

/// The boxes of a tensor of `type` that `rank` holds of `value`, in elements of
/// the whole tensor: one box, or one for each range of the chunk.
SmallVector<TensorPart> Kernel::boxesOf(RankedTensorType type, Value value,
                                        int64_t rank) {
  const TensorPart &part = planner.partOf(type, rank);
  std::optional<unsigned> dim = chunkedDim(value);
  if (!dim)
    return {part};
  // The chunking's coordinates start where the chunked value begins, which need
  // not be where this rank's part of the tensor begins.
  int64_t shift = chunk->chunking.offsets.lookup(value) -
                  planner.partOf(type, planner.getRank())[*dim].offset;
  SliceBounds own = part[*dim];
  SmallVector<TensorPart> boxes;
  for (SliceBounds range :
       clipRanges(chunk->ranges, own.offset + shift, own.size)) {
    boxes.push_back(part);
    boxes.back()[*dim] = {own.offset + range.offset, range.size};
  }
  if (boxes.empty()) {
    boxes.push_back(part);
    boxes.back()[*dim].size = 0;
  }
  return boxes;
}

//===----------------------------------------------------------------------===//
// Meetings
//===----------------------------------------------------------------------===//

void Kernel::add(const Loop &loop) {
  // The ranks of a ring meet in a barrier after the whole ring, not after each
  // chunk.
  if (!isRing())
    for (const Operand &input : loop.inputs)
      if (input.all && !input.all.getSlots())
        accessOthers(input.all.getGroup());
  parts.loop(loop);
}

void Kernel::barrier(GroupAttr group) {
  parts.barrier(group, planner.takeFlags(group.getRanks().size()));
  met[group] = parts.size();
  if (!takenLater.contains(group))
    dirty.remove(group);
}

void Kernel::synchronize(GroupAttr group, size_t after) {
  auto it = met.find(group);
  if (it == met.end() || it->second <= after)
    barrier(group);
}

void Kernel::finish() {
  for (GroupAttr group : llvm::to_vector(dirty))
    barrier(group);
}

FailureOr<Strided> Kernel::stage(CommunicateOp op) {
  auto it = staged.find(op);
  if (it != staged.end())
    return it->second.view;
  Value input = op.getInput();
  SmallVector<Strided> views;
  for (size_t i = 0; i < countPieces(input); ++i) {
    FailureOr<Strided> view = store(input, i);
    if (failed(view))
      return failure();
    views.push_back(*view);
  }
  Strided whole = planner.stagingOf(op);
  for (auto [i, view] : llvm::enumerate(views))
    if (Strided place = pieceOf(whole, input, i); view != place)
      parts.copy(view, place);
  staged[op] = {whole, parts.size()};
  return whole;
}

void Kernel::tell(const Geometry &geometry, int64_t flags,
                  llvm::function_ref<bool(int64_t)> isTaker) {
  for (int64_t rank : geometry.group.getRanks())
    if (rank != planner.getRank() && isTaker(rank))
      parts.signal(rank, flags + geometry.position);
}

void Kernel::await(const Geometry &geometry, int64_t flags,
                   llvm::function_ref<bool(int64_t)> isGiver) {
  for (auto [i, rank] : llvm::enumerate(geometry.group.getRanks()))
    if (rank != planner.getRank() && isGiver(rank))
      parts.await(rank, flags + static_cast<int64_t>(i));
}

bool plan::anyRank(int64_t) { return true; }

bool plan::hasElements(ArrayRef<TensorPart> boxes) {
  return llvm::any_of(boxes, [](const TensorPart &box) {
    return llvm::all_of(box, [](SliceBounds b) { return b.size > 0; });
  });
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

FailureOr<Strided> Kernel::storeWhole(Value value) {
  if (!chunkedDim(value))
    return store(value, 0);
  // A value that was computed before lies in one place. It is not copied here,
  // since several stages could make the copy at the same time.
  const Strided *made = planner.findStorage(value);
  if (made && !pieces.contains(value))
    return *made;
  Strided whole = planner.homeOf(value);
  for (size_t i = 0; i < countPieces(value); ++i) {
    FailureOr<Strided> piece = store(value, i);
    if (failed(piece))
      return failure();
    if (Strided place = pieceOf(whole, value, i); *piece != place)
      parts.copy(*piece, place);
  }
  return whole;
}

SmallVector<Operand>
Kernel::push(CommunicateOp op, const Geometry &geometry, int64_t largest,
             llvm::function_ref<SmallVector<Strided>(int64_t)> viewsFor) {
  ArrayRef<int64_t> group = geometry.group.getRanks();
  auto members = static_cast<int64_t>(group.size());
  // Every slot is as aligned as the first and, even if nothing is sent, has an
  // address of its own.
  largest =
      llvm::divideCeilSigned(std::max<int64_t>(largest, 1), alignedElements) *
      alignedElements;
  int buffer = planner.addBuffer(
      Memory::symmetric, Planner::elementOf(op.getInput()), members * largest);
  auto slotsOf = [&](int64_t first, ArrayRef<Strided> views) {
    SmallVector<Strided> slots;
    for (const Strided &view : views) {
      slots.push_back(Strided::whole(buffer, view.sizes));
      slots.back().offset = first;
      first += view.count();
    }
    return slots;
  };
  // All ranks reach this kernel before any writes into their memory.
  synchronize(geometry.group, 0);
  accessOthers(geometry.group);
  // Each rank sends to the next member first, so that not all send to the same.
  for (int64_t step = 1; step <= members; ++step) {
    int64_t member = (geometry.position + step) % members;
    SmallVector<Strided> views = viewsFor(member);
    for (auto [view, slot] :
         llvm::zip_equal(views, slotsOf(geometry.position * largest, views))) {
      if (step < members)
        slot.rank = group[static_cast<size_t>(member)];
      parts.copy(view, slot);
    }
  }
  barrier(geometry.group);
  auto all =
      AllAttr::get(op.getContext(), *op.getKind(), geometry.group, largest);
  SmallVector<Operand> come;
  for (const Strided &slot : slotsOf(0, viewsFor(geometry.position)))
    come.push_back({slot, all});
  return come;
}

LogicalResult Kernel::lowerPushedReducing(CommunicateOp op,
                                          const Geometry &geometry) {
  FailureOr<Strided> whole = storeWhole(op.getInput());
  if (failed(whole))
    return failure();
  planner.homeOf(op.getResult());
  auto boxesFor = [&](int64_t rank) {
    return boxesOf(geometry.to, op.getResult(), rank);
  };
  int64_t largest = 0;
  for (int64_t rank = 0; rank < planner.getMesh().getNumRanks(); ++rank)
    largest = std::max(largest, countBoxes(boxesFor(rank)));
  SmallVector<Operand> come = push(op, geometry, largest, [&](int64_t member) {
    SmallVector<Strided> views;
    for (const TensorPart &box :
         boxesFor(geometry.group.getRanks()[static_cast<size_t>(member)]))
      views.push_back(boxIn(*whole, geometry.ownFrom, box));
    return views;
  });
  for (const Operand &slot : come)
    addView(op.getResult(), slot.view, slot.all);
  return success();
}

LogicalResult Kernel::lowerReducing(CommunicateOp op,
                                    const Geometry &geometry) {
  // In a ring, and after a product, flags signal that members' values are
  // ready, and the other members read them there.
  if (pushes(op, geometry) && !productFlags.contains(op))
    return lowerPushedReducing(op, geometry);
  FailureOr<Strided> whole = stage(op);
  if (failed(whole))
    return failure();
  // Members that have a part of the result read the others' inputs.
  auto isTaker = [&](int64_t rank) {
    return hasElements(boxesOf(geometry.to, op.getResult(), rank));
  };
  auto awaitParts = [&](int64_t flags) {
    if (isTaker(planner.getRank()))
      await(geometry, flags, anyRank);
  };
  if (isRing()) {
    tell(geometry, *chunk->flags, isTaker);
    awaitParts(*chunk->flags);
  } else if (auto flags = productFlags.find(op); flags != productFlags.end()) {
    // The product has signalled each owner that its part is ready.
    awaitParts(flags->second);
    accessOthers(geometry.group);
  } else {
    synchronize(geometry.group, staged[op].part);
    accessOthers(geometry.group);
  }
  // A later loop combines the values, maybe after the last barrier, which add()
  // notes. With a root, only the root has such a loop, but all members need the
  // barrier.
  if (op.getRoot())
    takenLater.insert(geometry.group);
  // All ranks reserve memory for the result now, in the same order, no matter
  // what they store there and when.
  planner.homeOf(op.getResult());
  // Ranks other than the root keep their input.
  if (op.getRoot() &&
      static_cast<int64_t>(*op.getRoot()) != geometry.position) {
    for (size_t i = 0; i < countPieces(op.getInput()); ++i)
      addPiece(op.getResult(), getPiece(op.getInput(), i));
    return success();
  }
  auto all = AllAttr::get(op.getContext(), *op.getKind(), geometry.group, 0);
  for (const TensorPart &box :
       boxesOf(geometry.to, op.getResult(), planner.getRank()))
    addView(op.getResult(), boxIn(*whole, geometry.ownFrom, box), all);
  return success();
}

/// Slice `number` of `count` slices along the first dimension that is larger
/// than 1. If no dimension follows it, all slices but the last have a multiple
/// of `unit` elements.
static Strided cut(const Strided &view, int64_t unit, int64_t count,
                   int64_t number) {
  size_t dim = 0;
  while (dim + 1 < view.sizes.size() && view.sizes[dim] == 1)
    ++dim;
  int64_t size = view.sizes[dim];
  if (dim + 1 < view.sizes.size())
    unit = 1;
  SliceBounds slice =
      sliceBounds(llvm::divideCeilSigned(size, unit), {count}, {number});
  Sizes offsets(view.sizes.size()), sizes = view.sizes;
  offsets[dim] = std::min(slice.offset * unit, size);
  sizes[dim] =
      std::min((slice.offset + slice.size) * unit, size) - offsets[dim];
  return subBox(view, offsets, sizes);
}

/// The unit of slices, in elements. Slices begin where vectors begin. If rows
/// do so too, and there are so many that one row more or less makes no
/// difference, slices consist of whole rows, which code that works on rows can
/// then await one by one.
static int64_t unitOf(ArrayRef<int64_t> sizes, int64_t members) {
  constexpr int64_t manyRows = 32;
  int64_t row = sizes.empty() ? 1 : sizes.back();
  return row > 0 && row % alignedElements == 0 &&
                 countOf(sizes) / row >= manyRows * members
             ? row
             : alignedElements;
}

LogicalResult Kernel::lowerTwoShot(CommunicateOp op, const Geometry &geometry) {
  bool isSent = pushes(op, geometry);
  FailureOr<Strided> from = isSent ? storeWhole(op.getInput()) : stage(op);
  if (failed(from))
    return failure();
  Value result = op.getResult();
  Strided to = planner.symmetricHomeOf(result, geometry.to);
  auto members = static_cast<int64_t>(geometry.group.getRanks().size());
  // Each rank combines a slice of each piece: of all its elements or, if they
  // are not contiguous, along one dimension.
  SmallVector<std::pair<Strided, Strided>> all;
  // The unit is the same on all ranks. Pieces of chunks may have few rows.
  int64_t unit = chunkedDim(result) ? alignedElements
                                    : unitOf(geometry.from.getShape(), members);
  for (size_t i = 0; i < countPieces(result); ++i) {
    Strided source = pieceOf(*from, result, i);
    Strided target = pieceOf(to, result, i);
    addView(result, target);
    // The target, unlike the source, has the same order on all ranks, so only
    // the target decides.
    if (target.isRowMajor()) {
      if (!source.isRowMajor())
        source = copyOf(source, Planner::elementOf(result));
      source = *reshape(source, {source.count()});
      target = *reshape(target, {target.count()});
    }
    all.push_back({source, target});
  }
  auto sliceOf = [&](const Strided &piece, int64_t member) {
    return cut(piece, unit, members, member);
  };
  SmallVector<Operand> reads;
  if (isSent) {
    auto slicesFor = [&](int64_t member) {
      SmallVector<Strided> slices;
      for (const auto &[source, target] : all)
        slices.push_back(sliceOf(source, member));
      return slices;
    };
    // The slices of the first member are the largest of its group; those of
    // other groups may be larger.
    int64_t largest = 0;
    for (int64_t rank = 0; rank < planner.getMesh().getNumRanks(); ++rank) {
      int64_t count = 0;
      for (const TensorPart &box :
           boxesOf(geometry.from, op.getInput(), rank)) {
        Sizes sizes = boxSizes(box);
        count += std::max(
            cut(Strided::whole(0, sizes), unit, members, 0).count(),
            cut(Strided::whole(0, {countOf(sizes)}), unit, members, 0).count());
      }
      largest = std::max(largest, count);
    }
    reads = push(op, geometry, largest, slicesFor);
  } else {
    synchronize(geometry.group, staged[op].part);
    accessOthers(geometry.group);
    auto taken =
        AllAttr::get(op.getContext(), *op.getKind(), geometry.group, 0);
    for (const auto &[source, target] : all)
      reads.push_back({sliceOf(source, geometry.position), taken});
  }
  auto given = AllAttr::get(op.getContext(), std::nullopt, geometry.group, 0);
  for (const auto &[read, piece] : llvm::zip_equal(reads, all))
    if (failed(addCopyLoop(read,
                           {sliceOf(piece.second, geometry.position), given},
                           op.getLoc())))
      return failure();
  barrier(geometry.group);
  return success();
}

/// Whether a loop of this kernel computes the input of an all_gather; the loop
/// then stores it in the memory of all members. The same on all ranks.
bool Kernel::isPushable(CommunicateOp op) {
  Operation *definer = op.getInput().getDefiningOp();
  if (op.getCollective() != Collective::all_gather || isRing() || !definer ||
      !ops.contains(definer) || !isElementwise(definer) ||
      Planner::shapeOf(op.getInput()).empty())
    return false;
  return llvm::all_of(pieces.lookup(op.getInput()), [](const Piece &piece) {
    return piece.node && !piece.node->isStored && !piece.node->place;
  });
}

LogicalResult Kernel::lowerPush(CommunicateOp op, const Geometry &geometry) {
  Value input = op.getInput(), result = op.getResult();
  Strided whole = planner.symmetricHomeOf(result, geometry.to);
  // All ranks reach this kernel before any writes into their memory.
  synchronize(geometry.group, 0);
  accessOthers(geometry.group);
  auto all = AllAttr::get(op.getContext(), std::nullopt, geometry.group, 0);
  for (auto [i, box] :
       llvm::enumerate(boxesOf(geometry.from, input, planner.getRank()))) {
    Node *node = pieces[input][i].node;
    node->place = boxIn(whole, geometry.ownTo, box);
    node->gives = all;
    node->isRequired = true;
  }
  if (failed(flush(domainOf(input))))
    return failure();
  // Loops that use only this rank's part need not wait for the other ranks.
  pushed[result] = {geometry.group, parts.size()};
  for (size_t i = 0; i < countPieces(result); ++i)
    addView(result, pieceOf(whole, result, i));
  return success();
}

/// The name of the chosen algorithm or protocol; empty for a ccn.algorithm.
static StringRef choiceOf(CommunicateOp op, StringRef attribute) {
  auto name = op->getAttrOfType<StringAttr>(attribute);
  return name ? name.getValue() : "";
}

Kernel::Geometry Kernel::geometryOf(CommunicateOp op) {
  Geometry geometry;
  geometry.from = op.getSourceType();
  geometry.to = op.getTargetType();
  geometry.group = planner.groupOf(op.getAxes());
  geometry.ownFrom = planner.partOf(geometry.from, planner.getRank());
  geometry.ownTo = planner.partOf(geometry.to, planner.getRank());
  geometry.position = llvm::find(geometry.group.getRanks(), planner.getRank()) -
                      geometry.group.getRanks().begin();
  return geometry;
}

LogicalResult Kernel::lowerCommunicate(CommunicateOp op) {
  Geometry geometry = geometryOf(op);
  StringRef algorithm = choiceOf(op, kAlgorithmAttr);
  if (std::optional<Exchange> exchange = exchangeOf(op))
    return lowerExchange(op, geometry, *exchange);
  switch (op.getCollective()) {
  case Collective::reduce_scatter:
  case Collective::reduce:
    return lowerReducing(op, geometry);
  case Collective::all_reduce:
    return algorithm == stringifyAlgorithm(Algorithm::one_shot)
               ? lowerReducing(op, geometry)
               : lowerTwoShot(op, geometry);
  default:
    if (isGatheredByProduct(op))
      return lowerShown(op, geometry);
    return isPushable(op) ? lowerPush(op, geometry) : lowerMoving(op, geometry);
  }
}

/// Stores the input where other ranks can read it, and signals them. A product
/// then reads the shards from there.
LogicalResult Kernel::lowerShown(CommunicateOp op, const Geometry &geometry) {
  if (failed(stage(op)))
    return failure();
  int64_t flags =
      planner.takeFlags(static_cast<int64_t>(geometry.group.getRanks().size()));
  productFlags[op] = flags;
  if (hasElements(boxesOf(geometry.from, op.getInput(), planner.getRank())))
    tell(geometry, flags, anyRank);
  return success();
}

//===----------------------------------------------------------------------===//
// Protocols
//===----------------------------------------------------------------------===//

bool plan::isPushed(CommunicateOp op) {
  if (choiceOf(op, kProtocolAttr) != stringifyProtocol(Protocol::push) ||
      exchangeOf(op))
    return false;
  MeshOp mesh = getMesh(op);
  int64_t members = 1;
  for (StringAttr axis : op.getAxes().getNames())
    members *= mesh.getAxisSize(axis);
  return members <= static_cast<int64_t>(kMaxKernelRanks) &&
         (op.getCollective() == Collective::all_reduce ||
          op.getCollective() == Collective::reduce_scatter);
}

std::optional<Exchange> plan::exchangeOf(CommunicateOp op) {
  if (op->getAttrOfType<FlatSymbolRefAttr>(kAlgorithmAttr))
    return Exchange::schedule;
  StringRef protocol = choiceOf(op, kProtocolAttr);
  if (choiceOf(op, kAlgorithmAttr) != stringifyAlgorithm(Algorithm::one_shot))
    return std::nullopt;
  if (protocol == stringifyProtocol(Protocol::ll))
    return Exchange::ll;
  if (protocol == stringifyProtocol(Protocol::lamport))
    return Exchange::lamport;
  return std::nullopt;
}
