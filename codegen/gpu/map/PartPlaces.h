//===- PartPlaces.h - What the parts of a rank's launch access --*- C++ -*-===//
//
// The buffers that a rank's views are of, those of a launch's workspace
// included, and who is in its groups.
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
  /// `shared` are the arguments that ranks access of each other.
  PartPlaces(const runtime::Plan &plan, llvm::ArrayRef<int> shared, int rank)
      : plan(plan), shared(shared), rank(rank) {}

  const runtime::RankPlan &own() const {
    return plan.ranks[static_cast<size_t>(rank)];
  }
  const std::vector<int> &members(int group) const {
    return plan.groups[static_cast<size_t>(group)];
  }
  /// The rank's own position in a group.
  int position(int group) const {
    const std::vector<int> &ranks = members(group);
    return static_cast<int>(llvm::find(ranks, rank) - ranks.begin());
  }
  /// A buffer of the plan, or of the launch's workspace.
  const runtime::Buffer &buffer(const runtime::View &view) const {
    auto number = static_cast<size_t>(view.buffer),
         planned = own().buffers.size();
    return number < planned ? own().buffers[number]
                            : workspace[number - planned];
  }
  runtime::ElementType type(const runtime::View &view) const {
    return buffer(view).type;
  }
  /// Whether a view is of the launch's workspace.
  bool isWorkspace(const runtime::View &view) const {
    return static_cast<size_t>(view.buffer) >= own().buffers.size();
  }
  /// Whether it is a part of a list of buffers.
  bool isScattered(const runtime::View &view) const {
    const runtime::Buffer &viewed = buffer(view);
    return viewed.memory == runtime::Memory::Argument &&
           plan.arguments[static_cast<size_t>(viewed.offset)].scattered;
  }
  /// Whether two views of buffers may have memory in common.
  bool overlap(const runtime::View &one, const runtime::View &other) const;
  /// Adds a buffer that lies in the launch's workspace, from byte `offset` on,
  /// and returns its number.
  int addWorkspace(runtime::ElementType type, int64_t count, int64_t offset);

  const runtime::Plan &plan;
  llvm::ArrayRef<int> shared;
  int rank;

private:
  /// After the plan's buffers.
  std::vector<runtime::Buffer> workspace;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_PARTPLACES_H
