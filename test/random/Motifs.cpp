//===- Motifs.cpp - What schedules are made for ---------------------------===//
//
// The shapes of the examples, at random: gradients that are reduced and used,
// products before and after collectives, stages, experts.
//
//===----------------------------------------------------------------------===//

#include "ProgramGenerator.h"

#include <algorithm>

using namespace ccn::random;

Value ProgramGenerator::pointwise(Value x, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    Maybe made;
    bool isFloat = x.type.isFloat();
    switch (random.below(6)) {
    case 0:
      made = Value{(isFloat ? "tanh(" : "abs(") + x.text + ")", x.type};
      break;
    case 1:
      made = Value{"(" + literal(x.type) + " * " + x.text + ")", x.type};
      break;
    case 2:
      if (isFloat) {
        made = Value{"dropout(" + x.text + ", 0.5, 7)", x.type};
        break;
      }
      [[fallthrough]];
    case 3:
      made = Value{"max(" + x.text + ", " +
                       (isFloat ? "0.0" : "0 * " + x.text) + ")",
                   x.type};
      break;
    default: {
      Value y = partner(x);
      if (std::optional<Tensor> type = combine(x.type, y.type))
        made = Value{"(" + x.text +
                         random.pick<std::string>({" + ", " * ", " - "}) +
                         y.text + ")",
                     *type};
      break;
    }
    }
    if (!made)
      continue;
    x = random.chance(0.6) ? let(*made) : *made;
  }
  return x;
}

/// Gradients, each reduced and used in an update.
void ProgramGenerator::gradients() {
  auto count = random.weighted<unsigned>({{5, 1}, {3, 2}, {2, 3}, {1, 4}});
  std::vector<size_t> axes = drawAxes();
  Held kind = random.chance(0.85) ? Held::Sum : drawReduction();
  Shape own = random.chance(0.7) ? shape : drawShape();
  std::vector<Value> reduced;
  for (unsigned i = 0; i < count; ++i) {
    Tensor type = replicated(element, random.chance(0.7) ? own : drawShape());
    if (random.chance(0.2))
      type = drawLayout(type, false);
    for (std::vector<size_t> &cuts : type.cuts)
      for (size_t axis : axes)
        cuts.erase(std::remove(cuts.begin(), cuts.end(), axis), cuts.end());
    bool isLocal = kind == Held::Max || random.chance(0.6);
    for (size_t axis : axes)
      type.held[axis] = isLocal ? Held::Local : kind;
    Value x = random.chance(0.5) ? argument(type) : input(type);
    for (size_t axis : axes)
      type.held[axis] = Held::Same;
    std::string text = std::string("all_reduce(") + reductionName(kind) + ", " +
                       x.text + axesText(axes) + ")";
    if (random.chance(0.3) && type.isFloat())
      text += " / " + mesh.axes[axes.front()].name;
    reduced.push_back(let({text, type}));
  }
  for (const Value &gradient : reduced) {
    Value step = pointwise(gradient, unsigned(random.below(4)));
    if (random.chance(0.5)) {
      Maybe state;
      Tensor type = step.type;
      if (type.rank() && random.chance(0.4) && type.isReplicated(axes.front()))
        type.cuts[0].push_back(axes.front());
      state = argument(type, /*isInout=*/true);
      std::optional<Tensor> both = combine(step.type, state->type);
      if (both && isStorable(*both, state->type)) {
        store(*state, {(type.isFloat() ? "0.9 * " : "") + state->text + " + " +
                           step.text,
                       *both});
        step = *state;
      }
    }
    if (random.chance(0.2) && step.type.isFloat() && step.type.rank()) {
      Tensor scalar = replicated(step.type.element, {});
      scalar.held = step.type.held;
      Value size = let({"norm(" + step.text + ")", scalar});
      step = let({"(" + step.text + " / (" + size.text + " + 1))", step.type});
    }
    if (random.chance(0.6))
      update(step);
    else if (step.text.front() == '(')
      let(step);
  }
}

