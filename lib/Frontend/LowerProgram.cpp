//===- LowerProgram.cpp - Programs, types and statements ------------------===//
//
// Builds a `ccn.program`: its arguments, `let`, `<-` and `return`.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<StringAttr>
ProgramLowering::lowerAxis(const std::optional<ast::Name> &axis,
                           SourceRange range) {
  if (!file.mesh) {
    if (!file.hadSyntaxErrors && !file.diagnostics.hasErrors())
      error(range, "expected a mesh before this, as in 'mesh m (dp = 4)'");
    return std::nullopt;
  }
  auto names = llvm::to_vector(
      llvm::map_range(file.mesh.getAxisNames().getAsRange<StringAttr>(),
                      [](StringAttr name) { return name.getValue(); }));
  if (!axis) {
    if (names.size() == 1)
      return builder.getStringAttr(names.front());
    error(range, "expected a mesh axis, '" + llvm::join(names, "' or '") +
                     "', found none");
    return std::nullopt;
  }
  if (axis->isMissing())
    return std::nullopt;
  if (!llvm::is_contained(names, axis->text)) {
    file.unknownName("mesh axis", axis->text, axis->range, names);
    return std::nullopt;
  }
  return builder.getStringAttr(axis->text);
}

bool ProgramLowering::lowerStates(ArrayRef<ast::LayoutState> states,
                                  Layout &layout) {
  llvm::SmallDenseSet<StringAttr> seen;
  for (const ast::LayoutState &state : states) {
    if (state.kind == ast::LayoutState::Kind::Replicated) {
      if (states.size() == 1)
        continue;
      error(state.range, "expected 'replicated' alone, as it holds for every "
                         "axis that is not named");
      return false;
    }
    std::optional<StringAttr> axis = lowerAxis(state.axis, state.range);
    if (!axis)
      return false;
    if (!seen.insert(*axis).second) {
      error(state.range, "expected one state along mesh axis '" +
                             axis->getValue() + "', found another");
      return false;
    }
    AxisState axisState;
    switch (state.kind) {
    case ast::LayoutState::Kind::Replicated:
      break;
    case ast::LayoutState::Kind::Sliced: {
      std::optional<int64_t> dim;
      if (state.dim)
        dim = file.evaluateInteger(state.dim, "dimension");
      if (!dim)
        return false;
      if (*dim < 0 || *dim >= layout.getRank()) {
        error(state.dim->range, "expected a dimension of a tensor of rank " +
                                    Twine(layout.getRank()) + ", found " +
                                    Twine(*dim));
        return false;
      }
      axisState = {AxisState::Sliced, static_cast<unsigned>(*dim),
                   ReduceKind::sum};
      break;
    }
    case ast::LayoutState::Kind::Partial:
      if (!state.reduction)
        return false;
      axisState = {AxisState::Partial, 0,
                   *symbolizeReduceKind(getSpelling(*state.reduction))};
      if (layout.hasPartial() &&
          layout.getPartials().front().kind != axisState.reduction) {
        error(state.range,
              "expected pending reductions of one kind, found '" +
                  stringifyReduceKind(layout.getPartials().front().kind) +
                  "' and '" + stringifyReduceKind(axisState.reduction) + "'");
        return false;
      }
      break;
    case ast::LayoutState::Kind::Local:
      axisState.kind = AxisState::Local;
      break;
    }
    layout.setMesh(FlatSymbolRefAttr::get(file.mesh.getSymNameAttr()));
    layout.setState(*axis, axisState);
  }
  return true;
}

