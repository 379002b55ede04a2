//===- Verify.h - Compares a program with its schedule ----------*- C++ -*-===//
//
// Runs a program before and after its schedule on all ranks of its mesh, in its
// own types and in f64 (Retype.h), and compares the outputs. Both runs add in
// the order of their collectives' algorithms. The program after the schedule
// also runs localized for each rank, and must then give the same bits. Values
// that are computed in the same order must have the same bits before and after.
// Where bits differ, error bounds that are computed from the program before the
// schedule (ErrorBound.h) judge each element:
//
// - in f64, where rounding is so small that the errors of a wrong schedule (a
//   slice too many, a sum too few, an epsilon that 16 bits hide) stand out;
// - in the programs' own types.
//
// A bound says how far one program may be from the exact value, so two programs
// that do the same sums in different orders may differ by twice the bound.
// Twice that again is allowed, since the bounds themselves are computed with
// rounding. Elements whose bound is not finite (some order may overflow, a
// comparison may have either result) are not compared. A program with an output
// of which no element can be compared does not count as verified.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_VERIFY_H
#define CCN_LIB_VERIFY_VERIFY_H

#include "lib/Verify/ErrorBound.h"
#include "lib/Verify/Localized.h"
#include "lib/Verify/Retype.h"
#include "lib/Verify/Values.h"

#include <functional>
#include <map>

namespace ccn::verify {

/// How well two programs agree, over all values and sizes on which they ran.
struct Agreement {
  /// The number of runs in which both programs gave a result.
  int64_t runs = 0;
  /// Whether outputs have the same bits in the programs' own types.
  bool sameBits = true;
  /// How far two elements differ, and how far they may differ. Among the
  /// elements that were compared by a bound, those whose difference is closest
  /// to it.
  struct Closest {
    double difference = 0, bound = 0;

    /// Replaces the values by those of `other` if these are closer to their
    /// bound.
    void add(const Closest &other);
  };
  /// The closest elements in f64, and in the programs' own types.
  Closest wide, native;
  /// The longest reduction in the programs, if bits differ.
  Terms terms;
  /// How many elements of an output were compared, by bits or by a bound, and
  /// how many differ and have no bound.
  struct Counts {
    int64_t compared = 0, unbounded = 0;
  };
  std::map<std::string, Counts> outputs;

  /// Adds the results of other runs.
  void merge(const Agreement &other);
  /// The name of an output of which no element could be compared; empty if
  /// there is none.
  std::string findUncompared() const;
  /// `same bits`, or `within 1.20e-07 (bound 3.80e-06), in f64 within 1.11e-16
  /// (bound 7.11e-15), from reductions of 5 terms in f32`.
  std::string str() const;
};

/// Compares two programs that have the same arguments and outputs, on one mesh.
class Comparison {
public:
  Comparison(ProgramOp before, ProgramOp after)
      : before(before), after(after) {}

  /// Checks that the programs have the same arguments and outputs; returns how
  /// they differ, or none.
  std::optional<std::string> checkInterface();

  /// One of several comparisons of the same programs, at different sizes.
  struct Share {
    size_t index = 0, count = 1;
  };
  /// Runs both programs on a set of values and adds to `agreement`, or returns
  /// how they differ. OneZero: once for each argument of floats; if there are
  /// more than 16, each is zero in one of the comparisons only. If the program
  /// before the schedule fails, tries milder integers. If it always fails,
  /// there is nothing to compare, and getFailure() says why.
  std::optional<std::string> run(ValueSet set, uint64_t seed,
                                 Agreement &agreement, Share share);
  std::optional<std::string> run(ValueSet set, uint64_t seed,
                                 Agreement &agreement) {
    return run(set, seed, agreement, Share());
  }

  /// Another way to execute the program after the schedule: returns its
  /// outputs, or why it fails.
  using Executor = std::function<Result<std::vector<interp::Output>>(
      const interp::NamedTensors &)>;
  /// Makes run() also execute the program after the schedule with `also`. That
  /// must give the same bits, and must fail if the program fails. With
  /// `reordersSums`, it may add in another order than the program says, so
  /// elements may differ within their bounds.
  void executeAlso(Executor also, bool reordersSums) {
    executor = std::move(also);
    executorReordersSums = reordersSums;
  }

  /// Why the program before the schedule failed on the last values; empty if it
  /// did not fail.
  const std::string &getFailure() const { return failure; }

private:
  using Outputs = std::vector<interp::Output>;

  std::optional<std::string> runOnce(ValueSet set, uint64_t seed, unsigned zero,
                                     Agreement &agreement);
  /// Runs the program after the schedule localized for each rank; its outputs
  /// must be `expected`. Returns how they differ. Does nothing if the program
  /// has reshards that move data, which means that the schedule phase has not
  /// processed it.
  std::optional<std::string> runLocalized(const interp::NamedTensors &inputs,
                                          const Outputs &expected);
  /// Runs the other executor, if there is one. `expected` and `found` are the
  /// outputs of the programs before and after the schedule.
  std::optional<std::string> runExecutor(const interp::NamedTensors &inputs,
                                         const Outputs &expected,
                                         const Outputs &found);
  /// Checks that the other executor fails if the program after the schedule
  /// fails.
  std::optional<std::string> checkFails(const interp::NamedTensors &inputs);
  /// Returns where `found` has other bits than `expected`.
  std::optional<std::string> compareBits(const Outputs &expected,
                                         const Outputs &found);
  /// The outputs of both programs, computed in one arithmetic.
  struct Pair {
    Outputs expected, found;

    bool hasSameBits() const;
  };
  /// Runs both programs in f64. None if a run fails, which is no error:
  /// rounding may decide whether an index is in range.
  std::optional<Pair> runWide(const interp::NamedTensors &inputs);
  /// Compares a pair by the error bounds of the arithmetic in which it was
  /// computed; `inputs` are in f64. Sets in `outputs` how many elements were
  /// compared.
  std::optional<std::string>
  compareBounded(const Pair &pair, const interp::NamedTensors &inputs,
                 Arithmetic arithmetic, Agreement &agreement,
                 std::map<std::string, Agreement::Counts> &outputs);
  /// Compares one output; `bound` is null if the output is exact.
  std::optional<std::string>
  compareElements(const interp::Output &expected, const interp::Output &found,
                  const runtime::HostTensor *bound, Arithmetic arithmetic,
                  Agreement::Closest &closest, Agreement::Counts &counts);
  /// The program of bounds, made when first needed; null if that fails.
  BoundProgram *getBounds(Arithmetic arithmetic);

  ProgramOp before, after;
  std::string failure;
  std::optional<BoundProgram> bounds[2];
  mlir::OwningOpRef<mlir::ModuleOp> beforeInF64, afterInF64;
  /// The program after the schedule, localized for each rank; made when first
  /// needed.
  std::optional<LocalizedPrograms> localized;
  Executor executor;
  bool executorReordersSums = false;
};

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_VERIFY_H
