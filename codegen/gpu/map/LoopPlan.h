//===- LoopPlan.h - How threads execute a loop ------------------*- C++ -*-===//
//
// Neighbouring dimensions are merged if one stride reaches all their elements
// in every operand. If the last dimension is contiguous, threads load and store
// several elements at once. If operands are contiguous along different
// dimensions, threads may compute tiles.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_LOOPPLAN_H
#define CCN_CODEGEN_GPU_MAP_LOOPPLAN_H

#include "codegen/gpu/map/PartPlaces.h"
#include "codegen/plan/LoopKernel.h"

#include <map>
#include <optional>

namespace ccn::codegen {

/// Loop kernels, by the function names in the loops of plans.
class LoopKernels {
public:
  explicit LoopKernels(llvm::ArrayRef<LoopKernel> kernels);

  /// The kernel of a loop; null if the loop copies.
  const LoopKernel *of(const runtime::Loop &loop) const {
    return loop.function.empty() ? nullptr : kernels.at(loop.function);
  }

private:
  std::map<std::string, const LoopKernel *> kernels;
};

/// A dimension, and the stride of each operand in it.
struct LoopDim {
  int64_t size;
  std::vector<int64_t> strides;
};
using LoopDims = std::vector<LoopDim>;

/// The product of all sizes.
int64_t product(const LoopDims &dims);

/// The elements along two dimensions that a thread computes at once.
struct LoopTile {
  /// The dimension from row to row of the tile, along which some operands are
  /// contiguous, and the dimension from column to column, along which the
  /// others are.
  size_t rowDim, columnDim;
  int rows, columns;
  /// Whether contiguous elements are accessed as vectors: of `rows` elements
  /// along columns, of `columns` along rows. If strides do not keep vectors
  /// aligned, elements are accessed one by one.
  bool hasVectors;
  /// Whether the body needs so few registers that two blocks fit a
  /// multiprocessor. CUDA's compiler would use more unless told so.
  bool takesFewRegisters = false;
};

/// Where a scratch array is.
struct ScratchPlace {
  /// Whether each thread has the array, or its share of the array, in memory of
  /// its own.
  bool isOwn = false;
  /// Whether a thread's memory holds only its share: the elements that it
  /// computes in all loops, one after the other.
  bool isPart = false;
  /// The offset in bytes in the team's memory or, if isOwn, in the thread's.
  int64_t offset = 0;
  /// The bytes from row to row; 0 if a team has only one row at a time.
  int64_t rowBytes = 0;
};

/// The scratch arrays through which loops over rows pass values, by number.
struct Scratch {
  std::map<int, ScratchPlace> places;
  /// The bytes of a team's memory, and of a thread's.
  int64_t bytes = 0, ownBytes = 0;
};

class LoopPlan {
public:
  /// `kernel` is what the loop computes, null if it copies. With `byRows`,
  /// dimension 0 is the row of a team. `scratch` must outlive the plan; it must
  /// have the bytes from row to row already, and must be complete when text is
  /// written. With `byColumns`, a thread computes several results of a
  /// reduction at once, neighbours in the last dimension that is kept, instead
  /// of one result from several elements at once.
  LoopPlan(const PartPlaces &places, const runtime::Loop &loop,
           const LoopKernel *kernel, bool byRows, const Scratch &scratch,
           bool byColumns = false);

  /// Whether `width` elements of the last of widthDims() can be computed at
  /// once, if addresses are aligned.
  bool takes(int width) const;
  /// Has another part provide the loop's elements of a buffer, which the loop
  /// then does not load. Returns the name of the fetched value to set, such as
  /// "v1". Empty if the loop does not have exactly one such operand, or not one
  /// element for each of its own.
  std::string give(int buffer);
  /// The same of an input by its number, also if the loop computes no vectors.
  /// Empty if the input is not loaded for each element.
  std::string giveInput(size_t input);
  /// Chooses a tile if operands are contiguous along different dimensions.
  /// Elements must be independent.
  void chooseTile();
  /// Ends the choices. In a copy, no operand is treated as uniform any more.
  void settle();

  /// Whether threads have shares of some operands in memory of their own.
  bool takesParts() const;
  /// The bytes loaded for `width` elements: from memory, and from the thread's
  /// own memory.
  int64_t fetchedBytes() const;
  int64_t ownBytes() const;
  /// combinesRanks: whether an input combines values of several ranks.
  /// combinesFetched: whether such an input is loaded for each element.
  bool combinesRanks() const;
  bool combinesFetched() const;
  /// Whether addresses must be aligned for `width` elements at once.
  bool needsAlignment() const;
  bool isReduced() const { return loop->reducedDims > 0; }

  LoopDims kept, reduced;
  /// How many elements are computed at once; initially as many as make up
  /// vectors of 16 bytes.
  int width = 1;
  /// Set if threads compute tiles.
  std::optional<LoopTile> tile;

protected:
  struct Operand {
    const runtime::LoopOperand *info;
    size_t index;
    bool isOutput;
    int size;
    /// For an operand of a group: its members (or slot numbers), in the order
    /// of access.
    std::vector<int> members;
    bool uniform = false;
    /// Whether it belongs to a scattered argument.
    bool scattered = false;
    /// Whether another part provides it (see give()).
    bool given = false;
    /// The stride in the last of widthDims().
    int64_t step = 0;

    bool isPosition() const { return info->access == runtime::Access::Index; }
    bool isPointer() const { return !isPosition() && !uniform && !given; }
  };

  /// Whether an operand is a result that is reduced from several elements.
  bool isResult(const Operand &operand) const {
    return isReduced() && operand.isOutput && !byColumns;
  }
  /// The dimensions whose last one is divided into vectors of `width` elements.
  const LoopDims &widthDims() const {
    return isReduced() && !byColumns ? reduced : kept;
  }
  /// The place of a scratch operand; null if it is not scratch or not placed
  /// yet.
  const ScratchPlace *placeOf(const Operand &operand) const;
  bool isOwn(const Operand &operand) const {
    const ScratchPlace *place = placeOf(operand);
    return place && place->isOwn;
  }
  /// Whether an operand is loaded from memory for each element.
  bool isFetched(const Operand &operand) const {
    return !operand.isOutput && (operand.isPointer() || operand.given) &&
           !isOwn(operand);
  }
  /// Whether `width` elements of the loop use `width` elements of an operand,
  /// not one.
  bool isVector(const Operand &operand) const {
    return operand.step == 1 && width > 1;
  }
  int64_t rowStride(const Operand &operand) const;
  bool mustAlign(const Operand &operand) const;
  /// Whether the position of each vector's first element is a multiple of
  /// `width`.
  bool beginsWithVectors(const Operand &position) const;
  /// The dimension of a tile along which an operand is contiguous, and the
  /// number of elements of its vectors.
  std::optional<size_t> vectorDim(const Operand &operand,
                                  const LoopTile &of) const;
  int vectorOf(const Operand &operand) const;

  const runtime::Loop *loop;
  const LoopKernel *kernel;
  bool byRows, byColumns;
  std::vector<Operand> operands;

private:
  void addOperands(const PartPlaces &places);
  void chooseWidth();
  std::optional<LoopTile> findTile() const;
  int widestAlong(size_t along, const LoopTile &of) const;
  int64_t wordsOf(const LoopTile &of) const;

  const Scratch *scratch;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LOOPPLAN_H
