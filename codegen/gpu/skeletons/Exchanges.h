//===- Exchanges.h - Collectives with protocols of their own ----*- C++ -*-===//
//
// Exchanges by packets, or by a synthesized schedule (device/exchange.cuh,
// device/schedules.cuh).
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
  /// By packets: how many a rank sends, how many of them a block takes at a
  /// time, and how many a thread has in flight.
  int64_t packets = 0, ofBlock = 0, batch = 0;
  /// For a schedule whose results would overwrite input that it still needs:
  /// the offset of a copy of the input in the launch's workspace.
  std::optional<int64_t> kept = {};
};

void mapExchange(LaunchMapper &launch, const runtime::ExchangePart &part,
                 ExchangePlan &plan);
llvm::Error emitExchange(CudaPart &part, const ExchangePlan &exchange);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_EXCHANGES_H
