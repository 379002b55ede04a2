//===- Operations.cpp - Random operations ---------------------------------===//
//
// One operation of each kind on what a program has: each finds operands that it
// takes and says what it makes of them.
//
//===----------------------------------------------------------------------===//

#include "ProgramGenerator.h"

#include "dialect/ccn/Ccn.h"

using namespace ccn;
using namespace ccn::random;

ProgramGenerator::Maybe ProgramGenerator::operation(unsigned depth) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    Maybe made;
    switch (random.weighted<unsigned>(
        {{6, 0},  {10, 1}, {4, 2},  {2, 3},  {2, 4},  {2, 5},  {4, 6},
         {2, 7},  {3, 8},  {2, 9},  {1, 10}, {2, 11}, {2, 12}, {1, 13},
         {1, 14}, {9, 15}, {2, 16}, {1, 17}, {1, 18}, {1, 19}, {1, 20}})) {
    case 0:
      made = unary(depth);
      break;
    case 1:
      made = binary(depth);
      break;
    case 2:
      made = scaled(depth);
      break;
    case 3:
      made = selected();
      break;
    case 4:
      made = converted();
      break;
    case 5:
      made = dropout();
      break;
    case 6:
      made = reduction();
      break;
    case 7:
      made = norm();
      break;
    case 8:
      made = product();
      break;
    case 9:
      made = transposed();
      break;
    case 10:
      made = reshaped();
      break;
    case 11:
      made = range();
      break;
    case 12:
      made = joined();
      break;
    case 13:
      made = repeated();
      break;
    case 14:
      made = rows();
      break;
    case 15:
      made = collective();
      break;
    case 16:
      made = repetition();
      break;
    case 17:
      made = compared();
      break;
    case 18:
      made = convolution();
      break;
    case 19:
      made = addedRows();
      break;
    case 20:
      made = indices();
      break;
    }
    if (!made)
      continue;
    calls.push_back(*made);
    return made;
  }
  return std::nullopt;
}

/// What an operation takes: a name, or another operation.
ProgramGenerator::Maybe ProgramGenerator::operand(unsigned depth) {
  if (depth > 0 && random.chance(0.25))
    if (Maybe made = operation(depth - 1);
        made && !made->type.pending() && made->type.element != "bool")
      return made;
  return findReduced();
}

/// An expression that was there before.
ProgramGenerator::Maybe ProgramGenerator::repetition() {
  if (calls.empty())
    return std::nullopt;
  return random.pick(calls);
}

//===----------------------------------------------------------------------===//
// Reductions and products
//===----------------------------------------------------------------------===//

ProgramGenerator::Maybe ProgramGenerator::reduction() {
  Held kind = drawReduction();
  Maybe x = find([&](const Tensor &type) {
    return type.rank() > 0 && type.element != "bool" &&
           (!type.pending() || type.pending() == kind);
  });
  if (!x)
    return std::nullopt;
  std::string name = reductionName(kind);
  if (kind == Held::Sum && x->type.isFloat() && random.chance(0.3))
    name = "mean";
  if (random.chance(0.2)) {
    // All dimensions at once.
    Tensor type = x->type;
    while (type.rank()) {
      std::optional<Tensor> less = reduceOver(type, type.rank() - 1, kind);
      if (!less)
        return std::nullopt;
      type = *less;
    }
    return Value{name + "(" + x->text + ")", type};
  }
  auto dim = static_cast<size_t>(random.below(int64_t(x->type.rank())));
  std::optional<Tensor> type = reduceOver(x->type, dim, kind);
  if (!type)
    return std::nullopt;
  if (type->rank() > 0 && random.chance(0.15)) {
    // Two of them.
    auto other = static_cast<size_t>(random.below(int64_t(type->rank())));
    std::optional<Tensor> less = reduceOver(*type, other, kind);
    if (less)
      return Value{name + "(" + x->text + ", [" + std::to_string(dim) + ", " +
                       std::to_string(other + (other >= dim)) + "])",
                   *less};
  }
  std::string over = std::to_string(dim);
  // Beside a tensor, `max` and `min` compare with what is no list.
  if (kind == Held::Max || kind == Held::Min || random.chance(0.2))
    over = "[" + over + "]";
  return Value{name + "(" + x->text + ", " + over + ")", *type};
}

