//===- RankClasses.cpp - Ranks that do the same ---------------------------===//
//
// Collects the positions of each axis that are not like their neighbours.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/RankClasses.h"

#include "dialect/ccn/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <set>

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

/// Ranks at the end of a chain wait for those before them. So far from its
/// beginning all wait alike.
static constexpr int64_t chainLength = 16;

namespace {

/// Collects the positions of each axis that are no continuation of those
/// before.
class Positions {
public:
  explicit Positions(MeshOp mesh) : mesh(mesh) {
    for (int64_t size : mesh.getAxisSizes())
      found.push_back({0, size - 1});
  }

  void addAll(size_t axis) { addFrom(axis, 0, sizeOf(axis)); }
  void addCollective(CollectiveOpInterface op);
  void addType(RankedTensorType type);

  std::vector<std::set<int64_t>> found;

private:
  int64_t sizeOf(size_t axis) { return mesh.getAxisSizes()[axis]; }
  void addFrom(size_t axis, int64_t first, int64_t count) {
    for (int64_t i = first; i < std::min(first + count, sizeOf(axis)); ++i)
      found[axis].insert(i);
  }

  MeshOp mesh;
};

void Positions::addCollective(CollectiveOpInterface op) {
  bool isOwn = op->getAttrOfType<FlatSymbolRefAttr>(kAlgorithmAttr) != nullptr;
  std::optional<int64_t> root = op.getRootPosition();
  std::optional<int64_t> shift = op.getShiftBy();
  for (StringAttr name : op.getMeshAxes().getNames()) {
    size_t axis = *mesh.getAxisIndex(name);
    if (isOwn)
      addAll(axis);
    if (root)
      addFrom(axis, *root, 2);
    if (!shift)
      continue;
    int64_t reach = std::min(sizeOf(axis), chainLength * std::abs(*shift));
    addFrom(axis, 0, reach);
    addFrom(axis, sizeOf(axis) - reach, reach);
  }
}

/// Slices are of one size up to a position; there, the slice may be shorter,
/// and after it there are none.
void Positions::addType(RankedTensorType type) {
  Layout layout = Layout::of(type);
  for (unsigned dim = 0; dim < layout.getRank(); ++dim) {
    ArrayRef<StringAttr> axes = layout.getAxes(dim);
    int64_t pieces = 1, size = type.getDimSize(dim);
    for (StringAttr name : axes)
      pieces *= mesh.getAxisSize(name);
    if (axes.empty() || size == 0 || size % pieces == 0)
      continue;
    int64_t number = size / llvm::divideCeilSigned(size, pieces);
    for (StringAttr name : llvm::reverse(axes)) {
      size_t axis = *mesh.getAxisIndex(name);
      addFrom(axis, number % sizeOf(axis), 2);
      number /= sizeOf(axis);
    }
  }
}

} // namespace

RankClasses RankClasses::find(ModuleOp scheduled, bool isIrregular) {
  RankClasses classes;
  MeshOp mesh = getMesh(scheduled);
  if (!mesh)
    return classes;
  llvm::append_range(classes.sizes, mesh.getAxisSizes());
  Positions positions(mesh);
  auto addTypes = [&](TypeRange types) {
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        positions.addType(tensor);
  };
  scheduled.walk([&](Operation *op) {
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      positions.addCollective(collective);
    if (auto program = dyn_cast<ProgramOp>(op))
      addTypes(program.getArgumentTypes());
    addTypes(op->getResultTypes());
  });
  for (auto [axis, own] : llvm::enumerate(positions.found)) {
    if (isIrregular)
      positions.addAll(axis);
    classes.positions.emplace_back(own.begin(), own.end());
  }
  return classes;
}

RankClasses RankClasses::of(MeshOp mesh, ArrayRef<int64_t> ranks) {
  RankClasses classes;
  if (!mesh)
    return classes;
  llvm::append_range(classes.sizes, mesh.getAxisSizes());
  std::vector<std::set<int64_t>> found(classes.sizes.size());
  for (int64_t rank : ranks)
    for (auto [axis, position] : llvm::enumerate(mesh.getCoordinates(rank)))
      found[axis].insert(position);
  for (const std::set<int64_t> &own : found)
    classes.positions.emplace_back(own.begin(), own.end());
  return classes;
}

bool RankClasses::standForAll(MeshOp mesh, std::vector<int64_t> ranks) {
  llvm::sort(ranks);
  return !ranks.empty() && ranks.front() == 0 && mesh &&
         ranks.back() == mesh.getNumRanks() - 1 &&
         of(mesh, ranks).representatives() == ranks;
}

std::vector<int64_t> RankClasses::representatives() const {
  std::vector<int64_t> ranks = {0};
  for (auto [size, own] : llvm::zip_equal(sizes, positions)) {
    std::vector<int64_t> longer;
    for (int64_t rank : ranks)
      for (int64_t position : own)
        longer.push_back(rank * size + position);
    ranks = std::move(longer);
  }
  return ranks;
}

int64_t RankClasses::kept(size_t axis, int64_t position) const {
  auto next = llvm::upper_bound(positions[axis], position);
  return next == positions[axis].begin() ? *next : *std::prev(next);
}

int64_t RankClasses::representativeOf(int64_t rank) const {
  int64_t result = 0, below = 1;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    result += kept(axis, rank % sizes[axis]) * below;
    rank /= sizes[axis];
    below *= sizes[axis];
  }
  return result;
}
