//===- AST.h - The syntax tree of a .ccn file -------------------*- C++ -*-===//
//
// What the parser makes and the checker reads. The tree says what was written
// and where, nothing about what it means: names are not resolved, constants
// not evaluated, types not checked. See LANGUAGE.md for the grammar.
//
// Nodes live in their File's arena, are immutable once parsed and trivially
// destructible, so that freeing a tree never recurses. Strings point into the
// SourceFile (or the arena), which outlives the tree. Use llvm::isa, cast and
// dyn_cast on Expr, CallArg, Stmt, Item and Directive.
//
// After a syntax error the tree holds what could be read: an expression that
// could not is an ErrorExpr, a name that could not is empty (Name::isMissing),
// and the item's `broken` flag is set. Whoever reads the tree says nothing
// more about those places.
//
// Depth: brackets and unary operators nest at most `maxNesting` deep, and no
// expression tree is higher than `maxHeight`, which only a long operator chain
// (`a + b + c + …`, left-deep) reaches. Walk chains with `BinaryExpr::lhs` in a
// loop (see `getLeftSpine`) and recurse into right operands only: the recursion
// then stays below 4 * maxNesting frames.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_AST_H
#define CCN_LIB_FRONTEND_AST_H

#include "lib/Frontend/Source.h"
#include "runtime/tensor/ElementType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>

namespace ccn::frontend::ast {

/// Levels of brackets and unary operators within one expression; the brackets
/// of a list or a layout count with those of the call that they stand in.
inline constexpr unsigned maxNesting = 256;
/// Height of an expression tree, and so the length of an operator chain.
inline constexpr unsigned maxHeight = 10000;

using runtime::ElementType;
enum class Reduction : uint8_t { Sum, Prod, Max, Min };

/// As written in the language: "f32", "sum".
llvm::StringRef getSpelling(ElementType type);
llvm::StringRef getSpelling(Reduction reduction);
std::optional<ElementType> getElementType(llvm::StringRef spelling);
std::optional<Reduction> getReduction(llvm::StringRef spelling);

/// A name where it is written.
struct Name {
  llvm::StringRef text;
  SourceRange range;

  /// A syntax error stands in the name's place.
  bool isMissing() const { return text.empty(); }
};

/// A string literal: its value, with escapes replaced, and its range, quotes
/// included.
struct StringLiteral {
  llvm::StringRef value;
  SourceRange range;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// The range of an expression in parentheses includes them; there is no node
/// for the parentheses themselves.
class Expr {
public:
  enum class Kind : uint8_t {
    Int,
    Float,
    Bool,
    Name,
    Unary,
    Binary,
    Call,
    Error
  };

  const Kind kind;
  SourceRange range;

protected:
  Expr(Kind kind, SourceRange range) : kind(kind), range(range) {}
};

/// `12`, `1_000_000`, `0xff`: always non-negative; `-1` is a UnaryExpr. It has
/// no type of its own.
class IntExpr : public Expr {
public:
  IntExpr(SourceRange range, llvm::StringRef text, uint64_t value)
      : Expr(Kind::Int, range), text(text), value(value) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind::Int; }

  const llvm::StringRef text; ///< as written
  const uint64_t value;
};

/// `0.5`, `1e-8`. The value is `text` rounded to the nearest f64, finite, and 0
/// only when written as such; for exact rounding to another format, parse
/// `text` (drop the underscores) anew.
class FloatExpr : public Expr {
public:
  FloatExpr(SourceRange range, llvm::StringRef text, double value)
      : Expr(Kind::Float, range), text(text), value(value) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind::Float; }

  const llvm::StringRef text; ///< as written
  const double value;
};

/// `true`, `false`.
class BoolExpr : public Expr {
public:
  BoolExpr(SourceRange range, bool value)
      : Expr(Kind::Bool, range), value(value) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind::Bool; }

  const bool value;
};

/// A use of a name: a value, a constant, an axis, a reduction, ...
class NameExpr : public Expr {
public:
  NameExpr(SourceRange range, llvm::StringRef name)
      : Expr(Kind::Name, range), name(name) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind::Name; }

  const llvm::StringRef name;
};

enum class UnaryOp : uint8_t { Neg, Plus };
enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge
};

/// As written: "-", "<=".
llvm::StringRef getSpelling(UnaryOp op);
llvm::StringRef getSpelling(BinaryOp op);
bool isComparison(BinaryOp op);
/// Higher binds tighter: 1 for comparisons, 2 for sums, 3 for products.
unsigned getPrecedence(BinaryOp op);

