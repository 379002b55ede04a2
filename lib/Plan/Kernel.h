//===- Kernel.h - One kernel from operations --------------------*- C++ -*-===//
//
// Lowers operations that run together to the parts of one launch. What works
// element by element is not made at once: it waits until something needs it in
// memory, and then everything of its shape becomes one loop.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_KERNEL_H
#define CCN_LIB_PLAN_KERNEL_H

#include "lib/Plan/Planner.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

#include <deque>

namespace ccn::plan {

/// The sizes of a box, and the box of a view of `part`.
Sizes boxSizes(const TensorPart &part);
Strided boxIn(const Strided &view, const TensorPart &part,
              const TensorPart &box);

/// The common part of two boxes, if there is one.
std::optional<TensorPart> intersect(const TensorPart &a, const TensorPart &b);

/// Whether there are elements in boxes, and how many.
bool hasElements(llvm::ArrayRef<TensorPart> boxes);
int64_t countBoxes(llvm::ArrayRef<TensorPart> boxes);

/// Whether a collective's members send each other what each combines.
bool isPushed(CommunicateOp op);

/// The protocol of its own with which a collective runs, if it has one.
std::optional<Exchange> exchangeOf(CommunicateOp op);

class Kernel {
public:
  /// `chunk` is null for all of everything.
  Kernel(Planner &planner, PartBuilder &parts, const Chunk *chunk)
      : planner(planner), parts(parts), chunk(chunk) {}

  /// Lowers operations of one block, in order, and makes what is used by
  /// others.
  mlir::LogicalResult lower(llvm::ArrayRef<mlir::Operation *> ops);

private:
  struct Node;

  /// A contiguous range, in the chunked dimension, of a value; or all of it.
  /// It is in memory, or waits in a node.
  struct Piece {
    Sizes sizes;
    Strided view = {};
    AllAttr all = {};
    Node *node = nullptr;
  };
  /// An elementwise operation that waits, or is done.
  struct Node {
    mlir::Operation *op = nullptr;
    mlir::Value value;
    /// The number of the piece, and where it begins in the value.
    size_t index = 0;
    Sizes offsets = {};
    Sizes sizes = {};
    llvm::SmallVector<Piece, 3> operands = {};
    /// Whether it must be stored whoever uses it.
    bool isRequired = false;
    /// Where it is stored, or shall be if not at home; and in whose memory.
    std::optional<Strided> place = std::nullopt;
    AllAttr gives = {};
    bool isStored = false;
    /// Whether a loop has computed it, and who uses it is in that loop.
    bool isDone = false;
  };
  using NodeSet = llvm::SmallSetVector<Node *, 8>;

  /// Where the parts of a collective lie.
  struct Geometry {
    mlir::RankedTensorType from, to;
    GroupAttr group;
    /// This rank's parts of both.
    TensorPart ownFrom, ownTo;
    /// This rank's place in the group.
    int64_t position = 0;
  };

  // Pieces.
  std::optional<unsigned> chunkedDim(mlir::Value value) const;
  /// Whether an operation in a chunk makes what is the same for all chunks, and
  /// so is made with the first: others may still read it then.
  bool isSameForAllChunks(mlir::Operation *op) const;
  llvm::SmallVector<SliceBounds> rangesOf(mlir::Value value) const;
  size_t countPieces(mlir::Value value) const;
  /// Sizes, and offsets in the value, of a piece.
  Sizes sizesOf(mlir::Value value, size_t index) const;
  Sizes offsetsOf(mlir::Value value, size_t index) const;
  Strided pieceOf(const Strided &whole, mlir::Value value, size_t index) const;
  /// Of a result that is cut from its input along the chunked dimension: the
  /// input's piece in which a piece of the result lies, and where it begins
  /// there.
  std::pair<size_t, int64_t> locate(mlir::Value input, mlir::Value result,
                                    size_t index) const;
  Piece getPiece(mlir::Value value, size_t index);
  void addPiece(mlir::Value value, Piece piece) {
    pieces[value].push_back(std::move(piece));
  }
  void addView(mlir::Value value, const Strided &view, AllAttr all = {}) {
    addPiece(value, {view.sizes, view, all});
  }
  /// Where a piece lies, once it is made.
  mlir::FailureOr<Strided> store(mlir::Value value, size_t index);
  /// Where what its user takes of an operand lies, for a piece of the result.
  mlir::FailureOr<Strided> store(mlir::OpOperand &operand, size_t index);
  mlir::FailureOr<Strided> storeContiguous(mlir::OpOperand &operand,
                                           size_t index);
  Strided copyOf(const Strided &view, mlir::Type element);
  /// Adds the part that makes a piece at home in contiguous memory, if need be
  /// in some from where it is copied there.
  void addContiguous(mlir::Value result, size_t index,
                     llvm::function_ref<void(const Strided &)> make);

  // Loops (KernelLoops.cpp).
  void findDomains();
  /// The loops that values are made in: of one domain are values that
  /// elementwise operations connect. The same on all ranks, as sizes would not
  /// be.
  const void *domainOf(mlir::Value value) const;
  Node *addNode(mlir::Operation *op, size_t index,
                llvm::SmallVector<Piece, 3> operands);
  /// Makes everything of a domain that is needed; if some of one piece are
  /// excepted, all others of that piece.
  mlir::LogicalResult flush(const void *domain, const NodeSet &except = {});
  mlir::LogicalResult flushScalars();
  bool isNeeded(const Node &node, const NodeSet &loop) const;
  class LoopBuilder;
  mlir::LogicalResult addLoop(const NodeSet &loop);
  /// A loop that copies: what is read may be combined, and stored in all
  /// memories.
  mlir::LogicalResult addCopyLoop(const Operand &from, const Operand &to,
                                  mlir::Location loc);
  void fillZero(const Strided &view);
  mlir::LogicalResult lowerReduction(ReductionOp op);
  mlir::LogicalResult reducePiece(ReductionOp op, size_t index);
  /// What a reduction alone needs of what waits, which then is computed in its
  /// loop.
  NodeSet findInlined(Node *root, ReductionOp op);
  /// Whether a reduction computes again what others compute too: where it takes
  /// no elements that are contiguous, or very many, no row of them is in the
  /// cache when the others come, and memory takes longer. The same on all
  /// ranks.
  bool isRepeated(Node *root, ReductionOp op);

