//===- Algorithms.h - Schedules of the synthesizer in programs --*- C++ -*-===//
//
// What choosing and selecting have in common: what a schedule must do for a
// collective, and how it becomes an algorithm of the module.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_ALGORITHMS_H
#define CCN_LIB_TRANSFORMS_ALGORITHMS_H

#include "dialect/ccn/Choices.h"
#include "lib/Synthesis/Synthesize.h"

namespace ccn {

/// The bytes of the largest part of a tensor on any rank.
int64_t largestBytes(mlir::RankedTensorType type, MeshOp mesh);

/// What an algorithm for a collective, of a global or a localized program, must
/// do. The kind is Custom if no schedule implements it.
SynthRequest requestFor(CollectiveOpInterface collective);

/// How many times as large as its elements sums of some contributions are that
/// the collective sends: narrow floats are added in f32.
double partialFactor(CollectiveOpInterface collective);

/// Whether it may help that members of an all_reduce or reduce_scatter push
/// what is combined: not between two, where each reads as much as it would be
/// sent; nor of chunks, which are small, and of which each would need slots.
bool mayPush(CommunicateOp op);

/// Whether a schedule, which is right, is of that collective on as many ranks
/// and with the same root.
bool isFor(const synth::Schedule &schedule, const SynthRequest &wanted);

/// Of a send to or from what is no rank: its chunk.
std::optional<int> findChunkThroughCpu(const synth::Schedule &schedule);

/// What the algorithm of a collective that is made for a topology is called.
std::string algorithmName(CollectiveOpInterface collective,
                          llvm::StringRef topology);

/// Makes a schedule an algorithm of the module, called `name` or alike, and
/// gives the symbol by which collectives refer to it. Equal schedules are one.
mlir::FlatSymbolRefAttr addAlgorithm(mlir::ModuleOp module,
                                     const synth::Schedule &schedule,
                                     llvm::StringRef name, mlir::Location loc);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_ALGORITHMS_H
