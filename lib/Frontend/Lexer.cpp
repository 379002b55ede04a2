//===- Lexer.cpp - From text to tokens ------------------------------------===//
//
// Reads blanks, comments, names and punctuation, and reports bytes that are
// none of these. Literals are in LexerLiterals.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lexer.h"
#include "lib/Frontend/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Unicode.h"

using namespace ccn;
using namespace ccn::frontend;

bool frontend::isItemKeyword(TokenKind kind) {
  return kind >= TokenKind::KwMesh && kind <= TokenKind::KwSchedule;
}

bool frontend::isKeyword(TokenKind kind) {
  return kind >= TokenKind::KwMesh && kind <= TokenKind::KwFalse;
}

/// The descriptions, in the order of TokenKind.
static constexpr llvm::StringLiteral descriptions[] = {
    "end of file",
    "an unreadable character",
    "a name",
    "an integer",
    "a number",
    "a string",
    "an element type",
    "'mesh'",
    "'param'",
    "'fn'",
    "'program'",
    "'schedule'",
    "'let'",
    "'return'",
    "'inout'",
    "'for'",
    "'in'",
    "'true'",
    "'false'",
    "'('",
    "')'",
    "'['",
    "']'",
    "'{'",
    "'}'",
    "','",
    "';'",
    "':'",
    "'='",
    "'<-'",
    "'->'",
    "'+'",
    "'-'",
    "'*'",
    "'/'",
    "'%'",
    "'=='",
    "'!='",
    "'<'",
    "'<='",
    "'>'",
    "'>='",
    "':='",
    "a compound assignment",
    "'**'",
    "'^'",
    "'&&'",
    "'&'",
    "'||'",
    "'|'",
    "'!'",
    "'?'",
    "'@'",
    "'.'",
};
static_assert(std::size(descriptions) ==
              static_cast<size_t>(TokenKind::Dot) + 1);

llvm::StringRef frontend::getDescription(TokenKind kind) {
  return descriptions[static_cast<size_t>(kind)];
}

static bool isNameStart(unsigned char c) {
  return llvm::isAlpha(c) || c == '_';
}
static bool isNameChar(unsigned char c) { return llvm::isAlnum(c) || c == '_'; }

Lexer::Lexer(const SourceFile &source, Diagnostics &diagnostics)
    : source(source), diagnostics(diagnostics), text(source.getText()) {
  // Skips a byte order mark, which says UTF-8; the lexer reads UTF-8 anyway.
  if (text.starts_with("\xEF\xBB\xBF"))
    at = 3;
}

DiagnosticHandle Lexer::error(uint32_t begin, uint32_t end,
                              const llvm::Twine &message) {
  return diagnostics.error(source, {begin, end}, message);
}

//===----------------------------------------------------------------------===//
// Blanks and comments
//===----------------------------------------------------------------------===//

/// Reports only the first one, since a file of an old system has one at the end
/// of each line.
void Lexer::reportCarriageReturn() {
  if (!reportedCarriageReturn)
    error(at, at + 1,
          "carriage return without line feed; lines end in LF or CR LF");
  reportedCarriageReturn = true;
}

/// Skips blanks and comments; returns whether that crosses the start of a line.
bool Lexer::skipBlanks() {
  bool startsLine = false;
  while (!isAtEnd()) {
    switch (peek()) {
    case '\n':
      startsLine = true;
      ++at;
      continue;
    case '\r':
      startsLine = true;
      if (peek(1) != '\n')
        reportCarriageReturn();
      ++at;
      continue;
    case ' ':
    case '\t':
      ++at;
      continue;
    case '/':
      if (peek(1) == '/') {
        skipLineComment();
        continue;
      }
      if (peek(1) == '*') {
        skipBlockComment();
        continue;
      }
      return startsLine;
    default:
      return startsLine;
    }
  }
  return startsLine;
}

