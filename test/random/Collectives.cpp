//===- Collectives.cpp - Random collectives -------------------------------===//
//
// Each collective on a value whose layout it takes.
//
//===----------------------------------------------------------------------===//

#include "ProgramGenerator.h"

#include <algorithm>

using namespace ccn::random;

ProgramGenerator::Maybe ProgramGenerator::collective() {
  // Truth values are only moved.
  Value x = *find([](const Tensor &type) { return type.element != "bool"; });
  if (random.chance(0.1))
    if (Maybe truth = find([](const Tensor &type) {
          return type.element == "bool" && !type.isReplicated();
        }))
      x = *truth;
  for (int attempt = 0; attempt < 6; ++attempt) {
    Maybe made;
    switch (random.weighted<unsigned>(
        {{6, 0}, {3, 1}, {4, 2}, {2, 3}, {2, 4}, {3, 5}, {2, 6}, {3, 7}})) {
    case 0:
      made = allReduce(x);
      break;
    case 1:
      made = reduceScatter(x);
      break;
    case 2:
      made = allGather(x);
      break;
    case 3:
      made = cutSlice(x);
      break;
    case 4:
      made = allToAll(x);
      break;
    case 5:
      made = rooted(x);
      break;
    case 6:
      made = send(x);
      break;
    case 7:
      made = reshard(x);
      break;
    }
    if (made)
      return made;
  }
  return std::nullopt;
}

ProgramGenerator::Maybe ProgramGenerator::allReduce(const Value &x) {
  if (x.type.element == "bool")
    return std::nullopt;
  Held kind = x.type.pending().value_or(drawReduction());
  Tensor type = x.type;
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    if (x.type.held[axis] != Held::Same && random.chance(0.8)) {
      axes.push_back(axis);
      type.held[axis] = Held::Same;
    }
  // What stays pending does not change places with another reduction.
  if (axes.empty())
    return std::nullopt;
  return Value{std::string("all_reduce(") + reductionName(kind) + ", " +
                   x.text + axesText(axes) + ")",
               type};
}

ProgramGenerator::Maybe ProgramGenerator::reduceScatter(const Value &x) {
  size_t axis = drawAxis();
  if (x.type.held[axis] == Held::Same || x.type.rank() == 0 ||
      x.type.element == "bool")
    return std::nullopt;
  Held kind = x.type.pending().value_or(drawReduction());
  auto dim = static_cast<size_t>(random.below(int64_t(x.type.rank())));
  Tensor type = x.type;
  type.held[axis] = Held::Same;
  type.cuts[dim].push_back(axis);
  return Value{std::string("reduce_scatter(") + reductionName(kind) + ", " +
                   x.text + ", " + std::to_string(dim) + axesText({axis}) + ")",
               type};
}

ProgramGenerator::Maybe ProgramGenerator::allGather(const Value &x) {
  Tensor type = x.type;
  std::vector<size_t> axes;
  for (std::vector<size_t> &cuts : type.cuts) {
    if (cuts.empty() || random.chance(0.2))
      continue;
    axes.push_back(cuts.back());
    cuts.pop_back();
  }
  if (axes.empty() || x.type.pending())
    return std::nullopt;
  return Value{"all_gather(" + x.text + axesText(axes) + ")", type};
}

ProgramGenerator::Maybe ProgramGenerator::cutSlice(const Value &x) {
  size_t axis = drawAxis();
  if (!x.type.isReplicated(axis) || x.type.rank() == 0)
    return std::nullopt;
  auto dim = static_cast<size_t>(random.below(int64_t(x.type.rank())));
  Tensor type = x.type;
  type.cuts[dim].push_back(axis);
  return Value{"slice(" + x.text + ", " + std::to_string(dim) +
                   axesText({axis}) + ")",
               type};
}

ProgramGenerator::Maybe ProgramGenerator::allToAll(const Value &x) {
  size_t axis = drawAxis();
  std::optional<size_t> from = x.type.cutBy(axis);
  if (!from || x.type.rank() < 2 || x.type.cuts[*from].back() != axis)
    return std::nullopt;
  auto to = static_cast<size_t>(random.below(int64_t(x.type.rank())));
  if (to == *from)
    return std::nullopt;
  Tensor type = x.type;
  type.cuts[*from].pop_back();
  type.cuts[to].push_back(axis);
  return Value{"all_to_all(" + x.text + ", " + std::to_string(*from) + " -> " +
                   std::to_string(to) + axesText({axis}) + ")",
               type};
}

/// Those that have a root: broadcast, reduce, gather and scatter.
ProgramGenerator::Maybe ProgramGenerator::rooted(const Value &x) {
  size_t axis = drawAxis();
  std::string root = std::to_string(random.below(mesh.axes[axis].size));
  std::string at = axesText({axis}) + ")";
  Tensor type = x.type;
  if (std::optional<size_t> dim = x.type.cutBy(axis)) {
    if (x.type.pending() || x.type.cuts[*dim].back() != axis)
      return std::nullopt;
    type.cuts[*dim].pop_back();
    type.held[axis] = Held::Local;
    return Value{"gather(" + x.text + ", " + root + at, type};
  }
  if (x.type.held[axis] == Held::Same)
    return std::nullopt;
  if (x.type.element != "bool" && random.chance(0.4)) {
    Held kind = x.type.pending().value_or(drawReduction());
    type.held[axis] = Held::Local;
    return Value{std::string("reduce(") + reductionName(kind) + ", " + x.text +
                     ", " + root + at,
                 type};
  }
  if (x.type.pending())
    return std::nullopt;
  type.held[axis] = Held::Same;
  if (x.type.rank() == 0 || random.chance(0.5))
    return Value{"broadcast(" + x.text + ", " + root + at, type};
  auto dim = static_cast<size_t>(random.below(int64_t(x.type.rank())));
  type.cuts[dim].push_back(axis);
  return Value{"scatter(" + x.text + ", " + root + ", " + std::to_string(dim) +
                   at,
               type};
}

ProgramGenerator::Maybe ProgramGenerator::send(const Value &x) {
  size_t axis = drawAxis();
  if (!x.type.isLocal(axis) || x.type.pending())
    return std::nullopt;
  std::string at = mesh.size() == 1 && random.chance(0.5)
                       ? std::string()
                       : ", " + mesh.axes[axis].name;
  int64_t by =
      random.between(1, std::max<int64_t>(1, mesh.axes[axis].size - 1));
  return Value{"send(" + x.text + at + (random.chance(0.6) ? ", +" : ", -") +
                   std::to_string(by) + ")",
               x.type};
}

ProgramGenerator::Maybe ProgramGenerator::reshard(const Value &x) {
  Tensor type = drawLayout(replicated(x.type.element, x.type.shape), false);
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    if (x.type.isLocal(axis)) {
      // It stays local; what is drawn otherwise reduces what is pending.
      for (std::vector<size_t> &cuts : type.cuts)
        cuts.erase(std::remove(cuts.begin(), cuts.end(), axis), cuts.end());
      type.held[axis] = Held::Local;
    }
  if (type.sameLayout(x.type))
    return std::nullopt;
  return Value{"reshard(" + x.text + ", " + type.layoutText(mesh) + ")", type};
}
