//===- Session.h - A program and the lines applied to it --------*- C++ -*-===//
//
// Applies lines of a schedule one after the other. A line that is accepted must
// leave a program that verifies and computes what it computed; one that is
// refused must say why in the documented way and change nothing.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_RANDOM_SESSION_H
#define CCN_TEST_RANDOM_SESSION_H

#include "Program.h"

#include "lib/Driver/Phases.h"
#include "lib/Verify/Verify.h"

namespace ccn::random {

struct Outcome {
  enum Kind { Accepted, Refused, Wrong } kind;
  /// The condition (`fuse_c2`) or kind of error (`unknown name`) of a refusal,
  /// or what is wrong.
  std::string why;
};

/// How thoroughly a program is compared.
struct Depth {
  std::vector<verify::ValueSet> sets;
  bool proves = false;
  /// Whether it is also compiled to plans and executed.
  bool executes = false;
  /// For which of ccn-select's limits.
  std::vector<SelectLimits> limits = {{}};
  /// Whether its kernels are, too.
  bool runsKernels = false;
  /// Whether its plans are executed by processes, too.
  bool runsProcesses = false;
  /// Which of the ways that --autotune would measure is executed, modulo their
  /// number.
  size_t variant = 0;
};

class Session {
public:
  Session(mlir::MLIRContext &context, Program program);

  /// Why the program, without schedule, is wrong; empty if it is right.
  const std::string &getError() const { return error; }
  /// The program after the lines that were accepted.
  ProgramOp current();
  /// With the lines that were accepted.
  const Program &getProgram() const { return program; }

  Outcome apply(const std::string &line);
  /// Lines that a search finds after those that were accepted, by predicted
  /// times of GPUs or by times that are drawn from `seed`, so that it finds
  /// what nobody would write. None if it fails, and then `wrong` says why.
  std::vector<std::string> findLines(uint64_t seed, bool isPredicted,
                                     std::string &wrong);
  /// Compares the program with what it was without the schedule; empty, or how
  /// they differ.
  std::string compare(const Depth &depth, uint64_t seed);
  /// Compiles the program to plans, executes them as a package, and compares
  /// what that leaves with what the program leaves; empty, or what is wrong.
  std::string comparePlans(const Depth &depth, uint64_t seed) {
    return compareForLimits(depth, seed, &Session::comparePlansFor);
  }
  /// The same with its kernels, on GPUs that are none.
  std::string compareKernels(const Depth &depth, uint64_t seed) {
    return compareForLimits(depth, seed, &Session::compareKernelsFor);
  }
  /// Compiles the whole text as the driver does; empty, or what is wrong.
  std::string compileAll();
  /// Writes a package for GPUs that ccrun can check; empty, or what is wrong.
  std::string writePackage(const std::string &path, size_t variant);

  /// What came of comparisons and proofs: `compared`, `proved`, ...
  std::map<std::string, int64_t> counts;

private:
  using Module = mlir::OwningOpRef<mlir::ModuleOp>;

  /// Compiles the program, with its lines or without, up to a phase; empty, or
  /// what is wrong.
  std::string compileTo(CompileOptions options, Phase phase, Module &module);
  /// Compiles the program to plans; empty, or what is wrong.
  std::string makePlans(const Target &target, const SelectLimits &limits,
                        size_t variant, Module &plans);
  /// Compares what another way to execute the program leaves.
  std::string compareExecuted(verify::Comparison::Executor executor,
                              bool reordersSums, const Depth &depth,
                              uint64_t seed, const std::string &counter);
  using CompareForLimits = std::string (Session::*)(const Depth &,
                                                    const SelectLimits &,
                                                    uint64_t);
  /// For each of the limits, until something is wrong.
  std::string compareForLimits(const Depth &depth, uint64_t seed,
                               CompareForLimits compareFor);
  std::string comparePlansFor(const Depth &depth, const SelectLimits &limits,
                              uint64_t seed);
  std::string compareKernelsFor(const Depth &depth, const SelectLimits &limits,
                                uint64_t seed);
  /// What a line that is not accepted says: a refusal, or wrong.
  Outcome judge(const Diagnostics &diagnostics, const Program &tried);

  mlir::MLIRContext &context;
  Program program;
  std::string error;
  /// After Phase::Parse; ready for a schedule, with the lines applied.
  Module before, scheduled;
};

/// Applies all lines of the program's schedule, in order, and compares after
/// each that is accepted; empty, or what is wrong.
std::string checkAll(mlir::MLIRContext &context, const Program &program,
                     const Depth &depth);

} // namespace ccn::random

#endif // CCN_TEST_RANDOM_SESSION_H
