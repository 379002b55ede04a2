//===- SymbolicExecutor.h - Programs on symbols -----------------*- C++ -*-===//
//
// Executes operations of a program on all ranks of its mesh, one operation
// after the other on all ranks, without threads: each rank is the interpreter's
// own executor, with symbolic kernels.
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

/// How ranks that execute one after the other meet. A rank that comes before
/// another has shown its value fails, with `hasToWait` set, and executes the
/// operation anew later: operations are pure, so it will show the same again.
class LockstepExchange : public interp::Exchange {
public:
  explicit LockstepExchange(int64_t ranks) : rounds(ranks) {}

  /// Forgets the meetings of earlier operations.
  void startOperation();
  /// The rank executes the operation from its start.
  void startRank(int64_t rank);

  bool hasToWait() const { return waiting; }
  /// How many values have been shown in this operation.
  size_t numShown() const { return shown.size(); }

  Result<std::vector<runtime::HostTensor>>
  exchange(int rank, const interp::RankGroup &group,
           const interp::Meeting &meeting, runtime::HostTensor value) override;

private:
  /// How many meetings of the operation each rank has been in.
  std::vector<size_t> rounds;
  /// By round and rank.
  std::map<std::pair<size_t, int>, runtime::HostTensor> shown;
  bool waiting = false;
};

/// Where a rank failed.
struct ExecutionFailure {
  mlir::Operation *op;
  int64_t rank;
  Status status;
};

class SymbolicExecutor {
public:
  SymbolicExecutor(interp::RankMesh mesh, SymbolicKernels &kernels);

  int64_t numRanks() const { return static_cast<int64_t>(executors.size()); }

  /// What a rank holds of a value. Setting it again replaces it: operations
  /// that are executed several times, such as those of a region that runs chunk
  /// by chunk, read what was set last.
  void set(int64_t rank, mlir::Value value, runtime::HostTensor part);
  const runtime::HostTensor &get(int64_t rank, mlir::Value value) const;

  /// Executes an operation on all ranks; one with a region with what is in it.
  /// A terminator does nothing. None if all went well.
  std::optional<ExecutionFailure> execute(mlir::Operation *op);
  /// Executes the operations of a block in order.
  std::optional<ExecutionFailure> execute(mlir::Block &block);

private:
  /// The operation `op` on each rank by `step`, anew on those that have to
  /// wait.
  std::optional<ExecutionFailure>
  execute(mlir::Operation *op,
          llvm::function_ref<Status(interp::RankExecutor &)> step);
  /// An overlapped region chunk by chunk, with all else unknown.
  std::optional<ExecutionFailure> executeInChunks(OverlappedOp op);

  LockstepExchange meetings;
  std::vector<std::unique_ptr<interp::RankExecutor>> executors;
};

/// Arguments by name, in external form.
using SymbolicInputs = llvm::StringMap<runtime::HostTensor>;

/// A new symbol for each element of each argument.
Result<SymbolicInputs> makeSymbols(ProgramOp program, SymbolicKernels &kernels);

/// Executes a program on its module's mesh. Gives what the ranks hold of what
/// it leaves (interp::outcomesOf): by outcome, then by rank. `inputs` has every
/// argument, in the external form of its type. An error says where it happened.
Result<std::vector<std::vector<runtime::HostTensor>>>
executeProgram(ProgramOp program, const SymbolicInputs &inputs,
               SymbolicKernels &kernels);

} // namespace ccn::verify

#endif // CCN_VERIFY_SYMBOLICEXECUTOR_H
