//===- CudaExchanges.h - Exchanges as CUDA C++ ------------------*- C++ -*-===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_CUDAEXCHANGES_H
#define CCN_CODEGEN_GPU_SKELETONS_CUDAEXCHANGES_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/KernelPlan.h"

namespace ccn::codegen {

/// Adds an exchange to a kernel, and the actions of its schedule to those of
/// all.
llvm::Error emitExchange(CudaPart &part, const ExchangePlan &exchange,
                         std::vector<int64_t> &tables);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_CUDAEXCHANGES_H
