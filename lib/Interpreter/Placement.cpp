//===- Placement.cpp - Which part of a tensor a rank holds ----------------===//
//
// Computes everything from the parts that ranks hold (dialect/ccn/Placement.h).
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Placement.h"

namespace ccn::interp {

using runtime::rowMajorStrides;

std::vector<int> RankMesh::group(int64_t rank,
                                 llvm::ArrayRef<mlir::StringAttr> axes) {
  if (!mesh)
    return {static_cast<int>(rank)};
  llvm::SmallVector<int64_t> ranks = mesh.getGroup(rank, axes);
  return std::vector<int>(ranks.begin(), ranks.end());
}

int64_t RankMesh::coordinate(int64_t rank, mlir::StringAttr axis) {
  return mesh.getCoordinates(rank)[*mesh.getAxisIndex(axis)];
}

static Box boxOfPart(const TensorPart &part) {
  Box box;
  for (SliceBounds bounds : part) {
    box.offsets.push_back(bounds.offset);
    box.sizes.push_back(bounds.size);
  }
  return box;
}

Box RankMesh::boxOf(mlir::RankedTensorType type, const Layout &layout,
                    int64_t rank) {
  return boxOfPart(partOf(type.getShape(), layout, mesh, rank));
}

Box RankMesh::boxOf(mlir::RankedTensorType type, int64_t rank) {
  return boxOf(type, Layout::of(type), rank);
}

std::string RankMesh::describe(int64_t rank) {
  std::string text = "rank " + std::to_string(rank);
  if (!mesh)
    return text;
  llvm::raw_string_ostream os(text);
  os << " (";
  llvm::SmallVector<int64_t> coordinates = mesh.getCoordinates(rank);
  llvm::interleaveComma(
      llvm::zip(mesh.getAxisNames().getAsRange<mlir::StringAttr>(),
                coordinates),
      os, [&](auto axis) {
        os << std::get<0>(axis).getValue() << " = " << std::get<1>(axis);
      });
  os << ")";
  return text;
}

Shape RankMesh::externalShape(mlir::RankedTensorType type) {
  llvm::SmallVector<int64_t> shape = ccn::externalShape(type, mesh);
  return {shape.begin(), shape.end()};
}

Box RankMesh::externalBox(mlir::RankedTensorType type, int64_t rank) {
  return boxOfPart(externalPart(type, mesh, rank));
}

Result<HostTensor> RankMesh::takePart(mlir::RankedTensorType type,
                                      const HostTensor &external,
                                      int64_t rank) {
  Result<HostTensor> part = extractBox(external, externalBox(type, rank));
  return part ? part->reshaped(boxOf(type, rank).sizes) : part;
}

Result<HostTensor> RankMesh::joinParts(mlir::RankedTensorType type,
                                       llvm::ArrayRef<HostTensor> parts) {
  Shape shape = externalShape(type);
  // If one rank holds the whole tensor, no copy is needed.
  if (parts[0].shape() == shape)
    return parts[0];
  Result<HostTensor> whole = HostTensor::uninitialized(parts[0].type(), shape);
  if (!whole)
    return whole;
  for (int64_t rank = 0; rank < numRanks(); ++rank) {
    if (firstReplica(type, rank) != rank)
      continue;
    Box box = externalBox(type, rank);
    Result<HostTensor> part = parts[rank].reshaped(box.sizes);
    Status status = part ? writeBox(*whole, box.offsets, *part) : part.status();
    if (!status)
      return status;
  }
  return whole;
}

Shape RankMesh::externalIndex(mlir::RankedTensorType type, int64_t rank,
                              int64_t linear) {
  Box box = externalBox(type, rank);
  Shape strides = rowMajorStrides(box.sizes), index = box.offsets;
  for (size_t dim = 0; dim < strides.size(); ++dim) {
    index[dim] += linear / strides[dim];
    linear %= strides[dim];
  }
  return index;
}

int64_t RankMesh::firstReplica(mlir::RankedTensorType type, int64_t rank) {
  if (!mesh)
    return rank;
  Layout layout = Layout::of(type);
  llvm::SmallVector<mlir::StringAttr> replicated;
  for (auto axis : mesh.getAxisNames().getAsRange<mlir::StringAttr>())
    if (layout.getState(axis).kind == AxisState::Replicated)
      replicated.push_back(axis);
  return group(rank, replicated).front();
}

std::vector<Outcome> outcomesOf(ProgramOp program) {
  std::vector<Outcome> outcomes;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (program.isInout(i))
      outcomes.push_back({program.getArgName(i).str(), program.getFinalValue(i),
                          program.getGlobalArgumentType(i),
                          program.getArgument(i).getLoc()});
  mlir::Operation *end = program.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands()))
    outcomes.push_back({program.getResultName(i).str(), value,
                        program.getGlobalResultType(i), end->getLoc()});
  return outcomes;
}

} // namespace ccn::interp
