//===- Pipelines.cpp - Phases in chunks -----------------------------------===//
//
// In each step, a phase works on the chunk that the phase before it finished,
// on all ranks, in the last step. The signals between ranks travel while the
// first phase works on its next chunk (map/LaunchPipelines.h).
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/LaunchMapper.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/Skeletons.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;
using llvm::Twine;

namespace {

struct PhasePart {
  std::unique_ptr<SkeletonPlan> plan;
  /// Whether a block's threads wait for each other before the part.
  bool waits = false;
  /// The part's segment, for messages.
  std::optional<int> segment = {};
};

struct PipelinePlan : SkeletonPlan {
  using SkeletonPlan::SkeletonPlan;

  LaunchPipeline pipeline;
  const BarrierPart *barrier = nullptr;
  std::vector<std::vector<PhasePart>> phases;
};

/// The pipeline that begins at the next part to be mapped; null if none does.
const LaunchPipeline *pipelineAt(const LaunchMapper &launch) {
  if (launch.isInPipeline)
    return nullptr;
  const auto *found = llvm::find_if(
      launch.facts.pipelines, [&](const LaunchPipeline &pipeline) {
        return pipeline.firstPhase == launch.barrier;
      });
  return found == launch.facts.pipelines.end() ? nullptr : found;
}

/// Calls each(phase, part) for the parts of `phases` phases, of which the first
/// begins at number `part`. Returns the number of the part after them.
size_t forEachPart(const std::vector<Part> &parts, size_t phases, size_t part,
                   llvm::function_ref<void(size_t, size_t)> each) {
  for (size_t phase = 0; phase < phases; ++phase) {
    for (; part < parts.size() && !isBarrier(parts[part]); ++part)
      each(phase, part);
    // Skips the barrier after the phase.
    part += phase + 1 < phases;
  }
  return part;
}

/// What a block does of a chunk in a phase.
llvm::Error emitChunk(CudaPart &out, llvm::ArrayRef<PhasePart> parts) {
  CudaText &text = out.kernel.body;
  for (const PhasePart &part : parts) {
    if (part.waits)
      text << "__syncthreads();\n";
    if (part.segment)
      text << "if (c.segment == " << static_cast<int64_t>(*part.segment)
           << ") {\n";
    if (llvm::Error error = part.plan->skeleton.emit(out, *part.plan))
      return error;
    if (part.segment)
      text << "}\n";
  }
  return llvm::Error::success();
}

constexpr const char *unitsOfChunk = "const i64 first = chunks.first(chunk), "
                                     "last = chunks.last(chunk);\n";

llvm::Error emitPhase(CudaPart &out, llvm::ArrayRef<PhasePart> parts,
                      size_t phase) {
  out.kernel.body << ("if (const i64 chunk = step - " + Twine(phase) +
                      "; chunk >= 0 && chunk < chunks.count) {\n" +
                      unitsOfChunk);
  if (llvm::Error error = emitChunk(out, parts))
    return error;
  out.kernel.body << "}\n";
  return llvm::Error::success();
}

/// The phases are in different segments, so nothing waits for other ranks. But
/// the threads of a block may be in one chunk only, as in a pipeline's step.
llvm::Error emitForMessages(CudaPart &out, const PipelinePlan &plan) {
  CudaText &text = out.kernel.body;
  text << "{\nconst Chunks chunks(" << plan.pipeline.units << ", "
       << plan.pipeline.leastUnits
       << (Twine(");\nfor (i64 chunk = 0; chunk < chunks.count; ++chunk) {\n") +
           unitsOfChunk);
  for (llvm::ArrayRef<PhasePart> phase : plan.phases)
    if (llvm::Error error = emitChunk(out, phase))
      return error;
  text << "__syncthreads();\n}\n}\n";
  return llvm::Error::success();
}

/// No rank waits for the last phase. Every other block executes it before the
/// phases that send, so that some blocks compute while others send.
llvm::Error emitSteps(CudaPart &out, const PipelinePlan &plan) {
  CudaText &text = out.kernel.body;
  CudaText flags;
  flags << "Step(c, " << out.places.group(plan.barrier->group) << ", u32("
        << plan.barrier->flags << "), u32(epoch * steps + step";
  size_t last = plan.phases.size() - 1;
  text << "{\nconst Chunks chunks(" << plan.pipeline.units << ", "
       << plan.pipeline.leastUnits
       << (");\nconst i64 steps = chunks.count + " + Twine(last) +
           ";\nfor (i64 step = 0; step < steps; ++step) {\n");
  for (size_t phase = 0; phase <= last; ++phase) {
    if (phase == 1)
      text << "if (step > 0)\n  await" << flags << " - 1));\n"
           << (last > 1 ? "#pragma unroll 1\nfor (u32 pass = 0; pass < 2; "
                          "++pass)\nif ((pass + blockIdx.x) % 2 == 0) {\n"
                        : "{\n");
    if (phase > 1 && phase == last)
      text << "} else {\n";
    if (llvm::Error error = emitPhase(out, plan.phases[phase], phase))
      return error;
    if (phase == std::max<size_t>(last - 1, 1))
      text << "if (step + 1 < steps)\n  tell" << flags << "));\n";
  }
  text << "}\n}\n}\n";
  return llvm::Error::success();
}

class PipelinesSkeleton : public KernelSkeleton {
public:
  size_t match(const LaunchMapper &launch, size_t part) const override {
    const LaunchPipeline *found = pipelineAt(launch);
    if (!found)
      return 0;
    return forEachPart(launch.parts, found->phases, part,
                       [](size_t, size_t) {}) -
           part;
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>>
  map(LaunchMapper &launch, size_t part) const override {
    auto plan = std::make_unique<PipelinePlan>(*this);
    plan->pipeline = *pipelineAt(launch);
    plan->barrier = &std::get<BarrierPart>(
        *std::find_if(launch.parts.begin() + static_cast<ptrdiff_t>(part),
                      launch.parts.end(), isBarrier));
    plan->phases.resize(plan->pipeline.phases);
    launch.isInPipeline = true;
    llvm::Error error = llvm::Error::success();
    forEachPart(launch.parts, plan->pipeline.phases, part,
                [&](size_t phase, size_t number) {
                  if (!error)
                    error = mapPart(launch, number, *plan, plan->phases[phase]);
                });
    launch.isInPipeline = false;
    if (error)
      return std::move(error);
    launch.barrier += plan->pipeline.phases - 1;
    launch.meetRanks();
    return plan;
  }
  void require(const SkeletonPlan &any, DeviceFiles &files) const override {
    const auto &plan = static_cast<const PipelinePlan &>(any);
    for (const std::vector<PhasePart> &phase : plan.phases)
      for (const PhasePart &part : phase)
        part.plan->skeleton.require(*part.plan, files);
  }
  llvm::Error emit(CudaPart &part, const SkeletonPlan &any) const override {
    const auto &plan = static_cast<const PipelinePlan &>(any);
    return part.isByMessages() ? emitForMessages(part, plan)
                               : emitSteps(part, plan);
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    const auto &plan = static_cast<const PipelinePlan &>(any);
    os << "pipeline";
    printNumber(os, "units", plan.pipeline.units);
    printNumber(os, "unit", plan.pipeline.unit);
    printNumber(os, "least", plan.pipeline.leastUnits);
    os << '\n';
    for (auto [i, phase] : llvm::enumerate(plan.phases)) {
      os.indent(2 * depth + 2) << "phase " << i << '\n';
      for (const PhasePart &part : phase) {
        os.indent(2 * depth + 4) << (part.waits ? "wait(block) " : "");
        if (part.segment)
          os << "segment(" << *part.segment << ") ";
        part.plan->skeleton.print(os, *part.plan, depth + 2);
      }
    }
  }

private:
  static llvm::Error mapPart(LaunchMapper &launch, size_t number,
                             const PipelinePlan &plan,
                             std::vector<PhasePart> &phase) {
    const Part &part = launch.parts[number];
    PhasePart own;
    // The part can only wait for its own block. Shared memory may still be in
    // use by the phase that was executed before, whichever that was.
    own.waits = launch.facts.barriers.before(number, launch.parts.size()) !=
                    Wait::None ||
                takesSharedMemory(part);
    if (launch.hasSegments())
      own.segment = launch.facts.cut.segmentOf(launch.rank, number);
    llvm::Expected<std::unique_ptr<SkeletonPlan>> inner = launch.mapInner(
        number, {.units = plan.pipeline.units, .unit = plan.pipeline.unit});
    if (!inner)
      return inner.takeError();
    own.plan = std::move(*inner);
    phase.push_back(std::move(own));
    return llvm::Error::success();
  }
};

} // namespace

const KernelSkeleton &codegen::pipelinesSkeleton() {
  static const PipelinesSkeleton only;
  return only;
}
