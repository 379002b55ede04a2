//===- FindSchedule.h - Schedules that nobody wrote -------------*- C++ -*-===//
//
// `--schedule auto`: searches for the schedules of a file's programs and writes
// them as a file of schedules, which is then applied as one written by hand.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_DRIVER_FINDSCHEDULE_H
#define CCN_LIB_DRIVER_FINDSCHEDULE_H

#include "lib/Driver/Phases.h"
#include "lib/Target/MachineRates.h"

#include <memory>
#include <vector>

namespace ccn {

struct FindOptions {
  /// What predicted times are of, for people: "h200".
  std::string machine;
  /// Predicted microseconds of a program by its plans of all ranks; fails if it
  /// cannot run so.
  std::function<Result<double>(mlir::ModuleOp plans, llvm::StringRef program)>
      price;
  /// For estimates of what is worth to be priced.
  MachineRates rates;
  /// The arguments that may be stored in slices.
  std::vector<std::string> states;
  /// How many ways to run a program are priced at most, but for some in the
  /// end; without it 100, or fewer of a large program or on many ranks.
  std::optional<int64_t> maxPriced;
  /// How many of the next best schedules are written, too.
  size_t maxOthers = 0;
  /// Whether programs that have a schedule `default` or `auto` keep it, without
  /// a search.
  bool keepsWritten = false;
};

/// Files of schedules.
struct FoundSchedules {
  /// A schedule `auto` of each program.
  std::unique_ptr<SourceFile> best;
  /// Whether any of these has a line.
  bool hasLines = false;
  /// The next best ones of the program of the options or the only one:
  /// `auto2`, `auto3`, ..., each in a file of its own.
  std::vector<std::unique_ptr<SourceFile>> others;
};

/// The names of schedules that are no names: `auto` is found by a search, which
/// goes on from schedule `NAME` with `NAME+auto`, and `none` is the program as
/// written. A schedule of the file that is called so is meant by its name.
struct ScheduleRequest {
  /// The schedule by hand: a name, or a file; empty is `default`, if there is
  /// one.
  std::string name;
  bool isSearched = false, isNone = false;
  /// See FindOptions.
  bool keepsWritten = false;
};
ScheduleRequest readScheduleRequest(llvm::StringRef text,
                                    const SourceFile &source);

/// What holds for GPUs if nobody names a schedule: a program has its schedule
/// `default`, else its schedule `auto`, else one that a search finds. `program`
/// is the name of the one that is compiled; all are if it is empty. If
/// `isOfOne`, several are an error that is yet to be reported, and nothing is
/// searched for.
ScheduleRequest requestForGpus(const SourceFile &source,
                               llvm::StringRef program, bool isOfOne);

/// The names of a file's schedules for a program, or for any if that is empty.
std::vector<std::string> schedulesFor(llvm::StringRef program,
                                      const SourceFile &source);

/// Finds a schedule for each program that is compiled. `options` are those with
/// which it is compiled, with the schedule from which the search goes on. The
/// files of `found`, which are there unless there were errors, must outlive the
/// diagnostics. A warning says of which program no time can be predicted; it
/// gets no lines. With options.explain, remarks say what each line saves by
/// prediction, and what was left.
CompileStatus findSchedule(const SourceFile &source, mlir::MLIRContext *context,
                           const CompileOptions &options,
                           const FindOptions &findOptions,
                           Diagnostics &diagnostics, FoundSchedules &found);

} // namespace ccn

#endif // CCN_LIB_DRIVER_FINDSCHEDULE_H
