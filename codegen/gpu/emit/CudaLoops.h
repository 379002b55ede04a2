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
#include "codegen/gpu/map/LoopPlan.h"

#include <optional>

namespace ccn::codegen {

/// Writes the structure of one loop, as its plan says.
class LoopWriter : public LoopPlan {
public:
  LoopWriter(CudaPart &part, const LoopPlan &plan)
      : LoopPlan(plan), part(part) {}

  /// Writes the structure.
  llvm::Error write();

  /// The arguments of an index: "r, x0, x1"; where threads have parts of
  /// operands, of elements "r, x0, x1, e", with e the place in the part.
  std::string indices(bool withReduced, bool ofElements = true) const;
  /// What a variable of the structure is called: "l0".
  std::string variable() const { return "l" + std::to_string(number); }
  /// Declares that variable, with this address of the team's scratch, and that
  /// of the thread's.
  CudaText construct(const CudaText &scratchBase, llvm::StringRef own) const;
  int number = 0;

private:
  static llvm::StringRef typeOf(const Operand &operand) {
    return cudaStorage(operand.info->type);
  }
  static std::string nameOf(const Operand &operand) {
    return (operand.isOutput ? "o" : "i") + std::to_string(operand.index);
  }
  /// What the structure has an operand as.
  static CudaText declarationOf(const Operand &operand);
  /// How many elements of an operand go with `V` of the loop.
  std::string countOf(const Operand &operand) const {
    return isVector(operand) ? "V" : "1";
  }
  /// What the structure's name begins with; the kernel's follows.
  std::string name() const { return "L" + std::to_string(number) + "_"; }
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
  struct TileOperands;
  void writeTile(CudaText &text);

  CudaPart &part;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDALOOPS_H
