//===- Skeletons.h - All skeletons ------------------------------*- C++ -*-===//
//
// The list of skeletons (map/Skeleton.h). A new one is added here.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_SKELETONS_H
#define CCN_CODEGEN_GPU_SKELETONS_SKELETONS_H

#include "codegen/gpu/map/Skeleton.h"

namespace ccn::codegen {

/// All skeletons, in the order in which they are asked which parts they
/// execute.
Skeletons allSkeletons();

/// Phases that are executed as a pipeline, chunk by chunk.
const KernelSkeleton &pipelinesSkeleton();
/// An exchange and the rows after it, both executed by the rows' teams.
const KernelSkeleton &exchangedRowsSkeleton();
/// Barriers, signals and waits for signals.
const KernelSkeleton &flagsSkeleton();
/// Collectives with protocols of their own.
const KernelSkeleton &exchangesSkeleton();
/// Sums along columns.
const KernelSkeleton &columnsSkeleton();
/// Matrix products, convolutions, and rows of tables.
const KernelSkeleton &productsSkeleton();
/// Products whose warps have roles, and the loops after them.
const KernelSkeleton &wholeProductsSkeleton();
/// Such products of operands that ranks gather.
const KernelSkeleton &gatheredProductsSkeleton();
/// The same of a product of which each rank has a slice.
const KernelSkeleton &scatteredProductsSkeleton();
/// Two products and a softmax in between, whose warps have roles.
const KernelSkeleton &attentionSkeleton();
/// Loops over rows, and copies.
const KernelSkeleton &rowsSkeleton();

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_SKELETONS_H
