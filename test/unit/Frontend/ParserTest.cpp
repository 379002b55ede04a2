//===- ParserTest.cpp - Every production, line ends, places, printers -----===//

#include "TestUtils.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::test;

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

TEST(ParserTest, EmptyFile) {
  EXPECT_EQ(treeOf(""), "");
  EXPECT_EQ(treeOf(" \n// nothing\n;\n"), "");
}

TEST(ParserTest, Mesh) {
  EXPECT_EQ(treeOf("mesh m (dp = 2, tp = 2 * 2)"), "mesh m\n"
                                                   "  axis dp\n"
                                                   "    int 2\n"
                                                   "  axis tp\n"
                                                   "    product\n"
                                                   "      int 2\n"
                                                   "      * int 2\n");
}

TEST(ParserTest, Param) {
  EXPECT_EQ(treeOf("param N = -1; param M = N"), "param N\n"
                                                 "  unary -\n"
                                                 "    int 1\n"
                                                 "param M\n"
                                                 "  name N\n");
}

TEST(ParserTest, FnWithExpression) {
  EXPECT_EQ(treeOf("fn f(x, y: f32) =\n x"), "fn f\n"
                                             "  arg x\n"
                                             "  arg y\n"
                                             "    type f32\n"
                                             "  result\n"
                                             "    name x\n");
  EXPECT_EQ(treeOf("fn f() = 1"), "fn f\n  result\n    int 1\n");
}

TEST(ParserTest, FnWithBlock) {
  EXPECT_EQ(treeOf("fn f(x) { let y = x; return y, x }"), "fn f\n"
                                                          "  arg x\n"
                                                          "  block\n"
                                                          "    let\n"
                                                          "      bind y\n"
                                                          "      name x\n"
                                                          "    return\n"
                                                          "      name y\n"
                                                          "      name x\n");
}

TEST(ParserTest, ProgramArguments) {
  EXPECT_EQ(treeOf("program p(a: f32, inout b: bf16[N, 2 * M] sliced(0, dp) "
                   "local(tp),\n c: bool[] replicated, d: f16[N] partial(max) "
                   "scattered, e: u8 partial(sum, dp) local) {}"),
            "program p\n"
            "  arg a\n"
            "    type f32\n"
            "  inout b\n"
            "    type bf16\n"
            "      extent\n"
            "        name N\n"
            "      extent\n"
            "        product\n"
            "          int 2\n"
            "          * name M\n"
            "      sliced axis dp\n"
            "        int 0\n"
            "      local axis tp\n"
            "  arg c\n"
            "    type bool\n"
            "      replicated\n"
            "  arg d\n"
            "    type f16\n"
            "      extent\n"
            "        name N\n"
            "      partial max\n"
            "      scattered\n"
            "  arg e\n"
            "    type u8\n"
            "      partial sum axis dp\n"
            "      local\n"
            "  block\n");
  EXPECT_EQ(treeOf("program p() {}"), "program p\n  block\n");
}

TEST(ParserTest, EveryElementType) {
  for (std::string type :
       {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i16", "i32",
        "i64", "u8", "u16", "u32", "u64", "bool"}) {
    EXPECT_EQ(treeOf("fn f(x: " + type + ") = 1"),
              "fn f\n  arg x\n    type " + type + "\n  result\n    int 1\n");
    EXPECT_EQ(exprOf("cast(x, " + type + ")"),
              "  call cast\n    name x\n    type " + type + "\n");
  }
}

TEST(ParserTest, EveryReduction) {
  for (std::string op : {"sum", "prod", "max", "min"})
    EXPECT_EQ(treeOf("fn f(x: f32 partial(" + op + ")) = 1"),
              "fn f\n  arg x\n    type f32\n      partial " + op +
                  "\n  result\n    int 1\n");
}

