//===- ParseExpr.cpp - Expressions and calls ------------------------------===//
//
// Parses operators by precedence, in loops, so that a long left-associative
// chain needs no stack. Brackets and unary operators recurse, and their levels
// are counted.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ParserImpl.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::ast;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// The current token as an operator of this precedence, if it is one.
std::optional<BinaryOp> Parser::getBinaryOp(unsigned precedence) const {
  if (isAtLineEnd())
    return std::nullopt;
  BinaryOp op;
  switch (tok.kind) {
  case TokenKind::Plus:
    op = BinaryOp::Add;
    break;
  case TokenKind::Minus:
    op = BinaryOp::Sub;
    break;
  case TokenKind::Star:
    op = BinaryOp::Mul;
    break;
  case TokenKind::Slash:
    op = BinaryOp::Div;
    break;
  case TokenKind::Percent:
    op = BinaryOp::Rem;
    break;
  case TokenKind::EqualEqual:
    op = BinaryOp::Eq;
    break;
  case TokenKind::NotEqual:
    op = BinaryOp::Ne;
    break;
  case TokenKind::Less:
    op = BinaryOp::Lt;
    break;
  case TokenKind::LessEqual:
    op = BinaryOp::Le;
    break;
  case TokenKind::Greater:
    op = BinaryOp::Gt;
    break;
  case TokenKind::GreaterEqual:
    op = BinaryOp::Ge;
    break;
  default:
    return std::nullopt;
  }
  if (getPrecedence(op) != precedence)
    return std::nullopt;
  return op;
}

ParsedExpr Parser::makeBinary(BinaryOp op, SourceRange opRange, ParsedExpr lhs,
                              ParsedExpr rhs) {
  if (!lhs || !rhs)
    return {};
  unsigned height = std::max(lhs.height, rhs.height) + 1;
  if (height > maxHeight) {
    error(opRange, "expression has too many operators in a row (limit " +
                       llvm::Twine(maxHeight - 1) + ")");
    return {};
  }
  SourceRange range = SourceRange::join(lhs.expr->range, rhs.expr->range);
  return {create<BinaryExpr>(range, op, opRange, lhs.expr, rhs.expr), height};
}

ParsedExpr Parser::parseExpr() {
  ParsedExpr expr = parseSum();
  if (!expr)
    return {};
  if (std::optional<BinaryOp> op = getBinaryOp(/*precedence=*/1)) {
    SourceRange opRange = consume().range;
    expr = makeBinary(*op, opRange, expr, parseSum());
    if (!expr)
      return {};
    if (getBinaryOp(/*precedence=*/1)) {
      error(tok.range, "comparisons cannot be chained; combine two with "
                       "'select(a < b, b < c, false)'")
          .note(source, opRange, "the first comparison is here");
      return {};
    }
  }
  if (reportForeignOperator())
    return {};
  return expr;
}

ParsedExpr Parser::parseSum() {
  ParsedExpr lhs = parseProduct();
  while (lhs) {
    std::optional<BinaryOp> op = getBinaryOp(/*precedence=*/2);
    if (!op)
      break;
    SourceRange opRange = consume().range;
    lhs = makeBinary(*op, opRange, lhs, parseProduct());
  }
  return lhs;
}

ParsedExpr Parser::parseProduct() {
  ParsedExpr lhs = parseUnary();
  while (lhs) {
    std::optional<BinaryOp> op = getBinaryOp(/*precedence=*/3);
    if (!op)
      break;
    SourceRange opRange = consume().range;
    lhs = makeBinary(*op, opRange, lhs, parseUnary());
  }
  return lhs;
}

