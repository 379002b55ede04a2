//===- PlanCheck.cpp - Proving an MSCCL++ plan right ----------------------===//
//
// See PlanRun.h: setting up, and what synchronizes.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/PlanRun.h"
#include "synth/interop/Transfers.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace ccn;
using namespace ccn::synth;

std::string PlanRun::threadName(int thread) const {
  if (thread < static_cast<int>(blocks.size()))
    return "gpu " + std::to_string(blocks[thread].gpu) + ", tb " +
           std::to_string(blocks[thread].index);
  if (thread < firstStart)
    return portNames[thread - firstPort];
  return "the start of gpu " + std::to_string(thread - firstStart);
}

std::string PlanRun::checkLimits() {
  for (const Block &b : blocks) {
    const PlanBlock &block = p.gpus[b.gpu].blocks[b.index];
    std::string at =
        "gpu " + std::to_string(b.gpu) + ", tb " + std::to_string(b.index);
    size_t ops = 0;
    auto checkOp = [&](const PlanOp &op) -> std::string {
      ++ops;
      size_t far = 0;
      for (const auto *list : {&op.sources, &op.targets}) {
        if (list->size() > planMaxBuffers)
          return "expected at most " + std::to_string(planMaxBuffers) +
                 " buffers, found " + std::to_string(list->size());
        for (const PlanBuffer &buffer : *list)
          far += buffer.where == PlanBuffer::Remote;
      }
      if (op.semaphores.size() > planMaxSemaphores)
        return "expected at most " + std::to_string(planMaxSemaphores) +
               " semaphores, found " + std::to_string(op.semaphores.size());
      if (far > planMaxRemote || op.channels.size() > planMaxRemote)
        return "expected at most " + std::to_string(planMaxRemote) +
               " channels, found " +
               std::to_string(std::max(far, op.channels.size()));
      return "";
    };
    for (const PlanOp &op : block.ops) {
      std::string problem = checkOp(op);
      for (const PlanOp &inner : op.ops)
        if (problem.empty())
          problem = checkOp(inner);
      if (!problem.empty())
        return at + ": " + op.name + ": " + problem;
    }
    if (ops > planMaxOps)
      return at + ": expected at most " + std::to_string(planMaxOps) +
             " operations, found " + std::to_string(ops);
    std::map<PlanChannelType, size_t> channels, buffers;
    for (const PlanRefs &refs : block.channels)
      channels[refs.type] += refs.ids.size();
    for (const PlanRefs &refs : block.remoteBuffers)
      buffers[refs.type] += refs.ids.size();
    for (const auto *counts : {&channels, &buffers})
      for (auto [type, count] : *counts)
        if (count > planMaxChannels)
          return at + ": expected at most " + std::to_string(planMaxChannels) +
                 " channels or remote buffers of a type, found " +
                 std::to_string(count);
  }
  return "";
}

/// Pairs the k-th connection of a type from one gpu to another with the k-th
/// back.
std::string PlanRun::connect() {
  std::map<std::tuple<int, int, PlanChannelType>, int> count;
  std::map<std::tuple<int, int, PlanChannelType, int>, int> wireOf;
  for (int g = 0; g < ranks; ++g)
    for (const PlanChannel &channel : p.gpus[g].channels)
      for (int peer : channel.peers) {
        if (peer == g)
          return "gpu " + std::to_string(g) +
                 ": expected another gpu as its peer, found itself";
        int k = count[{g, peer, channel.type}]++;
        Connection c;
        c.peer = peer;
        c.wire = static_cast<int>(wires.size());
        wires.emplace_back();
        wireOf[{g, peer, channel.type, k}] = c.wire;
        if (channel.type == PlanChannelType::Port) {
          c.thread = firstPort + static_cast<int>(portNames.size());
          portNames.push_back("gpu " + std::to_string(g) + ", port channel " +
                              std::to_string(k) + " to gpu " +
                              std::to_string(peer));
        }
        connections[{g, channel.type}].push_back(c);
      }
  count.clear();
  for (auto &[key, list] : connections)
    for (Connection &c : list) {
      int k = count[{key.first, c.peer, key.second}]++;
      auto far = wireOf.find({c.peer, key.first, key.second, k});
      c.farWire = far == wireOf.end() ? -1 : far->second;
    }
  return "";
}

