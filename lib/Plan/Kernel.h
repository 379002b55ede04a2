//===- Kernel.h - Makes one kernel from operations --------------*- C++ -*-===//
//
// Lowers operations that run together to the parts of one launch. An
// elementwise operation is not lowered at once: it waits as a node until
// another operation needs its result in memory. Then all waiting operations of
// the same domain become one loop.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_KERNEL_H
#define CCN_LIB_PLAN_KERNEL_H

#include "lib/Plan/Planner.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

#include <deque>

namespace ccn::plan {

/// The sizes of a box; and the region of `view`, which holds `part` of a
/// tensor, that holds the elements of `box`. Boxes are in elements of the whole
/// tensor.
Sizes boxSizes(const TensorPart &part);
Strided boxIn(const Strided &view, const TensorPart &part,
              const TensorPart &box);

/// The common part of two boxes, if there is one.
std::optional<TensorPart> intersect(const TensorPart &a, const TensorPart &b);

/// Whether a group has more ranks than a GPU's kernel addresses: see
/// kMaxKernelRanks.
inline bool isLarge(GroupAttr group) {
  return group.getRanks().size() > kMaxKernelRanks;
}

/// For Kernel::tell and Kernel::await.
bool anyRank(int64_t rank);

/// Whether the boxes have elements, and how many.
bool hasElements(llvm::ArrayRef<TensorPart> boxes);
int64_t countBoxes(llvm::ArrayRef<TensorPart> boxes);

/// Whether a reducing collective runs with the protocol `push`: the members
/// send each other the values that each combines. In a large group they read
/// them instead, which needs no part for each member.
bool isPushed(CommunicateOp op);

/// The exchange that implements a collective; none if the collective is lowered
/// to copies, loops and barriers.
std::optional<Exchange> exchangeOf(CommunicateOp op);

/// Lowers the operations of one kernel to the parts of its launch.
class Kernel {
public:
  /// Lowers operations for one chunk; for all elements if `chunk` is null.
  Kernel(Planner &planner, PartBuilder &parts, const Chunk *chunk)
      : planner(planner), parts(parts), chunk(chunk) {}

  /// Lowers operations of one block, in order, and stores the values that
  /// operations outside of the kernel use.
  mlir::LogicalResult lower(llvm::ArrayRef<mlir::Operation *> ops);

private:
  struct Node;

  /// A contiguous range of a value in the chunked dimension, or the whole
  /// value. The piece is in memory at `view`, or waits to be computed in
  /// `node`.
  struct Piece {
    Sizes sizes;
    Strided view = {};
    AllAttr all = {};
    Node *node = nullptr;
  };
  /// An elementwise operation that waits or is done, for one piece of its
  /// result.
  struct Node {
    mlir::Operation *op = nullptr;
    mlir::Value value;
    /// The number of the piece among the value's, and where it begins in the
    /// value.
    size_t index = 0;
    Sizes offsets = {};
    Sizes sizes = {};
    llvm::SmallVector<Piece, 3> operands = {};
    /// Whether the piece must be stored even if no user needs it in memory.
    bool isRequired = false;
    /// Where the piece is stored, or will be if not in the value's home;
    /// `gives` says if all members of a group get it.
    std::optional<Strided> place = std::nullopt;
    AllAttr gives = {};
    bool isStored = false;
    /// Whether a loop has computed the piece, and stored it if an operation
    /// outside of that loop needs it.
    bool isDone = false;
  };
  using NodeSet = llvm::SmallSetVector<Node *, 8>;

  /// The parts of the tensors of a collective.
  struct Geometry {
    mlir::RankedTensorType from, to;
    GroupAttr group;
    /// This rank's parts of the source and the target tensor.
    TensorPart ownFrom, ownTo;
    /// The index of this rank in the group.
    int64_t position = 0;
  };

