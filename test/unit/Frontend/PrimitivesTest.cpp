//===- PrimitivesTest.cpp - Every primitive of schedules ------------------===//
//
// Lines that the table of primitives describes are parsed, printed and written
// again, and the language's guide has the grammar and an explanation of each. A
// primitive that is added to the table is tested here.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace ccn::frontend;
using namespace ccn::frontend::test;
using ast::Primitive;

namespace {

class Primitives : public testing::TestWithParam<Primitive> {};

/// A line with a clause, as it may be written.
std::string lineOf(const Primitive &primitive) {
  std::string line = primitive.name.str() + " a";
  if (primitive.targets != Primitive::Targets::One)
    line += ", b";
  if (primitive.clause != Primitive::Clause::None)
    line += " " + primitive.keyword.str() + " ";
  switch (primitive.clause) {
  case Primitive::Clause::None:
    return line;
  case Primitive::Clause::Names:
    return line + "c, d";
  case Primitive::Clause::Number:
    return line + "8";
  case Primitive::Clause::Word:
  case Primitive::Clause::Choice:
    return line + primitive.words.back().str();
  case Primitive::Clause::Algorithm:
    return line + "synth(ring, chunks = 4)";
  }
  return line;
}

/// The rule of the language's grammar.
std::string grammarOf(const Primitive &primitive) {
  const std::string list = "NAME (',' NAME)*";
  std::string rule = "'" + primitive.name.str() + "' ";
  rule += primitive.targets == Primitive::Targets::One ? "NAME" : list;
  std::string words, clause;
  for (llvm::StringRef word : primitive.words)
    words += (words.empty() ? "'" : " | '") + word.str() + "'";
  switch (primitive.clause) {
  case Primitive::Clause::None:
    return rule;
  case Primitive::Clause::Names:
    clause = list;
    break;
  case Primitive::Clause::Number:
    clause = "constant";
    break;
  case Primitive::Clause::Word:
  case Primitive::Clause::Choice:
    clause = "(" + words + ")";
    break;
  case Primitive::Clause::Algorithm:
    clause = "(NAME | STRING | 'synth' '(' [synarg (',' synarg)*] ')')";
    break;
  }
  clause = "'" + primitive.keyword.str() + "' " + clause;
  return rule + (primitive.isOptional ? " [" + clause + "]" : " " + clause);
}

TEST_P(Primitives, AreParsedAndWrittenAgain) {
  std::string line = lineOf(GetParam());
  Parsed parsed("schedule s for p {\n  " + line + "\n}\n");
  EXPECT_EQ(showErrors(parsed), "");
  std::string tree = showTree(*parsed.file);
  EXPECT_NE(tree.find("\n  " + GetParam().name.str() + "\n    target a\n"),
            std::string::npos)
      << tree;
  std::string written = sourceOf(*parsed.file);
  EXPECT_NE(written.find("  " + line + "\n"), std::string::npos) << written;
  EXPECT_EQ(treeOf(written), tree);
}

TEST_P(Primitives, NeedTheirClause) {
  const Primitive &primitive = GetParam();
  std::string line = primitive.name.str() + " a";
  std::string errors = errorsOf("schedule s for p { " + line + " }");
  if (primitive.clause == Primitive::Clause::None || primitive.isOptional)
    EXPECT_EQ(errors, "");
  else
    EXPECT_NE(errors.find("'" + primitive.keyword.str() + "', found '}'"),
              std::string::npos)
        << errors;
}

TEST_P(Primitives, AreInTheGuide) {
  auto guide = llvm::MemoryBuffer::getFile(CCN_LANGUAGE_GUIDE);
  ASSERT_TRUE(guide);
  llvm::StringRef text = (*guide)->getBuffer();
  EXPECT_TRUE(text.contains(grammarOf(GetParam()) + "\n"))
      << grammarOf(GetParam());
  EXPECT_TRUE(text.contains("\n| `" + GetParam().name.str() + " "));
}

INSTANTIATE_TEST_SUITE_P(All, Primitives,
                         testing::ValuesIn(ast::getPrimitives().begin(),
                                           ast::getPrimitives().end()),
                         [](const auto &info) {
                           return info.param.name.str();
                         });

} // namespace
