//===- LaunchMapper.h - From the parts of a launch to a kernel --*- C++ -*-===//
//
// Goes through the parts of a rank's launch in the order in which its kernel
// does them: decides what they wait for, and has skeletons decide the rest.
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

/// What is known of a launch of all ranks before kernels are mapped.
struct LaunchFacts {
  const LaunchBarriers &barriers;
  const LaunchSegments &cut;
  llvm::ArrayRef<LaunchPipeline> pipelines;
  /// Of each exchange.
  llvm::ArrayRef<ExchangeMemory> exchanges;
  const LoopKernels &bodies;
  Skeletons skeletons;
  const GpuArch &arch;
  const Machine::Gpu &machine;
};

class LaunchMapper {
public:
  LaunchMapper(const LaunchFacts &facts, KernelPlan &kernel, size_t launch)
      : facts(facts), kernel(kernel),
        parts(kernel.places.own().launches[launch].parts),
        rank(kernel.places.rank), launch(launch) {}

  /// All of it.
  llvm::Error map();
  /// A part that a skeleton has taken with others: how it is done, by whoever
  /// does one alone.
  llvm::Expected<std::unique_ptr<SkeletonPlan>> mapInner(size_t part,
                                                         BlockShare share);

  /// Says that so many blocks have something to do.
  void needBlocks(int64_t blocks) {
    kernel.launch.blocks = std::max(kernel.launch.blocks, blocks);
  }
  /// Takes some of the launch's workspace and returns where it begins.
  int64_t takeWorkspace(int64_t bytes) {
    int64_t place = kernel.launch.workspaceBytes;
    kernel.launch.workspaceBytes += bytes;
    return place;
  }
  void needShared(int64_t bytes) {
    int64_t &most = kernel.properties.sharedBytes;
    most = std::max(most, bytes);
  }
  /// Nothing is left for a barrier any more.
  void endLast() {
    isLeft = false;
    lastWrites.clear();
  }
  /// All blocks wait for each other.
  void gridBarrier() {
    kernel.properties.waits = true;
    endLast();
  }
  /// Ranks wait for each other.
  void meetRanks() { kernel.usesEpoch = kernel.properties.waits = true; }
  /// Ends the choices of a loop.
  void settle(LoopPlan &loop) {
    loop.settle();
    kernel.takesRegisters |= loop.combinesFetched();
  }

  const LaunchFacts &facts;
  KernelPlan &kernel;
  const std::vector<runtime::Part> &parts;
  int rank;
  /// Whether the first block has something to do when all blocks have come to
  /// the next barrier, before any goes on, and what that writes.
  bool isLeft = false;
  std::vector<runtime::View> lastWrites = {};
  /// The segment of that.
  int lastSegment = 0;
  /// How many parts take so few registers as leave those of another block.
  size_t partsOfFewRegisters = 0;
  /// How blocks share out the part that is mapped.
  BlockShare share = {};
  /// How many exchanges, barriers and signals have been mapped.
  size_t exchange = 0, barrier = 0, signals = 0;
  /// Whether the parts that are mapped are those of a pipeline.
  bool isInPipeline = false;

private:
  void begin();
  void end();
  /// Does what is left for a barrier, if there is something.
  bool finish() {
    bool wasLeft = isLeft;
    if (wasLeft)
      gridBarrier();
    return wasLeft;
  }
  void enter(std::optional<int> segment) {
    if (kernel.isCut)
      within = segment;
  }
  std::pair<const KernelSkeleton *, size_t> findSkeleton(size_t part) const;
  bool mustFinish(const runtime::Part &part, Wait wait, size_t number) const;
  void mapWaits(PartPlan &own, size_t part);
  llvm::Expected<size_t> mapPart(size_t part);

  size_t launch;
  /// The segment of the parts that were mapped last.
  std::optional<int> within;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_LAUNCHMAPPER_H
