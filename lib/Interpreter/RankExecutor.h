//===- RankExecutor.h - Executes operations on one rank ---------*- C++ -*-===//
//
// Executes the operations of a program on one rank: each reads the rank's parts
// of its operands and computes the rank's part of its result.
//
// Ranks may run on several threads and share the program, which they only read.
// The code must not make attributes or types, as the MLIR context would then
// have to be locked.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_RANKEXECUTOR_H
#define CCN_INTERPRETER_RANKEXECUTOR_H

#include "dialect/ccn/Chunking.h"
#include "lib/Interpreter/Kernels.h"
#include "lib/Interpreter/Placement.h"
#include "lib/Interpreter/Rendezvous.h"
#include "lib/Interpreter/SumSchedules.h"

#include "llvm/ADT/DenseMap.h"

#include <deque>

namespace ccn::interp {

using runtime::ElementType;
using runtime::HostTensor;

/// The text of a location in messages, such as "adam.ccn:6:14".
std::string describeLocation(mlir::Location loc);

/// Appends the operations of a block in the order of execution: those of a
/// region come before the operation that has the region. Regions in `asOne` are
/// executed as one operation.
template <typename Set>
void appendOrder(mlir::Block &block, const Set &asOne,
                 std::vector<mlir::Operation *> &order) {
  for (mlir::Operation &op : block.without_terminator()) {
    if (llvm::isa<FusedOp, OverlappedOp>(op) && !asOne.contains(&op))
      appendOrder(op.getRegion(0).front(), asOne, order);
    order.push_back(&op);
  }
}

/// How an overlapped region is executed chunk by chunk.
struct ChunkPlan {
  ChunkPlan(OverlappedOp op);

  OverlappedOp op;
  Chunking chunking;
  /// The ranges of the chunked dimension, by chunk.
  llvm::SmallVector<llvm::SmallVector<SliceBounds>> ranges;
  /// The operations that are executed for each chunk.
  std::vector<mlir::Operation *> order;
};
using ChunkPlans = llvm::DenseMap<mlir::Operation *, ChunkPlan>;

/// Executes operations on one rank, and holds the rank's parts of values.
class RankExecutor {
public:
  /// Meets other ranks in `meetings`, and computes with `kernels`.
  RankExecutor(RankMesh mesh, int rank, Rendezvous &meetings,
               Kernels &kernels = numericKernels())
      : mesh(mesh), rank(rank), meetings(meetings), kernels(kernels) {}

  void set(mlir::Value value, HostTensor tensor) {
    values[value] = std::move(tensor);
  }
  const HostTensor &get(mlir::Value value) const {
    auto it = values.find(value);
    assert(it != values.end() && "a value is used before it is set");
    return it->second;
  }
  void drop(mlir::Value value) { values.erase(value); }
  void dropAll() { values.clear(); }

  /// Executes an operation that has one result, or a region after its
  /// operations, and sets its results. Fails if the operation is unknown, and
  /// while it has to wait for other ranks (hasToWait); then call it again, with
  /// the same operation, when these have come.
  Status execute(mlir::Operation *op);

  /// Executes an overlapped region chunk by chunk, with all elements outside of
  /// the chunk spoiled. The result is right only if no stage needs elements of
  /// another chunk. Waits as execute() does.
  Status executeInChunks(const ChunkPlan &plan);

  /// Whether the last call failed only because other ranks have not come yet.
  bool hasToWait() const { return meetings.isWaiting(rank); }
  /// Whether the failure was in a meeting of ranks, and not of this rank alone.
  bool meetingFailed() const { return failedToMeet; }

private:
  using Tensor = Result<HostTensor>;

  /// Executes an operation from its beginning. Its meetings that are over give
  /// what they gave before.
  Status executeAgain(mlir::Operation *op);
  /// ExecuteLocal.cpp: operations that need no other rank. None if the function
  /// does not handle this kind of operation.
  std::optional<Tensor> executeElementwise(mlir::Operation *op);
  std::optional<Tensor> executeTensorOp(mlir::Operation *op);
  // ExecuteChunks.cpp.
  Status startChunks(const ChunkPlan &plan);
  Status beginChunk(const ChunkPlan &plan, size_t chunk);
  Status executeForChunk(mlir::Operation *op, const ChunkPlan &plan,
                         size_t chunk);
  Status endChunk(const ChunkPlan &plan, size_t chunk);
  void finishChunks(const ChunkPlan &plan);
  /// The ranges of the rank's part of a value that are in a
  /// chunk.
  llvm::SmallVector<SliceBounds> chunkOf(mlir::Value value,
                                         const ChunkPlan &plan, size_t chunk);
  /// `x` with all indices of dimension `dim` outside of the ranges spoiled.
  Tensor spoilOutside(mlir::Type type, const HostTensor &x, int64_t dim,
                      llvm::ArrayRef<SliceBounds> ranges);
  /// Spoils the elements of a value that are not in a chunk.
  Status spoil(mlir::Value value, const ChunkPlan &plan, size_t chunk);
  // ExecuteCollective.cpp.
  std::optional<Tensor> executeCollective(mlir::Operation *op);

