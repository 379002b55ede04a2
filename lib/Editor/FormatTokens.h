//===- FormatTokens.h - Tokens and comments of a text -----------*- C++ -*-===//
//
// Private to the formatter: a text as tokens and comments, without its blanks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_EDITOR_FORMATTOKENS_H
#define CCN_LIB_EDITOR_FORMATTOKENS_H

#include "lib/Frontend/AST.h"
#include "lib/Frontend/Lexer.h"

#include <vector>

namespace ccn::editor {

/// A token or a comment. `;` is dropped, since each statement gets its own
/// line.
struct FormatToken {
  llvm::StringRef text;
  frontend::TokenKind kind = frontend::TokenKind::EndOfFile;
  bool isComment = false;
  /// The number of line ends between the previous token and this one.
  unsigned newlines = 0;
  /// The column of the first byte, in characters, from 0.
  unsigned column = 0;
  /// The number of blanks after the previous token, if both are on one line.
  unsigned blanks = 0;
  /// Whether it is a sign, not an operator between operands.
  bool isSign = false;
  /// Whether it is the first token of a statement, a directive or an item.
  bool isFirst = false;
  /// Whether it is the `{` of a block on one line, which is empty or has one
  /// statement.
  bool isOneLine = false;
  /// Whether it is a `(` or `[` without a blank before it.
  bool isTight = false;

  bool is(frontend::TokenKind other) const {
    return !isComment && kind == other;
  }
  /// Whether it is a comment beside code.
  bool isTrailing() const { return isComment && newlines == 0; }
};

/// The tokens and comments of a text, which must have been parsed without
/// errors.
std::vector<FormatToken> takeApart(const frontend::ast::File &file);

/// The number of columns of a text: one for each character.
unsigned countColumns(llvm::StringRef text);

} // namespace ccn::editor

#endif // CCN_LIB_EDITOR_FORMATTOKENS_H
