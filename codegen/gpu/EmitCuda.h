//===- EmitCuda.h - Plans as CUDA C++ ---------------------------*- C++ -*-===//
//
// From the runtime's plan to the kernels that execute it on GPUs: every launch
// is one kernel, its parts one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMITCUDA_H
#define CCN_CODEGEN_GPU_EMITCUDA_H

#include "codegen/plan/LoopKernel.h"
#include "lib/Target/Machine.h"
#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/Plan.h"

namespace ccn::codegen {

struct KernelPlans;

/// The kernels that plans of theirs say. The source is for NVRTC, from sm_80
/// on, with the options --std=c++17 --fmad=false. Fails if something has no
/// translation. `text` is the program's file, if its lines are to stand above
/// the kernels that compute what they say.
llvm::Expected<runtime::GpuProgram> emitCuda(const KernelPlans &plans,
                                             llvm::StringRef text = "");

/// The same of a plan whose loops are in `loops`, for GPUs, of which the
/// machine has figures. Fails also if the mesh has more than CCN_MAX_RANKS
/// ranks.
llvm::Expected<runtime::GpuProgram> emitCuda(const runtime::Plan &plan,
                                             llvm::ArrayRef<LoopKernel> loops,
                                             const Target &target,
                                             const Machine &machine,
                                             llvm::StringRef text = "");

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMITCUDA_H
