//===- ProgramGenerator.cpp - Random programs -----------------------------===//
//
// Meshes, types, values and statements, and what a program is made of.
//
//===----------------------------------------------------------------------===//

#include "ProgramGenerator.h"

#include <algorithm>
#include <regex>

using namespace ccn::random;

ProgramGenerator::ProgramGenerator(Random &random, bool isLarge)
    : random(random) {
  using Meshes = std::vector<std::pair<int, std::vector<int64_t>>>;
  static const Meshes small = {
      {1, {1}},       {6, {2}},       {5, {3}},       {4, {4}},    {1, {5}},
      {1, {6}},       {1, {7}},       {1, {8}},       {6, {2, 2}}, {2, {2, 3}},
      {2, {3, 2}},    {1, {4, 2}},    {1, {2, 4}},    {1, {1, 2}}, {1, {2, 1}},
      {3, {2, 2, 2}}, {1, {2, 1, 3}}, {1, {3, 2, 2}}, {1, {11}},   {1, {16}},
      {1, {4, 4}},    {1, {2, 2, 4}}};
  static const Meshes large = {{4, {17}},   {2, {20}},   {2, {23}},
                               {4, {3, 7}}, {3, {2, 9}}, {3, {18, 2}},
                               {2, {5, 4}}, {1, {33}},   {2, {2, 3, 3}}};
  program.mesh = "mesh m (";
  for (int64_t size : random.weighted(isLarge ? large : small)) {
    mesh.axes.push_back(
        {std::string(1, static_cast<char>('a' + mesh.size())), size});
    program.mesh += (mesh.size() > 1 ? ", " : "") + mesh.axes.back().name +
                    " = " + std::to_string(size);
  }
  program.mesh += ")";
  for (int i = 0; i < 3; ++i)
    sizes.push_back(random.weighted<int64_t>({{1, 0},
                                              {2, 1},
                                              {6, 2},
                                              {6, 3},
                                              {4, 4},
                                              {5, 5},
                                              {3, 6},
                                              {3, 7},
                                              {2, 8},
                                              {1, 9}}));
  element = drawElement();
  shape = drawShape();
  // Rows that more than a thread takes, and large ones.
  if (!shape.empty() && random.chance(0.08))
    shape.back() = random.pick<int64_t>({33, 70, 257, 1030});
  if (shape.size() == 1 && random.chance(0.08))
    shape.back() = random.pick<int64_t>({2049, 4096, 5000});
}

std::string ProgramGenerator::drawElement() {
  return random.weighted<std::string>({{12, "f32"},
                                       {5, "f64"},
                                       {6, "f16"},
                                       {5, "bf16"},
                                       {4, "i32"},
                                       {2, "f8e4m3"},
                                       {2, "f8e5m2"},
                                       {1, "i8"},
                                       {1, "i16"},
                                       {1, "i64"},
                                       {1, "u8"},
                                       {1, "u16"},
                                       {1, "u32"},
                                       {1, "u64"}});
}

int64_t ProgramGenerator::drawSize() { return random.pick(sizes); }

Shape ProgramGenerator::drawShape() {
  auto rank = random.weighted<unsigned>({{1, 0}, {5, 1}, {9, 2}, {3, 3}});
  Shape result;
  for (unsigned i = 0; i < rank; ++i)
    result.push_back(drawSize());
  return result;
}

Held ProgramGenerator::drawReduction() {
  return random.weighted<Held>(
      {{8, Held::Sum}, {1, Held::Prod}, {2, Held::Max}, {1, Held::Min}});
}

std::vector<size_t> ProgramGenerator::drawAxes() {
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    if (random.chance(0.6))
      axes.push_back(axis);
  if (axes.empty())
    axes.push_back(drawAxis());
  return axes;
}

Tensor ProgramGenerator::drawLayout(Tensor type, bool canBeHeld) {
  Held pending = drawReduction();
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    int64_t kind = random.below(canBeHeld ? 6 : 4);
    if (kind < 2 && type.rank())
      type.cuts[static_cast<size_t>(random.below(int64_t(type.rank())))]
          .push_back(axis);
    else if (kind == 4)
      type.held[axis] = Held::Local;
    else if (kind == 5)
      type.held[axis] = pending;
  }
  return type;
}

