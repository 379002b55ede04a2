//===- CudaScatteredProducts.cpp - Scattered products as CUDA C++ ---------===//
//
// Writes the call of multiplyScattered (device/hopper_scatters.cuh), and the
// barrier at the end.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/ScatteredProducts.h"

using namespace ccn;
using namespace ccn::codegen;
using llvm::Twine;

llvm::Error codegen::emitScatteredProduct(CudaPart &part,
                                          const ScatteredProductPlan &plan) {
  llvm::Expected<CudaText> makeEpilogue = writeEpilogue(part, plan);
  if (!makeEpilogue)
    return makeEpilogue.takeError();
  CudaText &text = part.kernel.body;
  CudaText group = part.places.group(plan.rankGroup);
  size_t members = part.places.members(plan.rankGroup).size();
  constexpr int64_t vector = 8;
  auto operand = [&](int map, const WholeOperand &of) {
    CudaText own;
    own << ("{&t.at[" + Twine(map) + "], ") << part.places.elements(of.view)
        << ", " << of.lineStride << ", " << of.kStride << ", int(" << of.lines
        << ")}";
    return own;
  };
  // What other GPUs compile is not executed there.
  text << "#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)\n"
       << ("multiplyScattered<" + cudaKind(plan.reduction) +
           ">(c, sharedMemory, blockMemory, Scatter<" + cudaTile(plan) + ", " +
           Twine(members) + ", " +
           (plan.part.n % vector == 0 ? "true" : "false") + ">{")
       << group << ", u32(" << plan.flags << "), u32(epoch), "
       << part.places.buffer(plan.part.c).offset << ", int(" << plan.rows
       << "), int(" << plan.sliceRows << "), int(" << plan.part.n << "), int("
       << plan.part.k << "), int(" << plan.group << ")}, " << operand(0, plan.a)
       << ", " << operand(1, plan.b) << ", " << *makeEpilogue << ");\n#endif\n"
       << "edgeBarrier(c, " << group << ", u32(" << plan.end.flags
       << "), epoch);\n";
  return llvm::Error::success();
}
