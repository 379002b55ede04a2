//===- MscclCheck.cpp - Proving an MSCCL program right --------------------===//
//
// Runs a program on sets of contributions while vector clocks record what is
// ordered before what. An order that the program does not enforce is an error
// even where this run came out right; so the verdict holds for every run.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/Msccl.h"
#include "synth/interop/Transfers.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// Messages that fit on a connection before the sender waits.
constexpr size_t slots = 8;

struct Message {
  std::vector<TokenValue> values;
  TokenClock clock;
};

class Run {
public:
  Run(const MscclProgram &program, bool inPlace)
      : p(program), inPlace(inPlace),
        ranks(static_cast<int>(program.gpus.size())) {}

  std::string run();
  ProgramTrace trace() { return {memory.inputs, std::move(transfers)}; }

private:
  std::string shape();
  std::string place(int gpu, int block, int step) const {
    return "gpu " + std::to_string(gpu) + ", tb " + std::to_string(block) +
           ", step " + std::to_string(step);
  }
  int global(int gpu, int block) const { return firstBlock[gpu] + block; }
  bool ready(int gpu, int block);
  std::string execute(int gpu, int block);
  std::string read(int gpu, int block, int step, TokenCell &c,
                   TokenValue &value, const std::string &what);
  std::string write(int gpu, int block, int step, TokenCell &c,
                    TokenValue value);
  static std::string name(char buffer, int offset) {
    return std::string(1, buffer) + "[" + std::to_string(offset) + "]";
  }

  const MscclProgram &p;
  bool inPlace;
  int ranks, blocks = 0;
  TokenMemory memory;
  std::vector<TokenTransfer> transfers;
  std::vector<int> firstBlock;
  std::vector<std::vector<int>> counter;
  std::vector<TokenClock> clocks;
  /// The clock at the end of each step, by block.
  std::vector<std::vector<TokenClock>> ends;
  std::map<std::tuple<int, int, int>, std::deque<Message>> wires;
};

/// References and limits, before anything runs.
std::string Run::shape() {
  for (int g = 0; g < ranks; ++g) {
    firstBlock.push_back(blocks);
    blocks += static_cast<int>(p.gpus[g].blocks.size());
    std::map<int, std::pair<std::set<int>, std::set<int>>> peers;
    std::set<std::pair<int, int>> senders, receivers;
    for (size_t b = 0; b < p.gpus[g].blocks.size(); ++b) {
      const MscclBlock &block = p.gpus[g].blocks[b];
      std::string at = "gpu " + std::to_string(g) + ", tb " + std::to_string(b);
      if (block.steps.size() > 256)
        return at + ": expected at most 256 steps, found " +
               std::to_string(block.steps.size());
      if (block.channel >= p.channels)
        return at + ": expected a channel below " + std::to_string(p.channels) +
               ", found " + std::to_string(block.channel);
      if (block.send == g || block.recv == g)
        return at + ": expected another gpu as its peer, found itself";
      if (block.send >= 0) {
        peers[block.channel].first.insert(block.send);
        if (!senders.insert({block.send, block.channel}).second)
          return at + ": expected one tb to send to gpu " +
                 std::to_string(block.send) + " on channel " +
                 std::to_string(block.channel) + ", found a second";
      }
      if (block.recv >= 0) {
        peers[block.channel].second.insert(block.recv);
        if (!receivers.insert({block.recv, block.channel}).second)
          return at + ": expected one tb to receive from gpu " +
                 std::to_string(block.recv) + " on channel " +
                 std::to_string(block.channel) + ", found a second";
      }
      for (size_t s = 0; s < block.steps.size(); ++s) {
        const MscclStep &step = block.steps[s];
        std::string here = place(g, static_cast<int>(b), static_cast<int>(s));
        if (step.count >= 72)
          return here + ": expected fewer than 72 chunks, found " +
                 std::to_string(step.count);
        if (step.sends() && block.send < 0)
          return here + ": the tb has no gpu to send to";
        if (step.receives() && block.recv < 0)
          return here + ": the tb has no gpu to receive from";
        if (step.type != "nop" && step.count < 1)
          return here + ": expected at least one chunk, found " +
                 std::to_string(step.count);
        if (step.dependBlock < 0)
          continue;
        if (step.dependBlock >= static_cast<int>(p.gpus[g].blocks.size()) ||
            step.dependStep < 0 ||
            step.dependStep >=
                static_cast<int>(
                    p.gpus[g].blocks[step.dependBlock].steps.size()))
          return here + ": depends on tb " + std::to_string(step.dependBlock) +
                 ", step " + std::to_string(step.dependStep) +
                 ", which does not exist";
      }
    }
    for (const auto &[channel, sets] : peers)
      if (sets.first.size() > 32 || sets.second.size() > 32)
        return "gpu " + std::to_string(g) +
               ": expected at most 32 peers on "
               "channel " +
               std::to_string(channel);
  }
  return "";
}