std::string ProgramGenerator::axesText(const std::vector<size_t> &axes) {
  std::string text;
  if (mesh.size() == 1 && random.chance(0.5))
    return text;
  for (size_t axis : axes)
    text += ", " + mesh.axes[axis].name;
  return text;
}

std::string ProgramGenerator::literal(const Tensor &type) {
  if (!type.isFloat())
    return std::to_string(random.between(2, 3));
  return random.pick<std::string>({"0.5", "2", "0.25", "3", "-1.5"});
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value ProgramGenerator::let(const Value &value) {
  std::string name = "v" + std::to_string(numLets++);
  std::string text = value.text;
  if (random.chance(0.08)) {
    text = call({value});
    calls.push_back({text, value.type});
  }
  program.statements.push_back("let " + name + " = " + text);
  values.push_back({name, value.type});
  return values.back();
}

void ProgramGenerator::letPair(const Value &first, const Value &second) {
  std::string names[2];
  for (std::string &name : names)
    name = "v" + std::to_string(numLets++);
  program.statements.push_back("let (" + names[0] + ", " + names[1] +
                               ") = " + call({first, second}));
  values.push_back({names[0], first.type});
  values.push_back({names[1], second.type});
}

std::string ProgramGenerator::call(const std::vector<Value> &returned) {
  // What is named becomes a parameter.
  static const std::regex named("\\b[vxp][0-9]+\\b");
  std::vector<std::string> arguments, bodies;
  for (const Value &value : returned) {
    std::string body;
    auto at = value.text.begin();
    for (std::sregex_iterator it(value.text.begin(), value.text.end(), named),
         last;
         it != last; ++it) {
      auto argument = std::find(arguments.begin(), arguments.end(), it->str());
      body.append(at, (*it)[0].first);
      body += "q" + std::to_string(argument - arguments.begin());
      at = (*it)[0].second;
      if (argument == arguments.end())
        arguments.push_back(it->str());
    }
    bodies.push_back(body.append(at, value.text.end()));
  }
  std::string name = "h" + std::to_string(program.functions.size());
  std::string parameters;
  for (size_t i = 0; i < arguments.size(); ++i)
    parameters += (i ? ", q" : "q") + std::to_string(i);
  std::string function = "fn " + name + "(" + parameters + ")";
  if (bodies.size() == 1 && random.chance(0.5)) {
    function += " = " + bodies.front();
  } else {
    // Names of a function may be those of others.
    function += " { let v0 = " + bodies.front() + "; return v0";
    for (size_t i = 1; i < bodies.size(); ++i)
      function += ", " + bodies[i];
    function += " }";
  }
  program.functions.push_back(function);
  std::string text = name + "(";
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i ? ", " : "") + arguments[i];
  return text + ")";
}

Value ProgramGenerator::argument(const Tensor &type, bool isInout) {
  bool isScattered =
      type.rank() == 1 && type.cuts[0].empty() && random.chance(0.1);
  std::string name = isInout ? "p" + std::to_string(numStates++)
                             : "x" + std::to_string(numArguments++);
  program.arguments.push_back((isInout ? "inout " : "") + name + ": " +
                              type.text(mesh) +
                              (isScattered ? " scattered" : ""));
  values.push_back({name, type});
  if (isInout)
    states.push_back(values.back());
  return values.back();
}

Value ProgramGenerator::input(const Tensor &type) {
  if (random.chance(0.6))
    if (Maybe value = find([&](const Tensor &other) { return other == type; }))
      return *value;
  return argument(type, random.chance(0.15));
}

ProgramGenerator::Maybe
ProgramGenerator::find(const std::function<bool(const Tensor &)> &fits) {
  std::vector<Value> fitting;
  for (const Value &value : values)
    if (fits(value.type))
      fitting.push_back(value);
  if (fitting.empty())
    return std::nullopt;
  size_t recent = std::min<size_t>(fitting.size(), 4);
  if (random.chance(0.6))
    fitting.erase(fitting.begin(),
                  fitting.end() - static_cast<ptrdiff_t>(recent));
  return random.pick(fitting);
}