/// Skips to the line's end. A comment must be text: the first byte that is not
/// text is an error.
void Lexer::skipLineComment() {
  bool reported = false;
  while (!isAtEnd() && peek() != '\n') {
    unsigned char c = peek();
    if (c == '\r') {
      if (peek(1) != '\n')
        reportCarriageReturn();
      return;
    }
    Utf8Char character = decodeUtf8(text.drop_front(at));
    if ((!character.valid || c == 0) && !reported) {
      reportBadCharacter(at);
      reported = true;
    }
    at += character.size;
  }
}

void Lexer::skipBlockComment() {
  size_t end = text.find("*/", at + 2);
  error(at, at + 2,
        "'/*' starts no comment; comments run from '//' to the "
        "end of the line");
  at = end == llvm::StringRef::npos ? text.size() : end + 2;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

Token Lexer::next() {
  bool startsLine = skipBlanks();
  uint32_t begin = at;
  Token token;
  if (isAtEnd()) {
    token = make(TokenKind::EndOfFile, begin);
  } else if (unsigned char c = peek(); isNameStart(c)) {
    token = lexName(begin);
  } else if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(peek(1)))) {
    token = lexNumber(begin);
  } else if (c == '"') {
    token = lexString(begin);
  } else {
    token = lexPunctuation(begin);
  }
  token.startsLine = startsLine;
  return token;
}

Token Lexer::lexName(uint32_t begin) {
  while (!isAtEnd() && isNameChar(peek()))
    ++at;
  // A word that contains letters outside of ASCII is one error, not several
  // tokens.
  if (!isAtEnd() && peek() >= 0x80) {
    reportBadCharacter(at);
    while (!isAtEnd() && (isNameChar(peek()) || peek() >= 0x80))
      ++at;
    return make(TokenKind::Error, begin);
  }
  llvm::StringRef name = text.slice(begin, at);
  TokenKind kind = llvm::StringSwitch<TokenKind>(name)
                       .Case("mesh", TokenKind::KwMesh)
                       .Case("param", TokenKind::KwParam)
                       .Case("fn", TokenKind::KwFn)
                       .Case("program", TokenKind::KwProgram)
                       .Case("schedule", TokenKind::KwSchedule)
                       .Case("let", TokenKind::KwLet)
                       .Case("return", TokenKind::KwReturn)
                       .Case("inout", TokenKind::KwInout)
                       .Case("for", TokenKind::KwFor)
                       .Case("in", TokenKind::KwIn)
                       .Case("true", TokenKind::KwTrue)
                       .Case("false", TokenKind::KwFalse)
                       .Default(TokenKind::Name);
  Token token = make(kind, begin);
  if (kind == TokenKind::Name) {
    if (std::optional<ast::ElementType> element = ast::getElementType(name)) {
      token.kind = TokenKind::Element;
      token.element = *element;
    }
  }
  return token;
}