class UnaryExpr : public Expr {
public:
  UnaryExpr(SourceRange range, UnaryOp op, SourceRange opRange,
            const Expr *operand)
      : Expr(Kind::Unary, range), op(op), opRange(opRange), operand(operand) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind::Unary; }

  const UnaryOp op;
  const SourceRange opRange;
  const Expr *const operand;
};

/// Arithmetic associates to the left. A comparison is never the direct operand
/// of a comparison unless it stands in parentheses.
class BinaryExpr : public Expr {
public:
  BinaryExpr(SourceRange range, BinaryOp op, SourceRange opRange,
             const Expr *lhs, const Expr *rhs)
      : Expr(Kind::Binary, range), op(op), opRange(opRange), lhs(lhs),
        rhs(rhs) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind::Binary; }

  const BinaryOp op;
  const SourceRange opRange;
  const Expr *const lhs;
  const Expr *const rhs;
};

class CallArg;

/// `callee(args)`. Collectives, casts and functions are all calls.
class CallExpr : public Expr {
public:
  CallExpr(SourceRange range, Name callee, llvm::ArrayRef<const CallArg *> args)
      : Expr(Kind::Call, range), callee(callee), args(args) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind::Call; }

  const Name callee;
  const llvm::ArrayRef<const CallArg *> args;
};

/// Stands for what could not be read; the error is already reported.
class ErrorExpr : public Expr {
public:
  explicit ErrorExpr(SourceRange range) : Expr(Kind::Error, range) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind::Error; }
};

/// The binary operators down the left side of `expr`, innermost first, so that
/// a loop can evaluate a chain: start with `spine.front()->lhs`, which is no
/// BinaryExpr, and apply each operator with its `rhs`. Empty when `expr` is no
/// BinaryExpr.
llvm::SmallVector<const BinaryExpr *> getLeftSpine(const Expr *expr);

//===----------------------------------------------------------------------===//
// Layout states and types
//===----------------------------------------------------------------------===//

/// One state of a layout, `sliced(0, tp)`, as written: the axis may be absent.
struct LayoutState {
  enum class Kind : uint8_t { Replicated, Sliced, Partial, Local };

  Kind kind = Kind::Replicated;
  SourceRange range;
  /// Sliced only: the dimension, a constant.
  const Expr *dim = nullptr;
  /// Partial only. Absent after a syntax error.
  std::optional<Reduction> reduction;
  SourceRange reductionRange;
  /// Absent when left out, and always for replicated.
  std::optional<Name> axis;
};

llvm::StringRef getSpelling(LayoutState::Kind kind);
std::optional<LayoutState::Kind> getLayoutStateKind(llvm::StringRef spelling);

/// `f16[N, 4] sliced(0) scattered`.
struct TypeSpec {
  SourceRange range;
  ElementType element = ElementType::F32;
  SourceRange elementRange;
  /// The extents; a type without brackets, or with empty ones, is a scalar.
  llvm::ArrayRef<const Expr *> shape;
  llvm::ArrayRef<LayoutState> states;
  /// Where `scattered` stands, if it does.
  std::optional<SourceRange> scattered;
};

//===----------------------------------------------------------------------===//
// Call arguments
//===----------------------------------------------------------------------===//

class CallArg {
public:
  enum class Kind : uint8_t { Expr, Pair, List, Type, Layout };

  const Kind kind;
  const SourceRange range;

protected:
  CallArg(Kind kind, SourceRange range) : kind(kind), range(range) {}
};

class ExprArg : public CallArg {
public:
  explicit ExprArg(const Expr *value)
      : CallArg(Kind::Expr, value->range), value(value) {}
  static bool classof(const CallArg *arg) { return arg->kind == Kind::Expr; }

  const Expr *const value;
};

/// `from -> to`, as in `all_to_all(x, 0 -> 1)`.
class PairArg : public CallArg {
public:
  PairArg(SourceRange range, const Expr *from, const Expr *to)
      : CallArg(Kind::Pair, range), from(from), to(to) {}
  static bool classof(const CallArg *arg) { return arg->kind == Kind::Pair; }

  const Expr *const from;
  const Expr *const to;
};

