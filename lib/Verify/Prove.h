//===- Prove.h - Two programs compute the same ------------------*- C++ -*-===//
//
// Proves that a scheduled program leaves what the unscheduled one leaves, for
// all inputs of the given, small shapes: both are executed on symbols, and
// their outputs compared, element by element and rank by rank.
//
// What is proved is equality over the reals (see SymbolicKernels.h): rounding,
// overflow, NaN, division by zero and indices out of range are no part of it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_PROVE_H
#define CCN_VERIFY_PROVE_H

#include "dialect/ccn/Ccn.h"

#include <optional>
#include <string>
#include <vector>

namespace ccn::verify {

struct ProveOptions {
  /// Seconds for everything, and for one question to the solver.
  double timeLimit = 60;
  double elementTimeLimit = 5;
  /// How large all expressions may be together, in terms.
  int64_t sizeLimit = 20'000'000;
  /// Whether expressions are brought into a normal form. If not, the solver
  /// judges every element.
  bool normalize = true;
  /// Whether elements that may differ are first tried with some numbers.
  bool sample = true;
};

/// Inputs for which two elements that should be equal differ.
struct Counterexample {
  std::string output;
  /// In the output's external form; see Interpreter.h.
  std::vector<int64_t> index;
  /// Where the two values are, such as "before" and "on rank 1 (dp = 1)".
  std::string firstPlace, secondPlace;
  /// The rank that holds the second value.
  int64_t rank;
  /// The inputs that the values depend on: "g[0, 3]" and a value.
  std::vector<std::pair<std::string, std::string>> inputs;
  std::string firstValue, secondValue;
  /// The values differ for some functions in place of those named here
  /// ("exp"); for the real ones nothing is known.
  std::vector<std::string> functions;
};

struct Proof {
  enum Kind : uint8_t { Proved, Different, Unknown } kind = Unknown;
  int64_t outputs = 0;
  /// Elements of all outputs, and how each was found equal.
  int64_t elements = 0, byNormalization = 0, bySolver = 0;
  double seconds = 0;
  /// Only where Different.
  std::optional<Counterexample> counterexample;
  /// Why it is not known, and where.
  std::string reason;

  /// One or several lines that say all this.
  std::string describe() const;
};

/// Compares `after` with `before`, each on the mesh of its module, which must
/// be the same. Arguments and outputs are paired by their names; layouts may
/// differ where the external forms do not.
Proof prove(ProgramOp before, ProgramOp after, const ProveOptions &options);

} // namespace ccn::verify

#endif // CCN_VERIFY_PROVE_H
