//===- KernelPlan.h - The plan of a GPU kernel ------------------*- C++ -*-===//
//
// The result of `map`: the threads, memory and parts of the kernel of a rank's
// launch, and how each part is executed. The code that writes the kernel
// decides nothing.
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

/// Rows that teams prefetch while ranks wait for each other.
struct Prefetch {
  Team team;
  int64_t rows;
  runtime::View view;
  /// The bytes from row to row, and of a row.
  int64_t step, bytes;
};

/// A part of a launch, or a few parts that a skeleton executes together.
struct PartPlan {
  llvm::ArrayRef<runtime::Part> parts;
  std::unique_ptr<SkeletonPlan> plan = {};
  /// Whether deferred work (LaunchMapper.h) is done before.
  bool doesDeferredBefore = false;
  /// Whether the blocks of a cluster first wait until all of them have begun.
  bool opensCluster = false;
  /// The segment in which the part waits and is executed, if the launch has
  /// several segments and the part is in one. leavesSegment: the part only
  /// waits in it.
  std::optional<int> segment = {};
  bool leavesSegment = false;
  /// How this part waits for earlier ones.
  Wait wait = Wait::None;
  /// What is prefetched before this part, a barrier or an exchange.
  std::vector<Prefetch> prefetches = {};
};

struct KernelPlan {
  KernelPlan(const PartPlaces &places, runtime::KernelTransport transport)
      : places(places), transport(transport) {}

  /// Whether the kernel is another one for each transport: ranks wait for each
  /// other in it, or its launch has several segments.
  bool dependsOnTransport() const { return meetsRanks || isCut; }
  /// Whether it executes only one segment at a time, between messages.
  bool isByMessages() const {
    return transport == runtime::KernelTransport::Messages;
  }

  std::string name;
  /// Lines of the program's file (see runtime::Launch).
  std::vector<int> lines = {};
  /// Includes the buffers in the launch's workspace.
  PartPlaces places;
  /// How the kernel gets at the data of other ranks.
  runtime::KernelTransport transport;
  /// Without the fields that follow from the kernel's text: its name and
  /// numbers, and its number in `launch`.
  runtime::GpuKernel properties;
  runtime::GpuLaunch launch;
  /// Whether the kernel needs many registers, so that one block for each
  /// multiprocessor must do (for `__launch_bounds__`): it accesses scattered
  /// arguments, combines values of other ranks, exchanges what it then computes
  /// with, or sums everything. Otherwise CUDA's compiler would spill registers,
  /// or serialize loads of other ranks' memory, to fit more blocks.
  bool takesRegisters = false;
  /// Whether all parts need so few registers that two blocks fit a
  /// multiprocessor (for `__launch_bounds__`).
  bool takesFewRegisters = false;
  /// Whether ranks wait for each other: in the kernel, or by messages between
  /// its segments.
  bool meetsRanks = false;
  /// Whether the launch has several segments.
  bool isCut = false;
  /// Whether the blocks of clusters access each other's memory. They then wait
  /// for each other at the end, so that none ends before.
  bool opensClusters = false;
  std::vector<PartPlan> parts;
  /// Whether deferred work remains at the end.
  bool doesDeferredAfter = false;
  /// The same launch by a skeleton that needs tensor maps, if one takes it
  /// (runtime::GpuLaunch::preferred).
  std::unique_ptr<KernelPlan> preferred = {};
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_KERNELPLAN_H
