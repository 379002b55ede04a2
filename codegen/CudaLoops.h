//===- CudaLoops.h - The structure of a loop in CUDA C++ --------*- C++ -*-===//
//
// A loop becomes a structure: made from where its operands are, with functions
// that do the elements from one index on. Who calls them for which indices is
// another matter (CudaRows.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_CUDALOOPS_H
#define CCN_CODEGEN_CUDALOOPS_H

#include "codegen/CudaParts.h"
#include "runtime/ElementType.h"

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

/// Where the arrays of scratch begin in a team's memory.
struct CudaScratch {
  /// By number: bytes from the start, and of each row, 0 if a team has one row
  /// at a time.
  std::map<int, std::pair<int64_t, int64_t>> places;
  int64_t bytes = 0;
};

/// Writes the structure of one loop, and what its users must know of it.
class LoopWriter {
public:
  /// `byRows`: dimension 0 is the row that a team takes.
  LoopWriter(CudaPart &part, const runtime::Loop &loop, bool byRows,
             const CudaScratch &scratch)
      : part(part), loop(loop), byRows(byRows), scratch(scratch),
        kernel(loop.function.empty() ? nullptr
                                     : &part.bodies.loop(loop.function)) {}

  /// Writes the structure.
  llvm::Error write();

  /// The arguments of an index: "r, x0, x1".
  std::string indices(bool withReduced) const;
  /// What a variable of the structure is called: "l0".
  std::string variable() const { return "l" + std::to_string(number); }
  /// Declares that variable, with this address of the team's scratch.
  CudaText construct(const CudaText &scratchBase) const;
  LoopDims kept, reduced;
  /// How many elements of the last dimension are done at once where addresses
  /// allow.
  int width = 1;
  int number = 0;

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
    /// The stride of the dimension that `width` is about.
    int64_t step = 0;

    bool isPosition() const { return info->access == runtime::Access::Index; }
    bool isPointer() const { return !isPosition() && !uniform; }
    llvm::StringRef type() const { return cudaStorage(info->type); }
    /// What the structure has it as.
    CudaText declaration() const;
  };

  bool isReduced() const { return loop.reducedDims > 0; }
  /// What the structure's name begins with; the kernel's follows.
  std::string name() const { return "L" + std::to_string(number) + "_"; }
  int64_t rowStride(const Operand &operand) const;
  void prepare();
  void chooseWidth();
  CudaText address(const Operand &operand, int of) const;
  CudaText setAddress(const Operand &operand, std::optional<size_t> member,
                      int of) const;
  CudaText offset(const Operand &operand, bool withReduced) const;
  std::string parameters(bool withReduced) const;
  void writeConstructor(CudaText &text, llvm::StringRef functor);
  void writeElements(CudaText &text);
  void writeSums(CudaText &text);

  CudaPart &part;
  const runtime::Loop &loop;
  bool byRows;
  const CudaScratch &scratch;
  const LoopKernel *kernel;
  std::vector<Operand> operands;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CUDALOOPS_H
