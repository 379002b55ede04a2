//===- Algorithms.h - Synthesized schedules in programs ---------*- C++ -*-===//
//
// Functions that `choose` and `select` share: what a schedule must do for a
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

/// The requirements on an algorithm for a collective, which may be in a global
/// or a localized program. The kind is Custom if no schedule implements the
/// collective.
SynthRequest requestFor(CollectiveOpInterface collective);

/// The groups of ranks of the mesh that take part in the collective, each in
/// the order of its positions.
synth::Groups groupsOf(CollectiveOpInterface collective);

/// How many times as large as its elements sums of some contributions are that
/// the collective sends: narrow floats are added in f32.
double partialFactor(CollectiveOpInterface collective);

/// Whether the protocol `push` may help an all_reduce or reduce_scatter. It
/// does not help two ranks, where each would receive as much as it reads; nor
/// in overlapped regions, where chunks are small and each would need its own
/// slots.
bool mayPush(CommunicateOp op);

/// Whether a checked schedule has the kind of collective, the number of ranks
/// and the root of `wanted`.
bool isFor(const synth::Schedule &schedule, const SynthRequest &wanted);

/// The chunk of a send to or from a host that is not a rank; none if there is
/// no such send.
std::optional<int> findChunkThroughCpu(const synth::Schedule &schedule);

/// The name of an algorithm that is made for a collective and a topology.
std::string algorithmName(CollectiveOpInterface collective,
                          llvm::StringRef topology);

/// Adds a schedule to the module as an algorithm with the name `name` or a
/// similar one, and returns its symbol. An equal schedule that is there already
/// is reused.
mlir::FlatSymbolRefAttr addAlgorithm(mlir::ModuleOp module,
                                     const synth::Schedule &schedule,
                                     llvm::StringRef name, mlir::Location loc);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_ALGORITHMS_H