std::string PlanRun::setUp() {
  std::vector<BufferSizes> sizes;
  int groups = 1;
  bool pipelines = false;
  for (int g = 0; g < ranks; ++g) {
    const PlanGpu &gpu = p.gpus[g];
    sizes.push_back({gpu.inputChunks, gpu.outputChunks, gpu.scratchChunks});
    for (size_t b = 0; b < gpu.blocks.size(); ++b) {
      Block block;
      block.gpu = g;
      block.index = static_cast<int>(b);
      for (size_t i = 0; i < gpu.blocks[b].ops.size(); ++i) {
        const PlanOp &op = gpu.blocks[b].ops[i];
        groups = std::lcm(groups, std::max(1, op.groupSize));
        if (op.name != "pipeline") {
          block.ops.push_back({&op, std::to_string(i), -1});
          continue;
        }
        pipelines = true;
        for (int unit = 0; unit < pipelineUnits; ++unit)
          for (size_t k = 0; k < op.ops.size(); ++k) {
            groups = std::lcm(groups, std::max(1, op.ops[k].groupSize));
            block.ops.push_back({&op.ops[k],
                                 std::to_string(i) + "." + std::to_string(k) +
                                     " of unit " + std::to_string(unit),
                                 unit});
          }
      }
      blocks.push_back(std::move(block));
    }
  }
  if (groups > 64)
    return "expected thread block groups with at most 64 parts together, found "
           "more";
  slices = groups * (pipelines ? pipelineUnits : 1);
  std::string problem = memory.layOut(p.kind, sizes, p.inPlace, slices);
  firstPort = static_cast<int>(blocks.size());
  if (problem.empty())
    problem = connect();
  if (problem.empty())
    problem = checkLimits();
  if (!problem.empty())
    return problem;
  firstStart = firstPort + static_cast<int>(portNames.size());
  threads = firstStart + ranks;
  memory.keepTrails();
  Knowledge nothing{TokenClock(threads, 0), TokenClock(threads, 0)};
  for (int g = 0; g < ranks; ++g)
    memory.own(g, firstStart + g);
  for (Block &b : blocks) {
    b.now = b.told = nothing;
    b.now.seen[firstStart + b.gpu] = b.now.over[firstStart + b.gpu] = 1;
  }
  for (int port = firstPort; port < firstStart; ++port)
    ports[port] = {nothing, 0};
  for (int g = 0; g < ranks; ++g) {
    semaphores.emplace_back(p.gpus[g].semaphores.size());
    for (size_t i = 0; i < semaphores[g].size(); ++i)
      semaphores[g][i].tokens.assign(std::min(p.gpus[g].semaphores[i], 1 << 12),
                                     nothing);
  }
  return "";
}

std::string PlanRun::connection(const Block &b, PlanChannelType type, int id,
                                const Connection *&result) {
  int left = id;
  for (const PlanRefs &refs : p.gpus[b.gpu].blocks[b.index].channels) {
    if (refs.type != type)
      continue;
    if (left < static_cast<int>(refs.ids.size())) {
      const std::vector<Connection> &all = connections[{b.gpu, type}];
      int index = refs.ids[left];
      if (index >= static_cast<int>(all.size()))
        break;
      result = &all[index];
      return "";
    }
    left -= static_cast<int>(refs.ids.size());
  }
  return place(b) + ": channel " + std::to_string(id) + " does not exist";
}

/// All threads of the block have done what they were to do, and know what any
/// of them was told.
void PlanRun::synchronize(Block &b, int id) {
  b.now.join(b.told);
  int done = static_cast<int>(b.next) + 1;
  b.now.seen[id] = b.now.over[id] = done;
}

void PlanRun::finishBarriers() {
  std::map<std::pair<int, int>, std::vector<int>> at;
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].atBarrier)
      at[{blocks[i].gpu, blocks[i].ops[blocks[i].next].op->barrier}].push_back(
          static_cast<int>(i));
  for (auto &[key, list] : at) {
    const PlanOp &op = *blocks[list[0]].ops[blocks[list[0]].next].op;
    if (static_cast<int>(list.size()) < op.barrierBlocks)
      continue;
    Knowledge all = blocks[list[0]].now;
    for (int i : list) {
      synchronize(blocks[i], i);
      all.join(blocks[i].now);
    }
    for (int i : list) {
      blocks[i].now = all;
      blocks[i].atBarrier = false;
      ++blocks[i].next;
    }
  }
}

