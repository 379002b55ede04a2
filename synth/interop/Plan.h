//===- Plan.h - MSCCL++ execution plans -------------------------*- C++ -*-===//
//
// The JSON format that MSCCL++'s executor runs: thread blocks of one-sided
// operations on local and remote buffers, ordered by nothing but signals,
// packets, barriers and semaphores. Plans can be read (also those of versions
// up to 0.6, which have other keys), written, checked, made from schedules and
// turned into them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_PLAN_H
#define CCN_SYNTH_INTEROP_PLAN_H

#include "synth/Schedule.h"
#include "synth/interop/TokenMemory.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ccn::synth {

enum class PlanChannelType { None, Memory, Port, Switch };

/// A range of chunks: in a local buffer ('i', 'o', 's'), in the remote buffer
/// `id` of the thread block, or in all ranks of its switch channel `id`.
struct PlanBuffer {
  enum Where { Local, Remote, Switch };
  Where where = Local;
  char buffer = 'i';
  int id = 0;
  int index = 0, size = 1;
  friend bool operator==(const PlanBuffer &, const PlanBuffer &) = default;
};

struct PlanOp {
  std::string name;
  PlanChannelType channelType = PlanChannelType::None;
  /// Indices among the thread block's channels of the type.
  std::vector<int> channels;
  std::vector<PlanBuffer> sources, targets;
  std::string reduceOp;
  /// Which part of the buffers this block takes; groupSize 0: all of it.
  int groupIndex = 0, groupSize = 0;
  int barrier = 0, barrierBlocks = 0;
  std::vector<int> semaphores;
  /// A pipeline runs `ops` on units of some bytes of `pipelineChunks` chunks.
  int64_t unitBytes = 0;
  int pipelineChunks = 0;
  std::vector<PlanOp> ops;
  friend bool operator==(const PlanOp &, const PlanOp &) = default;
};

/// Channels, or remote buffers, of one type, as indices into the gpu's.
struct PlanRefs {
  PlanChannelType type = PlanChannelType::None;
  std::vector<int> ids;
  friend bool operator==(const PlanRefs &, const PlanRefs &) = default;
};

struct PlanBlock {
  std::vector<PlanOp> ops;
  std::vector<PlanRefs> channels, remoteBuffers;
  friend bool operator==(const PlanBlock &, const PlanBlock &) = default;
};

/// Connections to peers, or, of type Switch, groups of ranks whose buffers are
/// written and read as one.
struct PlanChannel {
  PlanChannelType type = PlanChannelType::Memory;
  std::vector<int> peers;
  char buffer = 'i';
  struct Group {
    int size = 0;
    std::vector<int> ranks;
    friend bool operator==(const Group &, const Group &) = default;
  };
  std::vector<Group> groups;
  friend bool operator==(const PlanChannel &, const PlanChannel &) = default;
};

struct PlanRemoteBuffer {
  int rank = 0;
  char buffer = 'i';
  std::vector<PlanChannelType> access;
  friend bool operator==(const PlanRemoteBuffer &,
                         const PlanRemoteBuffer &) = default;
};

struct PlanGpu {
  int inputChunks = 0, outputChunks = 0, scratchChunks = 0;
  std::vector<PlanBlock> blocks;
  std::vector<PlanChannel> channels;
  std::vector<PlanRemoteBuffer> remoteBuffers;
  /// Initial values.
  std::vector<int> semaphores;
  friend bool operator==(const PlanGpu &, const PlanGpu &) = default;
};

struct Plan {
  std::string name, protocol = "Simple";
  CollectiveKind kind = CollectiveKind::AllReduce;
  bool inPlace = true, reuseResources = false, doubleScratch = false;
  int threadsPerBlock = 1024, bufferAlignment = 16;
  uint64_t minBytes = 0, maxBytes = UINT64_MAX;
  std::vector<PlanGpu> gpus;
  friend bool operator==(const Plan &, const Plan &) = default;
};

/// Reads a plan. Those of versions up to 0.6 (told by their keys) become the
/// same as if they had been written for 0.7.
Result<Plan> parsePlan(std::string_view text, std::string_view where);

/// Writes the format of 0.7 and later.
std::string writePlan(const Plan &plan);

/// Writes the format of versions up to 0.6. Fails, with the reason, where it
/// cannot say what the plan does: semaphores, pipelines, groups of thread
/// blocks, operations that are newer. Relaxed signals become full ones. Where
/// data goes between several pairs of buffers of two ranks, channels are added
/// for it, after the others.
Result<std::string> writeLegacyPlan(const Plan &plan);

/// Whether a JSON text looks like a plan (has the key "gpus").
bool isPlan(std::string_view text);

/// Proves that a plan implements its collective, whatever the order in which
/// thread blocks, threads and the network run: references, the executor's
/// limits, no deadlock, every two accesses to a place of which one writes
/// ordered (threads of a block only by nop and barrier), nothing read that was
/// not written, no buffer of a rank touched before its kernel runs, nothing
/// arriving after it ended, every contribution exactly once where it belongs.
/// Pipelines are run for two units. Empty, or what is wrong: gpu, thread block
/// and operation. `trace` gets what a right plan sent.
std::string checkPlan(const Plan &plan, ProgramTrace *trace = nullptr);

/// The schedule that a plan executes, as importMsccl() does.
Result<Schedule> importPlan(const Plan &plan);

enum class PlanProtocol {
  Simple, ///< puts into remote buffers, then signals
  LL,     ///< packets, which need no signals and twice the bytes
};

/// A plan from a schedule of all_gather, reduce_scatter, all_reduce (in place)
/// or all_to_all (out of place) over memory channels. Chunks are spread over
/// thread blocks, each of which takes its chunks through all steps. Fails on
/// other collectives, on CPUs that take part, and where the executor's limits
/// are too small, with the reason.
Result<Plan> exportPlan(const Schedule &schedule, const std::string &name,
                        PlanProtocol protocol = PlanProtocol::Simple);

/// The executor's limits: operations of a thread block, channels of a type and
/// remote buffers of a thread block, remote ends and all buffers of one
/// operation, barriers of a gpu, semaphores of one operation.
constexpr size_t planMaxOps = 64, planMaxChannels = 16, planMaxRemote = 8,
                 planMaxBuffers = 10, planMaxBarriers = 16,
                 planMaxSemaphores = 16;

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_PLAN_H