/// A product whose reduction is pending, the reduction, and what follows.
void ProgramGenerator::reducedProduct() {
  size_t axis = drawAxis();
  Shape left = {drawSize(), drawSize()};
  if (random.chance(0.3))
    left.insert(left.begin(), drawSize());
  Tensor x = replicated(element, left);
  x.cuts.back().push_back(axis);
  if (mesh.size() > 1 && random.chance(0.4)) {
    size_t other = otherAxis(axis);
    if (random.chance(0.5))
      x.cuts.front().push_back(other);
    else
      x.held[other] = Held::Local;
  }
  Tensor w = replicated(element, {left.back(), drawSize()});
  w.cuts[0].push_back(axis);
  std::optional<Tensor> type = multiply(x, w);
  if (!type)
    return;
  Value part =
      let({"matmul(" + input(x).text + ", " + input(w).text + ")", *type});
  Tensor whole = *type;
  whole.held[axis] = Held::Same;
  std::string from = "sum, " + part.text;
  if (random.chance(0.3)) {
    auto dim = static_cast<size_t>(random.below(int64_t(whole.rank())));
    whole.cuts[dim].push_back(axis);
    Value y = let({"reduce_scatter(" + from + ", " + std::to_string(dim) +
                       axesText({axis}) + ")",
                   whole});
    let(pointwise(y, unsigned(random.below(3))));
    return;
  }
  Value sum = let({"all_reduce(" + from + axesText({axis}) + ")", whole});
  Value out = pointwise(sum, unsigned(random.between(1, 4)));
  if (random.chance(0.3) && out.type.isFloat()) {
    update(out);
    Value gamma = input(replicated(element, {out.type.shape.back()}));
    out = {"rms_norm(" + out.text + ", " + gamma.text + ", 0.01)", out.type};
  }
  let(out);
}

/// A gather, and a product of what it makes.
void ProgramGenerator::gatheredProduct() {
  size_t axis = drawAxis();
  Tensor x = replicated(element, {drawSize(), drawSize()});
  x.cuts[0].push_back(axis);
  Value slices = input(x);
  if (random.chance(0.3))
    slices = pointwise(slices, 1);
  Tensor all = slices.type;
  if (all.cuts[0] != std::vector<size_t>{axis})
    return;
  all.cuts[0].clear();
  Value tokens =
      let({"all_gather(" + slices.text + axesText({axis}) + ")", all});
  Tensor w = replicated(element, {x.shape[1], drawSize()});
  if (random.chance(0.6))
    w.cuts[1].push_back(axis);
  Value hidden = input(w);
  std::optional<Tensor> type = multiply(all, w);
  if (!type)
    return;
  hidden = {"matmul(" + tokens.text + ", " + hidden.text + ")", *type};
  if (random.chance(0.5))
    hidden = let(hidden);
  let(pointwise(hidden, unsigned(random.below(3))));
}

/// Computation on what the ranks hold each, and a send.
void ProgramGenerator::pipelineStage() {
  size_t axis = drawAxis();
  Tensor type = drawLayout(replicated(element, shape), false);
  for (std::vector<size_t> &cuts : type.cuts)
    cuts.erase(std::remove(cuts.begin(), cuts.end(), axis), cuts.end());
  type.held[axis] = Held::Local;
  Value x = input(type);
  if (mesh.size() > 1 && random.chance(0.6)) {
    // The stage is parallel by itself.
    size_t other = otherAxis(axis);
    Tensor pending = replicated(element, shape);
    pending.held[axis] = Held::Local;
    Tensor whole = pending;
    pending.held[other] = Held::Sum;
    x = let({"all_reduce(sum, " + input(pending).text + axesText({other}) + ")",
             whole});
  }
  x = pointwise(x, unsigned(random.below(4)));
  if (!x.type.isLocal(axis))
    return;
  Value next = let({"send(" + x.text + ", " + mesh.axes[axis].name +
                        random.pick<std::string>({", +1)", ", -1)"}),
                    x.type});
  if (random.chance(0.3))
    let(pointwise(next, 1));
}

Value ProgramGenerator::viewed(Value x) {
  for (int64_t i = random.between(0, 2); i > 0; --i) {
    size_t axis = drawAxis();
    auto dim = static_cast<size_t>(random.below(int64_t(x.type.rank())));
    Tensor type = x.type;
    std::string at = std::to_string(dim);
    if (x.type.isReplicated(axis) && random.chance(0.5)) {
      type.cuts[dim].push_back(axis);
      x = {"slice(" + x.text + ", " + at + axesText({axis}) + ")", type};
    } else if (x.type.rank() == 2 && random.chance(0.3)) {
      std::swap(type.shape[0], type.shape[1]);
      std::swap(type.cuts[0], type.cuts[1]);
      x = {"transpose(" + x.text + ", [1, 0])", type};
    } else if (x.type.cuts[dim].empty() && x.type.shape[dim] > 1) {
      int64_t begin = random.below(x.type.shape[dim]);
      type.shape[dim] -= begin;
      x = {"slice(" + x.text + ", " + at + ", " + std::to_string(begin) + ", " +
               std::to_string(x.type.shape[dim]) + ")",
           type};
    }
  }
  return random.chance(0.5) ? let(x) : x;
}