  // Operations.
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  mlir::LogicalResult lowerMovement(mlir::Operation *op);
  mlir::LogicalResult lowerConcat(ConcatOp op);
  mlir::LogicalResult lowerMatmul(MatmulOp op);
  mlir::LogicalResult lowerConv2d(Conv2dOp op);
  mlir::LogicalResult lowerGatherRows(GatherRowsOp op);
  mlir::LogicalResult lowerScatterRows(ScatterRowsOp op);
  mlir::LogicalResult makeOutputs(llvm::ArrayRef<mlir::Operation *> ops);

  // Collectives (KernelCollectives.cpp), and products with them
  // (KernelProducts.cpp).
  llvm::SmallVector<TensorPart> boxesOf(mlir::RankedTensorType type,
                                        mlir::Value value, int64_t rank);
  mlir::LogicalResult lowerCommunicate(CommunicateOp op);
  mlir::LogicalResult lowerReducing(CommunicateOp op, const Geometry &geometry);
  mlir::LogicalResult lowerPushedReducing(CommunicateOp op,
                                          const Geometry &geometry);
  /// Sends each member what it combines of this rank's input, the views that
  /// `viewsFor` says of a member's number, of as many elements for all ranks,
  /// at most `largest`; returns where this rank's lie, in its first slot.
  llvm::SmallVector<Operand>
  push(CommunicateOp op, const Geometry &geometry, int64_t largest,
       llvm::function_ref<llvm::SmallVector<Strided>(int64_t)> viewsFor);
  mlir::LogicalResult lowerTwoShot(CommunicateOp op, const Geometry &geometry);
  mlir::LogicalResult lowerMoving(CommunicateOp op, const Geometry &geometry);
  mlir::LogicalResult lowerPush(CommunicateOp op, const Geometry &geometry);
  mlir::LogicalResult lowerExchange(CommunicateOp op, const Geometry &geometry,
                                    Exchange exchange);
  mlir::LogicalResult lowerShown(CommunicateOp op, const Geometry &geometry);
  bool isPushable(CommunicateOp op);
  /// Whether a product here takes what an all_gather gives shard by shard, as
  /// shards arrive; the same on all ranks.
  bool isGatheredByProduct(CommunicateOp op);
  /// The reduce_scatter that alone takes a product, to whose owners its parts
  /// are signalled as they are made; none if there is no such.
  CommunicateOp findScatter(MatmulOp op);
  mlir::LogicalResult lowerGatheredProduct(MatmulOp op, CommunicateOp gather);
  mlir::LogicalResult lowerScatteredProduct(MatmulOp op, CommunicateOp scatter);
  /// A product's part for a box of its result.
  void addProduct(Strided a, Strided b, Strided c);
  Geometry geometryOf(CommunicateOp op);
  bool isRing() const { return chunk && chunk->flags; }
  /// Whether members send what others combine; in a ring they are told of it.
  bool pushes(CommunicateOp op, const Geometry &geometry) const {
    return isPushed(op) && !isRing() && geometry.group.getRanks().size() > 1;
  }
  /// Tells those of the others who take it that what they take is there; waits
  /// for those of the others who give. Flag `flags` + i of a rank is set by
  /// member i.
  void tell(const Geometry &geometry, int64_t flags,
            llvm::function_ref<bool(int64_t)> isTaker);
  void await(const Geometry &geometry, int64_t flags,
             llvm::function_ref<bool(int64_t)> isGiver);
  mlir::FailureOr<Strided> stage(CommunicateOp op);
  /// Where all of a value lies, once it is made.
  mlir::FailureOr<Strided> storeWhole(mlir::Value value);
  /// A barrier of the group, unless there was one since part `after`.
  void synchronize(GroupAttr group, size_t after);
  void barrier(GroupAttr group);
  /// Notes that other ranks' memory is accessed from here on.
  void accessOthers(GroupAttr group) { dirty.insert(group); }
  void finish();

  void add(const Loop &loop);

  Planner &planner;
  PartBuilder &parts;
  const Chunk *chunk;
  llvm::SetVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Piece, 1>> pieces;
  std::deque<Node> nodes;
  NodeSet pending;
  llvm::EquivalenceClasses<const void *> domains;
  llvm::SmallPtrSet<mlir::Operation *, 16> lowered;
  /// The part after which each group last met.
  llvm::DenseMap<GroupAttr, size_t> met;
  llvm::SetVector<GroupAttr> dirty;
  /// Whose memory some may still read after the last meeting, as others do not
  /// know; the same on all ranks.
  llvm::SmallDenseSet<GroupAttr> takenLater;
  struct Staged {
    Strided view;
    size_t part;
  };
  llvm::DenseMap<mlir::Operation *, Staged> staged;
  /// What ranks store in the memory of all, and after which part: who reads it
  /// meets the others first.
  llvm::DenseMap<mlir::Value, std::pair<GroupAttr, size_t>> pushed;
  /// The flags of collectives that a product signals or awaits.
  llvm::DenseMap<mlir::Operation *, int64_t> productFlags;
};

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_KERNEL_H
