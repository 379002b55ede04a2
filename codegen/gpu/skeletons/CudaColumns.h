//===- CudaColumns.h - Sums along other than rows as CUDA C++ ---*- C++ -*-===//
//
// Where what is summed up is not contiguous, but neighbours of the results are,
// rows are columns of a matrix: threads that took the elements of one would
// load far more than they need (device/columns.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_CUDACOLUMNS_H
#define CCN_CODEGEN_GPU_SKELETONS_CUDACOLUMNS_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/KernelPlan.h"

namespace ccn::codegen {

/// Adds them to a kernel, shared out among all its blocks.
llvm::Error emitColumns(CudaPart &part, const ColumnsPlan &columns);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_CUDACOLUMNS_H