/// Products of views of what came in, and what they leave sent on: stages of a
/// pipeline, parallel by themselves where there is another axis. Most of what
/// is sent is returned, too.
void ProgramGenerator::stages() {
  size_t axis = drawAxis();
  Tensor type = replicated(element, {drawSize(), drawSize()});
  type.held[axis] = Held::Local;
  Value x = input(type);
  for (int64_t i = random.between(1, 3); i > 0; --i) {
    Value in = viewed(x);
    Tensor weight = replicated(element, {in.type.shape.back(), drawSize()});
    weight.held[axis] = random.chance(0.7) ? Held::Local : Held::Same;
    weight.cuts[0] = in.type.cuts.back();
    std::optional<Tensor> made = multiply(in.type, weight);
    if (!made)
      return;
    Value y =
        let({"matmul(" + in.text + ", " + input(weight).text + ")", *made});
    Tensor whole = y.type;
    std::vector<size_t> pending;
    for (size_t each = 0; each < mesh.size(); ++each)
      if (whole.isPending(each)) {
        pending.push_back(each);
        whole.held[each] = Held::Same;
      }
    if (!pending.empty())
      y = let({"all_reduce(sum, " + y.text + axesText(pending) + ")", whole});
    y = pointwise(y, unsigned(random.below(2)));
    if (!y.type.isLocal(axis) || y.type.pending())
      return;
    Value sent = let({"send(" + y.text + ", " + mesh.axes[axis].name +
                          random.pick<std::string>({", +1)", ", -1)"}),
                      y.type});
    x = sent;
    if (random.chance(0.3)) {
      Tensor condition = replicated("bool", {});
      condition.held[axis] = Held::Local;
      x = let({"select(" + input(condition).text + ", " +
                   input(sent.type).text + ", " + sent.text + ")",
               sent.type});
    }
  }
}

/// To the experts, through them and back.
void ProgramGenerator::experts() {
  size_t axis = drawAxis();
  int64_t numExperts = drawSize();
  Tensor x = replicated(element, {numExperts, drawSize(), drawSize()});
  x.cuts[1].push_back(axis);
  Tensor at = x;
  std::swap(at.cuts[0], at.cuts[1]);
  Value sent =
      let({"all_to_all(" + input(x).text + ", 1 -> 0" + axesText({axis}) + ")",
           at});
  Tensor w = replicated(element, {numExperts, x.shape[2], drawSize()});
  w.cuts[0].push_back(axis);
  std::optional<Tensor> made = multiply(at, w);
  if (!made)
    return;
  Value hidden =
      let({"matmul(" + sent.text + ", " + input(w).text + ")", *made});
  hidden = pointwise(hidden, unsigned(random.below(2)));
  if (hidden.type.cuts[0] != std::vector<size_t>{axis} ||
      !hidden.type.cuts[1].empty())
    return;
  Tensor home = hidden.type;
  std::swap(home.cuts[0], home.cuts[1]);
  Value back =
      let({"all_to_all(" + hidden.text + ", 0 -> 1" + axesText({axis}) + ")",
           home});
  if (random.chance(0.5))
    let({"sum(" + back.text + ", 0)", *reduceOver(home, 0, Held::Sum)});
}

/// An argument that is stored what is made of it.
void ProgramGenerator::replacements() {
  Shape own = shape;
  if (own.size() == 2 && random.chance(0.5))
    own[0] = own[1];
  Value state =
      argument(drawLayout(replicated(element, own), true), /*isInout=*/true);
  for (int64_t i = random.between(1, 3); i > 0; --i)
    for (int attempt = 0; attempt < 40; ++attempt) {
      Maybe made = operation(1);
      if (!made || made->text.find(state.text) == std::string::npos ||
          made->type != state.type)
        continue;
      if (random.chance(0.3))
        made = let(*made);
      store(state, *made);
      break;
    }
}

/// A reduction between ranks followed by a norm of what it makes.
void ProgramGenerator::norms() {
  if (shape.empty() || !replicated(element, shape).isFloat())
    return;
  size_t axis = drawAxis();
  Tensor type = replicated(element, shape);
  type.held[axis] = Held::Sum;
  Value x = input(type);
  type.held[axis] = Held::Same;
  Value total =
      let({"all_reduce(sum, " + x.text + axesText({axis}) + ")", type});
  Value state = argument(type, /*isInout=*/true);
  store(state, {state.text + " + " + total.text, type});
  Value gamma = input(replicated(element, {shape.back()}));
  if (random.chance(0.5))
    let({"rms_norm(" + state.text + ", " + gamma.text + ", 0.01)", type});
  else
    let({"softmax(" + state.text + ", " +
             std::to_string(random.below(int64_t(shape.size()))) + ")",
         type});
}
