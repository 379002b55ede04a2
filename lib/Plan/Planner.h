//===- Planner.h - From a localized program to a plan -----------*- C++ -*-===//
//
// Plans the program of one rank: in which buffer each value lies, which kernels
// compute the values, and in which order.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_PLANNER_H
#define CCN_LIB_PLAN_PLANNER_H

#include "dialect/ccn/Chunking.h"
#include "dialect/ccn/Placement.h"
#include "lib/Plan/Bodies.h"
#include "lib/Plan/PlanBuilder.h"
#include "lib/Plan/RankParts.h"

namespace ccn::plan {

/// A chunk of a pipeline.
struct Chunk {
  const Chunking &chunking;
  /// The ranges of the chunked dimension, in the coordinates of the chunking.
  llvm::ArrayRef<SliceBounds> ranges;
  /// In a ring, where each rank has its own order of chunks: the first of one
  /// flag for each member of the group. Ranks set them to signal that data is
  /// ready.
  std::optional<int64_t> flags = std::nullopt;
  /// Whether it is the rank's first chunk; values that are the same for all
  /// chunks are computed with it.
  bool isFirst = false;
};

/// Reorders casts and movements of elements: in kernels, broadcasts and
/// extractions come before casts; elsewhere, casts come before broadcasts.
void sinkCasts(ProgramOp program);

/// Plans the program of one rank.
class Planner {
public:
  Planner(ProgramOp program, BodyMaker &bodies, RankParts &rankParts);

  /// Plans the whole program; reports an error if that fails.
  mlir::LogicalResult run();
  mlir::OwningOpRef<PlanOp> take() { return builder.take(); }

  MeshOp getMesh() const { return mesh; }
  int64_t getRank() { return *program.getRank(); }
  RankParts &getRankParts() { return rankParts; }
  /// The part of a tensor that a rank holds.
  const TensorPart &partOf(mlir::RankedTensorType type, int64_t rank) {
    return rankParts.of(type)[static_cast<size_t>(rank)];
  }
  /// The ranks along `axes` that this rank communicates with, including itself.
  GroupAttr groupOf(AxesAttr axes);

  /// The local shape of a value.
  static llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
  static mlir::Type elementOf(mlir::Value value);

  PlanBuilder &getBuilder() { return builder; }
  /// See PlanBuilder::addBuffer.
  int addBuffer(Memory memory, mlir::Type element, int64_t count) {
    return builder.addBuffer(memory, element, count);
  }

  /// Where the whole of a computed value lies; null if it is not computed yet.
  const Strided *findStorage(mlir::Value value) const;
  void setStorage(mlir::Value value, const Strided &view) {
    storage[value] = view;
  }
  /// The home of a value: a buffer for all of it, which several kernels may
  /// fill in chunks. It is symmetric if other ranks read the value. A value
  /// that a region yields has the same home as the region's result.
  Strided homeOf(mlir::Value value);
  /// Makes a symmetric buffer, large enough for any rank's part of a tensor of
  /// type `global`, the home of a value that has none yet. Returns the home.
  Strided symmetricHomeOf(mlir::Value value, mlir::RankedTensorType global);
  /// A symmetric buffer for a collective's input, from which other ranks read.
  Strided stagingOf(CommunicateOp op);

  /// Reserves `count` flags and returns the first.
  int64_t takeFlags(int64_t count) {
    flags += count;
    return flags - count;
  }
  BodyMaker &getBodies() { return bodies; }

private:
  /// Whether other ranks read a collective's input in this rank's memory,
  /// instead of receiving it. The same on all ranks.
  bool isReadByOthers(CommunicateOp op);
  /// A collective for which other ranks read the value in this rank's memory;
  /// null if there is none.
  CommunicateOp findReader(mlir::Value value);
  void planArguments();
  /// Records that the results of a region lie where the values lie that it
  /// yields.
  void takeYields(mlir::Operation *op);
  /// Makes the launch of an operation or a fused region, without adding it to
  /// `launches`; for `chunk` or, if that is null, for all elements. Sets
  /// *hasParts, unless null, to whether the launch has parts on any rank.
  LaunchOp makeLaunch(mlir::Operation *op, const Chunk *chunk,
                      bool *hasParts = nullptr);
  void planKernel(mlir::Operation *op);
  /// Whether a collective runs ahead: one to which an order has given a
  /// priority runs on its own stream, at the same time as later launches.
  bool leavesAhead(mlir::Operation *op);
  /// Makes a launch wait for the collectives that run ahead and whose results
  /// `op`, or an operation in it, uses.
  void awaitAhead(LaunchOp launch, mlir::Operation *op);
  /// Makes the launch of `op` wait for the collectives that run ahead and have
  /// an input in common with it.
  void awaitSharedHomes(LaunchOp launch, mlir::Operation *op);
  void awaitAllAhead(LaunchOp launch);
  void planOverlapped(OverlappedOp op);
  void planChunk(OverlappedOp op, const Chunk &chunk);
  /// Sorts the launches from `begin` on, which are ordered by chunk, by the
  /// steps of a pipeline: stage s of chunk c is in step c + s. Then stages that
  /// may run at the same time are launched at about the same time. Also, if
  /// stages share a stream or a queue of the device, a chunk need not wait for
  /// all stages of the chunk before.
  void orderPipeline(size_t begin, size_t stages);
  CommunicateOp findRing(OverlappedOp op, const Chunking &chunking);
  void planUpdate(UpdateOp op);
  void planReturn(ReturnOp op);
  /// Copies values that lie in an argument's memory and are still needed, as
  /// `op` is about to change that memory.
  void saveOldValues(UpdateOp op, mlir::BlockArgument argument);
  /// Whether collectives that run ahead may still read an argument's memory.
  bool isReadAhead(mlir::BlockArgument argument);
  /// Stores a value in `target`, the memory of `argument` or, if that is null,
  /// of a result.
  void storeIn(mlir::Value value, const Strided &target,
               mlir::BlockArgument argument, mlir::Location loc);
  bool isInSegment(LaunchOp launch) const {
    return static_cast<int>(*launch.getSegment()) == segment;
  }
  /// Adds a launch to the current segment.
  LaunchOp addLaunch(llvm::StringRef name, mlir::Location loc);

  ProgramOp program;
  MeshOp mesh;
  BodyMaker &bodies;
  RankParts &rankParts;
  PlanBuilder builder;
  std::vector<LaunchOp> launches;
  /// How many flags are reserved. The same on all ranks.
  int64_t flags = 0;
  llvm::DenseMap<mlir::Value, Strided> storage;
  llvm::DenseMap<mlir::Value, int> homes;
  llvm::DenseMap<mlir::Operation *, int> staging;
  std::vector<int> resultBuffers;
  /// The launches of collectives that run ahead, and for which no launch on
  /// stream 0 has waited, by their results.
  llvm::DenseMap<mlir::Value, LaunchOp> ahead;
  /// Likewise, by their inputs.
  llvm::DenseMap<mlir::Value, LaunchOp> takenAhead;
  /// The launch that computed each value.
  llvm::DenseMap<mlir::Value, LaunchOp> makers;
  int segment = 0;
  bool failures = false;
};

/// The result of the outermost region that yields `value`; `value` itself if no
/// region does.
mlir::Value outermost(mlir::Value value);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_PLANNER_H
