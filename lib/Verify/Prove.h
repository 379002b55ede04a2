//===- Prove.h - Proves that two programs are equal -------------*- C++ -*-===//
//
// Proves that a scheduled program has the same outputs as the unscheduled one,
// for all inputs of the given, small shapes. It executes both on symbols and
// compares their outputs, element by element and rank by rank.
//
// It proves equality over the reals (see SymbolicKernels.h). Rounding,
// overflow, NaN, division by zero and indices out of range are not covered.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_PROVE_H
#define CCN_VERIFY_PROVE_H

#include "dialect/ccn/Ccn.h"

#include <optional>
#include <string>
#include <vector>

namespace ccn::verify {

/// The limits and the methods of a proof.
struct ProveOptions {
  /// The time limits, in seconds, for the whole proof and for one question to
  /// the solver.
  double timeLimit = 60;
  double elementTimeLimit = 5;
  /// The most arguments that all expressions together may have.
  int64_t sizeLimit = 20'000'000;
  /// Whether expressions are brought into a normal form. If not, the solver
  /// judges every element.
  bool normalize = true;
  /// Whether elements that may differ are first evaluated at some points.
  bool sample = true;
};

/// Inputs for which two elements that should be equal differ.
struct Counterexample {
  std::string output;
  /// The element's index in the output's external form; see Interpreter.h.
  std::vector<int64_t> index;
  /// Where the two values are, such as "before on rank 0 (dp = 0)" and "after
  /// on rank 1 (dp = 1)".
  std::string firstPlace, secondPlace;
  /// The rank that holds the second value.
  int64_t rank;
  /// The inputs on which the values depend, each with its value, such as "g[0,
  /// 3]" and "1.5".
  std::vector<std::pair<std::string, std::string>> inputs;
  std::string firstValue, secondValue;
  /// If not empty, the values differ only if the functions named here, such as
  /// "exp", are replaced by other ones; whether they differ for the real
  /// functions is unknown.
  std::vector<std::string> functions;
};

/// The result of comparing two programs.
struct Proof {
  enum Kind : uint8_t { Proved, Different, Unknown } kind = Unknown;
  int64_t outputs = 0;
  /// Elements of all outputs, and how each was found equal.
  int64_t elements = 0, byNormalization = 0, bySolver = 0;
  double seconds = 0;
  /// Only set if Different.
  std::optional<Counterexample> counterexample;
  /// If Unknown: why, and where.
  std::string reason;

  /// The result in words, in one or several lines.
  std::string describe() const;
};

/// Compares `after` with `before`. Their modules must have the same mesh.
/// Arguments and outputs are paired by name; their external forms must be the
/// same, but layouts may differ.
Proof prove(ProgramOp before, ProgramOp after, const ProveOptions &options);

} // namespace ccn::verify

#endif // CCN_VERIFY_PROVE_H
