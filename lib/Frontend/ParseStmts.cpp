//===- ParseStmts.cpp - Statements of programs and functions --------------===//
//
// Parses the three statements, and recognizes how other languages write them.
// Such a statement gets one error that says how to write it in ccn. It is still
// parsed, so that the names that it binds are known.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ParserImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::ast;

const Block *Parser::parseBlock() {
  llvm::SmallVector<const Stmt *> stmts;
  std::optional<SourceRange> range =
      parseBraces("statement", [&] { return parseStmt(stmts); });
  if (!range)
    return nullptr;
  auto *block = create<Block>();
  block->range = *range;
  block->stmts = copy(stmts);
  return block;
}

bool Parser::isInout(llvm::StringRef name) const {
  return llvm::is_contained(inouts, name);
}

/// The keyword that a word was meant to be, if it is clear.
static TokenKind guessKeyword(llvm::StringRef word) {
  TokenKind other =
      llvm::StringSwitch<TokenKind>(word)
          .Cases({"var", "val", "const", "auto"}, TokenKind::KwLet)
          .Default(TokenKind::Error);
  if (other != TokenKind::Error)
    return other;
  return llvm::StringSwitch<TokenKind>(closestName(word, {"let", "return"}))
      .Case("let", TokenKind::KwLet)
      .Case("return", TokenKind::KwReturn)
      .Default(TokenKind::Error);
}

bool Parser::parseStmt(llvm::SmallVectorImpl<const Stmt *> &stmts) {
  uint32_t begin = tok.range.begin;
  if (accept(TokenKind::KwLet))
    return parseLet(begin, stmts);
  if (accept(TokenKind::KwReturn))
    return parseReturn(begin, stmts);
  if (!at(TokenKind::Name)) {
    if (tok.is(TokenKind::RParen) || tok.is(TokenKind::RSquare))
      return expectEnd("");
    errorExpected("a statement");
    return false;
  }

  const Token &next = peek();
  if (atWord("if") && !next.is(TokenKind::Store) &&
      !next.is(TokenKind::Assign)) {
    errorExpected("a statement",
                  "; 'select(condition, a, b)' chooses between values");
    return false;
  }

  // Two words in a row: the first was probably meant as a keyword.
  if ((next.is(TokenKind::Name) || next.is(TokenKind::Int) ||
       next.is(TokenKind::Float)) &&
      !next.startsLine) {
    TokenKind keyword = guessKeyword(getText(tok));
    if (keyword == TokenKind::Error) {
      errorExpected("a statement");
      return false;
    }
    errorExpected("a statement", "; did you mean " + getDescription(keyword));
    consume();
    return keyword == TokenKind::KwLet ? parseLet(begin, stmts)
                                       : parseReturn(begin, stmts);
  }
  return parseStore(stmts);
}

//===----------------------------------------------------------------------===//
// let
//===----------------------------------------------------------------------===//

/// Consumes the '=' of a let, or another token in its place, which it reports.
bool Parser::expectLetAssign() {
  if (accept(TokenKind::Assign))
    return true;
  if (at(TokenKind::EqualEqual) || at(TokenKind::ColonAssign) ||
      at(TokenKind::Store)) {
    errorExpected("'='").suggest("=");
    consume();
    return true;
  }
  if (!at(TokenKind::Colon)) {
    errorExpected("'='");
    return false;
  }
  errorExpected("'='", "; the type of a 'let' is inferred");
  while (!isAtStatementEnd() && !at(TokenKind::Assign))
    consume();
  return accept(TokenKind::Assign);
}

bool Parser::parseLet(uint32_t begin,
                      llvm::SmallVectorImpl<const Stmt *> &stmts) {
  llvm::SmallVector<Name> names;
  bool inParens = false;
  bool ok = parseNames(names, inParens) && expectLetAssign();
  const Expr *value =
      ok ? parseExprOrError(ok)
         : create<ErrorExpr>(SourceRange{previousEnd, previousEnd});
  stmts.push_back(
      create<LetStmt>(rangeFrom(begin), copy(names), inParens, value));
  return ok;
}

//===----------------------------------------------------------------------===//
// return
//===----------------------------------------------------------------------===//

bool Parser::parseReturn(uint32_t begin,
                         llvm::SmallVectorImpl<const Stmt *> &stmts) {
  llvm::SmallVector<const Expr *> values;
  bool ok = true;
  do {
    values.push_back(parseExprOrError(ok));
  } while (ok && accept(TokenKind::Comma));
  stmts.push_back(create<ReturnStmt>(rangeFrom(begin), copy(values)));
  return ok;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

bool Parser::parseStore(llvm::SmallVectorImpl<const Stmt *> &stmts) {
  Token word = consume();
  Name target{getText(word), word.range};
  bool isStored = true;
  if (at(TokenKind::Assign) || at(TokenKind::ColonAssign)) {
    if (isInout(target.text)) {
      errorExpected("'<-' to store to '" + target.text + "'").suggest("<-");
    } else {
      isStored = false;
      error(target.range, "expected 'let' before '" + target.text +
                              "'; only an inout is stored to, with '<-'")
          .suggest("let " + target.text);
    }
  } else if (at(TokenKind::CompoundAssign)) {
    llvm::StringRef op = getText(tok).drop_back();
    errorExpected("'<-'", "; write '" + target.text + " <- " + target.text +
                              " " + op + " ...'");
  } else if (at(TokenKind::EqualEqual)) {
    errorExpected("'<-' after '" + target.text + "'");
  } else if (at(TokenKind::LParen)) {
    // In other languages, such a call may have an effect, such as a barrier.
    error(target.range, "a call of '" + target.text +
                            "' alone does nothing; a function has no effect "
                            "but its result, which 'let' names or '<-' stores");
    return false;
  } else if (at(TokenKind::LSquare)) {
    errorExpected("'<-' after '" + target.text + "'",
                  "; a store replaces the whole of an inout");
    return false;
  } else if (!at(TokenKind::Store)) {
    errorExpected("'<-' after '" + target.text + "'");
    return false;
  }
  consume();

  bool ok = true;
  const Expr *value = parseExprOrError(ok);
  SourceRange range = rangeFrom(target.range.begin);
  if (isStored) {
    stmts.push_back(create<StoreStmt>(range, target, value));
  } else {
    llvm::SmallVector<Name> names{target};
    stmts.push_back(
        create<LetStmt>(range, copy(names), /*inParens=*/false, value));
  }
  return ok;
}
