//===- Values.h - Values to run programs on ---------------------*- C++ -*-===//
//
// The values on which two programs are compared: ordinary ones, and those that
// bring out what ordinary ones hide (ties, zeros of both signs, overflow,
// denormals, NaN, the extremes of integers). An element depends on a seed, the
// argument's name and the element's index alone.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_VALUES_H
#define CCN_LIB_VERIFY_VALUES_H

#include "dialect/ccn/Ccn.h"
#include "lib/Interpreter/Interpreter.h"

namespace ccn::verify {

/// What floats are; `drawInputs` says what integers are beside them.
enum class ValueSet : uint8_t {
  /// In (0, 1], where logarithms and roots are defined.
  Positive,
  /// Both signs, magnitudes from 2^-6 to 2^3.
  Signed,
  /// Integers from -3 to 3: zeros and ties, and sums that no order rounds.
  Ties,
  /// Both signs, magnitudes over all of the type's normal range.
  Wide,
  /// Close to the largest of the type, so that sums overflow.
  Huge,
  /// Denormals and the smallest normals.
  Tiny,
  /// As Signed, with NaN, infinities and zeros of both signs among them.
  Special,
  /// Zeros of both signs.
  Zero,
  /// One argument zero, the others as Positive.
  OneZero,
};

inline constexpr ValueSet allValueSets[] = {
    ValueSet::Positive, ValueSet::Signed, ValueSet::Ties,
    ValueSet::Wide,     ValueSet::Huge,   ValueSet::Tiny,
    ValueSet::Special,  ValueSet::Zero,   ValueSet::OneZero};

/// `positive`, `signed`, ...
llvm::StringRef name(ValueSet set);

/// What integers are. A program may fail on some, by a division by zero or an
/// index out of range; these are ever milder.
enum class Integers : uint8_t {
  /// With Huge and Wide the extremes of the type, -1, 0 and 1; with Positive
  /// from 0 to 3, with Ties from -3 to 3, else any bits.
  Any,
  /// 1, 2 or 3: any may be divided by.
  OneToThree,
  /// All 1.
  One,
  /// All 0: each is an index of a table that has rows.
  Zero,
};

inline constexpr Integers allIntegers[] = {Integers::Any, Integers::OneToThree,
                                           Integers::One, Integers::Zero};

/// A value for each argument of the program, in external form (see
/// interp::NamedTensors). Integers that are used as indices of rows, directly
/// or after movement, lie in the table of which they are. `zero` is the
/// argument that OneZero sets to zero. Fails, with an error at the argument, if
/// there is no memory for one.
mlir::FailureOr<interp::NamedTensors>
drawInputs(ProgramOp program, ValueSet set, Integers integers, uint64_t seed,
           unsigned zero = 0);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_VALUES_H
