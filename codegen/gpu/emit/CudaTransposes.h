//===- CudaTransposes.h - Who takes which tiles of a loop -------*- C++ -*-===//
//
// Loops whose operands are contiguous along different dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDATRANSPOSES_H
#define CCN_CODEGEN_GPU_EMIT_CUDATRANSPOSES_H

#include "codegen/gpu/emit/CudaLoops.h"
#include "codegen/gpu/map/LoopTiles.h"

namespace ccn::codegen {

/// All elements of a loop that takes tiles.
CudaText elementsByTiles(const LoopWriter &loop, const BlockOfTiles &block);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDATRANSPOSES_H
