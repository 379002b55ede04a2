//===- Skeletons.h - All skeletons ------------------------------*- C++ -*-===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_SKELETONS_H
#define CCN_CODEGEN_GPU_SKELETONS_SKELETONS_H

#include "codegen/gpu/map/Skeleton.h"

namespace ccn::codegen {

/// In the order in which they are asked which parts they do.
Skeletons allSkeletons();

/// Phases that a pipeline does chunk by chunk.
const KernelSkeleton &pipelinesSkeleton();
/// An exchange and rows, by who takes the rows.
const KernelSkeleton &exchangedRowsSkeleton();
/// Barriers, signals and waits for signals.
const KernelSkeleton &flagsSkeleton();
/// Collectives with protocols of their own.
const KernelSkeleton &exchangesSkeleton();
/// Sums along other than rows.
const KernelSkeleton &columnsSkeleton();
/// Products, convolutions, and rows of tables.
const KernelSkeleton &productsSkeleton();
/// Loops over rows, and copies.
const KernelSkeleton &rowsSkeleton();

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_SKELETONS_H