ParsedExpr Parser::parseUnary() {
  // All recursion into deeper expressions passes through this function.
  Level level(nesting);
  if (nesting > maxNesting + 1) {
    error(tok.range, "expression is nested too deeply (limit " +
                         llvm::Twine(maxNesting) + ")");
    return {};
  }
  if (!at(TokenKind::Minus) && !at(TokenKind::Plus))
    return parsePrimary();
  Token op = consume();
  ParsedExpr operand = parseUnary();
  if (!operand)
    return {};
  unsigned height = operand.height + 1;
  if (height > maxHeight) {
    error(op.range, "expression has too many operators in a row (limit " +
                        llvm::Twine(maxHeight - 1) + ")");
    return {};
  }
  UnaryOp kind = op.is(TokenKind::Minus) ? UnaryOp::Neg : UnaryOp::Plus;
  return {create<UnaryExpr>(SourceRange::join(op.range, operand.expr->range),
                            kind, op.range, operand.expr),
          height};
}

bool Parser::reportForeignOperator() {
  if (isAtLineEnd())
    return false;
  llvm::StringRef advice;
  switch (tok.kind) {
  case TokenKind::StarStar:
  case TokenKind::Caret:
    advice = "is not an operator; write 'pow(x, y)'";
    break;
  case TokenKind::AmpAmp:
  case TokenKind::Amp:
    advice = "is not an operator; write 'select(a, b, false)'";
    break;
  case TokenKind::PipePipe:
  case TokenKind::Pipe:
    advice = "is not an operator; write 'select(a, true, b)'";
    break;
  case TokenKind::Bang:
    advice = "is not an operator; write 'select(a, false, true)'";
    break;
  case TokenKind::Question:
    advice = "is not an operator; write 'select(condition, a, b)'";
    break;
  case TokenKind::At:
    advice = "is not an operator; write 'matmul(a, b)'";
    break;
  case TokenKind::Dot:
    advice = "is not an operator; functions are called as 'f(x)'";
    break;
  case TokenKind::LSquare:
    advice = "cannot follow a value; 'slice' takes a part of one";
    break;
  case TokenKind::Store:
    advice = "stores and is no part of an expression; write '< -' to compare "
             "with a negative";
    break;
  default:
    return false;
  }
  error(tok.range, "'" + getText(tok) + "' " + advice);
  return true;
}

const Expr *Parser::parseExprOrError(bool &ok) {
  uint32_t begin = tok.range.begin;
  if (isAtLineEnd())
    begin = previousEnd;
  ParsedExpr expr = parseExpr();
  ok = bool(expr);
  if (ok)
    return expr.expr;
  return create<ErrorExpr>(SourceRange{begin, std::max(begin, previousEnd)});
}

//===----------------------------------------------------------------------===//
// Primaries
//===----------------------------------------------------------------------===//

ParsedExpr Parser::parsePrimary() {
  if (isAtLineEnd()) {
    errorExpected("an expression");
    return {};
  }
  switch (tok.kind) {
  case TokenKind::Int:
  case TokenKind::Float:
    return parseNumber();
  case TokenKind::KwTrue:
  case TokenKind::KwFalse: {
    Token token = consume();
    return {create<BoolExpr>(token.range, token.is(TokenKind::KwTrue))};
  }
  case TokenKind::Name: {
    Token token = consume();
    if (at(TokenKind::LParen))
      return parseCall(token);
    return {create<NameExpr>(token.range, getText(token))};
  }
  case TokenKind::LParen:
    return parseParens();
  case TokenKind::LSquare:
    errorExpected("an expression", "; a list may only be an argument");
    return {};
  case TokenKind::Element:
    if (peek().is(TokenKind::LParen))
      errorExpected("an expression",
                    "; write 'cast(x, " + getText(tok) + ")' to convert");
    else
      errorExpected("an expression");
    return {};
  case TokenKind::Bang:
    reportForeignOperator();
    return {};
  default:
    errorExpected("an expression");
    return {};
  }
}

ParsedExpr Parser::parseNumber() {
  Token token = consume();
  if (token.broken)
    return {create<ErrorExpr>(token.range)};
  if (token.is(TokenKind::Int))
    return {create<IntExpr>(token.range, getText(token), token.intValue)};
  return {create<FloatExpr>(token.range, getText(token), token.floatValue)};
}

