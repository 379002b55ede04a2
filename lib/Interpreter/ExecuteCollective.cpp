//===- ExecuteCollective.cpp - Operations along axes of the mesh ----------===//
//
// Every collective is one meeting in which the ranks of a group show each other
// their whole parts; then each rank takes the elements that it needs. This is
// simple, and the meeting copies nothing, since ranks share tensors.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/RankExecutor.h"

namespace ccn::interp {

namespace {

ReduceKind reductionOf(::ccn::ReduceKind kind) {
  switch (kind) {
  case ::ccn::ReduceKind::sum:
    return ReduceKind::Sum;
  case ::ccn::ReduceKind::prod:
    return ReduceKind::Prod;
  case ::ccn::ReduceKind::max:
    return ReduceKind::Max;
  case ::ccn::ReduceKind::min:
    return ReduceKind::Min;
  }
  return ReduceKind::Sum;
}

/// `inner` relative to the part of the tensor that holds `outer`.
Box relativeTo(const Box &outer, Box inner) {
  for (size_t dim = 0; dim < inner.offsets.size(); ++dim)
    inner.offsets[dim] -= outer.offsets[dim];
  return inner;
}

/// The common part of two boxes; none if it is empty.
std::optional<Box> intersect(const Box &a, const Box &b) {
  Box box;
  for (size_t dim = 0; dim < a.offsets.size(); ++dim) {
    int64_t begin = std::max(a.offsets[dim], b.offsets[dim]);
    int64_t end =
        std::min(a.offsets[dim] + a.sizes[dim], b.offsets[dim] + b.sizes[dim]);
    if (begin >= end)
      return std::nullopt;
    box.offsets.push_back(begin);
    box.sizes.push_back(end - begin);
  }
  return box;
}

} // namespace

std::string describeLocation(mlir::Location loc) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto file = loc->findInstanceOf<mlir::FileLineColLoc>())
    os << file.getFilename().getValue() << ":" << file.getLine() << ":"
       << file.getColumn();
  else
    os << "an unknown place";
  return text;
}

/// The name of a meeting in messages.
static std::string describeMeeting(mlir::Operation *op) {
  auto collective = llvm::dyn_cast<CollectiveOpInterface>(op);
  llvm::StringRef name =
      collective ? stringifyCollective(collective.getCollective()) : "reshard";
  return (name + " at ").str() + describeLocation(op->getLoc());
}

Result<const RankExecutor::Parts *>
RankExecutor::exchange(mlir::Operation *op, const HostTensor &tensor,
                       llvm::ArrayRef<mlir::StringAttr> axes) {
  if (metAgain < met.size())
    return &met[metAgain++];
  Parts parts;
  parts.ranks = mesh.group(rank, axes);
  Meeting meeting;
  // Each rank has its own localized program, with other operations but the same
  // channels.
  auto communicate = llvm::dyn_cast<CommunicateOp>(op);
  meeting.id =
      communicate ? communicate.getChannel() : reinterpret_cast<uintptr_t>(op);
  meeting.sequence = sequence + static_cast<int64_t>(met.size());
  meeting.name = [op] { return describeMeeting(op); };
  Result<Shown> shown = meetings.exchange(rank, parts.ranks, meeting, tensor);
  if (!shown) {
    failedToMeet = true;
    return shown.status();
  }
  parts.shown = *std::move(shown);
  met.push_back(std::move(parts));
  return &met[metAgain++];
}

RankExecutor::Tensor RankExecutor::assemble(const Parts &parts,
                                            mlir::RankedTensorType type,
                                            const Box &box) {
  Tensor result = HostTensor::uninitialized(
      kernels.storageOf(elementTypeOf(type.getElementType())), box.sizes);
  if (!result)
    return result;
  int64_t written = 0;
  for (auto [member, tensor] :
       llvm::zip_equal(parts.ranks, parts.shown->values)) {
    Box own = mesh.boxOf(type, member);
    std::optional<Box> common = intersect(own, box);
    if (!common)
      continue;
    Tensor piece = extractBox(tensor, relativeTo(own, *common));
    if (!piece)
      return piece;
    if (Status status =
            writeBox(*result, relativeTo(box, *common).offsets, *piece);
        !status)
      return status;
    written += piece->count();
  }
  if (written != result->count())
    return error("internal error: the parts of ", result->describe(), " cover ",
                 written, " elements");
  return result;
}

Result<std::vector<HostTensor>>
RankExecutor::cutParts(const Parts &parts, mlir::RankedTensorType type,
                       const Box &box) {
  std::vector<HostTensor> pieces;
  for (auto [member, tensor] :
       llvm::zip_equal(parts.ranks, parts.shown->values)) {
    Tensor piece =
        extractBox(tensor, relativeTo(mesh.boxOf(type, member), box));
    if (!piece)
      return piece.status();
    pieces.push_back(*std::move(piece));
  }
  return pieces;
}

RankExecutor::Tensor RankExecutor::once(const Parts &parts, const Box &box,
                                        llvm::function_ref<Tensor()> make) {
  std::vector<int64_t> key(box.offsets.begin(), box.offsets.end());
  key.insert(key.end(), box.sizes.begin(), box.sizes.end());
  std::lock_guard<std::mutex> lock(parts.shown->mutex);
  auto found = parts.shown->made.find(key);
  if (found != parts.shown->made.end())
    return found->second;
  Tensor made = make();
  if (made)
    parts.shown->made.emplace(std::move(key), *made);
  return made;
}

