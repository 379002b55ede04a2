//===- CudaTransposes.h - Who takes which tiles of a loop -------*- C++ -*-===//
//
// Loops whose operands are contiguous along different dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDATRANSPOSES_H
#define CCN_CODEGEN_GPU_EMIT_CUDATRANSPOSES_H

#include "codegen/gpu/emit/CudaLoops.h"

namespace ccn::codegen {

/// All elements of a loop with tiles, and how many blocks they are for.
struct TiledElements {
  CudaText text;
  int64_t blocks;
};
TiledElements elementsByTiles(const LoopWriter &loop);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDATRANSPOSES_H
