//===- ElementwiseFunction.h - What an operation does to elements *- C++ -*-==//
//
// An elementwise operation that is a function of its operands' elements, as
// data: what the frontend, the interpreter, bodies of loops, proofs and error
// bounds know of it. Its definition in ElementwiseOps.td gives all of it, the
// function itself by the name of a template in ScalarFunctions.h.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_ELEMENTWISEFUNCTION_H
#define CCN_DIALECT_CCN_ELEMENTWISEFUNCTION_H

#include "runtime/tensor/ElementType.h"

#include <cstdint>
#include <string_view>

namespace ccn {

namespace scalar {
struct Handle;
} // namespace scalar

enum class ElementwiseKind : uint8_t {
  /// Constants of the language are computed as the language says.
  Arithmetic,
  /// A function of floats, which constants have too.
  Math,
  /// A function of neural networks, of tensors only.
  Activation,
};

/// The element types that an operation takes.
enum class ElementKinds : uint8_t { Any, Number, Float };

/// For which floats the result is a finite number, if it does not overflow; of
/// the first operand if there are two.
enum class Domain : uint8_t { All, NotNegative, Positive };

/// How errors of the operands become one of a result of floats
/// (lib/Verify/ErrorBound.h).
enum class ErrorRule : uint8_t {
  /// Exact, and of the operands' errors at most the largest stays.
  Nonexpansive,
  /// The errors are added.
  Sum,
  Product,
  Quotient,
  Power,
  /// Exact, but an error may lead anywhere.
  Discontinuous,
  /// Of one operand: the ends of an interval give those of the result.
  Monotone,
  /// The errors are added, times `slope`.
  Lipschitz,
};

/// Where a result that is computed in f64 may be 0 though the exact one is not.
enum class Underflow : uint8_t {
  Nowhere,
  Anywhere,
  /// Not where the first operand is 0, for the exact result is so too.
  UnlessZero,
};

struct ElementwiseFacts {
  /// "silu": the operation's without its dialect.
  std::string_view name;
  /// How the language writes it: a function's name, or an operator.
  std::string_view spelling;
  unsigned numOperands;
  ElementwiseKind kind;
  ElementKinds elements;
  /// Floats are computed in f64 and rounded once. Else f64 is computed in f64
  /// and narrower ones in f32.
  bool isWide;
  /// Whether it takes longer than to read its operands from memory.
  bool isExpensive;
  Domain domain;
  ErrorRule errorRule;
  double slope;
  Underflow underflow;
  /// What is refused of integers where the second operand is 0: "division".
  std::string_view zeroDivisor;

  bool takes(runtime::ElementType type) const {
    return elements == ElementKinds::Any || runtime::isFloat(type) ||
           (elements == ElementKinds::Number && runtime::isInteger(type));
  }
  /// Whether it is called by its name, as `silu(x)`.
  bool isCalled() const { return spelling == name; }
};

struct ElementwiseFunction : ElementwiseFacts {
  /// Computes n elements of the result, which may be one of the operands.
  template <typename T>
  using Block = void (*)(const T *const *operands, T *result, int64_t n);

  /// On 64-bit integers for those that are narrower too, and for bool. Null for
  /// types that it does not take, and `ofFloats` if it is wide.
  Block<double> ofDoubles;
  Block<float> ofFloats;
  Block<int64_t> ofSigned;
  Block<uint64_t> ofUnsigned;
  /// Of one element, by the arithmetic of the operands (Scalar.h).
  scalar::Handle (*ofHandles)(const scalar::Handle *operands);
};

} // namespace ccn

#endif // CCN_DIALECT_CCN_ELEMENTWISEFUNCTION_H
