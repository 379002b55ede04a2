//===- ParseItems.cpp - Meshes, params, functions and programs ------------===//
//
// Parses the items of a file. If the head of an item is wrong, its body is
// still parsed from its '{' on, so that errors in it are found in the same run.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ParserImpl.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::ast;

//===----------------------------------------------------------------------===//
// Any item
//===----------------------------------------------------------------------===//

void Parser::parseItem() {
  lineGoesOn = true;
  if (isItemKeyword(tok.kind))
    parseItemAs(tok.kind);
  else
    parseUnknownItem();
}

/// Parses an item whose keyword, or another word in its place, is the current
/// token.
void Parser::parseItemAs(TokenKind keyword) {
  // An item may be, wrongly, inside of another one, whose parsing then goes on.
  llvm::scope_exit restore([this, column = itemColumn, nested = isItemNested,
                            errors = itemErrors, outer = inouts] {
    itemColumn = column;
    isItemNested = nested;
    itemErrors = errors;
    inouts = outer;
  });
  isItemNested = itemColumn != 0;
  itemErrors = numErrors;
  inouts.clear();

  uint32_t begin = consume().range.begin;
  itemColumn = source.getLineColumn(begin).column;
  llvm::StringRef what;
  TokenKind follow = TokenKind::LParen;
  switch (keyword) {
  case TokenKind::KwMesh:
    what = "a name for the mesh";
    break;
  case TokenKind::KwParam:
    what = "a name for the param";
    follow = TokenKind::Assign;
    break;
  case TokenKind::KwFn:
    what = "a name for the function";
    break;
  case TokenKind::KwProgram:
    what = "a name for the program";
    break;
  default:
    what = "a name for the schedule";
    follow = TokenKind::KwFor;
    break;
  }
  Name name;
  if (at(follow)) {
    errorExpected(what);
  } else if (!parseName(name, what)) {
    // An item without a name still has a body to parse.
    while (!isAtStatementEnd() && !at(TokenKind::LBrace) && !at(follow))
      consume();
    if (!at(follow)) {
      skipItem(begin);
      return;
    }
  }
  switch (keyword) {
  case TokenKind::KwMesh:
    items.push_back(parseMesh(begin, name));
    break;
  case TokenKind::KwParam:
    items.push_back(parseParam(begin, name));
    break;
  case TokenKind::KwFn:
    items.push_back(parseFn(begin, name));
    break;
  case TokenKind::KwProgram:
    items.push_back(parseProgram(begin, name));
    break;
  default:
    items.push_back(parseSchedule(begin, name));
    break;
  }
  openBrackets = 0;
}

/// The item keyword that a word was meant to be, if it is clear.
static TokenKind guessItemKeyword(llvm::StringRef word) {
  TokenKind other =
      llvm::StringSwitch<TokenKind>(word)
          .Cases({"def", "func", "function"}, TokenKind::KwFn)
          .Cases({"const", "constexpr", "parameter"}, TokenKind::KwParam)
          .Default(TokenKind::Error);
  if (other != TokenKind::Error)
    return other;
  return llvm::StringSwitch<TokenKind>(
             closestName(word, {"mesh", "param", "fn", "program", "schedule"}))
      .Case("mesh", TokenKind::KwMesh)
      .Case("param", TokenKind::KwParam)
      .Case("fn", TokenKind::KwFn)
      .Case("program", TokenKind::KwProgram)
      .Case("schedule", TokenKind::KwSchedule)
      .Default(TokenKind::Error);
}

void Parser::parseUnknownItem() {
  static constexpr llvm::StringLiteral what =
      "'mesh', 'param', 'fn', 'program' or 'schedule'";
  uint32_t begin = tok.range.begin;
  if (tok.is(TokenKind::RBrace) || tok.is(TokenKind::RParen) ||
      tok.is(TokenKind::RSquare)) {
    error(tok.range, "unmatched '" + getText(tok) + "'");
    // Skips more of the same token, which are the same error.
    TokenKind kind = tok.kind;
    while (tok.is(kind))
      consume();
    return;
  }
  if (at(TokenKind::Name) && peek().is(TokenKind::Name)) {
    TokenKind keyword = guessItemKeyword(getText(tok));
    if (keyword != TokenKind::Error) {
      errorExpected(what, "; did you mean " + getDescription(keyword));
      parseItemAs(keyword);
      return;
    }
  }
  if (tok.is(TokenKind::KwLet) || tok.is(TokenKind::KwReturn))
    errorExpected(what, "; statements stand in a program or function");
  else
    errorExpected(what);
  skipItem(begin);
}

void Parser::expectItemEnd() {
  if (tok.is(TokenKind::RBrace) || isItemKeyword(tok.kind))
    return;
  uint32_t begin = tok.range.begin;
  if (!expectEnd("end of line"))
    skipItem(begin);
}

//===----------------------------------------------------------------------===//
// mesh, param
//===----------------------------------------------------------------------===//

