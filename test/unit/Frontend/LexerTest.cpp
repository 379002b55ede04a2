//===- LexerTest.cpp - Tokens, literals and bad bytes ---------------------===//

#include "lib/Frontend/Lexer.h"
#include "TestUtils.h"
#include <gtest/gtest.h>

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::test;

/// The tokens' descriptions; `|` before those that start a line.
static std::string tokensOf(llvm::StringRef text) {
  SourceFile source("t", text.str());
  Diagnostics diagnostics;
  Lexer lexer(source, diagnostics);
  std::string result;
  while (true) {
    Token token = lexer.next();
    if (token.is(TokenKind::EndOfFile))
      break;
    if (!result.empty())
      result += ' ';
    if (token.startsLine)
      result += '|';
    result += token.is(TokenKind::Error) ? "<error>"
                                         : source.getText(token.range).str();
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

TEST(LexerTest, Punctuation) {
  EXPECT_EQ(tokensOf("a<-b<=c->d==e!=f>=g:=h"),
            "a <- b <= c -> d == e != f >= g := h");
  EXPECT_EQ(tokensOf("a< -b"), "a < - b");
  EXPECT_EQ(tokensOf("()[]{},;: =+-*/%<>"),
            "( ) [ ] { } , ; : = + - * / % < >");
  EXPECT_EQ(tokensOf("+= -= *= /= %= ** ^ && & || | ! ? @ ."),
            "+= -= *= /= %= ** ^ && & || | ! ? @ .");
}

TEST(LexerTest, LinesAndComments) {
  EXPECT_EQ(tokensOf("a // b\nc\n\n// d\ne"), "a |c |e");
  EXPECT_EQ(tokensOf("a\r\nb // c\r\nd"), "a |b |d");
  EXPECT_EQ(tokensOf("a//"), "a");
  EXPECT_EQ(tokensOf(""), "");
}

TEST(LexerTest, ByteOrderMark) {
  EXPECT_EQ(tokensOf("\xEF\xBB\xBFmesh"), "mesh");
  EXPECT_EQ(errorsOf("\xEF\xBB\xBFmesh m (a = 1)"), "");
  EXPECT_EQ(errorsOf("mesh m (a = 1)\n\xEF\xBB\xBF"),
            "2:1-4 unexpected character U+FEFF\n");
}

TEST(LexerTest, CrLfIsALineEnd) {
  EXPECT_EQ(errorsOf("mesh m (a = 1)\r\nparam x = 1 +\r\n 2\r\n"), "");
}

TEST(LexerTest, WordsOfSchedulesAndLayoutsAreNames) {
  EXPECT_EQ(errorsOf("param split = 1\nparam after = 1\nparam size = 1\n"
                     "param local = 1\nparam scattered = 1\nparam sum = 1\n"
                     "param chunks = split + after * local\n"),
            "");
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static Token lexOne(llvm::StringRef text) {
  SourceFile source("t", text.str());
  Diagnostics diagnostics;
  Token token = Lexer(source, diagnostics).next();
  EXPECT_FALSE(diagnostics.hasErrors()) << text.str();
  return token;
}

TEST(LexerTest, Integers) {
  EXPECT_EQ(lexOne("0").intValue, 0u);
  EXPECT_EQ(lexOne("007").intValue, 7u);
  EXPECT_EQ(lexOne("1_000_000").intValue, 1'000'000u);
  EXPECT_EQ(lexOne("0xff").intValue, 255u);
  EXPECT_EQ(lexOne("0XdEaD_beef").intValue, 0xdeadbeefu);
  EXPECT_EQ(lexOne("18446744073709551615").intValue, UINT64_MAX);
  EXPECT_EQ(lexOne("0xffff_ffff_ffff_ffff").intValue, UINT64_MAX);
  EXPECT_EQ(lexOne("0x1e5").kind, TokenKind::Int);
}

TEST(LexerTest, Floats) {
  EXPECT_EQ(lexOne("0.5").floatValue, 0.5);
  EXPECT_EQ(lexOne("1e-8").floatValue, 1e-8);
  EXPECT_EQ(lexOne("1E+3").floatValue, 1000.0);
  EXPECT_EQ(lexOne("1e3").kind, TokenKind::Float);
  EXPECT_EQ(lexOne("1_0.2_5").floatValue, 10.25);
  EXPECT_EQ(lexOne("0.1").floatValue, 0.1);
  EXPECT_EQ(lexOne("1.7976931348623157e308").floatValue,
            1.7976931348623157e308);
  EXPECT_EQ(lexOne("4.9e-324").floatValue, 4.9e-324);
  EXPECT_EQ(lexOne("0.0e-999").floatValue, 0.0);
  // Halfway cases round to even.
  EXPECT_EQ(lexOne("9007199254740993.0").floatValue, 9007199254740992.0);
}

TEST(LexerTest, IntegerTooLarge) {
  EXPECT_EQ(errorsOf("param x = 18446744073709551616"),
            "1:11-31 integer '18446744073709551616' is too large (limit "
            "18446744073709551615)\n");
  EXPECT_EQ(errorsOf("param x = 0x1_0000_0000_0000_0000"),
            "1:11-34 integer '0x1_0000_0000_0000_0000' is too large (limit "
            "18446744073709551615)\n");
}

TEST(LexerTest, FloatOutOfRange) {
  EXPECT_EQ(errorsOf("param x = 1e309"),
            "1:11-16 number '1e309' is too large for f64\n");
  EXPECT_EQ(errorsOf("param x = 1e-400"),
            "1:11-17 number '1e-400' is too small for f64\n");
  EXPECT_EQ(errorsOf("param x = 1e99999999999999999999"),
            "1:11-33 number '1e99999999999999999999' is too large for f64\n");
}

TEST(LexerTest, NumberTooLong) {
  EXPECT_EQ(errorsOf("param x = " + std::string(1'000'000, '1')),
            "1:11-1000011 number is too long (limit 1000 characters)\n");
}

TEST(LexerTest, NumberWithASuffix) {
  EXPECT_EQ(errorsOf("param x = 12abc"),
            "1:13-16 unexpected 'abc' after number '12'\n");
  EXPECT_EQ(errorsOf("param x = 0.5f"),
            "1:14-15 unexpected 'f' after number '0.5'\n");
  EXPECT_EQ(errorsOf("param x = 0xfg"),
            "1:14-15 unexpected 'g' after number '0xf'\n");
  EXPECT_EQ(errorsOf("param x = 0b101"),
            "1:12-16 unexpected 'b101' after number '0'\n");
}

TEST(LexerTest, NumberWithoutDigits) {
  EXPECT_EQ(errorsOf("param x = .5"),
            "1:11-13 expected a digit before '.'; write '0.5'\n");
  EXPECT_EQ(errorsOf("param x = 5."),
            "1:11-13 expected a digit after '.'; write '5.0'\n");
  EXPECT_EQ(errorsOf("param x = 5.e3"),
            "1:11-15 expected a digit after '.' in number '5.e3'\n");
  EXPECT_EQ(errorsOf("param x = 1e"),
            "1:11-13 expected digits after 'e' in number '1e'\n");
  EXPECT_EQ(errorsOf("param x = 0x"),
            "1:11-13 expected hexadecimal digits after '0x'\n");
}

TEST(LexerTest, StrayUnderscores) {
  for (std::string number : {"1__0", "1_", "0x_f", "1_.5", "1._5"})
    EXPECT_EQ(errorsOf("param x = " + number),
              "1:11-" + std::to_string(11 + number.size()) +
                  " '_' in number '" + number +
                  "' does not stand between digits\n");
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

TEST(LexerTest, StringEscapes) {
  EXPECT_EQ(decodeString(R"("a\"b\\c\nd\te")"), "a\"b\\c\nd\te");
  EXPECT_EQ(decodeString("\"\""), "");
}

TEST(LexerTest, UnterminatedString) {
  EXPECT_EQ(directiveErrors("algorithm x = \"abc"),
            "2:15-19 unterminated string\n");
  EXPECT_EQ(directiveErrors("algorithm x = \"abc\\"),
            "2:19-20 unknown escape in string; '\\\\', '\\\"', '\\n' and "
            "'\\t' are known\n");
  EXPECT_EQ(errorsOf("schedule s for p { algorithm x = \"}"),
            "1:34-36 unterminated string\n"
            "1:36 expected '}', found end of file\n"
            "  1:18-19 to match this '{'\n");
}

TEST(LexerTest, BadEscape) {
  EXPECT_EQ(directiveErrors("algorithm x = \"a\\qb\""),
            "2:17-18 unknown escape in string; '\\\\', '\\\"', '\\n' and "
            "'\\t' are known\n");
}

TEST(LexerTest, BadBytesInStrings) {
  EXPECT_EQ(directiveErrors("algorithm x = \"\xFF\""),
            "2:16-17 byte 0xFF is not valid UTF-8\n");
  EXPECT_EQ(directiveErrors("algorithm x = \"\x01\""),
            "2:16-17 unexpected character U+0001\n");
  EXPECT_EQ(directiveErrors("algorithm x = \"\xC3\xA9\""), "");
}

//===----------------------------------------------------------------------===//
// Bytes that start no token
//===----------------------------------------------------------------------===//

TEST(LexerTest, UnexpectedCharacters) {
  EXPECT_EQ(errorsOf("param x = $"), "1:11-12 unexpected character '$'\n");
  EXPECT_EQ(errorsOf("param x = \x7F"),
            "1:11-12 unexpected character U+007F\n");
  EXPECT_EQ(errorsOf("# note"),
            "1:1-2 unexpected character '#'; comments start with '//'\n");
  EXPECT_EQ(errorsOf("param x = 'a'"),
            "1:11-12 unexpected character '''; strings stand in '\"'\n");
}

TEST(LexerTest, LettersBeyondAscii) {
  EXPECT_EQ(errorsOf("param x = \xCE\xBB"),
            "1:11-13 unexpected character '\xCE\xBB' (U+03BB); names are made "
            "of A-Z, a-z, 0-9 and '_'\n");
  // Within a word: one error, not one a piece.
  EXPECT_EQ(errorsOf("param na\xC3\xAFve = 1"),
            "1:9-11 unexpected character '\xC3\xAF' (U+00EF); names are made "
            "of A-Z, a-z, 0-9 and '_'\n");
}

TEST(LexerTest, NulAndInvalidUtf8) {
  EXPECT_EQ(errorsOf(std::string("param x = \0 1", 13)),
            "1:11-12 unexpected NUL byte\n");
  EXPECT_EQ(errorsOf("param x = \xFF"),
            "1:11-12 byte 0xFF is not valid UTF-8\n");
  EXPECT_EQ(errorsOf("param x = \xC3"),
            "1:11-12 byte 0xC3 is not valid UTF-8\n");
  EXPECT_EQ(errorsOf("param x = 1 // \xFF\xFF\n"),
            "1:16-17 byte 0xFF is not valid UTF-8\n");
}

TEST(LexerTest, ConsecutiveGarbageIsOneError) {
  EXPECT_EQ(errorsOf("$$## ~`\\\\ \xFF\x01"),
            "1:1-2 unexpected character '$'\n");
  EXPECT_EQ(tokensOf("a $ # \\ b"), "a <error> b");
}

TEST(LexerTest, BareCarriageReturn) {
  EXPECT_EQ(errorsOf("param x = 1\rparam y = 2\rparam z = 3\r"),
            "1:12-13 carriage return without line feed; lines end in LF or CR "
            "LF\n");
  EXPECT_EQ(errorsOf("// x\rparam y = 2"),
            "1:5-6 carriage return without line feed; lines end in LF or CR "
            "LF\n");
}

TEST(LexerTest, BlockComments) {
  EXPECT_EQ(errorsOf("/* a\n b */ param x = 1"),
            "1:1-3 '/*' starts no comment; comments run from '//' to the end "
            "of the line\n");
  EXPECT_EQ(errorsOf("param x = 1 /* a"),
            "1:13-15 '/*' starts no comment; comments run from '//' to the "
            "end of the line\n");
}
