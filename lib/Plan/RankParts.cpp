//===- RankParts.cpp - The parts of tensors that ranks hold ---------------===//
//
// A table by type.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/RankParts.h"

#include "lib/Plan/Strided.h"

using namespace ccn;
using namespace ccn::plan;

const RankParts::Parts &RankParts::find(mlir::RankedTensorType type) {
  auto [it, isNew] = known.try_emplace(type.getAsOpaquePointer());
  Parts &found = it->second;
  if (!isNew)
    return found;
  Layout layout = Layout::of(type);
  int64_t ranks = mesh ? mesh.getNumRanks() : 1;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    found.parts.push_back(partOf(type.getShape(), layout, mesh, rank));
    Sizes sizes;
    for (SliceBounds bounds : found.parts.back())
      sizes.push_back(bounds.size);
    found.largest = std::max(found.largest, countOf(sizes));
  }
  return found;
}
