//===- LoopPlan.h - How a thread takes the elements of a loop ---*- C++ -*-===//
//
// Dimensions that are contiguous in each other in all operands are one. Where
// the last is contiguous, several elements are loaded and stored at once; where
// operands are contiguous along different dimensions, threads may take tiles.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_LOOPPLAN_H
#define CCN_CODEGEN_GPU_MAP_LOOPPLAN_H

#include "codegen/gpu/map/PartPlaces.h"
#include "codegen/plan/LoopKernel.h"

#include <map>
#include <optional>

namespace ccn::codegen {

/// Loop kernels by the name that loops of plans have for them.
class LoopKernels {
public:
  explicit LoopKernels(llvm::ArrayRef<LoopKernel> kernels);

  /// What a loop computes; null if it copies.
  const LoopKernel *of(const runtime::Loop &loop) const {
    return loop.function.empty() ? nullptr : kernels.at(loop.function);
  }

private:
  std::map<std::string, const LoopKernel *> kernels;
};

/// A dimension, and the strides of all operands in it.
struct LoopDim {
  int64_t size;
  std::vector<int64_t> strides;
};
using LoopDims = std::vector<LoopDim>;

/// The number of indices.
int64_t product(const LoopDims &dims);

/// What a thread takes of two dimensions at once.
struct LoopTile {
  /// The dimension that rows are apart in, along which some operands are
  /// contiguous, and that of their elements, along which the others are.
  size_t rowDim, columnDim;
  int rows, columns;
  /// Whether what is contiguous is in vectors, along columns of `rows` elements
  /// and along rows of `columns`. If strides would not keep them aligned,
  /// elements are accessed one by one.
  bool hasVectors;
  /// Whether its body leaves registers for those of another block, of which
  /// CUDA's compiler would take some.
  bool takesFewRegisters = false;
};

/// Where an array of scratch is.
struct ScratchPlace {
  /// Whether each thread has it, or what it takes of it, in memory of its own.
  bool isOwn = false;
  /// Whether that is a part of the array: the elements that the thread takes of
  /// all loops, one after the other.
  bool isPart = false;
  /// Bytes from the start of the team's memory, or of the thread's.
  int64_t offset = 0;
  /// From row to row, 0 if a team has one row at a time.
  int64_t rowBytes = 0;
};

/// What the loops of rows leave each other, by the numbers of arrays.
struct Scratch {
  std::map<int, ScratchPlace> places;
  /// Of a team, and of a thread.
  int64_t bytes = 0, ownBytes = 0;
};

class LoopPlan {
public:
  /// `kernel` is what the loop computes, null if it copies. `byRows`: dimension
  /// 0 is the row that a team takes. `scratch`, which must outlive the plan, is
  /// complete when text is written, and knows before how far apart rows are.
  /// `byColumns`: of a reduction several results are made at once, neighbours
  /// in the last dimension that is kept, rather than one of several elements.
  LoopPlan(const PartPlaces &places, const runtime::Loop &loop,
           const LoopKernel *kernel, bool byRows, const Scratch &scratch,
           bool byColumns = false);

  /// Whether so many elements of the last dimension, of those that `width` is
  /// about, can be done at once where addresses allow.
  bool takes(int width) const;
  /// Lets another part set what elements it takes of a buffer, which it does
  /// not load. What it sets, of what is fetched: "v1"; empty if there is no
  /// such one operand, or if it has not as many elements as the loop.
  std::string give(int buffer);
  /// Lets threads take tiles, if operands are contiguous along different
  /// dimensions; each element must be for itself.
  void chooseTile();
  /// Ends the choices: a copy of one element to many reads it as any other.
  void settle();

  /// Whether threads have parts of its operands in memory of their own.
  bool takesParts() const;
  /// What is loaded for `width` elements, but for what a thread has of its own;
  /// and that.
  int64_t fetchedBytes() const;
  int64_t ownBytes() const;
  /// Whether it takes what several ranks have, and combines it; and whether it
  /// does so for each element.
  bool combinesRanks() const;
  bool combinesFetched() const;
  /// Whether addresses must be aligned for as many to be done at once.
  bool needsAlignment() const;
  bool isReduced() const { return loop->reducedDims > 0; }

  LoopDims kept, reduced;
  /// How many elements are done at once, at first as many as make up vectors
  /// of 16 bytes.
  int width = 1;
  /// If tiles are taken.
  std::optional<LoopTile> tile;

protected:
  struct Operand {
    const runtime::LoopOperand *info;
    size_t index;
    bool isOutput;
    int size;
    /// Of all members of a group, in the order in which they are accessed.
    std::vector<int> members;
    bool uniform = false;
    /// Whether it is a part of a list of buffers.
    bool scattered = false;
    /// Whether it is not loaded here.
    bool given = false;
    /// The stride of the dimension that `width` is about.
    int64_t step = 0;

    bool isPosition() const { return info->access == runtime::Access::Index; }
    bool isPointer() const { return !isPosition() && !uniform && !given; }
  };

  /// Whether an operand is the one result of several elements.
  bool isResult(const Operand &operand) const {
    return isReduced() && operand.isOutput && !byColumns;
  }
  /// The dimensions of which the last is the one that `width` is about.
  const LoopDims &widthDims() const {
    return isReduced() && !byColumns ? reduced : kept;
  }
  /// Null if it is no scratch, or not placed yet.
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
  /// Whether `width` elements of an operand go with as many of the loop, rather
  /// than one.
  bool isVector(const Operand &operand) const {
    return operand.step == 1 && width > 1;
  }
  int64_t rowStride(const Operand &operand) const;
  bool mustAlign(const Operand &operand) const;
  /// Whether positions of the first elements of vectors are multiples of their
  /// width.
  bool beginsWithVectors(const Operand &position) const;
  /// Along which dimension of a tile an operand has vectors, and of how many
  /// elements.
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
