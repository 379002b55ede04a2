//===- CudaElements.h - Who takes which elements of a loop ------*- C++ -*-===//
//
// The elements of a loop, or what is summed, shared out among threads.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDAELEMENTS_H
#define CCN_CODEGEN_GPU_EMIT_CUDAELEMENTS_H

#include "codegen/gpu/emit/CudaLoops.h"
#include "codegen/gpu/map/RowTeams.h"

namespace ccn::codegen {

/// Adds elements of results from number `first` to `end`, so many `elements` at
/// a time: each thread those `step` apart, `turns` of them on their way at
/// once.
CudaText addInTurns(const LoopWriter &loop, bool areAligned, int64_t turns,
                    const CudaText &first, const CudaText &end,
                    llvm::StringRef step, int elements);

/// Adds all elements of a result, shared out among the threads of all blocks:
/// in turns `tile` at a time to a block if that is not 0.
CudaText sumOfBlocks(const LoopWriter &loop, int64_t tile);

/// One result for each index of the kept dimensions, by the lanes of a team
/// together.
CudaText sumTogether(const LoopWriter &loop);

/// All elements of a row, shared out among threads: the expressions say which
/// is a thread's first, and how far it is to its next.
CudaText elementsOfRow(const LoopWriter &loop, llvm::StringRef first,
                       llvm::StringRef step);

/// All elements, of which blocks take `tile` at a time in turns.
CudaText elementsOfTiles(const LoopWriter &loop, int64_t tile);

/// Of each share.units units those from `first` to `last`, variables of the
/// kernel.
CudaText elementsOfUnits(const LoopWriter &loop, const BlockShare &share);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDAELEMENTS_H
