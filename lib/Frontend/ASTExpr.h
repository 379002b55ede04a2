//===- ASTExpr.h - Expressions, types, arguments of a .ccn file -*- C++ -*-===//
//
// The smaller nodes of the syntax tree that AST.h describes: names,
// expressions, types, layouts, and arguments of calls.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_ASTEXPR_H
#define CCN_LIB_FRONTEND_ASTEXPR_H

#include "lib/Frontend/Source.h"
#include "runtime/tensor/ElementType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Casting.h"
#include <cstdint>
#include <optional>

namespace ccn::frontend::ast {

/// The most levels of brackets and unary operators in one expression. The
/// brackets of a list or a layout count together with those of the enclosing
/// call.
inline constexpr unsigned maxNesting = 256;
/// The largest height of an expression tree, and so the largest length of an
/// operator chain.
inline constexpr unsigned maxHeight = 10000;

using runtime::ElementType;
enum class Reduction : uint8_t { Sum, Prod, Max, Min };

/// The spelling in the language, such as "f32" or "sum".
llvm::StringRef getSpelling(ElementType type);
llvm::StringRef getSpelling(Reduction reduction);
std::optional<ElementType> getElementType(llvm::StringRef spelling);
std::optional<Reduction> getReduction(llvm::StringRef spelling);

/// A name, with the place where it is written.
struct Name {
  llvm::StringRef text;
  SourceRange range;

  /// Whether there is a syntax error in place of the name.
  bool isMissing() const { return text.empty(); }
};

/// A string literal: its value, with escapes replaced, and its range, which
/// includes the quotes.
struct StringLiteral {
  llvm::StringRef value;
  SourceRange range;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// The range of an expression in parentheses includes the parentheses, which
/// have no node of their own.
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

/// `12`, `1_000_000`, `0xff`: never negative; `-1` is a UnaryExpr. The literal
/// has no type.
class IntExpr : public Expr {
public:
  IntExpr(SourceRange range, llvm::StringRef text, uint64_t value)
      : Expr(Kind::Int, range), text(text), value(value) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind::Int; }

  const llvm::StringRef text; ///< as written
  const uint64_t value;
};

/// `0.5`, `1e-8`. The value is `text` rounded to the nearest f64; it is finite,
/// and 0 only if it is written as 0. To round exactly to another format, parse
/// `text` again, without its underscores.
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

/// The spelling in the language, such as "-" or "<=".
llvm::StringRef getSpelling(UnaryOp op);
llvm::StringRef getSpelling(BinaryOp op);
bool isComparison(BinaryOp op);
/// 1 for comparisons, 2 for sums, 3 for products; a higher precedence binds
/// tighter.
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

/// Arithmetic associates to the left. A comparison is the operand of another
/// comparison only if it is in parentheses.
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

/// An expression that could not be read; the error has been reported.
class ErrorExpr : public Expr {
public:
  explicit ErrorExpr(SourceRange range) : Expr(Kind::Error, range) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind::Error; }
};

/// The binary operators along the left side of `expr`, innermost first. A loop
/// can evaluate a chain with them: start with `spine.front()->lhs`, which is
/// not a BinaryExpr, and apply each operator to its `rhs`. Empty if `expr` is
/// not a BinaryExpr.
llvm::SmallVector<const BinaryExpr *> getLeftSpine(const Expr *expr);

//===----------------------------------------------------------------------===//
// Layout states and types
//===----------------------------------------------------------------------===//

/// One state of a layout as written, such as `sliced(0, tp)`; the axis may be
/// absent.
struct LayoutState {
  enum class Kind : uint8_t { Replicated, Sliced, Partial, Local };

  Kind kind = Kind::Replicated;
  SourceRange range;
  /// The dimension, a constant; only for Sliced.
  const Expr *dim = nullptr;
  /// Only for Partial; absent after a syntax error.
  std::optional<Reduction> reduction;
  SourceRange reductionRange;
  /// Absent if left out, and always for Replicated.
  std::optional<Name> axis;
};

llvm::StringRef getSpelling(LayoutState::Kind kind);
std::optional<LayoutState::Kind> getLayoutStateKind(llvm::StringRef spelling);

/// `f16[N, 4] sliced(0) scattered`.
struct TypeSpec {
  SourceRange range;
  ElementType element = ElementType::F32;
  SourceRange elementRange;
  /// The sizes; a type without brackets, or with empty brackets, is a scalar.
  llvm::ArrayRef<const Expr *> shape;
  llvm::ArrayRef<LayoutState> states;
  /// The word `scattered`, if there is one.
  std::optional<SourceRange> scattered;
};

//===----------------------------------------------------------------------===//
// Call arguments
//===----------------------------------------------------------------------===//

/// An argument of a call; its kind says which subclass it is.
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

/// `sliced(0, tp) local(dp)`, as in `reshard(x, sliced(0))`. The words are not
/// keywords: a single `local` or `replicated` is parsed as a layout, but means
/// a value if there is one of that name in scope (see `asName`).
class LayoutArg : public CallArg {
public:
  LayoutArg(SourceRange range, llvm::ArrayRef<LayoutState> states)
      : CallArg(Kind::Layout, range), states(states) {}
  static bool classof(const CallArg *arg) { return arg->kind == Kind::Layout; }

  /// The argument as a name, if it is a single `local` or `replicated`.
  std::optional<Name> asName() const;

  const llvm::ArrayRef<LayoutState> states;
};

} // namespace ccn::frontend::ast

#endif // CCN_LIB_FRONTEND_ASTEXPR_H
