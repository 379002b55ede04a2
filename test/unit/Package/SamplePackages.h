//===- SamplePackages.h - Packages made by hand -----------------*- C++ -*-===//
//
// For tests of what takes packages, without a compiler.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_PACKAGE_SAMPLEPACKAGES_H
#define CCN_TEST_UNIT_PACKAGE_SAMPLEPACKAGES_H

#include "runtime/plan/Package.h"

namespace ccn::runtime {

/// The bytes of CcnSampleLoops.
std::string sampleObjectCode();

/// A package in which every field of every struct has a value of its own and
/// every kind of part is there. Not to be executed.
Package everything();

/// mesh m (dp = ranks)
/// program average(x: f32[count] local, inout y: f32[count], scale: f32) {
///   y <- y + scale * all_reduce(sum, x)
///   let s = slice(y, 0)
///   return s
/// }
/// with the sums in the members' order. `function` does the addition.
Package average(int ranks, int64_t count,
                const std::string &function = "add_scaled");

/// Likewise, with y in a list of buffers.
Package scatteredAverage(int ranks, int64_t count);

/// `average` for GPUs too, with kernels made by hand. The slice is on another
/// stream. `wrongRank` never tells the others that it is there, or if
/// `doesFail` says that it has divided by zero.
Package averageOnGpus(int ranks, int64_t count, int wrongRank = -1,
                      bool doesFail = false);

/// program pipeline(x: f32[count] local, inout y: f32[count], scale: f32)
/// of `stages` stages on streams of their own, which go through `chunks`
/// chunks: each launch waits for the stage before, the ranks of a group meet in
/// it, and one is added to an element of y. `group` ranks are one, if it is not
/// 0, else all.
Package pipelineOnGpus(int ranks, int stages, int chunks, int group = 0);

/// Two ranks: y = x of the other, on GPUs, where x is an argument that ranks
/// access of each other.
Package neighbourOnGpus(int64_t count);

/// One rank: y = x and v = u, as much of them as a box has, on GPUs that copy
/// boxes of tensors. All are f32[rows, columns]; a box has 8 rows of 32, and
/// its first element is at `row` and `column`. In two launches, "first" and
/// "second".
Package boxesOnGpus(int64_t rows, int64_t columns, int64_t row, int64_t column);

/// Likewise to `average`, but the last rank adds 1 to y.
Package diverging(int ranks, int64_t count);

/// Every rank sleeps for inout seconds[rank] seconds, meets the others in a
/// barrier, and sleeps again.
Package sleeper(int ranks);

/// Rank `failing` divides by zero; the others wait for it.
Package failing(int ranks, int failingRank);

} // namespace ccn::runtime

#endif // CCN_TEST_UNIT_PACKAGE_SAMPLEPACKAGES_H
