//===- Exchanges.cpp - Collectives with protocols of their own ------------===//

#include "codegen/gpu/skeletons/Exchanges.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/Skeletons.h"

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

class ExchangesSkeleton : public KernelSkeleton {
public:
  size_t match(const LaunchMapper &launch, size_t part) const override {
    return std::holds_alternative<ExchangePart>(launch.parts[part]);
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>>
  map(LaunchMapper &launch, size_t part) const override {
    auto plan = std::make_unique<ExchangePlan>(*this);
    mapExchange(launch, std::get<ExchangePart>(launch.parts[part]), *plan);
    return plan;
  }
  void require(const SkeletonPlan &any, DeviceFiles &files) const override {
    const auto &plan = static_cast<const ExchangePlan &>(any);
    bool isSchedule = plan.part->exchange == Exchange::Schedule;
    files.add({isSchedule ? "schedule_sums.cuh" : "exchange_packets.cuh"});
    if (files.areForMessages())
      files.add(
          {isSchedule ? "schedule_messages.cuh" : "exchange_messages.cuh"});
    else
      files.add({isSchedule ? "schedules.cuh" : "exchange.cuh"});
  }
  llvm::Error emit(CudaPart &part, const SkeletonPlan &any) const override {
    return emitExchange(part, static_cast<const ExchangePlan &>(any));
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    const auto &plan = static_cast<const ExchangePlan &>(any);
    static const char *const names[] = {"ll", "lamport", "schedule"};
    os << "exchange " << names[static_cast<size_t>(plan.part->exchange)];
    if (plan.part->exchange != Exchange::Schedule) {
      printNumber(os, "packets", plan.packets);
      printNumber(os, "of_block", plan.ofBlock);
      printNumber(os, "batch", plan.batch);
    }
    printWord(os, "kept", plan.kept.has_value());
    os << '\n';
  }
};

} // namespace

const KernelSkeleton &codegen::exchangesSkeleton() {
  static const ExchangesSkeleton only;
  return only;
}
