//===- LowerExpr.cpp - Expressions ----------------------------------------===//
//
// Names, operators, constants that take the type they meet, and functions,
// which are inlined.
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

/// Reports MLIR's diagnostics at a place in the source.
static ScopedDiagnosticHandler redirect(MLIRContext *context,
                                        Diagnostics &diagnostics,
                                        const SourceFile &source,
                                        SourceRange range) {
  return ScopedDiagnosticHandler(
      context, [&diagnostics, &source, range](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        std::string message = diagnostic.str();
        // The operation is the expression that is shown.
        StringRef text = message;
        if (text.consume_front("'ccn."))
          text = text.drop_front(text.find("' op ") + 5);
        diagnostics.error(source, range, text);
        return success();
      });
}

Operand ProgramLowering::finish(SourceRange range, OperationState &state,
                                InferReturnTypes infer) {
  if (!program) {
    error(range, "expected a constant");
    return {};
  }
  if (++numOperations > maxOperations) {
    if (!tooLarge)
      error(range, "the program has more than " + Twine(maxOperations) +
                       " operations");
    tooLarge = true;
    return {};
  }
  {
    auto handler =
        redirect(file.context, file.diagnostics, file.file.source, range);
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
  return Operand(op->getResult(0), range);
}

bool ProgramLowering::check(SourceRange range, Operation *op) {
  auto handler =
      redirect(file.context, file.diagnostics, file.file.source, range);
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
    if (operand.isError())
      return false;
    if (operand.kind == Operand::Kind::Tuple) {
      error(operand.range,
            "expected one value, found " + Twine(operand.elements.size()));
      return false;
    }
    if (!operand.isTensor())
      continue;
    if (isTyped(index) && !elementType)
      elementType = operand.getType().getElementType();
    if (operand.getType().getRank() != 0)
      shaped = &operand;
  }
  if (!elementType) {
    error(range, "expected a tensor, found constants only; give one a type "
                 "with 'cast(x, f32)'");
    return false;
  }
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (isTyped(index))
      operand = materialize(operand, elementType);
    else if (operand.isConstant())
      operand = materialize(operand, builder.getI1Type());
    if (operand.isError())
      return false;
  }
  if (!shaped)
    return true;

  // The shape that all can be repeated to, matched from the last dimension.
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
      auto diagnostic = error(range, "the operands' shapes do not agree");
      for (const Operand &other : operands)
        diagnostic.note(file.file.source, other.range,
                        "this is '" + typeName(other.getType()) + "'");
      return false;
    }
    operand = make<BroadcastToOp>(operand.range, operand.value,
                                  ArrayRef<int64_t>(shape));
    if (operand.isError())
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Operand ProgramLowering::evaluateConstant(const ast::Expr *expr) {
  Operand operand = lower(expr);
  if (operand.isError() || operand.isConstant())
    return operand;
  error(expr->range, "expected a constant");
  return {};
}

Operand ProgramLowering::lower(const ast::Expr *expr) {
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
    file.unknownName("name", expr.name, expr.range, candidates);
    return {};
  }
  Operand operand = declaration->operand;
  operand.range = expr.range;
  return operand;
}

Operand ProgramLowering::lowerUnary(const ast::UnaryExpr &expr) {
  Operand operand = lower(expr.operand);
  if (operand.isError())
    return {};
  if (operand.kind == Operand::Kind::Tuple) {
    error(operand.range,
          "expected one value, found " + Twine(operand.elements.size()));
    return {};
  }
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
  // In a loop, because chains are long where people generate programs.
  auto spine = ast::getLeftSpine(&expr);
  Operand value = lower(spine.front()->lhs);
  for (const ast::BinaryExpr *node : spine)
    value = lowerBinary(*node, value, lower(node->rhs));
  return value;
}

Operand ProgramLowering::lowerBinary(const ast::BinaryExpr &expr, Operand lhs,
                                     Operand rhs) {
  if (lhs.isError() || rhs.isError())
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
  case BinaryOp::Add:
    return make<AddOp>(expr.range, a, b);
  case BinaryOp::Sub:
    return make<SubOp>(expr.range, a, b);
  case BinaryOp::Mul:
    return make<MulOp>(expr.range, a, b);
  case BinaryOp::Div:
    return make<DivOp>(expr.range, a, b);
  case BinaryOp::Rem:
    return make<RemOp>(expr.range, a, b);
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
  }
  llvm_unreachable("all operators are handled");
}

Operand ProgramLowering::inlineCall(const ast::FnItem &fn,
                                    const ast::CallExpr &call) {
  if (llvm::is_contained(callStack, &fn)) {
    error(call.range, "function '" + fn.name.text + "' calls itself");
    return {};
  }
  if (callStack.size() == maxInlining) {
    error(call.range, "functions call each other more than " +
                          Twine(maxInlining) + " deep");
    return {};
  }
  if (call.args.size() != fn.params.size()) {
    error(call.range, "expected " + Twine(fn.params.size()) +
                          " arguments of function '" + fn.name.text +
                          "', found " + Twine(call.args.size()))
        .note(file.file.source, fn.name.range, "defined here");
    return {};
  }
  Scope scope;
  bool valid = true;
  for (auto [index, param] : llvm::enumerate(fn.params)) {
    Operand value = argument(call, index);
    if (param.type && !value.isError()) {
      RankedTensorType type = lowerType(*param.type);
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
  if (!valid || (!fn.result && !fn.block))
    return {};

  callStack.push_back(&fn);
  scopes.push_back(&scope);
  Operand result;
  if (fn.result) {
    result = lower(fn.result);
  } else {
    bool done = false;
    for (const ast::Stmt *stmt : fn.block->stmts) {
      if (done) {
        error(stmt->range, "expected nothing after 'return'");
        break;
      }
      if (auto *let = dyn_cast<ast::LetStmt>(stmt)) {
        lowerLet(*let, scope);
      } else if (auto *store = dyn_cast<ast::StoreStmt>(stmt)) {
        lowerStore(*store);
      } else {
        auto &values = cast<ast::ReturnStmt>(stmt)->values;
        done = true;
        if (values.size() == 1) {
          result = lower(values.front());
          continue;
        }
        result.kind = Operand::Kind::Tuple;
        for (const ast::Expr *value : values) {
          result.elements.push_back(lower(value));
          if (result.elements.back().isError())
            result.kind = Operand::Kind::Error;
        }
      }
    }
    if (!done && !fn.broken)
      error(fn.block->range,
            "expected a 'return' in function '" + fn.name.text + "'");
  }
  scopes.pop_back();
  callStack.pop_back();
  result.range = call.range;
  return result;
}
