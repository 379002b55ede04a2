//===- KernelPlan.h - What a GPU kernel is to be ----------------*- C++ -*-===//
//
// The result of `map`: of a rank's launch the threads, memory and parts of its
// kernel, and what each part does where. Whoever writes the kernel decides
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_KERNELPLAN_H
#define CCN_CODEGEN_GPU_MAP_KERNELPLAN_H

#include "codegen/gpu/map/LaunchBarriers.h"
#include "codegen/gpu/map/PartPlaces.h"
#include "codegen/gpu/map/RowTeams.h"
#include "codegen/gpu/map/Skeleton.h"
#include "runtime/plan/GpuProgram.h"

#include <memory>
#include <optional>

namespace ccn::codegen {

/// A row of matrices that begins to come while ranks wait.
struct Prefetch {
  Team team;
  int64_t rows;
  runtime::View view;
  /// From row to row, and of a row, in bytes.
  int64_t step, bytes;
};

/// A part of a launch, or a few that a skeleton does together.
struct PartPlan {
  llvm::ArrayRef<runtime::Part> parts;
  std::unique_ptr<SkeletonPlan> plan = {};
  /// What is left for a barrier is done before.
  bool finishesBefore = false;
  /// Whether a cluster's blocks wait, before, until all have begun.
  bool opensCluster = false;
  /// The segment in which it waits and is done, if the launch has several and
  /// it is in one; and whether it is only the segment in which it waits.
  std::optional<int> segment = {};
  bool leavesSegment = false;
  /// How it waits for parts before it.
  Wait wait = Wait::None;
  /// Before a barrier, or an exchange.
  std::vector<Prefetch> prefetches = {};
};

struct KernelPlan {
  explicit KernelPlan(const PartPlaces &places) : places(places) {}

  std::string name;
  /// Of the program's file (runtime::Launch).
  std::vector<int> lines = {};
  /// With the buffers of the launch's workspace.
  PartPlaces places;
  /// Without name, numbers and number of the kernel.
  runtime::GpuKernel properties;
  runtime::GpuLaunch launch;
  /// Whether it accesses lists of buffers, combines what others have, exchanges
  /// what it then works on, or sums up all, which takes many registers: CUDA's
  /// compiler would rather spill some, or wait for some of the others' memory
  /// before it reads the rest, than have fewer blocks at once.
  bool takesRegisters = false;
  /// Whether all of its parts need no more registers than leave those of
  /// another block.
  bool takesFewRegisters = false;
  /// Whether ranks wait for each other in it.
  bool usesEpoch = false;
  /// Whether the launch has several segments.
  bool isCut = false;
  /// Whether the blocks of a cluster wait for each other at the end, before
  /// which others may access what they have.
  bool opensClusters = false;
  std::vector<PartPlan> parts;
  /// Whether something is left for a barrier at the end.
  bool finishesAfter = false;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_KERNELPLAN_H