Value ProgramGenerator::any() {
  return *find([](const Tensor &) { return true; });
}

ProgramGenerator::Maybe ProgramGenerator::findReduced() {
  return find([](const Tensor &type) {
    return !type.pending() && type.element != "bool";
  });
}

Value ProgramGenerator::partner(const Value &x) {
  if (random.chance(0.7))
    if (Maybe value = find([&](const Tensor &type) {
          std::optional<Tensor> result = combine(x.type, type);
          return result && type.element == x.type.element;
        }))
      return *value;
  // One of the same shape, one that is repeated, or a scalar.
  Tensor type = x.type;
  if (random.chance(0.5)) {
    auto drop = static_cast<size_t>(random.below(int64_t(type.rank()) + 1));
    Tensor part =
        replicated(type.element, Shape(type.shape.begin() + ptrdiff_t(drop),
                                       type.shape.end()));
    for (int64_t &size : part.shape)
      if (random.chance(0.15))
        size = 1;
    return argument(part);
  }
  if (random.chance(0.4))
    type = replicated(type.element, type.shape);
  return argument(type, random.chance(0.1));
}

void ProgramGenerator::store(const Value &target, const Value &value) {
  program.statements.push_back(target.text + " <- " + value.text);
}

void ProgramGenerator::update(const Value &value) {
  if (value.type.element == "bool")
    return;
  Maybe target;
  for (const Value &state : states)
    if (!value.type.pending() && isStorable(value.type, state.type) &&
        random.chance(0.5))
      target = state;
  if (!target) {
    Tensor type = value.type;
    for (std::vector<size_t> &cuts : type.cuts)
      if (random.chance(0.5))
        cuts.clear();
    if (!type.pending() && random.chance(0.2)) {
      Tensor cut = drawLayout(replicated(type.element, type.shape), false);
      if (isStorable(value.type, cut))
        type = cut;
    }
    if (!isStorable(value.type, type))
      type = value.type;
    target = argument(type, /*isInout=*/true);
  }
  std::optional<Tensor> both = combine(value.type, target->type);
  if (both && isStorable(*both, target->type) && random.chance(0.7)) {
    std::string weight =
        value.type.isFloat() ? std::string("0.5 * ") : std::string();
    store(*target, {weight + target->text +
                        random.pick<std::string>({" + ", " - "}) + value.text,
                    *both});
  } else {
    store(*target, value);
  }
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Program ProgramGenerator::generate() {
  argument(drawLayout(replicated(element, shape), true));
  auto motifs = random.weighted<unsigned>({{1, 0}, {7, 1}, {2, 2}});
  for (unsigned i = 0; i < motifs; ++i)
    switch (random.weighted<unsigned>(
        {{6, 0}, {4, 1}, {3, 2}, {2, 3}, {2, 4}, {2, 5}, {2, 6}, {3, 7}})) {
    case 0:
      gradients();
      break;
    case 1:
      reducedProduct();
      break;
    case 2:
      gatheredProduct();
      break;
    case 3:
      pipelineStage();
      break;
    case 4:
      experts();
      break;
    case 5:
      norms();
      break;
    case 6:
      replacements();
      break;
    case 7:
      stages();
      break;
    }
  int64_t more = random.below(motifs ? 6 : 10);
  for (int64_t i = 0; i < more; ++i) {
    Maybe made = operation(2);
    if (made && made->type.count() <= 10'000) {
      if (random.chance(0.05))
        if (Maybe other = operation(1);
            other && other->type.count() <= 10'000) {
          letPair(*made, *other);
          continue;
        }
      Value value = let(*made);
      if (random.chance(0.15))
        update(value);
    }
  }
  // Most of what was made leaves the program, so that little is dropped.
  std::vector<std::string> results;
  for (const Value &value : values)
    if (value.text.front() == 'v' && random.chance(0.35))
      results.push_back(value.text);
  if (numLets && (random.chance(0.9) || results.empty()))
    results.push_back("v" + std::to_string(numLets - 1));
  if (results.empty() && states.empty())
    results.push_back(let(scaled(0).value_or(any())).text);
  for (const std::string &result : results)
    if (!std::count(program.results.begin(), program.results.end(), result))
      program.results.push_back(result);
  return program;
}
