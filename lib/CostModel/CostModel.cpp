//===- CostModel.cpp - What operations move -------------------------------===//
//
// Computes everything from the parts of tensors that the first rank holds,
// which are the largest.
//
//===----------------------------------------------------------------------===//

#include "lib/CostModel/CostModel.h"

#include "dialect/ccn/Placement.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ccn;

int64_t ccn::bytesOnRank(RankedTensorType type, MeshOp mesh) {
  int64_t bytes = elementBytes(type.getElementType());
  for (SliceBounds bounds : partOf(type, mesh, /*rank=*/0)) {
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, bounds.size);
    bytes = std::min<uint64_t>(bytes, std::numeric_limits<int64_t>::max());
  }
  return bytes;
}

static int64_t bytesOf(Value value, MeshOp mesh) {
  return bytesOnRank(cast<RankedTensorType>(value.getType()), mesh);
}

double ccn::bytesReceived(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  if (!collective.communicates())
    return 0;
  MeshOp mesh = getMesh(op);
  double ranks = 1;
  for (StringAttr axis : collective.getMeshAxes().getNames())
    ranks *= mesh.getAxisSize(axis);
  double before = bytesOnRank(collective.getSourceType(), mesh);
  double after = bytesOnRank(collective.getTargetType(), mesh);
  if (ranks == 1)
    return 0;
  switch (collective.getCollective()) {
  case Collective::all_reduce:
    return 2 * (ranks - 1) / ranks * before;
  case Collective::reduce_scatter:
  case Collective::all_to_all:
    return (ranks - 1) / ranks * before;
  case Collective::all_gather:
  case Collective::gather:
    return (ranks - 1) * before;
  default:
    return after;
  }
}

Traffic ccn::trafficOf(Operation *op) {
  MeshOp mesh = getMesh(op);
  Traffic traffic;
  if (auto overlapped = dyn_cast<OverlappedOp>(op)) {
    for (Operation *stage : overlapped.getStages())
      traffic += trafficOf(stage);
    return traffic;
  }
  if (isa<UpdateOp, ConstantOp, SliceOp, ReshardOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return traffic;
  traffic.launches = 1;
  llvm::SetVector<Value> read;
  op->walk([&](Operation *inner) {
    if (auto collective = dyn_cast<CollectiveOpInterface>(inner))
      traffic.received += bytesReceived(collective);
    // It takes only the shape of its operand.
    if (isa<IotaOp>(inner))
      return;
    for (Value operand : inner->getOperands()) {
      Operation *definer = operand.getDefiningOp();
      if (!(definer && op->isProperAncestor(definer)) &&
          !isa_and_nonnull<ConstantOp>(definer))
        read.insert(operand);
    }
  });
  for (Value value : read)
    traffic.memory += bytesOf(value, mesh);
  for (Value result : op->getResults())
    traffic.memory += bytesOf(result, mesh);
  return traffic;
}

Traffic ccn::trafficOf(ProgramOp program) {
  Traffic traffic;
  for (Operation &op : program.getBody().front())
    traffic += trafficOf(&op);
  return traffic;
}

std::string ccn::describeBytes(double bytes) {
  constexpr const char *units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  if (unit == 0 || bytes >= 99.95)
    os << llvm::format("%.0f", bytes);
  else
    os << llvm::format("%.3g", bytes);
  os << " " << units[unit];
  return text;
}