  Tensor constant(ConstantOp op);
  Tensor runDropout(DropoutOp op);
  Tensor runIota(IotaOp op);
  Tensor runMatmul(MatmulOp op);
  Tensor runConv2d(Conv2dOp op);
  Tensor runReduction(ReductionOp op);
  Tensor runConcat(ConcatOp op);
  Tensor runGatherRows(GatherRowsOp op);
  Tensor runScatterRows(ScatterRowsOp op);

  /// The type of a value; all values are ranked tensors.
  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
  static ElementType elementOf(mlir::Value value) {
    return elementTypeOf(typeOf(value).getElementType());
  }
  Box boxOf(mlir::Value value) { return mesh.boxOf(typeOf(value), rank); }

  /// The rank's part of a value, cut to `needed`, a box of the global tensor
  /// that lies inside that part.
  Tensor cut(mlir::Value value, const Box &needed);
  /// The rank's part of an operand, cut to the elements that the operation
  /// needs: an operand may be sliced along fewer axes than the operation's
  /// loops.
  Tensor cut(mlir::OpOperand &operand);

  /// The parts of one value that the ranks of a group hold, in the group's
  /// order.
  struct Parts {
    std::vector<int> ranks;
    Shown shown;
  };
  /// Exchanges `tensor` with the ranks that differ from this one only along the
  /// axes. What is returned lives until the operation, `op`, is done.
  Result<const Parts *> exchange(mlir::Operation *op, const HostTensor &tensor,
                                 llvm::ArrayRef<mlir::StringAttr> axes);
  /// The box of a global tensor, assembled from parts that cover it.
  Tensor assemble(const Parts &parts, mlir::RankedTensorType type,
                  const Box &box);
  /// What `make` makes of the parts, of which it is the region `box`: by the
  /// first rank of the group that needs this region.
  Tensor once(const Parts &parts, const Box &box,
              llvm::function_ref<Tensor()> make);
  /// The group's parts, cut to `box`.
  Result<std::vector<HostTensor>>
  cutParts(const Parts &parts, mlir::RankedTensorType type, const Box &box);
  // OrderedSums.cpp.
  /// The boxes of a collective's result that a rank computes
  /// now, relative to its part of the result: those in the current chunk, or
  /// the whole part if there are no chunks.
  std::vector<Box> boxesNow(CollectiveOpInterface op, int64_t rank);
  /// Reduces the group's `pieces`, each of this rank's part of the result, in
  /// the order of a schedule. `position` is this rank's position in the group.
  Tensor combineBy(const SumSchedule &sums, CollectiveOpInterface op,
                   ReduceKind kind, llvm::ArrayRef<HostTensor> pieces,
                   int64_t position);
  Status changeType(HostTensor &value, ElementType from, ElementType to);
  Tensor reshard(ReshardOp op);

  RankMesh mesh;
  int rank;
  Rendezvous &meetings;
  Kernels &kernels;
  /// In how many meetings this rank has been before the current operation.
  int64_t sequence = 0;
  /// What the operation's meetings that are over gave, and how many of them it
  /// has taken since it was executed from its beginning.
  std::deque<Parts> met;
  size_t metAgain = 0;
  bool failedToMeet = false;
  /// Where in a region that is executed chunk by chunk the rank is.
  struct ChunkPlace {
    size_t chunk = 0, operation = 0;
  };
  std::optional<ChunkPlace> inside;
  /// For the region that is executed chunk by chunk: the whole values from
  /// outside that it reads in chunks, and the results assembled so far.
  llvm::SmallVector<std::pair<mlir::Value, HostTensor>> taken;
  std::vector<HostTensor> joined;
  /// The chunk of that region that is being executed.
  std::optional<std::pair<const ChunkPlan *, size_t>> current;
  llvm::DenseMap<mlir::Value, HostTensor> values;
};

} // namespace ccn::interp

#endif // CCN_INTERPRETER_RANKEXECUTOR_H
