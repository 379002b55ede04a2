//===- StreamContext.h - The state of a plan and its streams ----*- C++ -*-===//
//
// Where a plan's buffers are, and what each of its streams needs while it runs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_STREAMCONTEXT_H
#define CCN_RUNTIME_CPU_STREAMCONTEXT_H

#include "runtime/cpu/RemoteCopy.h"
#include "runtime/plan/Plan.h"
#include "runtime/team/Protocols.h"

namespace ccn::runtime {

/// One rank's plan and its memory.
struct PlanMemory {
  int rank = 0;
  RankPlan plan;
  std::vector<std::vector<int>> groups;
  std::vector<std::string> failures;
  Workspace arenaMemory;
  std::byte *arena = nullptr;
  /// Offsets in symmetric memory.
  int64_t symmetric = 0, flags = 0;
  /// The arguments of the current run.
  std::span<void *const> arguments;

  const Buffer &buffer(const View &view) const {
    return plan.buffers[static_cast<size_t>(view.buffer)];
  }
  ElementType type(const View &view) const { return buffer(view).type; }
  /// The members of a group as protocols need them.
  Members members(int group) const;
};

/// The bytes that a part reads and writes, computed from its views: in this
/// rank's memory and in that of other ranks.
struct Traffic {
  int64_t ownRead = 0, ownWritten = 0, othersRead = 0, othersWritten = 0;

  Traffic &operator+=(const Traffic &other);
};

struct StreamContext {
  StreamContext(PlanMemory &plan, Transport &transport, int stream,
                double timeLimit)
      : plan(plan), memory(transport, plan.rank, timeLimit), stream(stream) {}

  PlanMemory &plan;
  RankMemory memory;
  int stream;
  RemoteCopy remote{memory};
  /// Scratch memory of the part that runs.
  Workspace work, left, right;
  std::vector<std::pair<int64_t, int64_t>> order;
  /// The launch and the run that are being executed.
  const Launch *launch = nullptr;
  Epoch epoch = 0;

  const char *operation() const { return launch->name.c_str(); }
  bool isRemote(const View &view) const {
    return view.rank >= 0 && view.rank != plan.rank;
  }
  /// The address, in this rank's memory, of the element `elements` after the
  /// view's index 0.
  std::byte *own(const View &view, int64_t elements = 0);
  /// The place of that element in the symmetric memory of `rank`.
  RemotePlace place(const View &view, int rank, int64_t elements = 0) const;
};

/// The number of different elements of a view: those along a dimension of
/// stride 0 count once.
int64_t distinctElements(std::span<const int64_t> sizes,
                         std::span<const int64_t> strides);

/// A part that is ready to run.
class PartKernel {
public:
  virtual ~PartKernel() = default;
  virtual Status run(StreamContext &context) = 0;

  /// For traces: "rows", "copy".
  std::string_view name;
  Traffic traffic;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_STREAMCONTEXT_H
