//===- CudaRows.h - Loops over rows as CUDA C++ -----------------*- C++ -*-===//
//
// Writes loops over rows, alone or with an exchange of these rows, and copies,
// which are loops too.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_CUDAROWS_H
#define CCN_CODEGEN_GPU_SKELETONS_CUDAROWS_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/KernelPlan.h"
#include "codegen/gpu/map/RowsPlan.h"

namespace ccn::codegen {

/// The plan of the skeletons that execute loops over rows.
struct RowsPartPlan : SkeletonPlan {
  using SkeletonPlan::SkeletonPlan;

  std::unique_ptr<RowsPlan> rows;
};

/// Adds loops over rows to a kernel.
llvm::Error emitRows(CudaPart &part, const RowsPlan &rows);

/// Adds the device files that rows require.
void requireOfRows(const RowsPlan &rows, DeviceFiles &files);

/// Adds the prefetch of rows.
void emitPrefetch(CudaPart &part, const Prefetch &prefetch);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_CUDAROWS_H
