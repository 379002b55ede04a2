//===- MapKernels.h - The phase map -----------------------------*- C++ -*-===//
//
// The phase `map` decides how the kernel of each launch of each rank works.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_MAPKERNELS_H
#define CCN_CODEGEN_GPU_MAP_MAPKERNELS_H

#include "codegen/gpu/map/KernelPlan.h"
#include "codegen/gpu/map/LaunchSegments.h"
#include "codegen/gpu/map/LoopPlan.h"
#include "lib/Target/Machine.h"

#include "llvm/Support/Error.h"

namespace ccn::codegen {

/// The kernel plans of all ranks, and what they have in common. They refer to
/// the loop kernels and to `plan`, in which arguments that ranks access in each
/// other's memory have replaced symmetric buffers.
struct KernelPlans {
  std::unique_ptr<const runtime::Plan> plan;
  /// The arguments that ranks access in each other's memory.
  std::vector<int> shared;
  /// By rank and launch. `messageKernels` are those of messages where they are
  /// others, and null elsewhere.
  std::vector<std::vector<KernelPlan>> kernels;
  std::vector<std::vector<std::unique_ptr<KernelPlan>>> messageKernels;
  /// By launch.
  std::vector<LaunchSegments> segments;
  /// Symmetric memory of exchanges that is filled with a value before the first
  /// run.
  std::vector<runtime::GpuFill> fills;
  int64_t symmetricBytes = 0, flags = 0;
};

/// For GPUs, of which the machine has figures. Kernels that are to run reach at
/// most CCN_MAX_RANKS ranks. If they are only predicted, there may be more, and
/// `plan` may have some ranks only (see exportPlan); there are no messages.
llvm::Expected<std::unique_ptr<KernelPlans>>
mapKernels(const runtime::Plan &plan, const LoopKernels &bodies,
           Skeletons skeletons, const Target &target, const Machine &machine,
           bool isPredicted = false);

/// Prints the kernels of each launch for readers; equal kernels of several
/// ranks once.
std::string printKernels(const KernelPlans &plans);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_MAPKERNELS_H
