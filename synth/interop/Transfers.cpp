//===- Transfers.cpp - Schedules from what was sent -----------------------===//
//
// See Transfers.h.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/Transfers.h"

#include <algorithm>
#include <map>

using namespace ccn;
using namespace ccn::synth;

namespace {

using Ranks = std::vector<int>;

bool isSubset(const Ranks &small, const Ranks &large) {
  return std::includes(large.begin(), large.end(), small.begin(), small.end());
}

Ranks without(const Ranks &from, const Ranks &what) {
  Ranks rest;
  std::set_difference(from.begin(), from.end(), what.begin(), what.end(),
                      std::back_inserter(rest));
  return rest;
}

Ranks joined(const Ranks &a, const Ranks &b) {
  Ranks all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(),
                 std::back_inserter(all));
  return all;
}

bool cover(const Ranks &target, const std::vector<Ranks> &sums,
           std::vector<size_t> &chosen) {
  if (target.empty())
    return true;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!std::binary_search(sums[i].begin(), sums[i].end(), target.front()) ||
        !isSubset(sums[i], target))
      continue;
    chosen.push_back(i);
    if (cover(without(target, sums[i]), sums, chosen))
      return true;
    chosen.pop_back();
  }
  return false;
}

} // namespace

std::optional<std::vector<size_t>>
ccn::synth::termsOf(const std::vector<int> &target,
                    const std::vector<std::vector<int>> &sums) {
  for (size_t i = 0; i < sums.size(); ++i)
    if (sums[i] == target)
      return std::vector<size_t>{i};
  std::vector<size_t> chosen;
  if (!cover(target, sums, chosen))
    return std::nullopt;
  return chosen;
}

std::vector<Transfer> ccn::synth::transfersOf(const Schedule &schedule,
                                              HeldMap *held) {
  const Collective &coll = schedule.collective;
  HeldMap state;
  for (size_t c = 0; c < coll.chunks.size(); ++c)
    for (int r : coll.chunks[c].pre) {
      HeldSums &own = state[{static_cast<int>(c), r}];
      own.sets[0] = own.sets[1] = {r};
    }
  std::vector<Transfer> transfers;
  for (const Step &step : schedule.steps) {
    size_t first = transfers.size();
    for (const Send &send : step.sends) {
      const HeldSums &from = state[{send.chunk, send.src}];
      Transfer t{send.chunk, send.src, send.dst, from.depths[0] + 1, {}};
      if (coll.combining) {
        t.sums = send.sums.empty() ? from.sets[0] : send.sums;
        t.depth = 1;
        t.terms = termsOf(t.sums, from.sets).value_or(std::vector<size_t>{});
        for (size_t i : t.terms)
          t.depth = std::max(t.depth, from.depths[i] + 1);
      }
      transfers.push_back(std::move(t));
    }
    for (size_t i = 0; i < step.sends.size(); ++i) {
      const Transfer &t = transfers[first + i];
      HeldSums &to = state[{t.chunk, t.dst}];
      if (step.sends[i].op == SendOp::Stash) {
        to.sets.push_back(t.sums);
        to.depths.push_back(t.depth);
      } else if (step.sends[i].op == SendOp::Reduce) {
        to.sets[0] = joined(to.sets[0], t.sums);
        to.depths[0] = std::max(to.depths[0], t.depth);
      } else {
        to.sets[0] = t.sums;
        to.depths[0] = t.depth;
      }
    }
  }
  if (held)
    *held = std::move(state);
  return transfers;
}

namespace {

/// What one host does with one chunk: transfers by depth.
struct Traffic {
  std::vector<Transfer *> in, out;
};

/// Assigns the ops of all arrivals at one host if its running sum can serve
/// every departure. `own` and `full`: its contribution and the whole sum.
bool runningSums(const Traffic &traffic, Ranks running, const Ranks &full,
                 bool needed, std::map<const Transfer *, SendOp> &ops) {
  size_t left = 0;
  for (size_t i = 0; i < traffic.in.size();) {
    int depth = traffic.in[i]->depth;
    for (; left < traffic.out.size() && traffic.out[left]->depth <= depth;
         ++left)
      if (traffic.out[left]->sums != running)
        return false;
    size_t end = i;
    while (end < traffic.in.size() && traffic.in[end]->depth == depth)
      ++end;
    const Ranks &first = traffic.in[i]->sums;
    if (end - i == 1 && first != running && isSubset(running, first)) {
      ops[traffic.in[i]] = SendOp::Copy;
      running = first;
    } else {
      for (size_t k = i; k < end; ++k) {
        const Ranks &sums = traffic.in[k]->sums;
        if (without(sums, running).size() != sums.size())
          return false;
        running = joined(running, sums);
        ops[traffic.in[k]] = SendOp::Reduce;
      }
    }
    i = end;
  }
  for (; left < traffic.out.size(); ++left)
    if (traffic.out[left]->sums != running)
      return false;
  return !needed || running == full;
}

} // namespace

