//===- Planner.h - From a localized program to a plan -----------*- C++ -*-===//
//
// Plans the program of one rank: which buffer every value lies in, and which
// kernels make them, in which order.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_PLANNER_H
#define CCN_LIB_PLAN_PLANNER_H

#include "dialect/ccn/Chunking.h"
#include "dialect/ccn/Placement.h"
#include "lib/Plan/Bodies.h"
#include "lib/Plan/PlanBuilder.h"

namespace ccn::plan {

/// A chunk of a pipeline.
struct Chunk {
  const Chunking &chunking;
  /// Of the chunked dimension, in the coordinates of the chunking.
  llvm::ArrayRef<SliceBounds> ranges;
  /// In a ring, where each rank takes chunks in an order of its own: the first
  /// of as many flags as the group has members, by which ranks tell each other
  /// what is there.
  std::optional<int64_t> flags = std::nullopt;
  /// Whether it is the first that the rank makes, and with it what is the same
  /// for all chunks.
  bool isFirst = false;
};

/// Repeats and cuts before it casts, in kernels that do both; elsewhere casts
/// before it repeats.
void sinkCasts(ProgramOp program);

class Planner {
public:
  Planner(ProgramOp program, BodyMaker &bodies);

  /// Plans everything; an error has been reported if it fails.
  mlir::LogicalResult run();
  mlir::OwningOpRef<PlanOp> take() { return builder.take(); }

  MeshOp getMesh() const { return mesh; }
  int64_t getRank() { return *program.getRank(); }
  /// The ranks along axes that this one communicates with, itself included.
  GroupAttr groupOf(AxesAttr axes);

  /// The local shape of a value.
  static llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
  static mlir::Type elementOf(mlir::Value value);

  PlanBuilder &getBuilder() { return builder; }
  /// As PlanBuilder's.
  int addBuffer(Memory memory, mlir::Type element, int64_t count) {
    return builder.addBuffer(memory, element, count);
  }

  /// Where all of a value that kernels have made lies; none if it is not made.
  const Strided *findStorage(mlir::Value value) const;
  void setStorage(mlir::Value value, const Strided &view) {
    storage[value] = view;
  }
  /// The buffer for all of a value, which several kernels may make in chunks;
  /// one that others read is symmetric. What a region yields is at home where
  /// its result is.
  Strided homeOf(mlir::Value value);
  /// Makes symmetric memory that holds, on each rank, its part of a tensor of
  /// `global` type the home of a value.
  Strided symmetricHomeOf(mlir::Value value, mlir::RankedTensorType global);
  /// Likewise for what a collective gives to others.
  Strided stagingOf(CommunicateOp op);

  /// As many flags, unused so far.
  int64_t takeFlags(int64_t count) {
    flags += count;
    return flags - count;
  }
  BodyMaker &getBodies() { return bodies; }

private:
  /// Whether others read what a collective takes where this rank has it, rather
  /// than be sent it; the same on all ranks.
  bool isReadByOthers(CommunicateOp op);
  /// A collective for which others read the value.
  CommunicateOp findReader(mlir::Value value);
  void planArguments();
  /// A region's results lie where what it yields does.
  void takeYields(mlir::Operation *op);
  /// The kernel of an operation, or of a fused region, not yet among the
  /// launches; for `chunk` or, if it is null, for all. `hasParts`, if asked
  /// for: whether there is anything in it, be it on other ranks.
  LaunchOp makeLaunch(mlir::Operation *op, const Chunk *chunk,
                      bool *hasParts = nullptr);
  void planKernel(mlir::Operation *op);
  /// A collective that an order has given a priority leaves on a stream of its
  /// own, while the launches that follow go on.
  bool leavesAhead(mlir::Operation *op);
  /// Makes a launch wait for what it takes, or an operation in it, from
  /// collectives that have left.
  void awaitAhead(LaunchOp launch, mlir::Operation *op);
  /// Makes the launch of an operation wait for collectives that have left ahead
  /// and take what it does.
  void awaitSharedHomes(LaunchOp launch, mlir::Operation *op);
  void awaitAllAhead(LaunchOp launch);
  void planOverlapped(OverlappedOp op);
  void planChunk(OverlappedOp op, const Chunk &chunk);
  /// Orders the launches from `begin` on, which are there chunk by chunk, as a
  /// pipeline has them: stage s of chunk c in step c + s. Then what may run at
  /// once is launched at about the same time, and streams that stages share, or
  /// the runtime lets share a queue of the device, do not make chunks wait for
  /// all of the chunk before.
  void orderPipeline(size_t begin, size_t stages);
  CommunicateOp findRing(OverlappedOp op, const Chunking &chunking);
  void planUpdate(UpdateOp op);
  void planReturn(ReturnOp op);
  /// Keeps what values of an argument's old content still needs, as the
  /// argument is about to change.
  void saveOldValues(UpdateOp op, mlir::BlockArgument argument);
  /// Whether what has left ahead may still read an argument's memory.
  bool isReadAhead(mlir::BlockArgument argument);
  /// Stores a value in memory: of an argument, or of a result if that is null.
  void storeIn(mlir::Value value, const Strided &target,
               mlir::BlockArgument argument, mlir::Location loc);
  bool isInSegment(LaunchOp launch) const {
    return static_cast<int>(*launch.getSegment()) == segment;
  }
  /// Adds a launch of the segment at hand.
  LaunchOp addLaunch(llvm::StringRef name, mlir::Location loc);

  ProgramOp program;
  MeshOp mesh;
  BodyMaker &bodies;
  PlanBuilder builder;
  std::vector<LaunchOp> launches;
  /// The first flags of every part that has some are these; the same on all
  /// ranks.
  int64_t flags = 0;
  llvm::DenseMap<mlir::Value, Strided> storage;
  llvm::DenseMap<mlir::Value, int> homes;
  llvm::DenseMap<mlir::Operation *, int> staging;
  std::vector<int> resultBuffers;
  /// The launches of collectives that have left and that the launches of stream
  /// 0 have not waited for, by what they make.
  llvm::DenseMap<mlir::Value, LaunchOp> ahead;
  /// Likewise, by what they take.
  llvm::DenseMap<mlir::Value, LaunchOp> takenAhead;
  /// The launches that values were made in.
  llvm::DenseMap<mlir::Value, LaunchOp> makers;
  int segment = 0;
  bool failures = false;
};

/// The value by which a value is known outside of regions that yield it.
mlir::Value outermost(mlir::Value value);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_PLANNER_H
