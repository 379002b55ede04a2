//===- SymbolicExecutor.h - Executes programs on symbols --------*- C++ -*-===//
//
// Executes the operations of a program one after the other, each on all ranks
// of the mesh, without threads. Each rank uses the interpreter's own executor,
// with symbolic kernels.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VERIFY_SYMBOLICEXECUTOR_H
#define CCN_VERIFY_SYMBOLICEXECUTOR_H

#include "lib/Interpreter/RankExecutor.h"
#include "lib/Verify/SymbolicKernels.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <memory>

namespace ccn::verify {

/// The operation and the rank at which execution failed, and why.
struct ExecutionFailure {
  mlir::Operation *op;
  int64_t rank;
  Status status;
};

/// Executes operations on all ranks, and holds the ranks' parts of values.
class SymbolicExecutor {
public:
  SymbolicExecutor(interp::RankMesh mesh, SymbolicKernels &kernels);

  int64_t numRanks() const { return static_cast<int64_t>(executors.size()); }

  /// A rank's part of a value. Setting it again replaces it: operations that
  /// run several times, such as those of a region that runs chunk by chunk,
  /// read the part that was set last.
  void set(int64_t rank, mlir::Value value, runtime::HostTensor part);
  const runtime::HostTensor &get(int64_t rank, mlir::Value value) const;

  /// Executes an operation on all ranks, including the operations of its
  /// region. A terminator does nothing. Returns none on success.
  std::optional<ExecutionFailure> execute(mlir::Operation *op);
  /// Executes the operations of a block in order.
  std::optional<ExecutionFailure> execute(mlir::Block &block);

private:
  /// Executes `op` by calling `step` for each rank, and again for ranks that
  /// had to wait.
  std::optional<ExecutionFailure>
  execute(mlir::Operation *op,
          llvm::function_ref<Status(interp::RankExecutor &)> step);

  interp::Rendezvous meetings;
  std::vector<std::unique_ptr<interp::RankExecutor>> executors;
};

/// Arguments by name, in external form.
using SymbolicInputs = llvm::StringMap<runtime::HostTensor>;

/// Makes a new symbol for each element of each argument.
Result<SymbolicInputs> makeSymbols(ProgramOp program, SymbolicKernels &kernels);

/// Executes a program on its module's mesh. Returns the ranks' parts of its
/// outcomes (interp::outcomesOf), by outcome, then by rank. `inputs` must have
/// every argument, in external form. An error says where it happened.
Result<std::vector<std::vector<runtime::HostTensor>>>
executeProgram(ProgramOp program, const SymbolicInputs &inputs,
               SymbolicKernels &kernels);

} // namespace ccn::verify

#endif // CCN_VERIFY_SYMBOLICEXECUTOR_H
