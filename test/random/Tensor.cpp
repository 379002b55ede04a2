//===- Tensor.cpp - Types of random values --------------------------------===//
//
// The rules of LANGUAGE.md.
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"

#include <algorithm>

using namespace ccn::random;

int64_t Mesh::numRanks() const {
  int64_t ranks = 1;
  for (const Axis &axis : axes)
    ranks *= axis.size;
  return ranks;
}

const char *ccn::random::reductionName(Held held) {
  switch (held) {
  case Held::Prod:
    return "prod";
  case Held::Max:
    return "max";
  case Held::Min:
    return "min";
  default:
    return "sum";
  }
}

int64_t Tensor::count() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::optional<size_t> Tensor::cutBy(size_t axis) const {
  for (size_t dim = 0; dim < rank(); ++dim)
    if (std::count(cuts[dim].begin(), cuts[dim].end(), axis))
      return dim;
  return std::nullopt;
}

bool Tensor::isReplicated() const {
  for (size_t axis = 0; axis < held.size(); ++axis)
    if (!isReplicated(axis))
      return false;
  return true;
}

std::optional<Held> Tensor::pending() const {
  for (Held state : held)
    if (state > Held::Local)
      return state;
  return std::nullopt;
}

std::string Tensor::layoutText(const Mesh &mesh) const {
  std::string text;
  for (size_t dim = 0; dim < rank(); ++dim)
    for (size_t axis : cuts[dim])
      text +=
          " sliced(" + std::to_string(dim) + ", " + mesh.axes[axis].name + ")";
  for (size_t axis = 0; axis < held.size(); ++axis)
    if (held[axis] != Held::Same)
      text += (isLocal(axis) ? std::string(" local(")
                             : std::string(" partial(") +
                                   reductionName(held[axis]) + ", ") +
              mesh.axes[axis].name + ")";
  return text.empty() ? "replicated" : text.substr(1);
}

std::string Tensor::text(const Mesh &mesh) const {
  std::string text = element;
  for (size_t dim = 0; dim < rank(); ++dim)
    text += (dim ? ", " : "[") + std::to_string(shape[dim]);
  if (rank())
    text += "]";
  return isReplicated() ? text : text + " " + layoutText(mesh);
}

namespace {

/// Of the axes that cut a dimension in two tensors, those of one are the first
/// of the other's: the longer list.
std::optional<std::vector<size_t>> joinCuts(const std::vector<size_t> &a,
                                            const std::vector<size_t> &b) {
  const std::vector<size_t> &longer = a.size() < b.size() ? b : a;
  size_t common = std::min(a.size(), b.size());
  if (!std::equal(a.begin(), a.begin() + static_cast<ptrdiff_t>(common),
                  b.begin()))
    return std::nullopt;
  return longer;
}

/// Each axis cuts one dimension at most, and none on which ranks differ.
bool isConsistent(const Tensor &x) {
  std::vector<unsigned> uses(x.held.size());
  for (const std::vector<size_t> &axes : x.cuts)
    for (size_t axis : axes)
      ++uses[axis];
  for (size_t axis = 0; axis < x.held.size(); ++axis)
    if (uses[axis] + (x.held[axis] != Held::Same) > 1)
      return false;
  return true;
}

/// What both are where nothing, or the same, is pending.
std::optional<Tensor> join(const Tensor &x, const Tensor &y) {
  if (x.element != y.element || y.rank() > x.rank())
    return std::nullopt;
  Tensor result = x;
  size_t missing = x.rank() - y.rank();
  for (size_t dim = 0; dim < y.rank(); ++dim) {
    size_t at = missing + dim;
    if (y.shape[dim] != x.shape[at]) {
      if (y.shape[dim] != 1 || !y.cuts[dim].empty())
        return std::nullopt;
      continue;
    }
    std::optional<std::vector<size_t>> cuts = joinCuts(x.cuts[at], y.cuts[dim]);
    if (!cuts)
      return std::nullopt;
    result.cuts[at] = *cuts;
  }
  for (size_t axis = 0; axis < x.held.size(); ++axis)
    if (y.isLocal(axis))
      result.held[axis] = Held::Local;
  return isConsistent(result) ? std::optional(result) : std::nullopt;
}

} // namespace

