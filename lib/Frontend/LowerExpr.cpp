//===- LowerExpr.cpp - Expressions ----------------------------------------===//
//
// Lowers names, operators, and constants, which get their type from other
// operands, and inlines functions.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;
using ast::BinaryOp;

//===----------------------------------------------------------------------===//
// Building operations
//===----------------------------------------------------------------------===//

std::string ProgramLowering::textOf(SourceRange range) const {
  constexpr size_t most = 40;
  StringRef text = file.file.source.getText(range);
  StringRef first = text.take_until([](char c) { return c == '\n'; });
  std::string shown = escapeForDisplay(first.take_front(most).rtrim());
  return shown.size() < text.size() ? shown + "..." : shown;
}

std::string ProgramLowering::nameOperands(StringRef message,
                                          ValueRange operands) {
  std::string text;
  for (;;) {
    size_t at = message.find("operand #");
    text += message.take_front(at);
    if (at == StringRef::npos)
      return text;
    message = message.drop_front(at);
    unsigned index;
    StringRef rest = message;
    rest.consume_front("operand #");
    bool known = !rest.consumeInteger(10, index) && index < operands.size() &&
                 places.contains(operands[index]);
    text += known ? textOf(places.lookup(operands[index]))
                  : message.drop_back(rest.size()).str();
    message = rest;
  }
}

ScopedDiagnosticHandler
ProgramLowering::redirect(SourceRange range, Notes notes, ValueRange operands) {
  return ScopedDiagnosticHandler(
      file.context,
      [this, range, notes, operands](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        std::string message = nameOperands(diagnostic.str(), operands);
        // The message need not name the operation, as the diagnostic shows the
        // expression.
        StringRef text = message;
        if (text.consume_front("'ccn."))
          text = text.drop_front(text.find("' op ") + 5);
        error(range, text, notes);
        return success();
      });
}

DiagnosticHandle ProgramLowering::error(SourceRange range, const Twine &message,
                                        Notes notes) {
  if (!file.callStack.empty() &&
      !file.functionErrors.insert({range.begin, range.end, message.str()})
           .second)
    return {};
  DiagnosticHandle handle = file.error(range, message);
  for (const auto &[place, text] : notes)
    handle.note(file.file.source, place, text);
  // Notes show the innermost call, and the call in the program.
  auto noteCall = [&](const FileLowering::Call &call) {
    if (call.range)
      handle.note(file.file.source, *call.range,
                  "'" + call.fn->name.text + "' is called here");
  };
  if (!file.callStack.empty())
    noteCall(file.callStack.back());
  if (file.callStack.size() > 1)
    noteCall(file.callStack.front());
  return handle;
}

bool ProgramLowering::count(unsigned &counter, unsigned most, StringRef what,
                            SourceRange range) {
  if (!file.tooLarge && ++counter <= most)
    return true;
  if (!file.tooLarge && !file.checksFunctions)
    error(range, (program ? "the program has" : "the constant takes") +
                     Twine(" more than ") + Twine(most) + " " + what);
  file.tooLarge = true;
  return false;
}

Operand ProgramLowering::finish(SourceRange range, OperationState &state,
                                InferReturnTypes infer) {
  SmallVector<Operand> operands = std::exchange(written, {});
  if (!program) {
    error(range, "expected a constant, found a tensor");
    return {};
  }
  SmallVector<std::pair<SourceRange, std::string>> notes;
  if (operands.size() > 1)
    for (auto [was, is] : llvm::zip_equal(operands, state.operands)) {
      std::string text = "this is '" + typeName(was.getType()) + "'";
      auto type = cast<RankedTensorType>(is.getType());
      if (was.getType() != type)
        text += ", which is repeated to '" + typeName(type) + "'";
      notes.push_back({was.range, text});
    }
  if (!count(file.numOperations, maxOperations, "operations", range))
    return {};
  {
    auto handler = redirect(range, notes, state.operands);
    SmallVector<Type> types;
    if (failed(infer(file.context, state.location, state.operands,
                     state.attributes.getDictionary(file.context),
                     state.getRawProperties(), {}, types)))
      return {};
    state.addTypes(types);
  }
  Operation *op = builder.create(state);
  if (!letName.empty() && !isa<ConstantOp>(op))
    op->setAttr(kLetAttr, builder.getStringAttr(letName));
  if (!check(range, op))
    return {};
  places[op->getResult(0)] = range;
  return Operand(op->getResult(0), range);
}

