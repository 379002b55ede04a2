//===- VerifySchedule.h - Verifies the schedule of a file -------*- C++ -*-===//
//
// Implements `cccompile --verify`: compares the programs of a file with and
// without its schedule, at several sizes and on several sets of values, or by a
// proof.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_VERIFYSCHEDULE_H
#define CCN_LIB_VERIFY_VERIFYSCHEDULE_H

#include "lib/Verify/Shapes.h"
#include "lib/Verify/Verify.h"

namespace ccn::verify {

/// How to verify schedules.
struct VerifyOptions {
  uint64_t seed = 0;
  Budget budget;
  std::vector<ValueSet> sets{std::begin(allValueSets), std::end(allValueSets)};
  /// The schedule as named on the command line: a name or a file.
  std::string schedule;
  /// The most ranks that a verified program may have.
  int64_t ranks = 4096;
  /// Whether it is an error, instead of ignored, if a program cannot be
  /// compared.
  bool mustCompare = true;
  /// Whether to prove, for all values, that programs are equal over the reals,
  /// instead of running them on some values.
  bool prove = false;

  /// Options for a check that takes tens of milliseconds: few small sizes, few
  /// sets of values, few ranks. Programs that cannot be compared are ignored.
  static VerifyOptions quick();
  /// Options for a proof at three sizes of some hundred elements.
  static VerifyOptions proof();
};

enum class VerifyStatus {
  /// Every program with a schedule computes the same as before, as far as it
  /// was compared.
  Same,
  /// At other sizes, the schedule fails in a way that no condition explains.
  WrongSchedule,
  /// There are no sizes at which the program can run, or too many ranks.
  TooLarge,
  /// A program computes something else (the report says how to reproduce that),
  /// or nothing could be compared or proved.
  Different,
};

/// Verifies `schedules` (as compile() returns them) of the programs of
/// `source`, which must have been compiled with `options`. Errors go to
/// `diagnostics`. `report` gets a line for each program with a schedule, which
/// says what was compared and how well it agrees.
VerifyStatus
verifySchedule(const SourceFile &source, mlir::MLIRContext *context,
               const CompileOptions &options, mlir::ModuleOp schedules,
               const VerifyOptions &verifyOptions, Diagnostics &diagnostics,
               std::vector<std::string> &report);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_VERIFYSCHEDULE_H
