//===- MapKernels.h - The phase map -----------------------------*- C++ -*-===//
//
// Decides what the kernel of each launch of each rank is to be.
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

/// The kernels of all ranks, and what they have in common. It refers to the
/// plan, in which arguments that ranks access of each other have taken the
/// place of buffers, and to the loop kernels.
struct KernelPlans {
  std::unique_ptr<const runtime::Plan> plan;
  /// The arguments that ranks access of each other.
  std::vector<int> shared;
  /// Of each rank, by launch.
  std::vector<std::vector<KernelPlan>> kernels;
  /// Of each launch.
  std::vector<LaunchSegments> segments;
  /// What exchanges have in symmetric memory begins filled with a value.
  std::vector<runtime::GpuFill> fills;
  int64_t symmetricBytes = 0, flags = 0;
};

/// For GPUs, of which the machine has figures.
llvm::Expected<std::unique_ptr<KernelPlans>>
mapKernels(const runtime::Plan &plan, const LoopKernels &bodies,
           Skeletons skeletons, const Target &target, const Machine &machine);

/// For readers: the kernels of each launch, those of ranks that are alike once.
std::string printKernels(const KernelPlans &plans);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_MAPKERNELS_H