ProgramGenerator::Maybe ProgramGenerator::norm() {
  Maybe x = find([](const Tensor &type) {
    return type.rank() > 0 && !type.pending() && type.isFloat();
  });
  if (!x)
    return std::nullopt;
  const Tensor &type = x->type;
  auto dim = static_cast<size_t>(random.below(int64_t(type.rank())));
  std::string at = ", " + std::to_string(dim) + ")";
  switch (random.below(5)) {
  case 0: {
    Tensor result = replicated(type.element, {});
    result.held = type.held;
    return Value{"norm(" + x->text + ")", result};
  }
  case 1: {
    // Reduced over all ranks.
    Tensor result = type;
    result.shape.erase(result.shape.begin() + ptrdiff_t(dim));
    result.cuts.erase(result.cuts.begin() + ptrdiff_t(dim));
    return Value{"norm(" + x->text + at, result};
  }
  case 2: {
    Value gamma = input(replicated(type.element, {type.shape.back()}));
    Value beta = input(replicated(type.element, {type.shape.back()}));
    return Value{"layer_norm(" + x->text + ", " + gamma.text + ", " +
                     beta.text + ", 0.01)",
                 type};
  }
  case 3: {
    Value gamma = input(replicated(type.element, {type.shape.back()}));
    return Value{"rms_norm(" + x->text + ", " + gamma.text + ", 0.01)", type};
  }
  default:
    return Value{"softmax(" + x->text + at, type};
  }
}

ProgramGenerator::Maybe ProgramGenerator::product() {
  Maybe x = find([](const Tensor &type) {
    return type.rank() >= 2 && type.element != "bool";
  });
  if (!x)
    return std::nullopt;
  if (random.chance(0.5))
    if (Maybe y = find([&](const Tensor &type) {
          return multiply(x->type, type).has_value();
        }))
      return Value{"matmul(" + x->text + ", " + y->text + ")",
                   *multiply(x->type, y->type)};
  Tensor weight = drawLayout(
      replicated(x->type.element, {x->type.shape.back(), drawSize()}), false);
  if (!x->type.cuts.back().empty() && random.chance(0.7)) {
    weight = replicated(weight.element, weight.shape);
    weight.cuts[0] = x->type.cuts.back();
  }
  std::optional<Tensor> type = multiply(x->type, weight);
  if (!type)
    return std::nullopt;
  return Value{"matmul(" + x->text + ", " + input(weight).text + ")", *type};
}

