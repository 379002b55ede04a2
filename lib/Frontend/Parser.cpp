//===- Parser.cpp - Tokens, errors and recovery of the parser -------------===//
//
// Has the functions that all productions share: the current token and whether
// the statement's line has ended before it, the wording of errors, and where to
// continue after one. Every skip function stops at the end of the file and at
// an item keyword that starts a line, since those words are reserved. So an
// unclosed bracket or brace spoils only its own item.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Parser.h"
#include "lib/Frontend/ParserImpl.h"
#include "runtime/base/File.h"
#include "llvm/ADT/StringExtras.h"

using namespace ccn;
using namespace ccn::frontend;

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

std::unique_ptr<SourceFile> frontend::readSource(llvm::StringRef path,
                                                 Diagnostics &diagnostics) {
  Result<std::optional<std::string>> text =
      readText(path.str(), static_cast<int64_t>(SourceFile::maxSize));
  if (text && *text)
    return std::make_unique<SourceFile>(path == "-" ? "<stdin>" : path.str(),
                                        **std::move(text));
  diagnostics.error(text ? "'" + path + "' is larger than 2 GiB"
                         : "cannot read '" + path + "': " + text.message());
  return nullptr;
}

std::unique_ptr<ast::File> frontend::parse(const SourceFile &source,
                                           Diagnostics &diagnostics) {
  diagnostics.addFile(source);
  if (source.getText().size() > SourceFile::maxSize) {
    diagnostics.error("'" + source.getName() + "' is larger than 2 GiB");
    return std::make_unique<ast::File>(source);
  }
  return Parser(source, diagnostics).parseFile();
}

Parser::Parser(const SourceFile &source, Diagnostics &diagnostics)
    : source(source), diagnostics(diagnostics), lexer(source, diagnostics),
      file(std::make_unique<ast::File>(source)),
      firstError(diagnostics.getNumErrors()) {
  tok = lexer.next();
}

std::unique_ptr<ast::File> Parser::parseFile() {
  while (!tok.is(TokenKind::EndOfFile)) {
    if (tok.is(TokenKind::Semicolon))
      consume();
    else
      parseItem();
  }
  file->items = copy(items);
  return std::move(file);
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Whether the statement goes on after this token, even on a new line.
static bool awaitsMore(TokenKind kind) {
  switch (kind) {
  case TokenKind::Comma:
  case TokenKind::Assign:
  case TokenKind::Store:
  case TokenKind::Arrow:
  case TokenKind::Plus:
  case TokenKind::Minus:
  case TokenKind::Star:
  case TokenKind::Slash:
  case TokenKind::Percent:
  case TokenKind::EqualEqual:
  case TokenKind::NotEqual:
  case TokenKind::Less:
  case TokenKind::LessEqual:
  case TokenKind::Greater:
  case TokenKind::GreaterEqual:
  case TokenKind::ColonAssign:
  case TokenKind::CompoundAssign:
    return true;
  default:
    return false;
  }
}

Token Parser::consume() {
  Token token = tok;
  if (tok.is(TokenKind::Error) || tok.broken)
    ++numErrors;
  previousEnd = tok.range.end;
  lineGoesOn = awaitsMore(tok.kind);
  tok = hasAhead ? ahead : lexer.next();
  hasAhead = false;
  // Stops after a thousand errors, since nobody reads more.
  if (diagnostics.getNumErrors() - firstError >= Diagnostics::maxKept) {
    Token end;
    end.range = {tok.range.begin, tok.range.begin};
    tok = end;
  }
  return token;
}

const Token &Parser::peek() {
  if (!hasAhead)
    ahead = lexer.next();
  hasAhead = true;
  return ahead;
}

bool Parser::isAtLineEnd() const {
  return tok.startsLine && openBrackets == 0 && !lineGoesOn &&
         !tok.is(TokenKind::LBrace);
}

bool Parser::isAtStatementEnd() const {
  return isAtLineEnd() || tok.is(TokenKind::Semicolon) ||
         tok.is(TokenKind::RBrace) || tok.is(TokenKind::EndOfFile);
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind))
    return false;
  consume();
  return true;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

