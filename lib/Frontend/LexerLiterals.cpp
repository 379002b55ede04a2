//===- LexerLiterals.cpp - Numbers and strings ----------------------------===//
//
// A literal with an error is reported once and still becomes a token, which is
// marked broken. So the parser can go on as usual.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lexer.h"
#include "lib/Frontend/Utf8.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

using namespace ccn;
using namespace ccn::frontend;

/// The most characters of a number. Digits are read exactly, which takes
/// quadratic time.
static constexpr size_t maxNumberLength = 1000;

/// Whether a number has an underscore that is not between two digits: at its
/// beginning or end, or in a pair.
static bool hasStrayUnderscore(llvm::StringRef text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_')
      continue;
    if (i == 0 || i + 1 == text.size() || !llvm::isHexDigit(text[i - 1]) ||
        !llvm::isHexDigit(text[i + 1]))
      return true;
  }
  return false;
}

static llvm::SmallString<64> dropUnderscores(llvm::StringRef text) {
  llvm::SmallString<64> result;
  for (char c : text)
    if (c != '_')
      result += c;
  return result;
}

Token Lexer::lexNumber(uint32_t begin) {
  // First takes everything that looks like a part of the number, then checks
  // it, so that `12abc` is one error.
  bool isHex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
  bool hasPoint = false;
  while (!isAtEnd()) {
    unsigned char c = peek();
    bool isExponentSign = (c == '+' || c == '-') && !isHex && at > begin &&
                          (text[at - 1] == 'e' || text[at - 1] == 'E') &&
                          llvm::isDigit(peek(1));
    // `1..2` and `x.5.` stop at the second point.
    bool isPoint = c == '.' && !isHex && !hasPoint;
    hasPoint |= isPoint;
    if (!llvm::isAlnum(c) && c != '_' && c < 0x80 && !isPoint &&
        !isExponentSign)
      break;
    ++at;
  }

  llvm::StringRef number = text.slice(begin, at);
  Token token = make(TokenKind::Int, begin);
  auto fail = [&](uint32_t errorBegin, const llvm::Twine &message) {
    error(errorBegin, at, message);
    token.broken = true;
    return token;
  };
  if (number.size() > maxNumberLength)
    return fail(begin, "number is too long (limit " +
                           llvm::Twine(maxNumberLength) + " characters)");

  // Splits the text into the number and the wrong rest.
  size_t end = 0;
  auto skipDigits = [&](auto isDigit) {
    size_t first = end;
    while (end < number.size() && (isDigit(number[end]) || number[end] == '_'))
      ++end;
    return end > first;
  };
  auto isDecimal = [](char c) { return llvm::isDigit(c); };
  auto isHexadecimal = [](char c) { return llvm::isHexDigit(c); };
  if (isHex) {
    end = 2;
    if (!skipDigits(isHexadecimal) && end == number.size())
      return fail(begin, "expected hexadecimal digits after '" + number + "'");
  } else {
    if (!skipDigits(isDecimal))
      return fail(begin,
                  "expected a digit before '.'; write '0" + number + "'");
    if (end < number.size() && number[end] == '.') {
      token.kind = TokenKind::Float;
      ++end;
      if (!skipDigits(isDecimal)) {
        if (end == number.size())
          return fail(begin,
                      "expected a digit after '.'; write '" + number + "0'");
        if (number[end] == 'e' || number[end] == 'E')
          return fail(begin,
                      "expected a digit after '.' in number '" + number + "'");
      }
    }
    if (end < number.size() && (number[end] == 'e' || number[end] == 'E')) {
      size_t exponent = end++;
      if (end < number.size() && (number[end] == '+' || number[end] == '-'))
        ++end;
      if (skipDigits(isDecimal))
        token.kind = TokenKind::Float;
      else if (end == number.size())
        return fail(begin, "expected digits after '" +
                               number.take_back(number.size() - exponent) +
                               "' in number '" + number + "'");
      else
        end = exponent;
    }
  }
  if (end < number.size())
    return fail(begin + end,
                "unexpected '" + escapeForDisplay(number.drop_front(end)) +
                    "' after number '" + number.take_front(end) + "'");
  if (hasStrayUnderscore(isHex ? number.drop_front(2) : number))
    return fail(begin,
                "'_' in number '" + number + "' does not stand between digits");
  if (token.is(TokenKind::Int))
    readInt(token, number);
  else
    readFloat(token, number);
  return token;
}

void Lexer::readInt(Token &token, llvm::StringRef number) {
  llvm::SmallString<64> digits = dropUnderscores(number);
  llvm::StringRef rest = digits;
  // The radix is chosen here, because getAsInteger would read 010 as octal.
  unsigned radix = 10;
  if (rest.size() > 1 && (rest[1] == 'x' || rest[1] == 'X')) {
    radix = 16;
    rest = rest.drop_front(2);
  }
  if (!rest.getAsInteger(radix, token.intValue))
    return;
  error(token.range.begin, token.range.end,
        "integer '" + number + "' is too large (limit 18446744073709551615)");
  token.broken = true;
}

void Lexer::readFloat(Token &token, llvm::StringRef number) {
  llvm::SmallString<64> digits = dropUnderscores(number);
  llvm::APFloat value(llvm::APFloat::IEEEdouble());
  llvm::Expected<llvm::APFloat::opStatus> status =
      value.convertFromString(digits, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    error(token.range.begin, token.range.end,
          "'" + number + "' is not a number");
    token.broken = true;
    return;
  }
  bool isZero = llvm::StringRef(digits)
                    .take_until([](char c) { return c == 'e' || c == 'E'; })
                    .find_first_of("123456789") == llvm::StringRef::npos;
  if (!value.isFinite() || (value.isZero() && !isZero)) {
    error(token.range.begin, token.range.end,
          "number '" + number + "' is too " +
              (value.isZero() ? "small" : "large") + " for f64");
    token.broken = true;
    return;
  }
  token.floatValue = value.convertToDouble();
}

Token Lexer::lexString(uint32_t begin) {
  ++at;
  bool broken = false;
  auto fail = [&](uint32_t errorBegin, uint32_t errorEnd,
                  const llvm::Twine &message) {
    // Reports only one error per string.
    if (!broken)
      error(errorBegin, errorEnd, message);
    broken = true;
  };
  while (true) {
    unsigned char c = peek();
    if (isAtEnd() || c == '\n' || c == '\r') {
      fail(begin, at, "unterminated string");
      break;
    }
    if (c == '"') {
      ++at;
      break;
    }
    if (c == '\\') {
      unsigned char escape = peek(1);
      if (escape != '"' && escape != '\\' && escape != 'n' && escape != 't')
        fail(at, at + 1,
             "unknown escape in string; '\\\\', '\\\"', '\\n' and '\\t' are "
             "known");
      // Does not skip the line's end.
      at += escape == '"' || escape == '\\' ? 2 : 1;
      continue;
    }
    Utf8Char character = decodeUtf8(text.drop_front(at));
    if (!character.valid || c == 0 || (c < 0x20 && c != '\t') || c == 0x7F) {
      if (!broken)
        reportBadCharacter(at);
      broken = true;
    }
    at += character.size;
  }
  Token token = make(TokenKind::String, begin);
  token.broken = broken;
  return token;
}

std::string frontend::decodeString(llvm::StringRef text) {
  std::string value;
  text = text.drop_front().drop_back();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      value += text[i];
      continue;
    }
    char escape = text[++i];
    value += escape == 'n' ? '\n' : escape == 't' ? '\t' : escape;
  }
  return value;
}
