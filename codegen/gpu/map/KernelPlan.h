//===- KernelPlan.h - What a GPU kernel is to be ----------------*- C++ -*-===//
//
// The result of `map`: of a rank's launch the threads, memory and parts of its
// kernel, and what each part does where. Whoever writes the kernel decides
// nothing.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_KERNELPLAN_H
#define CCN_CODEGEN_GPU_MAP_KERNELPLAN_H

#include "codegen/gpu/map/LaunchBarriers.h"
#include "codegen/gpu/map/LaunchPipelines.h"
#include "codegen/gpu/map/LaunchSegments.h"
#include "codegen/gpu/map/RowsPlan.h"
#include "runtime/plan/GpuProgram.h"

#include <memory>
#include <optional>
#include <variant>

namespace ccn::codegen {

/// Sums along other dimensions than that of rows, or elements between such.
struct ColumnLoopPlan {
  LoopPlan loop;
  /// Whether all blocks wait for each other before, and whether they merge
  /// first what they have of results, for which they wait, too.
  bool waitsBefore = false, mergesBefore = false;
  /// Of elements nothing more is set.
  bool isReduced = false;
  int64_t vectors = 0, summed = 0;
  /// Of a thread, on their way at once.
  int64_t turns = 1;
  /// Threads of a group, and what all of them have of vectors is a tile.
  int64_t lanes = 1, tiles = 1;
  /// How many blocks may share out the sums of a tile; where more than one do,
  /// they leave what they have in the launch's workspace, from byte `partials`
  /// on, and merge it when all have come.
  int64_t mostShares = 1, partials = 0;
  /// What a thread has of the sums of one result.
  int64_t bytesOfSum = 0;

  bool isShared() const { return mostShares > 1; }
};

/// The results of a block, and its groups, where sums of blocks are merged.
constexpr int64_t mergedResults = 32;

struct ColumnsPlan {
  /// With arrays of scratch in the launch's workspace.
  std::unique_ptr<const runtime::RowsPart> rows;
  /// Empty.
  std::unique_ptr<const Scratch> scratch;
  std::vector<ColumnLoopPlan> loops;
  /// Whether blocks merge at the end what they have.
  bool mergesAfter = false;
};

/// A product, a convolution, or rows of a table. They take no lists of buffers:
/// what is in one is copied.
struct ProductPlan {
  runtime::Part part;
  std::vector<std::unique_ptr<RowsPlan>> before = {}, after = {};
  /// Of rows that are added to a table: where in the launch's workspace its
  /// memory is, and what copies the table.
  int64_t memory = 0;
  std::unique_ptr<RowsPlan> table = {};
};

struct ExchangePlan {
  const runtime::ExchangePart *part;
  ExchangeMemory memory;
  const ExchangeSegments *segments;
  /// By packets: how many there are of a rank, how many of them a block takes
  /// at a time, and a thread has on their way.
  int64_t packets = 0, ofBlock = 0, batch = 0;
  /// Of a schedule whose results would overwrite what others are made of: where
  /// in the launch's workspace that is kept.
  std::optional<int64_t> kept = {};
};

/// A row of matrices that begins to come while ranks wait.
struct Prefetch {
  Team team;
  int64_t rows;
  runtime::View view;
  /// From row to row, and of a row, in bytes.
  int64_t step, bytes;
};

struct PartPlan {
  const runtime::Part *part;
  /// The barrier's, signal's and await's are their part.
  std::variant<std::monostate, std::unique_ptr<RowsPlan>, ColumnsPlan,
               ProductPlan, ExchangePlan>
      plan = {};
  /// What is left for a barrier is done before.
  bool finishesBefore = false;
  /// Whether a cluster's blocks wait, before, until all have begun.
  bool opensCluster = false;
  /// The segment that it is in, if a launch has several and it is in one.
  std::optional<int> segment = {};
  /// How it waits for parts before it.
  Wait wait = Wait::None;
  /// Of a barrier: whether all blocks of all ranks come to it.
  bool isMeeting = false;
  /// Of what is left for a barrier: the segment that it is of.
  int lastSegment = 0;
  /// Before a barrier, or an exchange.
  std::vector<Prefetch> prefetches = {};
  /// Whether another part does it, or a library may have done it.
  bool isTaken = false, mayBeDone = false;
  /// Of a phase: whether its threads wait before it.
  bool syncsBefore = false;
};

/// Phases that the steps of a pipeline do, each one chunk later than the one
/// before (LaunchPipelines.h).
struct PipelinePlan {
  LaunchPipeline pipeline;
  const runtime::BarrierPart *barrier;
  /// Whether what is left for a barrier is done before.
  bool finishesBefore = false;
  std::vector<std::vector<PartPlan>> phases = {};
};

struct KernelPlan {
  KernelPlan(const PartPlaces &places) : places(places) {}

  std::string name;
  /// With the buffers of the launch's workspace.
  PartPlaces places;
  /// Without name, numbers and number of the kernel.
  runtime::GpuKernel properties;
  runtime::GpuLaunch launch;
  /// Whether it accesses lists of buffers, combines what others have, exchanges
  /// what it then works on, or sums up all, which takes many registers: CUDA's
  /// compiler would rather spill some, or wait for some of the others' memory
  /// before it reads the rest, than have fewer blocks at once.
  bool takesRegisters = false;
  /// Whether all of its parts need no more registers than leave those of
  /// another block.
  bool takesFewRegisters = false;
  /// Whether ranks wait for each other in it.
  bool usesEpoch = false;
  /// Whether the launch has several segments.
  bool isCut = false;
  /// Whether the blocks of a cluster wait for each other at the end, before
  /// which others may access what they have.
  bool opensClusters = false;
  std::vector<std::variant<PartPlan, PipelinePlan>> parts;
  /// Whether something is left for a barrier at the end.
  bool finishesAfter = false;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_KERNELPLAN_H