/// Whether the next step of a block can run now.
bool Run::ready(int gpu, int block) {
  const MscclBlock &b = p.gpus[gpu].blocks[block];
  int at = counter[gpu][block];
  if (at >= static_cast<int>(b.steps.size()))
    return false;
  const MscclStep &step = b.steps[at];
  if (step.dependBlock >= 0) {
    // Blocks announce only the steps that say they have dependents; a waiter
    // wakes at the first one at or after what it asked for.
    const MscclBlock &other = p.gpus[gpu].blocks[step.dependBlock];
    int wanted = step.dependStep;
    while (wanted < static_cast<int>(other.steps.size()) &&
           !other.steps[wanted].hasDependents)
      ++wanted;
    if (counter[gpu][step.dependBlock] <= wanted)
      return false;
  }
  if (step.receives() && wires[{b.recv, gpu, b.channel}].empty())
    return false;
  if (step.sends() && wires[{gpu, b.send, b.channel}].size() >= slots)
    return false;
  return true;
}

std::string Run::read(int gpu, int block, int step, TokenCell &c,
                      TokenValue &value, const std::string &what) {
  int me = global(gpu, block);
  TokenConflict conflict = memory.read(c, {me, step}, clocks[me], value);
  if (conflict.kind == TokenConflict::Unwritten)
    return place(gpu, block, step) + ": reads " + what +
           ", which nothing has written";
  if (conflict)
    return place(gpu, block, step) + ": reads " + what +
           " without waiting for tb " +
           std::to_string(conflict.event.thread - firstBlock[gpu]) + ", step " +
           std::to_string(conflict.event.step) + ", which writes it";
  return "";
}

std::string Run::write(int gpu, int block, int step, TokenCell &c,
                       TokenValue value) {
  int me = global(gpu, block);
  TokenConflict conflict =
      memory.write(c, {me, step}, clocks[me], clocks[me], std::move(value));
  if (!conflict)
    return "";
  return place(gpu, block, step) + ": writes without waiting for tb " +
         std::to_string(conflict.event.thread - firstBlock[gpu]) + ", step " +
         std::to_string(conflict.event.step) + ", which " +
         (conflict.kind == TokenConflict::WriteNotOrdered ? "writes"
                                                          : "reads") +
         " the same place";
}

