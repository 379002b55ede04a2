//===- Interpreter.h - The reference interpreter ----------------*- C++ -*-===//
//
// Executes a verified program on all ranks of its mesh, one thread each, and is
// the judge of everything else that executes programs: simple, exact about
// rounding and order, and the same bits in every run.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_INTERPRETER_H
#define CCN_INTERPRETER_INTERPRETER_H

#include "dialect/ccn/Ccn.h"
#include "runtime/tensor/HostTensor.h"

#include <map>
#include <string>
#include <vector>

namespace ccn::interp {

using runtime::HostTensor;

/// Tensors by the name of the argument, in external form: a replicated or
/// sliced tensor in its global shape; one that is local or partial along mesh
/// axes with a leading dimension for each of these, in the mesh's order.
using NamedTensors = std::map<std::string, HostTensor>;

struct Output {
  /// The name of the inout argument or returned value.
  std::string name;
  /// Its value in external form.
  HostTensor tensor;
};

struct RunOptions {
  /// Keys the arguments that are not given.
  uint64_t seed = 0;
  /// Seconds that a rank waits in a collective for the others, which includes
  /// what they compute meanwhile.
  double timeLimit = 600;
  /// Executes overlapped regions chunk by chunk, with all else spoiled, as a
  /// proof that they may be; otherwise as any operations, but for those in
  /// which the order of sums depends on the chunks.
  bool inChunks = false;
};

/// The most ranks that are run; more threads do more harm than good.
inline constexpr int64_t maxRanks = 4096;

/// Whether there are not too many ranks, and enough memory to run a program,
/// which is known before anything of it is taken; reports why not.
mlir::LogicalResult checkRoom(ProgramOp program, MeshOp mesh);

/// Runs one program on all ranks of `mesh` (null: on one rank), or programs
/// that are localized for each, by rank. Arguments that `inputs` lacks are
/// drawn by randomFill, the argument's name being the stream and the external
/// form the global tensor. Frees what it can as it goes: `inputs` after they
/// have been handed to the ranks, values after their last use.
///
/// Gives the final values of the inout arguments, then the returned values, in
/// the program's order. Replicated values are compared between the ranks.
///
/// Failures are reported as errors at the operation or argument concerned: a
/// rank without a localized program, an input that is unknown or of another
/// type or shape, an operation that fails (such as a division by zero), a
/// collective that not all ranks reach within the time limit, values that
/// should be replicated and differ.
mlir::FailureOr<std::vector<Output>> run(llvm::ArrayRef<ProgramOp> programs,
                                         MeshOp mesh, NamedTensors inputs,
                                         const RunOptions &options);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_INTERPRETER_H