Token Lexer::lexPunctuation(uint32_t begin) {
  unsigned char first = peek(), second = peek(1);
  auto one = [&](TokenKind kind) {
    at += 1;
    return make(kind, begin);
  };
  auto two = [&](TokenKind kind) {
    at += 2;
    return make(kind, begin);
  };
  switch (first) {
  case '(':
    return one(TokenKind::LParen);
  case ')':
    return one(TokenKind::RParen);
  case '[':
    return one(TokenKind::LSquare);
  case ']':
    return one(TokenKind::RSquare);
  case '{':
    return one(TokenKind::LBrace);
  case '}':
    return one(TokenKind::RBrace);
  case ',':
    return one(TokenKind::Comma);
  case ';':
    return one(TokenKind::Semicolon);
  case ':':
    return second == '=' ? two(TokenKind::ColonAssign) : one(TokenKind::Colon);
  case '=':
    return second == '=' ? two(TokenKind::EqualEqual) : one(TokenKind::Assign);
  case '<':
    if (second == '-')
      return two(TokenKind::Store);
    return second == '=' ? two(TokenKind::LessEqual) : one(TokenKind::Less);
  case '>':
    return second == '=' ? two(TokenKind::GreaterEqual)
                         : one(TokenKind::Greater);
  case '!':
    return second == '=' ? two(TokenKind::NotEqual) : one(TokenKind::Bang);
  case '-':
    if (second == '>')
      return two(TokenKind::Arrow);
    return second == '=' ? two(TokenKind::CompoundAssign)
                         : one(TokenKind::Minus);
  case '+':
    return second == '=' ? two(TokenKind::CompoundAssign)
                         : one(TokenKind::Plus);
  case '*':
    if (second == '*')
      return two(TokenKind::StarStar);
    return second == '=' ? two(TokenKind::CompoundAssign)
                         : one(TokenKind::Star);
  case '/':
    return second == '=' ? two(TokenKind::CompoundAssign)
                         : one(TokenKind::Slash);
  case '%':
    return second == '=' ? two(TokenKind::CompoundAssign)
                         : one(TokenKind::Percent);
  case '^':
    return one(TokenKind::Caret);
  case '&':
    return second == '&' ? two(TokenKind::AmpAmp) : one(TokenKind::Amp);
  case '|':
    return second == '|' ? two(TokenKind::PipePipe) : one(TokenKind::Pipe);
  case '?':
    return one(TokenKind::Question);
  case '@':
    return one(TokenKind::At);
  case '.':
    return one(TokenKind::Dot);
  default:
    return lexGarbage(begin);
  }
}

//===----------------------------------------------------------------------===//
// Garbage
//===----------------------------------------------------------------------===//

/// Whether a token or a blank may start at `offset`.
bool Lexer::startsToken(uint32_t offset) const {
  unsigned char c = text[offset];
  return isNameChar(c) ||
         (c != 0 && llvm::StringRef(" \t\r\n\"()[]{},;:=<>!-+*/"
                                    "%^&|?@.")
                        .contains(c));
}

/// Bytes that start no token, with the blanks between them, are one error and
/// one token.
Token Lexer::lexGarbage(uint32_t begin) {
  reportBadCharacter(begin);
  at = begin + decodeUtf8(text.drop_front(begin)).size;
  if (text[begin] == '\'') {
    // A string in the wrong quotes.
    size_t end = text.find_first_of("'\r\n", at);
    if (end != llvm::StringRef::npos && text[end] == '\'')
      at = end + 1;
  }
  while (!isAtEnd()) {
    uint32_t end = at;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t'))
      ++end;
    if (end == text.size() || startsToken(end))
      break;
    at = end + decodeUtf8(text.drop_front(end)).size;
  }
  return make(TokenKind::Error, begin);
}

DiagnosticHandle Lexer::reportBadCharacter(uint32_t offset) {
  Utf8Char character = decodeUtf8(text.drop_front(offset));
  uint32_t end = offset + character.size;
  std::string code;
  llvm::raw_string_ostream os(code);
  if (!character.valid) {
    os << llvm::format("0x%02X", character.codePoint);
    return error(offset, end, "byte " + code + " is not valid UTF-8");
  }
  if (character.codePoint == 0)
    return error(offset, end, "unexpected NUL byte");
  os << llvm::format("U+%04X", character.codePoint);
  if (!llvm::sys::unicode::isPrintable(character.codePoint) ||
      llvm::sys::unicode::isFormatting(character.codePoint))
    return error(offset, end, "unexpected character " + code);
  llvm::StringRef shown = text.slice(offset, end);
  if (character.codePoint >= 0x80)
    return error(offset, end,
                 "unexpected character '" + shown + "' (" + code +
                     "); names are made of A-Z, a-z, 0-9 and '_'");
  if (shown == "#")
    return error(offset, end,
                 "unexpected character '#'; comments start with "
                 "'//'");
  if (shown == "'")
    return error(offset, end,
                 "unexpected character '''; strings stand in '\"'");
  return error(offset, end, "unexpected character '" + shown + "'");
}
