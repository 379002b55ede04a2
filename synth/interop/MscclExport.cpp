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
#include "synth/interop/Transfers.h"

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
        perChannel(perChannel) {
    program.name = std::move(name);
  }
  Result<MscclProgram> run();

private:
  using Place = std::pair<char, int>;
  struct Uses {
    std::pair<int, int> writer{-1, -1};
    std::vector<std::pair<int, int>> readers;
  };

  struct Access {
    Place place;
    bool reads = false, writes = false;
  };

  std::string supported() const;
  Place placeOf(int chunk, int rank);
  Place newScratch(int rank) {
    return {'s', program.gpus[rank].scratchChunks++};
  }
  Place &pieceOf(int chunk, int rank, size_t piece);
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
  /// What the combining collective's hosts hold at the end, where each piece
  /// is, and whose own contribution is needed after its place was written.
  HeldMap held;
  std::map<std::pair<int, int>, std::vector<Place>> pieces;
  std::map<std::pair<int, int>, bool> ownNeeded;
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
    for (const Send &send : step.sends)
      if (send.src >= ranks || send.dst >= ranks)
        return "MSCCL XML knows only GPUs, and a CPU takes part in the "
               "schedule";
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
  auto it = scratch[rank].find(chunk);
  if (it == scratch[rank].end())
    it = scratch[rank].emplace(chunk, newScratch(rank).second).first;
  return {'s', it->second};
}

/// Where a host has a piece of a chunk: 0 its running sum, 1 its own
/// contribution, then the sums it keeps apart.
Exporter::Place &Exporter::pieceOf(int chunk, int rank, size_t piece) {
  std::vector<Place> &places = pieces[{chunk, rank}];
  if (places.empty())
    places.assign(2, placeOf(chunk, rank));
  if (piece >= places.size())
    places.push_back(newScratch(rank));
  return places[piece];
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
  step.srcBuffer = from.first;
  step.srcOffset = from.second;
  step.dstBuffer = to.first;
  step.dstOffset = to.second;
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
  Place from = placeOf(send.chunk, send.src);
  const std::vector<size_t> &parts = transfer.pieces;
  if (coll.combining) {
    from = pieceOf(send.chunk, send.src, parts[0]);
    if (parts.size() > 1) {
      Place sum = newScratch(send.src);
      addLocal(send.src, block, "cpy", from, sum);
      for (size_t k = 1; k < parts.size(); ++k)
        addLocal(send.src, block, "re", pieceOf(send.chunk, send.src, parts[k]),
                 sum);
      from = sum;
    }
  }
  MscclStep step;
  step.type = "s";
  step.srcBuffer = step.dstBuffer = from.first;
  step.srcOffset = step.dstOffset = from.second;
  step.count = 1;
  add(send.src, block, step, {{from, true, false}});
}

void Exporter::addReceive(const Send &send, int channel) {
  int rank = send.dst, block = blockFor(rank, send.src, false, channel);
  Place to = placeOf(send.chunk, rank);
  if (coll.combining) {
    if (send.op == SendOp::Stash) {
      pieceOf(send.chunk, rank, 0);
      to = pieceOf(send.chunk, rank, pieces[{send.chunk, rank}].size());
    } else if (ownNeeded[{send.chunk, rank}]) {
      // The place of the running sum holds the contribution until now.
      ownNeeded[{send.chunk, rank}] = false;
      Place kept = newScratch(rank);
      addLocal(rank, block, "cpy", to, kept);
      pieceOf(send.chunk, rank, 1) = kept;
    }
  }
  MscclStep step;
  step.type = send.op == SendOp::Reduce ? "rrc" : "r";
  step.srcBuffer = step.dstBuffer = to.first;
  step.srcOffset = step.dstOffset = to.second;
  step.count = 1;
  add(rank, block, step, {{to, send.op == SendOp::Reduce, true}});
}

/// Adds up, where it is needed, what a host still keeps apart.
void Exporter::addFinalSums() {
  int next = 0;
  for (size_t c = 0; c < coll.chunks.size(); ++c)
    for (int rank : coll.chunks[c].post) {
      int chunk = static_cast<int>(c);
      std::optional<std::vector<size_t>> parts =
          piecesOf(coll.chunks[c].pre, held[{chunk, rank}].sets);
      if (*parts == std::vector<size_t>{0})
        continue;
      int block = blockFor(rank, -1, true, next++ % program.channels);
      Place to = placeOf(chunk, rank);
      // The running sum is already where the whole one belongs.
      std::stable_partition(parts->begin(), parts->end(),
                            [](size_t p) { return p == 0; });
      for (size_t k = 0; k < parts->size(); ++k)
        if ((*parts)[k] != 0)
          addLocal(rank, block, k == 0 ? "cpy" : "re",
                   pieceOf(chunk, rank, (*parts)[k]), to);
    }
}

void Exporter::setUp() {
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
}

Result<MscclProgram> Exporter::run() {
  std::string reason = supported();
  if (reason.empty())
    reason = check(s);
  if (!reason.empty())
    return error(reason);
  setUp();
  std::vector<Transfer> transfers = transfersOf(s, &held);
  for (const Transfer &t : transfers)
    for (size_t piece : t.pieces)
      ownNeeded[{t.chunk, t.src}] |= piece == 1;
  if (coll.combining)
    for (size_t c = 0; c < coll.chunks.size(); ++c)
      for (int rank : coll.chunks[c].post) {
        std::pair<int, int> key(static_cast<int>(c), rank);
        std::optional<std::vector<size_t>> parts =
            piecesOf(coll.chunks[c].pre, held[key].sets);
        for (size_t piece : *parts)
          ownNeeded[key] |= piece == 1;
      }
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
      addSend(send, transfers[next++], channels.back());
    }
    for (size_t i = 0; i < step.sends.size(); ++i)
      addReceive(step.sends[i], channels[i]);
  }
  if (coll.combining)
    addFinalSums();
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
  for (int perChannel = messagesPerChannel; perChannel > 0; perChannel /= 2) {
    Exporter exporter(schedule, name, perChannel);
    Result<MscclProgram> program = exporter.run();
    if (!program || !tooLong(*program))
      return program;
  }
  return error("the schedule has too many steps for thread blocks of 256");
}