ParsedExpr Parser::parseParens() {
  ++openBrackets;
  SourceRange open = consume().range;
  ParsedExpr inner = parseExpr();
  if (!inner)
    return {};
  if (!expectClose(TokenKind::RParen, open, "')'"))
    return {};
  inner.expr->range = rangeFrom(open.begin);
  return inner;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

ParsedExpr Parser::parseCall(const Token &callee) {
  llvm::SmallVector<const CallArg *> args;
  unsigned height = 1;
  if (peek().is(TokenKind::RParen)) {
    consume();
    consume();
  } else {
    auto parseArg = [&] {
      const CallArg *arg = parseCallArg(height);
      if (arg)
        args.push_back(arg);
      return arg != nullptr;
    };
    if (!parseList(TokenKind::RParen, /*recover=*/false, parseArg))
      return {};
  }
  if (++height > maxHeight) {
    error(callee.range, "expression has too many operators in a row (limit " +
                            llvm::Twine(maxHeight - 1) + ")");
    return {};
  }
  Name name{getText(callee), callee.range};
  return {create<CallExpr>(rangeFrom(callee.range.begin), name, copy(args)),
          height};
}

/// Raises `height` to at least that of the argument's expressions.
const CallArg *Parser::parseCallArg(unsigned &height) {
  if (at(TokenKind::LSquare))
    return parseListArg(height);
  if (at(TokenKind::Element) && !peek().is(TokenKind::LParen)) {
    Token token = consume();
    return create<TypeArg>(token.range, token.element);
  }
  if (isAtLayoutArg())
    return parseLayoutArg(height);
  ParsedExpr value = parseExpr();
  if (!value)
    return nullptr;
  height = std::max(height, value.height);
  if (!accept(TokenKind::Arrow))
    return create<ExprArg>(value.expr);
  ParsedExpr to = parseExpr();
  if (!to)
    return nullptr;
  height = std::max(height, to.height);
  return create<PairArg>(SourceRange::join(value.expr->range, to.expr->range),
                         value.expr, to.expr);
}

const CallArg *Parser::parseListArg(unsigned &height) {
  uint32_t begin = tok.range.begin;
  llvm::SmallVector<const Expr *> elements;
  if (peek().is(TokenKind::RSquare)) {
    consume();
    consume();
  } else {
    auto parseElement = [&] {
      ParsedExpr element = parseExpr();
      height = std::max(height, element.height);
      if (element)
        elements.push_back(element.expr);
      return bool(element);
    };
    if (!parseList(TokenKind::RSquare, /*recover=*/false, parseElement))
      return nullptr;
  }
  return create<ListArg>(rangeFrom(begin), copy(elements));
}

/// Whether a layout begins here: one of its words, in a way that only a layout
/// has, such as `local` alone or with an axis, or `sliced(`, but not `local +
/// 1`.
bool Parser::isAtLayoutArg() {
  std::optional<LayoutState::Kind> kind = getStateKind(tok);
  if (!kind)
    return false;
  const Token &next = peek();
  if (next.is(TokenKind::LParen))
    return *kind != LayoutState::Kind::Replicated;
  if (*kind == LayoutState::Kind::Sliced || *kind == LayoutState::Kind::Partial)
    return false;
  return next.is(TokenKind::Comma) || next.is(TokenKind::RParen) ||
         getStateKind(next);
}

const CallArg *Parser::parseLayoutArg(unsigned &height) {
  uint32_t begin = tok.range.begin;
  llvm::SmallVector<LayoutState> states;
  while (getStateKind(tok)) {
    LayoutState state;
    if (!parseLayoutState(state, height))
      return nullptr;
    states.push_back(state);
  }
  return create<LayoutArg>(rangeFrom(begin), copy(states));
}
