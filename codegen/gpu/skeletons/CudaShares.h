//===- CudaShares.h - A team's share of a row as CUDA C++ -------*- C++ -*-===//
//
// The loops around the structures of loops where a team takes a row
// (RowShares.h).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_CUDASHARES_H
#define CCN_CODEGEN_GPU_SKELETONS_CUDASHARES_H

#include "codegen/gpu/emit/CudaIndices.h"
#include "codegen/gpu/map/LoopTurns.h"

namespace ccn::codegen {

/// Writes what a team does of one loop for one row.
class ShareWriter {
public:
  ShareWriter(const LoopWriter &loop, Team team, const LoopTurns &turns)
      : loop(loop), team(team), turns(turns),
        dims(loop.isReduced() ? loop.reduced : loop.kept) {}

  /// All of it. The first thread makes scalars, unless each does. What the loop
  /// takes of memory `isFetched` if fetch comes before.
  CudaText take(bool isOfEvery, bool isFetched) const;
  /// What each thread takes of memory, all at once.
  CudaText fetch() const;
  /// Does `body` in each turn, for vector `i` of the row.
  CudaText eachTurn(const CudaText &body) const {
    return vectorsIn(0, turns.turns, body);
  }
  /// Lets `text` set what is given of `f`, which is fetched, in each turn
  /// before its elements are done.
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
  /// Of what is shared out.
  const LoopDims &dims;
  CudaText given;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_CUDASHARES_H
