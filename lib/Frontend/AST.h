//===- AST.h - The syntax tree of a .ccn file -------------------*- C++ -*-===//
//
// The parser makes the tree and the checker reads it. The tree says what was
// written and where, but not what it means: names are not resolved, constants
// not evaluated, types not checked. LANGUAGE.md has the grammar.
//
// Nodes lie in their File's arena. They are immutable once parsed, and
// trivially destructible, so that freeing a tree never recurses. Strings point
// into the SourceFile (or the arena), which outlives the tree. Use llvm::isa,
// cast and dyn_cast on Expr, CallArg, Stmt, Item and Directive.
//
// After a syntax error the tree holds everything that could be read. An
// expression that could not be read is an ErrorExpr, a name that could not be
// read is empty (Name::isMissing), and the item's `broken` flag is set. Code
// that reads the tree must report no more errors there.
//
// Brackets and unary operators nest at most `maxNesting` deep. No expression
// tree is higher than `maxHeight`; only a long operator chain (`a + b + c + …`,
// which is left-deep) can be that high. Walk such a chain along
// `BinaryExpr::lhs` in a loop (see `getLeftSpine`) and recurse only into right
// operands. Then the recursion is less than 4 * maxNesting frames deep.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_AST_H
#define CCN_LIB_FRONTEND_AST_H

#include "lib/Frontend/ASTDirectives.h"
#include "lib/Frontend/ASTExpr.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/raw_ostream.h"

namespace ccn::frontend::ast {

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// A statement; its kind says which subclass it is.
class Stmt {
public:
  enum class Kind : uint8_t { Let, Store, Return };

  const Kind kind;
  const SourceRange range;

protected:
  Stmt(Kind kind, SourceRange range) : kind(kind), range(range) {}
};

/// `let a = value`, `let (a, b) = value`.
class LetStmt : public Stmt {
public:
  LetStmt(SourceRange range, llvm::ArrayRef<Name> names, bool inParens,
          const Expr *value)
      : Stmt(Kind::Let, range), names(names), inParens(inParens), value(value) {
  }
  static bool classof(const Stmt *stmt) { return stmt->kind == Kind::Let; }

  /// At least one.
  const llvm::ArrayRef<Name> names;
  /// Whether the names are in parentheses; `let (a) = x` expects a tuple of one
  /// value.
  const bool inParens;
  const Expr *const value;
};

/// `target <- value`.
class StoreStmt : public Stmt {
public:
  StoreStmt(SourceRange range, Name target, const Expr *value)
      : Stmt(Kind::Store, range), target(target), value(value) {}
  static bool classof(const Stmt *stmt) { return stmt->kind == Kind::Store; }

  const Name target;
  const Expr *const value;
};

/// `return a, b`.
class ReturnStmt : public Stmt {
public:
  ReturnStmt(SourceRange range, llvm::ArrayRef<const Expr *> values)
      : Stmt(Kind::Return, range), values(values) {}
  static bool classof(const Stmt *stmt) { return stmt->kind == Kind::Return; }

  /// At least one.
  const llvm::ArrayRef<const Expr *> values;
};

/// `{ ... }`; the range includes the braces.
struct Block {
  SourceRange range;
  llvm::ArrayRef<const Stmt *> stmts;
};

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// An item of a file; its kind says which subclass it is.
class Item {
public:
  enum class Kind : uint8_t { Mesh, Param, Fn, Program, Schedule };

  const Kind kind;
  const SourceRange range;
  const Name name;
  /// Whether a syntax error was reported in the item, so that something may be
  /// missing.
  const bool broken;

protected:
  Item(Kind kind, SourceRange range, Name name, bool broken)
      : kind(kind), range(range), name(name), broken(broken) {}
};

/// `dp = 2`.
struct MeshAxis {
  SourceRange range;
  Name name;
  const Expr *size = nullptr;
};

/// `mesh m (dp = 2, tp = 4)`.
class MeshItem : public Item {
public:
  MeshItem(SourceRange range, Name name, bool broken,
           llvm::ArrayRef<MeshAxis> axes)
      : Item(Kind::Mesh, range, name, broken), axes(axes) {}
  static bool classof(const Item *item) { return item->kind == Kind::Mesh; }

  const llvm::ArrayRef<MeshAxis> axes;
};

/// `param N = 1024`.
class ParamItem : public Item {
public:
  ParamItem(SourceRange range, Name name, bool broken, const Expr *value)
      : Item(Kind::Param, range, name, broken), value(value) {}
  static bool classof(const Item *item) { return item->kind == Kind::Param; }

  const Expr *const value;
};

/// `x` or `x: f32[N]`.
struct FnParam {
  SourceRange range;
  Name name;
  /// Null if left out.
  const TypeSpec *type = nullptr;
};

/// `fn f(x, y) = expr` or `fn f(x, y) { ... }`.
class FnItem : public Item {
public:
  FnItem(SourceRange range, Name name, bool broken,
         llvm::ArrayRef<FnParam> params, const Expr *result, const Block *block)
      : Item(Kind::Fn, range, name, broken), params(params), result(result),
        block(block) {}
  static bool classof(const Item *item) { return item->kind == Kind::Fn; }

  const llvm::ArrayRef<FnParam> params;
  /// One of the two is set; both are null after a syntax error in the head.
  const Expr *const result;
  const Block *const block;
};

/// `inout p: f32[N] sliced(0)`.
struct ProgramArg {
  SourceRange range;
  /// The word `inout`, if there is one.
  std::optional<SourceRange> inout;
  Name name;
  /// Null only after a syntax error.
  const TypeSpec *type = nullptr;
};

/// `program adam(...) { ... }`.
class ProgramItem : public Item {
public:
  ProgramItem(SourceRange range, Name name, bool broken,
              llvm::ArrayRef<ProgramArg> args, const Block *block)
      : Item(Kind::Program, range, name, broken), args(args), block(block) {}
  static bool classof(const Item *item) { return item->kind == Kind::Program; }

  const llvm::ArrayRef<ProgramArg> args;
  /// Null only after a syntax error in the head.
  const Block *const block;
};

/// `schedule fused for adam { ... }`.
class ScheduleItem : public Item {
public:
  ScheduleItem(SourceRange range, Name name, bool broken, Name program,
               llvm::ArrayRef<const Directive *> directives)
      : Item(Kind::Schedule, range, name, broken), program(program),
        directives(directives) {}
  static bool classof(const Item *item) { return item->kind == Kind::Schedule; }

  const Name program;
  const llvm::ArrayRef<const Directive *> directives;
};

/// A parsed file: its items in the order in which they are written, and the
/// memory of all nodes.
class File {
public:
  explicit File(const SourceFile &source) : source(source) {}
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  const SourceFile &source;
  llvm::ArrayRef<const Item *> items;
  /// The memory in which the parser (and tests) create nodes.
  llvm::BumpPtrAllocator arena;
};

/// Prints the tree for `--emit ast`: one node per line, indented. With
/// `places`, each line ends with the node's `line:column`.
void print(const File &file, llvm::raw_ostream &os, bool places = true);

/// Prints the tree as .ccn text that parses to the same tree. Comments, blank
/// lines and needless parentheses are lost.
void printSource(const File &file, llvm::raw_ostream &os);

} // namespace ccn::frontend::ast

#endif // CCN_LIB_FRONTEND_AST_H
