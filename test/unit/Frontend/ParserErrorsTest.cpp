//===- ParserErrorsTest.cpp - Each syntax error, its words and its place --===//

#include "TestUtils.h"
#include <gtest/gtest.h>

using namespace ccn::frontend::test;

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

TEST(ParserErrorsTest, UnknownItem) {
  EXPECT_EQ(errorsOf("kernel k(x: f32) {\n let a = 1\n}\nparam x = 1"),
            "1:1-7 expected 'mesh', 'param', 'fn', 'program' or 'schedule', "
            "found 'kernel'\n");
  EXPECT_EQ(errorsOf("3"), "1:1-2 expected 'mesh', 'param', 'fn', 'program' or "
                           "'schedule', found '3'\n");
}

TEST(ParserErrorsTest, MisspeltItem) {
  EXPECT_EQ(errorsOf("progam p() {}"),
            "1:1-7 expected 'mesh', 'param', 'fn', 'program' or 'schedule', "
            "found 'progam'; did you mean 'program'\n");
  EXPECT_EQ(errorsOf("def f(x) = x"),
            "1:1-4 expected 'mesh', 'param', 'fn', 'program' or 'schedule', "
            "found 'def'; did you mean 'fn'\n");
}

TEST(ParserErrorsTest, StatementBetweenItems) {
  EXPECT_EQ(errorsOf("let a = 1\nparam x = 1"),
            "1:1-4 expected 'mesh', 'param', 'fn', 'program' or 'schedule', "
            "found keyword 'let'; statements stand in a program or function\n");
}

TEST(ParserErrorsTest, UnmatchedClosingBracket) {
  EXPECT_EQ(errorsOf("param x = 1\n}}\n}\n"), "2:1-2 unmatched '}'\n");
  EXPECT_EQ(errorsOf(")"), "1:1-2 unmatched ')'\n");
  EXPECT_EQ(stmtErrors("let a = f(x))"), "2:13-14 unmatched ')'\n");
  EXPECT_EQ(stmtErrors(")"), "2:1-2 unmatched ')'\n");
}

TEST(ParserErrorsTest, MissingItemNames) {
  EXPECT_EQ(errorsOf("mesh (a = 1)"),
            "1:6-7 expected a name for the mesh, found '('\n");
  EXPECT_EQ(errorsOf("param = 1"),
            "1:7-8 expected a name for the param, found '='\n");
  EXPECT_EQ(errorsOf("fn (x) = x"),
            "1:4-5 expected a name for the function, found '('\n");
  EXPECT_EQ(errorsOf("program 3() {}"),
            "1:9-10 expected a name for the program, found '3'\n");
  EXPECT_EQ(errorsOf("schedule for p {}"),
            "1:10-13 expected a name for the schedule, found keyword 'for'\n");
  EXPECT_EQ(errorsOf("param"),
            "1:6 expected a name for the param, found end of file\n");
  EXPECT_EQ(errorsOf("param\nx = 1"),
            "1:6 expected a name for the param, found end of line\n"
            "2:1-2 expected 'mesh', 'param', 'fn', 'program' or 'schedule', "
            "found 'x'\n");
}

TEST(ParserErrorsTest, KeywordAsName) {
  EXPECT_EQ(errorsOf("param in = 1"),
            "1:7-9 expected a name for the param, found keyword 'in'\n");
  EXPECT_EQ(errorsOf("program p(f32: f32, for: f32) {}"),
            "1:11-14 expected an argument name, found type 'f32'\n"
            "1:21-24 expected an argument name, found keyword 'for'\n");
  EXPECT_EQ(stmtErrors("let mesh = 1"),
            "2:5-9 expected a name, found keyword 'mesh'\n");
  EXPECT_EQ(stmtErrors("let a = in + 1"),
            "2:9-11 expected an expression, found keyword 'in'\n");
}

TEST(ParserErrorsTest, Mesh) {
  EXPECT_EQ(errorsOf("mesh m"), "1:7 expected '(', found end of file; axes "
                                "follow, as in '(dp = 2, tp = 4)'\n");
  EXPECT_EQ(errorsOf("mesh m ()"), "1:9-10 expected an axis name, found ')'\n");
  EXPECT_EQ(errorsOf("mesh m (dp 2)"), "1:12-13 expected '=', found '2'\n");
  EXPECT_EQ(errorsOf("mesh m (dp = 2 tp = 4)"),
            "1:16-18 expected ',' or ')', found 'tp'\n"
            "  1:8-9 to match this '('\n");
  EXPECT_EQ(errorsOf("mesh m (dp = 2\nparam x = 1"),
            "2:1-6 expected ',' or ')', found keyword 'param'\n"
            "  1:8-9 to match this '('\n");
  EXPECT_EQ(errorsOf("mesh m (dp = 2) x\n"),
            "1:17-18 expected end of line, found 'x'\n");
}