/// `[a, b]`, as in `reshape(x, [N, 4])`.
class ListArg : public CallArg {
public:
  ListArg(SourceRange range, llvm::ArrayRef<const Expr *> elements)
      : CallArg(Kind::List, range), elements(elements) {}
  static bool classof(const CallArg *arg) { return arg->kind == Kind::List; }

  const llvm::ArrayRef<const Expr *> elements;
};

/// `f32`, as in `cast(x, f32)`.
class TypeArg : public CallArg {
public:
  TypeArg(SourceRange range, ElementType element)
      : CallArg(Kind::Type, range), element(element) {}
  static bool classof(const CallArg *arg) { return arg->kind == Kind::Type; }

  const ElementType element;
};

/// `sliced(0, tp) local(dp)`, as in `reshard(x, sliced(0))`. The words are no
/// keywords: a lone `local` or `replicated` is read as a layout too, and
/// whoever resolves names takes it for a value if one of that name is in scope
/// (see `asName`).
class LayoutArg : public CallArg {
public:
  LayoutArg(SourceRange range, llvm::ArrayRef<LayoutState> states)
      : CallArg(Kind::Layout, range), states(states) {}
  static bool classof(const CallArg *arg) { return arg->kind == Kind::Layout; }

  /// The argument as a name, when it is a lone `local` or `replicated`.
  std::optional<Name> asName() const;

  const llvm::ArrayRef<LayoutState> states;
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

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
  /// The names stand in parentheses; `let (a) = x` is a tuple of one.
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

/// `{ ... }`, braces included in the range.
struct Block {
  SourceRange range;
  llvm::ArrayRef<const Stmt *> stmts;
};

//===----------------------------------------------------------------------===//
// Schedule directives
//===----------------------------------------------------------------------===//

class Directive {
public:
  enum class Kind : uint8_t {
    Split,
    Reorder,
    SliceState,
    Fuse,
    Overlap,
    Algorithm,
    Protocol,
    Sms,
    Bucket,
    Order
  };

  /// What every directive has: the names bound by a leading `let` (empty
  /// without one), whether they stand in parentheses, and the range of the
  /// primitive's word.
  struct Head {
    SourceRange range;
    SourceRange wordRange;
    llvm::ArrayRef<Name> results;
    bool inParens = false;
  };

  const Kind kind;
  const SourceRange range;
  const SourceRange wordRange;
  const llvm::ArrayRef<Name> results;
  const bool inParens;

protected:
  Directive(Kind kind, const Head &head)
      : kind(kind), range(head.range), wordRange(head.wordRange),
        results(head.results), inParens(head.inParens) {}
};

/// As written: "split", "slice_state".
llvm::StringRef getSpelling(Directive::Kind kind);
std::optional<Directive::Kind> getDirectiveKind(llvm::StringRef spelling);

enum class SplitForm : uint8_t { RsAg, ReduceBroadcast, Hierarchical };
enum class ProtocolKind : uint8_t { LL, Lamport, Simple, Push };
llvm::StringRef getSpelling(SplitForm form);
llvm::StringRef getSpelling(ProtocolKind protocol);
std::optional<SplitForm> getSplitForm(llvm::StringRef spelling);
std::optional<ProtocolKind> getProtocolKind(llvm::StringRef spelling);

/// `split x [as form]`.
class SplitDirective : public Directive {
public:
  SplitDirective(const Head &head, Name target, std::optional<SplitForm> form)
      : Directive(Kind::Split, head), target(target), form(form) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Split; }

  const Name target;
  const std::optional<SplitForm> form;
};

/// `reorder gather after v, …`.
class ReorderDirective : public Directive {
public:
  ReorderDirective(const Head &head, Name gather, llvm::ArrayRef<Name> after)
      : Directive(Kind::Reorder, head), gather(gather), after(after) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Reorder; }

  const Name gather;
  const llvm::ArrayRef<Name> after;
};

/// `slice_state t, …`.
class SliceStateDirective : public Directive {
public:
  SliceStateDirective(const Head &head, llvm::ArrayRef<Name> targets)
      : Directive(Kind::SliceState, head), targets(targets) {}
  static bool classof(const Directive *d) {
    return d->kind == Kind::SliceState;
  }

  const llvm::ArrayRef<Name> targets;
};

/// `fuse v, …`.
class FuseDirective : public Directive {
public:
  FuseDirective(const Head &head, llvm::ArrayRef<Name> targets)
      : Directive(Kind::Fuse, head), targets(targets) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Fuse; }

  const llvm::ArrayRef<Name> targets;
};

