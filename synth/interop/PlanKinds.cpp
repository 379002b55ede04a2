//===- PlanKinds.cpp - Operations on buffers of one kind each -------------===//
//
// See PlanKinds.h.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/PlanKinds.h"

#include <algorithm>
#include <tuple>
#include <utility>

using namespace ccn::synth;

bool ccn::synth::takesPairs(const PlanOp &op) {
  return op.name == "put" || op.name == "ppkt" || op.name == "pws" ||
         op.name == "pwsf" || op.name == "get";
}

namespace {

/// What the pairs of one operation must have in common: their size, and the
/// buffers here and there. The name of a buffer there stands for it if the plan
/// does not say which it is.
std::tuple<int, int, char, char> kindOfPair(const PlanGpu &gpu,
                                            const std::vector<int> &flat,
                                            const PlanBuffer &source,
                                            const PlanBuffer &target) {
  auto bufferOf = [&](const PlanBuffer &buffer) {
    bool isFar = buffer.where == PlanBuffer::Remote &&
                 buffer.id < static_cast<int>(flat.size()) &&
                 flat[buffer.id] < static_cast<int>(gpu.remoteBuffers.size());
    return isFar ? gpu.remoteBuffers[flat[buffer.id]].buffer : buffer.buffer;
  };
  return {source.size, target.size, bufferOf(source), bufferOf(target)};
}

/// The operation, or, where its pairs differ in kind, several that each have
/// pairs of one kind.
std::vector<PlanOp> partsOf(const PlanGpu &gpu, const std::vector<int> &flat,
                            const PlanOp &op) {
  size_t count = op.targets.size();
  bool perPair = op.channels.size() == count;
  if (!takesPairs(op) || op.sources.size() != count || count < 2 ||
      (!perPair && !op.channels.empty()))
    return {op};
  std::vector<PlanOp> parts;
  for (size_t i = 0; i < count; ++i) {
    if (i == 0 ||
        kindOfPair(gpu, flat, op.sources[i], op.targets[i]) !=
            kindOfPair(gpu, flat, op.sources[i - 1], op.targets[i - 1])) {
      parts.push_back(op);
      parts.back().sources.clear();
      parts.back().targets.clear();
      parts.back().channels.clear();
    }
    parts.back().sources.push_back(op.sources[i]);
    parts.back().targets.push_back(op.targets[i]);
    if (perPair)
      parts.back().channels.push_back(op.channels[i]);
  }
  return parts;
}

/// A sum of sources in several buffers as several sums: the later ones add to
/// what the first made. The first source may be in any buffer.
std::vector<PlanOp> sumsOf(PlanOp op) {
  std::vector<PlanOp> sums;
  if (op.name != "re" || op.targets.size() != 1 || op.sources.size() < 3)
    return {op};
  // The target, if it is a source, comes first: the first sum overwrites it.
  std::stable_partition(
      op.sources.begin(), op.sources.end(),
      [&](const PlanBuffer &source) { return source == op.targets[0]; });
  for (size_t i = 1; i < op.sources.size(); ++i) {
    if (i == 1 || op.sources[i].buffer != op.sources[i - 1].buffer) {
      // Its threads meet before they read what others of them wrote.
      if (i > 1)
        sums.emplace_back().name = "nop";
      sums.push_back(op);
      sums.back().sources = {i == 1 ? op.sources[0] : op.targets[0]};
    }
    sums.back().sources.push_back(op.sources[i]);
  }
  return sums;
}

} // namespace

PlanGpu ccn::synth::withOneKindEach(PlanGpu gpu) {
  for (PlanBlock &block : gpu.blocks) {
    std::vector<PlanOp> ops;
    for (const PlanOp &op : block.ops) {
      std::vector<int> flat;
      for (const PlanRefs &refs : block.remoteBuffers)
        if (refs.type == op.channelType)
          flat.insert(flat.end(), refs.ids.begin(), refs.ids.end());
      for (const PlanOp &part : partsOf(gpu, flat, op))
        for (PlanOp &sum : sumsOf(part))
          ops.push_back(std::move(sum));
    }
    block.ops = std::move(ops);
  }
  return gpu;
}
