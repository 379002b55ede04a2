//===- MscclExport.cpp - Schedules as MSCCL programs ----------------------===//
//
// One thread block for each direction of a connection (and channel); sends of
// a step come before its receives, as a schedule's steps read what was there
// before. Accesses to one place from different blocks get dependencies, extra
// ones as nops. Partial sums that are kept apart, and sums made only to be
// sent, have places of their own in scratch memory.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/Msccl.h"
#include "synth/interop/Places.h"

#include <algorithm>
#include <map>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// A thread block has at most 256 steps, nops included.
constexpr size_t blockSteps = 256;
/// Messages a channel to begin with; halved as long as blocks are too long.
constexpr int messagesPerChannel = 96;
constexpr int maxChannels = 32;

/// Whether a thread block has more steps than it may.
bool tooLong(const MscclProgram &program) {
  for (const MscclGpu &gpu : program.gpus)
    for (const MscclBlock &block : gpu.blocks)
      if (block.steps.size() > blockSteps)
        return true;
  return false;
}

class Exporter {
public:
  Exporter(const Schedule &schedule, std::string name, int perChannel)
      : s(schedule), coll(schedule.collective), ranks(coll.ranks),
        perChannel(perChannel), places(schedule) {
    program.name = std::move(name);
  }
  Result<MscclProgram> run();

private:
  struct Uses {
    std::pair<int, int> writer{-1, -1};
    std::vector<std::pair<int, int>> readers;
  };

  struct Access {
    Place place;
    bool reads = false, writes = false;
  };

  int blockFor(int rank, int peer, bool sending, int channel);
  void add(int rank, int block, MscclStep step,
           const std::vector<Access> &accesses);
  void addLocal(int rank, int block, const char *type, Place from, Place to);
  void setUp();
  void copyOwn();
  void addSend(const Send &send, const Transfer &transfer, int channel);
  void addReceive(const Send &send, int channel);
  void addFinalSums();

  const Schedule &s;
  const Collective &coll;
  int ranks, perChannel;
  MscclProgram program;
  Places places;
  std::vector<std::map<std::tuple<int, bool, int>, int>> blockIds;
  std::vector<std::map<Place, Uses>> uses;
  /// What each block of a rank knows to be done, by block.
  std::vector<std::vector<std::map<int, int>>> clocks;
  std::vector<std::vector<std::vector<std::map<int, int>>>> ends;
};

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
void Exporter::add(int rank, int block, MscclStep step,
                   const std::vector<Access> &accesses) {
  std::map<int, int> &clock = clocks[rank][block];
  std::map<int, int> waits;
  auto after = [&](std::pair<int, int> event) {
    auto known = clock.find(event.first);
    bool done = known != clock.end() && known->second >= event.second;
    if (event.first >= 0 && event.first != block && !done)
      waits[event.first] = std::max(waits[event.first], event.second);
  };
  for (const Access &access : accesses) {
    Uses &use = uses[rank][access.place];
    after(use.writer);
    if (access.writes)
      for (auto event : use.readers)
        after(event);
  }
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
  for (const Access &access : accesses) {
    Uses &use = uses[rank][access.place];
    if (access.writes) {
      use.writer = {block, at};
      use.readers.clear();
    } else if (access.reads) {
      use.readers.push_back({block, at});
    }
  }
}

/// A copy (cpy) or an addition (re) within a rank.
void Exporter::addLocal(int rank, int block, const char *type, Place from,
                        Place to) {
  MscclStep step;
  step.type = type;
  step.srcBuffer = from.buffer;
  step.srcOffset = from.index;
  step.dstBuffer = to.buffer;
  step.dstOffset = to.index;
  step.count = 1;
  add(rank, block, step, {{from, true, false}, {to, false, true}});
}

/// What a rank sends itself is copied, in a block of its own.
void Exporter::copyOwn() {
  int share = coll.chunksPerNode / ranks;
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < share; ++i)
      addLocal(r, blockFor(r, -1, true, 0), "cpy", {'i', r * share + i},
               {'o', r * share + i});
}

void Exporter::addSend(const Send &send, const Transfer &transfer,
                       int channel) {
  int block = blockFor(send.src, send.dst, true, channel);
  Place from = places.home(send.chunk, send.src);
  const std::vector<size_t> &parts = transfer.terms;
  if (coll.combining) {
    from = places.sum(send.chunk, send.src, parts[0]);
    if (parts.size() > 1) {
      Place sum = places.newScratch(send.src);
      addLocal(send.src, block, "cpy", from, sum);
      for (size_t k = 1; k < parts.size(); ++k)
        addLocal(send.src, block, "re",
                 places.sum(send.chunk, send.src, parts[k]), sum);
      from = sum;
    }
  }
  MscclStep step;
  step.type = "s";
  step.srcBuffer = step.dstBuffer = from.buffer;
  step.srcOffset = step.dstOffset = from.index;
  step.count = 1;
  add(send.src, block, step, {{from, true, false}});
}

