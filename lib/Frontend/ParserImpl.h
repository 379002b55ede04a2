//===- ParserImpl.h - The recursive-descent parser --------------*- C++ -*-===//
//
// One function a production of LANGUAGE.md, spread over Parse*.cpp by concern.
//
// Errors: a function that fails has reported exactly one error and leaves the
// parser at the offending token; its callers give up too, up to one that knows
// where to go on: the end of the statement, of the list element, of the item
// (see the skip functions). What could not be read becomes an ErrorExpr or a
// missing name there.
//
// Lines: `at` does not see tokens past the end of the statement's line, so no
// production needs to think of newlines.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_PARSERIMPL_H
#define CCN_LIB_FRONTEND_PARSERIMPL_H

#include "lib/Frontend/AST.h"
#include "lib/Frontend/Diagnostics.h"
#include "lib/Frontend/Lexer.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>

namespace ccn::frontend {

/// An expression and the height of its tree; null after an error.
struct ParsedExpr {
  ast::Expr *expr = nullptr;
  unsigned height = 1;

  explicit operator bool() const { return expr != nullptr; }
};

class Parser {
public:
  Parser(const SourceFile &source, Diagnostics &diagnostics);

  std::unique_ptr<ast::File> parseFile();

private:
  //===------------------------------------------------------------------===//
  // Tokens (Parser.cpp)
  //===------------------------------------------------------------------===//

  /// Takes the current token and moves to the next one.
  Token consume();
  /// The token after the current one.
  const Token &peek();
  llvm::StringRef getText(const Token &token) const {
    return source.getText(token.range);
  }

  /// The current token is on a new line, which ends the statement: no bracket
  /// is open, no operator awaits its operand, and no `{` follows.
  bool isAtLineEnd() const;
  bool isAtStatementEnd() const;
  bool at(TokenKind kind) const { return tok.is(kind) && !isAtLineEnd(); }
  /// At a name that reads so.
  bool atWord(llvm::StringRef word) const {
    return at(TokenKind::Name) && getText(tok) == word;
  }
  /// Takes a token of this kind if it is there.
  bool accept(TokenKind kind);
  SourceRange rangeFrom(uint32_t begin) const { return {begin, previousEnd}; }

  //===------------------------------------------------------------------===//
  // Errors and recovery (Parser.cpp)
  //===------------------------------------------------------------------===//

  DiagnosticHandle error(SourceRange range, const llvm::Twine &message);
  /// "expected WHAT, found ...HINT" at the current token.
  DiagnosticHandle errorExpected(const llvm::Twine &what,
                                 const llvm::Twine &hint = "");
  std::string describeFound() const;
  /// Takes a token of this kind or reports that it was expected.
  bool expect(TokenKind kind, const llvm::Twine &hint = "");
  /// Takes the closing bracket of `open`, or reports what was expected instead
  /// (`what`, such as "',' or ')'") with a note at `open`.
  bool expectClose(TokenKind close, SourceRange open, llvm::StringRef what);

  /// After an error in a statement that starts at `begin`: moves to its end.
  void skipStatement(uint32_t begin);
  /// After an error in the element of a list with `brackets` open brackets:
  /// moves to the next ',' or `close` and says whether there is one.
  bool skipListElement(unsigned brackets, TokenKind close);
  /// After an error in the head of an item: moves to its '{' if there is one.
  bool skipToBlock();
  /// After an error between items: moves to where the next may start.
  void skipItem(uint32_t begin);

  /// Parses elements `open element (',' element)* close`; the opening bracket
  /// is the current token. An element that fails is skipped when `recover`.
  bool parseList(TokenKind close, bool recover,
                 llvm::function_ref<bool()> parseElement);
  /// Parses `{ element (end element)* }`, the opening brace included. Says
  /// where it stands; nothing if there is no block.
  std::optional<SourceRange> parseBraces(llvm::StringRef elementName,
                                         llvm::function_ref<bool()> parseOne);
  /// Reports what stands between the end of a statement and its line's end.
  bool expectEnd(const llvm::Twine &what);

  //===------------------------------------------------------------------===//
  // Names, types (ParseTypes.cpp)
  //===------------------------------------------------------------------===//

  bool parseName(ast::Name &name, const llvm::Twine &what);
  /// NAME | '(' NAME (',' NAME)* ')'
  bool parseNames(llvm::SmallVectorImpl<ast::Name> &names, bool &inParens);
  /// NAME (',' NAME)*
  bool parseNameList(llvm::SmallVectorImpl<ast::Name> &names);
  ast::TypeSpec *parseType();
  /// Raises `height` to that of the dimension's expression.
  bool parseLayoutState(ast::LayoutState &state, unsigned &height);
  bool parseAxis(ast::LayoutState &state);
  std::optional<ast::LayoutState::Kind> getStateKind(const Token &token) const;

  //===------------------------------------------------------------------===//
  // Expressions (ParseExpr.cpp)
  //===------------------------------------------------------------------===//

