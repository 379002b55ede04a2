//===- Flags.cpp - Barriers, signals and waits for signals ----------------===//

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/LaunchMapper.h"
#include "codegen/gpu/skeletons/Skeletons.h"
#include "runtime/plan/GpuAbi.h"

#include "llvm/Support/raw_ostream.h"

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;
using llvm::Twine;

namespace {

struct FlagPlan : SkeletonPlan {
  using SkeletonPlan::SkeletonPlan;

  const Part *part = nullptr;
  /// For a barrier: whether all blocks of all ranks synchronize in it, and, for
  /// messages, the segment of the work that is deferred to it.
  bool isMeeting = false;
  int deferredSegment = 0;
};

/// Between messages nothing waits for other ranks.
void emitForMessages(CudaPart &out, const FlagPlan &plan) {
  if (out.deferred.text.empty())
    return;
  out.kernel.body << "if (c.segment == "
                  << static_cast<int64_t>(plan.deferredSegment) << ") {\n";
  out.gridBarrier();
  out.kernel.body << "}\n";
}

void emitBarrier(CudaPart &out, const FlagPlan &plan,
                 const BarrierPart &barrier) {
  CudaText &text = out.kernel.body;
  text << (plan.isMeeting ? "groupBarrier(c, " : "edgeBarrier(c, ")
       << out.places.group(barrier.group) << ", u32(" << barrier.flags
       << "), epoch";
  if (!out.deferred.text.empty())
    text << ", [&] {\n" << out.deferred << "}";
  out.deferred = {};
  text << ");\n";
}

class FlagsSkeleton : public KernelSkeleton {
public:
  size_t match(const LaunchMapper &launch, size_t part) const override {
    return isFlagPart(launch.parts[part]);
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>>
  map(LaunchMapper &launch, size_t part) const override {
    auto plan = std::make_unique<FlagPlan>(*this);
    plan->part = &launch.parts[part];
    if (isBarrier(*plan->part)) {
      plan->isMeeting = !launch.facts.barriers.isAtEdge(launch.barrier++);
      plan->deferredSegment = launch.deferredSegment;
      launch.endDeferred();
    }
    launch.signals += std::holds_alternative<SignalPart>(*plan->part);
    if (launch.signals > CCN_MAX_SIGNALS)
      return llvm::createStringError("launch '" + launch.kernel.name +
                                     "' has more signals than a kernel takes");
    return plan;
  }
  llvm::Error emit(CudaPart &out, const SkeletonPlan &any) const override {
    const auto &plan = static_cast<const FlagPlan &>(any);
    CudaText &text = out.kernel.body;
    if (out.isByMessages())
      emitForMessages(out, plan);
    else if (const auto *barrier = std::get_if<BarrierPart>(plan.part))
      emitBarrier(out, plan, *barrier);
    else if (const auto *signal = std::get_if<SignalPart>(plan.part))
      text << ("signal(c, " + Twine(out.signals++) + ", int(")
           << static_cast<int64_t>(signal->rank) << "), u32(" << signal->flag
           << "), epoch);\n";
    else if (const auto *await = std::get_if<AwaitPart>(plan.part))
      text << "await(c, int(" << static_cast<int64_t>(await->rank) << "), u32("
           << await->flag << "), epoch);\n";
    return llvm::Error::success();
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    const auto &plan = static_cast<const FlagPlan &>(any);
    if (isBarrier(*plan.part))
      os << "barrier " << (plan.isMeeting ? "of all blocks" : "at the edge");
    else
      os << (std::holds_alternative<SignalPart>(*plan.part) ? "signal"
                                                            : "await");
    os << '\n';
  }
};

} // namespace

const KernelSkeleton &codegen::flagsSkeleton() {
  static const FlagsSkeleton only;
  return only;
}
