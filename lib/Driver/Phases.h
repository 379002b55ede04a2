//===- Phases.h - The phases of the compiler --------------------*- C++ -*-===//
//
// A program passes through the phases in order. After each phase, the compiler
// can stop or dump the result, and it can resume from that file.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_DRIVER_PHASES_H
#define CCN_LIB_DRIVER_PHASES_H

#include "lib/Frontend/Lower.h"
#include "lib/Target/Machine.h"

#include "mlir/Pass/PassManager.h"

#include <functional>
#include <limits>
#include <optional>

namespace ccn {

enum class Phase {
  /// Parses and checks text; makes ccn IR with global shapes and layouts in the
  /// types.
  Parse,
  /// Changes ccn IR: replaces reshards by collectives, simplifies collectives,
  /// drops unused operations, and then applies the schedule.
  Schedule,
  /// Makes the ccn IR of one rank, with the shapes of the parts that it holds.
  Localize,
  /// Gives every collective an algorithm.
  Select,
  /// Makes plan IR from the IR of each rank: buffers, kernels, streams. Runs
  /// the two phases before for all ranks, and makes one module.
  Plan,
};

inline constexpr Phase allPhases[] = {
    Phase::Parse, Phase::Schedule, Phase::Localize, Phase::Select, Phase::Plan};

/// The name of a phase: `parse`, `schedule`, `localize`, `select` or `plan`.
llvm::StringRef phaseName(Phase phase);
std::optional<Phase> phaseByName(llvm::StringRef name);

/// Limits in bytes: up to which an all_reduce runs in one shot, by protocol and
/// in kernels, and from which on members push the values that are combined.
/// Negative values mean the default (see the pass ccn-select).
struct SelectLimits {
  int64_t ll = -1, lamport = -1, kernel = -1, push = -1;
};

/// How to compile a file.
struct CompileOptions {
  frontend::LowerOptions lower;
  /// A transform script (.mlir) or a file of schedules (.ccn) to apply instead
  /// of a schedule of the program's file.
  const SourceFile *scheduleFile = nullptr;
  /// The name of the program to compile; all programs if empty.
  std::string program;
  /// Applies no schedule, even if the file or the options have one.
  bool unscheduled = false;
  Phase stopAfter = Phase::Schedule;
  /// The rank for which the program is localized. If not set, it is rank 0, and
  /// plans are made for all ranks.
  std::optional<int64_t> rank;
  /// Of meshes with more ranks than this, only ranks that stand for the others
  /// are planned: times are predicted from no more.
  int64_t maxPlannedRanks = std::numeric_limits<int64_t>::max();
  /// The topology for which collectives get schedules, by name or file (see the
  /// pass ccn-select); none if empty. Each search takes at most
  /// `searchSeconds`.
  std::string topology;
  double searchSeconds = 10;
  /// The target that runs the program, and the machine whose figures decide how
  /// all_reduces run, by their size; the target's default machine if it is
  /// empty. `limits` can replace the machine's limits (see the pass
  /// ccn-select).
  Target target;
  Machine machine;
  SelectLimits limits;
  /// The folder to which the IR after each phase is written, such as
  /// `0-parse.mlir`; empty for none.
  std::string dumpFolder;
  /// Writes the IR as text and as bytecode after each phase, reads it back, and
  /// goes on with the result; for tests.
  bool roundTrip = false;
  /// Reports as remarks what primitives did, and what other primitives could
  /// do.
  bool explain = false;
  /// Whether the passes of runPhases() and planScheduled() verify what they
  /// leave: not where the same is compiled again, and verified then.
  bool verifiesPasses = true;
  /// Is shown the programs when their schedule has been applied, before what
  /// that left without use is dropped; may be empty.
  std::function<void(mlir::ModuleOp)> onScheduled;
  /// Sets up the pass managers as the command line asks; may be empty.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configure;
};

enum class CompileStatus {
  Done,
  /// The program is wrong; errors were reported.
  WrongProgram,
  /// An option names nothing in the program, or a dump cannot be written.
  WrongUsage,
};

/// Adds a diagnostic of MLIR, and its notes, to `diagnostics`, with their
/// places.
void forwardDiagnostic(mlir::Diagnostic &diagnostic, Diagnostics &diagnostics);

/// Adds the passes that a phase runs on a module before and after the schedule
/// is applied.
void addPhasePasses(Phase phase, const CompileOptions &options,
                    mlir::OpPassManager &before, mlir::OpPassManager &after);

/// Registers the dialects that compile() needs.
void registerDialects(mlir::DialectRegistry &registry);

/// Whether a source is MLIR text or bytecode, by its name and first bytes;
/// anything else is `.ccn` text.
bool isMlir(const SourceFile &source);

/// Compiles `.ccn` text, or resumes from the MLIR text or bytecode of an
/// earlier phase (see isMlir), up to the phase `stopAfter`. `module` is null
/// unless Done. Sets *schedules, unless `schedules` is null, to the schedules
/// that were applied, as transform sequences; null if there are none.
CompileStatus compile(const SourceFile &source, mlir::MLIRContext *context,
                      const CompileOptions &options, Diagnostics &diagnostics,
                      mlir::OwningOpRef<mlir::ModuleOp> &module,
                      mlir::OwningOpRef<mlir::ModuleOp> *schedules = nullptr);

/// Runs the passes of the phases, which must not include Schedule or Plan, on a
/// copy of `module`. Null, with an error reported, if that fails.
mlir::OwningOpRef<mlir::ModuleOp> runPhases(llvm::ArrayRef<Phase> phases,
                                            mlir::ModuleOp module,
                                            const CompileOptions &options);

/// The ranks of a scheduled module that are planned, in ascending order.
std::vector<int64_t> plannedRanks(mlir::ModuleOp scheduled,
                                  const CompileOptions &options);

/// Runs the phases after Schedule on scheduled programs, and returns the plans
/// of all ranks. Null, with an error reported, if that fails.
mlir::OwningOpRef<mlir::ModuleOp> planScheduled(mlir::ModuleOp scheduled,
                                                const CompileOptions &options);

} // namespace ccn

#endif // CCN_LIB_DRIVER_PHASES_H