  // Pieces.
  std::optional<unsigned> chunkedDim(mlir::Value value) const;
  /// Whether an operation in a chunked region has results that are the same for
  /// all chunks. It is then lowered only with the first chunk, since others may
  /// read the results while later chunks run.
  bool isSameForAllChunks(mlir::Operation *op) const;
  llvm::SmallVector<SliceBounds> rangesOf(mlir::Value value) const;
  size_t countPieces(mlir::Value value) const;
  /// The sizes of a piece, and its offsets in the value.
  Sizes sizesOf(mlir::Value value, size_t index) const;
  Sizes offsetsOf(mlir::Value value, size_t index) const;
  Strided pieceOf(const Strided &whole, mlir::Value value, size_t index) const;
  /// For a result that is cut from its input along the chunked dimension: the
  /// number of the input's piece that contains piece `index` of the result, and
  /// where the latter begins in the former.
  std::pair<size_t, int64_t> locate(mlir::Value input, mlir::Value result,
                                    size_t index) const;
  Piece getPiece(mlir::Value value, size_t index);
  void addPiece(mlir::Value value, Piece piece) {
    pieces[value].push_back(std::move(piece));
  }
  void addView(mlir::Value value, const Strided &view, AllAttr all = {}) {
    addPiece(value, {view.sizes, view, all});
  }
  /// Computes a piece if necessary, and returns where it lies.
  mlir::FailureOr<Strided> store(mlir::Value value, size_t index);
  /// Likewise for the elements of an operand that its user needs for piece
  /// `index` of the user's result.
  mlir::FailureOr<Strided> store(mlir::OpOperand &operand, size_t index);
  mlir::FailureOr<Strided> storeContiguous(mlir::OpOperand &operand,
                                           size_t index);
  Strided copyOf(const Strided &view, mlir::Type element);
  /// Calls `make` with contiguous memory for a piece: the piece's home or, if
  /// that is not contiguous, a buffer from which the piece is then copied to
  /// its home.
  void addContiguous(mlir::Value result, size_t index,
                     llvm::function_ref<void(const Strided &)> make);

  // Loops (KernelLoops.cpp).
  void findDomains();
  /// The domain of a value. Values that elementwise operations connect have the
  /// same domain, and one loop can compute them. Unlike sizes, domains are the
  /// same on all ranks.
  const void *domainOf(mlir::Value value) const;
  Node *addNode(mlir::Operation *op, size_t index,
                llvm::SmallVector<Piece, 3> operands);
  /// Adds a loop for each piece of a domain, for the waiting nodes that are
  /// needed. If `except` has nodes, which belong to one piece, only that
  /// piece's other nodes.
  mlir::LogicalResult flush(const void *domain, const NodeSet &except = {});
  mlir::LogicalResult flushScalars();
  bool isNeeded(const Node &node, const NodeSet &loop) const;
  class LoopBuilder;
  mlir::LogicalResult addLoop(const NodeSet &loop);
  /// Adds a loop that copies; it can also combine the values of all members,
  /// and store into the memory of all members.
  mlir::LogicalResult addCopyLoop(const Operand &from, const Operand &to,
                                  mlir::Location loc);
  void fillZero(const Strided &view);
  mlir::LogicalResult lowerReduction(ReductionOp op);
  mlir::LogicalResult reducePiece(ReductionOp op, size_t index);
  /// The waiting nodes that only this reduction needs; the reduction's loop
  /// computes them.
  NodeSet findInlined(Node *root, ReductionOp op);
  /// Whether a reduction's loop computes its operands again instead of loading
  /// what other loops compute. That is faster if the elements that it reduces
  /// are not contiguous or are too many for a cache, and the computation is
  /// cheap. The same on all ranks.
  bool isRepeated(Node *root, ReductionOp op);

  // Operations.
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  /// Whether only iotas in the kernel use a value, or what is moved of it: they
  /// take its shape alone.
  bool isOnlyShape(mlir::Value value) const;
  mlir::LogicalResult lowerMovement(mlir::Operation *op);
  mlir::LogicalResult lowerConcat(ConcatOp op);
  mlir::LogicalResult lowerMatmul(MatmulOp op);
  mlir::LogicalResult lowerConv2d(Conv2dOp op);
  mlir::LogicalResult lowerGatherRows(GatherRowsOp op);
  mlir::LogicalResult lowerScatterRows(ScatterRowsOp op);
  mlir::LogicalResult makeOutputs(llvm::ArrayRef<mlir::Operation *> ops);

