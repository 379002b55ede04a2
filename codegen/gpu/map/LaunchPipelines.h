//===- LaunchPipelines.h - Phases of a kernel in chunks ---------*- C++ -*-===//
//
// At a barrier of ranks inside a kernel, no block continues before all blocks
// of all ranks have arrived. If two blocks with different numbers never access
// the same elements in the phases before and after the barrier, block i only
// needs to synchronize with block i of each peer, and only chunk by chunk. So
// blocks execute the phases as a pipeline: in each step, every phase works on
// one chunk, one chunk behind the phase before it. What one phase sends travels
// while the next phase works on what has arrived.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_LAUNCHPIPELINES_H
#define CCN_CODEGEN_GPU_MAP_LAUNCHPIPELINES_H

#include "lib/Target/Machine.h"
#include "runtime/plan/Plan.h"

#include <vector>

namespace ccn::codegen {

/// Phase i of a launch consists of the parts between its barriers number i - 1
/// and i.
struct LaunchPipeline {
  size_t firstPhase = 0, phases = 0;
  /// The elements of a unit, by which work is divided among blocks: a row, or
  /// as many independent elements.
  int64_t unit = 0;
  /// The largest number of units in the first phase on any rank. In parts with
  /// more units, those with the same number modulo this one belong together.
  int64_t units = 0;
  /// A block must have at least so many units in a step to make the step
  /// worthwhile.
  int64_t leastUnits = 0;
};

/// The pipelines of launch number `launch`, in order; they are the same on all
/// ranks. Each begins with a phase that sends.
std::vector<LaunchPipeline> findPipelines(const runtime::Plan &plan,
                                          size_t launch,
                                          const Machine::Gpu &machine);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LAUNCHPIPELINES_H
