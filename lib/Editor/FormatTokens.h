//===- FormatTokens.h - Tokens and comments of a text -----------*- C++ -*-===//
//
// What the formatter arranges: a text without its blanks. Private to it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_EDITOR_FORMATTOKENS_H
#define CCN_LIB_EDITOR_FORMATTOKENS_H

#include "lib/Frontend/AST.h"
#include "lib/Frontend/Lexer.h"

#include <vector>

namespace ccn::editor {

/// A token or a comment. `;` is none: statements stand on lines of their own.
struct FormatToken {
  llvm::StringRef text;
  frontend::TokenKind kind = frontend::TokenKind::EndOfFile;
  bool isComment = false;
  /// Line ends between it and the token before.
  unsigned newlines = 0;
  /// Of the first byte, in characters, from 0.
  unsigned column = 0;
  /// Blanks between it and the token before, if both are on one line.
  unsigned blanks = 0;
  /// A sign rather than an operator between operands.
  bool isSign = false;
  /// Of a statement, a directive or an item.
  bool isFirst = false;
  /// `{` of a block that stands on one line: empty, or with one statement.
  bool isOneLine = false;
  /// `(` or `[` without a blank before it.
  bool isTight = false;

  bool is(frontend::TokenKind other) const {
    return !isComment && kind == other;
  }
  /// A comment beside code.
  bool isTrailing() const { return isComment && newlines == 0; }
};

/// The tokens of a text that was parsed without errors.
std::vector<FormatToken> takeApart(const frontend::ast::File &file);

/// How many columns a text takes: one for each character.
unsigned countColumns(llvm::StringRef text);

} // namespace ccn::editor

#endif // CCN_LIB_EDITOR_FORMATTOKENS_H