Status RankExecutor::changeType(HostTensor &value, ElementType from,
                                ElementType to) {
  if (from == to)
    return Status();
  Tensor changed = kernels.cast(from, to, value);
  if (!changed)
    return changed.status();
  value = *std::move(changed);
  return Status();
}

RankExecutor::Tensor RankExecutor::reshard(ReshardOp op) {
  mlir::RankedTensorType type = op.getInput().getType();
  Layout from = Layout::of(type), to = Layout::of(op.getType());
  HostTensor value = get(op.getInput());
  // Pending reductions that are due are done along one axis after the other;
  // the result is rounded at the end.
  llvm::SmallVector<PartialAxis> reduced;
  ElementType element = elementTypeOf(type.getElementType()), sums = element;
  for (PartialAxis partial : from.getPartials()) {
    AxisState::Kind kind = to.getState(partial.axis).kind;
    if (kind == AxisState::Partial || kind == AxisState::Local)
      continue;
    reduced.push_back(partial);
    if (sums == element)
      sums = runtime::partialType(reductionOf(partial.kind), element);
  }
  if (Status status = changeType(value, element, sums); !status)
    return status;
  for (PartialAxis partial : reduced) {
    Result<const Parts *> parts = exchange(op, value, partial.axis);
    if (!parts)
      return parts.status();
    Tensor sum = kernels.combine(reductionOf(partial.kind), sums,
                                 (*parts)->shown->values);
    if (!sum)
      return sum;
    value = *std::move(sum);
  }
  if (Status status = changeType(value, sums, element); !status)
    return status;
  // The ranks along all axes that cut the tensor hold all of it together.
  llvm::SmallVector<mlir::StringAttr> cuts;
  for (unsigned dim = 0; dim < from.getRank(); ++dim)
    llvm::append_range(cuts, from.getAxes(dim));
  Box box = boxOf(op.getResult());
  if (cuts.empty())
    return extractBox(value, box);
  Result<const Parts *> parts = exchange(op, value, cuts);
  if (!parts)
    return parts.status();
  return assemble(**parts, type, box);
}

std::optional<RankExecutor::Tensor>
RankExecutor::executeCollective(mlir::Operation *op) {
  if (auto sliceOp = llvm::dyn_cast<SliceOp>(op))
    return cut(sliceOp.getInput(), boxOf(sliceOp.getResult()));
  if (auto reshardOp = llvm::dyn_cast<ReshardOp>(op))
    return reshard(reshardOp);
  auto collective = llvm::dyn_cast<CollectiveOpInterface>(op);
  if (!collective)
    return std::nullopt;

  mlir::Value input = collective.getSource();
  mlir::RankedTensorType type = collective.getSourceType();
  const HostTensor &mine = get(input);
  Collective what = collective.getCollective();
  Result<const Parts *> exchanged =
      exchange(op, mine, collective.getMeshAxes().getNames());
  if (!exchanged)
    return Tensor(exchanged.status());
  const Parts &parts = **exchanged;
  const std::vector<HostTensor> &tensors = parts.shown->values;
  Box box = mesh.boxOf(collective.getTargetType(), rank);
  auto position =
      static_cast<int64_t>(llvm::find(parts.ranks, rank) - parts.ranks.begin());
  std::optional<int64_t> root = collective.getRootPosition();
  auto combine = [&]() -> Tensor {
    Result<std::vector<HostTensor>> pieces = cutParts(parts, type, box);
    if (!pieces)
      return pieces.status();
    ReduceKind kind = reductionOf(*collective.getReduction());
    Result<std::shared_ptr<const SumSchedule>> sums =
        findSums(collective, static_cast<int64_t>(parts.ranks.size()));
    if (!sums)
      return sums.status();
    return *sums ? combineBy(**sums, collective, kind, *pieces, position)
                 : kernels.combine(kind, elementOf(input), *pieces);
  };
  auto gather = [&] { return assemble(parts, type, box); };
  switch (what) {
  case Collective::all_reduce:
    // By a schedule, a rank makes only what is in its current chunk.
    return addsBySchedule(collective) ? combine() : once(parts, box, combine);
  case Collective::reduce_scatter:
    return combine();
  case Collective::all_gather:
    return once(parts, box, gather);
  case Collective::all_to_all:
    return gather();
  case Collective::broadcast:
    return Tensor(tensors[*root]);
  case Collective::reduce:
    return position == *root ? combine() : Tensor(mine);
  case Collective::gather:
    return position == *root ? gather()
                             : kernels.zeros(elementOf(input), box.sizes);
  case Collective::scatter: {
    Box own = mesh.boxOf(type, parts.ranks[*root]);
    return extractBox(tensors[*root], relativeTo(own, box));
  }
  case Collective::send: {
    int64_t source;
    bool exists =
        !__builtin_sub_overflow(position, *collective.getShiftBy(), &source) &&
        source >= 0 && source < static_cast<int64_t>(tensors.size());
    return Tensor(exists ? tensors[source] : mine);
  }
  case Collective::slice:
    break;
  }
  return std::nullopt;
}

} // namespace ccn::interp
