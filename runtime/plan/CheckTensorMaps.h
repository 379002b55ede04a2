//===- CheckTensorMaps.h - Checks the tensor maps of launches ---*- C++ -*-===//
//
// The part of checkGpuProgram that is about tensors which kernels access by
// asynchronous copies of boxes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_CHECKTENSORMAPS_H
#define CCN_RUNTIME_PLAN_CHECKTENSORMAPS_H

#include "runtime/base/Status.h"
#include "runtime/plan/GpuProgram.h"

namespace ccn::runtime {

/// Checks that the tensor lies inside its memory, and what CUDA's driver
/// requires of a tensor map, but for the addresses of arguments, which are not
/// known yet. The rank's buffers must have been checked before.
Status checkTensorMap(const Plan &plan, const GpuProgram &program, int rank,
                      const GpuLaunch &launch, const GpuTensorMap &map);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_CHECKTENSORMAPS_H