TEST(ParserTest, NamesOfLayoutsMayNameArguments) {
  EXPECT_EQ(treeOf("program p(local: f32 local, sliced: f32) {}"),
            "program p\n"
            "  arg local\n"
            "    type f32\n"
            "      local\n"
            "  arg sliced\n"
            "    type f32\n"
            "  block\n");
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

TEST(ParserTest, Statements) {
  EXPECT_EQ(treeOf("program p() {\n"
                   "  let a = 1\n"
                   "  let (b, c) = f(a)\n"
                   "  let (d) = a\n"
                   "  x <- a\n"
                   "  return a\n"
                   "}"),
            "program p\n"
            "  block\n"
            "    let\n"
            "      bind a\n"
            "      int 1\n"
            "    let tuple\n"
            "      bind b\n"
            "      bind c\n"
            "      call f\n"
            "        name a\n"
            "    let tuple\n"
            "      bind d\n"
            "      name a\n"
            "    store x\n"
            "      name a\n"
            "    return\n"
            "      name a\n");
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

TEST(ParserTest, Literals) {
  EXPECT_EQ(exprOf("0x1F"), "  int 0x1F\n");
  EXPECT_EQ(exprOf("1_0.5e1"), "  float 1_0.5e1\n");
  EXPECT_EQ(exprOf("true"), "  bool true\n");
  EXPECT_EQ(exprOf("false"), "  bool false\n");
}

TEST(ParserTest, Precedence) {
  EXPECT_EQ(exprOf("a + b * -c < d - e % f"), "  compare\n"
                                              "    sum\n"
                                              "      name a\n"
                                              "      + product\n"
                                              "        name b\n"
                                              "        * unary -\n"
                                              "          name c\n"
                                              "    < sum\n"
                                              "      name d\n"
                                              "      - product\n"
                                              "        name e\n"
                                              "        % name f\n");
}

TEST(ParserTest, LeftAssociative) {
  Parsed parsed("param x = a - b - c");
  const auto *param = llvm::cast<ast::ParamItem>(parsed.file->items[0]);
  const auto *outer = llvm::cast<ast::BinaryExpr>(param->value);
  EXPECT_TRUE(llvm::isa<ast::BinaryExpr>(outer->lhs));
  EXPECT_EQ(llvm::cast<ast::NameExpr>(outer->rhs)->name, "c");
  llvm::SmallVector<const ast::BinaryExpr *> spine = ast::getLeftSpine(outer);
  ASSERT_EQ(spine.size(), 2u);
  EXPECT_EQ(spine[1], outer);
  EXPECT_EQ(llvm::cast<ast::NameExpr>(spine[0]->lhs)->name, "a");
}

TEST(ParserTest, ParenthesesGroup) {
  EXPECT_EQ(exprOf("a - (b - c)"), "  sum\n"
                                   "    name a\n"
                                   "    - sum\n"
                                   "      name b\n"
                                   "      - name c\n");
  EXPECT_EQ(exprOf("(a < b) == c"), "  compare\n"
                                    "    name a\n"
                                    "    < name b\n"
                                    "    == name c\n");
}

TEST(ParserTest, UnaryBindsTightest) {
  EXPECT_EQ(exprOf("-a * +b"), "  product\n"
                               "    unary -\n"
                               "      name a\n"
                               "    * unary +\n"
                               "      name b\n");
  EXPECT_EQ(exprOf("- -a"), "  unary -\n    unary -\n      name a\n");
}

TEST(ParserTest, EveryBinaryOperator) {
  for (std::string op : {"+", "-"})
    EXPECT_EQ(exprOf("a " + op + " b"),
              "  sum\n    name a\n    " + op + " name b\n");
  for (std::string op : {"*", "/", "%"})
    EXPECT_EQ(exprOf("a " + op + " b"),
              "  product\n    name a\n    " + op + " name b\n");
  for (std::string op : {"==", "!=", "<", "<=", ">", ">="})
    EXPECT_EQ(exprOf("a " + op + " b"),
              "  compare\n    name a\n    " + op + " name b\n");
}

TEST(ParserTest, BlankDecidesBetweenStoreAndComparison) {
  EXPECT_EQ(exprOf("a < -b"), "  compare\n"
                              "    name a\n"
                              "    < unary -\n"
                              "      name b\n");
}

TEST(ParserTest, CallArguments) {
  EXPECT_EQ(exprOf("f(a, 0 -> n - 1, [], [1, m], f32, sliced(0, tp) local, "
                   "partial(sum), replicated, g())"),
            "  call f\n"
            "    name a\n"
            "    pair\n"
            "      int 0\n"
            "      sum\n"
            "        name n\n"
            "        - int 1\n"
            "    list\n"
            "    list\n"
            "      int 1\n"
            "      name m\n"
            "    type f32\n"
            "    layout\n"
            "      sliced axis tp\n"
            "        int 0\n"
            "      local\n"
            "    layout\n"
            "      partial sum\n"
            "    layout\n"
            "      replicated\n"
            "    call g\n");
}

TEST(ParserTest, LayoutWordsAsValues) {
  EXPECT_EQ(exprOf("f(local + 1, (local), sliced, local -> 1)"), "  call f\n"
                                                                 "    sum\n"
                                                                 "      name "
                                                                 "local\n"
                                                                 "      + int "
                                                                 "1\n"
                                                                 "    name "
                                                                 "local\n"
                                                                 "    name "
                                                                 "sliced\n"
                                                                 "    pair\n"
                                                                 "      name "
                                                                 "local\n"
                                                                 "      int "
                                                                 "1\n");
  // A lone `local` is a layout that may turn out to be a value.
  Parsed parsed("param x = f(local, local(dp))");
  const auto *param = llvm::cast<ast::ParamItem>(parsed.file->items[0]);
  const auto *call = llvm::cast<ast::CallExpr>(param->value);
  const auto *lone = llvm::cast<ast::LayoutArg>(call->args[0]);
  ASSERT_TRUE(lone->asName());
  EXPECT_EQ(lone->asName()->text, "local");
  EXPECT_FALSE(llvm::cast<ast::LayoutArg>(call->args[1])->asName());
}

TEST(ParserTest, LiteralValues) {
  Parsed parsed("param a = 0x10; param b = 2.5");
  const auto *a = llvm::cast<ast::ParamItem>(parsed.file->items[0]);
  EXPECT_EQ(llvm::cast<ast::IntExpr>(a->value)->value, 16u);
  const auto *b = llvm::cast<ast::ParamItem>(parsed.file->items[1]);
  EXPECT_EQ(llvm::cast<ast::FloatExpr>(b->value)->value, 2.5);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The tree of one directive.
static std::string directiveOf(const std::string &text) {
  std::string tree = treeOf("schedule s for p { " + text + " }");
  const std::string head = "schedule s for p\n";
  return tree.starts_with(head) ? tree.substr(head.size()) : tree;
}

TEST(ParserTest, EmptySchedule) {
  EXPECT_EQ(treeOf("schedule s for p {}"), "schedule s for p\n");
}

TEST(ParserTest, Split) {
  EXPECT_EQ(directiveOf("split x"), "  split\n    target x\n");
  EXPECT_EQ(directiveOf("let (a, b) = split x as rs_ag"), "  split\n"
                                                          "    tuple\n"
                                                          "    bind a\n"
                                                          "    bind b\n"
                                                          "    target x\n"
                                                          "    as rs_ag\n");
  EXPECT_EQ(directiveOf("split x as reduce_broadcast"),
            "  split\n    target x\n    as reduce_broadcast\n");
  EXPECT_EQ(directiveOf("split x as hierarchical"),
            "  split\n    target x\n    as hierarchical\n");
}

TEST(ParserTest, Reorder) {
  EXPECT_EQ(directiveOf("let y = reorder ag after a, b"), "  reorder\n"
                                                          "    bind y\n"
                                                          "    target ag\n"
                                                          "    after a\n"
                                                          "    after b\n");
}

TEST(ParserTest, NameListDirectives) {
  for (std::string word : {"slice_state", "fuse", "order"})
    EXPECT_EQ(directiveOf(word + " a, b"),
              "  " + word + "\n    target a\n    target b\n");
}

TEST(ParserTest, Overlap) {
  EXPECT_EQ(directiveOf("overlap a"), "  overlap\n    target a\n");
  EXPECT_EQ(directiveOf("overlap a, b chunks 4"), "  overlap\n"
                                                  "    target a\n"
                                                  "    target b\n"
                                                  "    chunks\n"
                                                  "      int 4\n");
}

TEST(ParserTest, Algorithm) {
  EXPECT_EQ(directiveOf("algorithm x = ring"),
            "  algorithm\n    target x\n    named ring\n");
  EXPECT_EQ(directiveOf("algorithm x = \"a b.xml\""),
            "  algorithm\n    target x\n    file \"a b.xml\"\n");
  EXPECT_EQ(directiveOf("algorithm x = synth"),
            "  algorithm\n    target x\n    named synth\n");
  EXPECT_EQ(directiveOf("algorithm x = synth()"),
            "  algorithm\n    target x\n    synth\n");
  EXPECT_EQ(directiveOf("algorithm x = synth(dgx1, \"t\", chunks = 2 * N, "
                        "goal = latency, file = \"u\")"),
            "  algorithm\n"
            "    target x\n"
            "    synth\n"
            "      arg\n"
            "        name dgx1\n"
            "      arg\n"
            "        string \"t\"\n"
            "      arg chunks\n"
            "        product\n"
            "          int 2\n"
            "          * name N\n"
            "      arg goal\n"
            "        name latency\n"
            "      arg file\n"
            "        string \"u\"\n");
}

TEST(ParserTest, Protocol) {
  for (std::string name : {"ll", "lamport", "push", "simple"})
    EXPECT_EQ(directiveOf("protocol x = " + name),
              "  protocol\n    target x\n    " + name + "\n");
}

TEST(ParserTest, SmsAndBucket) {
  EXPECT_EQ(directiveOf("sms x = 8"),
            "  sms\n    target x\n    count\n      int 8\n");
  EXPECT_EQ(directiveOf("bucket a, b size 1_000"), "  bucket\n"
                                                   "    target a\n"
                                                   "    target b\n"
                                                   "    size\n"
                                                   "      int 1_000\n");
}

TEST(ParserTest, DirectiveWordsAsNames) {
  EXPECT_EQ(directiveOf("overlap chunks, size chunks size"), "  overlap\n"
                                                             "    target "
                                                             "chunks\n"
                                                             "    target "
                                                             "size\n"
                                                             "    chunks\n"
                                                             "      name "
                                                             "size\n");
}

//===----------------------------------------------------------------------===//
// Where statements end
//===----------------------------------------------------------------------===//

TEST(ParserTest, LineGoesOnAfterOperators) {
  for (std::string op :
       {"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="})
    EXPECT_EQ(stmtErrors("let a = b " + op + "\n\n // more\n c"), "") << op;
  EXPECT_EQ(stmtErrors("let a =\n b"), "");
  EXPECT_EQ(stmtErrors("p <-\n b"), "");
  EXPECT_EQ(stmtErrors("return a,\n b"), "");
  EXPECT_EQ(stmtErrors("let a = -\n b"), "");
  EXPECT_EQ(directiveErrors("fuse a,\n b"), "");
  EXPECT_EQ(directiveErrors("let (a, b) =\n split x"), "");
}

TEST(ParserTest, LineGoesOnWithinBrackets) {
  EXPECT_EQ(stmtErrors("let a = f(b\n + c\n,\n 0\n -> 1, [\n1\n,\n2\n]\n)"),
            "");
  EXPECT_EQ(stmtErrors("let a = (b\n - c)"), "");
  EXPECT_EQ(stmtErrors("let (\na\n,\nb\n) = f(\n)"), "");
  EXPECT_EQ(errorsOf("program p(\na\n:\nf32\n[\n2\n]\nlocal\n) {}"), "");
}

TEST(ParserTest, LineGoesOnBeforeBrace) {
  EXPECT_EQ(errorsOf("program p()\n\n{\n}\nschedule s for p\n{}\nfn f()\n{}"),
            "");
}

TEST(ParserTest, LineEndsBeforeAnOperator) {
  EXPECT_EQ(stmtErrors("let a = b\n- c"),
            "3:1-2 expected a statement, found '-'\n");
  EXPECT_EQ(stmtErrors("let a = b\n(c)"),
            "3:1-2 expected a statement, found '('\n");
  EXPECT_EQ(stmtErrors("let a = f\n(c)"),
            "3:1-2 expected a statement, found '('\n");
  EXPECT_EQ(stmtErrors("p\n<- 1"),
            "2:2 expected '<-' after 'p', found end of line\n"
            "3:1-3 expected a statement, found '<-'\n");
  EXPECT_EQ(stmtErrors("let\na = 1"),
            "2:4 expected a name, found end of line\n"
            "3:1-2 expected 'let' before 'a'; only an inout is stored to, "
            "with '<-' => let a\n");
}

TEST(ParserTest, SemicolonsEndStatements) {
  EXPECT_EQ(stmtErrors(";; let a = 1; let b = 2;; p <- a;"), "");
  EXPECT_EQ(stmtErrors("let a = 1 let b = 2"),
            "2:11-14 expected end of statement, found keyword 'let'\n");
  EXPECT_EQ(errorsOf("program p() { let a = 1 } program q() { return 1 }"), "");
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

TEST(ParserTest, RangesHoldWhatWasWritten) {
  std::string text = "program q(inout p: f32[N] local) {\n"
                     "  let (a, b) = (x + y) * f(z, 0 -> 1)\n"
                     "}\n"
                     "schedule s for q { let u = split a as rs_ag }\n";
  Parsed parsed(text);
  auto textOf = [&](SourceRange range) {
    return parsed.source.getText(range).str();
  };
  const auto *program = llvm::cast<ast::ProgramItem>(parsed.file->items[0]);
  EXPECT_EQ(textOf(program->range), text.substr(0, text.find("schedule") - 1));
  EXPECT_EQ(textOf(program->name.range), "q");
  const ast::ProgramArg &arg = program->args[0];
  EXPECT_EQ(textOf(arg.range), "inout p: f32[N] local");
  EXPECT_EQ(textOf(*arg.inout), "inout");
  EXPECT_EQ(textOf(arg.type->range), "f32[N] local");
  EXPECT_EQ(textOf(arg.type->elementRange), "f32");
  EXPECT_EQ(textOf(arg.type->states[0].range), "local");
  const auto *let = llvm::cast<ast::LetStmt>(program->block->stmts[0]);
  EXPECT_EQ(textOf(let->range), "let (a, b) = (x + y) * f(z, 0 -> 1)");
  EXPECT_EQ(textOf(let->names[1].range), "b");
  const auto *product = llvm::cast<ast::BinaryExpr>(let->value);
  EXPECT_EQ(textOf(product->range), "(x + y) * f(z, 0 -> 1)");
  EXPECT_EQ(textOf(product->opRange), "*");
  EXPECT_EQ(textOf(product->lhs->range), "(x + y)");
  const auto *call = llvm::cast<ast::CallExpr>(product->rhs);
  EXPECT_EQ(textOf(call->callee.range), "f");
  EXPECT_EQ(textOf(call->args[1]->range), "0 -> 1");
  const auto *schedule = llvm::cast<ast::ScheduleItem>(parsed.file->items[1]);
  EXPECT_EQ(textOf(schedule->program.range), "q");
  EXPECT_EQ(textOf(schedule->directives[0]->range), "let u = split a as rs_ag");
  EXPECT_EQ(textOf(schedule->directives[0]->wordRange), "split");
}

TEST(ParserTest, TreeShowsPlaces) {
  Parsed parsed("param x =\n  a + 1\n");
  EXPECT_EQ(showTree(*parsed.file, /*places=*/true), "param x 1:1\n"
                                                     "  sum 2:3\n"
                                                     "    name a 2:3\n"
                                                     "    + int 1 2:7\n");
}

//===----------------------------------------------------------------------===//
// Writing source
//===----------------------------------------------------------------------===//

/// The expression as written anew.
static std::string rewrite(const std::string &text) {
  Parsed parsed("param x = " + text);
  EXPECT_EQ(showErrors(parsed), "");
  std::string source = sourceOf(*parsed.file);
  EXPECT_EQ(treeOf(source), showTree(*parsed.file));
  return llvm::StringRef(source).drop_front(10).rtrim().str();
}

TEST(ParserTest, SourceHasOnlyTheParenthesesItNeeds) {
  EXPECT_EQ(rewrite("((a)) + (b * c)"), "a + b * c");
  EXPECT_EQ(rewrite("(a + b) * c"), "(a + b) * c");
  EXPECT_EQ(rewrite("a - (b - c)"), "a - (b - c)");
  EXPECT_EQ(rewrite("(a - b) - c"), "a - b - c");
  EXPECT_EQ(rewrite("a / (b * c)"), "a / (b * c)");
  EXPECT_EQ(rewrite("(a < b) == (c < d)"), "(a < b) == (c < d)");
  EXPECT_EQ(rewrite("-(a + b)"), "-(a + b)");
  EXPECT_EQ(rewrite("- -a < -b"), "--a < -b");
  EXPECT_EQ(rewrite("f((local), (local(x)) + 1, (local), local)"),
            "f((local), (local(x) + 1), (local), local)");
}

TEST(ParserTest, SamplesParseAndSurviveRewriting) {
  for (std::string name : {"adam", "attention", "crlf"}) {
    std::string path = std::string(CCN_PARSER_CORPUS) + "/" + name + ".ccn";
    Diagnostics diagnostics;
    std::unique_ptr<SourceFile> source = readSource(path, diagnostics);
    ASSERT_TRUE(source) << path;
    std::unique_ptr<ast::File> file = parse(*source, diagnostics);
    EXPECT_FALSE(diagnostics.hasErrors()) << path;
    EXPECT_FALSE(file->items.empty());
    std::string written = sourceOf(*file);
    EXPECT_EQ(treeOf(written), showTree(*file));
    // Written again, it no longer changes.
    EXPECT_EQ(sourceOf(*Parsed(written).file), written);
  }
}
