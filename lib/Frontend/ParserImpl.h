//===- ParserImpl.h - The recursive-descent parser --------------*- C++ -*-===//
//
// There is one function for each production of LANGUAGE.md; Parse*.cpp have
// them, sorted by topic.
//
// Errors: a function that fails has reported exactly one error and leaves the
// parser at the wrong token. Its callers give up too, up to one that knows
// where to continue: at the end of the statement, of the list element, or of
// the item (see the skip functions). There, the unreadable part becomes an
// ErrorExpr or a missing name.
//
// Lines: `at` does not see tokens after the end of the statement's line, so
// productions need not deal with newlines.
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

/// Parses one file.
class Parser {
public:
  Parser(const SourceFile &source, Diagnostics &diagnostics);

  std::unique_ptr<ast::File> parseFile();

private:
  //===------------------------------------------------------------------===//
  // Tokens (Parser.cpp)
  //===------------------------------------------------------------------===//

  /// Returns the current token and moves to the next one.
  Token consume();
  /// The token after the current one.
  const Token &peek();
  llvm::StringRef getText(const Token &token) const {
    return source.getText(token.range);
  }

  /// Whether the current token is on a new line that ends the statement: no
  /// bracket is open, no operator awaits its operand, and the token is not `{`.
  bool isAtLineEnd() const;
  bool isAtStatementEnd() const;
  bool at(TokenKind kind) const { return tok.is(kind) && !isAtLineEnd(); }
  /// Whether the current token is this word, as a name.
  bool atWord(llvm::StringRef word) const {
    return at(TokenKind::Name) && getText(tok) == word;
  }
  /// Consumes a token of this kind if it is the current one.
  bool accept(TokenKind kind);
  SourceRange rangeFrom(uint32_t begin) const { return {begin, previousEnd}; }

  //===------------------------------------------------------------------===//
  // Errors and recovery (Parser.cpp)
  //===------------------------------------------------------------------===//

  DiagnosticHandle error(SourceRange range, const llvm::Twine &message);
  /// Reports "expected WHAT, found ...HINT" at the current token.
  DiagnosticHandle errorExpected(const llvm::Twine &what,
                                 const llvm::Twine &hint = "");
  std::string describeFound() const;
  /// Consumes a token of this kind, or reports that it was expected.
  bool expect(TokenKind kind, const llvm::Twine &hint = "");
  /// Consumes the closing bracket of `open`, or reports that `what` was
  /// expected (such as "',' or ')'"), with a note at `open`.
  bool expectClose(TokenKind close, SourceRange open, llvm::StringRef what);

  /// After an error in a statement that starts at `begin`: moves to its end.
  void skipStatement(uint32_t begin);
  /// After an error in an element of a list with `brackets` open brackets:
  /// moves to the next ',' or `close`, and returns whether there is one.
  bool skipListElement(unsigned brackets, TokenKind close);
  /// After an error in the head of an item: moves to its '{', and returns
  /// whether there is one.
  bool skipToBlock();
  /// After an error between items: moves to where the next item may start.
  void skipItem(uint32_t begin);

  /// Parses `open element (',' element)* close`; the opening bracket is the
  /// current token. With `recover`, skips an element that fails.
  bool parseList(TokenKind close, bool recover,
                 llvm::function_ref<bool()> parseElement);
  /// Parses `{ element (end element)* }` and returns its range; none if there
  /// is no block.
  std::optional<SourceRange> parseBraces(llvm::StringRef elementName,
                                         llvm::function_ref<bool()> parseOne);
  /// Reports an error if tokens follow the statement on its line.
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
  /// Raises `height` to at least that of the dimension's expression.
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
  /// Reports an operator that ccn does not have, if it is the current token.
  bool reportForeignOperator();
  /// Like parseExpr, but returns an ErrorExpr on failure.
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
  /// Reports an error if an item without braces does not end at its line's end.
  void expectItemEnd();
  bool isBroken() const { return numErrors != itemErrors; }

  //===------------------------------------------------------------------===//
  // Schedules (ParseSchedule.cpp)
  //===------------------------------------------------------------------===//

  const ast::Item *parseSchedule(uint32_t begin, const ast::Name &name);
  bool parseDirective(llvm::SmallVectorImpl<const ast::Directive *> &out);
  /// The primitive that a word names. If the word is misspelt, reports that and
  /// returns the primitive that it seems to mean.
  const ast::Primitive *parsePrimitiveWord();
  bool parseTargets(ast::Directive &directive);
  bool parseClause(ast::Directive &directive);
  /// Whether the clause is present. None if a required clause is missing, which
  /// is reported.
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
  /// Where the previous token ends.
  uint32_t previousEnd = 0;
  /// Whether the statement goes on after the previous token, even on a new
  /// line.
  bool lineGoesOn = false;
  /// How many ( and [ of the current statement are open.
  unsigned openBrackets = 0;
  /// The current level of brackets and unary operators in the expression.
  unsigned nesting = 0;

  /// How many errors there were so far, and at the start of the current item.
  unsigned numErrors = 0;
  unsigned itemErrors = 0;
  /// How many errors `diagnostics` had before parsing.
  unsigned firstError = 0;

  /// The column of the innermost item's first byte, to distinguish an item that
  /// is written inside of it from one after a missing '}'.
  uint32_t itemColumn = 0;
  bool isItemNested = false;
  /// The inout arguments of the current program.
  llvm::SmallVector<llvm::StringRef> inouts;
};

/// Increases a counter by one during its lifetime.
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
