//===- MapExchanges.cpp - Collectives with protocols of their own ---------===//

#include "codegen/gpu/map/ExchangePackets.h"
#include "codegen/gpu/skeletons/Exchanges.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

void codegen::mapExchange(LaunchMapper &launch, const ExchangePart &part,
                          ExchangePlan &plan) {
  KernelPlan &kernel = launch.kernel;
  int64_t share = launch.share.tile;
  plan.part = &part;
  plan.memory = launch.facts.exchanges[launch.exchange];
  plan.segments = &launch.facts.cut.exchangeOf(launch.rank, launch.exchange);
  kernel.takesRegisters |= share > 0;
  int64_t size = sizeInBytes(kernel.places.type(part.from));
  int64_t payload = payloadOf(part.exchange);
  plan.packets = llvm::divideCeilSigned(part.inputCount * size, payload);
  // If the exchange is divided as the next part, that part asks for the blocks.
  if (share == 0)
    launch.needBlocks(llvm::divideCeilSigned(plan.packets, threadsPerBlock));
  if (part.exchange == Exchange::Schedule) {
    // Results may not overwrite what others are still made of.
    if (isInPlace(kernel.places.plan, launch.rank, part)) {
      plan.kept = launch.takeWorkspace(
          llvm::alignTo(part.inputCount * size, exchangeAlignment));
      launch.gridBarrier();
    }
    return;
  }
  // If there is at most one block for each multiprocessor, the block may use
  // all registers. Blocks that combine data of many ranks need them.
  constexpr size_t fewMembers = 4;
  kernel.takesRegisters |=
      kernel.places.members(part.group).size() > fewMembers ||
      plan.packets <= threadsPerBlock * launch.facts.machine.multiprocessors;
  plan.ofBlock = share == 0                 ? threadsPerBlock
                 : share >= part.inputCount ? std::max<int64_t>(plan.packets, 1)
                                            : share * size / payload;
  // The batch is a power of two.
  plan.batch = std::min<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeilSigned(plan.ofBlock, threadsPerBlock)),
      exchangedByThread / payload);
}
