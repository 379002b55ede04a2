//===- ParserRecoveryTest.cpp - Several errors in one run -----------------===//
//
// Independent mistakes are all reported, and none brings followers with it.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"
#include <gtest/gtest.h>

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::test;

TEST(ParserRecoveryTest, EveryStatementIsItsOwn) {
  EXPECT_EQ(errorsOf("program q(inout p: f32) {\n"
                     "  let a = 1 +* 2\n"
                     "  let b = f(a\n"
                     "  let c = 1\n"
                     "  p <- )\n"
                     "  return a &&\n"
                     "}\n"
                     "param N = \n"),
            "2:14-15 expected an expression, found '*'\n"
            "4:3-6 expected ',' or ')', found keyword 'let'\n"
            "  3:12-13 to match this '('\n"
            "5:8-9 expected an expression, found ')'\n"
            "6:12-14 '&&' is not an operator; write 'select(a, b, false)'\n"
            "8:10 expected an expression, found end of file\n");
}

TEST(ParserRecoveryTest, OpenBracketEndsAtAStore) {
  EXPECT_EQ(stmtErrors("let a = f(1 $\np <- 2\nlet b = 3 3"),
            "2:13-14 unexpected character '$'\n"
            "4:11-12 expected end of statement, found '3'\n");
}

TEST(ParserRecoveryTest, NestedBlockIsSkippedWhole) {
  EXPECT_EQ(stmtErrors("if (p > 0) {\n  let a = +\n  { }\n} else {\n  q\n}\n"
                       "let b = 1 1"),
            "2:1-3 expected a statement, found 'if'; 'select(condition, a, b)' "
            "chooses between values\n"
            "8:11-12 expected end of statement, found '1'\n");
}

TEST(ParserRecoveryTest, BodyIsReadAfterABadHead) {
  EXPECT_EQ(errorsOf("program p(x f32, y: foo, z: f32) {\n  let a = ;\n}\n"),
            "1:13-16 expected ':' and a type after 'x', found type 'f32'\n"
            "1:21-24 expected an element type, found 'foo'\n"
            "2:11-12 expected an expression, found ';'\n");
  EXPECT_EQ(errorsOf("schedule s {\n  fuse ;\n  split 1\n}\n"),
            "1:12-13 expected 'for' and a program's name, found '{'\n"
            "2:8-9 expected a name, found ';'\n"
            "3:9-10 expected a name, found '1'\n");
}

TEST(ParserRecoveryTest, UnknownItemIsSkippedWhole) {
  EXPECT_EQ(errorsOf("kernel k(x) {\n  if (y) { z }\n  fn\n}\nparam = 1\n"),
            "1:1-7 expected 'mesh', 'param', 'fn', 'program' or 'schedule', "
            "found 'kernel'\n"
            "3:5 expected a name for the function, found end of line\n"
            "4:1-2 unmatched '}'\n"
            "5:7-8 expected a name for the param, found '='\n");
  EXPECT_EQ(errorsOf("kernel k(x)\n{\n  a\n}\nparam x = 1\n"),
            "1:1-7 expected 'mesh', 'param', 'fn', 'program' or 'schedule', "
            "found 'kernel'\n");
}

TEST(ParserRecoveryTest, MissingBraceCostsOneItem) {
  Parsed parsed("program p() {\n  let a = 1\n\nprogram q() {\n  let b = 2\n}\n"
                "schedule s for q {\n  fuse b\n\nparam N = 1\n");
  EXPECT_EQ(showErrors(parsed), "4:1-8 expected '}', found keyword 'program'\n"
                                "  1:13-14 to match this '{'\n"
                                "10:1-6 expected '}', found keyword 'param'\n"
                                "  7:18-19 to match this '{'\n");
  EXPECT_EQ(parsed.file->items.size(), 4u);
}

TEST(ParserRecoveryTest, ItemInABlockIsReadAndTheBlockGoesOn) {
  Parsed parsed("program p() {\n"
                "  param N = 4\n"
                "  let a = N\n"
                "  schedule s for p {\n"
                "    fuse a\n"
                "  }\n"
                "  let b = a\n"
                "}\n");
  EXPECT_EQ(showErrors(parsed), "2:3-8 'param' cannot stand inside of a block\n"
                                "4:3-11 'schedule' cannot stand inside of a "
                                "block\n");
  ASSERT_EQ(parsed.file->items.size(), 3u);
  const auto *program = llvm::cast<ast::ProgramItem>(parsed.file->items[2]);
  EXPECT_EQ(program->block->stmts.size(), 2u);
}

TEST(ParserRecoveryTest, TreeKeepsWhatCouldBeRead) {
  Parsed parsed("mesh m (dp 4, tp = 2)\n"
                "program p(x, inout y: f32) {\n"
                "  let a = 1 +\n"
                "}\n");
  EXPECT_EQ(showTree(*parsed.file), "mesh m <broken>\n"
                                    "  axis dp\n"
                                    "    <error>\n"
                                    "  axis tp\n"
                                    "    int 2\n"
                                    "program p <broken>\n"
                                    "  arg x\n"
                                    "    <missing>\n"
                                    "  inout y\n"
                                    "    type f32\n"
                                    "  block\n"
                                    "    let\n"
                                    "      bind a\n"
                                    "      <error>\n");
}

TEST(ParserRecoveryTest, OnlyItemsWithErrorsAreBroken) {
  Parsed parsed("param a = 1\nparam b = 12x\nparam c = 3\n");
  ASSERT_EQ(parsed.file->items.size(), 3u);
  EXPECT_FALSE(parsed.file->items[0]->broken);
  EXPECT_TRUE(parsed.file->items[1]->broken);
  EXPECT_FALSE(parsed.file->items[2]->broken);
}

TEST(ParserRecoveryTest, SlipsAreReadAsMeant) {
  EXPECT_EQ(showTree(*Parsed("progam q(inout p: f32) {\n"
                             "  a = 1\n"
                             "  p = a\n"
                             "  lte b := 2\n"
                             "  let c: f32 = 3\n"
                             "}\n"
                             "schedule s of q {\n"
                             "  fues a\n"
                             "}\n")
                          .file),
            "program q <broken>\n"
            "  inout p\n"
            "    type f32\n"
            "  block\n"
            "    let\n"
            "      bind a\n"
            "      int 1\n"
            "    store p\n"
            "      name a\n"
            "    let\n"
            "      bind b\n"
            "      int 2\n"
            "    let\n"
            "      bind c\n"
            "      int 3\n"
            "schedule s for q <broken>\n"
            "  fuse\n"
            "    target a\n");
}
