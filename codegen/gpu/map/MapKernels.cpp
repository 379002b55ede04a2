//===- MapKernels.cpp - The phase map -------------------------------------===//
//
// Finds what all ranks have in common for each launch, then maps each rank's
// launch.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/MapKernels.h"

#include "codegen/gpu/map/ExchangePackets.h"
#include "codegen/gpu/map/LaunchMapper.h"
#include "codegen/gpu/map/MapRows.h"
#include "codegen/gpu/map/ShareArguments.h"
#include "runtime/plan/ExchangeMemory.h"
#include "runtime/plan/GpuAbi.h"
#include "runtime/plan/PartAccesses.h"
#include "runtime/plan/ProtocolRules.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <utility>

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;

namespace {

using namespace ccn::runtime;

class Mapper {
public:
  Mapper(KernelPlans &plans, const LoopKernels &bodies, Skeletons skeletons,
         const GpuArch &arch, const Machine::Gpu &machine, bool isPredicted)
      : plans(plans), plan(*plans.plan), bodies(bodies), skeletons(skeletons),
        arch(arch), machine(machine), isPredicted(isPredicted) {}

  llvm::Error run();

private:
  llvm::Error placeExchanges();
  void agree();

  KernelPlans &plans;
  const Plan &plan;
  const LoopKernels &bodies;
  Skeletons skeletons;
  const GpuArch &arch;
  const Machine::Gpu &machine;
  bool isPredicted;
  /// Of each launch.
  std::vector<LaunchBarriers> barriers;
  std::vector<std::vector<LaunchPipeline>> pipelines;
  /// By launch and exchange.
  std::vector<std::vector<ExchangeMemory>> exchanges;
};

llvm::Error Mapper::placeExchanges() {
  int64_t bytes = 0, flags = 0;
  for (const RankPlan &rank : plan.ranks) {
    bytes = std::max(bytes, rank.symmetricBytes);
    flags = std::max(flags, rank.flags);
  }
  bytes = llvm::alignTo(bytes, exchangeAlignment);
  const RankPlan &first = plan.ranks.front();
  exchanges.resize(first.launches.size());
  for (auto [l, launch] : llvm::enumerate(first.launches))
    for (const Part &any : launch.parts) {
      const auto *part = std::get_if<ExchangePart>(&any);
      if (!part)
        continue;
      ExchangeMemory memory;
      memory.slots = bytes;
      auto members = static_cast<int64_t>(
          plan.groups[static_cast<size_t>(part->group)].size());
      int64_t size = sizeInBytes(
          first.buffers[static_cast<size_t>(part->from.buffer)].type);
      if (part->exchange == Exchange::Schedule) {
        Result<ScheduledMemory> needed =
            largestSchedule(plan, l, exchanges[l].size());
        if (!needed)
          return llvm::createStringError(needed.status().message());
        memory.flags = flags;
        memory.freeFlags = flags + needed->flags;
        flags += needed->flags + members;
        memory.bufferBytes =
            llvm::alignTo(needed->bufferBytes, exchangeAlignment);
        bytes += CCN_SCHEDULE_BUFFERS * memory.bufferBytes;
      } else {
        bool isLL = part->exchange == Exchange::LL;
        int64_t packets = llvm::divideCeilSigned(part->largestCount * size,
                                                 payloadOf(part->exchange));
        int64_t total =
            llvm::alignTo((isLL ? CCN_LL_BUFFERS : CCN_LAMPORT_BUFFERS) *
                              members * packets * 16,
                          exchangeAlignment);
        if (!isLL)
          plans.fills.push_back({bytes, total, 0xff});
        bytes += total;
      }
      exchanges[l].push_back(memory);
    }
  plans.symmetricBytes = bytes;
  plans.flags = flags;
  return llvm::Error::success();
}

/// By buffer of a rank: how many of its launches access it.
std::vector<int> usesOfBuffers(const Plan &plan, const RankPlan &rank) {
  std::vector<int> uses(rank.buffers.size());
  std::vector<const Launch *> last(uses.size());
  for (const Launch &launch : rank.launches)
    for (const Part &part : launch.parts)
      forEachAccess(
          part, plan.groups, [&](const PartAccess<const View> &access) {
            auto buffer = static_cast<size_t>(access.view.buffer);
            uses[buffer] += std::exchange(last[buffer], &launch) != &launch;
          });
  return uses;
}

/// Leaves out preferred kernels of all ranks that some ranks do not have.
void Mapper::agree() {
  for (size_t launch = 0; launch < plan.ranks.front().launches.size();
       ++launch) {
    auto isOfAll = [&](const std::vector<KernelPlan> &own) {
      const KernelPlan *preferred = own[launch].preferred.get();
      return preferred && preferred->properties.isOfAllRanks;
    };
    if (llvm::all_of(plans.kernels, isOfAll))
      continue;
    for (std::vector<KernelPlan> &own : plans.kernels)
      if (isOfAll(own))
        own[launch].preferred.reset();
  }
}

llvm::Error Mapper::run() {
  if (llvm::Error error = placeExchanges())
    return error;
  for (size_t launch = 0; launch < plan.ranks.front().launches.size();
       ++launch) {
    pipelines.push_back(findPipelines(plan, launch, machine));
    // Phases are shared out among blocks.
    bool isPlain = pipelines.back().empty();
    barriers.emplace_back(
        plan, launch, machine, [&](int rank, const RowsPart &rows) {
          PartPlaces places(plan, plans.shared, rank);
          return isPlain && suitClusters(places, bodies, rows, machine);
        });
    llvm::Expected<LaunchSegments> cut = LaunchSegments::create(
        plan, plans.shared, launch, exchanges[launch], !isPredicted);
    if (!cut)
      return cut.takeError();
    plans.segments.push_back(*std::move(cut));
  }
  const int64_t ofPlan = plans.flags;
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    int64_t flags = ofPlan;
    std::vector<KernelPlan> &own = plans.kernels.emplace_back();
    own.reserve(plan.ranks[rank].launches.size());
    std::vector<std::unique_ptr<KernelPlan>> &byMessages =
        plans.messageKernels.emplace_back(plan.ranks[rank].launches.size());
    PartPlaces places(plan, plans.shared, static_cast<int>(rank));
    std::vector<int> uses = usesOfBuffers(plan, plan.ranks[rank]);
    for (size_t launch = 0; launch < plan.ranks[rank].launches.size();
         ++launch) {
      KernelPlan &kernel = own.emplace_back(places, KernelTransport::Peers);
      LaunchFacts facts{barriers[launch],
                        plans.segments[launch],
                        pipelines[launch],
                        exchanges[launch],
                        bodies,
                        skeletons,
                        arch,
                        machine,
                        uses,
                        flags};
      if (llvm::Error error = LaunchMapper(facts, kernel, launch).map())
        return error;
      auto preferred =
          std::make_unique<KernelPlan>(places, KernelTransport::Peers);
      llvm::Expected<bool> found =
          LaunchMapper(facts, *preferred, launch).mapPreferred();
      if (!found)
        return found.takeError();
      if (*found)
        kernel.preferred = std::move(preferred);
      if (isPredicted || !kernel.dependsOnTransport())
        continue;
      byMessages[launch] =
          std::make_unique<KernelPlan>(places, KernelTransport::Messages);
      if (llvm::Error error =
              LaunchMapper(facts, *byMessages[launch], launch).map())
        return error;
    }
    plans.flags = std::max(plans.flags, flags);
  }
  agree();
  return llvm::Error::success();
}

} // namespace

