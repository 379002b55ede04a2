//===- MapRows.h - Maps loops over rows -------------------------*- C++ -*-===//
//
// Decides which threads execute which elements of loops over rows, and of
// copies, which are loops too.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_MAPROWS_H
#define CCN_CODEGEN_GPU_MAP_MAPROWS_H

#include "codegen/gpu/map/LaunchMapper.h"
#include "codegen/gpu/map/RowsPlan.h"

namespace ccn::codegen {

/// Decides how loops over rows are divided. `exchange` is the exchange before
/// them, if the teams of the rows execute it. A copy is a loop too.
std::unique_ptr<RowsPlan> mapRows(LaunchMapper &launch,
                                  const runtime::RowsPart &rows,
                                  const BlockShare &share = {},
                                  const RowExchange *exchange = nullptr);
std::unique_ptr<RowsPlan> mapCopy(LaunchMapper &launch,
                                  const runtime::CopyPart &copy,
                                  const BlockShare &share = {});

/// The rows that teams are to take, which may come while ranks wait; but for
/// what lies in buffer `awaited`.
std::vector<Prefetch> prefetchesOf(const LaunchMapper &launch,
                                   const runtime::RowsPart &rows, int awaited);

/// Whether clusters of blocks may execute rows that blocks would execute
/// otherwise: threads need nothing from other threads except sums of a row.
bool suitClusters(const PartPlaces &places, const LoopKernels &bodies,
                  const runtime::RowsPart &rows, const Machine::Gpu &machine);
/// Whether the clusters that take rows may do an exchange that comes before, of
/// which they take the results from the packets.
bool suitExchange(const PartPlaces &places, const LoopKernels &bodies,
                  const runtime::RowsPart &rows,
                  const runtime::ExchangePart &exchange,
                  const Machine::Gpu &machine);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_MAPROWS_H