std::optional<Tensor> ccn::random::combine(const Tensor &x, const Tensor &y) {
  return x.pending() || y.pending() ? std::nullopt : join(x, y);
}

std::optional<Tensor> ccn::random::combinePending(const Tensor &x,
                                                  const Tensor &y) {
  if (x.shape != y.shape || x.pending() != Held::Sum)
    return std::nullopt;
  for (size_t axis = 0; axis < x.held.size(); ++axis)
    if (x.isPending(axis) != y.isPending(axis) ||
        (y.isPending(axis) && y.held[axis] != Held::Sum))
      return std::nullopt;
  return join(x, y);
}

std::optional<Tensor> ccn::random::multiply(const Tensor &x, const Tensor &y) {
  size_t rank = x.rank();
  bool isBatched = y.rank() == rank && rank > 2;
  if (rank < 2 || (y.rank() != 2 && !isBatched) || x.element != y.element ||
      x.shape[rank - 1] != y.shape[y.rank() - 2])
    return std::nullopt;
  Tensor result = x;
  result.shape.back() = y.shape.back();
  result.cuts.back() = y.cuts.back();
  // The interpreter would take minutes where it is computed on many ranks.
  constexpr double mostSteps = 1 << 26;
  double steps = static_cast<double>(x.shape[rank - 1]);
  for (int64_t size : result.shape)
    steps *= static_cast<double>(size);
  if (steps > mostSteps)
    return std::nullopt;
  for (size_t dim = 0; isBatched && dim + 2 < rank; ++dim) {
    if (x.shape[dim] != y.shape[dim] || x.cuts[dim] != y.cuts[dim])
      return std::nullopt;
  }
  const std::vector<size_t> &mine = x.cuts.back();
  const std::vector<size_t> &other = y.cuts[y.rank() - 2];
  if (mine.size() > 1 || other.size() > 1 ||
      (!mine.empty() && !other.empty() && mine != other))
    return std::nullopt;
  for (size_t axis = 0; axis < x.held.size(); ++axis) {
    if (x.isPending(axis) &&
        (x.held[axis] != Held::Sum || !y.isReplicated(axis)))
      return std::nullopt;
    if (y.isPending(axis)) {
      if (y.held[axis] != Held::Sum || !x.isReplicated(axis))
        return std::nullopt;
      result.held[axis] = Held::Sum;
    }
    if (y.isLocal(axis))
      result.held[axis] = Held::Local;
  }
  for (size_t axis : mine.empty() ? other : mine) {
    // The side that is not cut there must be replicated.
    if ((mine.empty() && !x.isReplicated(axis)) ||
        (other.empty() && !y.isReplicated(axis)))
      return std::nullopt;
    result.held[axis] = Held::Sum;
  }
  return isConsistent(result) ? std::optional(result) : std::nullopt;
}

std::optional<Tensor> ccn::random::reduceOver(const Tensor &x, size_t dim,
                                              Held kind) {
  if (x.pending() && (x.pending() != kind || kind != Held::Sum))
    return std::nullopt;
  Tensor result = x;
  for (size_t axis : x.cuts[dim])
    result.held[axis] = kind;
  result.shape.erase(result.shape.begin() + static_cast<ptrdiff_t>(dim));
  result.cuts.erase(result.cuts.begin() + static_cast<ptrdiff_t>(dim));
  return result;
}

bool ccn::random::isStorable(const Tensor &x, const Tensor &target) {
  if (x.element != target.element || x.shape != target.shape)
    return false;
  if (x.sameLayout(target))
    return true;
  // One step of what a store does by itself.
  for (size_t axis = 0; axis < x.held.size(); ++axis) {
    if (x.isPending(axis) || target.isPending(axis))
      return false;
    if (x.isLocal(axis) && !target.isLocal(axis))
      return false;
    if (x.cutBy(axis) && x.cutBy(axis) != target.cutBy(axis) &&
        !target.isReplicated(axis))
      return false;
  }
  for (size_t dim = 0; dim < x.rank(); ++dim)
    if (!joinCuts(x.cuts[dim], target.cuts[dim]))
      return false;
  return true;
}
