//===- CudaParts.h - The parts of kernels in CUDA C++ -----------*- C++ -*-===//
//
// What the parts of a kernel are written with: the names of types, the bodies
// of loops, and where things are; and who writes which part.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDAPARTS_H
#define CCN_CODEGEN_GPU_EMIT_CUDAPARTS_H

#include "codegen/gpu/emit/CudaText.h"
#include "codegen/gpu/map/PartPlaces.h"
#include "codegen/plan/LoopKernel.h"

#include "llvm/Support/Error.h"

namespace ccn::codegen {

/// The scalar bodies of loops as CUDA C++, each once.
class CudaBodies {
public:
  /// The functor of a loop's body, where these inputs are uniform.
  llvm::Expected<std::string> functor(const LoopKernel &loop,
                                      llvm::ArrayRef<bool> isUniform);
  /// All functors so far.
  const std::string &text() const { return source; }

private:
  std::map<std::string, std::string> names;
  std::string source;
};

/// How an element is stored: "f16", "float", "signed char".
llvm::StringRef cudaStorage(runtime::ElementType type);
/// "Kind::Sum".
std::string cudaKind(runtime::ReduceKind kind);
/// `reinterpret_cast<const f16 *>(address)`.
CudaText cudaPointer(const llvm::Twine &type, const CudaText &address);

/// Where things are, as expressions.
class CudaPlaces : public PartPlaces {
public:
  explicit CudaPlaces(const PartPlaces &places) : PartPlaces(places) {}

  /// The address of a view's first element, in the memory of `of`, or of whom
  /// the view says if it is -1. Not of what is scattered.
  CudaText address(const runtime::View &view, int of = -1) const;
  /// Likewise `a.at[5]`: what a kernel gets for an argument, which is where the
  /// table is of one that is scattered.
  CudaText argument(const runtime::View &view, int of = -1) const;
  /// The view's elements as a pointer, or what stands for one if it is
  /// scattered.
  CudaText elements(const runtime::View &view,
                    llvm::StringRef qualifier = "") const;
  /// `Group<2>{{0, 1}, 0}`.
  CudaText group(int group) const;
};

/// The actions of all synthesized schedules (schedule_sums.cuh), each list of
/// them once.
class ScheduleTables {
public:
  /// Adds a list; returns where it is.
  int64_t add(const std::vector<int64_t> &list) {
    auto [it, isNew] =
        known.try_emplace(list, static_cast<int64_t>(all.size()));
    if (isNew)
      all.insert(all.end(), list.begin(), list.end());
    return it->second;
  }
  llvm::ArrayRef<int64_t> numbers() const { return all; }

private:
  std::map<std::vector<int64_t>, int64_t> known;
  std::vector<int64_t> all;
};

/// A kernel while its parts are written.
struct CudaPart {
  CudaKernel &kernel;
  const CudaPlaces &places;
  CudaBodies &bodies;
  ScheduleTables &tables;
  /// For names of its own.
  int number = 0;
  /// How many signals it has so far.
  int signals = 0;
  /// What the first block has to do when all blocks have come to the next
  /// barrier, before any goes on.
  CudaText deferred = {};

  bool isByMessages() const { return kernel.plan->isByMessages(); }

  /// Lets the blocks wait for each other.
  void gridBarrier() {
    if (deferred.text.empty())
      kernel.body << "gridBarrier(c);\n";
    else
      kernel.body << "gridBarrier(c, [&] {\n" << deferred << "});\n";
    deferred = {};
  }
  /// Writes a barrier if work is deferred to one.
  void writeDeferred() {
    if (!deferred.text.empty())
      gridBarrier();
  }
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDAPARTS_H
