//===- MscclCheck.cpp - Proving an MSCCL program right --------------------===//
//
// Runs a program on sets of contributions while vector clocks record what is
// ordered before what. An order that the program does not enforce is an error
// even where this run came out right; so the verdict holds for every run.
//
//===----------------------------------------------------------------------===//

#include "synth/Msccl.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

using namespace ccn::synth;

namespace {

/// Messages that fit on a connection before the sender waits.
constexpr size_t slots = 8;

/// Contributions as (rank * chunks + index), sorted, with repeats.
using Value = std::vector<int>;
/// How many steps of each block are known to be done.
using Clock = std::vector<int>;

struct Message {
  std::vector<Value> values;
  Clock clock;
};

struct Cell {
  Value value;
  bool written = false;
  /// The last write, and reads since, as (block, step).
  std::pair<int, int> writer{-1, -1};
  std::vector<std::pair<int, int>> readers;
};

class Run {
public:
  Run(const MscclProgram &program, bool inPlace)
      : p(program), inPlace(inPlace),
        ranks(static_cast<int>(program.gpus.size())) {}

  std::string run();

private:
  std::string layOut();
  std::string shape();
  std::string place(int gpu, int block, int step) const {
    return "gpu " + std::to_string(gpu) + ", tb " + std::to_string(block) +
           ", step " + std::to_string(step);
  }
  int global(int gpu, int block) const { return firstBlock[gpu] + block; }
  Cell *cell(int gpu, char buffer, int offset);
  bool ready(int gpu, int block);
  std::string execute(int gpu, int block);
  std::string read(int gpu, int block, int step, Cell &c, Value &value,
                   const std::string &what);
  std::string write(int gpu, int block, int step, Cell &c, Value value);
  std::string post();
  bool before(std::pair<int, int> event, const Clock &clock) const {
    return event.first < 0 || clock[event.first] > event.second;
  }
  static std::string name(char buffer, int offset) {
    return std::string(1, buffer) + "[" + std::to_string(offset) + "]";
  }

