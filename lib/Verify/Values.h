//===- Values.h - Values on which programs are compared ---------*- C++ -*-===//
//
// Draws the inputs on which two programs are compared: ordinary values, and
// values that show errors which ordinary ones hide (ties, zeros of both signs,
// overflow, denormals, NaN, the extremes of integers). An element depends only
// on a seed, the set, the argument's name and the element's index.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_VALUES_H
#define CCN_LIB_VERIFY_VALUES_H

#include "dialect/ccn/Ccn.h"
#include "lib/Interpreter/Interpreter.h"

namespace ccn::verify {

/// How floats are drawn. `Integers` says how integers are drawn.
enum class ValueSet : uint8_t {
  /// In (0, 1], where logarithms and roots are defined.
  Positive,
  /// Both signs, magnitudes from 2^-6 to less than 2^4.
  Signed,
  /// Integers from -3 to 3: they have zeros and ties, and their sums are exact
  /// in any order.
  Ties,
  /// Both signs, magnitudes in the whole normal range of the type.
  Wide,
  /// Close to the largest value of the type, so that sums overflow.
  Huge,
  /// Denormals and the smallest normals.
  Tiny,
  /// Like Signed, with some NaN, infinities and zeros of both signs.
  Special,
  /// Zeros of both signs.
  Zero,
  /// One argument is zero, the others are like Positive.
  OneZero,
};

inline constexpr ValueSet allValueSets[] = {
    ValueSet::Positive, ValueSet::Signed, ValueSet::Ties,
    ValueSet::Wide,     ValueSet::Huge,   ValueSet::Tiny,
    ValueSet::Special,  ValueSet::Zero,   ValueSet::OneZero};

/// The name of a set: `positive`, `signed`, ...
llvm::StringRef name(ValueSet set);

/// How integers are drawn. A program may fail on some, by a division by zero or
/// an index out of range; each choice is milder than the one before.
enum class Integers : uint8_t {
  /// With Huge and Wide, the extremes of the type, -1, 0 and 1; with Positive,
  /// 0 to 3; with Ties, -3 to 3; else any bits.
  Any,
  /// 1, 2 or 3, so that no division fails.
  OneToThree,
  /// All 1.
  One,
  /// All 0: a valid index of every table that has rows.
  Zero,
};

inline constexpr Integers allIntegers[] = {Integers::Any, Integers::OneToThree,
                                           Integers::One, Integers::Zero};

/// Draws a value for each argument of the program, in external form (see
/// interp::NamedTensors). Integers that are used as indices of rows, directly
/// or after movement, are in the range of their table. `zero` is the number of
/// the argument that OneZero sets to zero. Fails, with an error at the
/// argument, if there is not enough memory.
mlir::FailureOr<interp::NamedTensors>
drawInputs(ProgramOp program, ValueSet set, Integers integers, uint64_t seed,
           unsigned zero = 0);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_VALUES_H