DiagnosticHandle Parser::error(SourceRange range, const llvm::Twine &message) {
  ++numErrors;
  return diagnostics.error(source, range, message);
}

std::string Parser::describeFound() const {
  if (tok.is(TokenKind::EndOfFile))
    return "end of file";
  if (isAtLineEnd())
    return "end of line";
  if (tok.is(TokenKind::String))
    return "a string";
  // A word may be a megabyte long.
  constexpr size_t maxLength = 40;
  llvm::StringRef text = getText(tok);
  std::string shown =
      text.size() <= maxLength ? text.str() : text.take_front(37).str() + "...";
  std::string quoted = "'" + shown + "'";
  if (isKeyword(tok.kind))
    return "keyword " + quoted;
  if (tok.is(TokenKind::Element))
    return "type " + quoted;
  return quoted;
}

DiagnosticHandle Parser::errorExpected(const llvm::Twine &what,
                                       const llvm::Twine &hint) {
  bool isPastEnd = isAtLineEnd() || tok.is(TokenKind::EndOfFile);
  // The lexer has already reported this token.
  if (tok.is(TokenKind::Error) && !isPastEnd) {
    ++numErrors;
    return {};
  }
  SourceRange range =
      isPastEnd ? SourceRange{previousEnd, previousEnd} : tok.range;
  return error(range, "expected " + what + ", found " + describeFound() + hint);
}

bool Parser::expect(TokenKind kind, const llvm::Twine &hint) {
  if (accept(kind))
    return true;
  errorExpected(getDescription(kind), hint);
  return false;
}

bool Parser::expectClose(TokenKind close, SourceRange open,
                         llvm::StringRef what) {
  if (at(close)) {
    --openBrackets;
    consume();
    return true;
  }
  errorExpected(what).note(source, open,
                           "to match this '" + source.getText(open) + "'");
  return false;
}

bool Parser::expectEnd(const llvm::Twine &what) {
  if (isAtStatementEnd())
    return true;
  if (tok.is(TokenKind::RParen) || tok.is(TokenKind::RSquare))
    error(tok.range, "unmatched '" + getText(tok) + "'");
  else
    errorExpected(what);
  return false;
}

//===----------------------------------------------------------------------===//
// Recovery
//===----------------------------------------------------------------------===//

void Parser::skipStatement(uint32_t begin) {
  unsigned brackets = openBrackets, braces = 0;
  openBrackets = 0;
  for (; !tok.is(TokenKind::EndOfFile); consume()) {
    bool startsLine = tok.startsLine && tok.range.begin > begin;
    if (startsLine && isItemKeyword(tok.kind))
      break;
    if (startsLine && braces == 0 && !tok.is(TokenKind::LBrace)) {
      if (brackets == 0 || tok.is(TokenKind::KwLet) ||
          tok.is(TokenKind::KwReturn))
        break;
      // A bracket is still open, but `name <-` certainly begins the next
      // statement.
      if (tok.is(TokenKind::Name) && peek().is(TokenKind::Store))
        break;
    }
    if (tok.is(TokenKind::Semicolon) && braces == 0)
      break;
    if (tok.is(TokenKind::LParen) || tok.is(TokenKind::LSquare)) {
      ++brackets;
    } else if (tok.is(TokenKind::RParen) || tok.is(TokenKind::RSquare)) {
      brackets -= brackets != 0;
    } else if (tok.is(TokenKind::LBrace)) {
      ++braces;
      brackets = 0;
    } else if (tok.is(TokenKind::RBrace)) {
      if (braces == 0)
        break;
      --braces;
      brackets = 0;
    }
  }
  lineGoesOn = false;
}

