//===- FormatTokens.cpp - Tokens and comments of a text -------------------===//
//
// The lexer reads the tokens. Comments are in the gaps between tokens. The
// syntax tree says which tokens begin statements and which are signs.
//
//===----------------------------------------------------------------------===//

#include "lib/Editor/FormatTokens.h"

#include "lib/Editor/Walk.h"

#include "llvm/ADT/DenseSet.h"

using namespace ccn;
using namespace ccn::editor;
using namespace ccn::frontend;

unsigned editor::countColumns(llvm::StringRef text) {
  return llvm::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

namespace {

class Reader {
public:
  explicit Reader(const ast::File &file);
  std::vector<FormatToken> run();

private:
  void readGap(uint32_t begin, uint32_t end);
  void add(FormatToken token, uint32_t begin);
  void markBlocks();

  const SourceFile &source;
  llvm::DenseSet<uint32_t> firsts, signs;
  std::vector<FormatToken> tokens;
  unsigned newlines = 0;
  unsigned blanks = 0;
  /// The first byte of the previous token, and its column.
  uint32_t lastBegin = 0;
  unsigned lastColumn = 0;
};

Reader::Reader(const ast::File &file) : source(file.source) {
  auto expr = [&](const ast::Expr &expr) {
    if (auto *unary = llvm::dyn_cast<ast::UnaryExpr>(&expr))
      signs.insert(unary->opRange.begin);
  };
  Visitor visitor;
  visitor.expr = expr;
  for (const ast::Item *item : file.items) {
    firsts.insert(item->range.begin);
    for (const ast::Stmt *stmt : getStmts(*item))
      firsts.insert(stmt->range.begin);
    if (auto *schedule = llvm::dyn_cast<ast::ScheduleItem>(item))
      for (const ast::Directive *directive : schedule->directives)
        firsts.insert(directive->range.begin);
    walk(*item, visitor);
  }
}

void Reader::add(FormatToken token, uint32_t begin) {
  // The column is counted from the line's begin or, since lines may be long,
  // from the previous token.
  if (newlines != 0 || tokens.empty()) {
    LineColumn place = source.getLineColumn(begin);
    lastBegin = begin - (place.column - 1);
    lastColumn = 0;
    if (source.getText().substr(lastBegin).starts_with("\xEF\xBB\xBF"))
      lastBegin += 3;
  }
  lastColumn += countColumns(source.getText().slice(lastBegin, begin));
  lastBegin = begin;
  token.column = lastColumn;
  // The first token of a file counts as beginning a line.
  token.newlines = tokens.empty() ? 1 : newlines;
  token.blanks = blanks;
  newlines = blanks = 0;
  tokens.push_back(token);
}

/// Reads the blanks, comments and line ends between two tokens.
void Reader::readGap(uint32_t begin, uint32_t end) {
  llvm::StringRef text = source.getText();
  for (uint32_t at = begin; at < end; ++at) {
    if (text[at] == '\n') {
      ++newlines;
    } else if (text[at] == ' ' || text[at] == '\t') {
      ++blanks;
    } else if (text[at] == '/') {
      size_t last = std::min<size_t>(text.find('\n', at), end);
      FormatToken comment;
      comment.text = text.slice(at, last).rtrim(" \t\r");
      comment.isComment = true;
      add(comment, at);
      at = last - 1;
    }
  }
}

/// Marks the blocks that may stay on one line.
void Reader::markBlocks() {
  size_t open = 0;
  unsigned statements = 0;
  bool hasBreak = false, hasComment = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    FormatToken &token = tokens[i];
    hasBreak |= token.newlines != 0;
    hasComment |= token.isComment;
    statements += token.isFirst;
    if (token.is(TokenKind::LBrace)) {
      open = i;
      statements = 0;
      hasBreak = hasComment = false;
    } else if (token.is(TokenKind::RBrace)) {
      tokens[open].isOneLine =
          !hasComment && (statements == 0 || (statements == 1 && !hasBreak));
    }
  }
}

std::vector<FormatToken> Reader::run() {
  Diagnostics silent;
  Lexer lexer(source, silent);
  uint32_t end = source.getText().starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while (true) {
    Token token = lexer.next();
    readGap(end, token.range.begin);
    if (token.is(TokenKind::EndOfFile))
      break;
    end = token.range.end;
    if (token.is(TokenKind::Semicolon))
      continue;
    FormatToken made;
    made.text = source.getText(token.range);
    made.kind = token.kind;
    made.isFirst = firsts.contains(token.range.begin);
    made.isSign = signs.contains(token.range.begin);
    // The `(` of a call, not that of a mesh's axes.
    size_t count = tokens.size();
    if (token.is(TokenKind::LParen))
      made.isTight = count != 0 && tokens.back().is(TokenKind::Name) &&
                     (count < 2 || !tokens[count - 2].is(TokenKind::KwMesh));
    else if (token.is(TokenKind::LSquare))
      made.isTight = count != 0 && tokens.back().is(TokenKind::Element);
    add(made, token.range.begin);
  }
  markBlocks();
  return std::move(tokens);
}

} // namespace

std::vector<FormatToken> editor::takeApart(const ast::File &file) {
  return Reader(file).run();
}
