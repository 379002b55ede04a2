//===- Exchanges.h - Collectives with protocols of their own ----*- C++ -*-===//
//
// By packets, or as a synthesized schedule says (device/exchange.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_EXCHANGES_H
#define CCN_CODEGEN_GPU_SKELETONS_EXCHANGES_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/LaunchMapper.h"

namespace ccn::codegen {

struct ExchangePlan : SkeletonPlan {
  using SkeletonPlan::SkeletonPlan;

  const runtime::ExchangePart *part = nullptr;
  ExchangeMemory memory;
  const ExchangeSegments *segments = nullptr;
  /// By packets: how many there are of a rank, how many of them a block takes
  /// at a time, and a thread has on their way.
  int64_t packets = 0, ofBlock = 0, batch = 0;
  /// Of a schedule whose results would overwrite what others are made of: where
  /// in the launch's workspace that is kept.
  std::optional<int64_t> kept = {};
};

void mapExchange(LaunchMapper &launch, const runtime::ExchangePart &part,
                 ExchangePlan &plan);
llvm::Error emitExchange(CudaPart &part, const ExchangePlan &exchange);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_EXCHANGES_H