Result<Schedule> ccn::synth::scheduleOf(const Collective &collective, int hosts,
                                        std::string topology,
                                        std::vector<Transfer> transfers) {
  std::sort(transfers.begin(), transfers.end(),
            [](const Transfer &a, const Transfer &b) {
              return std::tie(a.depth, a.chunk, a.src, a.dst, a.sums) <
                     std::tie(b.depth, b.chunk, b.src, b.dst, b.sums);
            });
  std::map<const Transfer *, SendOp> ops;
  std::map<const Transfer *, bool> explicitly;
  if (collective.combining) {
    std::map<std::pair<int, int>, Traffic> traffic;
    for (Transfer &t : transfers) {
      traffic[{t.chunk, t.src}].out.push_back(&t);
      traffic[{t.chunk, t.dst}].in.push_back(&t);
    }
    for (const auto &[key, at] : traffic) {
      const ChunkRelation &chunk = collective.chunks[key.first];
      auto has = [&](const Ranks &list) {
        return std::binary_search(list.begin(), list.end(), key.second);
      };
      Ranks own;
      if (has(chunk.pre))
        own = {key.second};
      if (runningSums(at, own, chunk.pre, has(chunk.post), ops))
        continue;
      for (const Transfer *t : at.in)
        ops[t] = t->sums == chunk.pre ? SendOp::Copy : SendOp::Stash;
      for (const Transfer *t : at.out)
        explicitly[t] = true;
    }
  }
  Schedule result;
  result.collective = collective;
  result.topology = std::move(topology);
  result.hosts = hosts;
  for (const Transfer &t : transfers) {
    if (t.depth > static_cast<int>(result.steps.size()))
      result.steps.resize(t.depth);
    Send send{t.chunk, t.src, t.dst, SendOp::Copy, -1, {}};
    if (auto op = ops.find(&t); op != ops.end())
      send.op = op->second;
    if (explicitly.count(&t))
      send.sums = t.sums;
    result.steps[t.depth - 1].sends.push_back(std::move(send));
  }
  std::string wrong = check(result);
  if (!wrong.empty())
    return error("what is sent is not a schedule: " + wrong);
  return result;
}

Result<Schedule> ccn::synth::scheduleOf(CollectiveKind kind, int ranks,
                                        std::string topology,
                                        const ProgramTrace &trace) {
  bool scatters = kind == CollectiveKind::ReduceScatter;
  Result<Collective> collective = makeCollective(
      kind, ranks, scatters ? trace.inputs / ranks : trace.inputs);
  if (!collective)
    return collective.status();
  std::vector<Transfer> transfers;
  for (const TokenTransfer &t : trace.transfers) {
    Transfer out{0, t.src, t.dst, t.value.depth, {}};
    auto chunkOf = [&](int part) {
      return collective->combining ? part % trace.inputs : part;
    };
    out.chunk = chunkOf(t.value.parts[0]);
    for (int part : t.value.parts) {
      if (chunkOf(part) != out.chunk)
        return error("gpu " + std::to_string(t.src) +
                     " sends a sum of different chunks to gpu " +
                     std::to_string(t.dst) + ", which no schedule can say");
      if (collective->combining)
        out.sums.push_back(part / trace.inputs);
    }
    transfers.push_back(std::move(out));
  }
  return scheduleOf(*collective, ranks, std::move(topology),
                    std::move(transfers));
}

Result<Schedule> ccn::synth::canonicalSchedule(const Schedule &schedule) {
  return scheduleOf(schedule.collective, schedule.hosts, schedule.topology,
                    transfersOf(schedule));
}