std::string PlanRun::sync(int id, bool &moved) {
  Block &b = blocks[id];
  const PlanOp &op = *b.ops[b.next].op;
  if (op.name == "nop") {
    synchronize(b, id);
  } else if (op.name == "barrier") {
    if (op.barrier >= static_cast<int>(planMaxBarriers))
      return place(b) + ": expected a barrier below " +
             std::to_string(planMaxBarriers) + ", found " +
             std::to_string(op.barrier);
    moved |= !b.atBarrier;
    b.atBarrier = true;
    finishBarriers();
    return "";
  } else if (op.name == "sem_acquire" || op.name == "sem_release") {
    bool acquires = op.name == "sem_acquire";
    for (int s : op.semaphores) {
      if (s >= static_cast<int>(semaphores[b.gpu].size()))
        return place(b) + ": semaphore " + std::to_string(s) +
               " does not exist";
      Semaphore &sem = semaphores[b.gpu][s];
      int &user = acquires ? sem.acquirer : sem.releaser;
      if (user >= 0 && user != id)
        return place(b) + ": expected one thread block to " +
               (acquires ? "acquire" : "release") + " semaphore " +
               std::to_string(s) + ", found " + threadName(user) + " too";
      user = id;
    }
    if (acquires)
      for (int s : op.semaphores)
        if (semaphores[b.gpu][s].tokens.empty())
          return "";
    for (int s : op.semaphores) {
      std::deque<Knowledge> &tokens = semaphores[b.gpu][s].tokens;
      if (acquires) {
        b.told.join(tokens.front());
        tokens.pop_front();
      } else {
        tokens.push_back(b.now);
      }
    }
  } else {
    std::vector<const Connection *> ends;
    for (int channel : op.channels) {
      const Connection *c = nullptr;
      std::string problem = connection(b, op.channelType, channel, c);
      if (problem.empty() && c->farWire < 0)
        problem = place(b) + ": gpu " + std::to_string(c->peer) +
                  " has no channel for this one";
      if (!problem.empty())
        return problem;
      ends.push_back(c);
    }
    bool relaxed = op.name.starts_with("rlx");
    if (op.name == "wait" || op.name == "rlxwait") {
      for (const Connection *c : ends) {
        int &waiter = wires[c->wire].waiter;
        if (waiter >= 0 && waiter != id)
          return place(b) +
                 ": expected one thread block to wait on a channel, "
                 "found " +
                 threadName(waiter) + " too";
        waiter = id;
        if (wires[c->wire].signals.empty())
          return "";
      }
      for (const Connection *c : ends) {
        std::deque<Knowledge> &signals = wires[c->wire].signals;
        joinClock(b.told.over, signals.front().over);
        if (!relaxed)
          joinClock(b.told.seen, signals.front().seen);
        // That a kernel runs makes its buffers usable, fence or no fence.
        for (int t = firstStart; t < threads; ++t)
          b.told.seen[t] = std::max(b.told.seen[t], signals.front().over[t]);
        signals.pop_front();
      }
    } else if (op.name == "flush") {
      for (const Connection *c : ends) {
        if (c->thread < 0)
          return place(b) + ": expected a port channel";
        b.told.join(ports[c->thread].first);
      }
    } else {
      for (const Connection *c : ends) {
        Knowledge told = b.now;
        if (c->thread >= 0) {
          // The channel's thread signals after all it was given before.
          ports[c->thread].first.join(b.now);
          told = ports[c->thread].first;
        }
        if (relaxed)
          told.seen.assign(threads, 0);
        wires[c->farWire].signals.push_back(std::move(told));
      }
    }
  }
  moved = true;
  ++b.next;
  return "";
}

std::string PlanRun::advance(int id, bool &moved) {
  static const std::set<std::string> syncs = {
      "nop",       "barrier", "signal",      "wait",       "flush",
      "rlxsignal", "rlxwait", "sem_acquire", "sem_release"};
  Block &b = blocks[id];
  if (b.next >= b.ops.size())
    return "";
  return syncs.count(b.ops[b.next].op->name) ? sync(id, moved)
                                             : data(id, moved);
}

/// What must hold when all blocks are done.
std::string PlanRun::finish() {
  for (const Block &b : blocks)
    if (b.next < b.ops.size())
      return "deadlock: " + place(b) + " waits for ever";
  std::string problem = memory.post();
  if (!problem.empty())
    return problem;
  // A kernel ends when its blocks do: by then everything must be there.
  for (int g = 0; g < ranks; ++g) {
    TokenClock known(threads, 0);
    for (const Block &b : blocks)
      if (b.gpu == g)
        for (const TokenClock *c :
             {&b.now.seen, &b.now.over, &b.told.seen, &b.told.over})
          joinClock(known, *c);
    for (int o = 0; o < memory.outputs; ++o) {
      TokenEvent writer = memory.cell(g, 'o', o)->writer;
      bool own = writer.thread < firstPort && blocks[writer.thread].gpu == g;
      if (!own && writer.thread < firstStart &&
          known[writer.thread] <= writer.step)
        return "gpu " + std::to_string(g) + " may end before " +
               threadName(writer.thread) + " has written o[" +
               std::to_string(o / slices) + "]";
    }
  }
  for (const auto &[key, list] : connections)
    for (const Connection &c : list)
      if (!wires[c.wire].signals.empty())
        return "gpu " + std::to_string(c.peer) + " signals gpu " +
               std::to_string(key.first) + " " +
               std::to_string(wires[c.wire].signals.size()) +
               " times more than it waits";
  return "";
}

std::string PlanRun::run() {
  std::string problem = setUp();
  if (!problem.empty())
    return problem;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t b = 0; b < blocks.size(); ++b)
      for (bool again = true; again;) {
        again = false;
        problem = advance(static_cast<int>(b), again);
        if (!problem.empty())
          return problem;
        moved |= again;
      }
  }
  return finish();
}

std::string ccn::synth::checkPlan(const Plan &plan, ProgramTrace *trace) {
  PlanRun run(plan);
  std::string problem = run.run();
  if (problem.empty() && trace)
    *trace = run.trace();
  return problem;
}

Result<Schedule> ccn::synth::importPlan(const Plan &plan) {
  ProgramTrace trace;
  std::string problem = checkPlan(plan, &trace);
  if (!problem.empty())
    return error(problem);
  return scheduleOf(plan.kind, static_cast<int>(plan.gpus.size()), "", trace);
}