const Item *Parser::parseMesh(uint32_t begin, const Name &name) {
  llvm::SmallVector<MeshAxis> axes;
  auto parseAxis = [&] {
    MeshAxis axis;
    uint32_t axisBegin = tok.range.begin;
    bool ok = parseName(axis.name, "an axis name") && expect(TokenKind::Assign);
    axis.size = ok ? parseExprOrError(ok)
                   : create<ErrorExpr>(SourceRange{previousEnd, previousEnd});
    axis.range = rangeFrom(axisBegin);
    axes.push_back(axis);
    return ok;
  };
  bool ok = at(TokenKind::LParen);
  if (ok)
    ok = parseList(TokenKind::RParen, /*recover=*/true, parseAxis);
  else
    errorExpected("'('", "; axes follow, as in '(dp = 2, tp = 4)'");
  SourceRange range = rangeFrom(begin);
  if (ok)
    expectItemEnd();
  else
    skipItem(begin);
  return create<MeshItem>(range, name, isBroken(), copy(axes));
}

const Item *Parser::parseParam(uint32_t begin, const Name &name) {
  bool ok = true;
  if (at(TokenKind::Colon)) {
    errorExpected("'='", "; a param has no type");
    while (!isAtStatementEnd() && !at(TokenKind::Assign))
      consume();
    ok = accept(TokenKind::Assign);
  } else if (at(TokenKind::EqualEqual) || at(TokenKind::ColonAssign) ||
             at(TokenKind::Store)) {
    errorExpected("'='").suggest("=");
    consume();
  } else {
    ok = expect(TokenKind::Assign);
  }
  const Expr *value =
      ok ? parseExprOrError(ok)
         : create<ErrorExpr>(SourceRange{previousEnd, previousEnd});
  SourceRange range = rangeFrom(begin);
  if (ok)
    expectItemEnd();
  else
    skipItem(begin);
  return create<ParamItem>(range, name, isBroken(), value);
}

//===----------------------------------------------------------------------===//
// fn
//===----------------------------------------------------------------------===//

bool Parser::parseFnParam(llvm::SmallVectorImpl<FnParam> &params) {
  FnParam param;
  uint32_t begin = tok.range.begin;
  bool ok = parseName(param.name, "a parameter name");
  if (ok && accept(TokenKind::Colon)) {
    param.type = parseType();
    ok = param.type != nullptr;
  }
  param.range = rangeFrom(begin);
  params.push_back(param);
  return ok;
}

const Item *Parser::parseFn(uint32_t begin, const Name &name) {
  llvm::SmallVector<FnParam> params;
  bool ok = at(TokenKind::LParen);
  if (!ok) {
    errorExpected("'('");
  } else if (peek().is(TokenKind::RParen)) {
    consume();
    consume();
  } else {
    ok = parseList(TokenKind::RParen, /*recover=*/true,
                   [&] { return parseFnParam(params); });
  }
  auto make = [&](const Expr *result, const Block *block) {
    return create<FnItem>(rangeFrom(begin), name, isBroken(), copy(params),
                          result, block);
  };

  if (ok && accept(TokenKind::Assign)) {
    const Expr *result = parseExprOrError(ok);
    const Item *item = make(result, nullptr);
    if (ok)
      expectItemEnd();
    else
      skipItem(begin);
    return item;
  }
  if (ok && !at(TokenKind::LBrace)) {
    errorExpected("'=' or '{'", at(TokenKind::Arrow) || at(TokenKind::Colon)
                                    ? "; the type of a result is inferred"
                                    : "");
    ok = false;
  }
  if (!ok && !skipToBlock())
    return make(nullptr, nullptr);
  return make(nullptr, parseBlock());
}

//===----------------------------------------------------------------------===//
// program
//===----------------------------------------------------------------------===//

bool Parser::parseProgramArg(llvm::SmallVectorImpl<ProgramArg> &args) {
  ProgramArg arg;
  uint32_t begin = tok.range.begin;
  if (at(TokenKind::KwInout))
    arg.inout = consume().range;
  bool ok = parseName(arg.name, "an argument name");
  if (ok && !at(TokenKind::Colon)) {
    errorExpected("':' and a type after '" + arg.name.text + "'");
    ok = false;
  }
  if (ok) {
    consume();
    arg.type = parseType();
    ok = arg.type != nullptr;
  }
  arg.range = rangeFrom(begin);
  args.push_back(arg);
  if (arg.inout && !arg.name.isMissing())
    inouts.push_back(arg.name.text);
  return ok;
}

const Item *Parser::parseProgram(uint32_t begin, const Name &name) {
  llvm::SmallVector<ProgramArg> args;
  bool ok = at(TokenKind::LParen);
  if (!ok) {
    errorExpected("'('");
  } else if (peek().is(TokenKind::RParen)) {
    consume();
    consume();
  } else {
    ok = parseList(TokenKind::RParen, /*recover=*/true,
                   [&] { return parseProgramArg(args); });
  }
  // After an error in the head, a missing '{' is not reported too.
  const Block *block = ok || skipToBlock() ? parseBlock() : nullptr;
  return create<ProgramItem>(rangeFrom(begin), name, isBroken(), copy(args),
                             block);
}
