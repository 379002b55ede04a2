//===- RankExecutor.h - What one rank does ----------------------*- C++ -*-===//
//
// Executes the operations of a program on one rank: each takes the parts of its
// operands that the rank holds and gives the rank's part of its result.
//
// Ranks run concurrently and share the program, which they only read; nothing
// here makes attributes or types, or the MLIR context would have to be locked.
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

namespace ccn::interp {

using runtime::ElementType;
using runtime::HostTensor;

/// How a location is named in messages: "adam.ccn:6:14".
std::string describeLocation(mlir::Location loc);

/// Appends the operations of a block as they are executed: those of a region
/// before the region's own, except regions that are executed as one.
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
  /// What is executed for each chunk.
  std::vector<mlir::Operation *> order;
};
using ChunkPlans = llvm::DenseMap<mlir::Operation *, ChunkPlan>;

class RankExecutor {
public:
  /// Meets other ranks by `others` and computes by `kernels`.
  RankExecutor(RankMesh mesh, int rank, Exchange &others,
               Kernels &kernels = numericKernels())
      : mesh(mesh), rank(rank), others(others), kernels(kernels) {}

  void set(mlir::Value value, HostTensor tensor) {
    values[value] = std::move(tensor);
  }
  const HostTensor &get(mlir::Value value) const {
    auto it = values.find(value);
    assert(it != values.end() && "a value is used before it is set");
    return it->second;
  }
  void drop(mlir::Value value) { values.erase(value); }

  /// Executes an operation with one result and sets it. An operation that is
  /// not known is an error.
  Status execute(mlir::Operation *op);

  /// Executes an overlapped region chunk by chunk, with everything outside of
  /// the chunk spoiled. What is put together is right only if no stage needs
  /// elements of another chunk.
  Status executeInChunks(const ChunkPlan &plan);
  /// The same in parts, for ranks that execute one after the other: start, then
  /// for each chunk begin, each operation of the plan, and end; then finish.
  Status startChunks(const ChunkPlan &plan);
  Status beginChunk(const ChunkPlan &plan, size_t chunk);
  Status executeForChunk(mlir::Operation *op, const ChunkPlan &plan,
                         size_t chunk);
  Status endChunk(const ChunkPlan &plan, size_t chunk);
  void finishChunks(const ChunkPlan &plan);

  /// Whether it was a meeting of ranks that failed, and not this rank alone.
  bool meetingFailed() const { return failedToMeet; }

private:
  using Tensor = Result<HostTensor>;

  /// ExecuteLocal.cpp: what needs no other rank. No value: not of this kind.
  std::optional<Tensor> executeElementwise(mlir::Operation *op);
  std::optional<Tensor> executeTensorOp(mlir::Operation *op);
  /// ExecuteChunks.cpp.
  /// The rank's rows of a value that a chunk has.
  llvm::SmallVector<SliceBounds> chunkOf(mlir::Value value,
                                         const ChunkPlan &plan, size_t chunk);
  /// `x` with all rows outside of the ranges spoiled.
  Tensor spoilOutside(mlir::Type type, const HostTensor &x, int64_t dim,
                      llvm::ArrayRef<SliceBounds> ranges);
  /// Spoils what a chunk does not have of a value.
  Status spoil(mlir::Value value, const ChunkPlan &plan, size_t chunk);
  /// ExecuteCollective.cpp.
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

  /// The type of a value. All are ranked tensors.
  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
  static ElementType elementOf(mlir::Value value) {
    return elementTypeOf(typeOf(value).getElementType());
  }
  Box boxOf(mlir::Value value) { return mesh.boxOf(typeOf(value), rank); }

  /// The rank's part of a value, cut to `needed`, a box of the global tensor
  /// inside that part.
  Tensor cut(mlir::Value value, const Box &needed);
  /// The rank's part of an operand as its operation takes it: sliced for free
  /// where it is less cut than the operation's loops.
  Tensor cut(mlir::OpOperand &operand);

  /// What the ranks of a group hold of one value, in the group's order.
  struct Parts {
    std::vector<int> ranks;
    std::vector<HostTensor> tensors;
  };
  /// Meets the ranks that differ from this one along the axes, at what has the
  /// id and the name.
  Result<Parts> exchange(mlir::Operation *op, llvm::StringRef name,
                         const HostTensor &tensor,
                         llvm::ArrayRef<mlir::StringAttr> axes);
  /// The box of a global tensor, put together from parts that cover it.
  Tensor assemble(const Parts &parts, mlir::RankedTensorType type,
                  const Box &box);
  /// The group's parts, cut to `box`.
  Result<std::vector<HostTensor>>
  cutParts(const Parts &parts, mlir::RankedTensorType type, const Box &box);
  /// OrderedSums.cpp.
  /// The boxes of a collective's result that a rank has now, in its part of the
  /// result: of a chunk those that are in it, else all of the part.
  std::vector<Box> boxesNow(CollectiveOpInterface op, int64_t rank);
  /// The reduction of what the group has of this rank's part of the result, in
  /// the order of a schedule; `position` is this rank's.
  Tensor combineBy(const SumSchedule &sums, CollectiveOpInterface op,
                   ReduceKind kind, llvm::ArrayRef<HostTensor> pieces,
                   int64_t position);
  Status changeType(HostTensor &value, ElementType from, ElementType to);
  Tensor reshard(ReshardOp op);

  RankMesh mesh;
  int rank;
  Exchange &others;
  Kernels &kernels;
  /// How many collectives this rank has been in.
  int64_t sequence = 0;
  bool failedToMeet = false;
  /// Of the region that is executed chunk by chunk: what it takes in chunks
  /// from outside, whole, and what has been put together of what it yields.
  llvm::SmallVector<std::pair<mlir::Value, HostTensor>> taken;
  std::vector<HostTensor> joined;
  /// The chunk of it that is executed.
  std::optional<std::pair<const ChunkPlan *, size_t>> current;
  llvm::DenseMap<mlir::Value, HostTensor> values;
};

} // namespace ccn::interp

#endif // CCN_INTERPRETER_RANKEXECUTOR_H
