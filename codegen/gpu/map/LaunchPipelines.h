//===- LaunchPipelines.h - Phases of a kernel in chunks ---------*- C++ -*-===//
//
// A barrier of ranks inside of a kernel lets no block go on before all have
// come. Where the phases before and after it touch the same elements only with
// blocks of the same number, these need wait for their like alone, and not for
// all that these do: they go through the phases in chunks, a step with each
// phase a chunk behind the one before it, so that what one phase sends is on
// its way while the next works on what has come.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_LAUNCHPIPELINES_H
#define CCN_CODEGEN_GPU_MAP_LAUNCHPIPELINES_H

#include "lib/Target/Machine.h"
#include "runtime/plan/Plan.h"

#include <vector>

namespace ccn::codegen {

/// Phase i of a launch is what it does between its barriers number i - 1 and i.
struct LaunchPipeline {
  size_t firstPhase = 0, phases = 0;
  /// What blocks share out: rows, or as many elements that are for themselves.
  int64_t unit = 0;
  /// How many units there are in the first phase, on any rank. In parts with
  /// more, those of the same number modulo this go together.
  int64_t units = 0;
  /// As many of a block are worth a step.
  int64_t leastUnits = 0;
};

/// The pipelines of launch number `launch`, the same on all ranks, in order:
/// such as begin with a phase that sends.
std::vector<LaunchPipeline> findPipelines(const runtime::Plan &plan,
                                          size_t launch,
                                          const Machine::Gpu &machine);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LAUNCHPIPELINES_H
