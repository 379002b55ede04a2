//===- DiagnosticsTest.cpp - Order, rendering and name suggestions --------===//

#include "TestUtils.h"
#include "llvm/Support/JSON.h"
#include <gtest/gtest.h>

using namespace ccn;

static std::string renderText(const Diagnostics &diagnostics,
                              bool colour = false) {
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.renderText(os, colour);
  return text;
}

static std::string renderJson(const Diagnostics &diagnostics) {
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.renderJson(os);
  return text;
}

/// The source line and the caret line of an error at [begin, end).
static std::string renderLines(std::string source, uint32_t begin,
                               uint32_t end) {
  SourceFile file("f", std::move(source));
  Diagnostics diagnostics;
  diagnostics.error(file, {begin, end}, "m");
  std::string text = renderText(diagnostics);
  return text.substr(text.find('\n') + 1);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TEST(DiagnosticsTest, ShowsLineCaretAndNotes) {
  SourceFile file("a.ccn", "let x = (1\nfoo bar\n");
  Diagnostics diagnostics;
  diagnostics.error(file, {11, 14}, "expected ')', found 'foo'")
      .note(file, {8, 9}, "to match this '('");
  EXPECT_EQ(renderText(diagnostics),
            "a.ccn:2:1: error: expected ')', found 'foo'\n"
            "foo bar\n"
            "^~~\n"
            "a.ccn:1:9: note: to match this '('\n"
            "let x = (1\n"
            "        ^\n");
}

TEST(DiagnosticsTest, ShowsSuggestionUnderTheCaret) {
  SourceFile file("a.ccn", "p = 1\n");
  Diagnostics diagnostics;
  diagnostics.error(file, {2, 3}, "m").suggest("<-");
  EXPECT_EQ(renderText(diagnostics), "a.ccn:1:3: error: m\n"
                                     "p = 1\n"
                                     "  ^\n"
                                     "  <-\n");
}

TEST(DiagnosticsTest, Warnings) {
  SourceFile file("a.ccn", "p\n");
  Diagnostics diagnostics;
  diagnostics.warning(file, {0, 1}, "m");
  EXPECT_EQ(renderText(diagnostics), "a.ccn:1:1: warning: m\np\n^\n");
  EXPECT_FALSE(diagnostics.hasErrors());
}

TEST(DiagnosticsTest, RangeOverSeveralLinesMarksTheFirst) {
  EXPECT_EQ(renderLines("ab cd\nef\n", 3, 8), "ab cd\n   ^~\n");
}

TEST(DiagnosticsTest, EmptyRangeAndEndOfFile) {
  EXPECT_EQ(renderLines("ab", 2, 2), "ab\n  ^\n");
  EXPECT_EQ(renderLines("ab\n", 3, 3), "\n^\n");
  EXPECT_EQ(renderLines("ab", 100, 200), "ab\n  ^\n");
}

TEST(DiagnosticsTest, TabsAreExpanded) {
  EXPECT_EQ(renderLines("\tx\ty z", 3, 4), "        x       y z\n"
                                           "                ^\n");
}

TEST(DiagnosticsTest, WideAndCombiningCharacters) {
  // Two columns each.
  EXPECT_EQ(renderLines("\xE6\xBC\xA2\xE5\xAD\x97 x", 7, 8),
            "\xE6\xBC\xA2\xE5\xAD\x97 x\n     ^\n");
  EXPECT_EQ(renderLines("\xE6\xBC\xA2 x", 0, 3), "\xE6\xBC\xA2 x\n^~\n");
  // e and an acute accent: one column.
  EXPECT_EQ(renderLines("e\xCC\x81 x", 4, 5), "e\xCC\x81 x\n  ^\n");
}

TEST(DiagnosticsTest, ControlCharactersAndBadBytesAreEscaped) {
  EXPECT_EQ(renderLines(std::string("a\0b\x1B\xFF z", 7), 6, 7),
            "a<U+0000>b<U+001B><FF> z\n"
            "                       ^\n");
  // A right-to-left override would show the line as what it is not.
  EXPECT_EQ(renderLines("\xE2\x80\xAE x", 4, 5), "<U+202E> x\n         ^\n");
}

TEST(DiagnosticsTest, CarriageReturnOfALineEndIsNotShown) {
  EXPECT_EQ(renderLines("ab\r\ncd", 0, 2), "ab\n^~\n");
}

TEST(DiagnosticsTest, LongLinesAreCutAroundTheCaret) {
  std::string source(1000, 'a');
  source.replace(500, 3, "XYZ");
  std::string lines = renderLines(source, 500, 503);
  EXPECT_EQ(lines, "..." + std::string(40, 'a') + "XYZ" + std::string(77, 'a') +
                       "...\n" + std::string(43, ' ') + "^~~\n");
  // At both ends.
  EXPECT_EQ(renderLines(source, 0, 1), std::string(120, 'a') + "...\n^\n");
  EXPECT_EQ(renderLines(source, 1000, 1000), "..." + std::string(120, 'a') +
                                                 "\n" + std::string(123, ' ') +
                                                 "^\n");
  // A mark that is longer than what is shown ends with it.
  EXPECT_EQ(renderLines(source, 0, 1000),
            std::string(120, 'a') + "...\n^" + std::string(119, '~') + "\n");
}

TEST(DiagnosticsTest, LineOfMegabytesIsQuickAndCutBetweenCharacters) {
  std::string source;
  for (int i = 0; i < 1'000'000; ++i)
    source += "\xE6\xBC\xA2";
  for (uint32_t at : {0u, 1'500'000u, 1'500'001u, 2'999'999u}) {
    std::string lines = renderLines(source, at, at + 3);
    EXPECT_LT(lines.size(), 600u);
    EXPECT_TRUE(llvm::json::isUTF8(lines));
    EXPECT_EQ(lines.find('<'), std::string::npos);
  }
}

TEST(DiagnosticsTest, Colours) {
  SourceFile file("a", "x\n");
  Diagnostics diagnostics;
  diagnostics.error(file, {0, 1}, "m");
  EXPECT_EQ(renderText(diagnostics, true),
            "\x1b[1ma:1:1:\x1b[0m \x1b[1;31merror:\x1b[0m \x1b[1mm\x1b[0m\n"
            "x\n\x1b[1;32m^\x1b[0m\n");
}

TEST(DiagnosticsTest, MessagesAndFileNamesAreEscaped) {
  SourceFile file("a\n\xFF", "x\n");
  Diagnostics diagnostics;
  diagnostics.error(file, {0, 1}, "bad\nname \xFE");
  EXPECT_EQ(renderText(diagnostics),
            "a<U+000A><FF>:1:1: error: bad<U+000A>name <FE>\nx\n^\n");
}

TEST(DiagnosticsTest, PlacesFromOutside) {
  SourceFile file("a.ccn", "one\ntwo\n");
  Diagnostics diagnostics;
  diagnostics.addFile(file);
  diagnostics.report(Severity::Error, "a.ccn", 2, 2, "known file");
  diagnostics.report(Severity::Error, "a.ccn", 9, 1, "no such line");
  diagnostics.report(Severity::Error, "b.mlir", 3, 4, "unknown file")
      .note("a.ccn", 1, 1, "here")
      .note("nowhere");
  diagnostics.report(Severity::Error, "c.mlir", 0, 0, "name only");
  diagnostics.error("no place");
  EXPECT_EQ(renderText(diagnostics), "a.ccn:2:2: error: known file\n"
                                     "two\n"
                                     " ^\n"
                                     "a.ccn:9:1: error: no such line\n"
                                     "b.mlir:3:4: error: unknown file\n"
                                     "a.ccn:1:1: note: here\n"
                                     "one\n"
                                     "^\n"
                                     "note: nowhere\n"
                                     "c.mlir: error: name only\n"
                                     "error: no place\n");
}

//===----------------------------------------------------------------------===//
// Order and number
//===----------------------------------------------------------------------===//

TEST(DiagnosticsTest, SortedByFileAndPositionStable) {
  SourceFile b("b", "xy\nz\n"), a("a", "x\n");
  Diagnostics diagnostics;
  diagnostics.error("nowhere");
  diagnostics.error(b, {3, 4}, "third");
  diagnostics.error(a, {0, 1}, "other file");
  diagnostics.error(b, {1, 2}, "second, one");
  diagnostics.error(b, {1, 1}, "second, two");
  diagnostics.error(b, {0, 1}, "first");
  std::vector<std::string> messages;
  for (const Diagnostic *diagnostic : diagnostics.getSorted())
    messages.push_back(diagnostic->message);
  EXPECT_EQ(messages,
            (std::vector<std::string>{"first", "second, one", "second, two",
                                      "third", "other file", "nowhere"}));
}

TEST(DiagnosticsTest, ExactDuplicatesAreDropped) {
  SourceFile file("a", "xy\n");
  Diagnostics diagnostics;
  diagnostics.error(file, {0, 1}, "m");
  diagnostics.error(file, {0, 1}, "n");
  diagnostics.error(file, {0, 1}, "m");
  diagnostics.error(file, {0, 2}, "m");
  diagnostics.error(file, {0, 1}, "m").note("differs");
  EXPECT_EQ(diagnostics.getSorted().size(), 4u);
  EXPECT_EQ(diagnostics.getNumErrors(), 5u);
}

TEST(DiagnosticsTest, ShowsTwentyErrors) {
  SourceFile file("a", std::string(100, 'x'));
  for (unsigned count : {20u, 21u, 5000u}) {
    Diagnostics diagnostics;
    for (unsigned i = 0; i < count; ++i)
      diagnostics.error(file, {i % 100, i % 100}, "m" + llvm::Twine(i));
    std::string text = renderText(diagnostics);
    EXPECT_EQ(llvm::StringRef(text).count("error: m"), 20u);
    EXPECT_EQ(llvm::StringRef(text).ends_with(
                  "error: too many errors; the rest are not shown\n"),
              count > 20);
    EXPECT_EQ(diagnostics.getNumErrors(), count);
    llvm::Expected<llvm::json::Value> json =
        llvm::json::parse(renderJson(diagnostics));
    ASSERT_TRUE(bool(json));
    EXPECT_EQ(json->getAsArray()->size(), count > 20 ? 21u : 20u);
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

TEST(DiagnosticsTest, Json) {
  SourceFile file("a.ccn", "let x = (1\nfoo\n");
  Diagnostics diagnostics;
  diagnostics.error(file, {11, 14}, "expected ')'")
      .suggest(")")
      .note(file, {8, 9}, "to match this '('");
  diagnostics.error("no place");
  EXPECT_EQ(renderJson(diagnostics), R"x([
  {
    "severity": "error",
    "file": "a.ccn",
    "line": 2,
    "column": 1,
    "endLine": 2,
    "endColumn": 4,
    "message": "expected ')'",
    "suggestion": ")",
    "notes": [
      {
        "severity": "note",
        "file": "a.ccn",
        "line": 1,
        "column": 9,
        "endLine": 1,
        "endColumn": 10,
        "message": "to match this '('"
      }
    ]
  },
  {
    "severity": "error",
    "message": "no place",
    "notes": []
  }
]
)x");
}

TEST(DiagnosticsTest, JsonWithoutDiagnosticsIsAnEmptyArray) {
  EXPECT_EQ(renderJson(Diagnostics()), "[]\n");
}

TEST(DiagnosticsTest, JsonIsValidWhateverTheText) {
  Diagnostics diagnostics;
  diagnostics.report(Severity::Warning, "f\xFF\"\n", 1, 0, "bad \xC3\x01 byte");
  std::string text = renderJson(diagnostics);
  EXPECT_TRUE(llvm::json::isUTF8(text));
  EXPECT_TRUE(bool(llvm::json::parse(text)));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

TEST(ClosestNameTest, OneClearlyClosest) {
  EXPECT_EQ(closestName("progam", {"program", "param", "mesh"}), "program");
  EXPECT_EQ(closestName("fues", {"fuse", "split"}), "fuse");
  EXPECT_EQ(closestName("SPLIT", {"fuse", "split"}), "split");
  EXPECT_EQ(closestName("avgs", {"avg", "grad"}), "avg");
}

TEST(ClosestNameTest, NoneIsCloseEnough) {
  EXPECT_EQ(closestName("kernel", {"mesh", "param", "fn"}), "");
  EXPECT_EQ(closestName("ag", {"rs"}), "");
  EXPECT_EQ(closestName("x", {"y"}), "");
  EXPECT_EQ(closestName("", {"y"}), "");
  EXPECT_EQ(closestName("x", {}), "");
}

TEST(ClosestNameTest, TiesAreNotSure) {
  EXPECT_EQ(closestName("mean1", {"mean2", "mean3"}), "");
  // Nearer than a tie.
  EXPECT_EQ(closestName("momentum", {"momentan", "momentus", "momentums"}), "");
  EXPECT_EQ(closestName("grads", {"gradx", "grady", "GRADS"}), "GRADS");
}

TEST(ClosestNameTest, ItselfAndDoublesDoNotCount) {
  EXPECT_EQ(closestName("grad", {"grad"}), "");
  EXPECT_EQ(closestName("gradd", {"grad", "grad"}), "grad");
}

TEST(ClosestNameTest, LongNamesCostNothing) {
  EXPECT_EQ(closestName(std::string(1'000'000, 'a'), {"grad"}), "");
}

TEST(ClosestNameTest, DidYouMean) {
  EXPECT_EQ(didYouMean("fues", {"fuse"}), "; did you mean 'fuse'");
  EXPECT_EQ(didYouMean("xxxx", {"fuse"}), "");
}
