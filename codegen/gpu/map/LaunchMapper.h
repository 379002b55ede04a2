//===- LaunchMapper.h - Maps the parts of a launch to a kernel --*- C++ -*-===//
//
// Goes through the parts of a rank's launch in the order in which its kernel
// executes them. Decides what each part waits for, and asks skeletons to decide
// the rest.
//
// Some work is deferred to a barrier: in the next barrier of blocks, the first
// block does it after all blocks have arrived and before any continues.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_LAUNCHMAPPER_H
#define CCN_CODEGEN_GPU_MAP_LAUNCHMAPPER_H

#include "codegen/gpu/map/KernelPlan.h"
#include "codegen/gpu/map/LaunchPipelines.h"
#include "codegen/gpu/map/LaunchSegments.h"
#include "codegen/gpu/map/LoopPlan.h"
#include "lib/Target/Machine.h"

#include <algorithm>

namespace ccn::codegen {

/// What is known of a launch, on all ranks, before its kernels are mapped.
struct LaunchFacts {
  const LaunchBarriers &barriers;
  const LaunchSegments &cut;
  llvm::ArrayRef<LaunchPipeline> pipelines;
  /// For each exchange of the launch.
  llvm::ArrayRef<ExchangeMemory> exchanges;
  const LoopKernels &bodies;
  Skeletons skeletons;
  const GpuArch &arch;
  const Machine::Gpu &machine;
  /// By buffer of the rank: how many launches access it.
  llvm::ArrayRef<int> uses;
  /// How many of the rank's flags are taken.
  int64_t &flags;
};

class LaunchMapper {
public:
  LaunchMapper(const LaunchFacts &facts, KernelPlan &kernel, size_t launch)
      : facts(facts), kernel(kernel),
        parts(kernel.places.own().launches[launch].parts),
        rank(kernel.places.rank), launch(launch) {}

  /// Maps the whole launch.
  llvm::Error map();
  /// Maps it by a skeleton that needs tensor maps. Returns false if none takes
  /// it.
  llvm::Expected<bool> mapPreferred();
  /// Maps one of several parts that a skeleton executes together: asks the
  /// skeleton that would execute this part alone.
  llvm::Expected<std::unique_ptr<SkeletonPlan>> mapInner(size_t part,
                                                         BlockShare share);

  /// Records that `blocks` blocks have something to do.
  void needBlocks(int64_t blocks) {
    kernel.launch.blocks = std::max(kernel.launch.blocks, blocks);
  }
  /// Reserves `bytes` bytes of the launch's workspace and returns their offset.
  int64_t takeWorkspace(int64_t bytes) {
    int64_t place = kernel.launch.workspaceBytes;
    kernel.launch.workspaceBytes += bytes;
    return place;
  }
  /// Reserves flags that only this rank sets, in its own memory, and returns
  /// the first.
  int64_t takeFlags(int64_t count) {
    facts.flags += count;
    return facts.flags - count;
  }
  void needShared(int64_t bytes) {
    int64_t &most = kernel.properties.sharedBytes;
    most = std::max(most, bytes);
  }
  /// Records that deferred work is done.
  void endDeferred() {
    hasDeferred = false;
    deferredWrites.clear();
  }
  /// Records a barrier of all blocks, which also does deferred work.
  void gridBarrier() {
    kernel.properties.waits = true;
    endDeferred();
  }
  /// Records that ranks wait for each other.
  void meetRanks() { kernel.meetsRanks = kernel.properties.waits = true; }
  /// Whether parts are in segments.
  bool hasSegments() const { return kernel.isCut && kernel.isByMessages(); }
  /// Ends the choices for a loop.
  void settle(LoopPlan &loop) {
    loop.settle();
    kernel.takesRegisters |= loop.combinesFetched();
  }

  const LaunchFacts &facts;
  KernelPlan &kernel;
  const std::vector<runtime::Part> &parts;
  int rank;
  /// The launch's number.
  size_t launch;
  /// Whether work is deferred to the next barrier, and what that work writes.
  bool hasDeferred = false;
  std::vector<runtime::View> deferredWrites = {};
  /// The segment of the deferred work.
  int deferredSegment = 0;
  /// How many parts need so few registers that two blocks fit a multiprocessor.
  size_t partsOfFewRegisters = 0;
  /// How the part that is being mapped is divided among blocks.
  BlockShare share = {};
  /// How many exchanges, barriers and signals have been mapped.
  size_t exchange = 0, barrier = 0, signals = 0;
  /// Whether the parts that are being mapped belong to a pipeline.
  bool isInPipeline = false;

private:
  void begin();
  void end();
  /// Adds a barrier if work is deferred; returns whether there was any.
  bool doDeferred() {
    bool hadDeferred = hasDeferred;
    if (hadDeferred)
      gridBarrier();
    return hadDeferred;
  }
  void enter(std::optional<int> segment) {
    if (hasSegments())
      within = segment;
  }
  std::pair<const KernelSkeleton *, size_t> findSkeleton(size_t part) const;
  bool mustDoDeferred(const runtime::Part &part, Wait wait,
                      size_t number) const;
  void mapWaits(PartPlan &own, size_t part);
  llvm::Expected<size_t> mapPart(size_t part);

  /// The segment of the part that was mapped last.
  std::optional<int> within;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LAUNCHMAPPER_H