  const MscclProgram &p;
  bool inPlace;
  int ranks, inputs = 0, outputs = 0, blocks = 0;
  std::vector<int> firstBlock;
  /// Per gpu: memory, and where each buffer starts in it.
  std::vector<std::vector<Cell>> memory;
  std::vector<std::map<char, std::pair<int, int>>> buffers;
  std::vector<std::vector<int>> counter;
  std::vector<Clock> clocks;
  /// The clock at the end of each step, by block.
  std::vector<std::vector<Clock>> ends;
  std::map<std::tuple<int, int, int>, std::deque<Message>> wires;
};

/// Sizes of the buffers, and which are the same memory.
std::string Run::layOut() {
  for (int g = 0; g < ranks; ++g) {
    const MscclGpu &gpu = p.gpus[g];
    if (gpu.inputChunks != p.gpus[0].inputChunks ||
        gpu.outputChunks != p.gpus[0].outputChunks)
      return "gpu " + std::to_string(g) +
             ": expected as many input and output chunks as gpu 0 has";
  }
  int i = p.gpus[0].inputChunks, o = p.gpus[0].outputChunks;
  bool together = inPlace;
  // In place, a file may leave the buffer out that it does not name.
  switch (p.kind) {
  case CollectiveKind::AllGather:
    inputs = i > 0 ? i : o / ranks;
    outputs = inputs * ranks;
    break;
  case CollectiveKind::ReduceScatter:
    outputs = o > 0 ? o : i / ranks;
    inputs = outputs * ranks;
    break;
  default:
    inputs = outputs = std::max(i, o);
    break;
  }
  if (inputs == 0 || outputs == 0)
    return "gpu 0: expected input or output chunks, found none";
  if ((!together && (i != inputs || o != outputs)) || (i != inputs && i != 0) ||
      (o != outputs && o != 0))
    return "gpu 0: expected " + std::to_string(inputs) + " input and " +
           std::to_string(outputs) + " output chunks, found " +
           std::to_string(i) + " and " + std::to_string(o);
  if (p.kind == CollectiveKind::AllToAll && inputs % ranks != 0)
    return "gpu 0: expected a multiple of " + std::to_string(ranks) +
           " chunks, found " + std::to_string(inputs);
  for (int g = 0; g < ranks; ++g) {
    int scratch = p.gpus[g].scratchChunks;
    int inputAt = 0, outputAt = inputs, total = inputs + outputs;
    if (together) {
      total = std::max(inputs, outputs);
      inputAt = p.kind == CollectiveKind::AllGather ? g * inputs : 0;
      outputAt = p.kind == CollectiveKind::ReduceScatter ? g * outputs : 0;
    }
    buffers.push_back({{'i', {inputAt, inputs}},
                       {'o', {outputAt, outputs}},
                       {'s', {total, scratch}}});
    memory.emplace_back(total + scratch);
    for (int c = 0; c < inputs; ++c) {
      Cell &cell = memory[g][inputAt + c];
      cell.value = {g * inputs + c};
      cell.written = true;
    }
  }
  return "";
}

Cell *Run::cell(int gpu, char buffer, int offset) {
  auto [start, size] = buffers[gpu][buffer];
  return offset < 0 || offset >= size ? nullptr : &memory[gpu][start + offset];
}

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

std::string Run::read(int gpu, int block, int step, Cell &c, Value &value,
                      const std::string &what) {
  if (!c.written)
    return place(gpu, block, step) + ": reads " + what +
           ", which nothing has written";
  int me = global(gpu, block);
  if (c.writer.first != me && !before(c.writer, clocks[me]))
    return place(gpu, block, step) + ": reads " + what +
           " without waiting for tb " +
           std::to_string(c.writer.first - firstBlock[gpu]) + ", step " +
           std::to_string(c.writer.second) + ", which writes it";
  c.readers.push_back({me, step});
  value = c.value;
  return "";
}

std::string Run::write(int gpu, int block, int step, Cell &c, Value value) {
  int me = global(gpu, block);
  auto conflict = [&](std::pair<int, int> event, const char *does) {
    return place(gpu, block, step) + ": writes without waiting for tb " +
           std::to_string(event.first - firstBlock[gpu]) + ", step " +
           std::to_string(event.second) + ", which " + does + " the same place";
  };
  if (c.writer.first != me && !before(c.writer, clocks[me]))
    return conflict(c.writer, "writes");
  for (auto event : c.readers)
    if (event.first != me && !before(event, clocks[me]))
      return conflict(event, "reads");
  c.value = std::move(value);
  c.written = true;
  c.writer = {me, step};
  c.readers.clear();
  return "";
}

std::string Run::execute(int gpu, int block) {
  const MscclBlock &b = p.gpus[gpu].blocks[block];
  int at = counter[gpu][block], me = global(gpu, block);
  const MscclStep &step = b.steps[at];
  Clock &clock = clocks[me];
  auto join = [&](const Clock &other) {
    for (int i = 0; i < blocks; ++i)
      clock[i] = std::max(clock[i], other[i]);
  };
  if (step.dependBlock >= 0) {
    const MscclBlock &other = p.gpus[gpu].blocks[step.dependBlock];
    int seen = step.dependStep;
    while (!other.steps[seen].hasDependents)
      ++seen;
    join(ends[global(gpu, step.dependBlock)][seen]);
  }
  Message in;
  if (step.receives()) {
    auto wire = std::tuple(b.recv, gpu, b.channel);
    in = std::move(wires[wire].front());
    wires[wire].pop_front();
    join(in.clock);
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
    Cell *source = cell(gpu, step.srcBuffer, step.srcOffset + i);
    Cell *target = cell(gpu, step.dstBuffer, step.dstOffset + i);
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
    Value value;
    if (step.receives())
      value = in.values[i];
    auto add = [&](Cell &c, char buffer, int offset) {
      Value more;
      std::string problem = read(gpu, block, at, c, more, name(buffer, offset));
      value.insert(value.end(), more.begin(), more.end());
      std::sort(value.begin(), value.end());
      if (problem.empty() &&
          std::adjacent_find(value.begin(), value.end()) != value.end()) {
        int twice = *std::adjacent_find(value.begin(), value.end());
        problem = place(gpu, block, at) + ": adds the contribution of gpu " +
                  std::to_string(twice / inputs) + " to chunk " +
                  std::to_string(twice % inputs) + " twice";
      }
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

std::string Run::post() {
  for (int g = 0; g < ranks; ++g)
    for (int c = 0; c < outputs; ++c) {
      Value want;
      int share = p.kind == CollectiveKind::AllToAll ? inputs / ranks : 0;
      switch (p.kind) {
      case CollectiveKind::AllGather:
        want = {c};
        break;
      case CollectiveKind::AllToAll:
        want = {c / share * inputs + g * share + c % share};
        break;
      default: {
        int index = p.kind == CollectiveKind::AllReduce ? c : g * outputs + c;
        for (int r = 0; r < ranks; ++r)
          want.push_back(r * inputs + index);
        break;
      }
      }
      const Cell &have = *cell(g, 'o', c);
      if (have.written && have.value == want)
        continue;
      std::string at = "at the end: gpu " + std::to_string(g) + ", output " +
                       std::to_string(c) + ": ";
      if (!have.written)
        return at + "nothing was written";
      for (int x : want)
        if (!std::binary_search(have.value.begin(), have.value.end(), x))
          return at + "expected chunk " + std::to_string(x % inputs) +
                 " of gpu " + std::to_string(x / inputs) + ", found none";
      for (int x : have.value)
        if (!std::binary_search(want.begin(), want.end(), x))
          return at + "found chunk " + std::to_string(x % inputs) + " of gpu " +
                 std::to_string(x / inputs) + ", which does not belong there";
    }
  return "";
}

std::string Run::run() {
  std::string problem = shape();
  if (problem.empty())
    problem = layOut();
  if (!problem.empty())
    return problem;
  for (const MscclGpu &gpu : p.gpus)
    counter.emplace_back(gpu.blocks.size(), 0);
  clocks.assign(blocks, Clock(blocks, 0));
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
  return post();
}

} // namespace

std::string ccn::synth::checkMsccl(const MscclProgram &program) {
  if (!program.inPlace && !program.outOfPlace)
    return "the program is for neither in-place nor out-of-place buffers";
  for (bool inPlace : {true, false}) {
    if (!(inPlace ? program.inPlace : program.outOfPlace))
      continue;
    std::string problem = Run(program, inPlace).run();
    if (!problem.empty())
      return (inPlace ? "in place: " : "out of place: ") + problem;
  }
  return "";
}
