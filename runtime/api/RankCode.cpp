//===- RankCode.cpp - The code and memory of a package --------------------===//
//
// Each function handles both targets, the CPU and GPUs.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/RankCode.h"

#include "runtime/cpu/PlanExecutor.h"
#include "runtime/cuda/GpuExecutor.h"
#include "runtime/cuda/GpuMachine.h"
#include "runtime/plan/Arguments.h"
#include "runtime/plan/CheckPlan.h"
#include "runtime/plan/TunedVariant.h"

#include <algorithm>

namespace ccn::runtime {

Result<RankCode> loadCode(const Package &package, bool onGpus) {
  RankCode code;
  if (onGpus) {
    if (!package.gpu)
      return error("the package holds no kernels for GPUs");
    code.gpu = &*package.gpu;
    return code;
  }
  Result<std::unique_ptr<ObjectCode>> loaded =
      ObjectCode::load(package.objectCode);
  if (!loaded)
    return loaded.status();
  code.cpu = *std::move(loaded);
  return code;
}

Result<std::string> tunedMachine(bool onGpus, GpuTransport transport) {
  if (!onGpus)
    return cpuMachine();
  Result<std::string> gpus = gpuMachine();
  if (gpus && transport == GpuTransport::Nccl)
    return *gpus + " by messages";
  return gpus;
}

TunedVariants fastestVariants(const Package &package, bool onGpus,
                              GpuTransport transport) {
  if (package.variants.empty())
    return {};
  auto find = [&](GpuTransport by) {
    // If there are no devices, a later check says so.
    Result<std::string> machine = tunedMachine(onGpus, by);
    return static_cast<int32_t>(machine ? findTuned(package, *machine) : 0);
  };
  return {find(transport), find(GpuTransport::Nccl)};
}

Result<int64_t> executorBytes(const Plan &plan, bool onGpus) {
  if (onGpus)
    return gpuTransportBytes(plan);
  return planSymmetricBytes(plan);
}

int64_t privateBytes(const Plan &plan, int rank, bool onGpus) {
  if (onGpus)
    return 0;
  const RankPlan &own = plan.ranks[static_cast<size_t>(rank)];
  int64_t bytes = own.privateBytes;
  std::vector<bool> isScattered = scatteredArguments(plan);
  for (const Buffer &buffer : own.buffers)
    if (buffer.memory == Memory::Argument &&
        isScattered[static_cast<size_t>(buffer.offset)])
      bytes = addSaturating(
          bytes, multiplySaturating(buffer.count, sizeInBytes(buffer.type)));
  return bytes;
}

Result<MemoryNeeds> needsOfRank(const Package &package, int rank, bool onGpus) {
  const Plan &plan = package.plan;
  const RankPlan &own = plan.ranks[static_cast<size_t>(rank)];
  MemoryNeeds needs;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    int64_t bytes = sizeInBytes(plan.arguments[i].type);
    for (int64_t size : own.placements[i].sizes)
      bytes = multiplySaturating(bytes, size);
    needs.add("arguments and results", 1, bytes);
  }
  if (onGpus) {
    needs.add("symmetric memory", 1, package.gpu->symmetricBytes);
    needs.add("private memory", 1, own.privateBytes);
    return needs;
  }
  Result<int64_t> symmetric = executorBytes(plan, onGpus);
  if (!symmetric)
    return symmetric.status();
  needs.add("symmetric memory", 1, *symmetric);
  needs.add("private memory", 1, privateBytes(plan, rank, onGpus));
  return needs;
}

Result<int64_t>
mostBytes(const Package &package,
          const std::function<Result<int64_t>(const Plan &)> &bytesOf) {
  Result<int64_t> most = bytesOf(package.plan);
  for (const PackageVariant &variant : package.variants) {
    if (!most)
      break;
    Status status = checkPlan(variant.plan);
    Result<int64_t> bytes =
        status ? bytesOf(variant.plan) : Result<int64_t>(status);
    most = bytes ? std::max(*most, *bytes) : std::move(bytes);
  }
  return most;
}

} // namespace ccn::runtime
