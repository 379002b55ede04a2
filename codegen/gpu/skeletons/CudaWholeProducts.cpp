//===- CudaWholeProducts.cpp - Products with roles as CUDA C++ ------------===//
//
// Writes the call of multiplyWhole (device/hopper_products.cuh), and what
// becomes of results as a structure: the loops' own, to which elements of the
// product are given.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/WholeProducts.h"

#include "codegen/gpu/emit/CudaLoops.h"

using namespace ccn;
using namespace ccn::codegen;
using llvm::StringRef;
using llvm::Twine;

namespace {

class WholeProductWriter {
public:
  WholeProductWriter(CudaPart &part, const WholeProductPlan &plan)
      : part(part), plan(plan), type(cudaStorage(plan.type)) {
    for (const EpilogueLoop &loop : plan.loops)
      loops.emplace_back(part, loop.loop);
  }

  llvm::Expected<CudaText> writeEpilogue();

private:
  /// "L0_kernel0"
  static CudaText typeOf(const LoopWriter &loop) {
    CudaText text;
    (text << ("L" + Twine(loop.number) + "_")).kernelName();
    return text;
  }
  /// "f0", what is loaded for a loop.
  static std::string fetchedOf(const LoopWriter &loop) {
    return "f" + std::to_string(loop.number);
  }
  CudaText indices(const EpilogueLoop &loop) const;
  void writeStructure();
  CudaText makeEpilogue() const;

  CudaPart &part;
  const WholeProductPlan &plan;
  StringRef type;
  std::vector<LoopWriter> loops;
};

/// The arguments of an index of a loop: "b * 5LL + i, j".
CudaText WholeProductWriter::indices(const EpilogueLoop &loop) const {
  static const char *const names[] = {"b", "i", "j"};
  std::array<int64_t, 3> sizes = plan.sizes();
  CudaText text;
  for (auto [d, range] : llvm::enumerate(loop.indices)) {
    CudaText index;
    for (int dim = range.first; dim < range.second; ++dim) {
      if (dim == range.first) {
        index << names[dim];
        if (range.divisor > 1)
          index << " / " << range.divisor;
        if (range.size > 0)
          index << " % " << range.size;
        continue;
      }
      CudaText outer = std::move(index);
      index = {};
      index << "(" << outer << ") * " << sizes[static_cast<size_t>(dim)]
            << (Twine(" + ") + names[dim]);
    }
    text << (d ? ", " : "") << index;
  }
  return text;
}

void WholeProductWriter::writeStructure() {
  CudaText &text = part.kernel.declarations;
  (text << "struct E_").kernelName() << " {\n  const N_";
  text.kernelName() << " &n;\n";
  for (const LoopWriter &loop : loops)
    text << "  " << typeOf(loop) << (" " + loop.variable() + ";\n");
  text << "  bool takesVectors;\n  static constexpr bool hasVectors = "
       << (plan.takesVectors ? "true" : "false")
       << ";\n  template <int V> struct Fetched {\n";
  for (const LoopWriter &loop : loops)
    text << "    typename " << typeOf(loop)
         << ("::template Fetched<V> " + fetchedOf(loop) + ";\n");
  text << "  };\n  template <int V> __device__ Fetched<V> fetch(i64 b, i64 i, "
          "i64 j) const {\n    Fetched<V> f;\n";
  for (auto [writer, loop] : llvm::zip_equal(loops, plan.loops))
    text << ("    f." + fetchedOf(writer) + " = " + writer.variable() +
             ".template fetch<V>(")
         << indices(loop) << ");\n";
  text
      << ("    return f;\n  }\n  template <int V> __device__ void store(i64 b, "
          "i64 i, i64 j, Fetched<V> f, const Vector<" +
          type + ", V> &value) const {\n");
  for (auto [writer, loop] : llvm::zip_equal(loops, plan.loops)) {
    CudaText at = indices(loop);
    text << ("    f." + fetchedOf(writer) + "." + loop.given +
             " = value;\n    " + writer.variable() + ".template at<V>(")
         << at << (at.text.empty() ? "" : ", ")
         << ("f." + fetchedOf(writer) + ");\n");
  }
  text << "  }\n};\n";
}

CudaText WholeProductWriter::makeEpilogue() const {
  CudaText text, none;
  none << "nullptr";
  (text << "[&]() -> E_").kernelName() << " {\n";
  for (const LoopWriter &loop : loops)
    text << loop.construct(none, "nullptr");
  text << "return {n";
  for (const LoopWriter &loop : loops)
    text << (", " + loop.variable());
  text << ", true";
  for (const LoopWriter &loop : loops)
    text << (" && " + loop.variable() + ".aligned()");
  text << "};\n}";
  return text;
}

llvm::Expected<CudaText> WholeProductWriter::writeEpilogue() {
  for (LoopWriter &loop : loops)
    if (llvm::Error error = loop.write())
      return error;
  writeStructure();
  return makeEpilogue();
}

} // namespace

std::string codegen::cudaTile(const WholeProductPlan &plan) {
  auto flag = [](bool holds) { return holds ? "true" : "false"; };
  return ("WarpTile<" + cudaStorage(plan.type) + ", " + Twine(plan.tile.m) +
          ", " + Twine(plan.tile.n) + ", " + Twine(plan.tile.stages) + ", " +
          Twine(plan.tile.consumers) + ", " + flag(plan.tile.takeTurns) + ", " +
          flag(plan.a.isTransposed) + ", " + flag(plan.b.isTransposed) + ">")
      .str();
}

llvm::Expected<CudaText> codegen::writeEpilogue(CudaPart &part,
                                                const WholeProductPlan &plan) {
  return WholeProductWriter(part, plan).writeEpilogue();
}

llvm::Error codegen::emitWholeProduct(CudaPart &part,
                                      const WholeProductPlan &plan) {
  llvm::Expected<CudaText> makeEpilogue = writeEpilogue(part, plan);
  if (!makeEpilogue)
    return makeEpilogue.takeError();
  auto operand = [&](int map, const WholeOperand &of) {
    CudaText own;
    own << ("{&t.at[" + Twine(map) + "], int(") << of.batches << ")}";
    return own;
  };
  // What other GPUs compile is not executed there.
  part.kernel.body
      << "#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)\n"
      << ("multiplyWhole<" + cudaTile(plan) + ">(c, sharedMemory, {int(")
      << plan.part.m << "), int(" << plan.part.n << "), int(" << plan.part.k
      << "), int(" << plan.batches << "), int(" << plan.group << ")}, "
      << operand(0, plan.a) << ", " << operand(1, plan.b) << ", "
      << *makeEpilogue << ");\n#endif\n";
  return llvm::Error::success();
}
