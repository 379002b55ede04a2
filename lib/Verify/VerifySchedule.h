//===- VerifySchedule.h - Verifying the schedule of a file ------*- C++ -*-===//
//
// `cccompile --verify`: compares the programs of a file with and without its
// schedule, at several sizes and on several sets of values.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_VERIFYSCHEDULE_H
#define CCN_LIB_VERIFY_VERIFYSCHEDULE_H

#include "lib/Verify/Shapes.h"
#include "lib/Verify/Verify.h"

namespace ccn::verify {

struct VerifyOptions {
  uint64_t seed = 0;
  Budget budget;
  std::vector<ValueSet> sets{std::begin(allValueSets), std::end(allValueSets)};
  /// How the schedule is called on the command line: a name or a file.
  std::string schedule;
  /// The most ranks that are run.
  int64_t ranks = interp::maxRanks;
  /// Whether what cannot be compared is an error, and not passed over.
  bool mustCompare = true;

  /// A few small sizes and sets of values on few ranks, for tens of
  /// milliseconds; what cannot be compared so is passed over.
  static VerifyOptions quick();
};

enum class VerifyStatus {
  /// Every program that has a schedule keeps what it computes, as far as it was
  /// compared.
  Same,
  /// The schedule fails at another size in a way that no condition explains.
  WrongSchedule,
  /// No size, or too many ranks, to be run.
  TooLarge,
  /// A program computes something else, which was reported with what it takes
  /// to see it again; or nothing could be compared.
  Different,
};

/// Verifies what `schedules` (as compile() gives it) does to the programs of
/// `source`, which has been compiled with `options` before. Errors go to
/// `diagnostics`; `report` gets a line for each program with a schedule that
/// says what was compared and how equal it was.
VerifyStatus
verifySchedule(const SourceFile &source, mlir::MLIRContext *context,
               const CompileOptions &options, mlir::ModuleOp schedules,
               const VerifyOptions &verifyOptions, Diagnostics &diagnostics,
               std::vector<std::string> &report);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_VERIFYSCHEDULE_H