Operand ProgramLowering::make(SourceRange range,
                              const ElementwiseFunction &function,
                              ValueRange operands) {
  StringRef name(function.name);
  OperationName op(("ccn." + name).str(), file.context);
  OperationState state(file.location(range), op, operands, {});
  return finish(range, state,
                op.getInterface<InferTypeOpInterface>()->inferReturnTypes);
}

bool ProgramLowering::check(SourceRange range, Operation *op) {
  auto handler = redirect(range, {}, op->getOperands());
  if (succeeded(verify(op)))
    return true;
  op->erase();
  return false;
}

Operand ProgramLowering::materialize(const Operand &operand, Type elementType) {
  if (!operand.isConstant())
    return operand;
  std::string why;
  TypedAttr value = operand.constant.toAttr(elementType, why);
  if (!value) {
    error(operand.range, why);
    return {};
  }
  return make<ConstantOp>(operand.range, value);
}

bool ProgramLowering::unify(MutableArrayRef<Operand> operands,
                            SourceRange range, ArrayRef<bool> typed) {
  auto isTyped = [&](unsigned i) { return typed.empty() || typed[i]; };
  Type elementType;
  const Operand *shaped = nullptr;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (operand.isError() || !isOneValue(operand))
      return false;
    if (!operand.isTensor())
      continue;
    if (isTyped(index) && !elementType)
      elementType = operand.getType().getElementType();
    if (operand.getType().getRank() != 0)
      shaped = &operand;
  }
  if (!elementType) {
    error(range, "expected an operand with an element type, found constants "
                 "only; give one a type with 'cast(x, f32)'");
    return false;
  }
  bool anyConstant =
      llvm::any_of(operands, [](const Operand &o) { return o.isConstant(); });
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (isTyped(index))
      operand = materialize(operand, elementType);
    else if (operand.isConstant())
      operand = materialize(operand, builder.getI1Type());
    if (operand.isError())
      return false;
  }
  SmallVector<Operand> originals;
  if (!anyConstant)
    originals.assign(operands.begin(), operands.end());
  if (!shaped) {
    written = std::move(originals);
    return true;
  }

  // The shape to which all operands can be broadcast; dimensions are matched
  // from the last one.
  SmallVector<int64_t> shape;
  for (Operand &operand : operands) {
    ArrayRef<int64_t> sizes = operand.getType().getShape();
    if (sizes.size() > shape.size())
      shape.insert(shape.begin(), sizes.size() - shape.size(), 1);
    for (auto [size, joined] :
         llvm::zip(llvm::reverse(sizes), llvm::reverse(shape)))
      if (joined == 1)
        joined = size;
  }
  for (Operand &operand : operands) {
    if (operand.getType().getRank() == 0 ||
        operand.getType().getShape() == ArrayRef<int64_t>(shape))
      continue;
    ArrayRef<int64_t> sizes = operand.getType().getShape();
    for (auto [size, joined] :
         llvm::zip(llvm::reverse(sizes), llvm::reverse(shape))) {
      if (size == joined || size == 1)
        continue;
      SmallVector<std::pair<SourceRange, std::string>> notes;
      SmallVector<std::string> types;
      for (const Operand &other : operands) {
        types.push_back("'" + typeName(other.getType()) + "'");
        notes.push_back({other.range, "this is " + types.back()});
      }
      error(range,
            "expected shapes that agree from the last dimension, found " +
                llvm::join(types, " and "),
            notes);
      return false;
    }
    operand = make<BroadcastToOp>(operand.range, operand.value,
                                  ArrayRef<int64_t>(shape));
    if (operand.isError())
      return false;
  }
  written = std::move(originals);
  return true;
}

