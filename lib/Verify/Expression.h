//===- Expression.h - Expressions over symbols ------------------*- C++ -*-===//
//
// When a program runs on symbols instead of numbers, the elements of tensors
// are expressions over the reals and over truth values. Equal expressions are
// interned under one id. A normal form makes sums, products, maxima, minima,
// conjunctions and disjunctions associative and commutative, and drops
// arguments that change nothing. So most values that are equal have the same
// id.
//
// Integers are treated as reals: there is neither overflow nor rounding. A
// quotient is a product with a reciprocal; x * (1 / x) is never simplified.
// Nothing is said about 1 / 0.
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

/// The id of an expression: an index that is larger than those of its parts. A
/// tensor of i64 can hold ids.
using Expr = int64_t;

/// A fraction in lowest terms, with a positive denominator.
using Rational = mlir::presburger::Fraction;

/// The value of a finite double, exactly.
Rational rationalOf(double value);
/// The nearest double or one of its neighbours; infinite if out of range.
double doubleOf(const Rational &value);
/// The text of a number, such as "3" or "-2/3".
std::string describe(const Rational &value);

enum class ExprKind : uint8_t {
  /// The number coefficients[0].
  Number,
  /// True if `tag` is not 0.
  Truth,
  /// The symbol number `tag`.
  Symbol,
  /// The neutral element of maxima (tag 0, -inf) or minima (tag 1, +inf) of
  /// floats.
  Infinity,
  /// The sum of all coefficients[i] * args[i], and of the last coefficient,
  /// which has no argument.
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
  /// A function of which only the name is known.
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
  /// Converts a float (Truncate) or an integer (Wrap) to the integer type
  /// `type`.
  Truncate,
  Wrap,
  /// Whether dropout keeps an element; the arguments are the seed, the
  /// element's global index and the rate.
  Keeps,
  /// The result of a row lookup with an index out of range.
  OutOfRange,
};

/// The name of a function for people, such as "exp" or "dropout".
std::string_view name(Function function);

/// An expression: its kind and its parts.
struct ExprNode {
  ExprKind kind;
  /// Whether the value is true or false instead of a number.
  bool isTruth = false;
  Function function = Function::Inverse;
  /// The target type of Truncate and Wrap.
  runtime::ElementType type = runtime::ElementType::F32;
  uint32_t tag = 0;
  std::vector<Expr> args = {};
  std::vector<Rational> coefficients = {};
};

/// An input of a program, or a value about which nothing is known.
struct Symbol {
  /// For example "g[0, 3]".
  std::string name;
  runtime::ElementType type;
};

/// A coefficient times an expression.
struct Term {
  Rational coefficient;
  Expr value;
};

/// Builds and interns expressions. Ids are only valid for the object that made
/// them.
class Expressions {
public:
  /// Without `normalize`, expressions stay as they are built, and only a solver
  /// can find them equal.
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

  /// How many arguments all expressions have together, as a measure of cost.
  int64_t size() const { return totalSize; }

  Expr number(const Rational &value);
  Expr number(int64_t value) { return number(Rational(value)); }
  Expr truth(bool value);
  /// A new symbol, different from all others.
  Expr symbol(Symbol symbol);
  Expr infinity(bool negative);

  /// The sum of the terms and of a constant.
  Expr sum(std::vector<Term> terms, Rational constant = Rational(0));
  Expr add(Expr a, Expr b) { return sum({{Rational(1), a}, {Rational(1), b}}); }
  Expr subtract(Expr a, Expr b) {
    return sum({{Rational(1), a}, {Rational(-1), b}});
  }
  Expr scale(const Rational &factor, Expr a) { return sum({{factor, a}}); }
  Expr product(std::vector<Expr> factors);
  Expr inverse(Expr a);
  /// Maximum and minimum of at least one argument; for truth values, `or` and
  /// `and`.
  Expr maximum(std::vector<Expr> args);
  Expr minimum(std::vector<Expr> args);

  /// Compare two numbers or two truth values; false < true.
  Expr equal(Expr a, Expr b);
  Expr less(Expr a, Expr b);
  Expr logicalNot(Expr a);
  Expr logicalAnd(std::vector<Expr> args);
  Expr logicalOr(std::vector<Expr> args);
  Expr choose(Expr condition, Expr a, Expr b);
  Expr apply(Function function, std::vector<Expr> args,
             runtime::ElementType type = runtime::ElementType::F32);

  /// The same value, in all of whose parts products are multiplied out if the
  /// result has at most `expansionLimit` terms. Stops when all expansions
  /// together have made `expansionBudget` terms.
  Expr expand(Expr expr);

  /// All parts of the expressions, including the expressions themselves, in
  /// increasing order.
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
  /// Divides an expression by its leading coefficient, and returns the
  /// coefficient.
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
