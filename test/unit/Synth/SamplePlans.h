//===- SamplePlans.h - MSCCL++ plans that are made by hand ------*- C++ -*-===//
//
// Small plans with what exported schedules do not use: ports, switches,
// pipelines, semaphores and barriers; and the operations to make others of.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_SYNTH_SAMPLEPLANS_H
#define CCN_TEST_UNIT_SYNTH_SAMPLEPLANS_H

#include "synth/interop/Plan.h"

namespace ccn::synth {

inline PlanOp op(const std::string &name, std::vector<PlanBuffer> sources = {},
                 std::vector<PlanBuffer> targets = {},
                 PlanChannelType type = PlanChannelType::None,
                 std::vector<int> channels = {}) {
  PlanOp result;
  result.name = name;
  result.sources = std::move(sources);
  result.targets = std::move(targets);
  result.channelType = type;
  result.channels = std::move(channels);
  return result;
}

inline PlanBuffer local(char buffer, int index, int size = 1) {
  return {PlanBuffer::Local, buffer, 0, index, size};
}
inline PlanBuffer far(int id, int index, int size = 1) {
  return {PlanBuffer::Remote, 'i', id, index, size};
}
inline PlanBuffer all(int index, int size = 1) {
  return {PlanBuffer::Switch, 'i', 0, index, size};
}

/// Two ranks that put what they have into each other's output through a port.
inline Plan portPlan() {
  constexpr PlanChannelType port = PlanChannelType::Port;
  Plan p;
  p.name = "port";
  p.kind = CollectiveKind::AllGather;
  for (int r = 0; r < 2; ++r) {
    PlanGpu gpu{1, 2, 0, {}, {{port, {1 - r}, 'i', {}}}, {{1 - r, 'o', {port}}},
                {}};
    PlanBlock block;
    block.channels = {{port, {0}}};
    block.remoteBuffers = {{port, {0}}};
    block.ops = {op("signal", {}, {}, port, {0}),
                 op("wait", {}, {}, port, {0}),
                 op("nop"),
                 op("put", {local('o', r)}, {far(0, r)}, port, {0}),
                 op("nop"),
                 op("signal", {}, {}, port, {0}),
                 op("flush", {}, {}, port, {0}),
                 op("wait", {}, {}, port, {0}),
                 op("nop")};
    gpu.blocks = {block};
    p.gpus.push_back(gpu);
  }
  return p;
}

/// Two ranks that add up in the switch, each one chunk, in a pipeline.
inline Plan switchPlan() {
  constexpr PlanChannelType memory = PlanChannelType::Memory;
  Plan p;
  p.name = "switch";
  for (int r = 0; r < 2; ++r) {
    PlanGpu gpu{2, 2, 0, {}, {{memory, {1 - r}, 'i', {}}}, {}, {}};
    gpu.channels.push_back({PlanChannelType::Switch, {}, 'i', {{2, {0, 1}}}});
    PlanBlock block;
    block.channels = {{memory, {0}}, {PlanChannelType::Switch, {0}}};
    PlanOp pipeline = op("pipeline");
    pipeline.unitBytes = 1 << 20;
    pipeline.pipelineChunks = 1;
    pipeline.ops = {op("glres", {all(r)}, {all(r)}, PlanChannelType::Switch)};
    block.ops = {op("rlxsignal", {}, {}, memory, {0}),
                 op("rlxwait", {}, {}, memory, {0}),
                 op("nop"),
                 pipeline,
                 op("nop"),
                 op("signal", {}, {}, memory, {0}),
                 op("wait", {}, {}, memory, {0})};
    gpu.blocks = {block};
    p.gpus.push_back(gpu);
  }
  return p;
}

/// Two blocks of a rank: one makes a copy, the other puts it.
inline Plan blocksPlan(bool barrier) {
  constexpr PlanChannelType memory = PlanChannelType::Memory;
  Plan p;
  p.name = "blocks";
  p.kind = CollectiveKind::AllGather;
  p.inPlace = false;
  for (int r = 0; r < 2; ++r) {
    PlanGpu gpu{
        1, 2, 2, {}, {{memory, {1 - r}, 'i', {}}}, {{1 - r, 's', {memory}}},
        {}};
    if (!barrier)
      gpu.semaphores = {0};
    PlanOp release = op("sem_release"), acquire = op("sem_acquire");
    release.semaphores = acquire.semaphores = {0};
    if (barrier) {
      release = acquire = op("barrier");
      release.barrierBlocks = acquire.barrierBlocks = 2;
    }
    PlanBlock copies, puts;
    copies.ops = {op("copy", {local('i', 0)}, {local('o', r)}),
                  op("copy", {local('i', 0)}, {local('s', r)}), op("nop"),
                  release};
    puts.channels = puts.remoteBuffers = {{memory, {0}}};
    puts.ops = {acquire,
                op("nop"),
                op("put", {local('s', r)}, {far(0, r)}, memory),
                op("nop"),
                op("signal", {}, {}, memory, {0}),
                op("wait", {}, {}, memory, {0}),
                op("nop"),
                op("copy", {local('s', 1 - r)}, {local('o', 1 - r)})};
    gpu.blocks = {copies, puts};
    p.gpus.push_back(gpu);
  }
  return p;
}

} // namespace ccn::synth

#endif // CCN_TEST_UNIT_SYNTH_SAMPLEPLANS_H