bool ProgramLowering::isOneValue(const Operand &operand) {
  if (operand.kind != Operand::Kind::Tuple)
    return true;
  error(operand.range,
        "expected one value, found " + Twine(operand.elements.size()));
  return false;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Operand ProgramLowering::evaluateConstant(const ast::Expr *expr) {
  Operand operand = lower(expr);
  if (operand.isError() || operand.isConstant())
    return operand;
  error(expr->range, "expected a constant, found a tensor");
  return {};
}

Operand ProgramLowering::lower(const ast::Expr *expr) {
  if (!count(file.numExpressions, maxExpressions, "expressions", expr->range))
    return {};
  if (file.depth == maxDepth) {
    error(expr->range, "expressions nest more than " + Twine(maxDepth) +
                           " deep through functions");
    file.tooLarge = true;
    return {};
  }
  ++file.depth;
  Operand operand = lowerKind(expr);
  --file.depth;
  if (operand.isTensor())
    places[operand.value] = expr->range;
  return operand;
}

Operand ProgramLowering::lowerKind(const ast::Expr *expr) {
  switch (expr->kind) {
  case ast::Expr::Kind::Int: {
    uint64_t value = cast<ast::IntExpr>(expr)->value;
    return Operand(value > INT64_MAX ? Constant::big(value)
                                     : Constant(static_cast<int64_t>(value)),
                   expr->range);
  }
  case ast::Expr::Kind::Float: {
    auto *real = cast<ast::FloatExpr>(expr);
    std::string digits = real->text.str();
    llvm::erase(digits, '_');
    return Operand(Constant(real->value, digits), expr->range);
  }
  case ast::Expr::Kind::Bool:
    return Operand(Constant(cast<ast::BoolExpr>(expr)->value), expr->range);
  case ast::Expr::Kind::Name:
    return lowerName(*cast<ast::NameExpr>(expr));
  case ast::Expr::Kind::Unary:
    return lowerUnary(*cast<ast::UnaryExpr>(expr));
  case ast::Expr::Kind::Binary:
    return lowerBinaryChain(*cast<ast::BinaryExpr>(expr));
  case ast::Expr::Kind::Call:
    return lowerCall(*cast<ast::CallExpr>(expr));
  case ast::Expr::Kind::Error:
    return {};
  }
  llvm_unreachable("all kinds are handled");
}

Operand ProgramLowering::lowerName(const ast::NameExpr &expr) {
  SmallVector<StringRef> candidates;
  auto find = [&](Scope &scope) -> Declaration * {
    auto it = scope.find(expr.name);
    if (it != scope.end())
      return &it->second;
    for (auto &[name, declaration] : scope)
      candidates.push_back(name);
    return nullptr;
  };
  Declaration *declaration = scopes.empty() ? nullptr : find(*scopes.back());
  if (!declaration)
    declaration = find(file.globals);
  if (!declaration) {
    auto found = [&](StringRef what, StringRef advice) {
      error(expr.range, "expected a value, found " + what + " '" + expr.name +
                            "'" + advice);
    };
    const Scope *outer = file.programScope;
    auto it = outer ? outer->find(expr.name) : Scope::const_iterator();
    if (const ast::FnItem *fn = file.functions.lookup(expr.name))
      found("function", ("; call it as " + fn->name.text + "(...)").str());
    else if (StringRef usage = getUsage(expr.name); !usage.empty())
      found("function", ("; write " + usage).str());
    else if (!outer || it == outer->end())
      file.unknownName("name", expr.name, expr.range, candidates);
    else if (file.callStack.empty())
      error(expr.range,
            "expected a constant, found '" + expr.name +
                "', a value of the program",
            {{it->second.range, "defined here"}});
    else
      error(expr.range,
            "expected a parameter or constant, found '" + expr.name +
                "' of the program; pass it as an argument",
            {{it->second.range, "defined here"}});
    return {};
  }
  Operand operand = declaration->operand;
  operand.range = expr.range;
  return operand;
}

Operand ProgramLowering::lowerUnary(const ast::UnaryExpr &expr) {
  Operand operand = lower(expr.operand);
  if (operand.isError() || !isOneValue(operand))
    return {};
  if (expr.op == ast::UnaryOp::Plus) {
    operand.range = expr.range;
    return operand;
  }
  if (operand.isTensor())
    return make<NegOp>(expr.range, operand.value);
  std::string why;
  std::optional<Constant> result = negate(operand.constant, why);
  if (result)
    return Operand(*result, expr.range);
  error(expr.range, why);
  return {};
}

Operand ProgramLowering::lowerBinaryChain(const ast::BinaryExpr &expr) {
  // A loop, not a recursion, because generated programs have long chains.
  auto spine = ast::getLeftSpine(&expr);
  Operand value = lower(spine.front()->lhs);
  for (const ast::BinaryExpr *node : spine)
    value = lowerBinary(*node, value, lower(node->rhs));
  return value;
}

Operand ProgramLowering::lowerBinary(const ast::BinaryExpr &expr, Operand lhs,
                                     Operand rhs) {
  if (!isOneValue(lhs) || !isOneValue(rhs) || lhs.isError() || rhs.isError())
    return {};
  if (lhs.isConstant() && rhs.isConstant()) {
    std::string why;
    std::optional<Constant> result =
        evaluate(expr.op, lhs.constant, rhs.constant, why);
    if (result)
      return Operand(*result, expr.range);
    error(expr.range, why);
    return {};
  }
  Operand operands[] = {lhs, rhs};
  if (!unify(operands, expr.range))
    return {};
  Value a = operands[0].value, b = operands[1].value;
  auto compare = [&](ComparePredicate predicate) {
    return make<CompareOp>(expr.range, predicate, a, b);
  };
  switch (expr.op) {
  case BinaryOp::Eq:
    return compare(ComparePredicate::eq);
  case BinaryOp::Ne:
    return compare(ComparePredicate::ne);
  case BinaryOp::Lt:
    return compare(ComparePredicate::lt);
  case BinaryOp::Le:
    return compare(ComparePredicate::le);
  case BinaryOp::Gt:
    return compare(ComparePredicate::gt);
  case BinaryOp::Ge:
    return compare(ComparePredicate::ge);
  default:
    break;
  }
  for (const ElementwiseFunction *function : elementwiseFunctions())
    if (getSpelling(expr.op) == StringRef(function->spelling))
      return make(expr.range, *function, {a, b});
  llvm_unreachable("all operators are handled");
}

Operand ProgramLowering::inlineCall(const ast::FnItem &fn,
                                    const ast::CallExpr &call) {
  auto isSame = [&](const FileLowering::Call &other) {
    return other.fn == &fn;
  };
  if (llvm::any_of(file.callStack, isSame)) {
    error(call.range, "function '" + fn.name.text + "' calls itself");
    return {};
  }
  if (file.callStack.size() == maxInlining) {
    file.tooLarge = true;
    error(call.range, "functions call each other more than " +
                          Twine(maxInlining) + " deep");
    return {};
  }
  if (call.args.size() != fn.params.size()) {
    error(call.range, "expected " + Twine(fn.params.size()) +
                          (fn.params.size() == 1 ? " argument" : " arguments") +
                          " of function '" + fn.name.text + "', found " +
                          Twine(call.args.size()))
        .note(file.file.source, fn.name.range, "defined here");
    return {};
  }
  Scope scope;
  bool valid = true;
  for (auto [index, param] : llvm::enumerate(fn.params)) {
    Operand value = argument(call, index);
    if (!isOneValue(value))
      value = Operand();
    if (param.type && !value.isError()) {
      file.callStack.push_back({&fn, call.range});
      RankedTensorType type = lowerType(*param.type);
      file.callStack.pop_back();
      if (type)
        value = materialize(value, type.getElementType());
      if (!type || value.isError()) {
        value = Operand();
      } else if (value.getType() != type) {
        error(value.range, "expected an argument of type '" + typeName(type) +
                               "', found '" + typeName(value.getType()) + "'")
            .note(file.file.source, param.range, "declared here");
        value = Operand();
      }
    }
    valid &= !value.isError();
    Declaration declaration;
    declaration.kind = Declaration::Kind::Value;
    declaration.operand = std::move(value);
    valid &= declare(scope, param.name, std::move(declaration));
  }
  if (!fn.result && !fn.block)
    return {};
  if (!valid) {
    if (!file.checksFunctions)
      return {};
    checkBody(fn, call.range);
    // The values are unknown, but not how many the function returns.
    Operand unknown;
    auto *last = fn.block && !fn.block->stmts.empty()
                     ? dyn_cast<ast::ReturnStmt>(fn.block->stmts.back())
                     : nullptr;
    if (last && last->values.size() > 1) {
      unknown.kind = Operand::Kind::Tuple;
      unknown.elements.resize(last->values.size());
      unknown.range = call.range;
    }
    return unknown;
  }

  file.checkedFunctions.insert(&fn);
  file.callStack.push_back({&fn, call.range});
  scopes.push_back(&scope);
  Operand result = fn.result ? lower(fn.result) : lowerFnBody(fn, scope);
  scopes.pop_back();
  file.callStack.pop_back();
  result.range = call.range;
  return result;
}

void ProgramLowering::checkBody(const ast::FnItem &fn,
                                std::optional<SourceRange> call) {
  if (!file.checkedFunctions.insert(&fn).second || file.tooLarge)
    return;
  file.callStack.push_back({&fn, call});
  Scope scope;
  for (const ast::FnParam &param : fn.params) {
    Declaration declaration;
    declaration.kind = Declaration::Kind::Value;
    if (RankedTensorType type = param.type ? lowerType(*param.type) : nullptr)
      declaration.operand = Operand(program.getBody().front().addArgument(
                                        type, file.location(param.range)),
                                    param.range);
    declare(scope, param.name, std::move(declaration));
  }
  scopes.push_back(&scope);
  if (fn.result)
    lower(fn.result);
  else if (fn.block)
    lowerFnBody(fn, scope);
  scopes.pop_back();
  file.callStack.pop_back();
}

void ProgramLowering::check(const ast::FnItem &fn) {
  // Operations must be in a program; this one is removed afterwards.
  program = ProgramOp::create(file.builder, file.location(fn.range),
                              builder.getStringAttr(fn.name.text),
                              builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(&program.getBody().emplaceBlock());
  checkBody(fn, std::nullopt);
  program.erase();
  program = {};
}

Operand ProgramLowering::lowerFnBody(const ast::FnItem &fn, Scope &scope) {
  Operand result;
  bool done = false;
  for (const ast::Stmt *stmt : fn.block->stmts) {
    if (file.tooLarge)
      return {};
    if (done) {
      error(stmt->range, "expected nothing after 'return'");
      break;
    }
    if (auto *let = dyn_cast<ast::LetStmt>(stmt)) {
      lowerLet(*let, scope);
      continue;
    }
    if (auto *store = dyn_cast<ast::StoreStmt>(stmt)) {
      lowerStore(*store);
      continue;
    }
    auto &values = cast<ast::ReturnStmt>(stmt)->values;
    done = true;
    if (values.size() == 1) {
      result = lower(values.front());
      continue;
    }
    result.kind = Operand::Kind::Tuple;
    for (const ast::Expr *value : values) {
      result.elements.push_back(lower(value));
      if (result.elements.back().isError() ||
          !isOneValue(result.elements.back()))
        result.kind = Operand::Kind::Error;
    }
  }
  if (!done && !fn.broken)
    error(fn.block->range,
          "expected a 'return' in function '" + fn.name.text + "'");
  return result;
}