TEST(ParserErrorsTest, Param) {
  EXPECT_EQ(errorsOf("param N"), "1:8 expected '=', found end of file\n");
  EXPECT_EQ(errorsOf("param N 3"), "1:9-10 expected '=', found '3'\n");
  EXPECT_EQ(errorsOf("param N: i32 = 3"),
            "1:8-9 expected '=', found ':'; a param has no type\n");
  EXPECT_EQ(errorsOf("param N == 3"), "1:9-11 expected '=', found '==' => =\n");
  EXPECT_EQ(errorsOf("param N := 3"), "1:9-11 expected '=', found ':=' => =\n");
  EXPECT_EQ(errorsOf("param N = 3 M"),
            "1:13-14 expected end of line, found 'M'\n");
  EXPECT_EQ(errorsOf("param N =\nparam M = 1"),
            "2:1-6 expected an expression, found keyword 'param'\n");
}

TEST(ParserErrorsTest, Fn) {
  EXPECT_EQ(errorsOf("fn f = 1"), "1:6-7 expected '(', found '='\n");
  EXPECT_EQ(errorsOf("fn f(x) x"), "1:9-10 expected '=' or '{', found 'x'\n");
  EXPECT_EQ(errorsOf("fn f(x) -> f32 { return x }"),
            "1:9-11 expected '=' or '{', found '->'; the type of a result is "
            "inferred\n");
  EXPECT_EQ(errorsOf("fn f(x:) = x"),
            "1:8-9 expected an element type, found ')'\n");
  EXPECT_EQ(errorsOf("fn f(x,) = x"),
            "1:8-9 expected a parameter name, found ')'\n");
}

