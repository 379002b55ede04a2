//===- Phases.h - The phases of the compiler --------------------*- C++ -*-===//
//
// A program passes through these in order. Each can be stopped after, its
// result dumped, and the compiler resumed from the file.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_DRIVER_PHASES_H
#define CCN_LIB_DRIVER_PHASES_H

#include "lib/Frontend/Lower.h"
#include "lib/Target/Machine.h"

#include "mlir/Pass/PassManager.h"

#include <functional>
#include <optional>

namespace ccn {

enum class Phase {
  /// Text to ccn IR: global shapes, layouts in the types, checked.
  Parse,
  /// ccn IR to ccn IR: reshards become collectives, identities between
  /// collectives are used, what nothing needs is dropped; then the schedule is
  /// applied.
  Schedule,
  /// ccn IR to the ccn IR of one rank: shapes of the parts that it holds.
  Localize,
  /// Every collective gets an algorithm.
  Select,
  /// The IR of each rank to plan IR: buffers, kernels, streams. It takes the
  /// two phases before for all ranks, and makes one module.
  Plan,
};

inline constexpr Phase allPhases[] = {
    Phase::Parse, Phase::Schedule, Phase::Localize, Phase::Select, Phase::Plan};

/// `parse`, `schedule`, `localize`, `select`, `plan`.
llvm::StringRef phaseName(Phase phase);
std::optional<Phase> phaseByName(llvm::StringRef name);

/// Up to how many bytes an all_reduce is done in one shot, by protocol and in
/// kernels, and from how many on what is combined is pushed; negative is the
/// default (see the pass ccn-select).
struct SelectLimits {
  int64_t ll = -1, lamport = -1, kernel = -1, push = -1;
};

struct CompileOptions {
  frontend::LowerOptions lower;
  /// A transform script (.mlir) or a file of schedules (.ccn) to apply instead
  /// of a schedule of the program's file.
  const SourceFile *scheduleFile = nullptr;
  /// The one program of several that is compiled; all if empty.
  std::string program;
  /// Leaves the schedule out, whatever the program or the options say.
  bool unscheduled = false;
  Phase stopAfter = Phase::Schedule;
  /// The rank that the program is localized for; if none is asked for, 0, and
  /// plans are made for all.
  std::optional<int64_t> rank;
  /// The topology that collectives get schedules for, by name or file (see the
  /// pass ccn-select); none if empty. Each search may take `searchSeconds`.
  std::string topology;
  double searchSeconds = 10;
  /// What will run it, and the figures by which it is decided how large
  /// all_reduces run; the target's own if there are none. They may have other
  /// limits than these say (see the pass ccn-select).
  Target target;
  Machine machine;
  SelectLimits limits;
  /// Where the IR after each phase is written, as `0-parse.mlir`; none if
  /// empty.
  std::string dumpFolder;
  /// Writes the IR as text and as bytecode after each phase and goes on with
  /// what is read back; for tests.
  bool roundTrip = false;
  /// Reports, as remarks, what primitives did and what others could do.
  bool explain = false;
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

/// Passes a diagnostic of MLIR on, with the places that it and its notes name.
void forwardDiagnostic(mlir::Diagnostic &diagnostic, Diagnostics &diagnostics);

/// What a phase does to a module before and after the schedule is applied.
void addPhasePasses(Phase phase, const CompileOptions &options,
                    mlir::OpPassManager &before, mlir::OpPassManager &after);

/// Registers what compile() needs.
void registerDialects(mlir::DialectRegistry &registry);

/// Whether a source is MLIR text or bytecode, by its name and first bytes;
/// anything else is `.ccn` text.
bool isMlir(const SourceFile &source);

/// Compiles `.ccn` text, or resumes from MLIR text or bytecode that an earlier
/// phase left (see isMlir), as far as `stopAfter`. The result is null unless
/// Done. `schedules`, if asked for, is what was applied, as transform
/// sequences; null if there is none.
CompileStatus compile(const SourceFile &source, mlir::MLIRContext *context,
                      const CompileOptions &options, Diagnostics &diagnostics,
                      mlir::OwningOpRef<mlir::ModuleOp> &module,
                      mlir::OwningOpRef<mlir::ModuleOp> *schedules = nullptr);

/// A copy of `module` that has been through the passes of the phases, none of
/// which is Schedule or Plan; null, with an error reported, if that fails.
mlir::OwningOpRef<mlir::ModuleOp> runPhases(llvm::ArrayRef<Phase> phases,
                                            mlir::ModuleOp module,
                                            const CompileOptions &options);

/// Takes programs that are scheduled on through the phases to the plans of all
/// ranks. Null, with an error reported, if that fails.
mlir::OwningOpRef<mlir::ModuleOp> planScheduled(mlir::ModuleOp scheduled,
                                                const CompileOptions &options);

} // namespace ccn

#endif // CCN_LIB_DRIVER_PHASES_H
