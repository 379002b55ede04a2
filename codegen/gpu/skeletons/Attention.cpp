//===- Attention.cpp - Attention whose warps have roles -------------------===//

#include "codegen/gpu/skeletons/Attention.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/Skeletons.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ccn;
using namespace ccn::codegen;

namespace {

class AttentionSkeleton : public KernelSkeleton {
public:
  bool needsTensorMaps() const override { return true; }
  size_t match(const LaunchMapper &launch, size_t part) const override {
    return part == 0 && matchAttention(launch, *this) ? launch.parts.size() : 0;
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>> map(LaunchMapper &launch,
                                                    size_t) const override {
    std::unique_ptr<AttentionPlan> plan = matchAttention(launch, *this);
    mapAttention(launch, *plan);
    return plan;
  }
  void require(const SkeletonPlan &, DeviceFiles &files) const override {
    files.add({"hopper.cuh", "hopper_products.cuh", "hopper_attention.cuh"});
  }
  llvm::Error emit(CudaPart &part, const SkeletonPlan &any) const override {
    return emitAttention(part, static_cast<const AttentionPlan &>(any));
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    const auto &plan = static_cast<const AttentionPlan &>(any);
    os << "attention(";
    if (plan.result.batches > 1)
      os << plan.result.batches << 'x';
    os << llvm::formatv("{0}x{1}x{2}x{3}) tile({4}x{5})", plan.dims.rows(),
                        plan.dims.keys(), plan.q.width, plan.v.width,
                        plan.tile.rows, plan.tile.keys);
    printNumber(os, "stages", plan.tile.stages);
    if (plan.scores.scale)
      os << " scale(" << llvm::format("%g", *plan.scores.scale) << ')';
    for (const ScoreCondition &condition : plan.scores.conditions)
      os << llvm::formatv(" if({0} + {1} * row + {2} * key)",
                          condition.constant, condition.row, condition.key);
    printNumber(os, "loads", static_cast<int64_t>(plan.scores.loads.size()));
    printNumber(os, "group", plan.group);
    os << '\n';
    printEpilogue(os, plan.result, depth);
  }
};

} // namespace

const KernelSkeleton &codegen::attentionSkeleton() {
  static const AttentionSkeleton only;
  return only;
}