bool Parser::skipListElement(unsigned brackets, TokenKind close) {
  while (!tok.is(TokenKind::EndOfFile)) {
    if (tok.startsLine &&
        (isItemKeyword(tok.kind) || tok.is(TokenKind::KwLet) ||
         tok.is(TokenKind::KwReturn)))
      return false;
    if (tok.is(TokenKind::LBrace) || tok.is(TokenKind::RBrace) ||
        tok.is(TokenKind::Semicolon))
      return false;
    if (openBrackets == brackets && (tok.is(TokenKind::Comma) || tok.is(close)))
      return true;
    if (tok.is(TokenKind::LParen) || tok.is(TokenKind::LSquare)) {
      ++openBrackets;
    } else if (tok.is(TokenKind::RParen) || tok.is(TokenKind::RSquare)) {
      if (openBrackets == brackets)
        return false;
      --openBrackets;
    }
    consume();
  }
  return false;
}

bool Parser::skipToBlock() {
  openBrackets = 0;
  while (!tok.is(TokenKind::EndOfFile) && !tok.is(TokenKind::LBrace) &&
         !tok.is(TokenKind::RBrace)) {
    if (tok.startsLine &&
        (isItemKeyword(tok.kind) || tok.is(TokenKind::KwLet) ||
         tok.is(TokenKind::KwReturn)))
      break;
    consume();
  }
  lineGoesOn = false;
  return tok.is(TokenKind::LBrace);
}

void Parser::skipItem(uint32_t begin) {
  unsigned braces = 0;
  openBrackets = 0;
  for (; !tok.is(TokenKind::EndOfFile); consume()) {
    bool startsLine = tok.startsLine && tok.range.begin > begin;
    if (startsLine && isItemKeyword(tok.kind))
      break;
    if (braces == 0 && ((startsLine && !tok.is(TokenKind::LBrace)) ||
                        tok.is(TokenKind::Semicolon)))
      break;
    if (tok.is(TokenKind::LBrace)) {
      ++braces;
    } else if (tok.is(TokenKind::RBrace)) {
      if (braces == 0)
        break;
      if (--braces == 0) {
        consume();
        break;
      }
    }
  }
  lineGoesOn = false;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

bool Parser::parseList(TokenKind close, bool recover,
                       llvm::function_ref<bool()> parseElement) {
  SourceRange open = consume().range;
  unsigned brackets = ++openBrackets;
  std::string what = ("',' or " + getDescription(close)).str();
  while (true) {
    bool ok = parseElement();
    if (ok && !at(TokenKind::Comma) && !at(close))
      ok = expectClose(close, open, what);
    if (!ok && (!recover || !skipListElement(brackets, close)))
      return false;
    if (!accept(TokenKind::Comma))
      return expectClose(close, open, what);
  }
}

std::optional<SourceRange>
Parser::parseBraces(llvm::StringRef elementName,
                    llvm::function_ref<bool()> parseOne) {
  SourceRange open = tok.range;
  if (!accept(TokenKind::LBrace)) {
    errorExpected("'{'");
    // If a statement follows, only the brace was forgotten.
    if (!tok.is(TokenKind::KwLet) && !tok.is(TokenKind::KwReturn) &&
        !skipToBlock())
      return std::nullopt;
    open = tok.range;
    accept(TokenKind::LBrace);
  }
  std::string end = ("end of " + elementName).str();
  while (true) {
    while (tok.is(TokenKind::Semicolon))
      consume();
    if (tok.is(TokenKind::RBrace)) {
      consume();
      break;
    }
    if (isItemKeyword(tok.kind) && !isItemNested &&
        source.getLineColumn(tok.range.begin).column > itemColumn) {
      error(tok.range, "'" + getText(tok) + "' cannot stand inside of a block");
      parseItem();
      continue;
    }
    if (isItemKeyword(tok.kind) || tok.is(TokenKind::EndOfFile)) {
      // The error should say that the keyword was found, not the line's end
      // before it.
      lineGoesOn = true;
      errorExpected("'}'").note(source, open, "to match this '{'");
      break;
    }
    uint32_t begin = tok.range.begin;
    // The first token of a statement never counts as being after the line's
    // end.
    lineGoesOn = true;
    if (!parseOne() || !expectEnd(end))
      skipStatement(begin);
  }
  return rangeFrom(open.begin);
}
