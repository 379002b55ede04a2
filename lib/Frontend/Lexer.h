//===- Lexer.h - From text to tokens ----------------------------*- C++ -*-===//
//
// Reads one token at a time. The lexer does not know where statements end. It
// marks tokens that start a line, and the parser, which knows the open
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
  /// Bytes that are not a token; the error has been reported.
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

  // Operators of other languages, which ccn lacks. They are tokens so that the
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

/// A token and its place.
struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  /// Whether a line starts between the previous token and this one.
  bool startsLine = false;
  /// Whether this is a literal with an error, which has been reported.
  bool broken = false;
  SourceRange range;
  uint64_t intValue = 0;                            ///< Int
  double floatValue = 0;                            ///< Float
  ast::ElementType element = ast::ElementType::F32; ///< Element

  bool is(TokenKind other) const { return kind == other; }
};

/// Whether it is mesh, param, fn, program or schedule.
bool isItemKeyword(TokenKind kind);
bool isKeyword(TokenKind kind);

/// The kind in words, such as "'+'" or "a name", for "expected ...".
llvm::StringRef getDescription(TokenKind kind);

/// Splits a source file into tokens.
class Lexer {
public:
  Lexer(const SourceFile &source, Diagnostics &diagnostics);

  /// The next token; at the end, always EndOfFile.
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

/// The value of a string literal, with escapes replaced. `text` is its source
/// text with the quotes; its token must not be broken.
std::string decodeString(llvm::StringRef text);

} // namespace ccn::frontend

#endif // CCN_LIB_FRONTEND_LEXER_H
