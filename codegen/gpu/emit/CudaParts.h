//===- CudaParts.h - The parts of kernels in CUDA C++ -----------*- C++ -*-===//
//
// What the parts of a kernel are written with: the names of types, the bodies
// of loops, and where things are; and who writes which part.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDAPARTS_H
#define CCN_CODEGEN_GPU_EMIT_CUDAPARTS_H

#include "codegen/gpu/emit/CudaText.h"
#include "codegen/plan/LoopKernel.h"
#include "runtime/plan/Plan.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ccn::codegen {

/// The scalar bodies of loops as CUDA C++, each once.
class CudaBodies {
public:
  explicit CudaBodies(llvm::ArrayRef<LoopKernel> loops);

  const LoopKernel &loop(llvm::StringRef function) const {
    return *loops.find(function.str())->second;
  }
  /// The functor of a loop's body, where these inputs are uniform.
  llvm::Expected<std::string> functor(const LoopKernel &loop,
                                      llvm::ArrayRef<bool> isUniform);
  /// All functors so far.
  const std::string &text() const { return source; }

private:
  std::map<std::string, const LoopKernel *> loops;
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
class CudaPlaces {
public:
  /// `shared` are the arguments that ranks access of each other.
  CudaPlaces(const runtime::Plan &plan, llvm::ArrayRef<int> shared, int rank)
      : plan(plan), shared(shared), rank(rank) {}

  const runtime::RankPlan &own() const {
    return plan.ranks[static_cast<size_t>(rank)];
  }
  const std::vector<int> &members(int group) const {
    return plan.groups[static_cast<size_t>(group)];
  }
  /// A buffer of the plan, or of a launch.
  const runtime::Buffer &buffer(const runtime::View &view) const {
    auto number = static_cast<size_t>(view.buffer),
         planned = own().buffers.size();
    return number < planned ? own().buffers[number]
                            : workspace[number - planned];
  }
  runtime::ElementType type(const runtime::View &view) const {
    return buffer(view).type;
  }
  /// Whether it is a part of a list of buffers.
  bool isScattered(const runtime::View &view) const {
    const runtime::Buffer &viewed = buffer(view);
    return viewed.memory == runtime::Memory::Argument &&
           plan.arguments[static_cast<size_t>(viewed.offset)].scattered;
  }
  /// Whether two views of buffers may have memory in common.
  bool overlap(const runtime::View &one, const runtime::View &other) const;
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
  /// Adds a buffer that lies in a launch's workspace, from byte `offset` on,
  /// and returns its index.
  int addWorkspace(runtime::ElementType type, int64_t count, int64_t offset);
  /// The rank's own position in a group.
  int position(int group) const {
    const std::vector<int> &ranks = members(group);
    return static_cast<int>(llvm::find(ranks, rank) - ranks.begin());
  }
  /// `Group<2>{{0, 1}, 0}`.
  CudaText group(int group) const;

  const runtime::Plan &plan;
  llvm::ArrayRef<int> shared;
  int rank;

private:
  /// After the plan's buffers.
  std::vector<runtime::Buffer> workspace;
};

/// The kernel that is being written.
struct CudaPart {
  CudaKernel &kernel;
  CudaPlaces &places;
  CudaBodies &bodies;
  /// For names of its own.
  int number = 0;
  /// How many signals it has so far.
  int signals = 0;
  /// What the first block has to do when all blocks have come to the next
  /// barrier, before any goes on.
  CudaText last = {};
  /// What that writes.
  std::vector<runtime::View> lastWrites = {};

  /// Says that so many blocks have something to do.
  void needBlocks(int64_t blocks) {
    kernel.launch.blocks = std::max(kernel.launch.blocks, blocks);
  }
  void endLast() {
    last = {};
    lastWrites.clear();
  }
  /// Lets the blocks wait for each other.
  void gridBarrier() {
    if (last.text.empty())
      kernel.body << "gridBarrier(c);\n";
    else
      kernel.body << "gridBarrier(c, [&] {\n" << last << "});\n";
    endLast();
    kernel.properties.waits = true;
  }
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDAPARTS_H
