//===- CudaLoops.h - The structure of a loop in CUDA C++ --------*- C++ -*-===//
//
// A loop becomes a structure: made from where its operands are, with functions
// that do the elements from one index on. Who calls them for which indices is
// another matter (CudaRows.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDALOOPS_H
#define CCN_CODEGEN_GPU_EMIT_CUDALOOPS_H

#include "codegen/gpu/emit/CudaParts.h"
#include "runtime/tensor/ElementType.h"

#include <optional>

namespace ccn::codegen {

/// One dimension of a loop, with the stride of each operand.
struct LoopDim {
  int64_t size;
  std::vector<int64_t> strides;
};
using LoopDims = std::vector<LoopDim>;

/// The number of elements.
int64_t product(const LoopDims &dims);

/// What a thread takes at a time of two dimensions, where operands are
/// contiguous along different ones: of each of `rows` rows `columns` elements.
struct LoopTile {
  /// The dimension that rows are apart in, along which some operands are
  /// contiguous, and that of their elements, along which the others are.
  size_t rowDim, columnDim;
  int rows, columns;
  /// Whether what is contiguous is in vectors, along columns of `rows` elements
  /// and along rows of `columns`. If strides would not keep them aligned,
  /// elements are accessed one by one.
  bool hasVectors;
};

/// Where an array of scratch is.
struct CudaScratchPlace {
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

/// Where the arrays of scratch are, by number.
struct CudaScratch {
  std::map<int, CudaScratchPlace> places;
  /// Of a team, and of a thread.
  int64_t bytes = 0, ownBytes = 0;
};

/// Writes the structure of one loop, and what its users must know of it.
class LoopWriter {
public:
  /// `byRows`: dimension 0 is the row that a team takes. `scratch` is complete
  /// when the structure is written, and knows before how far apart rows are.
  /// `byColumns`: of a reduction several results are made at once, neighbours
  /// in the last dimension that is kept, rather than one of several elements.
  LoopWriter(CudaPart &part, const runtime::Loop &loop, bool byRows,
             const CudaScratch &scratch, bool byColumns = false);

  /// Whether so many elements of the last dimension, of those that `width` is
  /// about, can be done at once where addresses allow.
  bool takes(int width) const;
  /// Lets its users set what elements it takes of a buffer, which it does not
  /// load. What they set, of what is fetched: "v1"; empty if there is no such
  /// one operand, or if it has not as many elements as the loop.
  std::string give(int buffer);
  /// Lets threads take tiles, if operands are contiguous along different
  /// dimensions; each element must be for itself.
  void chooseTile();
  /// Writes the structure.
  llvm::Error write();

  /// Whether threads have parts of its operands in memory of their own.
  bool takesParts() const;
  /// What is loaded for `width` elements, but for what a thread has of its own;
  /// and that.
  int64_t fetchedBytes() const;
  int64_t ownBytes() const;
  /// Whether it takes what several ranks have, and combines it.
  bool combinesRanks() const;
  /// Whether addresses must be aligned for as many to be done at once.
  bool needsAlignment() const;
  /// The arguments of an index: "r, x0, x1"; where threads have parts of
  /// operands, of elements "r, x0, x1, e", with e the place in the part.
  std::string indices(bool withReduced, bool ofElements = true) const;
  /// What a variable of the structure is called: "l0".
  std::string variable() const { return "l" + std::to_string(number); }
  /// Declares that variable, with this address of the team's scratch, and that
  /// of the thread's.
  CudaText construct(const CudaText &scratchBase, llvm::StringRef own) const;
  LoopDims kept, reduced;
  /// How many elements are done at once, at first as many as make up vectors
  /// of 16 bytes.
  int width = 1;
  int number = 0;
  /// If the structure has a function for it, for one with vectors.
  std::optional<LoopTile> tile;

private:
  struct Operand {
    const runtime::LoopOperand *info;
    size_t index;
    bool isOutput;
    std::string name;
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
    llvm::StringRef type() const { return cudaStorage(info->type); }
    /// What the structure has it as.
    CudaText declaration() const;
  };

  bool isReduced() const { return loop.reducedDims > 0; }
  /// Whether an operand is the one result of several elements.
  bool isResult(const Operand &operand) const {
    return isReduced() && operand.isOutput && !byColumns;
  }
  /// The dimensions of which the last is the one that `width` is about.
  const LoopDims &widthDims() const {
    return isReduced() && !byColumns ? reduced : kept;
  }
  const CudaScratchPlace *placeOf(const Operand &operand) const;
  bool isOwn(const Operand &operand) const {
    const CudaScratchPlace *place = placeOf(operand);
    return place && place->isOwn;
  }
  /// Whether an operand is loaded from memory for each element.
  bool isFetched(const Operand &operand) const {
    return !operand.isOutput && (operand.isPointer() || operand.given) &&
           !isOwn(operand);
  }
  /// How many elements of an operand go with `V` of the loop.
  std::string countOf(const Operand &operand) const {
    return operand.step == 1 && width > 1 ? "V" : "1";
  }
  /// What the structure's name begins with; the kernel's follows.
  std::string name() const { return "L" + std::to_string(number) + "_"; }
  int64_t rowStride(const Operand &operand) const;
  void addOperands();
  void chooseWidth();
  bool mustAlign(const Operand &operand) const;
  bool beginsWithVectors(const Operand &position) const;
  CudaText address(const Operand &operand, int of) const;
  CudaText setAddress(const Operand &operand, std::optional<size_t> member,
                      int of) const;
  CudaText offset(const Operand &operand, bool withReduced) const;
  std::string parameters(bool withReduced, bool ofElements = true) const;
  std::string access(llvm::StringRef function, const Operand &operand,
                     llvm::StringRef count) const;
  void writeConstructor(CudaText &text, llvm::StringRef functor);
  void writeFetch(CudaText &text);
  std::vector<std::string>
  writeBody(CudaText &text,
            llvm::function_ref<std::string(const Operand &)> element,
            llvm::function_ref<CudaText(const Operand &)> position) const;
  void writeElements(CudaText &text);
  CudaText storeVector(const Operand &operand, bool withReduced) const;
  CudaText storeResults(const Operand &operand, llvm::StringRef value) const;
  /// "sums.s0"
  std::string sumOf(size_t output) const {
    return (byColumns ? "sums[j].s" : "sums.s") + std::to_string(output);
  }
  void writeSums(CudaText &text);
  // For tiles, in CudaTransposes.cpp.
  std::optional<LoopTile> findTile() const;
  int widestAlong(size_t along, const LoopTile &of) const;
  int64_t wordsOf(const LoopTile &of) const;
  std::optional<size_t> vectorDim(const Operand &operand,
                                  const LoopTile &of) const;
  int vectorOf(const Operand &operand) const;
  void writeTile(CudaText &text);

  CudaPart &part;
  const runtime::Loop &loop;
  bool byRows, byColumns;
  const CudaScratch &scratch;
  const LoopKernel *kernel;
  std::vector<Operand> operands;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDALOOPS_H