TEST(ParserErrorsTest, Program) {
  EXPECT_EQ(errorsOf("program p { let a = 1 }"),
            "1:11-12 expected '(', found '{'\n");
  EXPECT_EQ(errorsOf("program p(x) {}"),
            "1:12-13 expected ':' and a type after 'x', found ')'\n");
  EXPECT_EQ(errorsOf("program p(x: f32 y: f32) {}"),
            "1:18-19 expected a layout state, ',' or ')', found 'y'\n");
  EXPECT_EQ(errorsOf("program p(x: inout f32) {}"),
            "1:14-19 expected an element type, found keyword 'inout'; 'inout' "
            "stands before the name\n");
  EXPECT_EQ(errorsOf("program p() let a = 1\n}"),
            "1:13-16 expected '{', found keyword 'let'\n");
  EXPECT_EQ(errorsOf("program p()\nlet a = 1\n}"),
            "1:12 expected '{', found end of line\n");
  EXPECT_EQ(errorsOf("program p()"), "1:12 expected '{', found end of file\n");
  EXPECT_EQ(errorsOf("program p() -> f32 {}"),
            "1:13-15 expected '{', found '->'\n");
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The errors of an argument's type, columns counted from it.
static std::string typeErrors(const std::string &type) {
  return errorsOf("program p(x:\n" + type + ") {}");
}

TEST(ParserErrorsTest, ElementTypes) {
  EXPECT_EQ(typeErrors("float"), "2:1-6 expected an element type, found "
                                 "'float'; did you mean 'f32'\n");
  EXPECT_EQ(typeErrors("bf61"), "2:1-5 expected an element type, found "
                                "'bf61'; did you mean 'bf16'\n");
  EXPECT_EQ(typeErrors("tensor"),
            "2:1-7 expected an element type, found 'tensor'\n");
  EXPECT_EQ(typeErrors("[N]"), "2:1-2 expected an element type, found '['\n");
}

TEST(ParserErrorsTest, Shapes) {
  EXPECT_EQ(typeErrors("f32[N, ]"),
            "2:8-9 expected an expression, found ']'\n");
  EXPECT_EQ(typeErrors("f32[N"), "2:6-7 expected ',' or ']', found ')'\n"
                                 "  2:4-5 to match this '['\n");
  EXPECT_EQ(typeErrors("f32[N M]"), "2:7-8 expected ',' or ']', found 'M'\n"
                                    "  2:4-5 to match this '['\n");
}

TEST(ParserErrorsTest, LayoutStates) {
  EXPECT_EQ(typeErrors("f32 sliced"),
            "2:11-12 expected '(', found ')'; write 'sliced(0)' for dimension "
            "0\n");
  EXPECT_EQ(typeErrors("f32 partial"),
            "2:12-13 expected '(', found ')'; write 'partial(sum)' for a "
            "pending sum\n");
  EXPECT_EQ(typeErrors("f32 partial(add)"),
            "2:13-16 expected 'sum', 'prod', 'max' or 'min', found 'add'\n");
  EXPECT_EQ(typeErrors("f32 partial(smu)"),
            "2:13-16 expected 'sum', 'prod', 'max' or 'min', found 'smu'; did "
            "you mean 'sum'\n");
  EXPECT_EQ(typeErrors("f32 sliced(0, 1)"),
            "2:15-16 expected an axis name, found '1'\n");
  EXPECT_EQ(typeErrors("f32 sliced(0, dp, tp)"),
            "2:17-18 expected ')', found ','\n"
            "  2:11-12 to match this '('\n");
  EXPECT_EQ(typeErrors("f32 local()"),
            "2:11-12 expected an axis name, found ')'\n");
  EXPECT_EQ(typeErrors("f32 replicated(dp)"),
            "2:15-16 expected ',' or ')', found '('\n"
            "  1:10-11 to match this '('\n");
  EXPECT_EQ(typeErrors("f32 slicd(0)"),
            "2:5-10 expected a layout state, ',' or ')', found 'slicd'; did "
            "you mean 'sliced'\n");
  EXPECT_EQ(typeErrors("f32 shard(0)"),
            "2:5-10 expected a layout state, ',' or ')', found 'shard'; did "
            "you mean 'sliced'\n");
  EXPECT_EQ(typeErrors("f32 scattered local"),
            "2:15-20 expected ',' or ')', found 'local'; layout states stand "
            "before 'scattered'\n");
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

TEST(ParserErrorsTest, AssignmentToAnInout) {
  EXPECT_EQ(stmtErrors("p = 1"),
            "2:3-4 expected '<-' to store to 'p', found '=' => <-\n");
  EXPECT_EQ(stmtErrors("p := 1"),
            "2:3-5 expected '<-' to store to 'p', found ':=' => <-\n");
}

TEST(ParserErrorsTest, AssignmentWithoutLet) {
  EXPECT_EQ(stmtErrors("a = 1"),
            "2:1-2 expected 'let' before 'a'; only an inout is stored to, "
            "with '<-' => let a\n");
  EXPECT_EQ(stmtErrors("a := 1"),
            "2:1-2 expected 'let' before 'a'; only an inout is stored to, "
            "with '<-' => let a\n");
}

TEST(ParserErrorsTest, CompoundAssignment) {
  EXPECT_EQ(stmtErrors("p += 1"),
            "2:3-5 expected '<-', found '+='; write 'p <- p + ...'\n");
}

TEST(ParserErrorsTest, LetWithAnotherSign) {
  EXPECT_EQ(stmtErrors("let a == 1"), "2:7-9 expected '=', found '==' => =\n");
  EXPECT_EQ(stmtErrors("let a := 1"), "2:7-9 expected '=', found ':=' => =\n");
  EXPECT_EQ(stmtErrors("let a <- 1"), "2:7-9 expected '=', found '<-' => =\n");
  EXPECT_EQ(stmtErrors("let a 1"), "2:7-8 expected '=', found '1'\n");
  EXPECT_EQ(stmtErrors("let a"), "2:6 expected '=', found end of line\n");
}

TEST(ParserErrorsTest, LetWithAType) {
  EXPECT_EQ(stmtErrors("let a: f32[N] = 1"),
            "2:6-7 expected '=', found ':'; the type of a 'let' is "
            "inferred\n");
  EXPECT_EQ(stmtErrors("let a: f32"),
            "2:6-7 expected '=', found ':'; the type of a 'let' is "
            "inferred\n");
}

TEST(ParserErrorsTest, LetNames) {
  EXPECT_EQ(stmtErrors("let 3 = 1"), "2:5-6 expected a name, found '3'\n");
  EXPECT_EQ(stmtErrors("let () = 1"), "2:6-7 expected a name, found ')'\n");
  EXPECT_EQ(stmtErrors("let (a b) = f()"),
            "2:8-9 expected ',' or ')', found 'b'\n"
            "  2:5-6 to match this '('\n");
  EXPECT_EQ(stmtErrors("let a, b = f()"), "2:6-7 expected '=', found ','\n");
}

TEST(ParserErrorsTest, MisspeltStatement) {
  EXPECT_EQ(stmtErrors("lte a = 1"),
            "2:1-4 expected a statement, found 'lte'; did you mean 'let'\n");
  EXPECT_EQ(stmtErrors("var a = 1"),
            "2:1-4 expected a statement, found 'var'; did you mean 'let'\n");
  EXPECT_EQ(stmtErrors("retrun p"), "2:1-7 expected a statement, found "
                                    "'retrun'; did you mean 'return'\n");
  EXPECT_EQ(stmtErrors("if p"),
            "2:1-3 expected a statement, found 'if'; 'select(condition, a, b)' "
            "chooses between values\n");
  EXPECT_EQ(stmtErrors("while p"),
            "2:1-6 expected a statement, found 'while'\n");
  EXPECT_EQ(stmtErrors("for i in p"),
            "2:1-4 expected a statement, found keyword 'for'\n");
}

TEST(ParserErrorsTest, UnusedResult) {
  EXPECT_EQ(stmtErrors("f(p)"),
            "2:1-2 a call of 'f' alone does nothing; a function has no effect "
            "but its result, which 'let' names or '<-' stores\n");
}

TEST(ParserErrorsTest, StoreToAPart) {
  EXPECT_EQ(stmtErrors("p[0] <- 1"),
            "2:2-3 expected '<-' after 'p', found '['; a store replaces the "
            "whole of an inout\n");
}

TEST(ParserErrorsTest, NoStatement) {
  EXPECT_EQ(stmtErrors("p"),
            "2:2 expected '<-' after 'p', found end of line\n");
  EXPECT_EQ(stmtErrors("p == 1"),
            "2:3-5 expected '<-' after 'p', found '=='\n");
  EXPECT_EQ(stmtErrors("1 + 2"), "2:1-2 expected a statement, found '1'\n");
  EXPECT_EQ(stmtErrors("\"doc\""), "2:1-6 expected a statement, found a "
                                   "string\n");
}

TEST(ParserErrorsTest, Return) {
  EXPECT_EQ(stmtErrors("return"),
            "2:7 expected an expression, found end of line\n");
  EXPECT_EQ(stmtErrors("return a b"),
            "2:10-11 expected end of statement, found 'b'\n");
}

TEST(ParserErrorsTest, MissingClosingBrace) {
  EXPECT_EQ(errorsOf("program p() {\n let a = 1\n"),
            "2:11 expected '}', found end of file\n"
            "  1:13-14 to match this '{'\n");
  EXPECT_EQ(errorsOf("program p() {\n let a = 1\nprogram q() {}\n"),
            "3:1-8 expected '}', found keyword 'program'\n"
            "  1:13-14 to match this '{'\n");
  EXPECT_EQ(errorsOf("schedule s for p {\n fuse a\n"),
            "2:8 expected '}', found end of file\n"
            "  1:18-19 to match this '{'\n");
}

TEST(ParserErrorsTest, ItemInABlock) {
  EXPECT_EQ(errorsOf("program p() {\n  fn f(x) = x\n  let a = f(1)\n}\n"),
            "2:3-5 'fn' cannot stand inside of a block\n");
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

TEST(ParserErrorsTest, MissingOperand) {
  EXPECT_EQ(stmtErrors("let a = "),
            "3:1-2 expected an expression, found '}'\n");
  EXPECT_EQ(stmtErrors("let a = b + * c"),
            "2:13-14 expected an expression, found '*'\n");
  EXPECT_EQ(stmtErrors("let a = ()"),
            "2:10-11 expected an expression, found ')'\n");
}

TEST(ParserErrorsTest, TypeInAnExpression) {
  EXPECT_EQ(stmtErrors("let a = f32"),
            "2:9-12 expected an expression, found type 'f32'\n");
  EXPECT_EQ(stmtErrors("let a = f32(p)"),
            "2:9-12 expected an expression, found type 'f32'; write 'cast(x, "
            "f32)' to convert\n");
  EXPECT_EQ(stmtErrors("let a = f(f32(p))"),
            "2:11-14 expected an expression, found type 'f32'; write 'cast(x, "
            "f32)' to convert\n");
}

TEST(ParserErrorsTest, ListInAnExpression) {
  EXPECT_EQ(stmtErrors("let a = [1]"),
            "2:9-10 expected an expression, found '['; a list may only be an "
            "argument\n");
}

TEST(ParserErrorsTest, OperatorsOfOtherLanguages) {
  EXPECT_EQ(stmtErrors("let a = b ** 2"),
            "2:11-13 '**' is not an operator; write 'pow(x, y)'\n");
  EXPECT_EQ(stmtErrors("let a = b ^ 2"),
            "2:11-12 '^' is not an operator; write 'pow(x, y)'\n");
  EXPECT_EQ(stmtErrors("let a = b && c"),
            "2:11-13 '&&' is not an operator; write 'select(a, b, false)'\n");
  EXPECT_EQ(stmtErrors("let a = b & c"),
            "2:11-12 '&' is not an operator; write 'select(a, b, false)'\n");
  EXPECT_EQ(stmtErrors("let a = b || c"),
            "2:11-13 '||' is not an operator; write 'select(a, true, b)'\n");
  EXPECT_EQ(stmtErrors("let a = b | c"),
            "2:11-12 '|' is not an operator; write 'select(a, true, b)'\n");
  EXPECT_EQ(stmtErrors("let a = !b"),
            "2:9-10 '!' is not an operator; write 'select(a, false, true)'\n");
  EXPECT_EQ(stmtErrors("let a = b ? c : d"),
            "2:11-12 '?' is not an operator; write 'select(condition, a, "
            "b)'\n");
  EXPECT_EQ(stmtErrors("let a = b @ c"),
            "2:11-12 '@' is not an operator; write 'matmul(a, b)'\n");
  EXPECT_EQ(stmtErrors("let a = b.sum()"),
            "2:10-11 '.' is not an operator; functions are called as "
            "'f(x)'\n");
}

TEST(ParserErrorsTest, Indexing) {
  EXPECT_EQ(stmtErrors("let a = b[0]"),
            "2:10-11 '[' cannot follow a value; 'slice' takes a part of "
            "one\n");
}

TEST(ParserErrorsTest, StoreInAnExpression) {
  EXPECT_EQ(stmtErrors("let a = b<-c"),
            "2:10-12 '<-' stores and is no part of an expression; write '< -' "
            "to compare with a negative\n");
}

TEST(ParserErrorsTest, ChainedComparisons) {
  EXPECT_EQ(stmtErrors("let a = b < c < d"),
            "2:15-16 comparisons cannot be chained; combine two with "
            "'select(a < b, b < c, false)'\n"
            "  2:11-12 the first comparison is here\n");
}

TEST(ParserErrorsTest, MissingComma) {
  EXPECT_EQ(stmtErrors("let a = f(b c)"),
            "2:13-14 expected ',' or ')', found 'c'\n"
            "  2:10-11 to match this '('\n");
  EXPECT_EQ(stmtErrors("let a = f([1 2])"),
            "2:14-15 expected ',' or ']', found '2'\n"
            "  2:11-12 to match this '['\n");
}

TEST(ParserErrorsTest, TrailingComma) {
  EXPECT_EQ(stmtErrors("let a = f(b,)"),
            "2:13-14 expected an expression, found ')'\n");
}

TEST(ParserErrorsTest, UnbalancedBrackets) {
  EXPECT_EQ(stmtErrors("let a = (b + c"), "3:1-2 expected ')', found '}'\n"
                                          "  2:9-10 to match this '('\n");
  EXPECT_EQ(stmtErrors("let a = (b]"), "2:11-12 expected ')', found ']'\n"
                                       "  2:9-10 to match this '('\n");
  EXPECT_EQ(stmtErrors("let a = f(b\nlet c = 1"),
            "3:1-4 expected ',' or ')', found keyword 'let'\n"
            "  2:10-11 to match this '('\n");
  EXPECT_EQ(errorsOf("param x = f(1"),
            "1:14 expected ',' or ')', found end of file\n"
            "  1:12-13 to match this '('\n");
}

TEST(ParserErrorsTest, PairOutsideOfAnArgument) {
  EXPECT_EQ(stmtErrors("let a = 0 -> 1"),
            "2:11-13 expected end of statement, found '->'\n");
}

TEST(ParserErrorsTest, TypeWithShapeAsArgument) {
  EXPECT_EQ(stmtErrors("let a = cast(b, f32[N])"),
            "2:20-21 expected ',' or ')', found '['\n"
            "  2:13-14 to match this '('\n");
}

TEST(ParserErrorsTest, LongWordsAreShortened) {
  EXPECT_EQ(stmtErrors("let a = 1 " + std::string(1000, 'x')),
            "2:11-1011 expected end of statement, found '" +
                std::string(37, 'x') + "...'\n");
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

TEST(ParserErrorsTest, ScheduleHead) {
  EXPECT_EQ(errorsOf("schedule s {}"),
            "1:12-13 expected 'for' and a program's name, found '{'\n");
  EXPECT_EQ(errorsOf("schedule s p {}"), "1:12-13 expected 'for', found 'p'\n");
  EXPECT_EQ(errorsOf("schedule s of p {}"),
            "1:12-14 expected 'for', found 'of'\n");
  EXPECT_EQ(errorsOf("schedule s for {}"),
            "1:16-17 expected a program's name, found '{'\n");
}

TEST(ParserErrorsTest, UnknownPrimitive) {
  EXPECT_EQ(directiveErrors("vectorize x"),
            "2:1-10 unknown schedule primitive 'vectorize'\n");
  EXPECT_EQ(directiveErrors("let (a, b) = spilt x"),
            "2:14-19 unknown schedule primitive 'spilt'; did you mean "
            "'split'\n");
  EXPECT_EQ(directiveErrors("3"),
            "2:1-2 expected a schedule primitive, found '3'\n");
  EXPECT_EQ(directiveErrors("return x"),
            "2:1-7 expected a schedule primitive, found keyword 'return'\n");
}

TEST(ParserErrorsTest, Split) {
  EXPECT_EQ(directiveErrors("split"),
            "2:6 expected a name, found end of line\n");
  EXPECT_EQ(directiveErrors("split x as rsag"),
            "2:12-16 expected 'rs_ag', 'reduce_broadcast' or 'hierarchical', "
            "found 'rsag'; did you mean 'rs_ag'\n");
  EXPECT_EQ(directiveErrors("split x, y"),
            "2:8-9 expected 'as' or end of directive, found ','\n");
}

TEST(ParserErrorsTest, Reorder) {
  EXPECT_EQ(directiveErrors("reorder ag"),
            "2:11 expected 'after', found end of line\n");
  EXPECT_EQ(directiveErrors("reorder ag after"),
            "2:17 expected a name, found end of line\n");
  EXPECT_EQ(directiveErrors("reorder ag after a b"),
            "2:20-21 expected ',' or end of directive, found 'b'\n");
}

TEST(ParserErrorsTest, NameLists) {
  EXPECT_EQ(directiveErrors("fuse a b"),
            "2:8-9 expected ',' or end of directive, found 'b'\n");
  EXPECT_EQ(directiveErrors("fuse a,"), "3:1-2 expected a name, found '}'\n");
  EXPECT_EQ(directiveErrors("order 1"), "2:7-8 expected a name, found '1'\n");
  EXPECT_EQ(directiveErrors("slice_state a = 1"),
            "2:15-16 expected end of directive, found '='\n");
}

TEST(ParserErrorsTest, OverlapAndBucket) {
  EXPECT_EQ(directiveErrors("overlap a, b chunk 4"),
            "2:14-19 expected ',', 'chunks' or end of directive, found "
            "'chunk'\n");
  EXPECT_EQ(directiveErrors("overlap a chunks"),
            "2:17 expected an expression, found end of line\n");
  EXPECT_EQ(directiveErrors("bucket a, b"),
            "2:12 expected ',' or 'size', found end of line\n");
}

TEST(ParserErrorsTest, Choices) {
  EXPECT_EQ(
      directiveErrors("protocol x = lll"),
      "2:14-17 expected 'simple', 'll', 'lamport' or 'push', found 'lll'; did "
      "you mean 'll'\n");
  EXPECT_EQ(directiveErrors("protocol x ll"),
            "2:12-14 expected '=', found 'll'\n");
  EXPECT_EQ(directiveErrors("sms x 4"), "2:7-8 expected '=', found '4'\n");
  EXPECT_EQ(directiveErrors("algorithm x = 4"),
            "2:15-16 expected an algorithm's name, a string or 'synth(...)', "
            "found '4'\n");
  EXPECT_EQ(directiveErrors("algorithm x = ring(4)"),
            "2:19-20 expected end of directive, found '('\n");
  EXPECT_EQ(directiveErrors("algorithm x = synth(4)"),
            "2:21-22 expected 'name = value', a name or a string, found "
            "'4'\n");
  EXPECT_EQ(directiveErrors("algorithm x = synth(a = )"),
            "2:25-26 expected an expression, found ')'\n");
}