/// Whether launches have parts that only CPUs execute.
static bool gathersPieces(const Plan &plan) {
  return llvm::any_of(plan.ranks, [](const RankPlan &rank) {
    return llvm::any_of(rank.launches, [](const Launch &launch) {
      return llvm::any_of(launch.parts, [](const Part &part) {
        return std::holds_alternative<GatherPart>(part);
      });
    });
  });
}

llvm::Expected<std::unique_ptr<KernelPlans>>
codegen::mapKernels(const Plan &plan, const LoopKernels &bodies,
                    Skeletons skeletons, const Target &target,
                    const Machine &machine, bool isPredicted) {
  assert(target.isGpu() && machine.gpu && "kernels are for GPUs");
  if (plan.ranks.size() > CCN_MAX_RANKS && !isPredicted)
    return llvm::createStringError("kernels address the memory of at most " +
                                   std::to_string(CCN_MAX_RANKS) +
                                   " ranks, found " +
                                   std::to_string(plan.ranks.size()));
  if (!isPredicted && gathersPieces(plan))
    return llvm::createStringError("no kernel gathers pieces of many ranks");
  auto own = std::make_unique<Plan>(plan);
  auto plans = std::make_unique<KernelPlans>();
  plans->shared = shareArguments(*own);
  plans->plan = std::move(own);
  if (llvm::Error error = Mapper(*plans, bodies, skeletons, *target.gpu,
                                 *machine.gpu, isPredicted)
                              .run())
    return error;
  return plans;
}