  // Collectives (KernelCollectives.cpp, KernelMoves.cpp, KernelExchanges.cpp),
  // and products with them (KernelProducts.cpp).
  llvm::SmallVector<TensorPart> boxesOf(mlir::RankedTensorType type,
                                        mlir::Value value, int64_t rank);
  mlir::LogicalResult lowerCommunicate(CommunicateOp op);
  mlir::LogicalResult lowerReducing(CommunicateOp op, const Geometry &geometry);
  mlir::LogicalResult lowerPushedReducing(CommunicateOp op,
                                          const Geometry &geometry);
  /// Sends each member the views of this rank's input that the member combines:
  /// viewsFor(index of the member). A member gets the same number of elements
  /// from every rank, at most `largest`. Returns the operands that combine what
  /// this rank has received; their views are in its first slot.
  llvm::SmallVector<Operand>
  push(CommunicateOp op, const Geometry &geometry, int64_t largest,
       llvm::function_ref<llvm::SmallVector<Strided>(int64_t)> viewsFor);
  mlir::LogicalResult lowerTwoShot(CommunicateOp op, const Geometry &geometry);
  mlir::LogicalResult lowerMoving(CommunicateOp op, const Geometry &geometry);
  /// Copies what this rank needs of the input of members `first` to `last` - 1,
  /// which is in their symmetric memory, to `home`, all of the result.
  void moveFrom(CommunicateOp op, const Geometry &geometry, int buffer,
                const Strided &home, int64_t first, int64_t last);
  mlir::LogicalResult lowerPush(CommunicateOp op, const Geometry &geometry);
  /// The most elements that any rank gives another or, in a collective without
  /// blocks, has in all; from the boxes that each rank holds and needs.
  int64_t
  largestExchanged(CommunicateOp op, const Geometry &geometry,
                   llvm::ArrayRef<llvm::SmallVector<TensorPart>> held,
                   llvm::ArrayRef<llvm::SmallVector<TensorPart>> needed);
  mlir::LogicalResult lowerExchange(CommunicateOp op, const Geometry &geometry,
                                    Exchange exchange);
  mlir::LogicalResult lowerShown(CommunicateOp op, const Geometry &geometry);
  bool isPushable(CommunicateOp op);
  /// Whether a product in this kernel uses the result of an all_gather shard by
  /// shard, as shards arrive. The same on all ranks.
  bool isGatheredByProduct(CommunicateOp op);
  /// The reduce_scatter that is the only user of a product, if there is one.
  /// The product then signals each owner of a part of the result as soon as
  /// that part is ready.
  CommunicateOp findScatter(MatmulOp op);
  mlir::LogicalResult lowerGatheredProduct(MatmulOp op, CommunicateOp gather);
  mlir::LogicalResult lowerScatteredProduct(MatmulOp op, CommunicateOp scatter);
  /// Adds the part that computes a box of a product's result.
  void addProduct(Strided a, Strided b, Strided c);
  Geometry geometryOf(CommunicateOp op);
  bool isRing() const { return chunk && chunk->flags; }
  /// Whether members send the values that others combine. In a ring, they only
  /// signal that the values are ready.
  bool pushes(CommunicateOp op, const Geometry &geometry) const {
    return isPushed(op) && !isRing() && geometry.group.getRanks().size() > 1;
  }
  /// `tell` signals the other members that satisfy `isTaker` that this rank's
  /// data is ready; `await` waits for the signals of those that satisfy
  /// `isGiver`. Member i sets flag `flags` + i of a rank.
  void tell(const Geometry &geometry, int64_t flags,
            llvm::function_ref<bool(int64_t)> isTaker);
  void await(const Geometry &geometry, int64_t flags,
             llvm::function_ref<bool(int64_t)> isGiver);
  mlir::FailureOr<Strided> stage(CommunicateOp op);
  /// Computes all of a value if necessary, and returns where it lies.
  mlir::FailureOr<Strided> storeWhole(mlir::Value value);
  /// Adds a barrier of the group, unless it has had one since part `after`.
  void synchronize(GroupAttr group, size_t after);
  void barrier(GroupAttr group);
  /// Notes that this kernel accesses other ranks' memory from here on, so that
  /// a barrier must follow.
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
  /// The number of parts at each group's last barrier.
  llvm::DenseMap<GroupAttr, size_t> met;
  llvm::SetVector<GroupAttr> dirty;
  /// Groups in which some ranks may still read other members' memory after the
  /// last barrier, without the others knowing. The same on all ranks.
  llvm::SmallDenseSet<GroupAttr> takenLater;
  struct Staged {
    Strided view;
    size_t part;
  };
  llvm::DenseMap<mlir::Operation *, Staged> staged;
  /// Values that ranks store in the memory of all members of a group, and how
  /// many parts there were then. A barrier must come before the first read.
  llvm::DenseMap<mlir::Value, std::pair<GroupAttr, size_t>> pushed;
  /// The first flag of each collective that a product signals or awaits.
  llvm::DenseMap<mlir::Operation *, int64_t> productFlags;
};

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_KERNEL_H
