//===- CudaShares.h - A team's share of a row as CUDA C++ -------*- C++ -*-===//
//
// Writes the loops around the structures of loops that a team executes on a row
// (RowShares.h).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_CUDASHARES_H
#define CCN_CODEGEN_GPU_SKELETONS_CUDASHARES_H

#include "codegen/gpu/emit/CudaIndices.h"
#include "codegen/gpu/map/LoopTurns.h"

namespace ccn::codegen {

/// Writes how a team executes one loop on one row.
class ShareWriter {
public:
  ShareWriter(const LoopWriter &loop, Team team, const LoopTurns &turns)
      : loop(loop), team(team), turns(turns),
        dims(loop.isReduced() ? loop.reduced : loop.kept) {}

  /// The whole loop. The first thread computes scalars, or every thread if
  /// `isOfEvery`. With `isFetched`, the code of fetch() has already loaded what
  /// the loop needs.
  CudaText take(bool isOfEvery, bool isFetched) const;
  /// All loads of each thread, at once.
  CudaText fetch() const;
  /// Executes `body` in each turn, for vector `i` of the row.
  CudaText eachTurn(const CudaText &body) const {
    return vectorsIn(0, turns.turns, body);
  }
  /// In each turn, `text` sets the provided member (LoopPlan::give) of the
  /// fetched values `f` before the elements are computed.
  void setGiven(CudaText text) { given = std::move(text); }

private:
  CudaText firstVector() const;
  CudaText endOfVectors() const;
  llvm::StringRef step() const;
  CudaText declare(int64_t count) const;
  CudaText vectorsIn(int64_t first, int64_t end, const CudaText &body) const;
  CudaText turn(int64_t first, int64_t end, const CudaText &body) const;
  CudaText fetchTurns(int64_t first, int64_t end, bool areAligned) const;
  ElementsCall fetched(bool areAligned) const;
  CudaText steps(bool areAligned) const;
  CudaText pass(bool areAligned, bool isFetched) const;
  CudaText call(const ElementsCall &call) const;
  CudaText sumsOfParts() const;

  const LoopWriter &loop;
  Team team;
  const LoopTurns &turns;
  /// The dimensions whose elements the team's threads divide.
  const LoopDims &dims;
  CudaText given;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_CUDASHARES_H