/// `overlap v, … [chunks n]`.
class OverlapDirective : public Directive {
public:
  OverlapDirective(const Head &head, llvm::ArrayRef<Name> targets,
                   const Expr *chunks)
      : Directive(Kind::Overlap, head), targets(targets), chunks(chunks) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Overlap; }

  const llvm::ArrayRef<Name> targets;
  /// A constant, or null when left out.
  const Expr *const chunks;
};

/// An argument of `synth(...)`: `ring`, `"dgx.json"`, `chunks = 4`.
struct SynthArg {
  SourceRange range;
  /// Before `=`, if there is one.
  std::optional<Name> key;
  /// One of the two is set. A bare name is a NameExpr.
  std::optional<StringLiteral> string;
  const Expr *value = nullptr;
};

/// `algorithm target = name | "file" | synth(...)`.
class AlgorithmDirective : public Directive {
public:
  enum class Source : uint8_t { Name, File, Synth };

  AlgorithmDirective(const Head &head, Name target, Source source,
                     SourceRange valueRange, Name name, StringLiteral file,
                     llvm::ArrayRef<SynthArg> synthArgs)
      : Directive(Kind::Algorithm, head), target(target), source(source),
        valueRange(valueRange), name(name), file(file), synthArgs(synthArgs) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Algorithm; }

  const Name target;
  const Source source;
  /// All that stands after `=`.
  const SourceRange valueRange;
  const Name name;                          ///< Source::Name
  const StringLiteral file;                 ///< Source::File
  const llvm::ArrayRef<SynthArg> synthArgs; ///< Source::Synth
};

/// `protocol target = ll | lamport | push | simple`.
class ProtocolDirective : public Directive {
public:
  ProtocolDirective(const Head &head, Name target,
                    std::optional<ProtocolKind> protocol)
      : Directive(Kind::Protocol, head), target(target), protocol(protocol) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Protocol; }

  const Name target;
  /// Absent after a syntax error only.
  const std::optional<ProtocolKind> protocol;
};

/// `sms target = n`.
class SmsDirective : public Directive {
public:
  SmsDirective(const Head &head, Name target, const Expr *count)
      : Directive(Kind::Sms, head), target(target), count(count) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Sms; }

  const Name target;
  const Expr *const count;
};

/// `bucket v, … size n`.
class BucketDirective : public Directive {
public:
  BucketDirective(const Head &head, llvm::ArrayRef<Name> targets,
                  const Expr *size)
      : Directive(Kind::Bucket, head), targets(targets), size(size) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Bucket; }

  const llvm::ArrayRef<Name> targets;
  const Expr *const size;
};

/// `order v, …`.
class OrderDirective : public Directive {
public:
  OrderDirective(const Head &head, llvm::ArrayRef<Name> targets)
      : Directive(Kind::Order, head), targets(targets) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Order; }

  const llvm::ArrayRef<Name> targets;
};

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

class Item {
public:
  enum class Kind : uint8_t { Mesh, Param, Fn, Program, Schedule };

  const Kind kind;
  const SourceRange range;
  const Name name;
  /// A syntax error was reported in it: something may be missing.
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
  /// Null when left out.
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
  /// One of the two is set; neither after a syntax error in the head.
  const Expr *const result;
  const Block *const block;
};

/// `inout p: f32[N] sliced(0)`.
struct ProgramArg {
  SourceRange range;
  /// Where `inout` stands, if it does.
  std::optional<SourceRange> inout;
  Name name;
  /// Null after a syntax error only.
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
  /// Null after a syntax error in the head only.
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

/// A parsed file: its items in the order written, and the memory of all nodes.
class File {
public:
  explicit File(const SourceFile &source) : source(source) {}
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  const SourceFile &source;
  llvm::ArrayRef<const Item *> items;
  /// Where the parser (and tests) put the nodes.
  llvm::BumpPtrAllocator arena;
};

/// The tree, one node a line, indented, without addresses: `--emit ast`. With
/// `places`, each line ends in the node's `line:column`.
void print(const File &file, llvm::raw_ostream &os, bool places = true);

/// The tree as .ccn text that parses to the same tree (comments, blank lines
/// and needless parentheses are not kept).
void printSource(const File &file, llvm::raw_ostream &os);

} // namespace ccn::frontend::ast

#endif // CCN_LIB_FRONTEND_AST_H
