//===- CudaGatheredProducts.cpp - Gathers and products as CUDA C++ --------===//
//
// Writes the call of multiplyGathered (device/hopper_gathers.cuh).
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/GatheredProducts.h"

using namespace ccn;
using namespace ccn::codegen;
using llvm::Twine;

/// The functions that writes the slices: "[&](GatheredSlice *to) { ... }".
static CudaText setSlices(const CudaPlaces &places,
                          const GatheredProductPlan &plan) {
  int64_t size = runtime::sizeInBytes(plan.product.type);
  CudaText text;
  text << "[&](GatheredSlice *to) {\n";
  for (auto [i, slice] : llvm::enumerate(plan.slices)) {
    text << ("to[" + Twine(i) + "] = {int(") << slice.begin << "), int("
         << slice.end() << "), int(" << slice.firstTile << "), int("
         << slice.firstChunk << "), " << places.address(slice.from, slice.rank)
         << ", " << slice.stride * size << ", int("
         << static_cast<int64_t>(slice.rank) << "), u32(" << slice.flag
         << ")};\n";
  }
  text << "}";
  return text;
}

llvm::Error codegen::emitGatheredProduct(CudaPart &part,
                                         const GatheredProductPlan &plan) {
  const WholeProductPlan &product = plan.product;
  llvm::Expected<CudaText> makeEpilogue = writeEpilogue(part, product);
  if (!makeEpilogue)
    return makeEpilogue.takeError();
  auto flag = [](bool holds) { return holds ? ", true" : ", false"; };
  // What other GPUs compile is not executed there.
  part.kernel.body
      << "#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)\n"
      << ("multiplyGathered<" + cudaTile(product) + flag(plan.isOfA) +
          flag(plan.meets) + flag(plan.isKept) +
          ">(c, sharedMemory, WholeShape{int(")
      << product.part.m << "), int(" << product.part.n << "), int("
      << product.part.k << "), 1, int(" << product.group
      << ")}, &t.at[0], &t.at[1], &t.at[2], Gathering{int("
      << static_cast<int64_t>(plan.slices.size()) << "), int("
      << static_cast<int64_t>(plan.hasOwn) << "), int(" << plan.chunkLines
      << "), " << part.places.address(plan.to) << ", "
      << plan.stride * runtime::sizeInBytes(product.type) << ", u32("
      << plan.chunkFlags << "), u32(" << plan.beginFlags << "), u32("
      << plan.endFlags << "), int(" << plan.signals << ")}, "
      << part.places.group(plan.group) << ", " << setSlices(part.places, plan)
      << ", " << *makeEpilogue << ");\n#endif\n";
  return llvm::Error::success();
}