  ParsedExpr parseExpr();
  ParsedExpr parseSum();
  ParsedExpr parseProduct();
  ParsedExpr parseUnary();
  ParsedExpr parsePrimary();
  ParsedExpr parseNumber();
  ParsedExpr parseParens();
  ParsedExpr parseCall(const Token &callee);
  const ast::CallArg *parseCallArg(unsigned &height);
  const ast::CallArg *parseListArg(unsigned &height);
  const ast::CallArg *parseLayoutArg(unsigned &height);
  bool isAtLayoutArg();
  std::optional<ast::BinaryOp> getBinaryOp(unsigned precedence) const;
  ParsedExpr makeBinary(ast::BinaryOp op, SourceRange opRange, ParsedExpr lhs,
                        ParsedExpr rhs);
  /// Reports an operator that ccn has not, if one stands here.
  bool reportForeignOperator();
  /// parseExpr, with an ErrorExpr in place of what fails.
  const ast::Expr *parseExprOrError(bool &ok);

  //===------------------------------------------------------------------===//
  // Statements (ParseStmts.cpp)
  //===------------------------------------------------------------------===//

  const ast::Block *parseBlock();
  bool parseStmt(llvm::SmallVectorImpl<const ast::Stmt *> &stmts);
  bool parseLet(uint32_t begin,
                llvm::SmallVectorImpl<const ast::Stmt *> &stmts);
  bool parseReturn(uint32_t begin,
                   llvm::SmallVectorImpl<const ast::Stmt *> &stmts);
  bool parseStore(llvm::SmallVectorImpl<const ast::Stmt *> &stmts);
  bool expectLetAssign();
  bool isInout(llvm::StringRef name) const;

  //===------------------------------------------------------------------===//
  // Items (ParseItems.cpp)
  //===------------------------------------------------------------------===//

  void parseItem();
  void parseItemAs(TokenKind keyword);
  void parseUnknownItem();
  const ast::Item *parseMesh(uint32_t begin, const ast::Name &name);
  const ast::Item *parseParam(uint32_t begin, const ast::Name &name);
  const ast::Item *parseFn(uint32_t begin, const ast::Name &name);
  const ast::Item *parseProgram(uint32_t begin, const ast::Name &name);
  bool parseProgramArg(llvm::SmallVectorImpl<ast::ProgramArg> &args);
  bool parseFnParam(llvm::SmallVectorImpl<ast::FnParam> &params);
  /// An item without braces ends at its line's end.
  void expectItemEnd();
  bool isBroken() const { return numErrors != itemErrors; }

  //===------------------------------------------------------------------===//
  // Schedules (ParseSchedule.cpp)
  //===------------------------------------------------------------------===//

  const ast::Item *parseSchedule(uint32_t begin, const ast::Name &name);
  bool parseDirective(llvm::SmallVectorImpl<const ast::Directive *> &out);
  /// The primitive that a word names, or seems to mean, which is reported.
  const ast::Primitive *parsePrimitiveWord();
  bool parseTargets(ast::Directive &directive);
  bool parseClause(ast::Directive &directive);
  /// Whether the clause is there; nothing if it has to be and is not, which is
  /// reported with what stands in its place.
  std::optional<bool> parseClauseKeyword(const ast::Primitive &primitive);
  bool parseWord(ast::Directive &directive);
  const ast::AlgorithmClause *parseAlgorithm();
  bool parseSynthArg(llvm::SmallVectorImpl<ast::SynthArg> &args);
  ast::StringLiteral parseString();

  //===------------------------------------------------------------------===//
  // Memory
  //===------------------------------------------------------------------===//

  template <typename Node, typename... Args> Node *create(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<Node>,
                  "the arena runs no destructors");
    return new (file->arena.Allocate<Node>()) Node(std::forward<Args>(args)...);
  }
  template <typename T>
  llvm::ArrayRef<T> copy(const llvm::SmallVectorImpl<T> &values) {
    return llvm::ArrayRef<T>(values).copy(file->arena);
  }

  const SourceFile &source;
  Diagnostics &diagnostics;
  Lexer lexer;
  std::unique_ptr<ast::File> file;
  llvm::SmallVector<const ast::Item *> items;

  Token tok;
  Token ahead;
  bool hasAhead = false;
  /// Where the token before the current one ends.
  uint32_t previousEnd = 0;
  /// The token before the current one asks for more: the line goes on.
  bool lineGoesOn = false;
  /// Open ( and [ of the statement at hand.
  unsigned openBrackets = 0;
  /// Levels of brackets and unary operators of the expression at hand.
  unsigned nesting = 0;

  /// Errors in what was consumed so far, and at the current item's start.
  unsigned numErrors = 0;
  unsigned itemErrors = 0;
  /// Errors the sink had before.
  unsigned firstError = 0;

  /// The innermost item's first byte's column, to tell an item written inside
  /// of it from one after a missing '}'.
  uint32_t itemColumn = 0;
  bool isItemNested = false;
  /// The inout arguments of the program at hand.
  llvm::SmallVector<llvm::StringRef> inouts;
};

/// Keeps a counter up by one while it lives.
class Level {
public:
  explicit Level(unsigned &counter) : counter(counter) { ++counter; }
  ~Level() { --counter; }
  Level(const Level &) = delete;
  Level &operator=(const Level &) = delete;

private:
  unsigned &counter;
};

} // namespace ccn::frontend

#endif // CCN_LIB_FRONTEND_PARSERIMPL_H
