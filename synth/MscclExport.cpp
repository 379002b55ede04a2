//===- MscclExport.cpp - Schedules as MSCCL programs ----------------------===//
//
// One thread block for each direction of a connection (and channel); sends of
// a step come before its receives, as a schedule's steps read what was there
// before. Accesses to one place from different blocks get dependencies, extra
// ones as nops.
//
//===----------------------------------------------------------------------===//

#include "synth/Msccl.h"

#include <algorithm>
#include <map>

using namespace ccn::synth;

namespace {

/// A thread block keeps this far below its 256 steps, nops included.
constexpr int messagesPerChannel = 96;

class Exporter {
public:
  Exporter(const Schedule &schedule, std::string name)
      : s(schedule), coll(schedule.collective), ranks(coll.ranks) {
    program.name = std::move(name);
  }
  Result<MscclProgram> run();

private:
  using Place = std::pair<char, int>;
  struct Uses {
    std::pair<int, int> writer{-1, -1};
    std::vector<std::pair<int, int>> readers;
  };

  std::string supported() const;
  Place placeOf(int chunk, int rank);
  int blockFor(int rank, int peer, bool sending, int channel);
  void add(int rank, int block, MscclStep step, bool reads, bool writes,
           Place place);

  const Schedule &s;
  const Collective &coll;
  int ranks;
  MscclProgram program;
  std::vector<std::map<std::tuple<int, bool, int>, int>> blockIds;
  std::vector<std::map<Place, Uses>> uses;
  /// What each block of a rank knows to be done, by block.
  std::vector<std::vector<std::map<int, int>>> clocks;
  std::vector<std::vector<std::vector<std::map<int, int>>>> ends;
  std::vector<std::map<int, int>> scratch;
};

std::string Exporter::supported() const {
  switch (coll.kind) {
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllReduce:
  case CollectiveKind::AllToAll:
    break;
  default:
    return "MSCCL XML has no " + coll.name;
  }
  for (const Step &step : s.steps)
    for (const Send &send : step.sends) {
      if (send.src >= ranks || send.dst >= ranks)
        return "MSCCL XML knows only GPUs, and a CPU takes part in the "
               "schedule";
      if (send.op == SendOp::Stash || !send.sums.empty())
        return "the schedule keeps partial sums apart (stash), which this "
               "export does not place in scratch memory";
    }
  return "";
}

Exporter::Place Exporter::placeOf(int chunk, int rank) {
  if (coll.kind == CollectiveKind::AllGather)
    return {'o', chunk};
  if (coll.kind != CollectiveKind::AllToAll)
    return {'i', chunk};
  int perRank = coll.chunksPerNode, share = perRank / ranks;
  int source = chunk / perRank, index = chunk % perRank;
  if (rank == source)
    return {'i', index};
  if (rank == index / share)
    return {'o', source * share + index % share};
  auto it = scratch[rank].emplace(chunk, scratch[rank].size()).first;
  program.gpus[rank].scratchChunks = static_cast<int>(scratch[rank].size());
  return {'s', it->second};
}

int Exporter::blockFor(int rank, int peer, bool sending, int channel) {
  auto key = std::tuple(peer, sending, channel);
  auto it = blockIds[rank].find(key);
  if (it != blockIds[rank].end())
    return it->second;
  MscclBlock block;
  (sending ? block.send : block.recv) = peer;
  block.channel = channel;
  int id = static_cast<int>(program.gpus[rank].blocks.size());
  program.gpus[rank].blocks.push_back(block);
  clocks[rank].emplace_back();
  ends[rank].emplace_back();
  blockIds[rank][key] = id;
  return id;
}

/// Appends a step and whatever it has to wait for.
void Exporter::add(int rank, int block, MscclStep step, bool reads, bool writes,
                   Place place) {
  Uses &use = uses[rank][place];
  std::map<int, int> &clock = clocks[rank][block];
  std::map<int, int> waits;
  auto after = [&](std::pair<int, int> event) {
    auto known = clock.find(event.first);
    bool done = known != clock.end() && known->second >= event.second;
    if (event.first >= 0 && event.first != block && !done)
      waits[event.first] = std::max(waits[event.first], event.second);
  };
  after(use.writer);
  if (writes)
    for (auto event : use.readers)
      after(event);
  std::vector<MscclBlock> &blocks = program.gpus[rank].blocks;
  auto append = [&](const MscclStep &what) {
    blocks[block].steps.push_back(what);
    ends[rank][block].push_back(clock);
  };
  size_t left = waits.size();
  for (auto [other, at] : waits) {
    blocks[other].steps[at].hasDependents = true;
    for (auto [b, done] : ends[rank][other][at])
      clock[b] = std::max(clock[b], done);
    clock[other] = std::max(clock[other], at);
    MscclStep carrier;
    carrier.type = "nop";
    carrier.srcOffset = carrier.dstOffset = -1;
    if (--left == 0)
      carrier = step;
    carrier.dependBlock = other;
    carrier.dependStep = at;
    append(carrier);
  }
  if (waits.empty())
    append(step);
  int at = static_cast<int>(blocks[block].steps.size()) - 1;
  if (writes) {
    use.writer = {block, at};
    use.readers.clear();
  } else if (reads) {
    use.readers.push_back({block, at});
  }
}

Result<MscclProgram> Exporter::run() {
  std::string reason = supported();
  if (reason.empty())
    reason = check(s);
  if (!reason.empty())
    return Error{reason};
  program.kind = coll.kind;
  program.inPlace = coll.kind != CollectiveKind::AllToAll;
  program.outOfPlace = !program.inPlace;
  program.chunksPerLoop = coll.bufferChunks;
  MscclGpu empty;
  int perRank = coll.chunksPerNode;
  empty.inputChunks =
      coll.kind == CollectiveKind::ReduceScatter ? perRank * ranks : perRank;
  empty.outputChunks =
      coll.kind == CollectiveKind::AllGather ? perRank * ranks : perRank;
  program.gpus.assign(ranks, empty);
  blockIds.resize(ranks);
  uses.resize(ranks);
  clocks.resize(ranks);
  ends.resize(ranks);
  scratch.resize(ranks);
  std::map<std::pair<int, int>, int> messages;
  for (const Step &step : s.steps)
    for (const Send &send : step.sends)
      ++messages[{send.src, send.dst}];
  for (const auto &[ends, count] : messages)
    program.channels =
        std::max(program.channels,
                 (count + messagesPerChannel - 1) / messagesPerChannel);
  if (program.channels > 32)
    return Error{"the schedule has too many messages for 32 channels of 256 "
                 "steps"};
  if (coll.kind == CollectiveKind::AllToAll)
    for (int r = 0; r < ranks; ++r) {
      // What a rank sends itself is copied, in a block of its own.
      int share = perRank / ranks;
      int block = blockFor(r, -1, true, 0);
      for (int i = 0; i < share; ++i) {
        MscclStep copy;
        copy.type = "cpy";
        copy.srcOffset = copy.dstOffset = r * share + i;
        copy.count = 1;
        program.gpus[r].blocks[block].steps.push_back(copy);
        ends[r][block].emplace_back();
      }
    }
  messages.clear();
  for (const Step &step : s.steps) {
    std::vector<int> channels;
    for (const Send &send : step.sends)
      channels.push_back(messages[{send.src, send.dst}]++ % program.channels);
    for (bool sending : {true, false})
      for (size_t i = 0; i < step.sends.size(); ++i) {
        const Send &send = step.sends[i];
        int rank = sending ? send.src : send.dst;
        Place place = placeOf(send.chunk, rank);
        MscclStep out;
        bool reduces = !sending && send.op == SendOp::Reduce;
        out.type = sending ? "s" : reduces ? "rrc" : "r";
        out.srcBuffer = out.dstBuffer = place.first;
        out.srcOffset = out.dstOffset = place.second;
        out.count = 1;
        add(rank,
            blockFor(rank, sending ? send.dst : send.src, sending, channels[i]),
            out, sending || reduces, !sending, place);
      }
  }
  std::string problem = checkMsccl(program);
  if (!problem.empty())
    return Error{"the schedule does not fit MSCCL's interpreter: " + problem};
  return std::move(program);
}

} // namespace

Result<MscclProgram> ccn::synth::exportMsccl(const Schedule &schedule,
                                             const std::string &name) {
  return Exporter(schedule, name).run();
}
