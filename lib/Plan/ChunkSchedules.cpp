//===- ChunkSchedules.cpp - Algorithms as chunk schedules -----------------===//
//
// In every kind of collective, chunks lie in the order of their numbers.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/ChunkSchedules.h"

#include "dialect/plan/Plan.h"
#include "synth/interop/ScheduleImport.h"

using namespace mlir;
using namespace ccn;

static runtime::ChunkSchedule chunksOf(const synth::Schedule &schedule,
                                       Collective what, int64_t inputCount,
                                       int64_t outputCount) {
  const synth::Collective &collective = schedule.collective;
  runtime::ChunkSchedule result;
  result.name = synth::kindName(collective.kind);
  result.members = collective.ranks;
  result.combining = collective.combining;
  auto ranks = static_cast<int64_t>(collective.ranks);
  auto total = static_cast<int64_t>(collective.chunks.size());
  // In every kind of collective, chunks lie in the order of their numbers.
  bool blocksIn = plan::hasBlocks(what, /*isInput=*/true);
  bool blocksOut = plan::hasBlocks(what, /*isInput=*/false);
  int64_t blocks = blocksIn || blocksOut ? ranks : 1;
  int64_t blockCount = blocksIn ? inputCount / ranks : inputCount;
  // all_to_all has a block for each pair of ranks.
  bool isPairs = what == Collective::all_to_all;
  int64_t perBlock = total / (isPairs ? ranks * ranks : blocks);
  for (int64_t chunk = 0; chunk < total; ++chunk) {
    int64_t block = chunk / perBlock, within = chunk % perBlock;
    SliceBounds part = sliceBounds(blockCount, {perBlock}, {within});
    runtime::Chunk made;
    made.sources = collective.chunks[static_cast<size_t>(chunk)].pre;
    made.destinations = collective.chunks[static_cast<size_t>(chunk)].post;
    made.count = part.size;
    // Rank p sends block p * ranks + q to rank q.
    int64_t in = isPairs ? block % ranks : block;
    int64_t out = isPairs ? block / ranks : block;
    made.inputFirst = part.offset + (blocksIn ? in * blockCount : 0);
    made.outputFirst = part.offset + (blocksOut ? out * blockCount : 0);
    result.chunks.push_back(std::move(made));
  }
  for (const synth::Step &step : schedule.steps) {
    std::vector<runtime::Transfer> transfers;
    for (const synth::Send &send : step.sends) {
      runtime::TransferOp op =
          send.op == synth::SendOp::Copy     ? runtime::TransferOp::Copy
          : send.op == synth::SendOp::Reduce ? runtime::TransferOp::Reduce
                                             : runtime::TransferOp::Stash;
      transfers.push_back({send.chunk, send.src, send.dst, op, send.sums});
    }
    result.steps.push_back(std::move(transfers));
  }
  return result;
}

runtime::ChunkSchedule ccn::chunkSchedule(AlgorithmOp algorithm,
                                          int64_t inputCount,
                                          int64_t outputCount) {
  Result<synth::Schedule> schedule = synth::importSchedule(
      std::string_view(algorithm.getSchedule()), algorithm.getSymName().str());
  assert(schedule && "algorithms were read when they were chosen");
  return chunksOf(*schedule, *symbolizeCollective(algorithm.getCollective()),
                  inputCount, outputCount);
}
