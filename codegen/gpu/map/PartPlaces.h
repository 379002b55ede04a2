//===- PartPlaces.h - The memory that a launch's parts access ---*- C++ -*-===//
//
// The buffers to which a rank's views refer, including buffers in a launch's
// workspace, and the members of its groups.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_PARTPLACES_H
#define CCN_CODEGEN_GPU_MAP_PARTPLACES_H

#include "runtime/plan/Plan.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

namespace ccn::codegen {

class PartPlaces {
public:
  /// `shared` are the arguments that ranks access in each other's memory.
  PartPlaces(const runtime::Plan &plan, llvm::ArrayRef<int> shared, int rank)
      : plan(plan), shared(shared), rank(rank) {}

  const runtime::RankPlan &own() const {
    return plan.ranks[static_cast<size_t>(rank)];
  }
  const std::vector<int> &members(int group) const {
    return plan.groups[static_cast<size_t>(group)];
  }
  /// This rank's position in a group.
  int position(int group) const {
    const std::vector<int> &ranks = members(group);
    return static_cast<int>(llvm::find(ranks, rank) - ranks.begin());
  }
  /// The buffer of a view: one of the plan's, or one in the launch's workspace.
  const runtime::Buffer &buffer(const runtime::View &view) const {
    auto number = static_cast<size_t>(view.buffer),
         planned = own().buffers.size();
    return number < planned ? own().buffers[number]
                            : workspace[number - planned];
  }
  runtime::ElementType type(const runtime::View &view) const {
    return buffer(view).type;
  }
  /// Whether a view refers to the launch's workspace.
  bool isWorkspace(const runtime::View &view) const {
    return static_cast<size_t>(view.buffer) >= own().buffers.size();
  }
  /// Whether a view refers to a scattered argument.
  bool isScattered(const runtime::View &view) const {
    const runtime::Buffer &viewed = buffer(view);
    return viewed.memory == runtime::Memory::Argument &&
           plan.arguments[static_cast<size_t>(viewed.offset)].scattered;
  }
  /// Whether the buffers of two views overlap in memory.
  bool overlap(const runtime::View &one, const runtime::View &other) const;
  /// Adds a buffer in the launch's workspace, from byte `offset` on, and
  /// returns its number.
  int addWorkspace(runtime::ElementType type, int64_t count, int64_t offset);

  const runtime::Plan &plan;
  llvm::ArrayRef<int> shared;
  int rank;

private:
  /// These are numbered after the plan's buffers.
  std::vector<runtime::Buffer> workspace;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_PARTPLACES_H