RankedTensorType ProgramLowering::lowerType(const ast::TypeSpec &spec) {
  SmallVector<int64_t> shape;
  std::optional<int64_t> bytes = 8;
  for (const ast::Expr *size : spec.shape) {
    std::optional<int64_t> value = file.evaluateInteger(size, "size");
    if (value)
      value = file.sizeOf(size, *value);
    if (!value)
      return {};
    if (*value < 0) {
      error(size->range,
            "expected a size of at least 0, found " + Twine(*value));
      return {};
    }
    if (bytes && *value != 0)
      bytes = llvm::checkedMul(*bytes, *value);
    shape.push_back(*value);
  }
  if (!bytes) {
    error(spec.range, "the tensor's size in bytes does not fit 64 bits");
    return {};
  }
  Layout layout(shape.size());
  if (!lowerStates(spec.states, layout))
    return {};
  return layout.getType(
      shape, elementTypeByName(file.context, ast::getSpelling(spec.element)));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

bool ProgramLowering::declare(Scope &scope, const ast::Name &name,
                              Declaration declaration) {
  if (name.isMissing())
    return false;
  declaration.range = name.range;
  auto global = file.globals.find(name.text);
  const Declaration *other =
      global == file.globals.end() ? nullptr : &global->second;
  auto [it, inserted] = scope.insert({name.text, declaration});
  if (!inserted)
    other = &it->second;
  if (!other)
    return true;
  error(name.range, "'" + name.text + "' is already defined")
      .note(file.file.source, other->range, "the other definition");
  return false;
}

void ProgramLowering::lower(const ast::ProgramItem &item) {
  if (item.name.isMissing() || !item.block)
    return;
  auto [previous, inserted] =
      file.programRanges.try_emplace(item.name.text, item.name.range);
  if (!inserted) {
    error(item.name.range,
          "program '" + item.name.text + "' is already defined")
        .note(file.file.source, previous->second, "the other definition");
    return;
  }
  if (!file.mesh) {
    if (!file.diagnostics.hasErrors())
      error(item.name.range,
            "expected a mesh before the program, as in 'mesh m (dp = 4)'");
    return;
  }
  if (file.mesh.getSymName() == item.name.text) {
    error(item.name.range,
          "'" + item.name.text + "' is already the name of the mesh")
        .note(file.file.source, file.meshRange, "the mesh");
    return;
  }

  Scope scope;
  scopes.push_back(&scope);
  file.programScope = &scope;
  SmallVector<Type> types;
  SmallVector<const ast::ProgramArg *> arguments;
  for (const ast::ProgramArg &arg : item.args) {
    RankedTensorType type = arg.type ? lowerType(*arg.type) : nullptr;
    Declaration declaration;
    declaration.kind = Declaration::Kind::Value;
    declaration.inout = arg.inout.has_value();
    declaration.isProgramValue = true;
    if (!declare(scope, arg.name, declaration) || !type)
      continue;
    if (arg.type->scattered &&
        (type.getRank() != 1 || Layout::of(type).isSliced(0))) {
      error(*arg.type->scattered,
            "expected a scattered argument to have rank 1 and not to be "
            "sliced, found '" +
                typeName(type) + "'");
      continue;
    }
    types.push_back(type);
    arguments.push_back(&arg);
  }

  program = ProgramOp::create(file.builder, file.location(item.range),
                              builder.getStringAttr(item.name.text),
                              builder.getFunctionType(types, {}));
  Block &block = program.getBody().emplaceBlock();
  for (auto [index, arg] : llvm::enumerate(arguments)) {
    Value value =
        block.addArgument(types[index], file.location(arg->name.range));
    program.setArgAttr(index, kNameAttr, builder.getStringAttr(arg->name.text));
    if (arg->inout)
      program.setArgAttr(index, kInoutAttr, builder.getUnitAttr());
    if (arg->type->scattered)
      program.setArgAttr(index, kScatteredAttr, builder.getUnitAttr());
    scope[arg->name.text].operand = Operand(value, arg->name.range);
  }
  builder.setInsertionPointToEnd(&block);
  lowerBody(*item.block);

  program.setType(builder.getFunctionType(
      types, llvm::to_vector(TypeRange(ValueRange(results)))));
  for (auto [index, name] : llvm::enumerate(resultNames))
    program.setResultAttr(index, kNameAttr, builder.getStringAttr(name));
  SourceRange end = {item.block->range.end, item.block->range.end};
  ReturnOp::create(builder, file.location(end), results);
  scopes.pop_back();
  file.programScope = nullptr;
  for (auto &[name, declaration] : scope)
    if (declaration.isProgramValue && declaration.operand.isTensor())
      file.types[item.name.text][name] = declaration.operand.getType();
  file.programs[item.name.text] = std::move(scope);
}

void ProgramLowering::lowerBody(const ast::Block &block) {
  for (const ast::Stmt *stmt : block.stmts) {
    if (returned) {
      error(stmt->range, "expected nothing after 'return'");
      return;
    }
    switch (stmt->kind) {
    case ast::Stmt::Kind::Let:
      lowerLet(*cast<ast::LetStmt>(stmt), *scopes.back());
      break;
    case ast::Stmt::Kind::Store:
      lowerStore(*cast<ast::StoreStmt>(stmt));
      break;
    case ast::Stmt::Kind::Return:
      lowerReturn(*cast<ast::ReturnStmt>(stmt));
      returned = true;
      break;
    }
    if (file.tooLarge)
      return;
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void ProgramLowering::lowerLet(const ast::LetStmt &stmt, Scope &scope) {
  // Operations of an inlined function get the name of the program's statement.
  StringRef outer = letName;
  if (file.callStack.empty() && !stmt.names.empty())
    letName = stmt.names.front().text;
  Operand value = lower(stmt.value);
  letName = outer;

  auto define = [&](const ast::Name &name, Operand operand) {
    Declaration declaration;
    declaration.kind = Declaration::Kind::Value;
    declaration.isProgramValue =
        file.callStack.empty() && (operand.isTensor() || operand.isError());
    declaration.operand = std::move(operand);
    declare(scope, name, std::move(declaration));
  };
  if (!stmt.inParens) {
    if (value.kind == Operand::Kind::Tuple) {
      error(stmt.value->range, "expected one value, found " +
                                   Twine(value.elements.size()) +
                                   "; take them apart with 'let (a, b) = ...'");
      value = Operand();
    }
    define(stmt.names.front(), std::move(value));
    return;
  }
  bool fits = value.kind == Operand::Kind::Tuple &&
              value.elements.size() == stmt.names.size();
  if (!fits && !value.isError())
    error(stmt.value->range,
          "expected " + Twine(stmt.names.size()) + " values, found " +
              Twine(value.kind == Operand::Kind::Tuple ? value.elements.size()
                                                       : 1));
  for (auto [index, name] : llvm::enumerate(stmt.names))
    define(name, fits ? value.elements[index] : Operand());
  if (fits && file.callStack.empty())
    nameParts(stmt, value.elements);
}

/// Gives each name of a statement with several names the operations that
/// compute its value.
void ProgramLowering::nameParts(const ast::LetStmt &stmt,
                                ArrayRef<Operand> values) {
  auto statement = builder.getStringAttr(stmt.names.front().text);
  llvm::DenseMap<Operation *, SmallVector<Attribute>> names;
  for (auto [name, value] : llvm::zip_equal(stmt.names, values)) {
    auto attr = builder.getStringAttr(name.text);
    SmallVector<Value> left = {value.value};
    while (!left.empty()) {
      Value next = left.pop_back_val();
      Operation *op = next ? next.getDefiningOp() : nullptr;
      if (!op || op->getAttr(kLetAttr) != statement)
        continue;
      SmallVector<Attribute> &ofOp = names[op];
      if (llvm::is_contained(ofOp, attr))
        continue;
      ofOp.push_back(attr);
      llvm::append_range(left, op->getOperands());
    }
  }
  for (auto &[op, all] : names) {
    op->setAttr(kLetAttr, all.front());
    if (all.size() > 1)
      op->setAttr(kTagsAttr, builder.getArrayAttr(ArrayRef(all).drop_front()));
  }
}

bool ProgramLowering::isArgument(StringRef name) {
  return llvm::any_of(
      llvm::seq<unsigned>(0, program.getNumArguments()),
      [&](unsigned i) { return program.getArgName(i) == name; });
}

void ProgramLowering::lowerStore(const ast::StoreStmt &stmt) {
  if (!file.callStack.empty()) {
    error(stmt.range, "expected no store in a function; return the value and "
                      "store it in the program");
    return;
  }
  if (stmt.target.isMissing())
    return;
  letName = stmt.target.text;
  Operand value = lower(stmt.value);
  Scope &scope = *scopes.front();
  auto it = scope.find(stmt.target.text);
  if (it == scope.end()) {
    SmallVector<StringRef> candidates;
    for (auto &[name, declaration] : scope)
      if (declaration.inout)
        candidates.push_back(name);
    file.unknownName("inout argument", stmt.target.text, stmt.target.range,
                     candidates);
    letName = {};
    return;
  }
  if (!it->second.inout) {
    error(stmt.target.range,
          "expected an inout argument, found '" + stmt.target.text + "'")
        .note(file.file.source, it->second.range,
              isArgument(stmt.target.text)
                  ? "declared here without 'inout'"
                  : "this is a value, which 'let' names once");
    letName = {};
    return;
  }
  Operand &target = it->second.operand;
  if (!value.isError() && !target.isError()) {
    Operand stored = toLayout(value, target.getType(), it->second.range);
    if (!stored.isError()) {
      auto update = UpdateOp::create(builder, file.location(stmt.range),
                                     target.value, stored.value);
      update->setAttr(kLetAttr, builder.getStringAttr(letName));
      if (check(stmt.range, update))
        target = Operand(update.getResult(), stmt.target.range);
    }
  }
  letName = {};
}

void ProgramLowering::wrongLayout(const Layout &from, const Layout &to,
                                  SourceRange range, SourceRange declared) {
  std::string written = textOf(range);
  auto diagnostic =
      error(range, "layout '" + from.str() +
                       "' cannot be stored in an argument with layout '" +
                       to.str() + "'")
          .note(file.file.source, declared, "declared here");
  for (StringAttr axis : from.getNamedAxes()) {
    AxisState state = from.getState(axis), target = to.getState(axis);
    StringRef name = axis.getValue();
    StringRef kind = stringifyReduceKind(state.reduction);
    if (state == target)
      continue;
    if (state.kind == AxisState::Sliced && target.kind == AxisState::Local)
      diagnostic.note("gather it with 'all_gather(" + written + ", " + name +
                      ")'");
    else if (state.kind == AxisState::Sliced ||
             target.kind == AxisState::Partial)
      continue;
    else if (target.kind == AxisState::Sliced)
      diagnostic.note("reduce it with 'reduce_scatter(" + kind + ", " +
                      written + ", " + Twine(target.dim) + ", " + name + ")'");
    else
      diagnostic.note("reduce it with 'all_reduce(" + kind + ", " + written +
                      ", " + name + ")'");
  }
  // Only the cuts differ, in their dimension or their order.
  bool isCut = !from.hasPartial() && !from.hasLocal();
  if (isCut && !to.hasPartial() && !to.hasLocal())
    diagnostic.note("move the cuts with 'reshard(" + written + ", " + to.str() +
                    ")'");
}

/// Converts a value to the type of the argument that it is stored in. This
/// makes conversions without communication, and gathers a sliced value if the
/// argument is declared replicated.
Operand ProgramLowering::toLayout(Operand value, RankedTensorType type,
                                  SourceRange declared) {
  SourceRange range = value.range;
  if (!isOneValue(value))
    return {};
  const SourceFile &source = file.file.source;
  std::string written = textOf(range);
  value = materialize(value, type.getElementType());
  if (value.isError())
    return {};
  if (value.getType().getElementType() != type.getElementType()) {
    error(range, "expected a value of type '" + typeName(type) + "', found '" +
                     typeName(value.getType()) + "'; convert it with 'cast(" +
                     written + ", " + elementTypeName(type.getElementType()) +
                     ")'")
        .note(source, declared, "declared here");
    return {};
  }
  if (value.getType().getRank() == 0 && type.getRank() != 0)
    value = make<BroadcastToOp>(range, value.value, type.getShape());
  if (value.isError())
    return {};
  if (value.getType().getShape() != type.getShape()) {
    error(range, "expected a value of shape '" + typeName(type) + "', found '" +
                     typeName(value.getType()) + "'")
        .note(source, declared, "declared here");
    return {};
  }
  Layout to = Layout::of(type);
  Layout from = Layout::of(value.getType());
  // Gathers inner cuts before outer ones, and no cut inside of which another
  // one remains.
  SmallVector<StringAttr> gathered;
  for (unsigned dim = 0; dim < from.getRank(); ++dim)
    for (StringAttr axis : llvm::reverse(from.getAxes(dim))) {
      if (to.getState(axis).kind != AxisState::Replicated)
        break;
      gathered.push_back(axis);
    }
  if (!gathered.empty()) {
    value = make<AllGatherOp>(
        range, value.value,
        AxesAttr::get(file.context, from.getMesh(), gathered));
    if (value.isError())
      return {};
    from = Layout::of(value.getType());
  }
  for (unsigned dim = 0; dim < to.getRank(); ++dim) {
    SmallVector<StringAttr> axes;
    for (StringAttr axis : to.getAxes(dim))
      if (from.getState(axis).kind == AxisState::Replicated)
        axes.push_back(axis);
    if (axes.empty())
      continue;
    value = make<SliceOp>(range, value.value, dim,
                          AxesAttr::get(file.context, to.getMesh(), axes));
    if (value.isError())
      return {};
    from = Layout::of(value.getType());
  }
  // A replicated value may also be stored as a local one. A partial value may
  // not, as its pending reduction would be lost.
  for (StringAttr axis : to.getNamedAxes()) {
    AxisState::Kind kind = from.getState(axis).kind;
    if (to.getState(axis).kind == AxisState::Local &&
        kind == AxisState::Replicated) {
      from.setMesh(to.getMesh());
      from.setState(axis, {AxisState::Local, 0, ReduceKind::sum});
    }
  }
  if (from != to) {
    wrongLayout(Layout::of(value.getType()), to, range, declared);
    return {};
  }
  if (value.getType() == type)
    return value;
  auto reshard =
      ReshardOp::create(builder, file.location(range), type, value.value);
  reshard->setAttr(kLetAttr, builder.getStringAttr(letName));
  if (!check(range, reshard))
    return {};
  return Operand(reshard.getResult(), range);
}

StringRef ProgramLowering::nameResult(const ast::ReturnStmt &stmt,
                                      size_t index) {
  std::string name = "result";
  if (stmt.values.size() > 1)
    name += std::to_string(index);
  return StringRef(name).copy(
      const_cast<llvm::BumpPtrAllocator &>(file.file.arena));
}

void ProgramLowering::lowerReturn(const ast::ReturnStmt &stmt) {
  Scope &scope = *scopes.back();
  for (auto [index, expr] : llvm::enumerate(stmt.values)) {
    if (isa<ast::ErrorExpr>(expr))
      continue;
    auto *named = dyn_cast<ast::NameExpr>(expr);
    StringRef name = named ? named->name : nameResult(stmt, index);
    if (!named)
      letName = name;
    Operand value = lower(expr);
    letName = {};
    if (value.isError() || !isOneValue(value))
      continue;
    auto it = scope.find(name);
    if (named && it != scope.end() && value.isTensor() && isArgument(name)) {
      error(expr->range,
            it->second.inout
                ? "'" + name + "' is an inout argument and comes out by itself"
                : "'" + name +
                      "' is an argument; name the result first with 'let'");
      continue;
    }
    if (!value.isTensor()) {
      error(expr->range, "expected a tensor as result, found a constant");
      continue;
    }
    if (named && llvm::is_contained(resultNames, name)) {
      error(expr->range, "'" + name + "' is returned twice");
      continue;
    }
    if (!named) {
      Declaration declaration;
      declaration.kind = Declaration::Kind::Value;
      declaration.isProgramValue = true;
      declaration.operand = value;
      // Declares the result as if 'let' had named it.
      if (!declare(scope, ast::Name{name, expr->range}, declaration))
        continue;
    }
    results.push_back(value.value);
    resultNames.push_back(name);
  }
}
