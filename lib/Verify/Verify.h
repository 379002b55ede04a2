//===- Verify.h - A schedule keeps what a program computes ------*- C++ -*-===//
//
// Runs a program before and after its schedule on all ranks of its mesh, as
// they are and in f64 (Retype.h), and compares what they leave. Both add in the
// order in which their collectives' algorithms do. The program
// after is also run localized for each rank, which must give its bits. What is
// computed in the same order must have the same bits, in both. Where bits
// differ, error bounds that are computed beside the program before
// (ErrorBound.h) judge, element by element:
//
// - in f64 rounding is so small that what a wrong schedule does, a slice too
//   many, a sum too few, an epsilon that 16 bits hide, stands out;
// - in the programs' own types.
//
// A bound says how far one program may be from the exact value, so two may
// differ by twice that, if both do the same sums in different orders. Twice
// that again is allowed, because the bounds are computed with rounding
// themselves. Elements whose bound is not finite (some order may overflow, a
// comparison may tip over) are not compared; a program of which that leaves
// nothing is not taken for verified.
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

/// How well two programs agree, over all values and sizes they were run on.
struct Agreement {
  /// Runs in which both programs gave a result.
  int64_t runs = 0;
  /// Whether the programs as they are have the same bits.
  bool sameBits = true;
  /// How far two elements are apart, and how far they may be: of those compared
  /// by a bound, the ones that come closest to it.
  struct Closest {
    double difference = 0, bound = 0;

    /// Takes over what comes closer to its bound.
    void add(const Closest &other);
  };
  /// In f64, and in the programs' own types.
  Closest wide, native;
  /// The longest reduction in the programs, if bits differ.
  Terms terms;
  /// By output, how many elements were compared, by bits or a bound, and how
  /// many differ and have no bound.
  struct Counts {
    int64_t compared = 0, unbounded = 0;
  };
  std::map<std::string, Counts> outputs;

  void merge(const Agreement &other);
  /// An output of which nothing could be compared; empty if there is none.
  std::string findUncompared() const;
  /// `same bits`, or `within 1.20e-07 (bound 3.80e-06), in f64 within 1.11e-16
  /// (bound 7.11e-15), from reductions of 5 terms in f32`.
  std::string str() const;
};

/// Compares two programs, of the same arguments and outputs, on one mesh.
class Comparison {
public:
  Comparison(ProgramOp before, ProgramOp after)
      : before(before), after(after) {}

  /// Whether the programs take and leave the same; if not, how they differ.
  std::optional<std::string> checkInterface();

  /// Runs both on a set of values (OneZero: on one for each argument of floats)
  /// and adds to `agreement`, or says how they differ. What fails before the
  /// schedule too is tried with milder integers; if it still fails there is
  /// nothing to compare, and getFailure() says why.
  std::optional<std::string> run(ValueSet set, uint64_t seed,
                                 Agreement &agreement);

  /// Another way to execute the program after: gives what it leaves, or why it
  /// fails.
  using Executor = std::function<Result<std::vector<interp::Output>>(
      const interp::NamedTensors &)>;
  /// Also executes the program after like that, which must leave the same bits
  /// or fail if the program fails. If it does sums in another order than the
  /// program says, elements may differ within their bounds.
  void executeAlso(Executor also, bool reordersSums) {
    executor = std::move(also);
    executorReordersSums = reordersSums;
  }

  /// Why the program before the schedule did not run on the last values; empty
  /// if it did.
  const std::string &getFailure() const { return failure; }

private:
  using Outputs = std::vector<interp::Output>;

  std::optional<std::string> runOnce(ValueSet set, uint64_t seed, unsigned zero,
                                     Agreement &agreement);
  /// Runs what `localize` makes of the program after, which must leave what
  /// that left; says how it differs. A program that the schedule phase has not
  /// seen, in that reshards move data, is not localized.
  std::optional<std::string> runLocalized(const interp::NamedTensors &inputs,
                                          const Outputs &expected);
  /// Runs the other executor, if there is one; `found` is what the program
  /// after left.
  std::optional<std::string> runExecutor(const interp::NamedTensors &inputs,
                                         const Outputs &expected,
                                         const Outputs &found);
  /// What fails in the program after must fail in the other executor.
  std::optional<std::string> checkFails(const interp::NamedTensors &inputs);
  /// Says where outputs have other bits than those of the program after.
  std::optional<std::string> compareBits(const Outputs &expected,
                                         const Outputs &found);
  /// What both programs leave in one arithmetic.
  struct Pair {
    Outputs expected, found;

    bool hasSameBits() const;
  };
  /// Both in f64; none if a run fails, for rounding may decide whether an index
  /// is in range.
  std::optional<Pair> runWide(const interp::NamedTensors &inputs);
  /// By the bounds of the arithmetic in which the pair was computed; `inputs`
  /// are in f64. `outputs` gets what was compared.
  std::optional<std::string>
  compareBounded(const Pair &pair, const interp::NamedTensors &inputs,
                 Arithmetic arithmetic, Agreement &agreement,
                 std::map<std::string, Agreement::Counts> &outputs);
  /// One output; `bound` is null if it is exact.
  std::optional<std::string>
  compareElements(const interp::Output &expected, const interp::Output &found,
                  const runtime::HostTensor *bound, Arithmetic arithmetic,
                  Agreement::Closest &closest, Agreement::Counts &counts);
  /// The bounds' program, made when first needed; null if that fails.
  BoundProgram *getBounds(Arithmetic arithmetic);

  ProgramOp before, after;
  std::string failure;
  std::optional<BoundProgram> bounds[2];
  mlir::OwningOpRef<mlir::ModuleOp> beforeInF64, afterInF64;
  /// The program after for each rank; made when first needed.
  std::optional<LocalizedPrograms> localized;
  Executor executor;
  bool executorReordersSums = false;
};

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_VERIFY_H