void Exporter::addReceive(const Send &send, int channel) {
  int rank = send.dst, block = blockFor(rank, send.src, false, channel);
  Place to = places.home(send.chunk, rank);
  if (coll.combining) {
    if (send.op == SendOp::Stash) {
      to = places.newScratch(rank);
      places.addSum(send.chunk, rank, to);
    } else if (places.takeOwnNeeded(send.chunk, rank)) {
      // The place of the running sum holds the contribution until now.
      Place kept = places.newScratch(rank);
      addLocal(rank, block, "cpy", to, kept);
      places.sum(send.chunk, rank, 1) = kept;
    }
  }
  MscclStep step;
  step.type = send.op == SendOp::Reduce ? "rrc" : "r";
  step.srcBuffer = step.dstBuffer = to.buffer;
  step.srcOffset = step.dstOffset = to.index;
  step.count = 1;
  add(rank, block, step, {{to, send.op == SendOp::Reduce, true}});
}

/// Adds up, where it is needed, what a host still keeps apart.
void Exporter::addFinalSums() {
  int next = 0;
  places.forEachFinalSum([&](int chunk, int rank, std::vector<size_t> parts) {
    int block = blockFor(rank, -1, true, next++ % program.channels);
    Place to = places.home(chunk, rank);
    // The running sum is already where the whole one belongs.
    std::stable_partition(parts.begin(), parts.end(),
                          [](size_t p) { return p == 0; });
    for (size_t k = 0; k < parts.size(); ++k)
      if (parts[k] != 0)
        addLocal(rank, block, k == 0 ? "cpy" : "re",
                 places.sum(chunk, rank, parts[k]), to);
  });
}

void Exporter::setUp() {
  program.kind = coll.kind;
  program.inPlace = coll.kind != CollectiveKind::AllToAll;
  program.outOfPlace = !program.inPlace;
  program.chunksPerLoop = coll.bufferChunks;
  MscclGpu empty;
  empty.inputChunks = places.inputChunks();
  empty.outputChunks = places.outputChunks();
  program.gpus.assign(ranks, empty);
  blockIds.resize(ranks);
  uses.resize(ranks);
  clocks.resize(ranks);
  ends.resize(ranks);
}

Result<MscclProgram> Exporter::run() {
  setUp();
  std::map<std::pair<int, int>, int> messages;
  for (const Step &step : s.steps)
    for (const Send &send : step.sends)
      ++messages[{send.src, send.dst}];
  for (const auto &[ends, count] : messages)
    program.channels =
        std::max(program.channels, (count + perChannel - 1) / perChannel);
  if (program.channels > maxChannels)
    return error("the schedule has too many messages for 32 channels of 256 "
                 "steps");
  if (coll.kind == CollectiveKind::AllToAll)
    copyOwn();
  messages.clear();
  size_t next = 0;
  for (const Step &step : s.steps) {
    std::vector<int> channels;
    for (const Send &send : step.sends) {
      channels.push_back(messages[{send.src, send.dst}]++ % program.channels);
      addSend(send, places.transfers()[next++], channels.back());
    }
    for (size_t i = 0; i < step.sends.size(); ++i)
      addReceive(step.sends[i], channels[i]);
  }
  addFinalSums();
  for (int r = 0; r < ranks; ++r)
    program.gpus[r].scratchChunks = places.scratchChunks(r);
  if (tooLong(program))
    return std::move(program);
  std::string problem = checkMsccl(program);
  if (!problem.empty())
    return error("the schedule does not fit MSCCL's interpreter: " + problem);
  return std::move(program);
}

} // namespace

Result<MscclProgram> ccn::synth::exportMsccl(const Schedule &schedule,
                                             const std::string &name) {
  if (!hasBuffers(schedule.collective))
    return error("MSCCL XML has no " + schedule.collective.name);
  if (usesCpus(schedule))
    return error("MSCCL XML knows only GPUs, and a CPU takes part in the "
                 "schedule");
  if (std::string wrong = check(schedule); !wrong.empty())
    return error(wrong);
  for (int perChannel = messagesPerChannel; perChannel > 0; perChannel /= 2) {
    Exporter exporter(schedule, name, perChannel);
    Result<MscclProgram> program = exporter.run();
    if (!program || !tooLong(*program))
      return program;
  }
  return error("the schedule has too many steps for thread blocks of 256");
}
