//===- Interpreter.h - The reference interpreter ----------------*- C++ -*-===//
//
// Executes a verified program on all ranks of its mesh, on few threads. It is
// the reference for everything else that executes programs: simple, exact about
// rounding and the order of sums, and with the same bits in every run.
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

/// Tensors by the name of their argument, in external form: a replicated or
/// sliced tensor has its global shape; a tensor that is local or partial along
/// mesh axes has a leading dimension for each of these axes, in the mesh's
/// order.
using NamedTensors = std::map<std::string, HostTensor>;

/// An output of a program.
struct Output {
  /// The name of the inout argument or returned value.
  std::string name;
  /// Its value in external form.
  HostTensor tensor;
};

/// How to run a program.
struct RunOptions {
  /// The random seed for arguments that are not given.
  uint64_t seed = 0;
  /// How many threads execute the ranks at most. 0: one for each processor, but
  /// only one for programs so small that threads would cost more than they
  /// save.
  unsigned threads = 0;
  /// Whether to execute overlapped regions chunk by chunk, with all elements
  /// outside of the chunk spoiled, to show that this gives the same results.
  /// Otherwise their operations are executed like any others, except in regions
  /// where the order of sums depends on the chunks.
  bool inChunks = false;
};

/// Checks that there is enough memory to run a program, before any is
/// allocated; reports an error if not.
mlir::LogicalResult checkRoom(ProgramOp program, MeshOp mesh);

/// Runs one program on all ranks of `mesh` (null: on one rank), or a list of
/// programs, each localized for a rank. Arguments that `inputs` lacks are
/// filled by randomFill, with the argument's name as the stream and the
/// external form as the global tensor. Frees memory early: `inputs` after the
/// ranks have their parts, values after their last use.
///
/// Returns the final values of the inout arguments, then the returned values,
/// in the program's order. Checks that ranks have the same replicated values.
///
/// Fails, with an error at the operation or argument concerned, if a rank has
/// no localized program, an input is unknown or has another type or shape, an
/// operation fails (such as a division by zero), not all ranks reach a
/// collective within the time limit, or values that should be replicated
/// differ.
mlir::FailureOr<std::vector<Output>> run(llvm::ArrayRef<ProgramOp> programs,
                                         MeshOp mesh, NamedTensors inputs,
                                         const RunOptions &options);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_INTERPRETER_H
