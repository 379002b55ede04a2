//===- ParserRobustnessTest.cpp - Depth limits, garbage, large inputs -----===//
//
// Whatever the bytes, the parser ends soon with a tree, and printing never
// fails either.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"
#include "llvm/Support/JSON.h"
#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::test;

#ifndef __has_feature
#define __has_feature(name) 0
#endif

// How much slower than an optimized build this one is, about.
#if defined(__OPTIMIZE__) && !__has_feature(address_sanitizer) &&              \
    !__has_feature(thread_sanitizer)
static constexpr double slowness = 1;
#else
static constexpr double slowness = 10;
#endif

static std::string repeat(llvm::StringRef text, size_t count) {
  std::string result;
  result.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

/// Parses and prints everything that can be printed.
static void exercise(const std::string &text) {
  Parsed parsed(text);
  ASSERT_TRUE(parsed.file);
  showTree(*parsed.file, /*places=*/true);
  std::string written = sourceOf(*parsed.file);
  std::string rendered, json;
  llvm::raw_string_ostream renderedStream(rendered), jsonStream(json);
  parsed.diagnostics.renderText(renderedStream);
  parsed.diagnostics.renderJson(jsonStream);
  EXPECT_TRUE(llvm::json::isUTF8(rendered));
  EXPECT_TRUE(llvm::json::isUTF8(json));
  EXPECT_EQ(parsed.diagnostics.hasErrors(), !rendered.empty());
  if (!parsed.diagnostics.hasErrors())
    EXPECT_EQ(treeOf(written), showTree(*parsed.file)) << text;
}

//===----------------------------------------------------------------------===//
// Depth
//===----------------------------------------------------------------------===//

TEST(ParserRobustnessTest, NestingLimit) {
  auto nest = [](llvm::StringRef open, llvm::StringRef close, size_t count) {
    return "param x = " + repeat(open, count) + "1" + repeat(close, count);
  };
  struct Case {
    const char *open, *close;
  };
  for (auto [open, close] : {Case{"(", ")"}, Case{"f(", ")"}, Case{"-", ""},
                             Case{"f(sliced(", "))"}, Case{"f([", "])"}}) {
    EXPECT_EQ(errorsOf(nest(open, close, 256)), "") << open;
    std::string errors = errorsOf(nest(open, close, 257));
    EXPECT_NE(errors.find("expression is nested too deeply (limit 256)\n"),
              std::string::npos)
        << open << errors;
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << open;
  }
  EXPECT_EQ(errorsOf(nest("(", ")", 300)),
            "1:268-269 expression is nested too deeply (limit 256)\n");
}

TEST(ParserRobustnessTest, ChainLimit) {
  auto chain = [](size_t operators) {
    return "param x = 1" + repeat(" + 1", operators);
  };
  exercise(chain(9999));
  EXPECT_EQ(errorsOf(chain(9999)), "");
  EXPECT_EQ(errorsOf(chain(10000)),
            "1:40009-40010 expression has too many operators in a row (limit "
            "9999)\n");
  // Chains within each other's left operands add up.
  std::string nested = "1";
  for (int i = 0; i < 200; ++i)
    nested = "(" + nested + repeat(" + 1", 100) + ")";
  EXPECT_NE(errorsOf("param x = " + nested).find("too many operators"),
            std::string::npos);
  nested = "1";
  for (int i = 0; i < 100; ++i)
    nested = "f(x, sliced(" + nested + repeat(" + 1", 200) + "))";
  EXPECT_NE(errorsOf("param x = " + nested).find("too many operators"),
            std::string::npos);
}

TEST(ParserRobustnessTest, MillionTermsAreRefused) {
  EXPECT_EQ(Parsed("param x = 1" + repeat(" * 1", 1'000'000))
                .diagnostics.getNumErrors(),
            1u);
}

TEST(ParserRobustnessTest, ManyOfEverythingElse) {
  exercise("param x = f(1" + repeat(", 1", 100'000) + ")");
  exercise("program p() {\n" + repeat("let a = 1\n", 100'000) + "}");
  exercise(repeat("param x = 1\n", 100'000));
  exercise("schedule s for p { fuse a" + repeat(", a", 100'000) + " }");
}

//===----------------------------------------------------------------------===//
// Speed
//===----------------------------------------------------------------------===//

TEST(ParserRobustnessTest, TenMegabytesOfAnythingTakeNoTime) {
  for (std::string unit : {"(",
                           ")",
                           "[",
                           "{",
                           "}",
                           "$",
                           "$ a ",
                           "\xFF",
                           "\n",
                           "\r",
                           "a",
                           "a ",
                           "a\n",
                           "1",
                           "1 ",
                           "\"",
                           "\"\"",
                           "let ",
                           "let a = (",
                           "let a = (\n",
                           "program p(",
                           "program p(\n",
                           "program p() {\n",
                           "program p() { ",
                           "mesh m (a = ",
                           "schedule s for p { fuse a\n",
                           "f(",
                           "-",
                           "- ",
                           "a<-",
                           ",",
                           ";",
                           "param x = 1\n",
                           "/",
                           "//",
                           "/*",
                           "\\",
                           "fn f(x",
                           "local(",
                           "f(local(",
                           "a.b.",
                           "0x",
                           "1e",
                           "\xE6\xBC\xA2",
                           "@\n"}) {
    for (const std::string &head :
         {std::string(), std::string("program p() {\nlet a = "),
          std::string("schedule s for p {\n")}) {
      size_t size = (head.empty() ? 10'000'000 : 2'000'000) / slowness;
      std::string text = head + repeat(unit, size / unit.size());
      auto begin = std::chrono::steady_clock::now();
      Parsed parsed(text);
      std::string rendered;
      llvm::raw_string_ostream os(rendered);
      parsed.diagnostics.renderText(os);
      std::chrono::duration<double> elapsed =
          std::chrono::steady_clock::now() - begin;
      EXPECT_LT(elapsed.count(), 2) << head << unit;
    }
  }
}

//===----------------------------------------------------------------------===//
// Random inputs
//===----------------------------------------------------------------------===//

static std::vector<std::string> readCorpus() {
  std::vector<std::string> texts;
  for (std::string name : {"adam", "attention", "crlf", "errors"}) {
    Diagnostics diagnostics;
    std::unique_ptr<SourceFile> source = readSource(
        std::string(CCN_PARSER_CORPUS) + "/" + name + ".ccn", diagnostics);
    EXPECT_TRUE(source) << name;
    if (source)
      texts.push_back(source->getText().str());
  }
  return texts;
}

TEST(ParserRobustnessTest, MutatedPrograms) {
  std::vector<std::string> corpus = readCorpus();
  ASSERT_FALSE(corpus.empty());
  const std::vector<std::string> pieces = {
      "(",    ")",      "[",    "]",     "{",       "}",     "\n",
      ";",    ",",      "<-",   "->",    "=",       ":",     "let ",
      "fn ",  "mesh ",  "for ", "in ",   "f32",     "local", "sliced(",
      "\"",   "//",     "/*",   "\\",    "\r",      "\xFF",  "\xC3\xA9",
      "1e",   "0x",     "1_",   "- ",    "**",      "&&",    "split ",
      "fuse", "param ", "true", "inout", "program", " < ",   "schedule "};
  std::mt19937 random(20240601);
  auto below = [&](size_t limit) { return random() % limit; };
  for (int i = 0; i < 20'000; ++i) {
    std::string text = corpus[below(corpus.size())];
    // A piece of it, so that a run takes seconds.
    size_t begin = below(text.size());
    text = text.substr(begin, 20 + below(280));
    if (below(4) == 0)
      text = "program p(inout p: f32) {\n" + text;
    for (size_t n = below(6); n > 0; --n) {
      size_t at = below(text.size() + 1);
      switch (below(5)) {
      case 0:
        text.insert(at, pieces[below(pieces.size())]);
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        if (at < text.size())
          text[at] = static_cast<char>(below(256));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), below(40)));
        break;
      case 4:
        text.resize(at);
        break;
      }
    }
    exercise(text);
  }
}

TEST(ParserRobustnessTest, RandomBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 2'000; ++i) {
    std::string text(random() % 300, '\0');
    for (char &c : text)
      c = static_cast<char>(random() % (i % 2 ? 256 : 128));
    exercise(text);
  }
}

TEST(ParserRobustnessTest, EveryPrefixOfASample) {
  for (const std::string &text : readCorpus())
    for (size_t size = 0; size <= text.size(); ++size)
      exercise(text.substr(0, size));
}
