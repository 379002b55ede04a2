//===- Expression.h - Values of symbolic execution --------------*- C++ -*-===//
//
// What a tensor's elements are when a program runs on symbols instead of
// numbers: expressions over the reals and over truth values. Each is interned,
// so equal expressions have one id, and brought into a normal form in which
// sums and products, maxima and minima, conjunctions and disjunctions are
// associative, commutative, and free of what does not matter. So most values
// that are equal have the same id.
//
// Integers are the reals that they are: neither overflow nor rounding exists
// here. A quotient is a product with a reciprocal, which is never cancelled
// against its factor; 1 / 0 is no matter of this theory.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_EXPRESSION_H
#define CCN_VERIFY_EXPRESSION_H

#include "runtime/tensor/ElementType.h"

#include "mlir/Analysis/Presburger/Fraction.h"

#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ccn::verify {

/// The id of an expression: an index that is larger than those of its parts,
/// and that a tensor of i64 can hold.
using Expr = int64_t;

/// In lowest terms, with a positive denominator.
using Rational = mlir::presburger::Fraction;

/// The value of a finite double, exactly.
Rational rationalOf(double value);
/// The nearest double or one of its neighbours; infinite if out of range.
double doubleOf(const Rational &value);
/// "3", "-2/3".
std::string describe(const Rational &value);

enum class ExprKind : uint8_t {
  /// coefficients[0].
  Number,
  /// Whether `tag` is not 0.
  Truth,
  /// The symbol number `tag`.
  Symbol,
  /// The neutral element of maxima (tag 0, -inf) or minima (tag 1, +inf) of
  /// floats.
  Infinity,
  /// The sum of coefficients[i] * args[i], and of the last coefficient, which
  /// has no argument.
  Sum,
  Product,
  Max,
  Min,
  /// Whether args[0] is 0, or less than 0.
  IsZero,
  IsNegative,
  Not,
  And,
  Or,
  /// Whether two truth values are the same.
  Same,
  /// args[1] where args[0] holds, else args[2].
  Choice,
  /// A function that is known by its name only.
  Apply,
};

enum class Function : uint8_t {
  Inverse,
  Exp,
  Log,
  Sqrt,
  Tanh,
  Erfc,
  Pow,
  FloatRemainder,
  IntegerQuotient,
  IntegerRemainder,
  /// A float or integer as the integer type `type`.
  Truncate,
  Wrap,
  /// Whether dropout keeps an element: of the seed, the element's global index
  /// and the rate.
  Keeps,
  /// What a row lookup gives for an index out of range.
  OutOfRange,
};

/// "exp", "dropout".
std::string_view name(Function function);

struct ExprNode {
  ExprKind kind;
  /// Whether its value is true or false, not a number.
  bool isTruth = false;
  Function function = Function::Inverse;
  /// Of Truncate and Wrap.
  runtime::ElementType type = runtime::ElementType::F32;
  uint32_t tag = 0;
  std::vector<Expr> args = {};
  std::vector<Rational> coefficients = {};
};

/// An input of a program, or a value about which nothing is known.
struct Symbol {
  /// "g[0, 3]".
  std::string name;
  runtime::ElementType type;
};

/// A coefficient times an expression.
struct Term {
  Rational coefficient;
  Expr value;
};

class Expressions {
public:
  /// Without `normalize`, expressions are as they are built: equality is left
  /// to a solver.
  explicit Expressions(bool normalize = true);

  const ExprNode &node(Expr expr) const { return nodes[expr]; }
  const Symbol &symbolAt(uint32_t number) const { return symbols[number]; }
  const Symbol &symbolOf(const ExprNode &node) const {
    return symbols[node.tag];
  }
  bool isNumber(Expr expr) const { return node(expr).kind == ExprKind::Number; }
  const Rational &numberOf(Expr expr) const {
    return node(expr).coefficients[0];
  }
  bool isInfinity(Expr expr, bool negative) const {
    return node(expr).kind == ExprKind::Infinity &&
           node(expr).tag == (negative ? 0U : 1U);
  }

  /// How many arguments all expressions have together: what they cost.
  int64_t size() const { return totalSize; }

  Expr number(const Rational &value);
  Expr number(int64_t value) { return number(Rational(value)); }
  Expr truth(bool value);
  /// A new symbol, different from all others.
  Expr symbol(Symbol symbol);
  Expr infinity(bool negative);

  Expr sum(std::vector<Term> terms, Rational constant = Rational(0));
  Expr add(Expr a, Expr b) { return sum({{Rational(1), a}, {Rational(1), b}}); }
  Expr subtract(Expr a, Expr b) {
    return sum({{Rational(1), a}, {Rational(-1), b}});
  }
  Expr scale(const Rational &factor, Expr a) { return sum({{factor, a}}); }
  Expr product(std::vector<Expr> factors);
  Expr inverse(Expr a);
  /// At least one argument; of truth values, `or` and `and`.
  Expr maximum(std::vector<Expr> args);
  Expr minimum(std::vector<Expr> args);

  /// Of two numbers or two truth values; false < true.
  Expr equal(Expr a, Expr b);
  Expr less(Expr a, Expr b);
  Expr logicalNot(Expr a);
  Expr logicalAnd(std::vector<Expr> args);
  Expr logicalOr(std::vector<Expr> args);
  Expr choose(Expr condition, Expr a, Expr b);
  Expr apply(Function function, std::vector<Expr> args,
             runtime::ElementType type = runtime::ElementType::F32);

  /// The same value with products multiplied out where the result has at most
  /// `expansionLimit` terms, in all of its parts, as long as all expansions
  /// together make at most `expansionBudget` terms.
  Expr expand(Expr expr);

  /// All parts of the expressions, themselves included, in increasing order.
  std::vector<Expr> partsOf(std::vector<Expr> roots) const;

  static constexpr int64_t expansionLimit = 4096;
  static constexpr int64_t expansionBudget = 2'000'000;

private:
  struct Hash {
    const std::deque<ExprNode> *nodes;
    size_t operator()(Expr expr) const;
  };
  struct Equal {
    const std::deque<ExprNode> *nodes;
    bool operator()(Expr a, Expr b) const;
  };

  Expr intern(ExprNode node);
  Expr isZero(Expr a);
  Expr isNegative(Expr a);
  Expr extremum(ExprKind kind, std::vector<Expr> args);
  Expr junction(ExprKind kind, std::vector<Expr> args);
  /// Splits the leading coefficient off.
  Rational takeContent(Expr &expr);
  Expr distribute(Expr a, Expr b);
  Expr expandNode(Expr expr);

  bool normalize;
  int64_t totalSize = 0, totalExpansion = 0;
  std::deque<ExprNode> nodes;
  std::unordered_set<Expr, Hash, Equal> index;
  std::vector<Symbol> symbols;
  std::unordered_map<Expr, Expr> expanded;
};

} // namespace ccn::verify

#endif // CCN_VERIFY_EXPRESSION_H