ProgramGenerator::Maybe ProgramGenerator::convolution() {
  Tensor image =
      replicated(element, {drawSize(), random.between(1, 3),
                           random.between(1, 7), random.between(1, 7)});
  Tensor filter =
      replicated(element, {drawSize(), image.shape[1], random.between(1, 3),
                           random.between(1, 3)});
  int64_t stride = random.between(1, 2), padding = random.between(0, 1);
  Tensor type = replicated(element, {image.shape[0], filter.shape[0]});
  for (size_t dim : {2, 3}) {
    int64_t room = image.shape[dim] + 2 * padding - filter.shape[dim];
    if (room < 0)
      return std::nullopt;
    type.shape.push_back(room / stride + 1);
  }
  type.cuts.resize(4);
  size_t axis = drawAxis();
  switch (random.below(5)) {
  case 0:
    image.cuts[0].push_back(axis);
    type.cuts[0].push_back(axis);
    break;
  case 1:
    filter.cuts[0].push_back(axis);
    type.cuts[1].push_back(axis);
    break;
  case 2:
    image.cuts[1].push_back(axis);
    filter.cuts[1].push_back(axis);
    type.held[axis] = Held::Sum;
    break;
  case 3:
    image.held[axis] = Held::Local;
    type.held[axis] = Held::Local;
    break;
  }
  return Value{"conv2d(" + input(image).text + ", " + input(filter).text +
                   ", " + std::to_string(stride) + ", " +
                   std::to_string(padding) + ")",
               type};
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

ProgramGenerator::Maybe ProgramGenerator::transposed() {
  Maybe x = find([](const Tensor &type) { return type.rank() >= 2; });
  if (!x)
    return std::nullopt;
  std::vector<size_t> order;
  for (size_t dim = 0; dim < x->type.rank(); ++dim)
    order.push_back(dim);
  random.shuffle(order);
  Tensor type = x->type;
  std::string text;
  for (size_t dim = 0; dim < order.size(); ++dim) {
    type.shape[dim] = x->type.shape[order[dim]];
    type.cuts[dim] = x->type.cuts[order[dim]];
    text += (dim ? ", " : "") + std::to_string(order[dim]);
  }
  return Value{"transpose(" + x->text + ", [" + text + "])", type};
}

ProgramGenerator::Maybe ProgramGenerator::reshaped() {
  Maybe x = find([](const Tensor &type) { return type.rank() > 0; });
  if (!x)
    return std::nullopt;
  Tensor type = x->type;
  bool isWhole = true;
  for (const std::vector<size_t> &cuts : type.cuts)
    isWhole &= cuts.empty();
  if (isWhole && random.chance(0.5)) {
    // Flat, or two dimensions made one.
    type.shape = type.rank() == 3 && random.chance(0.5)
                     ? Shape{type.shape[0], type.shape[1] * type.shape[2]}
                     : Shape{type.count()};
    type.cuts.assign(type.shape.size(), {});
  } else if (type.rank() < 3) {
    type.shape.push_back(1);
    type.cuts.emplace_back();
  } else {
    return std::nullopt;
  }
  std::string text;
  for (size_t dim = 0; dim < type.rank(); ++dim)
    text += (dim ? ", " : "") + std::to_string(type.shape[dim]);
  return Value{"reshape(" + x->text + ", [" + text + "])", type};
}

ProgramGenerator::Maybe ProgramGenerator::range() {
  Maybe x = find([](const Tensor &type) { return type.rank() > 0; });
  if (!x)
    return std::nullopt;
  auto dim = static_cast<size_t>(random.below(int64_t(x->type.rank())));
  if (!x->type.cuts[dim].empty())
    return std::nullopt;
  Tensor type = x->type;
  int64_t begin = random.between(0, type.shape[dim]);
  int64_t end = random.between(begin, type.shape[dim]);
  type.shape[dim] = end - begin;
  return Value{"slice(" + x->text + ", " + std::to_string(dim) + ", " +
                   std::to_string(begin) + ", " + std::to_string(end) + ")",
               type};
}

ProgramGenerator::Maybe ProgramGenerator::joined() {
  Maybe x = find(
      [](const Tensor &type) { return type.rank() > 0 && !type.pending(); });
  if (!x)
    return std::nullopt;
  auto dim = static_cast<size_t>(random.below(int64_t(x->type.rank())));
  if (!x->type.cuts[dim].empty() || x->type.shape[dim] > 20)
    return std::nullopt;
  Maybe y = find([&](const Tensor &type) {
    if (type.rank() != x->type.rank())
      return false;
    Tensor like = type;
    like.shape[dim] = x->type.shape[dim];
    return like == x->type;
  });
  Tensor type = x->type;
  type.shape[dim] += y->type.shape[dim];
  return Value{"concat([" + x->text + ", " + y->text + "], " +
                   std::to_string(dim) + ")",
               type};
}

ProgramGenerator::Maybe ProgramGenerator::repeated() {
  Maybe x = find(
      [](const Tensor &type) { return type.rank() < 3 && !type.pending(); });
  if (!x)
    return std::nullopt;
  Tensor type = x->type;
  type.shape.insert(type.shape.begin(), drawSize());
  type.cuts.insert(type.cuts.begin(), std::vector<size_t>());
  std::string text;
  for (size_t dim = 0; dim < type.rank(); ++dim)
    text += (dim ? ", " : "") + std::to_string(type.shape[dim]);
  return Value{"broadcast_to(" + x->text + ", [" + text + "])", type};
}

Value ProgramGenerator::indicesOf(const Tensor &table) {
  Tensor indices = replicated(
      random.pick<std::string>({"i32", "i32", "i64", "u8"}), {drawSize()});
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (!table.isReplicated(axis) || !random.chance(0.3))
      continue;
    if (random.chance(0.5))
      indices.cuts[0].push_back(axis);
    else
      indices.held[axis] = Held::Local;
  }
  return argument(indices);
}

ProgramGenerator::Maybe ProgramGenerator::rows() {
  Maybe table = find([](const Tensor &type) {
    return type.rank() > 0 && !type.pending() && type.cuts[0].empty() &&
           type.shape[0] > 0;
  });
  if (!table)
    return std::nullopt;
  Value indices = indicesOf(table->type);
  Tensor type = table->type;
  type.shape[0] = indices.type.shape[0];
  type.cuts[0] = indices.type.cuts[0];
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    if (indices.type.isLocal(axis))
      type.held[axis] = Held::Local;
  return Value{"gather_rows(" + table->text + ", " + indices.text + ")", type};
}

/// A table with rows added to it.
ProgramGenerator::Maybe ProgramGenerator::addedRows() {
  Maybe table = find([](const Tensor &type) {
    return type.rank() > 0 && !type.pending() && type.cuts[0].empty() &&
           type.shape[0] > 0 && type.element != "bool";
  });
  if (!table)
    return std::nullopt;
  Tensor rows = table->type;
  Tensor indices = replicated("i32", {drawSize()});
  rows.shape[0] = indices.shape[0];
  return Value{"scatter_rows(" + table->text + ", " + argument(indices).text +
                   ", " + input(rows).text + ")",
               table->type};
}
