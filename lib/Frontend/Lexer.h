//===- Lexer.h - From text to tokens ----------------------------*- C++ -*-===//
//
// Reads one token at a time. The lexer does not know where statements end: it
// says which tokens start a line, and the parser, which knows the open
// brackets, decides (see Parser::isAtLineEnd).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_LEXER_H
#define CCN_LIB_FRONTEND_LEXER_H

#include "lib/Frontend/AST.h"
#include "lib/Frontend/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

namespace ccn::frontend {

enum class TokenKind : uint8_t {
  EndOfFile,
  /// Something that is no token; the error is already reported.
  Error,
  Name,
  Int,
  Float,
  String,
  /// The name of an element type.
  Element,

  KwMesh,
  KwParam,
  KwFn,
  KwProgram,
  KwSchedule,
  KwLet,
  KwReturn,
  KwInout,
  KwFor,
  KwIn,
  KwTrue,
  KwFalse,

  LParen,
  RParen,
  LSquare,
  RSquare,
  LBrace,
  RBrace,
  Comma,
  Semicolon,
  Colon,
  Assign, // =
  Store,  // <-
  Arrow,  // ->
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  EqualEqual,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,

  // What other languages have and ccn has not: read as tokens only so that the
  // parser can say what to write instead.
  ColonAssign,    // :=
  CompoundAssign, // += -= *= /= %=
  StarStar,
  Caret,
  AmpAmp,
  Amp,
  PipePipe,
  Pipe,
  Bang,
  Question,
  At,
  Dot,
};

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  /// A line starts between the token before and this one.
  bool startsLine = false;
  /// A literal with an error in it, already reported.
  bool broken = false;
  SourceRange range;
  uint64_t intValue = 0;                            ///< Int
  double floatValue = 0;                            ///< Float
  ast::ElementType element = ast::ElementType::F32; ///< Element

  bool is(TokenKind other) const { return kind == other; }
};

/// mesh, param, fn, program, schedule.
bool isItemKeyword(TokenKind kind);
bool isKeyword(TokenKind kind);

/// "'+'" or "a name", for "expected ...".
llvm::StringRef getDescription(TokenKind kind);

class Lexer {
public:
  Lexer(const SourceFile &source, Diagnostics &diagnostics);

  /// The next token; at the end, EndOfFile again and again.
  Token next();

private:
  bool skipBlanks();
  void skipLineComment();
  void skipBlockComment();
  void reportCarriageReturn();
  Token lexName(uint32_t begin);
  Token lexNumber(uint32_t begin);
  void readInt(Token &token, llvm::StringRef text);
  void readFloat(Token &token, llvm::StringRef text);
  Token lexString(uint32_t begin);
  Token lexPunctuation(uint32_t begin);
  Token lexGarbage(uint32_t begin);
  bool startsToken(uint32_t offset) const;
  DiagnosticHandle reportBadCharacter(uint32_t offset);
  DiagnosticHandle error(uint32_t begin, uint32_t end,
                         const llvm::Twine &message);

  unsigned char peek(uint32_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : 0;
  }
  bool isAtEnd() const { return at >= text.size(); }
  Token make(TokenKind kind, uint32_t begin) const {
    Token token;
    token.kind = kind;
    token.range = {begin, at};
    return token;
  }

  const SourceFile &source;
  Diagnostics &diagnostics;
  llvm::StringRef text;
  uint32_t at = 0;
  bool reportedCarriageReturn = false;
};

/// The value of a string literal whose token is not broken: `text` with its
/// quotes, escapes replaced.
std::string decodeString(llvm::StringRef text);

} // namespace ccn::frontend

#endif // CCN_LIB_FRONTEND_LEXER_H
