//===- RankParts.cpp - The parts of tensors that ranks hold ---------------===//
//
// A table by type.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/RankParts.h"

using namespace ccn;
using namespace ccn::plan;

const std::vector<TensorPart> &RankParts::of(mlir::RankedTensorType type) {
  auto [it, isNew] = known.try_emplace(type.getAsOpaquePointer());
  std::vector<TensorPart> &parts = it->second;
  if (!isNew)
    return parts;
  Layout layout = Layout::of(type);
  int64_t ranks = mesh ? mesh.getNumRanks() : 1;
  for (int64_t rank = 0; rank < ranks; ++rank)
    parts.push_back(partOf(type.getShape(), layout, mesh, rank));
  return parts;
}