std::string Run::execute(int gpu, int block) {
  const MscclBlock &b = p.gpus[gpu].blocks[block];
  int at = counter[gpu][block], me = global(gpu, block);
  const MscclStep &step = b.steps[at];
  TokenClock &clock = clocks[me];
  if (step.dependBlock >= 0) {
    const MscclBlock &other = p.gpus[gpu].blocks[step.dependBlock];
    int seen = step.dependStep;
    while (!other.steps[seen].hasDependents)
      ++seen;
    joinClock(clock, ends[global(gpu, step.dependBlock)][seen]);
  }
  Message in;
  if (step.receives()) {
    auto wire = std::tuple(b.recv, gpu, b.channel);
    in = std::move(wires[wire].front());
    wires[wire].pop_front();
    joinClock(clock, in.clock);
    if (static_cast<int>(in.values.size()) != step.count)
      return place(gpu, block, at) + ": expected " +
             std::to_string(step.count) + " chunks from gpu " +
             std::to_string(b.recv) + ", found " +
             std::to_string(in.values.size());
  }
  Message out;
  bool usesSource = step.type == "s" || step.type == "cpy" ||
                    step.type == "re" || step.type.starts_with("rr");
  bool stores = step.type == "r" || step.type == "rcs" || step.type == "rrc" ||
                step.type == "rrcs" || step.type == "cpy" || step.type == "re";
  for (int i = 0; step.type != "nop" && i < step.count; ++i) {
    TokenCell *source = memory.cell(gpu, step.srcBuffer, step.srcOffset + i);
    TokenCell *target = memory.cell(gpu, step.dstBuffer, step.dstOffset + i);
    auto outside = [&](char buffer, int offset) {
      return place(gpu, block, at) + ": " + name(buffer, offset) +
             " is outside the buffer";
    };
    if (usesSource && !source)
      return outside(step.srcBuffer, step.srcOffset + i);
    if (stores && !target)
      return outside(step.dstBuffer, step.dstOffset + i);
    // A copy onto itself (a file made for both modes, run in place).
    if (step.type == "cpy" && source == target)
      continue;
    TokenValue value;
    if (step.receives()) {
      value = in.values[i];
      ++value.depth;
      transfers.push_back({b.recv, gpu, value});
    }
    auto add = [&](TokenCell &c, char buffer, int offset) {
      TokenValue more;
      std::string problem = read(gpu, block, at, c, more, name(buffer, offset));
      int twice = problem.empty() ? addTokens(value, more) : -1;
      if (twice >= 0)
        problem = place(gpu, block, at) + ": adds the contribution of gpu " +
                  std::to_string(twice / memory.inputs) + " to chunk " +
                  std::to_string(twice % memory.inputs) + " twice";
      return problem;
    };
    std::string problem;
    if (usesSource)
      problem = add(*source, step.srcBuffer, step.srcOffset + i);
    if (problem.empty() && step.type == "re")
      problem = add(*target, step.dstBuffer, step.dstOffset + i);
    if (problem.empty() && stores)
      problem = write(gpu, block, at, *target, value);
    if (!problem.empty())
      return problem;
    if (step.sends())
      out.values.push_back(std::move(value));
  }
  clock[me] = at + 1;
  ends[me].push_back(clock);
  if (step.sends()) {
    out.clock = clock;
    wires[{gpu, b.send, b.channel}].push_back(std::move(out));
  }
  ++counter[gpu][block];
  return "";
}

std::string Run::run() {
  std::string problem = shape();
  std::vector<BufferSizes> sizes;
  for (const MscclGpu &gpu : p.gpus)
    sizes.push_back({gpu.inputChunks, gpu.outputChunks, gpu.scratchChunks});
  if (problem.empty())
    problem = memory.layOut(p.kind, sizes, inPlace);
  if (!problem.empty())
    return problem;
  for (const MscclGpu &gpu : p.gpus)
    counter.emplace_back(gpu.blocks.size(), 0);
  clocks.assign(blocks, TokenClock(blocks, 0));
  ends.resize(blocks);
  for (bool moved = true; moved;) {
    moved = false;
    for (int g = 0; g < ranks; ++g)
      for (size_t b = 0; b < p.gpus[g].blocks.size(); ++b)
        while (ready(g, static_cast<int>(b))) {
          moved = true;
          problem = execute(g, static_cast<int>(b));
          if (!problem.empty())
            return problem;
        }
  }
  for (int g = 0; g < ranks; ++g)
    for (size_t b = 0; b < p.gpus[g].blocks.size(); ++b)
      if (counter[g][b] < static_cast<int>(p.gpus[g].blocks[b].steps.size()))
        return "deadlock: " + place(g, static_cast<int>(b), counter[g][b]) +
               " (" + p.gpus[g].blocks[b].steps[counter[g][b]].type +
               ") waits for ever";
  for (const auto &[wire, queue] : wires)
    if (!queue.empty())
      return "gpu " + std::to_string(std::get<0>(wire)) + " sends " +
             std::to_string(queue.size()) + " messages to gpu " +
             std::to_string(std::get<1>(wire)) + " on channel " +
             std::to_string(std::get<2>(wire)) + " that are never received";
  return memory.post();
}

} // namespace

std::string ccn::synth::checkMsccl(const MscclProgram &program,
                                   ProgramTrace *trace) {
  if (!program.inPlace && !program.outOfPlace)
    return "the program is for neither in-place nor out-of-place buffers";
  for (bool inPlace : {true, false}) {
    if (!(inPlace ? program.inPlace : program.outOfPlace))
      continue;
    Run run(program, inPlace);
    std::string problem = run.run();
    if (!problem.empty())
      return (inPlace ? "in place: " : "out of place: ") + problem;
    if (trace)
      *trace = run.trace();
  }
  return "";
}

Result<Schedule> ccn::synth::importMsccl(const MscclProgram &program) {
  ProgramTrace trace;
  std::string problem = checkMsccl(program, &trace);
  if (!problem.empty())
    return error(problem);
  return scheduleOf(program.kind, static_cast<int>(program.gpus.size()), "",
                    trace);
}
