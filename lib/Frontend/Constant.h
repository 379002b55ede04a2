//===- Constant.h - Compile-time numbers ------------------------*- C++ -*-===//
//
// Literals, params and sizes of axes have no type; they get the element type of
// the tensors with which they are combined. Until then they are integers, reals
// or truth values, and arithmetic on them is checked.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_CONSTANT_H
#define CCN_LIB_FRONTEND_CONSTANT_H

#include "lib/Frontend/AST.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <string>
#include <variant>

namespace ccn::frontend {

/// A compile-time number or truth value, which has no type.
class Constant {
public:
  Constant() : value(int64_t(0)) {}
  explicit Constant(int64_t integer) : value(integer) {}
  explicit Constant(double real, llvm::StringRef literal = {})
      : value(real), literal(literal.str()) {}
  explicit Constant(bool truth) : value(truth) {}
  /// An integer literal above 2^63 - 1, which only u64 can hold.
  static Constant big(uint64_t integer);

  const int64_t *getInteger() const { return std::get_if<int64_t>(&value); }
  bool isBool() const { return std::holds_alternative<bool>(value); }
  bool isReal() const { return std::holds_alternative<double>(value); }
  bool getBool() const { return std::get<bool>(value); }
  /// The value as a real; a truth value is 0 or 1.
  double getReal() const;

  /// The value as it would be written in a file.
  std::string str() const;

  /// The value as an element of the type. Null if the type has no such value,
  /// exact or rounded; `error` then says why.
  mlir::TypedAttr toAttr(mlir::Type elementType, std::string &error) const;

private:
  std::variant<int64_t, uint64_t, double, bool> value;
  /// The digits of a real literal, so that rounding to a type is done once.
  std::string literal;
};

/// Parses a value from the command line: `12`, `-3`, `0x10`, `1e-8`, `true`.
std::optional<Constant> parseConstant(llvm::StringRef text);

/// Evaluates an operator or function on constants. On failure the result is
/// empty and `error` says why; but `error` stays empty if `function` is not one
/// that is evaluated at compile time.
std::optional<Constant> negate(const Constant &a, std::string &error);
std::optional<Constant> evaluate(ast::BinaryOp op, const Constant &a,
                                 const Constant &b, std::string &error);
std::optional<Constant> evaluate(llvm::StringRef function,
                                 llvm::ArrayRef<Constant> arguments,
                                 std::string &error);

} // namespace ccn::frontend

#endif // CCN_LIB_FRONTEND_CONSTANT_H
