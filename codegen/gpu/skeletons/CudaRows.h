//===- CudaRows.h - Loops over rows as CUDA C++ -----------------*- C++ -*-===//
//
// Loops over rows, alone or with an exchange of the rows, and copies, which are
// loops too.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_CUDAROWS_H
#define CCN_CODEGEN_GPU_SKELETONS_CUDAROWS_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/RowTeams.h"

namespace ccn::codegen {

/// Whether few long rows, each of a block, may be those of clusters of blocks,
/// in a kernel that has all of a multiprocessor's registers.
bool suitClusters(CudaPlaces &places, CudaBodies &bodies,
                  const runtime::RowsPart &rows);

/// An exchange by packets of the rows of the part that comes next.
struct RowExchange {
  const runtime::ExchangePart *part;
  /// Where in symmetric memory its packets are, and its first segment.
  int64_t slots, segment;
};

/// Whether those threads of clusters that take elements of rows may exchange
/// them themselves and have what comes in registers: only the part's first loop
/// may need it, each thread what it then has.
bool suitExchange(CudaPlaces &places, CudaBodies &bodies,
                  const runtime::RowsPart &rows,
                  const runtime::ExchangePart &exchange);

/// Adds loops over rows to a kernel, maybe with the exchange of the rows.
llvm::Error emitRows(CudaPart &part, const runtime::RowsPart &rows,
                     const BlockShare &share = {},
                     const RowExchange *exchange = nullptr);

/// Lets what loops over rows read come nearer while blocks wait for what comes
/// before: of each team's first row, but for what is written to buffer
/// `awaited`.
void prefetchRows(CudaPart &part, const runtime::RowsPart &rows, int awaited);

/// Adds a copy: a loop that stores its one input.
llvm::Error emitCopy(CudaPart &part, const runtime::CopyPart &copy,
                     const BlockShare &share = {});

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_CUDAROWS_H
